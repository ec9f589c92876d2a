"""Vectors of passages: what an embedding model made of a span of a text, kept for each version of the text."""

from collections.abc import Iterable, Sequence

from sqlalchemy import LargeBinary
from sqlmodel import Field, Session, SQLModel, col, select

from storage.upserts import put

Span = tuple[int, int]


class TextVector(SQLModel, table=True):
    """The vector of the characters `start` to `end` of a text by one model: 32-bit floats, little-endian."""

    __tablename__ = "text_vectors"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    model: str = Field(primary_key=True)
    start: int = Field(primary_key=True)
    end: int = Field(primary_key=True)
    vector: bytes = Field(sa_type=LargeBinary)


def find_vectors(session: Session, text_ids: Sequence[int], model: str) -> dict[tuple[int, int, int], bytes]:
    """The vectors that are kept of these texts by that model, by (text id, start, end)."""
    found: dict[tuple[int, int, int], bytes] = {}
    wanted = sorted(set(text_ids))
    for at in range(0, len(wanted), 500):
        rows = session.exec(
            select(TextVector.text_id, TextVector.start, TextVector.end, TextVector.vector).where(
                col(TextVector.text_id).in_(wanted[at : at + 500]), TextVector.model == model
            )
        )
        found.update({(text_id, start, end): vector for text_id, start, end, vector in rows})
    return found


def save_vectors(session: Session, vectors: Iterable[TextVector]) -> None:
    """Keep vectors; one that is kept already is replaced."""
    for vector in sorted(vectors, key=lambda each: (each.text_id, each.model, each.start, each.end)):
        put(session, vector, "text_id", "model", "start", "end")
