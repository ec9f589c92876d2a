"""What texts tell of the kinds of their documents, found once by one version of the catalogue."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import JSON, Column
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel

from storage.columns import find_table, put


class StoredSigns(SQLModel, table=True):
    """What one text tells: `signs` as `tasks.documents.kinds.signs` writes them, `sketch` its mark for near copies."""

    __tablename__ = "text_signs"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    version: str
    signs: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    sketch: bytes = b""


_signs = find_table(StoredSigns)
_AT_ONCE = 500


def find_signs(session: Session, text_ids: Iterable[int], version: str) -> dict[int, tuple[dict[str, Any], bytes]]:
    """What these texts tell by that version, signs and sketch, by text; those not looked at are left out."""
    ids = sorted(set(text_ids))
    found: dict[int, tuple[dict[str, Any], bytes]] = {}
    for start in range(0, len(ids), _AT_ONCE):
        query = sql_select(_signs.c.text_id, _signs.c.signs, _signs.c.sketch).where(
            _signs.c.text_id.in_(ids[start : start + _AT_ONCE]), _signs.c.version == version
        )
        found.update({row.text_id: (row.signs, row.sketch) for row in session.connection().execute(query)})
    return found


def save_signs(session: Session, version: str, signs: Mapping[int, tuple[dict[str, Any], bytes]]) -> None:
    """Keep what texts (a few hundred at most) tell, in place of what an earlier version found."""
    for text_id, (said, sketch) in sorted(signs.items()):
        put(session, StoredSigns(text_id=text_id, version=version, signs=said, sketch=sketch), "text_id")
