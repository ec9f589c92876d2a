"""Copies all rows between PostgreSQL and SQLite: a backup of either database is an SQLite file."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from sqlalchemy import Connection, Integer, Table, create_engine, insert, inspect, select, text
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel

import storage
from storage.migrations import upgrade

_AT_ONCE = 500  # rows


def is_empty(connection: Connection) -> bool:
    """Whether no table has a row."""
    quoted = connection.dialect.identifier_preparer.quote
    return not any(
        connection.exec_driver_sql(f"SELECT 1 FROM {quoted(name)} LIMIT 1").first()  # noqa: S608 - names of the database
        for name in inspect(connection).get_table_names()
        if name != "alembic_version"
    )


def copy_into_sqlite(source: Connection, path: Path) -> None:
    """Copy every row into a new SQLite database in the empty file `path`."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    upgrade(engine)
    with engine.begin() as target:
        _copy(source, target)


def copy_from_sqlite(path: Path, target: Connection) -> None:
    """Put the rows of the SQLite database `path`, of the newest schema, in place of all rows of a PostgreSQL database.

    The caller commits: until then nothing is changed.
    """
    names = ", ".join(f'"{table.name}"' for table in _tables())
    target.execute(text("SET LOCAL lock_timeout = '10s'"))
    target.execute(text(f"TRUNCATE {names}"))
    with create_engine(f"sqlite:///{path}", poolclass=NullPool).connect() as source:
        _copy(source, target)
    for table in _tables():
        if "id" in table.c and isinstance(table.c.id.type, Integer):  # the next id is one that no row has
            newest = f'SELECT coalesce(max(id), 0) + 1 FROM "{table.name}"'  # noqa: S608 - names of our own
            sequence = f"pg_get_serial_sequence('\"{table.name}\"', 'id')"
            target.execute(text(f"SELECT setval({sequence}, ({newest}), false)"))


def _tables() -> list[Table]:
    """Every table, each after those that its rows refer to."""
    for module in iter_modules(storage.__path__):
        import_module(f"storage.{module.name}")
    return SQLModel.metadata.sorted_tables


def _copy(source: Connection, target: Connection) -> None:
    for table in _tables():
        rows = source.execute(select(table), execution_options={"yield_per": _AT_ONCE})
        for part in rows.mappings().partitions():
            target.execute(insert(table), [dict(row) for row in part])
