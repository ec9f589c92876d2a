"""Types of columns that SQLite and PostgreSQL store alike."""

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import DateTime, Dialect, Enum, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC: stored without a zone (SQLite has none), given back with it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


def string_enum(values: type[StrEnum]) -> Enum:
    """A column that holds the value of a string enum as text: a new value needs no migration."""
    return Enum(values, native_enum=False, length=32, values_callable=lambda kind: [member.value for member in kind])


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)
