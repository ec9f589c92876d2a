"""The budget of a source: shared by all who use the database, on SQLite and on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.database import writing
from storage.model_calls import hold_calls, reserve_call


def reserve(server: str = "gleif", interval: float = 10.0, burst: int = 3, most: float = 1e6) -> tuple[float, bool]:
    with writing() as session:
        return reserve_call(session, server, interval, burst, most)


@pytest.mark.usefixtures("database_url")
def test_after_a_burst_calls_keep_an_even_rate_however_many_ask() -> None:
    with ThreadPoolExecutor(6) as callers:
        waits = sorted(seconds for seconds, _ in callers.map(lambda _: reserve(), range(12)))

    assert waits[:3] == [0.0, 0.0, 0.0]
    assert [round(seconds / 10) for seconds in waits[3:]] == list(range(1, 10))
    assert reserve("sec")[0] == 0


@pytest.mark.usefixtures("database_url")
def test_what_a_caller_does_not_wait_for_is_not_reserved() -> None:
    for _ in range(3):
        reserve()

    seconds, reserved = reserve(most=5)

    assert not reserved
    assert 9 < seconds <= 10
    assert reserve()[0] <= 10


@pytest.mark.usefixtures("database_url")
def test_a_hold_is_everyones_and_the_longest_stays() -> None:
    for seconds in (100, 10):
        with writing() as session:
            hold_calls(session, "gleif", seconds)

    assert 90 < reserve()[0] <= 100
