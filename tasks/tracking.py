"""Runs functions through Prefect, and without it if Prefect fails: in any case the function is run, once.

If Prefect's server fails, the log gets a warning. A server that does not answer is left alone for a minute, then for
two, and so on. Prefect takes 1.2 s to import: code that may do without it imports this module late, after `be_brief`.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, wraps
from types import NoneType
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

from httpx import TransportError
from prefect import Flow, Task, get_client, settings, task
from prefect._internal.concurrency.threads import get_global_loop
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.events.worker import EventsWorker
from prefect.exceptions import PrefectSignal
from prefect.logging.handlers import APILogWorker

from storage.errors import DatabaseUnavailable
from storage.logs import trace_places
from tasks.errors import DiligenceError
from tasks.prefect_setup import PATIENCE, TRACKING_LOG, be_brief, is_untracked

log = logging.getLogger(TRACKING_LOG)

P = ParamSpec("P")
R = TypeVar("R")

_PAUSE: Final = 60.0
"""Seconds for which a server that does not answer is left alone the first time; twice as long each time after."""
_LONG: Final = 5.0
"""Seconds that a run waits for Prefect at one step before it says so: a server may hang, and answer the second time."""


@dataclass
class _Server:
    """What became of calls to one Prefect server."""

    has_failed: bool = False
    pause: float = _PAUSE
    left_alone_until: float = 0.0
    is_given_up: bool = False

    @property
    def is_left_alone(self) -> bool:
        return is_untracked() or time.monotonic() < self.left_alone_until


_servers: dict[str | None, _Server] = {}


class _Outcome(Generic[R]):
    """What a function gave or raised, as the function itself told; `left_to_tell` is for what Prefect does then."""

    is_done = False
    result: R
    error: BaseException | None = None

    def __init__(self, server: _Server, left_to_tell: ExitStack) -> None:
        self.server = server
        self.left_to_tell = left_to_tell
        self.began = self.ended = 0.0
        """When the function was first called, and when it last came back; Prefect may wait to try it again."""


_outcome: ContextVar["_Outcome[Any] | None"] = ContextVar("outcome", default=None)


def outcome_told(function: Callable[P, R]) -> Callable[P, R | None]:
    """The function for Prefect to run: it reports its outcome to `run_tracked`, and does no work twice.

    Prefect itself gets no result: it would keep a note about each part of it until the flow's run ends.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R | None:
        outcome = cast("_Outcome[R] | None", _outcome.get())
        if outcome is None:  # a Prefect worker runs it
            with _words_withheld():
                try:
                    return function(*args, **kwargs)
                finally:
                    wait_for_server()
        if outcome.is_done:
            return None
        token = _outcome.set(None)
        outcome.began = outcome.began or time.monotonic()
        try:
            with _words_withheld():
                try:
                    outcome.error = None
                    outcome.result = function(*args, **kwargs)
                    outcome.is_done = True
                except BaseException as error:
                    outcome.error = error
                    raise
        finally:
            outcome.ended = time.monotonic()
            _outcome.reset(token)
            if outcome.server.is_left_alone:
                outcome.left_to_tell.enter_context(
                    settings.temporary_settings({settings.PREFECT_CLIENT_MAX_RETRIES: 0})
                )
        return None

    return run


class InternalError(Exception):
    """An error in the program as Prefect is told of it: its class and places, as its words may be a document's."""


_OURS: Final = (DiligenceError, DatabaseUnavailable, InternalError)
"""Errors whose words are ours. The log has them without the program's places."""


_AWAY: Final = 900.0
"""Seconds that a worker's run waits at its end for a server that is away: Prefect takes a run that could not tell its
end for a failed one."""
_LOOK: Final = 5.0
"""Seconds between two looks whether it is there again."""


def wait_for_server() -> None:
    """Wait until the server of the current flow run answers, if it is away: once, and not where the run is stopped."""
    server, is_stopped = _current_server(), not isinstance(sys.exception(), Exception | NoneType)
    if FlowRunContext.get() is None or server.is_given_up or is_stopped:
        return
    until = time.monotonic() + _AWAY
    with _brief(), get_client(sync_client=True) as client:
        while client.api_healthcheck() is not None:
            if time.monotonic() > until:
                server.is_given_up = True
                return
            time.sleep(_LOOK)
    server.left_alone_until = 0.0


@contextmanager
def _words_withheld() -> Iterator[None]:
    try:
        yield
    except _OURS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong
        raise InternalError(" < ".join([type(error).__qualname__, *trace_places(error)])) from None


def _without_places(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], _OURS):
        record.exc_info = None
    return True


for _name in ("prefect.flow_runs", "prefect.task_runs"):
    logging.getLogger(_name).addFilter(_without_places)


def run_tracked(tracked: Callable[P, object], function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function through Prefect, or without it if Prefect fails.

    Args:
        tracked: a Prefect flow or task made of `outcome_told(function)`.
        function: the function itself.
        args: what it is called with.
        kwargs: what it is called with.

    Returns:
        What the function returned.

    Raises:
        What the function raised, and nothing else.
    """
    server = _current_server()
    if server.is_left_alone:
        return function(*args, **kwargs)
    with ExitStack() as stack:
        outcome = _Outcome[R](server, stack)
        token = _outcome.set(outcome)
        stack.callback(_outcome.reset, token)
        stack.enter_context(_brief())
        began = time.monotonic()
        try:
            tracked(*args, **kwargs)
        except (Exception, PrefectSignal) as error:  # noqa: BLE001 - Prefect's failures are not the run's
            if type(error) is not type(outcome.error) and not isinstance(error, InternalError):
                _raise_interrupt(error)
                _note_failure(server, error)
        over = time.monotonic()
        _note_wait(server, max(outcome.began - began, over - outcome.ended) if outcome.began else over - began)
    if outcome.is_done:
        return outcome.result
    if outcome.error is not None:
        raise outcome.error
    return function(*args, **kwargs)


def is_shown() -> bool:
    """Whether Prefect can show something here: there is something to show it with, and somebody to show it."""
    return FlowRunContext.get() is not None and not _current_server().is_left_alone


def show(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Have Prefect show something, such as an artifact; a failure gives None and costs at most a warning."""
    if not is_shown():
        return None
    server = _current_server()
    began = time.monotonic()
    try:
        with _brief():
            return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - as in `run_tracked`
        _raise_interrupt(error)
        _note_failure(server, error)
        return None
    finally:
        _note_wait(server, time.monotonic() - began)


def _current_server() -> _Server:
    return _servers.setdefault(settings.PREFECT_API_URL.value(), _Server())


@contextmanager
def _brief() -> Iterator[None]:
    """`be_brief` for a process that had imported Prefect before, as a worker's does; 40 ms there, nothing elsewhere."""
    be_brief()
    values = {getattr(settings, name): os.environ[name] for name in PATIENCE}
    if str(settings.PREFECT_CLIENT_MAX_RETRIES.value()) == os.environ["PREFECT_CLIENT_MAX_RETRIES"]:
        yield
        return
    with settings.temporary_settings(values):
        yield


def _raise_interrupt(error: BaseException) -> None:
    """Raise the interruption that Prefect was telling its server of when it failed."""
    context = error.__context__
    while context is not None:
        if isinstance(context, KeyboardInterrupt | SystemExit):
            raise context from None
        context = context.__context__


def _is_silent(error: BaseException | None) -> bool:
    """Whether the server did not answer, by the error or one that led to it; Prefect's own confusion is no silence."""
    while error is not None:
        if isinstance(error, TransportError | OSError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _note_failure(server: _Server, error: BaseException) -> None:
    """Tell the log, and leave a server alone that does not answer; one that answers with an error is asked again."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if _is_silent(error):
        server.left_alone_until = time.monotonic() + server.pause
        server.pause *= 2
    _tell_failure(server, f"its server answered {status}" if status else type(error).__name__)


def _note_wait(server: _Server, seconds: float) -> None:
    """Tell the log of a server that a run waited for, though it answered in the end."""
    if seconds >= _LONG:
        _tell_failure(server, f"its server took {seconds:.0f} s to answer")


def _tell_failure(server: _Server, reason: str) -> None:
    level = logging.INFO if server.has_failed else logging.WARNING
    log.log(level, "Prefect failed (%s). The run goes on and its report is whole; Prefect shows less of it.", reason)
    server.has_failed = True


class TrackedFlow(Flow[P, R]):
    """A Prefect flow; calling it returns or raises what its function does."""

    def __init__(self, fn: Callable[P, R], **options: Any) -> None:
        super().__init__(cast("Callable[P, R]", outcome_told(fn)), **options)
        self._function = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it; see `run_tracked`."""
        return run_tracked(super().__call__, self._function, *args, **kwargs)


class TrackedTask(Generic[P, R]):
    """A function that Prefect runs as a task; `options` are those of `prefect.task`."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        self._function = function
        # Its outcome is in our tables: a key to find it by would be computed and looked for in files.
        self.task: Task[P, R | None] = task(outcome_told(function), **({"cache_policy": NO_CACHE} | options))

    def run(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it; see `run_tracked`."""
        return run_tracked(self.task, self._function, *args, **kwargs)

    @cached_property
    def _tried_once(self) -> "Task[P, R | None]":
        return self.task.with_options(retries=0)

    def run_once(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """As `run`, without retries."""
        return run_tracked(self._tried_once, self._function, *args, **kwargs)


@contextmanager
def using_settings(values: Mapping[str, str | None], patience: float) -> Iterator[None]:
    """Give these Prefect settings, by environment variable, other values in the block; then send what is left.

    What its server does not accept within `patience` seconds is given up.
    """
    with settings.temporary_settings({getattr(settings, name): value for name, value in values.items()}):
        try:
            yield
        finally:
            _send_what_is_left(patience)


def _send_what_is_left(patience: float) -> None:
    """Let Prefect send its last logs and events, for which it tries for minutes otherwise when the process ends."""
    until = time.monotonic() + patience
    unsent = False
    for worker in (APILogWorker, EventsWorker):
        ended = worker.drain_all(timeout=max(0.0, until - time.monotonic()))
        unsent = unsent or bool(isinstance(ended, tuple) and ended[1])
    if unsent:
        _tell_failure(_current_server(), "its server did not take everything it was sent")
        get_global_loop().shutdown()  # which cancels its tasks; to cancel them here prints a traceback
