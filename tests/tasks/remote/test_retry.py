"""`Retry-After` as servers write it, pauses between attempts, when they end, and connections that keep a deadline."""

import gc
import ssl
import time
import weakref
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpcore
import pytest

from tasks.errors import Unavailable
from tasks.remote.retry import Backoff, TimedStream, TryAgain, read_retry_after, retry, within
from tests.cases import cases

NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


@pytest.fixture(params=["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The time zone of this machine."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 17 ", 17),
        ("0", 0),
        ("0.5", 0.5),
        ("Sun, 22 Nov 2026 12:01:40 GMT", 100),
        ("Sunday, 22-Nov-26 12:01:40 GMT", 100),
        ("Sun Nov 22 12:01:40 2026", 100),
        ("Sun, 22 Nov 2026 12:01:40 -0000", 100),
        ("Sun, 22 Nov 2026 12:01:40 +0000", 100),
        ("Sun, 22 Nov 2026 17:31:40 +0530", 100),
        ("Sun, 22 Nov 2026 12:01:40", 100),
        ("Sun, 22 Nov 2026 11:00:00 GMT", 0),
        ("9" * 300, 1e9),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 1e9),
    ],
)
def test_seconds_and_dates_of_every_form_are_read(zone: str, header: str, seconds: float) -> None:
    assert read_retry_after(header, NOON) == seconds, zone


@cases(
    "header", [None, "", "soon", "nan", "inf", "-5", "1e3", "٣", "Fri, 99 Foo 2026", "2026-11-22T12:00:00Z", "12 30"]
)
def test_what_is_neither_says_nothing(header: str | None) -> None:
    assert read_retry_after(header, NOON) is None


def test_a_date_is_held_against_the_time_now() -> None:
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    seconds = read_retry_after(header)
    assert seconds is not None
    assert 55 < seconds <= 60


def test_pauses_double_up_to_the_longest_and_are_no_shorter_than_the_server_asks() -> None:
    backoff = Backoff(1, longest=5, jitter=(1, 1))
    assert [backoff.pause(attempt) for attempt in range(1, 6)] == [1, 2, 4, 5, 5]
    assert backoff.pause(10_000) == 5
    assert backoff.pause(1, after=3) == 3
    assert backoff.pause(3, after=3) == 4
    spread = {Backoff(1).pause(1) for _ in range(20)}
    assert len(spread) > 1
    assert all(0.75 <= pause <= 1.25 for pause in spread)


class Flaky:
    """Fails so many times, then gives the number of its calls."""

    def __init__(self, failures: int, after: float | None = None) -> None:
        self.calls = 0
        self._failures = failures
        self._after = after

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self._failures:
            raise TryAgain(Unavailable(f"Failure {self.calls}."), self._after)
        return self.calls


def test_a_call_is_repeated_by_its_callers_rule_until_it_succeeds() -> None:
    asked: list[tuple[str, int]] = []

    def pause(failure: TryAgain, attempt: int) -> float:
        asked.append((failure.error.message, attempt))
        return 0

    assert retry(Flaky(2), pause) == 3
    assert asked == [("Failure 1.", 1), ("Failure 2.", 2)]


def test_the_rule_ends_the_attempts() -> None:
    def pause(failure: TryAgain, attempt: int) -> float:
        if attempt == 2:
            raise failure.error
        return 0

    call = Flaky(9)
    with pytest.raises(Unavailable, match=r"Failure 2\."):
        retry(call, pause)
    assert call.calls == 2


def test_another_error_ends_the_attempts() -> None:
    def call() -> int:
        raise LookupError

    with pytest.raises(LookupError):
        retry(call, lambda *_: 0)


def test_no_attempt_is_made_beyond_the_deadline() -> None:
    call = Flaky(9, after=60)
    with within(5), pytest.raises(Unavailable, match=r"Failure 1\."):
        retry(call, lambda failure, attempt: Backoff(0.01).pause(attempt, failure.after))
    assert call.calls == 1


def test_a_failed_attempt_keeps_nothing_open_until_the_next_one() -> None:
    class Connection:
        pass

    attempts: list[weakref.ref[Connection]] = []

    def call() -> int:
        connection = Connection()
        attempts.append(weakref.ref(connection))
        if len(attempts) == 1:
            try:
                int("")
            except ValueError:
                raise TryAgain(Unavailable("Failure.")) from None
        return len(attempts)

    def pause(_failure: TryAgain, _attempt: int) -> float:
        assert attempts[0]() is None
        return 0

    gc.disable()
    try:
        assert retry(call, pause) == 2
    finally:
        gc.enable()


class Line(httpcore.NetworkStream):
    """A connection that gives a byte each time, and how long it was asked to wait for it."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.waits.append(timeout)
        return b"y"

    def start_tls(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        return self


class Paced(TimedStream):
    """A kind of its own."""


def test_a_connection_keeps_its_kind_behind_tls() -> None:
    line = Line()
    encrypted = Paced(line).start_tls(ssl.create_default_context(), "drive.example", 1)
    assert isinstance(encrypted, Paced)
    with within(5):
        assert encrypted.read(10, 60) == b"y"
    assert line.waits[0] is not None
    assert line.waits[0] <= 5


def test_no_operation_begins_after_the_deadline() -> None:
    with within(0), pytest.raises(httpcore.ReadTimeout):
        TimedStream(Line()).read(10, 60)
