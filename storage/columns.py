"""Column types that SQLite and PostgreSQL store alike, and writes that are safe when two processes make them at once.

A single statement decides which row stays; looking first would race. The statements are written out because both
databases spell them alike, and SQLAlchemy would compile its own `on_conflict_…` at each use (0.3 ms). They bypass the
session: they see what was flushed, and return no tracked objects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Dialect,
    Enum,
    Row,
    Select,
    Table,
    TextClause,
    TypeDecorator,
    bindparam,
    text,
)
from sqlalchemy.orm import Mapped
from sqlmodel import Session, SQLModel

K = TypeVar("K", int, str)

_KEYS_AT_ONCE: Final = 500


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC: stored without a zone, which SQLite lacks, and loaded with one."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


def string_enum(values: type[StrEnum]) -> Enum:
    """A column that stores the values of a string enum as text, so that a new value needs no migration."""
    return Enum(values, native_enum=False, length=32, values_callable=lambda kind: [member.value for member in kind])


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def find_table(model: type[SQLModel]) -> Table:
    """The table that holds the model's rows."""
    return cast("Table", model.__table__)  # type: ignore[attr-defined]


def row_values(row: SQLModel, model: type[SQLModel] | None = None) -> dict[str, Any]:
    """The row's values by column, without the id, which the database assigns; `model` is that of a plain row."""
    columns = _columns(model or type(row))
    return dict(zip(columns, attrgetter(*columns)(row), strict=True))


def put(session: Session, row: SQLModel, *key: str) -> None:
    """Insert the row, or update the row that has the same values in the unique `key` columns."""
    put_rows(session, type(row), [row_values(row)], *key)


def put_rows(session: Session, model: type[SQLModel], rows: Sequence[Mapping[str, Any]], *key: str) -> None:
    """As `put`, for many rows of a table in one statement; each has the values of all columns but the id."""
    if rows:
        session.connection().execute(_insert(model, key, "replace"), rows)


def put_new_rows(session: Session, model: type[SQLModel], rows: Sequence[Mapping[str, Any]], *key: str) -> None:
    """As `put_rows`; a row that is there already stays as it is."""
    if rows:
        session.connection().execute(_insert(model, key, "keep"), rows)


def put_new(session: Session, row: SQLModel, *key: str) -> int | None:
    """Insert the row unless one has the same values in the unique `key` columns; returns its id, or None if one has."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":  # RETURNING came with 3.35, later than some systems'
        result = connection.execute(_insert(type(row), key, "keep"), row_values(row))
        return result.lastrowid if result.rowcount else None
    return connection.execute(_insert(type(row), key, "keep, telling"), row_values(row)).scalar()


def find_rows(
    session: Session, query: Select[Any], column: ColumnElement[Any] | Mapped[Any], keys: Iterable[Any]
) -> Iterator[Row[Any]]:
    """The rows of a query whose column has one of these keys, in several statements if needed: one takes 32,766
    (SQLite).

    They are plain rows for reading only: the session's objects take several times as long.
    """
    for some in in_parts(keys):
        yield from session.connection().execute(query.where(column.in_(some)))


def in_parts(keys: Iterable[K], most: int = _KEYS_AT_ONCE) -> Iterator[list[K]]:
    """These keys in order and without repetition, in parts of at most so many, by default as a statement can take."""
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), most):
        yield ordered[start : start + most]


@cache
def _columns(model: type[SQLModel]) -> tuple[str, ...]:
    return tuple(column.key for column in find_table(model).columns if column.key != "id")


@cache
def _insert(model: type[SQLModel], key: tuple[str, ...], conflict: str) -> TextClause:
    table, columns = find_table(model), _columns(model)
    action = {
        "replace": "UPDATE SET " + ", ".join(f'"{name}" = excluded."{name}"' for name in columns if name not in key),
        "keep": "NOTHING",
        "keep, telling": "NOTHING RETURNING id",
    }
    statement = (
        f'INSERT INTO "{table.name}" ({_list_names(columns)}) VALUES ({", ".join(f":{name}" for name in columns)}) '  # noqa: S608 - names of our own
        f"ON CONFLICT ({_list_names(key)}) DO {action[conflict]}"
    )
    return text(statement).bindparams(*(bindparam(name, type_=table.c[name].type) for name in columns))


def _list_names(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)
