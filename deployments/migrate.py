"""`diligence migrate`: brings the database to this release's schema, only on command and in one process."""

from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database
from storage.migrations import HEAD


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
