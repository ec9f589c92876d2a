"""A web of loopback servers: what is fetched, from whom, and within which limits."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tasks.companies.web.client import FetchLimits, Web
from tasks.companies.web.transport import Allowed

QUICK = FetchLimits(connect=2, wait=2, total=4, pause=0.01)
"""FetchLimits for servers next door: what a test is about fails soon, and pauses are short."""


@pytest.fixture
def open_web() -> Iterator[Callable[..., Web]]:
    """Opens a web that may reach the networks named: `open_web("127.0.0.1")`."""
    with ExitStack() as opened:

        def open_web(*allowed: str, **more: Any) -> Web:
            return opened.enter_context(Web(Allowed.parse(allowed), "diligence/test", **more))

        yield open_web


@pytest.fixture
def web(open_web: Callable[..., Web]) -> Web:
    """A web that may reach 127.0.0.1 and nothing else that is private."""
    return open_web("127.0.0.1")
