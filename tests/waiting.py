"""Ports that nobody listens at, processes that run, and what a test waits for."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def is_listening(port: int) -> bool:
    """Whether a connection to that port of this machine is taken."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition: Callable[[], T | None], seconds: float = 400, pause: float = 0.05) -> T:
    """The first true answer of `condition`, which is asked again after each pause, in seconds."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, f"it did not come true within {seconds:g} s"
        time.sleep(pause)
    return answer
