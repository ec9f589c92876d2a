"""The ledger: a call is made only if its worst case still fits, whoever else is calling."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest

from tasks.spending.budget import LONGEST_ANSWER, SHORTEST_ANSWER, Account, BudgetSpent, Ledger
from tasks.spending.money import Cap, Price, Usage


def test_without_a_cap_everything_is_counted_and_nothing_limited() -> None:
    ledger = Ledger(Account(None, Price(1, 10)))
    assert ledger.answer_limit is None
    with ledger.call(10**9) as settle:
        settle(Usage(1, 2_000_000, 100_000))
    assert ledger.spent == Usage(1, 2_000_000, 100_000)
    assert ledger.usd == 3.0


def test_without_a_price_no_dollars_are_told() -> None:
    ledger = Ledger(Account(Cap(tokens=50_000)))
    with ledger.call(1000) as settle:
        settle(Usage(1, 1000, 10))
    assert ledger.usd is None


def test_a_call_whose_worst_case_does_not_fit_is_not_made() -> None:
    ledger = Ledger(Account(Cap(tokens=20_000)))
    assert ledger.answer_limit == LONGEST_ANSWER
    with ledger.call(20_000 - LONGEST_ANSWER):
        pass
    with (
        pytest.raises(BudgetSpent, match=r"^The budget is spent.* 20000 tokens.*DILIGENCE_AI_BUDGET"),
        ledger.call(20_001 - LONGEST_ANSWER),
    ):
        pytest.fail("the call was made")
    assert ledger.spent == Usage()


def test_a_cap_in_dollars_holds_prompt_and_longest_answer_at_their_prices() -> None:
    ledger = Ledger(Account(Cap(usd=1.0), Price(1, 10)))
    answer = LONGEST_ANSWER * 10  # in millionths of a dollar
    with ledger.call(1_000_000 - answer):
        pass
    with pytest.raises(BudgetSpent, match=r"1\.00 USD"), ledger.call(1_000_001 - answer):
        pytest.fail("the call was made")


def test_a_call_that_breaks_off_costs_nothing_and_its_hold_ends() -> None:
    ledger = Ledger(Account(Cap(tokens=10_000)))
    for _ in range(3):
        with pytest.raises(ConnectionError), ledger.call(7000):
            raise ConnectionError
    assert ledger.spent == Usage()


def test_what_a_failed_call_cost_counts_too() -> None:
    ledger = Ledger(Account(Cap(tokens=10_000)))

    def cut_off() -> None:
        with ledger.call(5000) as settle:
            settle(Usage(1, 4000, 1000))
            raise ConnectionError

    with pytest.raises(ConnectionError):
        cut_off()
    assert ledger.spent == Usage(1, 4000, 1000)


def test_a_server_that_tells_no_usage_is_counted_at_the_worst_case_under_a_cap() -> None:
    ledger = Ledger(Account(Cap(tokens=100_000)))
    with ledger.call(5000) as settle:
        settle(Usage(1))
    assert ledger.spent == Usage(1, 5000, LONGEST_ANSWER)


def test_a_small_cap_allows_answers_of_a_quarter_and_never_too_short_ones() -> None:
    assert Ledger(Account(Cap(tokens=8000))).answer_limit == 2000
    assert Ledger(Account(Cap(tokens=100))).answer_limit == SHORTEST_ANSWER
    assert Ledger(Account(Cap(usd=0.04), Price(1, 10))).answer_limit == 1000
    assert Ledger(Account(Cap(usd=0.04), Price(1, 0))).answer_limit == LONGEST_ANSWER


def test_a_call_waits_for_one_under_way_where_only_its_hold_is_in_the_way() -> None:
    ledger = Ledger(Account(Cap(tokens=20_000)))
    second_began = Event()

    def second() -> None:
        second_began.set()
        with ledger.call(10_000) as settle:
            settle(Usage(1, 5000, 100))

    with ThreadPoolExecutor(1) as pool:
        with ledger.call(10_000) as settle:
            waiting = pool.submit(second)
            assert second_began.wait(10)
            assert not waiting.done()
            settle(Usage(1, 1000, 100))
        waiting.result(10)
    assert ledger.spent == Usage(2, 6000, 200)


@pytest.mark.parametrize("cap", [Cap(tokens=300_000), Cap(usd=0.5)])
def test_eight_threads_never_spend_more_than_the_cap_and_leave_little_of_it(cap: Cap) -> None:
    price = Price(1, 4)
    ledger = Ledger(Account(cap, price))
    limit = ledger.answer_limit
    assert limit is not None
    lock, real = Lock(), []

    def call(number: int) -> bool:
        chance = random.Random(number)
        prompt = chance.randint(500, 3000)
        try:
            with ledger.call(prompt) as settle:
                cost = Usage(
                    1, prompt if number % 3 else prompt // 2, limit if number % 2 else chance.randint(1, limit)
                )
                with lock:
                    real.append(cost)
                settle(cost)
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(call, range(400)))
    assert True in made
    assert False in made
    assert ledger.spent == sum(real, Usage())
    worst_of_one = 3000 + LONGEST_ANSWER
    if cap.tokens is not None:
        assert cap.tokens - worst_of_one < ledger.spent.input_tokens + ledger.spent.output_tokens <= cap.tokens
    else:
        assert cap.usd is not None
        assert cap.usd - price.of(Usage(1, 3000, LONGEST_ANSWER)) < price.of(ledger.spent) <= cap.usd


def test_written_ahead_no_moment_shows_less_than_was_spent() -> None:
    ledger = Ledger(Account(Cap(usd=1.0), Price(1, 1)))
    with ledger.call(3000) as settle:
        assert ledger.spent == Usage(0, 3000, LONGEST_ANSWER)
        settle(Usage(1, 2000, 50))
    with pytest.raises(ConnectionError), ledger.call(3000):
        raise ConnectionError
    assert ledger.spent == Usage(1, 2000, 50)
    assert ledger.usd == pytest.approx(0.00205)


def test_the_error_survives_a_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(BudgetSpent(Cap(tokens=5))))
    assert error.message == BudgetSpent(Cap(tokens=5)).message
