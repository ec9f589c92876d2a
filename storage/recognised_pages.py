"""Scanned pages that text recognition has read, stored one by one by content, page and engine."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Column, Text, delete, func
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, now, put
from storage.run_documents import RunDocument
from storage.runs import RunCompany
from storage.texts import StoredText


class StoredPage(SQLModel, table=True):
    """A page in the form that `tasks.reading.ocr.page` packs it.

    `page` is its label in the text: its number, followed by the attachment's hash for a page in an attachment.
    `seconds` is the time limit that applied: a page that ran into it is tried again once the limit is raised.
    """

    __tablename__ = "recognised_pages"

    content_hash: str = Field(primary_key=True)
    page: str = Field(primary_key=True)
    engine: str = Field(primary_key=True)
    seconds: float
    packed: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def save_page(session: Session, page: StoredPage) -> None:
    """Store a page in place of an earlier attempt."""
    put(session, page, "content_hash", "page", "engine")


def find_pages(session: Session, content_hash: str) -> Sequence[StoredPage]:
    """The pages of a content that any engine has read."""
    return session.exec(select(StoredPage).where(StoredPage.content_hash == content_hash)).all()


def count_pages_since(session: Session, moment: datetime) -> int:
    """How many pages were recognised since that moment."""
    return session.exec(select(func.count()).where(col(StoredPage.created_at) >= moment)).one()


def scans_done(session: Session, run_id: str) -> dict[int, tuple[int, int]]:
    """How many scanned pages of each company of a run have been recognised, and how many there are, by company id."""
    documents = (
        select(RunDocument.company_id, RunDocument.content_hash, StoredText.scanned_pages)
        .join(RunCompany)
        .join(StoredText, col(StoredText.id) == col(RunDocument.text_id))
        .where(RunCompany.run_id == run_id, StoredText.scanned_pages > 0)
        .subquery()
    )
    done = (
        select(StoredPage.content_hash, func.count(func.distinct(StoredPage.page)).label("pages"))
        .group_by(col(StoredPage.content_hash))
        .subquery()
    )
    rows = session.exec(
        select(documents.c.company_id, func.coalesce(func.sum(done.c.pages), 0), func.sum(documents.c.scanned_pages))
        .join_from(documents, done, documents.c.content_hash == done.c.content_hash, isouter=True)
        .group_by(documents.c.company_id)
    )
    return {company_id: (min(read, total), total) for company_id, read, total in rows}


def delete_pages_without_text(session: Session) -> None:
    """Delete the pages of contents whose text is no longer stored."""
    session.exec(delete(StoredPage).where(col(StoredPage.content_hash).not_in(select(StoredText.content_hash))))
