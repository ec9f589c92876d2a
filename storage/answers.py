"""Answers of models, keyed by a hash of everything that went in: the same question is not paid for twice."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel

from storage.database import UtcDateTime, now
from storage.upserts import put


class StoredAnswer(SQLModel, table=True):
    """An answer with what it cost. `key` is the SHA-256 of prompt, schema, model and evidence, in hex."""

    __tablename__ = "answers"

    key: str = Field(primary_key=True)
    model: str
    answer: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    input_tokens: int = 0
    output_tokens: int = 0
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def find_answer(session: Session, key: str) -> StoredAnswer | None:
    """The answer kept under that key."""
    return session.get(StoredAnswer, key)


def save_answer(session: Session, answer: StoredAnswer) -> None:
    """Keep an answer, in place of an earlier one to the same question."""
    put(session, answer, "key")
