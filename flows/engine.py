"""The decorator `flow`: a Prefect flow that completes even if the Prefect server fails or does not answer.

`tasks/tracking.py` says how. A Prefect worker that runs a deployment sees an ordinary flow. The flow run that is
under way gets its name, its log, its tags and the link to its report here too.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

from prefect import get_client, get_run_logger
from prefect.artifacts import create_link_artifact
from prefect.runtime import flow_run
from pydantic import BeforeValidator

from flows.artifacts import batch_key, escape, report_address
from flows.batch_file import read_batch
from flows.prefect_server import TAG
from storage import database, runs
from tasks.errors import BadRequest
from tasks.operation import name_after_company
from tasks.reports.report import RunResults, list_warnings, result_lines
from tasks.telemetry import traced
from tasks.tracking import TrackedFlow, show

P = ParamSpec("P")
R = TypeVar("R")


IfGiven = BeforeValidator(lambda value: None if value == "" else value)
"""For a parameter that may be left out: a field that was emptied in Prefect's form is as good as left out."""


def without_a_line_a_task() -> None:
    """Silence the line that Prefect logs for each finished task run; the state is on the task's own page.

    A hundred companies would give hundreds of lines saying "Finished in state Completed()", each stored by the server.
    """
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)


def flow(*, name: str, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function as a flow; `options` are those of `prefect.flow`. Its runs are named as an operation's."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        named = {"flow_run_name": name_after_company(name), **options}
        return cast("Callable[P, R]", TrackedFlow(traced("flow", name, function), name=name, **named))

    return decorate


WARNINGS: Final = "warnings"


def name_batch_run() -> str:
    """The name for the current flow run: the batch's name."""
    return _batch_name(flow_run.parameters)


def name_company_run() -> str:
    """The name for the current flow run: the batch's and the company's, `Autumn screen · Alpha`."""
    company = str(flow_run.parameters.get("company") or flow_run.parameters.get("name"))
    batch = _batch_name(flow_run.parameters) if flow_run.parameters.get("batch_file") else None
    return f"{batch} · {company}" if batch and batch != company else company


def name_helper_run() -> str:
    """The name for the current flow run: `Autumn screen · helper`, with the number that its leader gave it."""
    run = str(flow_run.parameters["run"])
    if flow_run.parameters.get("definition") is None:
        with database.reading() as session:
            stored = runs.find_run(session, run)
        batch = stored.batch if stored else run
    else:
        batch = _batch_name(flow_run.parameters)
    name = f"{batch} · helper"
    return flow_run.name if str(flow_run.name).startswith(name) else name


def show_outcome(results: RunResults, out: Path | None, unwritten: Sequence[str] = ()) -> None:
    """Show how a run ended, for a batch or one company: the link to its report, then its log and its tags.

    `unwritten` says why the report is not in the folder `out`.

    The link is made last: it is the newest artifact. The tag `diligence` marks our runs for
    `prune`; `warnings` marks those whose report has any.
    """
    run = results.run
    show(
        create_link_artifact,
        report_address(run.id),
        link_text=f"The report: {escape(run.batch)}",
        key=batch_key("report", run.batch),
        description=f"{escape(run.batch)}: the report and its evidence",
    )
    warnings = [*unwritten, *list_warnings(results)]
    tell(warnings, logging.WARNING)
    where = f"The report is at {report_address(run.id)}{f' and in {out}' if out and not unwritten else ''}."
    tell([*result_lines(results), where])
    show(_add_tags, {TAG, WARNINGS} if warnings else {TAG})


def _add_tags(tags: set[str]) -> None:
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, tags={*flow_run.tags, *tags})


def tell(lines: Iterable[str], level: int = logging.INFO) -> None:
    """Write lines into the log of the current flow run, as Prefect shows it."""
    show(_log, list(lines), level)


def _log(lines: list[str], level: int) -> None:
    logger = get_run_logger()
    for line in lines:
        logger.log(level, "%s", line)


def _batch_name(parameters: dict[str, Any]) -> str:
    """The name of the deployed batch, otherwise the one in its file; for an invalid file the file's name."""
    definition = parameters.get("definition")
    if definition is not None:
        return str(definition["name"] if isinstance(definition, dict) else definition.name)
    file = Path(parameters["batch_file"])
    try:
        return read_batch(file, parameters.get("criteria")).name
    except BadRequest:
        return file.stem
