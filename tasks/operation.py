"""What makes a plain function an operation: the same function, also as a Prefect task.

Called directly it is just the function, and Prefect is not even imported (1 s); flows, and a
service that tracks its calls, run `operation.tracked`. What must hold either way (essential retries,
time limits) belongs into the function; what stands in the options here is Prefect's share.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, update_wrapper, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar, cast

from pydantic_settings import DotEnvSettingsSource
from pydantic_settings.sources import ConfigFileSourceMixin

from tasks.errors import SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.tracing import traced

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

_PATIENCE: Final = {
    "PREFECT_API_REQUEST_TIMEOUT": "10",  # seconds; Prefect's own 60 would hold a run up for as long
    "PREFECT_CLIENT_MAX_RETRIES": "1",  # for a server whose SQLite is locked; Prefect's own 5 take a minute
    "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",  # a request more that can fail
}
_PAUSE: Final = 60.0
"""Seconds for which a server that does not answer is left alone the first time; twice as long each time after."""
_LONG: Final = 5.0
"""Seconds that a run waits for Prefect at one step before it says so: a server may hang, and answer the second time."""


def be_brief() -> None:
    """Have Prefect wait and try again less than it usually does. Read from the environment when Prefect is imported.

    Of the current folder, which may be a data room, Prefect then reads no settings: `.env`, `prefect.toml` and
    `pyproject.toml` can name other servers, databases and code, or be no text at all. It has no setting for that
    (3.8.8, prefect/settings/sources.py), so the readers of such files give nothing, which nobody else here uses.
    """
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    if "prefect" not in sys.modules:  # else it is a worker's, whose settings are its own
        name_profiles()
        DotEnvSettingsSource._read_env_files = ConfigFileSourceMixin._read_files = _read_nothing  # type: ignore[assignment, method-assign]  # noqa: SLF001


def name_profiles() -> Path:
    """Name the file of Prefect's profiles, for which Prefect looks in the files of the current folder otherwise."""
    home = os.environ.get("PREFECT_HOME") or os.path.expanduser("~/.prefect")  # noqa: PTH111 - raises nothing
    os.environ["PREFECT_PROFILES_PATH"] = f"{home}/profiles.toml"
    return Path(home, "profiles.toml")


def _read_nothing(*_: object) -> dict[str, Any]:
    return {}


@dataclass
class _Server:
    """What became of calls to one Prefect server."""

    has_failed: bool = False
    pause: float = _PAUSE
    left_alone_until: float = 0.0

    @property
    def is_left_alone(self) -> bool:
        return _is_off.get() or time.monotonic() < self.left_alone_until


_servers: dict[str | None, _Server] = {}
_is_off: ContextVar[bool] = ContextVar("is_off", default=False)


@contextmanager
def untracked() -> Iterator[None]:
    """Run flows and tasks in the block as plain functions, without Prefect."""
    token = _is_off.set(True)
    try:
        yield
    finally:
        _is_off.reset(token)


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
    """The function for Prefect to run: it tells `run_tracked` its outcome, and does no work twice.

    Prefect itself is given nothing: of each part of a result it would keep a note until the flow's run ends.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R | None:
        outcome = cast("_Outcome[R] | None", _outcome.get())
        if outcome is None:  # a Prefect worker runs it
            return function(*args, **kwargs)
        if outcome.is_done:
            return None
        token = _outcome.set(None)
        outcome.began = outcome.began or time.monotonic()
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
                outcome.left_to_tell.enter_context(_without_retries())
        return None

    return run


def run_tracked(tracked: Callable[P, object], function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function through Prefect, or without it where Prefect fails.

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
    from prefect.exceptions import PrefectSignal  # noqa: PLC0415 - 1.2 s, for those who track only

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
            if type(error) is not type(outcome.error):
                _raise_interrupt(error)
                _note_failure(server, error)
        over = time.monotonic()
        _note_wait(server, max(outcome.began - began, over - outcome.ended) if outcome.began else over - began)
    if outcome.is_done:
        return outcome.result
    if outcome.error is not None:
        raise outcome.error
    return function(*args, **kwargs)


def show(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Have Prefect show something, such as an artifact; gives None where it fails, which costs a warning at most."""
    from prefect.context import FlowRunContext  # noqa: PLC0415 - see `run_tracked`

    server = _current_server()
    if FlowRunContext.get() is None or server.is_left_alone:
        return None  # nothing that it could be shown with, or nobody to show it
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


def note_unsent() -> None:
    """Tell the log that Prefect's server did not take the last of what there was to tell it."""
    _tell_failure(_current_server(), "its server did not take all that it was told")


def note_new_database() -> None:
    """Tell the log that the database of Prefect's own server was damaged, and lies aside."""
    log.warning("Prefect's database was damaged: a new one is used, the old one stays as prefect.db.damaged.")


def _current_server() -> _Server:
    from prefect.settings import PREFECT_API_URL  # noqa: PLC0415 - see `run_tracked`

    return _servers.setdefault(PREFECT_API_URL.value(), _Server())


@contextmanager
def _brief() -> Iterator[None]:
    """`be_brief` for a process that had imported Prefect before, as a worker's does; 40 ms there, nothing elsewhere."""
    from prefect import settings  # noqa: PLC0415 - see `run_tracked`

    be_brief()
    values = {getattr(settings, name): os.environ[name] for name in _PATIENCE}
    if str(settings.PREFECT_CLIENT_MAX_RETRIES.value()) == os.environ["PREFECT_CLIENT_MAX_RETRIES"]:
        yield
        return
    with settings.temporary_settings(values):
        yield


def _without_retries() -> AbstractContextManager[object]:
    from prefect import settings  # noqa: PLC0415 - see `run_tracked`

    return settings.temporary_settings({settings.PREFECT_CLIENT_MAX_RETRIES: 0})


def _raise_interrupt(error: BaseException) -> None:
    """Raise the interruption that Prefect was telling its server of when it failed."""
    context = error.__context__
    while context is not None:
        if isinstance(context, KeyboardInterrupt | SystemExit):
            raise context from None
        context = context.__context__


def _is_silent(error: BaseException | None) -> bool:
    """Whether the server did not answer, by the error or one that led to it; Prefect's own confusion is no silence."""
    from httpx import TransportError  # noqa: PLC0415 - Prefect's client; see `run_tracked`

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


if TYPE_CHECKING:
    from prefect import Task


RETRIES: Mapping[str, Any] = {"retries": 2, "retry_delay_seconds": [2, 10], "retry_jitter_factor": 0.5}


_concerned: ContextVar[str | None] = ContextVar("concerned", default=None)


@contextmanager
def concerning(whom: str) -> Iterator[None]:
    """Name the operations within the block after the company that they are done for, where Prefect shows them."""
    token = _concerned.set(whom)
    try:
        yield
    finally:
        _concerned.reset(token)


class Operation(Generic[P, R]):
    """A function with a name in the Prefect UI. `options` are those of `prefect.task`."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any]) -> None:
        self.function = function
        self._options = options
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it here, untracked."""
        return self.function(*args, **kwargs)

    @cached_property
    def task(self) -> "Task[P, R | None]":
        """The function as a Prefect task, which `tracked` runs."""
        be_brief()
        from prefect import task  # noqa: PLC0415 - 1.2 s

        return task(outcome_told(self.function), **self._options)

    @cached_property
    def _task_tried_once(self) -> "Task[P, R | None]":
        return self.task.with_options(retries=0)

    def tracked(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it as a Prefect task, for flows; it is done too where Prefect fails (`run_tracked`)."""
        return run_tracked(self.task, self.function, *args, **kwargs)

    def run_tracked_once(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The same without retries, for calls whose answer somebody waits for."""
        return run_tracked(self._task_tried_once, self.function, *args, **kwargs)


def source_failed(_task: Any, _run: Any, state: Any) -> bool:
    """Prefect's retry condition: a source that failed may answer next time, a wrong question never will."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, SourceFailed | TooManyRequests | TookTooLong | Unavailable)


def operation(*, name: str, asks_a_source: bool = False, **options: Any) -> Callable[[Callable[P, R]], Operation[P, R]]:
    """Decorate a function as an operation; `options` go to `prefect.task` (tags, …).

    With `asks_a_source`, Prefect tries it again when a source failed. Prefect shows it as `Alpha · read documents`.
    """

    def name_of_run() -> str:
        what, whom = name.replace("_", " "), _concerned.get()
        return f"{whom} · {what}" if whom else what

    options = {"name": name, "task_run_name": name_of_run, **options}
    if asks_a_source:
        options = {**RETRIES, "retry_condition_fn": source_failed, **options}

    def decorate(function: Callable[P, R]) -> Operation[P, R]:
        return Operation(traced("operation", name, function), options)

    return decorate
