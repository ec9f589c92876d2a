"""Connections that keep to the deadline in force."""

import ssl
from typing import Any

import httpcore
import pytest

from tasks.remote import retry
from tasks.remote.retry import TimedStream


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
    with retry.within(5):
        assert encrypted.read(10, 60) == b"y"
    assert line.waits[0] is not None
    assert line.waits[0] <= 5


def test_no_operation_begins_after_the_deadline() -> None:
    with retry.within(0), pytest.raises(httpcore.ReadTimeout):
        TimedStream(Line()).read(10, 60)
