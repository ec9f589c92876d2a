"""Money and limits of single calls: what the server is told, what is held, what is settled."""

import pytest

from storage import context
from tasks.ai.answerer import AnswerCut, AnswererFailed, ModelRefused, NoJson
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import find_capabilities
from tasks.errors import NotConfigured
from tasks.language.words import most_model_tokens
from tasks.spending.budget import LONGEST_ANSWER, Account, BudgetSpent, Ledger
from tasks.spending.money import Cap, Price
from tests.cases import cases
from tests.servers.openai_server import (
    NO_USAGE,
    Behaviour,
    ModelServer,
    busy,
    cut_off,
    failing,
    nothing,
    refusing,
    saying,
    torn,
)
from tests.tasks.ai.openai.test_answerer import GOOD, Verdict

LIMITS = {"max_output_tokens", "max_completion_tokens", "max_tokens"}


def ledger(tokens: int | None = 40_000) -> Ledger:
    return Ledger(Account(Cap(tokens=tokens) if tokens else None, Price(1, 4)))


def asking(server: ModelServer, **options: object) -> OpenAiAnswerer:
    return OpenAiAnswerer("small", base_url=server.url, **{"pause": 0.01, "patience": 3, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(("api", "name"), [("responses", "max_output_tokens"), ("chat", "max_completion_tokens")])
def test_the_ledgers_limit_is_told_to_the_server(api: str, name: str) -> None:
    spent = ledger()
    with ModelServer() as server:
        asking(server, api=api).answer("Is it?", [], ledger=spent)
        assert {key: server.requests[0].body[key] for key in LIMITS & server.requests[0].body.keys()} == {
            name: spent.answer_limit
        }


@pytest.mark.parametrize("capped", [None, ledger(None)], ids=["no ledger", "no cap"])
def test_an_answer_has_a_limit_without_a_cap_too(capped: Ledger | None) -> None:
    with ModelServer() as server:
        asking(server).answer("Is it?", [], ledger=capped)
        assert server.requests[0].body["max_output_tokens"] == LONGEST_ANSWER


def test_a_server_that_knows_the_old_name_alone_is_found_out_once() -> None:
    with ModelServer(GOOD, limits=["max_tokens"]) as server:
        for _ in range(2):
            asking(server, api="chat").judge("Score it.", "text", Verdict, ledger=ledger())
        used = [next(iter(LIMITS & request.body.keys())) for request in server.requests]
    assert used == ["max_completion_tokens", "max_tokens", "max_tokens"]


def test_a_server_that_ignores_the_new_name_is_told_the_old_one() -> None:
    with ModelServer() as server:
        server.then(saying("Yes.", usage=(100, 9000)))
        for _ in range(2):
            asking(server, api="chat").answer("Is it?", [], ledger=ledger())
        assert "max_tokens" in server.requests[1].body


def test_a_server_without_any_limit_cannot_be_asked_under_a_cap() -> None:
    with ModelServer(limits=[]) as server, pytest.raises(NotConfigured, match="DILIGENCE_AI_BUDGET"):
        asking(server, api="chat").answer("Is it?", [], ledger=ledger())


def test_a_limit_larger_than_the_window_is_made_smaller() -> None:
    message = "'max_tokens' is too large: 4096. This model's maximum context length is 4096 tokens."
    with ModelServer() as server:
        server.then(failing(400, message))
        assert asking(server).answer("Is it?", [], ledger=ledger()).text == "Yes."
        assert [request.body["max_output_tokens"] for request in server.requests] == [4096, 1024]


@cases(("behaviour", "error"), [(refusing(), ModelRefused), (cut_off(), AnswerCut), (saying("No JSON."), NoJson)])
@cases("api", ["responses", "chat"])
def test_what_was_no_answer_is_paid_for_too(behaviour: Behaviour, error: type[AnswererFailed], api: str) -> None:
    spent = ledger()
    with ModelServer() as server:
        server.always(behaviour)
        with pytest.raises(error) as failed:
            asking(server, api=api).judge("Score it.", "text", Verdict, ledger=spent)
    assert spent.spent == failed.value.usage
    assert spent.spent.calls == len(server.requests)


def test_an_empty_answer_is_paid_for_with_the_one_after_it() -> None:
    spent = ledger()
    with ModelServer() as server:
        server.then(saying(""))
        assert asking(server).answer("Is it?", [], ledger=spent).usage == spent.spent
    assert spent.spent.calls == 2


@pytest.mark.parametrize(
    ("behaviour", "is_lost"),
    [(busy(), False), (nothing(), True), (torn(), True), (failing(500), False), (failing(404), False)],
    ids=["busy", "nothing", "torn", "500", "404"],
)
def test_what_was_not_answered_costs_nothing(behaviour: Behaviour, is_lost: bool) -> None:
    spent = ledger()
    with ModelServer() as server:
        server.then(behaviour)
        usage = asking(server).answer("Is it?", [], ledger=spent).usage
    assert usage.calls == spent.spent.calls == 1
    assert (spent.spent != usage) == is_lost  # what may have been billed counts against the cap


def test_a_server_that_counts_nothing_is_taken_to_have_used_the_most_under_a_cap() -> None:
    capped, free = ledger(), ledger(None)
    with ModelServer() as server:
        server.always(saying("Yes.", usage=NO_USAGE))
        usage = asking(server).answer("Is it?", [], ledger=capped).usage
        assert usage == capped.spent
        assert usage.input_tokens >= most_model_tokens(server.requests[0].prompt)
        assert usage.output_tokens == most_model_tokens("Yes.")
        asking(server).answer("Is it?", [], ledger=free)
        assert free.spent.output_tokens == most_model_tokens("Yes.")
        server.always(cut_off_without_usage)
        with pytest.raises(AnswerCut) as failed:
            asking(server).answer("Is it?", [], ledger=capped)
    assert failed.value.usage.output_tokens == capped.answer_limit


cut_off_without_usage = saying("Yes, and", reason="length", usage=NO_USAGE)


def test_what_a_ledger_does_not_leave_is_not_asked() -> None:
    with ModelServer() as server:
        with pytest.raises(BudgetSpent):
            asking(server).answer("Is it? " * 2000, [], ledger=ledger(2000))
        assert server.requests == []


def test_what_one_has_found_out_another_knows() -> None:
    with ModelServer(GOOD, responses=False, schema=False) as server:
        asking(server).judge("Score it.", "text", Verdict)
        before = len(server.requests)
        asking(server).judge("Score it.", "text", Verdict)
        assert server.paths[before:] == ["completions/json_object"]
        OpenAiAnswerer("large", base_url=server.url).judge("Score it.", "text", Verdict)
        assert server.paths[before + 1] == "responses/json_schema"  # another model may be able to do more


def test_a_server_that_has_become_another_one_is_found_out_anew() -> None:
    with ModelServer(GOOD, responses=False) as server:
        asking(server).judge("Score it.", "text", Verdict)
        server.always(failing(404))
        with pytest.raises(NotConfigured):
            asking(server).judge("Score it.", "text", Verdict)
        server.always(None)
        assert find_capabilities(server.url, "small").unsupported == set()


def test_a_call_carries_the_id_of_the_request_that_it_is_made_for() -> None:
    with ModelServer(says="Forty-two.") as server:
        answerer = OpenAiAnswerer("m", base_url=server.url)
        with context.request("ours-1"):
            answerer.answer("How much?", [])
        answerer.answer("How much more?", [])
    assert [request.headers.get("x-request-id") for request in server.requests] == ["ours-1", None]
