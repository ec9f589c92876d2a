"""Servers that hang, stop, repeat themselves or count wrongly: one sentence on what to do, and no call paid twice."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from itertools import repeat

import pytest

from tasks.ai.answerer import AnswerCut, Source
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import find_capabilities
from tasks.ai.openai.errors import ContextWindowExceeded, Option, error_for_status
from tasks.ai.openai.protocols import Arrival
from tasks.errors import NotConfigured, SourceFailed, TookTooLong, TooLarge
from tasks.language.words import most_model_tokens
from tasks.spending.budget import Account, Ledger
from tasks.spending.money import Cap, Price, Usage
from tests.cases import cases
from tests.servers.openai_server import (
    Behaviour,
    ModelRequest,
    ModelResponse,
    ModelServer,
    count,
    cut_stream,
    failing,
    failing_in_the_middle,
    numbers,
    saying,
    served_by,
    slow,
    writing,
)
from tests.tasks.ai.openai.test_answerer import GOOD, Verdict, asking, judged, model


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(model) as server:
        yield server


def ledger() -> Ledger:
    return Ledger(Account(Cap(tokens=8_000), Price(1, 4)))


def soon(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


# a call is given up after a silence, and then the server stops too


def test_a_call_that_is_given_up_is_cancelled_at_the_server(server: ModelServer) -> None:
    server.always(slow(60))
    with pytest.raises(TookTooLong, match=r"0\.5 s.*DILIGENCE_AI_TIMEOUT"):
        judged(asking(server, timeout=0.5))
    assert soon(lambda: len(server.cancelled) == 1)


def test_a_server_that_writes_is_not_silent(server: ModelServer) -> None:
    pieces = saying(GOOD)(ModelRequest("/v1/chat/completions", {"stream": True, "messages": []}, {})).body.split(
        b"\n\n"
    )
    stream = (piece + b"\n\n" for piece in pieces)
    server.always(lambda _: ModelResponse(b"", drip=0.2, stream=stream))
    assert judged(asking(server, api="chat", timeout=1.0)).score == 4


def test_a_server_that_reads_slowly_is_waited_for(server: ModelServer) -> None:
    find_capabilities(server.url, "small").reading = 100.0  # tokens a second
    server.always(slow(1.5))
    source = Source(1, "a.txt", None, "The tenant pays the rent. " * 100)
    assert asking(server, timeout=0.5).answer("Is it?", [source]).text == "Yes."


def test_a_server_that_writes_too_slowly_is_told_from_one_that_hangs(server: ModelServer) -> None:
    server.always(writing(numbers(), every=0.1))
    with pytest.raises(TookTooLong, match=r"tokens a second.*smaller model.*DILIGENCE_AI_TIMEOUT"):
        judged(asking(server, api="chat", timeout=0.3, patience=60))
    assert len(server.requests) == 1
    assert soon(lambda: len(server.cancelled) == 1)


# an answer that does not end


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_model_that_repeats_itself_is_stopped_and_billed_once(server: ModelServer, api: str) -> None:
    server.always(writing(repeat(" the")))
    spent = ledger()
    with pytest.raises(AnswerCut, match=r"does not end.*DILIGENCE_AI_MODEL") as cut:
        asking(server, api=api).judge("Score it.", "text", Verdict, ledger=spent)
    assert len(server.requests) == spent.spent.calls == 1
    assert spent.spent == cut.value.usage
    assert 100 < cut.value.usage.output_tokens < 1000
    assert cut.value.text.startswith(" the the")
    assert soon(lambda: len(server.cancelled) == 1)


SAME = ', {"source": 3, "text": "The company is owned by the patent, software, and other IP of its founders."}'


@pytest.mark.parametrize(("start", "is_loop"), [('{"quotes": [{}', True), ("The rows: ", False)])
def test_a_judgement_that_quotes_the_same_again_and_again_is_stopped_early(start: str, is_loop: bool) -> None:
    arrival = Arrival(4096)
    for text in (start, *repeat(SAME, 31)):
        chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
        arrival.add(f"data: {json.dumps(chunk)}\n\n".encode())
    assert arrival.is_endless is is_loop, "equal rows of a text are none"


def test_a_server_that_ignores_the_limit_is_stopped_and_told_the_older_name(server: ModelServer) -> None:
    server.always(writing(numbers()))
    spent = ledger()
    with pytest.raises(AnswerCut, match="does not end"):
        asking(server, api="chat").answer("Is it?", [], ledger=spent)
    assert spent.answer_limit is not None
    assert spent.answer_limit * 2 <= spent.spent.output_tokens < spent.answer_limit * 3
    assert Option.COMPLETION_LIMIT in find_capabilities(server.url, "small").refused


# a stream that fails


@pytest.mark.parametrize(
    ("behaviour", "says", "requests"),
    [
        (cut_stream(), "ended in the middle.*Try again later", 3),
        (failing_in_the_middle("CUDA out of memory"), "an error of its own.*log", 1),
    ],
    ids=["ends", "an error"],
)
def test_a_stream_that_fails_is_one_sentence(
    server: ModelServer, behaviour: Behaviour, says: str, requests: int
) -> None:
    server.always(behaviour)
    with pytest.raises(SourceFailed, match=says):
        OpenAiAnswerer("small", api="responses", base_url=server.url, pause=0.01).answer("Is it?", [])
    assert len(server.requests) == requests


def test_a_text_with_a_line_separator_is_one_event(server: ModelServer) -> None:
    event = '{"choices": [{"delta": {"content": "Yes\u2028no"}, "finish_reason": "stop"}]}'
    server.always(lambda _: ModelResponse(f"data: {event}\r\n\r\ndata: [DONE]\r\n\r\n".encode()))
    assert asking(server, api="chat").answer("Is it?", []).text == "Yes\u2028no"


# counts


def test_counts_that_are_too_small_for_the_answer_are_estimated_upwards_and_said(
    server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    text = " ".join(f"The rent of month {month} is paid." for month in range(50))
    server.always(saying(text, usage=(300, 20)))
    usage = asking(server, api="chat").answer("Is it paid?", [Source(1, "a", None, text)]).usage
    assert usage == Usage(1, 300, most_model_tokens(text))
    assert [record.levelno for record in caplog.records if "cannot be right" in record.message] == [logging.WARNING]


# models


def test_the_models_that_there_are_are_named_where_one_is_not_known() -> None:
    with ModelServer(models=["small-7b", "large-70b"]) as server:
        server.always(failing(404, 'The model "small" does not exist', code="model_not_found"))
        with pytest.raises(NotConfigured, match=r"It has: small-7b, large-70b\. Check DILIGENCE_AI_MODEL"):
            judged(asking(server))


def test_a_key_that_only_the_list_of_models_refuses_does_not_stop(home: object) -> None:
    with ModelServer(model, models=["small"], closed_lists=True) as server:
        assert judged(asking(server, probes=True)).score == 4


def test_what_llama_cpp_tells_of_itself_is_taken(home: object) -> None:
    props = {"total_slots": 3, "default_generation_settings": {"n_ctx": 4096}}
    with ModelServer(model, models=["small"], props=props) as server:
        answerer = asking(server, probes=True)
        judged(answerer)
        found = find_capabilities(server.url, "small")
        assert (found.slots, found.window, found.models) == (3, 4096, ("small",))
        assert answerer.side_by_side == 3


@pytest.mark.parametrize(
    ("others", "warnings"),
    [(("b", None), 1), (("a", "b0-unknown"), 0), (("a", "fp_44709d6fcb"), 0), (("a", None), 0)],
)
def test_two_models_behind_one_address_are_said_once(
    server: ModelServer, caplog: pytest.LogCaptureFixture, others: tuple[str, str | None], warnings: int
) -> None:
    for _ in range(2):
        server.then(served_by("a", saying(GOOD)), served_by(others[0], saying(GOOD), others[1]))
    for _ in range(4):
        judged(asking(server, api="chat"))
    assert len([record for record in caplog.records if "OPENAI_BASE_URL" in record.message]) == warnings


def test_a_model_that_was_unloaded_meanwhile_is_waited_for(server: ModelServer) -> None:
    server.then(failing(400, "Model is unloaded."))
    assert judged(asking(server, patience=60)).score == 4
    assert len(server.requests) == 2


# a context that overflows: what servers were seen to say, and the tokens that they take

OVERFLOWS = {
    "llama.cpp": (
        400,
        "request (6031 tokens) exceeds the available context size (4096 tokens), try increasing it",
        4096,
    ),
    "llama.cpp, September 2025": (
        500,
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        None,
    ),
    "llama-cpp-python": (400, "Requested tokens (2285) exceed context window of 2048", 2048),
    "vLLM": (
        400,
        (
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the "
            "messages, 10000 in the completion). Please reduce the length of the messages or completion."
        ),
        16_384,
    ),
    "vLLM 0.6": (
        400,
        (
            "The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that "
            "`max_model_len` is no smaller than the number of text tokens plus multimodal tokens."
        ),
        4096,
    ),
    "SGLang": (400, "The input (61709 tokens) is longer than the model's context length (40960 tokens).", 40_960),
    "TGI": (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1872", 1024),
    "Ollama": (400, "the input length exceeds the context length", None),
    "Ollama, counted": (400, "prompt too long; exceeded max context length by 1200 tokens", None),
    "LM Studio": (
        400,
        (
            "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with "
            "context length of only 32768 tokens, which is not enough."
        ),
        32_768,
    ),
    "LM Studio 0.4": (
        400,
        (
            "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= "
            "n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input"
        ),
        4096,
    ),
    "LM Studio, MLX": (400, "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 7424),
    "OpenAI Responses": (
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
    ),
    "OpenAI": (400, "Input tokens exceed the configured limit of 272000 tokens.", 272_000),
    "LiteLLM": (
        400,
        (
            "litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicError - prompt is too long: 209303 "
            "tokens > 200000 maximum"
        ),
        200_000,
    ),
    "OpenRouter": (
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens.",
        32_768,
    ),
    "a small one": (400, "request (700 tokens) exceeds the available context size (512 tokens)", 512),
}
"""From the servers' issue trackers: ggml-org/llama.cpp 15780, QwenLM/Qwen3 1321, vllm-project/vllm 12165 and 20409,
huggingface/text-generation-inference 937, lmstudio-ai/lmstudio-bug-tracker 546, anomalyco/opencode 11141,
BerriAI/litellm 18927, OpenHands 5350."""


@cases("server_name", OVERFLOWS)
def test_an_overflow_is_known_in_the_words_of_each_server(server_name: str) -> None:
    status, message, window = OVERFLOWS[server_name]
    error = error_for_status(status, {}, f'{{"error": {{"message": "{message}"}}}}'.lower())
    assert isinstance(error, ContextWindowExceeded)
    assert error.window == window


@cases("server_name", ["llama.cpp", "vLLM", "Ollama", "LM Studio 0.4", "LiteLLM"])
def test_a_context_that_overflows_is_read_in_parts(server_name: str) -> None:
    status, message, _ = OVERFLOWS[server_name]

    def overflow(request: ModelRequest) -> ModelResponse:
        return (failing(status, message) if count(request.prompt) > 3_000 else saying("Yes."))(request)

    with ModelServer() as server:
        server.always(overflow)
        source = Source(1, "a.txt", None, "The tenant pays the rent each month. " * 600)
        answer = asking(server, api="chat").answer("Is it?", [source])
    assert "read whole in" in answer.notes[0]


def test_a_context_of_512_tokens_leaves_no_room_to_answer_from_a_text_and_says_what_to_do(home: object) -> None:
    with ModelServer(GOOD, window=512) as server, pytest.raises(TooLarge, match="Raise the server's context size"):
        asking(server, probes=True).answer("Is it?", [Source(1, "a", None, "The rent is paid. " * 300)])


@pytest.mark.parametrize("window", [512, 1024])
def test_a_context_that_is_too_small_for_a_judgement_says_what_to_do(home: object, window: int) -> None:
    with ModelServer(GOOD, window=window) as server:
        answerer = asking(server, probes=True)
        with pytest.raises(TooLarge, match=r"larger window in DILIGENCE_AI_MODEL"):
            answerer.judge("Score it.", "The tenant pays the rent each month. " * 300, Verdict)
