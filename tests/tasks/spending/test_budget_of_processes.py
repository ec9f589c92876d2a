"""Processes that share a run share its cap: whatever they do at the same time, it is not passed."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from storage import database, model_calls, runs
from storage.columns import now
from storage.runs import Run
from storage.settings import override_settings
from tasks.spending.budget import BudgetSpent, Ledger, RunAccount, cap_and_price
from tasks.spending.money import Usage
from tests.matrices import quick_cases
from tests.storage import processes

SPEND = """
import sys, time
from storage.settings import override_settings
from tasks.spending.budget import BudgetSpent, find_ledger
from tasks.spending.money import Usage
spent = 0
with override_settings({settings!r}):
    ledger = find_ledger("r")
    while spent < 100:
        try:
            with ledger.call(200) as settle:
                time.sleep(0.01)
                settle(Usage(1, 150, 300))
        except BudgetSpent:
            break
        spent += 1
print(spent)
"""
CAPS = [
    {"ai_model": "our-model", "ai_budget": "20000 tokens"},
    {"ai_model": "gpt-4o-mini", "ai_budget": "0.004 USD"},
]


def ledgers(settings: dict[str, str]) -> tuple[Ledger, Ledger]:
    """Those of two processes."""
    with database.writing() as session:
        runs.add_run(session, Run(id="r", batch="b", fingerprint="f", answerer="a", criteria={}), [])
    with override_settings(settings):
        limits = cap_and_price()
    one, other = (Ledger(RunAccount("r", limits)) for _ in range(2))
    return one, other


def row() -> Run:
    with database.reading() as session:
        return runs.get_run(session, "r")


@pytest.mark.parametrize("settings", quick_cases(CAPS, quick=(1,)), ids=["tokens", "USD"])
def test_two_processes_spend_nearly_all_of_a_cap_and_no_more(settings: dict[str, str], database_url: str) -> None:
    ledgers(settings)
    started = [processes.start(SPEND.format(settings=settings)) for _ in range(2)]
    calls = [int(process.communicate(timeout=120)[0]) for process in started]
    with override_settings(settings):
        cap, price = cap_and_price()
    assert cap is not None
    run = row()
    assert run.calls == sum(calls)
    assert (run.input_tokens, run.output_tokens) == (150 * run.calls, 300 * run.calls)
    if cap.tokens is not None:
        assert cap.tokens * 0.7 < run.input_tokens + run.output_tokens <= cap.tokens
    else:
        assert price is not None
        assert run.usd == pytest.approx(price.of(Usage(0, run.input_tokens, run.output_tokens)))
        assert 0.7 * (cap.usd or 0) < (run.usd or 0) <= (cap.usd or 0)


def test_what_another_process_holds_is_waited_for_before_a_budget_counts_as_spent(database_url: str) -> None:
    one, other = ledgers({"ai_model": "our-model", "ai_budget": "3000 tokens"})

    def spend(ledger: Ledger, seconds: float) -> None:
        with ledger.call(1500) as settle:
            time.sleep(seconds)
            settle(Usage(1, 10, 10))

    first = threading.Thread(target=spend, args=(one, 1.0))
    first.start()
    while not row().input_tokens:
        time.sleep(0.01)
    spend(other, 0)
    first.join()
    assert (row().calls, row().input_tokens, row().output_tokens) == (2, 20, 20)


@pytest.mark.parametrize("hours", [-1, 0, 1])
def test_another_machines_clock_does_not_say_how_long_its_call_is_waited_for(
    hours: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledgers({})
    account = RunAccount("r")
    with database.writing() as session:
        asked = model_calls.UnansweredCall(run_id="r", key="k", request="q", asked_at=now() + timedelta(hours=hours))
        session.add(asked)
    assert account.await_others()
    monkeypatch.setattr("tasks.spending.budget._LONGEST_CALL", 0.1)
    assert not account.await_others()


def test_a_hold_that_passes_the_cap_is_not_made(database_url: str) -> None:
    one, other = ledgers({"ai_model": "our-model", "ai_budget": "3000 tokens"})
    with one.call(1500) as settle:
        settle(Usage(1, 1500, 700))
    with pytest.raises(BudgetSpent), other.call(1500):
        pass
    assert (row().calls, row().input_tokens, row().output_tokens) == (1, 1500, 700)
