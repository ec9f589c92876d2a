"""Alembic migrations, applied when a process first opens an SQLite database.

A database that several machines share is only checked then (`check`); `diligence migrate` migrates it.
"""

from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.errors import DatabaseUnavailable, unavailable

# The newest revision under versions/. Written here so that an up-to-date database is recognised
# without importing Alembic (0.2 s); a test compares it with the folder.
HEAD = "0030"


def upgrade(engine: Engine) -> None:
    """Bring the database's schema to `HEAD`.

    Raises:
        DatabaseUnavailable: a newer release has written it.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached or written.
    """
    if current(engine) == HEAD:
        return
    from alembic import command, config, util  # noqa: PLC0415 - 0.2 s, see HEAD

    alembic_config = config.Config()
    alembic_config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.execution_options(write=True).connect() as connection:
        alembic_config.attributes["connection"] = connection
        try:
            command.upgrade(alembic_config, "head")
        except util.CommandError:  # its only cause here: a revision that no file of versions/ has
            raise unavailable(_NEWER) from None
        connection.commit()


_NEWER = "a newer release of diligence has written it. Update diligence, or name another one"


def check(engine: Engine) -> None:
    """Refuse a database that is not at `HEAD`, without changing it.

    Raises:
        DatabaseUnavailable: it is empty, or a release with another schema has written it; the message says what to do.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached.
    """
    revision = current(engine)
    if revision == HEAD:
        return
    if revision is not None and not any((Path(__file__).parent / "versions").glob(f"{revision}_*.py")):
        raise unavailable(_NEWER)
    state = "is empty" if revision is None else "has the schema of an earlier release"
    raise DatabaseUnavailable(
        f"The database that DILIGENCE_DATABASE_URL names {state}. Run `diligence migrate` once, on one machine, while "
        "no service and no run uses it."
    )


def current(engine: Engine) -> str | None:
    """The revision that the database has, or None for an empty one."""
    with engine.connect() as connection:
        try:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        except SQLAlchemyError:
            connection.rollback()
            connection.execute(text("SELECT 1"))  # an unreachable database is not an empty one
            return None
