"""Alembic migrations, applied when a database is opened for the first time in a process."""

from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from storage.errors import unavailable

# The newest revision under versions/. Written here so that an up-to-date database is recognised
# without importing Alembic (0.2 s); a test holds it against the folder.
HEAD = "0005"


def upgrade(engine: Engine) -> None:
    """Bring the database's schema to `HEAD`.

    Raises:
        DatabaseUnavailable: a newer release has written it.
        sqlalchemy.exc.SQLAlchemyError: the database cannot be reached or written.
    """
    if current(engine) == HEAD:
        return
    from alembic import command  # noqa: PLC0415 - see HEAD
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.execution_options(write=True).connect() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:  # the only one there is: a revision that stands in no file of versions/
            raise unavailable(
                "a newer release of diligence has written it. Update diligence, or name another one"
            ) from None
        connection.commit()


def current(engine: Engine) -> str | None:
    """The revision that the database has, or None for an empty one."""
    with engine.connect() as connection:
        try:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        except SQLAlchemyError:
            connection.rollback()
            connection.execute(text("SELECT 1"))  # an unreachable database is not an empty one
            return None
