"""The cells of tables of documents and questions, stored by text and set of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel, col

from storage.columns import find_rows, find_table, put_rows


class StoredCells(SQLModel, table=True):
    """What one text says: `cells` by column id; `columns` is a hash of the columns and of the program."""

    __tablename__ = "text_cells"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    columns: str = Field(primary_key=True)
    cells: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def find_cells(session: Session, text_ids: Sequence[int], columns: str) -> dict[int, dict[str, Any]]:
    """The stored cells of these texts, by text id."""
    of_columns = find_table(StoredCells).select().where(col(StoredCells.columns) == columns)
    return {row.text_id: row.cells for row in find_rows(session, of_columns, col(StoredCells.text_id), text_ids)}


def save_cells(session: Session, columns: str, cells: Mapping[int, dict[str, Any]]) -> None:
    """Store the cells of texts in place of earlier ones."""
    rows = [{"text_id": text_id, "columns": columns, "cells": found} for text_id, found in sorted(cells.items())]
    put_rows(session, StoredCells, rows, "text_id", "columns")
