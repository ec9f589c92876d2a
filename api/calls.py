"""From a handler to an operation: in a thread, so that the event loop goes on; so many at a time."""

import logging
from collections.abc import Callable
from copy import copy
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from tasks.documents.drive.identity import Identity, acting_as
from tasks.errors import NotConfigured
from tasks.operation import Operation

P = ParamSpec("P")
R = TypeVar("R")


class Calls:
    """Calls of one area. What exceeds `at_once` waits its turn and takes no thread from another area."""

    def __init__(self, at_once: int, *, tracked: bool) -> None:
        """`tracked` shows every call as a Prefect task run."""
        self._limiter = CapacityLimiter(at_once)
        self.tracked = tracked
        self.who: Identity | None = None

    def on_behalf_of(self, who: Identity | None) -> "Calls":
        """The same calls, with the drive answering to `who`."""
        calls = copy(self)
        calls.who = who
        return calls

    async def __call__(self, operation: Operation[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the operation; what it raises is raised here."""
        call: Callable[P, R] = _tracked(operation) if self.tracked else operation.function
        with acting_as(self.who):  # the thread gets a copy of the context
            return await to_thread.run_sync(partial(call, *args, **kwargs), limiter=self._limiter)


@cache
def _tracked(operation: Operation[Any, Any]) -> Callable[..., Any]:
    """The operation as a Prefect task that is tried once: here somebody waits for the answer."""
    return operation.task.with_options(retries=0)


def prepare_tracking() -> None:
    """Tracked calls need a Prefect server that runs: starting one within a request takes 10 s and more.

    Prefect's own log of these task runs is silenced: it holds the messages of exceptions, which may hold
    what was sent. The service logs what fails in its own words.

    Raises:
        NotConfigured: no server is named.
    """
    from prefect.settings import get_current_settings  # noqa: PLC0415 - 1 s, for those who track only

    if get_current_settings().api.url is None:
        raise NotConfigured(
            "DILIGENCE_TRACK_CALLS=inline needs a Prefect server. Set PREFECT_API_URL, or leave the setting off."
        )
    # A filter, for a level is set anew when Prefect sets up its logging at its first task.
    logging.getLogger("prefect.task_runs").addFilter(_unheard)


def _unheard(_record: logging.LogRecord) -> bool:
    return False
