"""The decorator `flow`: a Prefect flow that completes even if the Prefect server fails or does not answer.

`tasks/tracking.py` says how. A Prefect worker that runs a deployment sees an ordinary flow.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Flow
from pydantic import BeforeValidator

from storage.context import holding
from tasks.tracing import traced
from tasks.tracking import outcome_told, run_tracked

P = ParamSpec("P")
R = TypeVar("R")


IfGiven = BeforeValidator(lambda value: None if value == "" else value)
"""For a parameter that may be left out: a field that was emptied in Prefect's form is as good as left out."""

_as_steps: ContextVar[bool] = ContextVar("as_steps", default=False)


def as_steps() -> AbstractContextManager[None]:
    """Run flows that are called in the block as plain functions within the calling task, without flow runs of their
    own.

    A flow run costs Prefect 0.15 s of work, and a batch has five flows a company.
    """
    return holding(_as_steps, True)


class TrackedFlow(Flow[P, R]):
    """A Prefect flow; calling it returns or raises what its function does."""

    def __init__(self, fn: Callable[P, R], **options: Any) -> None:
        super().__init__(cast("Callable[P, R]", outcome_told(fn)), **options)
        self._function = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it; see `run_tracked` and `as_steps`."""
        if _as_steps.get():
            return self._function(*args, **kwargs)
        return run_tracked(super().__call__, self._function, *args, **kwargs)


def without_a_line_a_task() -> None:
    """Silence the line that Prefect logs for each finished task run; the state is on the task's own page.

    A hundred companies would give hundreds of lines saying "Finished in state Completed()", each stored by the server.
    """
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)


def flow(*, name: str, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function as a flow; `options` are those of `prefect.flow`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", TrackedFlow(traced("flow", name, function), name=name, **options))

    return decorate
