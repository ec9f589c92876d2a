"""Operations run beside the event loop, so many at a time, tracked where that is asked for."""

import threading
import time
from contextvars import ContextVar

import anyio
import pytest

from api.app import create_app
from api.requests import Calls
from tasks.operation import operation
from tests.api.conftest import forget_settings

current: ContextVar[str] = ContextVar("current", default="nobody")


def test_so_many_at_a_time_while_the_loop_goes_on() -> None:
    lock = threading.Lock()
    running = most = ticks = 0

    @operation(name="slow")
    def slow(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1
        return number

    async def main() -> list[int]:
        calls, found = Calls(2, tracked=False), []

        async def call(number: int) -> None:
            found.append(await calls(slow, number))

        async def tick() -> None:
            nonlocal ticks
            while len(found) < 6:
                ticks += 1
                await anyio.sleep(0.01)

        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            for number in range(6):
                group.start_soon(call, number)
        return found

    assert sorted(anyio.run(main)) == list(range(6))
    assert most == 2
    assert ticks > 5


def test_an_operation_sees_the_context_of_its_request() -> None:
    @operation(name="who")
    def who() -> str:
        return current.get()

    async def main() -> str:
        current.set("alice")
        return await Calls(1, tracked=False)(who)

    assert anyio.run(main) == "alice"


def test_tracking_without_a_prefect_server_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from tasks.errors import NotConfigured

    forget_settings(monkeypatch)
    monkeypatch.setenv("DILIGENCE_TRACK_CALLS", "inline")
    with temporary_settings(restore_defaults={PREFECT_API_URL}), pytest.raises(NotConfigured, match="PREFECT_API_URL"):
        create_app()
