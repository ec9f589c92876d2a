"""What a run spends: stored in its row at once, kept under its cap across companies, threads and interruptions."""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storage.database import reading, writing
from storage.runs import Run, add_cost, add_run, get_run
from storage.settings import override_settings
from tasks.errors import BadRequest, NotConfigured
from tasks.spending.budget import BudgetSpent, cap_and_price, find_ledger, record_unpriced
from tasks.spending.money import Cap, Price, Usage

pytestmark = pytest.mark.usefixtures("home")  # a database of its own for every test, and no settings

GPT = {"ai_model": "gpt-4o-mini"}
OWN = {"ai_model": "our-model"}


@pytest.fixture
def run(home: Path) -> Callable[[], Run]:
    """A function that reads the run from the database."""
    with writing() as session:
        add_run(session, Run(id="r", batch="b", fingerprint="f", answerer="a", criteria={}), [])

    def read() -> Run:
        with reading() as session:
            return get_run(session, "r")

    return read


def spend(usage: Usage) -> None:
    with find_ledger("r").call(usage.input_tokens) as settle:
        settle(usage)


def test_without_settings_nothing_is_capped_or_priced(run: Callable[[], Run]) -> None:
    assert cap_and_price() == (None, None)
    spend(Usage(1, 1000, 100))
    row = run()
    assert (row.calls, row.input_tokens, row.output_tokens, row.usd) == (1, 1000, 100, None)


def test_spending_is_stored_at_once_in_tokens_and_dollars(run: Callable[[], Run]) -> None:
    with override_settings(GPT):
        spend(Usage(1, 1_000_000, 100_000))
        assert run().usd == pytest.approx(0.21)
        spend(Usage(1, 1_000_000, 0))
    row = run()
    assert (row.calls, row.input_tokens) == (2, 2_000_000)
    assert row.usd == pytest.approx(0.36)


def test_the_worst_case_is_stored_while_a_call_runs_under_a_cap(run: Callable[[], Run]) -> None:
    with override_settings(GPT | {"ai_budget": "20000 tokens"}):
        with find_ledger("r").call(1000) as settle:
            row = run()
            assert (row.calls, row.input_tokens, row.output_tokens) == (0, 1000, 4096)
            settle(Usage(1, 900, 100))
        row = run()
    assert (row.calls, row.input_tokens, row.output_tokens) == (1, 900, 100)
    assert row.usd == pytest.approx(900 * 0.15e-6 + 100 * 0.60e-6)


def test_stored_spending_counts_against_the_cap(run: Callable[[], Run]) -> None:
    with override_settings({"ai_budget": "20000 tokens"}):
        spend(Usage(1, 15_000, 500))
        gc.collect()
        with pytest.raises(BudgetSpent):
            spend(Usage(1, 1000, 100))
    with override_settings({"ai_budget": "30000 tokens"}):
        spend(Usage(1, 1000, 100))
    assert run().calls == 2


def test_what_a_killed_process_held_counts_against_a_cap_in_dollars(run: Callable[[], Run]) -> None:
    with writing() as session:
        add_cost(session, "r", 1, 2_000_000, 1_000_000, 0.1)  # held tokens have no price yet
    with override_settings(GPT | {"ai_budget": "1 USD"}):
        with pytest.raises(BudgetSpent):
            spend(Usage(1, 1_000_000, 0))
        spend(Usage(1, 10_000, 0))


def test_all_threads_share_a_runs_ledger(run: Callable[[], Run]) -> None:
    with override_settings({"ai_budget": "50000 tokens"}):
        with ThreadPoolExecutor(8) as pool:
            ledgers = set(pool.map(lambda _: _in_thread(), range(8)))
        first = find_ledger("r")
        assert find_ledger("r") is first
    assert len(ledgers) == 1
    assert run().calls == 0


def _in_thread() -> object:
    with override_settings({"ai_budget": "50000 tokens"}):
        return find_ledger("r")


def test_a_price_that_becomes_known_counts_for_what_was_spent_before(run: Callable[[], Run], tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"our-model" = { input = 2, output = 4 }\n')
    with override_settings(OWN):
        spend(Usage(1, 100_000, 50_000))
        assert run().usd is None
    with override_settings(OWN | {"ai_prices": str(prices), "ai_budget": "0.45 USD"}):
        record_unpriced("r")  # as a run that goes on does
        ledger = find_ledger("r")
        assert ledger.usd == pytest.approx(0.4)
        assert run().usd == pytest.approx(0.4)
        with pytest.raises(BudgetSpent, match=r"0\.45 USD"), ledger.call(30_000):
            pytest.fail("the call was made")


def test_a_cap_in_dollars_needs_a_price_and_names_the_setting_for_it(tmp_path: Path) -> None:
    with (
        override_settings(OWN | {"ai_budget": "1 USD"}),
        pytest.raises(NotConfigured, match=r"1\.00 USD.*our-model.*_AI_PRICES"),
    ):
        cap_and_price()
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"our-*" = { input = 0, output = 0 }\n')
    with override_settings(OWN | {"ai_budget": "1 USD", "ai_prices": str(prices)}):
        assert cap_and_price() == (Cap(usd=1), Price(0, 0))
    with override_settings(OWN | {"ai_budget": "100 tokens"}):
        assert cap_and_price() == (Cap(tokens=100), None)
    with override_settings({"ai_budget": "1 USD"}):  # no model is asked
        assert cap_and_price() == (Cap(usd=1), None)


def test_a_mistake_in_the_prices_is_reported_before_anything_runs(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models]\n"our-model" = { input = 2 }\n')
    with (
        override_settings(OWN | {"ai_prices": str(prices)}),
        pytest.raises(BadRequest, match=r"prices.toml, line 2, .*output"),
    ):
        cap_and_price()


def test_without_a_model_a_budget_in_dollars_needs_no_price(run: Callable[[], Run]) -> None:
    with override_settings({"ai_budget": "1 USD"}):
        assert find_ledger("r").answer_limit is None
    assert run().usd is None
