"""Where quoted spans of texts stand on the pages of their documents."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel, col, select

from storage.upserts import put


class SpanPages(SQLModel, table=True):
    """The pages that a span of a text stands on, and its boxes there.

    `pages` lists {page (from 1), width, height, boxes: [[left, top, right, bottom]]}: points from the upper left corner
    of the page as it is shown, a box a line; without boxes the place on that page is not certain.
    """

    __tablename__ = "span_pages"

    text_id: int = Field(foreign_key="texts.id", ondelete="CASCADE", primary_key=True)
    start: int = Field(primary_key=True)
    end: int = Field(primary_key=True)
    pages: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))


def save_span_pages(session: Session, spans: Iterable[SpanPages]) -> None:
    """Keep where spans stand, in place of what was known of them."""
    for span in spans:
        put(session, span, "text_id", "start", "end")


def find_span_pages(session: Session, text_ids: Sequence[int]) -> dict[tuple[int, int, int], list[dict[str, Any]]]:
    """The pages of all spans of these texts that were looked at, by text, start and end."""
    pages: dict[tuple[int, int, int], list[dict[str, Any]]] = {}
    for first in range(0, len(text_ids), 500):
        query = select(SpanPages).where(col(SpanPages.text_id).in_(text_ids[first : first + 500]))
        pages.update({(span.text_id, span.start, span.end): span.pages for span in session.exec(query)})
    return pages
