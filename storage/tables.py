"""The cells of tables of documents and questions that were found in texts, by text and set of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import put


class StoredCells(SQLModel, table=True):
    """What one text says: `cells` by the column's id; `columns` is a hash of the columns and of the program."""

    __tablename__ = "text_cells"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    columns: str = Field(primary_key=True)
    cells: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


_AT_ONCE = 500


def find_cells(session: Session, text_ids: Sequence[int], columns: str) -> dict[int, dict[str, Any]]:
    """The cells of these texts that are known, by text."""
    found: dict[int, dict[str, Any]] = {}
    for start in range(0, len(text_ids), _AT_ONCE):
        query = select(StoredCells).where(
            col(StoredCells.text_id).in_(text_ids[start : start + _AT_ONCE]), StoredCells.columns == columns
        )
        found.update((row.text_id, row.cells) for row in session.exec(query))
    return found


def save_cells(session: Session, columns: str, cells: Mapping[int, dict[str, Any]]) -> None:
    """Keep the cells of texts, in place of what was known of them."""
    for text_id, found in sorted(cells.items()):
        put(session, StoredCells(text_id=text_id, columns=columns, cells=found), "text_id", "columns")
