"""Makes a plain function an operation: the same function, also available as a Prefect task.

Called directly it is just the function, and Prefect is not even imported (1 s); flows, and a service that tracks its
calls, run `operation.tracked`. What must hold in both cases (essential retries, time limits) belongs in the function;
the options here are only Prefect's.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from storage.context import holding
from tasks.errors import SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.prefect_setup import be_brief, is_untracked
from tasks.telemetry import traced

if TYPE_CHECKING:
    from prefect import Task

    from tasks.tracking import TrackedTask

P = ParamSpec("P")
R = TypeVar("R")

RETRIES: Mapping[str, Any] = {"retries": 2, "retry_delay_seconds": [2, 10], "retry_jitter_factor": 0.5}


_concerned: ContextVar[str | None] = ContextVar("concerned", default=None)


def concerning(whom: str) -> AbstractContextManager[None]:
    """Name the operations in the block after the company that they are done for, in Prefect's pages."""
    return holding(_concerned, whom)


def name_after_company(name: str) -> Callable[[], str]:
    """What names runs of a task or a flow in Prefect's pages: `Alpha · read documents`."""

    def name_run() -> str:
        what, whom = name.replace("_", " "), _concerned.get()
        return f"{whom} · {what}" if whom else what

    return name_run


def load_tracking() -> ModuleType:
    """`tasks.tracking`, which imports Prefect."""
    be_brief()
    from tasks import tracking  # noqa: PLC0415 - Prefect: 1.2 s, for those who track only

    return tracking


def is_shown() -> bool:
    """Whether Prefect can show something here, as `tasks.tracking.is_shown`."""
    return not is_untracked() and load_tracking().is_shown()


def show(artifact: str, *args: Any, **kwargs: Any) -> Any:
    """Have the function of that name in `prefect.artifacts` show something, as `tasks.tracking.show`."""
    if not is_shown():
        return None
    return load_tracking().show(getattr(import_module("prefect.artifacts"), artifact), *args, **kwargs)


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
    def _tracked(self) -> "TrackedTask[P, R]":
        tracked: TrackedTask[P, R] = load_tracking().TrackedTask(self.function, self._options)
        return tracked

    @property
    def task(self) -> "Task[P, R | None]":
        """The function as a Prefect task, which `tracked` runs."""
        return self._tracked.task

    def tracked(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it as a Prefect task, for flows; it is also done if Prefect fails (`run_tracked`)."""
        return self(*args, **kwargs) if is_untracked() else self._tracked.run(*args, **kwargs)

    def run_tracked_once(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """As `tracked` but without retries, for calls whose answer somebody is waiting for."""
        return self._tracked.run_once(*args, **kwargs)


def source_failed(_task: Any, _run: Any, state: Any) -> bool:
    """Prefect's retry condition: a source that failed may answer next time, but a wrong question stays wrong."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, SourceFailed | TooManyRequests | TookTooLong | Unavailable)


def operation(*, name: str, asks_a_source: bool = False, **options: Any) -> Callable[[Callable[P, R]], Operation[P, R]]:
    """Decorate a function as an operation; `options` go to `prefect.task` (tags, …).

    With `asks_a_source`, Prefect tries again if a source failed. Prefect shows it as `Alpha · read documents`.
    """
    options = {"name": name, "task_run_name": name_after_company(name), **options}
    if asks_a_source:
        options = {**RETRIES, "retry_condition_fn": source_failed, **options}

    def decorate(function: Callable[P, R]) -> Operation[P, R]:
        return Operation(traced("operation", name, function), options)

    return decorate
