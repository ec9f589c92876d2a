"""`diligence backup`, `restore`, `prune` and `migrate`: what is done with a home as a whole.

A home is saved to a file and put back, what old runs needed is deleted, and the database is brought to this release's
schema, only on command and in one process.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from deployments.terminal import echo
from flows import prefect_server
from storage import backup as backups
from storage import database, pruning
from storage.columns import now
from storage.errors import DatabaseInUse
from storage.migrations import HEAD
from storage.settings import StorageSettings
from tasks.documents.drive.spool import remove_left
from tasks.errors import BadRequest, Conflict, Unavailable
from tasks.evidence.page import remove_pictures


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; an earlier backup there is replaced at the end.")],
) -> None:
    """Save the home to one file, even while it is in use."""
    database.check_exists()
    try:
        manifest = backups.make(file)
    except backups.BackupUnusable as error:
        raise BadRequest(str(error)) from None
    except OSError as error:
        raise Unavailable(f"{file} cannot be written ({error.strerror}). Name another file.") from None
    echo(f"{file}: {megabytes(file.stat().st_size)}, schema {manifest.schema}, checked")
    if backups.KEY in manifest.files:
        echo("It contains the key that opens stored logins: keep it where only you can read it.", err=True)
    elif StorageSettings.current().secret_key is not None:
        echo("Stored logins can only be opened with DILIGENCE_SECRET_KEY, which is not in the file.", err=True)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `diligence backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the home's contents, which are moved aside.")
    ] = False,
) -> None:
    """Restore a backup into a home that is not in use."""
    if not file.is_file():
        raise BadRequest(f"There is no file {file}.")
    try:
        restored = backups.restore(file, replace=replace)
    except backups.BackupUnusable as error:
        raise BadRequest(str(error)) from None
    except backups.HomeNotEmpty:
        raise BadRequest(
            "The home is not empty. Name another one with DILIGENCE_HOME, or give --replace: its contents are then "
            "moved aside within it."
        ) from None
    except DatabaseInUse as error:
        raise Conflict(str(error)) from None
    except OSError as error:
        raise Unavailable(f"The backup cannot be restored ({error.strerror}).") from None
    manifest = restored.manifest
    echo(f"Restored: made {manifest.made_at} by diligence {manifest.program}, {megabytes(manifest.size)}")
    if restored.kept is not None:
        echo(
            f"The home's previous contents are kept in {restored.kept}. Remove them when you no longer need them.",
            err=True,
        )


def megabytes(size: int) -> str:
    """A number of bytes in MB (1024² bytes) for people; anything small but not zero is `0.1 MB`."""
    return f"{max(size / 1024**2, 0.1 if size else 0):,.1f} MB"


_LONGEST: Final = 100 * 365
"""Days; a calendar has no more than some of these centuries."""


def prune(
    keep: Annotated[int, typer.Option("--keep", min=1, help="How many runs are kept, the newest ones.")],
    keep_calls: Annotated[
        int | None,
        typer.Option(
            "--keep-calls",
            min=1,
            metavar="DAYS",
            help="For how many days the record of calls is kept; by default, all of it.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be deleted.")] = False,
) -> None:
    """Delete old runs and everything that only they needed.

    That is texts, vectors, evidence, profiles and answers.
    """
    database.check_exists()
    calls_before = now() - timedelta(days=min(keep_calls, _LONGEST)) if keep_calls is not None else None
    pruned = pruning.prune(keep, calls_before=calls_before, dry_run=dry_run)
    count = f"{len(pruned.runs):,} run{'' if len(pruned.runs) == 1 else 's'}"
    echo(f"{count} would be deleted (nothing was):" if dry_run else f"{count} deleted; what this freed:")
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
    if dry_run:
        echo(f"{'Prefect':<9} its records of runs before {before:%Y-%m-%d %H:%M} UTC")
        return
    try:
        history = prefect_server.prune_history(before)
    except Unavailable as error:
        echo(f"{error.message} Its records of old runs remain.", err=True)
        return
    if history is not None:
        room = history.room
        freed = f"; {megabytes(room.before)} before, {megabytes(room.after)} now" if room else ""
        echo(f"{'Prefect':<9} {history.flow_runs:,} flow runs, {history.artifacts:,} artifacts deleted{freed}")


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; the exit status is 1 if the schema differs.")
    ] = False,
) -> None:
    """Migrate the database to this release's schema.

    No service or run may use the database while it runs.
    """
    if check:
        database.check()
    was_migrated = not check and database.migrate()
    echo(f"The database {'was brought to' if was_migrated else 'has'} the schema of this release ({HEAD}).")
