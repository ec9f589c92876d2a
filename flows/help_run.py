"""The flow `help_run`: examines companies of a run that another process leads, and finishes the run if its leader is
gone.

On one machine it runs in forks of a separate process, `python -m flows.help_run RUN COUNT [OUT]`, or with a COUNT of 0
in that process itself; on a work pool it is the run of a deployment.
"""

import gc
import logging
import os
import signal
import sys

from tasks.reading.pool.process import load_readers

if __name__ == "__main__":  # before the imports below, of which little is dropped: a seventh of their time
    gc.disable()
    load_readers()  # 1 s, while the program is loaded

from collections.abc import Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated

from prefect import settings

from flows import prefect_server
from flows.artifacts import prefix_keys
from flows.batch import work
from flows.batch_definition import BatchDefinition, DeployedBatch, in_its_folder
from flows.engine import IfGiven, flow, name_helper_run, set_worker_secrets, tell, without_a_line_a_task
from flows.run import PROGRAM, CompaniesFailed, OpenRun
from storage import database, runs
from storage.errors import DatabaseUnavailable
from storage.runs import Run
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.child_process import end_with_parent
from tasks.errors import Conflict, DiligenceError, NotFound
from tasks.prefect_setup import untracked
from tasks.remote.environment import usable_environment


@flow(name="help_run", flow_run_name=name_helper_run)
def help_run(
    run: str,
    out: Annotated[Path | None, IfGiven] = None,
    reports: Annotated[Path | None, IfGiven] = None,
    definition: DeployedBatch | None = None,
) -> str:
    """Examine companies of a run alongside its leader until none is left.

    Args:
        run: the run's id.
        out: the folder for the report, which is written here if no other process leads the run any more.
        reports: a folder in which each run gets its own folder, in the place of `out`.
        definition: the batch as it was deployed, where this is a deployment's run; what counts is the run's own.

    Returns:
        The run's id.

    Raises:
        NotFound: the database has no such run. Conflict: this process would examine companies in another way than
            the one that leads. Nothing is done then.
        CompaniesFailed: some companies of the run, which this process has finished, failed; all the rest is done.
    """
    without_a_line_a_task()
    with in_its_folder(definition), set_worker_secrets(is_deployed=definition is not None):
        with database.reading() as session:
            found = runs.find_run(session, run)
            content = runs.find_definition(session, found.definition) if found and found.definition else None
        if found is None or content is None:
            raise NotFound(
                f"This machine's database has no run {run}. Give its worker the DILIGENCE_DATABASE_URL of the one that "
                "leads the run; a database in a file only serves its own machine."
            )
        if found.reported_at is not None:
            tell([f"The run {run} is over: there is nothing left to do."])
            return run
        screen = BatchDefinition.model_validate(content).batch()
        with override_settings(screen.settings), prefix_keys(screen.name), database.claims() as claims:
            _check_the_same(found, screen.fingerprint(current_answerer().name))
            open_run = OpenRun(found.id, found.batch, claims, definition is not None)
            try:
                work(open_run, screen, reports / run if reports is not None else out)
            except CompaniesFailed as error:
                if open_run.is_led_here:
                    raise
                tell([error.message])  # the flow run of the process that leads is the one that fails
    return run


def _check_the_same(run: Run, fingerprint: str) -> None:
    """Check that companies are examined here under the same conditions as where the run began.

    Raises:
        Conflict: the conditions differ.
    """
    if run.version != PROGRAM:
        raise Conflict(
            f"The run {run.id} was begun by diligence {run.version}, and this worker has {PROGRAM}. Install the same "
            "version on all workers, and start this one again."
        )
    if run.fingerprint != fingerprint:
        raise Conflict(
            f"The run {run.id} was begun with {run.answerer}, and this worker has {current_answerer().name} or other "
            "settings. Give all workers the same OPENAI_… and DILIGENCE_… variables."
        )


def main(run: str, out: Path | None) -> int:
    """Help with a run on this machine and return the exit status. A failure is one sentence on stderr."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logging.raiseExceptions = False  # Prefect prints that way what it could not log
    prefect_server.prepare()
    try:
        with usable_environment(), nullcontext() if settings.PREFECT_API_URL.value() else untracked():
            help_run(run, out)
    except CompaniesFailed:  # the process that leads tells of them
        return 0
    except (DiligenceError, DatabaseUnavailable) as error:
        sys.stderr.write(f"{getattr(error, 'message', error)}\n")
        return 1
    except KeyboardInterrupt:
        return 143
    return 0


def fork(run: str, count: int, out: Path | None) -> int:
    """Help with a run in forks of this process: one takes 10 ms, to load the program 2 s of processor time.

    They end with this process, and a SIGTERM reaches them all. Returns 1 if one of them failed.
    """
    forks, end_with_us = set[int](), end_with_parent()
    for _ in range(count):
        child = os.fork()
        if not child:
            end_with_us()
            return main(run, out)
        forks.add(child)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the forks too
    signal.signal(signal.SIGTERM, lambda *_: _end(forks))
    is_failed = False
    while forks:
        ended, status = os.wait()  # or the readers' server
        is_failed = is_failed or (ended in forks and status != 0)
        forks.discard(ended)
    return int(is_failed)


def _end(forks: Iterable[int]) -> None:
    for each in forks:
        with suppress(ProcessLookupError):  # it has ended at this moment
            os.kill(each, signal.SIGTERM)


if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    if len(sys.argv) not in {3, 4} or not sys.argv[2].isdecimal():
        sys.exit("Usage: python -m flows.help_run RUN COUNT [OUT]. A COUNT of 0 helps in this process itself.")
    out = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    sys.exit(fork(sys.argv[1], count, out) if (count := int(sys.argv[2])) else main(sys.argv[1], out))
