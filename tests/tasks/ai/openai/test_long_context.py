"""A context beyond the model's window: read whole, in parts, the findings joined, and the answer says so."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.ai.answerer import Answer, AnswererFailed, ModelRefused, Source
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import cut, measure_sources
from tasks.errors import TooLarge
from tasks.spending.budget import Account, BudgetSpent, Ledger
from tasks.spending.money import Cap
from tests.cases import cases
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, failing, refusing, saying
from tests.tasks.ai.openai.test_answerer import Verdict

FACTS = [f"The fee of contract K{number} is {number * 7 + 100} EUR." for number in range(1, 41)]
_FACT = re.compile(r"The fee of contract K\d+ is \d+ EUR\.(?: \[\d+\])?")
_SOURCE = re.compile(r"<source-\w+ number=(\d+)")


def filler(lines: int) -> str:
    return "\n".join(
        f"Line {line} of the minutes tells about the weather, and that tea was served." for line in range(lines)
    )


def reader(request: ModelRequest) -> str:
    """A model that notes every fee that it sees, with its source, and answers with all fees."""
    seen = request.visible_prompt
    if "This is part" not in seen:
        return " ".join(dict.fromkeys(_FACT.findall(seen))) or "Nothing is said about it."
    facts, number = [], "?"
    for line in seen.split("\n"):
        source = _SOURCE.search(line)
        number = source[1] if source else number
        facts += [f"{fact} [{number}]" for fact in _FACT.findall(line)]
    return "\n".join(facts) or "NOTHING"


def sources(count: int = 2, lines: int = 300) -> list[Source]:
    """Minutes, with the facts spread over them."""
    share = len(FACTS) // count
    made = []
    for number in range(count):
        rows = filler(lines).split("\n")
        for at, fact in enumerate(FACTS[number * share : (number + 1) * share]):
            rows.insert(at * (lines // share) + at, fact)
        made.append(Source(number + 1, f"minutes {number + 1}.txt", None, "\n".join(rows)))
    return made


def ask(server: ModelServer, documents: list[Source], **options: object) -> Answer:
    answerer = OpenAiAnswerer("small", base_url=server.url, pause=0.01, **options)  # type: ignore[arg-type]
    return answerer.answer("What are the fees?", documents)


@cases("server", [ModelServer(reader, window=4096), ModelServer(reader, window=4096, cuts=True)])
@cases("count", [1, 2, 20])
def test_nothing_is_cut_in_silence(server: ModelServer, count: int) -> None:
    with server:
        answer = ask(server, sources(count, 1200 // count))
    assert [fact for fact in FACTS if fact not in answer.text] == []
    read = re.fullmatch(
        r"The context was longer than the model accepts at once; it was read whole in (\d+) parts\.", answer.notes[0]
    )
    assert read
    assert int(read[1]) > 5
    assert answer.text_with_notes.endswith(answer.notes[0])
    assert answer.usage.calls >= int(read[1]) + 1


def test_the_numbers_of_sources_stay_right() -> None:
    with ModelServer(reader, window=4096) as server:
        text = ask(server, sources(2, 400)).text
    assert f"{FACTS[0]} [1]" in text
    assert f"{FACTS[-1]} [2]" in text


def test_what_fits_is_read_at_once() -> None:
    with ModelServer(reader, window=4096) as server:
        answer = ask(server, sources(2, 40))
    assert (answer.notes, len(server.requests)) == ((), 1)


def test_the_window_is_found_out_once() -> None:
    with ModelServer(reader, window=4096) as server:
        ask(server, sources(2, 600))
        before = len(server.requests)
        answer = ask(server, sources(2, 600))
        rejected = sum(1 for request in server.requests[before:] if len(request.prompt) > 30_000)
    assert rejected == 0
    assert answer.notes


def test_a_window_that_is_set_needs_no_finding_out() -> None:
    with ModelServer(reader, window=4096) as server:
        ask(server, sources(2, 600), window=4096)
        assert max(len(request.prompt) for request in server.requests) < 20_000


TOO_LONG = failing(400, "Your input exceeds the context window of this model.")


def test_a_later_part_with_more_tokens_than_its_bytes_tell_is_halved() -> None:
    def dense(request: ModelRequest) -> ModelResponse:
        return (TOO_LONG if request.prompt.count("Ω") > 700 else saying(reader(request)))(request)

    text = "\n".join([filler(200), *(f"{fact} {'Ω' * 30}" for fact in FACTS)])
    with ModelServer() as server:
        server.always(dense)
        answer = ask(server, [Source(1, "minutes.txt", None, text)], window=4096)
    assert [fact for fact in FACTS if fact not in answer.text] == []


def test_a_server_that_names_no_number_is_asked_with_less_until_it_takes_it() -> None:
    def narrow(request: ModelRequest) -> ModelResponse:
        return (TOO_LONG if len(request.prompt) > 12_000 else saying(reader(request)))(request)

    with ModelServer() as server:
        server.always(narrow)
        answer = ask(server, sources(2, 600))
    assert [fact for fact in FACTS if fact not in answer.text] == []


def test_parts_that_say_nothing_still_make_an_answer() -> None:
    with ModelServer(reader, window=4096) as server:
        answer = ask(server, [Source(1, "minutes.txt", None, filler(600))])
    assert answer.text == "Nothing is said about it."


def test_findings_that_are_too_long_are_joined_in_steps() -> None:
    def wordy(request: ModelRequest) -> str:
        if "The notes are still too long" in request.visible_prompt:
            return "\n".join(dict.fromkeys(_FACT.findall(request.visible_prompt))) or "Little."
        notes = reader(request)
        return (
            notes
            if "This is part" not in request.visible_prompt
            else f"{notes}\n" + "".join(f"It also tells that tea {number} was served. " for number in range(60))
        )

    with ModelServer(wordy, window=4096) as server:
        answer = ask(server, sources(2, 600))
    assert [fact for fact in FACTS if fact not in answer.text] == []
    assert any("still too long" in request.prompt for request in server.requests)


def test_findings_that_never_get_shorter_end() -> None:
    tea = "".join(f"It also tells that tea {number} was served. " for number in range(300))
    server = ModelServer(lambda _: tea, window=4096)
    with server, pytest.raises(TooLarge, match="Ask for less"):
        ask(server, sources(2, 300))
    assert len(server.requests) < 60


def test_a_part_that_is_refused_fails_the_whole() -> None:
    with ModelServer(reader, window=4096) as server:
        answerer = OpenAiAnswerer("small", base_url=server.url, pause=0.01, window=4096)
        server.then(saying("NOTHING"), saying("NOTHING"), refusing())
        with pytest.raises(ModelRefused) as failed:
            answerer.answer("What are the fees?", sources(2, 600))
    assert failed.value.usage.calls >= 3


@pytest.mark.slow
def test_a_context_of_too_many_parts_says_how_long_it_may_be() -> None:
    with ModelServer(reader, window=4096) as server:
        answerer = OpenAiAnswerer("small", base_url=server.url, window=4096)
        with pytest.raises(TooLarge, match=r"no more than 200 parts.*Shorten it to 1\.\d MB.*DILIGENCE_AI_MODEL"):
            answerer.answer("What are the fees?", [Source(1, "context", None, filler(100_000))])
    assert server.requests == []


@pytest.mark.slow
def test_a_context_that_few_models_take_is_not_tried_whole() -> None:
    with ModelServer(reader) as server:
        answer = ask(server, [Source(1, "context", None, "The weather was fine and tea was served. " * 120_000)])
        assert max(len(request.prompt) for request in server.requests) < 400_000
    assert answer.text == "Nothing is said about it."
    assert "it was read whole in" in answer.notes[0]


def test_a_window_without_room_is_said() -> None:
    with ModelServer(reader, window=300, cuts=True) as server, pytest.raises(TooLarge, match="context size"):
        ask(server, sources(2, 600))


def test_a_question_that_is_too_long_is_not_cut() -> None:
    with ModelServer(reader, window=4096) as server, pytest.raises(TooLarge, match="longer than the model accepts"):
        OpenAiAnswerer("small", base_url=server.url).answer("Is it? " * 5000, [])


@pytest.mark.parametrize(
    ("cuts", "says"), [(False, "longer than the model accepts"), (True, r"cuts prompts at about 4096 tokens")]
)
def test_what_is_to_be_judged_is_never_read_in_parts(cuts: bool, says: str) -> None:
    with ModelServer('{"score": 4, "reason": "x"}', window=4096, cuts=cuts) as server:
        answerer = OpenAiAnswerer("small", base_url=server.url)
        with pytest.raises(TooLarge, match=says):
            answerer.judge("Score it.", filler(900), Verdict)
        calls = len(server.requests)
        with pytest.raises(TooLarge, match="4096"):
            answerer.judge("Score it.", filler(901), Verdict)
        assert len(server.requests) == calls  # it is known now
        assert answerer.judge("Score it.", "It is good.", Verdict).value.score == 4


def test_a_budget_ends_a_long_reading() -> None:
    ledger = Ledger(Account(Cap(tokens=30_000)))
    with ModelServer(reader, window=4096) as server:
        answerer = OpenAiAnswerer("small", base_url=server.url, window=4096)
        with pytest.raises(BudgetSpent):
            answerer.answer("What are the fees?", sources(2, 900), ledger=ledger)
    assert 0 < ledger.spent.input_tokens < 30_000


def test_a_failure_in_one_part_counts_what_all_parts_cost() -> None:
    with (
        ModelServer(lambda request: "" if "K40" in request.visible_prompt else reader(request), window=4096) as server,
        pytest.raises(AnswererFailed, match="empty answer") as failed,
    ):
        ask(server, sources(2, 400), window=4096)
    assert failed.value.usage.calls == len(server.requests)


# --- how sources are cut into parts


TEXTS = st.lists(st.text(alphabet=st.sampled_from("ab é漢\ud800\n\f. "), max_size=800), max_size=5)


@given(TEXTS, st.integers(400, 2000))
def test_nothing_is_lost_or_read_twice_and_no_part_is_too_large(texts: list[str], room: int) -> None:
    sources = [Source(number, "a.txt", "page 1", text) for number, text in enumerate(texts, 1)]
    parts = list(cut(sources, room))
    assert all(0 < measure_sources(part) <= room for part in parts)
    read = [piece for part in parts for piece in part]
    for source in sources:
        assert "".join(piece.text for piece in read if piece.number == source.number) == source.text
    assert [piece.number for piece in read] == sorted(piece.number for piece in read)
    assert all((piece.name, piece.place) == ("a.txt", "page 1") for piece in read)


@cases(("between", "border"), [("\f", "\f"), ("\n\n", "\n\n"), ("\n", "\n"), (". ", ". "), ("。", "。"), (" ", " ")])
def test_a_part_ends_where_the_text_has_a_border(between: str, border: str) -> None:
    text = between.join(f"word{number}" for number in range(300))
    parts = list(cut([Source(1, "a.txt", None, text)], 1000))
    assert len(parts) > 2
    assert all(part[0].text.endswith(border) for part in parts[:-1])


def test_a_text_without_any_border_is_cut_all_the_same() -> None:
    assert sum(len(part[0].text) for part in cut([Source(1, "a.txt", None, "x" * 10_000)], 1000)) == 10_000


def test_small_sources_share_a_part() -> None:
    sources = [Source(number, "a.txt", None, "The lease ends in 2027.") for number in range(1, 21)]
    assert [len(part) for part in cut(sources, 10_000)] == [20]
