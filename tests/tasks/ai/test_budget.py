"""The ledger: a call is made only if its worst case still fits, whoever else is calling."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest

from tasks.ai.budget import LONGEST_ANSWER, SHORTEST_ANSWER, BudgetSpent, Ledger
from tasks.ai.money import Cap, Price, Usage


class Book:
    """What a ledger has written down."""

    def __init__(self) -> None:
        self.usages: list[Usage] = []
        self.usd: list[float | None] = []

    def keep(self, usage: Usage, usd: float | None) -> None:
        self.usages.append(usage)
        self.usd.append(usd)

    @property
    def total(self) -> Usage:
        return sum(self.usages, Usage())


@pytest.fixture
def book() -> Book:
    return Book()


def test_without_a_cap_everything_is_counted_and_nothing_limited(book: Book) -> None:
    ledger = Ledger(None, Price(1, 10), Usage(), None, book.keep)
    assert ledger.answer_limit is None
    with ledger.call(10**9) as settle:
        settle(Usage(1, 2_000_000, 100_000))
    assert book.usages == [Usage(1, 2_000_000, 100_000)]
    assert book.usd == [3.0]
    assert ledger.usd == 3.0


def test_without_a_price_no_dollars_are_told(book: Book) -> None:
    ledger = Ledger(Cap(tokens=50_000), None, Usage(), None, book.keep)
    with ledger.call(1000) as settle:
        settle(Usage(1, 1000, 10))
    assert book.usd == [None]
    assert ledger.usd is None


def test_a_call_whose_worst_case_does_not_fit_is_not_made(book: Book) -> None:
    ledger = Ledger(Cap(tokens=20_000), None, Usage(), None, book.keep)
    assert ledger.answer_limit == LONGEST_ANSWER
    with ledger.call(20_000 - LONGEST_ANSWER):
        pass
    with (
        pytest.raises(BudgetSpent, match=r"^The budget is spent.* 20000 tokens.*DILIGENCE_AI_BUDGET"),
        ledger.call(20_001 - LONGEST_ANSWER),
    ):
        pytest.fail("the call was made")
    assert book.usages == []


def test_a_cap_in_dollars_holds_prompt_and_longest_answer_at_their_prices(book: Book) -> None:
    ledger = Ledger(Cap(usd=1.0), Price(1, 10), Usage(), None, book.keep)
    answer = LONGEST_ANSWER * 10  # in millionths of a dollar
    with ledger.call(1_000_000 - answer):
        pass
    with pytest.raises(BudgetSpent, match=r"1\.00 USD"), ledger.call(1_000_001 - answer):
        pytest.fail("the call was made")


def test_what_was_spent_before_an_interruption_counts(book: Book) -> None:
    for usd in (0.9, None):
        ledger = Ledger(Cap(usd=1.0), Price(1, 1), Usage(3, 800_000, 100_000), usd, book.keep)
        assert ledger.usd == 0.9
        with pytest.raises(BudgetSpent), ledger.call(100_000):
            pytest.fail("the call was made")


def test_a_call_that_breaks_off_costs_nothing_and_its_hold_ends(book: Book) -> None:
    ledger = Ledger(Cap(tokens=10_000), None, Usage(), None, book.keep)
    for _ in range(3):
        with pytest.raises(ConnectionError), ledger.call(7000):
            raise ConnectionError
    assert ledger.spent == Usage()
    assert book.usages == []


def test_what_a_failed_call_cost_counts_too(book: Book) -> None:
    ledger = Ledger(Cap(tokens=10_000), None, Usage(), None, book.keep)

    def cut_off() -> None:
        with ledger.call(5000) as settle:
            settle(Usage(1, 4000, 1000))
            raise ConnectionError

    with pytest.raises(ConnectionError):
        cut_off()
    assert book.usages == [Usage(1, 4000, 1000)]
    assert ledger.spent == Usage(1, 4000, 1000)


def test_a_server_that_tells_no_usage_is_counted_at_the_worst_case_under_a_cap(book: Book) -> None:
    ledger = Ledger(Cap(tokens=100_000), None, Usage(), None, book.keep)
    with ledger.call(5000) as settle:
        settle(Usage(1))
    assert ledger.spent == Usage(1, 5000, LONGEST_ANSWER)


def test_a_small_cap_allows_answers_of_a_quarter_and_never_too_short_ones(book: Book) -> None:
    assert Ledger(Cap(tokens=8000), None, Usage(), None, book.keep).answer_limit == 2000
    assert Ledger(Cap(tokens=100), None, Usage(), None, book.keep).answer_limit == SHORTEST_ANSWER
    assert Ledger(Cap(usd=0.04), Price(1, 10), Usage(), None, book.keep).answer_limit == 1000
    assert Ledger(Cap(usd=0.04), Price(1, 0), Usage(), None, book.keep).answer_limit == LONGEST_ANSWER


def test_a_call_waits_for_one_under_way_where_only_its_hold_is_in_the_way(book: Book) -> None:
    ledger = Ledger(Cap(tokens=20_000), None, Usage(), None, book.keep)
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
    assert book.total == Usage(2, 6000, 200)


@pytest.mark.parametrize("cap", [Cap(tokens=300_000), Cap(usd=0.5)])
def test_eight_threads_never_spend_more_than_the_cap_and_leave_little_of_it(cap: Cap, book: Book) -> None:
    price = Price(1, 4)
    ledger = Ledger(cap, price, Usage(), None, book.keep)
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
    assert book.total == sum(real, Usage()) == ledger.spent
    worst_of_one = 3000 + LONGEST_ANSWER
    if cap.tokens is not None:
        assert cap.tokens - worst_of_one < book.total.input_tokens + book.total.output_tokens <= cap.tokens
    else:
        assert cap.usd is not None
        assert cap.usd - price.of(Usage(1, 3000, LONGEST_ANSWER)) < price.of(book.total) <= cap.usd


def test_written_ahead_no_moment_shows_less_than_was_spent(book: Book) -> None:
    ledger = Ledger(Cap(usd=1.0), Price(1, 1), Usage(), None, book.keep, ahead=True)
    with ledger.call(3000) as settle:
        assert book.total == Usage(0, 3000, LONGEST_ANSWER)
        settle(Usage(1, 2000, 50))
    with pytest.raises(ConnectionError), ledger.call(3000):
        raise ConnectionError
    assert book.total == ledger.spent == Usage(1, 2000, 50)
    assert [usd for usd in book.usd if usd is not None] == [pytest.approx(0.00205)]


def test_what_was_written_ahead_by_a_process_that_was_killed_counts_in_dollars_too(book: Book) -> None:
    ledger = Ledger(Cap(usd=1.0), Price(1, 1), Usage(1, 600_000, 300_000), 0.1, book.keep)
    assert ledger.usd == 0.9


def test_the_error_survives_a_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(BudgetSpent(Cap(tokens=5))))
    assert error.message == BudgetSpent(Cap(tokens=5)).message
