"""One holder at a time, in whatever process, and a lock that its holder's death frees."""

import signal
import threading
import time
from pathlib import Path

import pytest

from storage import database
from storage.columns import DatabaseUnavailable
from tests.storage import processes

HOLD = """
import sys
from storage import database
with database.locked({name!r}) as mine:
    print(mine, flush=True)
    sys.stdin.read() if {wait} else None
    __import__("time").sleep(600)
"""


def test_a_second_holder_is_refused_and_the_next_is_not(database_url: str) -> None:
    with database.locked("batch Alpha", wait=False) as mine:
        assert mine
        with database.locked("batch Alpha", wait=False) as second:
            assert not second
        with database.locked("batch Beta", wait=False) as other:
            assert other
        with database.locked("batch Alpha", wait=False) as still_second:
            assert not still_second, "a refused holder must not free it"
    with database.locked("batch Alpha", wait=False) as again:
        assert again


def test_a_lock_leaves_no_file_behind(home: Path) -> None:
    with database.locked("batch Alpha", wait=False), database.locked("batch Alpha", wait=False) as second:
        assert not second
        assert len(list(home.glob("*.lock"))) == 1
    assert list(home.glob("*.lock")) == []


def test_the_lock_of_a_killed_process_is_free(database_url: str) -> None:
    holder = processes.start(HOLD.format(name="batch Alpha", wait=False))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    with database.locked("batch Alpha", wait=False) as mine:
        assert not mine
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    assert _comes_free("batch Alpha")


def test_who_waits_gets_it_next(database_url: str) -> None:
    order: list[str] = []

    def second() -> None:
        with database.locked("batch Alpha") as mine:
            order.append(f"second {mine}")

    with database.locked("batch Alpha"):
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.3)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second True"]


def test_what_goes_wrong_under_the_lock_comes_out_as_it_is(database_url: str) -> None:
    with pytest.raises(OSError, match="disk"), database.locked("batch Alpha"):
        raise OSError("disk")
    with database.locked("batch Alpha", wait=False) as mine:
        assert mine


def test_a_lock_in_a_database_that_cannot_be_opened(new_home: Path) -> None:
    new_home.write_text("not a folder")
    with pytest.raises(DatabaseUnavailable), database.locked("batch Alpha"):
        pass


def _comes_free(name: str) -> bool:
    """PostgreSQL notices a client's death when its connection breaks, a moment later."""
    for _ in range(100):
        with database.locked(name, wait=False) as mine:
            if mine:
                return True
        time.sleep(0.05)
    return False
