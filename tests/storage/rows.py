"""Rows to store, with only what a test is about to be named."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session, col, select

from storage import database, documents, runs
from storage.documents import Content, Room, RoomDocument
from storage.logins import AuditedCall
from storage.runs import Run, RunCompany
from storage.texts import Outcome, StoredText

MORNING = datetime(2026, 3, 31, 8, tzinfo=UTC)


def audited_calls(session: Session, key: str) -> Sequence[AuditedCall]:
    """The calls with the key of that name, oldest first."""
    return session.exec(select(AuditedCall).where(AuditedCall.key == key).order_by(col(AuditedCall.id))).all()


def room(**given: Any) -> Room:
    return Room(**{"drive": "local:1", "folder_id": "root", "folder_name": "rooms", "indexed_at": MORNING, **given})


def document(document_id: str, **given: Any) -> RoomDocument:
    values: dict[str, Any] = {
        "room_id": 0,
        "document_id": document_id,
        "name": f"{document_id}.pdf",
        "folder_id": "root",
        "path": "",
        "url": f"http://127.0.0.1:8000/file/d/{document_id}/view",
        "mime_type": "application/pdf",
        "version": "1",
    }
    return RoomDocument(**values | given)


def text(content_hash: str = "c0", **given: Any) -> StoredText:
    values: dict[str, Any] = {
        "content_hash": content_hash,
        "reader": "pdf-1",
        "outcome": Outcome.READ,
        "text": "Revenue grew.",
    }
    return StoredText(**{"characters": 13, **values, **given})


def run(run_id: str = "r1", **given: Any) -> Run:
    values: dict[str, Any] = {
        "id": run_id,
        "batch": "Screen",
        "fingerprint": "f",
        "answerer": "extractive",
        "started_at": MORNING,
    }
    return Run(**values | {"criteria": {"criteria": []}} | given)


def company(run_id: str = "r1", ordinal: int = 0, **given: Any) -> RunCompany:
    values: dict[str, Any] = {
        "run_id": run_id,
        "ordinal": ordinal,
        "name": "Alpha",
        "domain": f"c{ordinal}.example",
        "folder": "alpha",
    }
    return RunCompany(**values | given)


def stored_company() -> int:
    """A run with one company, in the database; gives the company's id."""
    with database.writing() as session:
        runs.add_run(session, run(), [company()])
    with database.reading() as session:
        company_id = runs.run_companies(session, "r1")[0].id
    assert company_id is not None
    return company_id


def keep_content(session: Session, content: Content) -> None:
    """Keep what one document holds; when it was fetched is the time of keeping."""
    found = {content.document_id: (content.version, content.content_hash)}
    documents.save_contents(session, content.drive, found)
