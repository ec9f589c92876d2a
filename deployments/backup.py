"""`diligence backup` and `diligence restore`: save a home to one file, and restore it."""

from pathlib import Path
from typing import Annotated

import typer

from deployments.terminal import echo
from storage import backup as backups
from storage import backup as restoring
from storage import database
from storage.errors import DatabaseInUse
from storage.settings import StorageSettings
from tasks.errors import BadRequest, Conflict, Unavailable


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; an earlier backup there is replaced at the end.")],
) -> None:
    """Save the home into one file, also while it is in use."""
    database.check_exists()
    try:
        manifest = backups.make(file)
    except backups.BackupUnusable as error:
        raise BadRequest(str(error)) from None
    except OSError as error:
        raise Unavailable(f"The backup cannot be written ({error.strerror}).") from None
    echo(f"{file}: {megabytes(file.stat().st_size)}, schema {manifest.schema}, checked")
    if backups.KEY in manifest.files:
        echo("It holds the key that opens stored logins: keep it where only you can read it.", err=True)
    elif StorageSettings.current().secret_key is not None:
        echo("Stored logins open with DILIGENCE_SECRET_KEY alone, which is not in it.", err=True)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `diligence backup` wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in place of what the home has, which is kept aside.")
    ] = False,
) -> None:
    """Put a backup into a home that nobody uses."""
    if not file.is_file():
        raise BadRequest(f"There is no file {file}.")
    try:
        restored = restoring.restore(file, replace=replace)
    except backups.BackupUnusable as error:
        raise BadRequest(str(error)) from None
    except restoring.HomeNotEmpty:
        raise BadRequest(
            "The home has something already. Name another one with DILIGENCE_HOME, or give --replace: what it has is "
            "then kept aside in it."
        ) from None
    except DatabaseInUse as error:
        raise Conflict(str(error)) from None
    except OSError as error:
        raise Unavailable(f"The backup cannot be restored ({error.strerror}).") from None
    manifest = restored.manifest
    echo(f"Restored: made {manifest.made_at} by diligence {manifest.program}, {megabytes(manifest.size)}")
    if restored.kept is not None:
        echo(f"What was in the home is kept in {restored.kept}. Remove it when you need it no more.", err=True)


def megabytes(size: int) -> str:
    """A number of bytes in MB (1024² bytes), as users read it; what is little, but not nothing, is `0.1 MB`."""
    return f"{max(size / 1024**2, 0.1 if size else 0):,.1f} MB"
