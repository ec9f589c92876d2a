"""What texts show about the kinds of their documents, found once by one version of the catalogue."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel

from storage.columns import find_rows, find_table, put_rows


class StoredSigns(SQLModel, table=True):
    """What one text shows: `signs` in the form that `tasks.documents.kinds.signs` writes, `sketch` its mark for near
    copies.
    """

    __tablename__ = "text_signs"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    version: str
    signs: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    sketch: bytes = b""


_signs = find_table(StoredSigns)


def find_signs(session: Session, text_ids: Iterable[int], version: str) -> dict[int, tuple[dict[str, Any], bytes]]:
    """What that version found in these texts, signs and sketch, by text id; texts it has not looked at are left out."""
    of_version = _signs.select().where(_signs.c.version == version)
    rows = find_rows(session, of_version, _signs.c.text_id, text_ids)
    return {row.text_id: (row.signs, row.sketch) for row in rows}


class NewSigns(NamedTuple):
    """What a version of the catalogue found in one text: the columns of `StoredSigns`."""

    version: str
    signs: dict[str, Any]
    sketch: bytes


def save_signs(session: Session, signs: Mapping[int, NewSigns]) -> None:
    """Store what was found in texts, by text id, in place of what an earlier version found."""
    rows = [{"text_id": text_id, **signs[text_id]._asdict()} for text_id in sorted(signs)]
    put_rows(session, StoredSigns, rows, "text_id")
