"""Homes with empty databases at their newest schema: migrations run once in a process, every home gets a copy.

Migrating a new database of ours costs 55 ms of processor time; a copy costs 3 ms. Tests of the migrations themselves
begin with no database (`new_home`, `new_database_url` in `conftest.py`). Prefect's own database is prepared by the
product; `python -m tests.homes > flows/prefect_database.sql` writes what it is prepared with, after a new Prefect.
"""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from sqlalchemy import create_engine

from flows import prefect_server
from storage import migrations


def make_home(folder: Path) -> Path:
    """Make `folder` a `DILIGENCE_HOME` as the first command leaves it, its database empty; a home stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = folder / "diligence.db"
    if not database.exists():
        database.write_bytes(_empty_database())
    return folder


def make_prefect_home(folder: Path) -> Path:
    """Make `folder` a home whose Prefect, too, has an empty database: a command that starts its server is quicker."""
    make_prefect_database(make_home(folder) / "prefect")
    return folder


def make_prefect_database(folder: Path) -> None:
    """Put an empty database into Prefect's own home, unless it has one."""
    folder.mkdir(mode=0o700, exist_ok=True)
    database = folder / "prefect.db"
    if not database.exists():
        database.write_bytes(_empty_prefect_database())


@cache
def _empty_prefect_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "prefect.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(prefect_server.schema())
        return file.read_bytes()


def migrated_prefect_database() -> str:
    """An empty database as Prefect's migrations leave it, in the SQL of `prefect_server.SCHEMA`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        subprocess.run(
            [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"],
            env=environment | {"PREFECT_HOME": folder},
            capture_output=True,
            check=True,
        )
        with closing(sqlite3.connect(Path(folder) / "prefect.db")) as connection:
            written = "".join(f"{statement}\n" for statement in connection.iterdump())
    new_id = r"\s*".join(map(re.escape, "".join(prefect_server.NEW_ID.split())))  # which Prefect spaces in four ways
    return re.sub(new_id, "{new_id}", written)


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


if __name__ == "__main__":
    sys.stdout.write(migrated_prefect_database())
