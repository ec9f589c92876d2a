"""Calls of the service that show as Prefect task runs act as their callers all the same."""

import time

import anyio
import pytest

from api.requests import Calls
from tasks.documents.drive.drive import Identity, Login, caller
from tasks.operation import operation


@pytest.mark.parametrize("tracked", [False, True])
def test_an_operation_acts_as_its_caller_and_no_other(prefect_server: None, tracked: bool) -> None:
    @operation(name="whose")
    def whose(number: int) -> tuple[int, Identity | None]:
        time.sleep(0.01)
        return number, caller()

    async def main() -> dict[int, Identity | None]:
        calls, found = Calls(4, tracked=tracked), {}

        async def call(number: int) -> None:
            asked, who = await calls.act_for(Login(number))(whose, number)
            found[asked] = who

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(call, number)
        assert await calls(whose, 9) == (9, None)
        return found

    assert anyio.run(main) == {number: Login(number) for number in range(8)}
