"""Homes with an empty database at the newest schema: Alembic makes it once, every home gets a copy.

Migrating a new SQLite database costs 55 ms of processor time, the copy 3 ms. Tests of the migrations themselves begin
with no database (`new_home`, `new_database_url` in `conftest.py`).
"""

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine

from storage import migrations


def make_home(folder: Path) -> Path:
    """Make `folder` a `DILIGENCE_HOME` as the first command leaves it, its database empty; a home stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = folder / "diligence.db"
    if not database.exists():
        database.write_bytes(_empty_database())
    return folder


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "diligence.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")  # as the product opens it; the file remembers
        engine = create_engine(f"sqlite:///{file}")
        migrations.upgrade(engine)
        engine.dispose()  # the last connection writes the log into the file
        return file.read_bytes()
