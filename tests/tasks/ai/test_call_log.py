"""Every call is in the log of its run until its answer is known; a lost one's key goes with the same request again."""

import gc
import json
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from pydantic import BaseModel

from storage import database
from storage.columns import now
from storage.database import reading, writing
from storage.model_calls import count_unanswered
from storage.runs import Run, add_cost, add_run, get_run
from storage.settings import override_settings
from tasks.ai.calls import judge_once
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.spending.budget import HEADER, BudgetSpent, MonthSpent, RunAccount, find_ledger
from tasks.spending.money import Usage
from tests.servers.openai_server import (
    Behaviour,
    ModelRequest,
    ModelServer,
    busy,
    cut_off,
    failing,
    nothing,
    slow,
    torn,
)
from tests.storage.killed import kill_at_commit, outcome

pytestmark = pytest.mark.usefixtures("run")


@pytest.fixture
def run(home: Path) -> None:
    with writing() as session:
        add_run(session, Run(id="r", batch="b", fingerprint="f", answerer="a", criteria={}), [])


def unknown() -> int:
    with reading() as session:
        return count_unanswered(session, "r")


def calls() -> int:
    with reading() as session:
        return get_run(session, "r").calls


def asking(server: ModelServer, **options: float) -> OpenAiAnswerer:
    return OpenAiAnswerer("small", "chat", base_url=server.url, **{"pause": 0.01, "patience": 9, **options})  # type: ignore[arg-type]


def keys(server: ModelServer) -> list[str]:
    return [request.headers[HEADER.lower()] for request in server.requests]


def test_a_call_is_written_down_before_it_is_made() -> None:
    seen: list[int] = []

    def says(_: ModelRequest) -> str:
        seen.append(unknown())
        return "Yes."

    with ModelServer(says) as server:
        asking(server).answer("Is it?", [], ledger=find_ledger("r"))
    assert seen == [1]
    assert (calls(), unknown()) == (1, 0)


@pytest.mark.parametrize(
    ("behaviour", "lost"),
    [
        (torn(), 1),
        (nothing(), 1),
        (failing(504), 1),
        (failing(500), 0),
        (busy(), 0),
    ],
    ids=["torn", "nothing", "gateway's time limit", "500", "busy"],
)
def test_only_an_answer_that_may_have_been_given_is_lost(behaviour: Behaviour, lost: int) -> None:
    with ModelServer() as server:
        server.then(behaviour)
        asking(server).answer("Is it?", [], ledger=find_ledger("r"))
        assert (calls(), unknown()) == (1, lost)
        first, *_, last = keys(server)
    assert (first == last) == bool(lost)


def test_an_answer_that_comes_too_late_is_lost() -> None:
    with ModelServer() as server:
        server.then(slow(20))
        with pytest.raises(Exception, match="DILIGENCE_AI_TIMEOUT"):
            asking(server, timeout=0.3, patience=0.3).answer("Is it?", [], ledger=find_ledger("r"))
    assert (calls(), unknown()) == (0, 1)


def test_a_call_that_an_interrupt_ended_is_lost() -> None:
    with pytest.raises(KeyboardInterrupt), find_ledger("r").call(100):
        raise KeyboardInterrupt
    assert (calls(), unknown()) == (0, 1)


def test_the_next_process_sends_a_lost_calls_key_again_once() -> None:
    def begin(account: RunAccount, request: str = "request") -> str:
        call = account.begin(request, Usage())
        assert call is not None
        return call.key

    killed = RunAccount("r")
    lost = [begin(killed) for _ in range(2)]
    after = RunAccount("r")
    assert [begin(after) for _ in range(2)] == lost
    assert begin(after) not in lost
    assert begin(after, "another") not in lost


def test_an_answered_request_gets_a_new_key() -> None:
    with ModelServer() as server:
        for _ in range(2):
            asking(server).answer("Is it?", [], ledger=find_ledger("r"))
        one, other = keys(server)
    assert one != other


def test_under_a_cap_a_lost_call_counts_as_the_most_that_it_can_have_cost() -> None:
    with override_settings({"ai_budget": "20000 tokens"}):
        with find_ledger("r").call(9000) as call:
            call.lose()
        gc.collect()
        with pytest.raises(BudgetSpent), find_ledger("r").call(9000):
            pytest.fail("the call was made")
        with find_ledger("r").call(1000) as call:
            call(Usage(1, 1000, 100))
    assert (calls(), unknown()) == (1, 1)


@pytest.mark.parametrize(
    ("most", "first", "second"), [("20000 tokens", 9000, 9000), ("0.008 USD", 12_000, 20_000)], ids=["tokens", "usd"]
)
def test_the_runs_of_a_month_share_a_cap(most: str, first: int, second: int) -> None:
    with writing() as session:
        last_month = now().replace(day=1) - timedelta(days=1)
        add_run(
            session, Run(id="old", batch="b", fingerprint="o", answerer="a", criteria={}, started_at=last_month), []
        )
        add_cost(session, "old", 9, 900_000, 900_000, 9.0)
        add_run(session, Run(id="other", batch="b", fingerprint="x", answerer="a", criteria={}), [])
    with override_settings({"ai_model": "gpt-4o-mini", "ai_monthly_budget": most}):
        with find_ledger("other").call(first) as call:
            call(Usage(1, first, 4000))
        with pytest.raises(MonthSpent, match="DILIGENCE_AI_MONTHLY_BUDGET"), find_ledger("r").call(second):
            pytest.fail("the call was made")
        with find_ledger("r").call(1000) as call:
            call(Usage(1, 1000, 100))
    assert calls() == 1


def test_a_lost_call_has_its_price_under_a_cap() -> None:
    with override_settings({"ai_model": "gpt-4o-mini", "ai_budget": "1 USD"}):
        with find_ledger("r").call(1_000_000) as call:
            call.lose()
        with reading() as session:
            usd = get_run(session, "r").usd
    assert usd == pytest.approx(0.15 + 4096 * 0.6e-6)


def test_an_answer_cut_where_the_budget_ends_is_the_budgets_end() -> None:
    with ModelServer() as server, override_settings({"ai_budget": "4000 tokens"}):
        ledger = find_ledger("r")
        asking(server).answer("Is it?", [], ledger=ledger)
        all_but_1200 = 4000 - 1200 - ledger.spent.tokens
        with ledger.call(10) as call:
            call(Usage(1, all_but_1200))
        server.always(cut_off())
        with pytest.raises(BudgetSpent):
            asking(server).answer("Is it?", [], ledger=ledger)
        assert len(server.requests) == 2
        assert server.requests[-1].body["max_completion_tokens"] < (ledger.answer_limit or 0)


def test_without_a_run_nothing_is_written() -> None:
    with ModelServer() as server:
        server.then(torn())
        asking(server).answer("Is it?", [])
    assert unknown() == 0


class Score(BaseModel):
    score: int


def answering(request: ModelRequest) -> str:
    return json.dumps({"bird": "heron", "number": 7} if "herons" in request.prompt else {"score": 4})


def answering_at_the_second_try(request: ModelRequest) -> str:
    return answering(request) if len(request.messages) > 2 else '{"points": 4}'


def judge(server: ModelServer, model: str, *, probes: bool) -> int:
    answerer = OpenAiAnswerer(model, "chat", base_url=server.url, probes=probes)
    return judge_once(answerer, "Score.", "text", Score, ledger=find_ledger("r")).value.score


@pytest.mark.parametrize(
    ("says", "probes", "paid"),
    [(answering, False, 1), (answering_at_the_second_try, False, 2), (answering, True, 2)],
    ids=["an answer", "a second try", "a probe"],
)
def test_no_reply_is_paid_for_twice_wherever_the_process_is_killed(
    says: Callable[[ModelRequest], str], probes: bool, paid: int
) -> None:
    with ModelServer(says) as server:
        for nth in count(1):
            asked, told, lost = len(server.requests), calls(), unknown()
            database.close()
            ended = outcome(lambda model=f"model {nth}": judge(server, model, probes=probes), kill_at_commit, nth)  # type: ignore[misc]
            assert ended in {"killed", "ended"}
            assert judge(server, f"model {nth}", probes=probes) == 4
            asked, told, lost = len(server.requests) - asked, calls() - told, unknown() - lost
            assert told <= asked <= told + lost
            assert asked - paid <= lost
            if ended == "ended":
                assert nth > paid
                return
