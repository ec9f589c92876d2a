"""Alembic's entry point: runs the migrations on the connection that `upgrade` passes."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import Enum
from sqlmodel import AutoString, SQLModel

from storage.columns import UtcDateTime


def plain(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Write our column types as the plain types in which they are stored: a migration must not change with the code."""
    if kind != "type":
        return False
    if isinstance(item, AutoString):
        return "sa.String()"
    if isinstance(item, Enum):
        return f"sa.String(length={item.length})"
    return "sa.DateTime()" if isinstance(item, UtcDateTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,  # SQLite cannot alter a column in place
    render_item=plain,
)
context.run_migrations()
