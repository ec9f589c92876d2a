"""`diligence prune`: deletes what only old runs needed, and returns the disk space."""

from datetime import datetime, timedelta
from typing import Annotated, Final

import typer

from deployments.backup import megabytes
from deployments.terminal import echo
from flows import prefect_history
from storage import database, pruning
from storage.columns import now
from tasks.documents.drive.spool import remove_left
from tasks.errors import Unavailable
from tasks.evidence.pictures import remove_pictures

_LONGEST: Final = 100 * 365
"""Days; a calendar has no more than some of these centuries."""


def prune(
    keep: Annotated[int, typer.Option("--keep", min=1, help="How many runs are kept, the newest ones.")],
    keep_calls: Annotated[
        int | None,
        typer.Option(
            "--keep-calls", min=1, metavar="DAYS", help="Of how many days the record of calls is kept; else all of it."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
) -> None:
    """Delete old runs and what only they needed: texts, vectors, evidence, profiles, answers."""
    database.check_exists()
    calls_before = now() - timedelta(days=min(keep_calls, _LONGEST)) if keep_calls is not None else None
    pruned = pruning.prune(keep, calls_before=calls_before, dry_run=dry_run)
    count = f"{len(pruned.runs):,} run{'' if len(pruned.runs) == 1 else 's'}"
    echo(f"{count} would be deleted; nothing was:" if dry_run else f"{count} deleted; what this freed:")
    for kind in pruning.KINDS:
        echo(f"{kind:<9} {pruned.rows[kind]:,} rows, {megabytes(pruned.size[kind])}")
    for kind, (files, size) in (
        ("pictures", remove_pictures(pruned.texts, dry_run=dry_run)),
        ("spool", remove_left(dry_run=dry_run)),
    ):
        echo(f"{kind:<9} {files:,} files, {megabytes(size)}")
    if not dry_run:
        given_back = pruning.give_back()
        echo(f"{'database':<9} {megabytes(given_back.before)} before, {megabytes(given_back.after)} now")
        if given_back.problem is not None:
            echo(given_back.problem, err=True)
    if pruned.since is not None:
        _prune_prefect(pruned.since, dry_run=dry_run)


def _prune_prefect(before: datetime, *, dry_run: bool) -> None:
    if not prefect_history.is_embedded():
        echo("Prefect's server is yours (PREFECT_API_URL): what it keeps of old runs stays.", err=True)
        return
    if dry_run:
        echo(f"{'Prefect':<9} what it shows of runs before {before:%Y-%m-%d %H:%M} UTC")
        return
    try:
        history = prefect_history.prune_history(before)
    except Unavailable as error:
        echo(f"{error.message} What it shows of old runs stays.", err=True)
        return
    if history is not None:
        freed = f"{megabytes(history.room.before)} before, {megabytes(history.room.after)} now"
        echo(f"{'Prefect':<9} {history.flow_runs:,} flow runs, {history.artifacts:,} artifacts deleted; {freed}")
