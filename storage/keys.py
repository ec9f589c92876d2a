"""API keys that were given out by name, and the record of what was called with a key.

A key is 32 random bytes; stored is its SHA-256, which opens nothing. (Slow hashes are for passwords, which people
choose and others guess.) A revoked key stays in its table: a service whose last key was revoked is closed, not open.
The record holds no content: which key, which operation, when, and how it ended.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from sqlalchemy import JSON, Column
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, now

SCOPES: Final = ("documents", "ai", "companies", "runs")
_PREFIX: Final = "dk_"  # so that a key that leaked into a file or a log can be searched for


class ApiKey(SQLModel, table=True):
    """A key by its name. `digest` is the SHA-256 of the key in hex."""

    __tablename__ = "api_keys"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    digest: str = Field(unique=True)
    scopes: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class AuditedCall(SQLModel, table=True):
    """A call with a known key. `operation` is the method and the path as the service names it; `status` is HTTP's."""

    __tablename__ = "audit_calls"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(index=True)
    operation: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime, index=True)
    status: int


def digest_of(key: str) -> str:
    """What is stored of a key."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def add_key(session: Session, name: str, scopes: Sequence[str]) -> str | None:
    """Add a key; gives the key itself, which is kept nowhere. None if the name has a key that is in use."""
    if find_key(session, name) is not None:
        return None
    key = _PREFIX + secrets.token_urlsafe(32)
    session.add(ApiKey(name=name, digest=digest_of(key), scopes=list(scopes)))
    return key


def find_key(session: Session, name: str) -> ApiKey | None:
    """The key of that name that is in use."""
    return session.exec(select(ApiKey).where(ApiKey.name == name, col(ApiKey.revoked_at).is_(None))).first()


def all_keys(session: Session) -> Sequence[ApiKey]:
    """All keys, revoked ones too, in the order in which they were added."""
    return session.exec(select(ApiKey).order_by(col(ApiKey.id))).all()


def revoke_key(session: Session, name: str) -> bool:
    """Revoke the key of that name; False if none is in use."""
    key = find_key(session, name)
    if key is None:
        return False
    key.revoked_at = now()
    session.add(key)
    return True


def add_audited_call(session: Session, call: AuditedCall) -> None:
    """Add a row to the record."""
    session.add(call)


def audited_calls(session: Session, key: str) -> Sequence[AuditedCall]:
    """The calls with the key of that name, oldest first."""
    return session.exec(select(AuditedCall).where(AuditedCall.key == key).order_by(col(AuditedCall.id))).all()
