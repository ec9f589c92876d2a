"""Profiles of companies, dated, each with the claims that it was merged from."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import JSON, Column, bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, find_rows, find_table, put


class StoredProfile(SQLModel, table=True):
    """A company's profile (the contract's JSON) as its sources gave it at one time."""

    __tablename__ = "profiles"

    id: int | None = Field(default=None, primary_key=True)
    domain: str = Field(index=True)
    retrieved_at: datetime = Field(sa_type=UtcDateTime)
    profile: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    sources: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))


_profiles = find_table(StoredProfile)
_NEWEST_FIRST = col(StoredProfile.retrieved_at).desc(), col(StoredProfile.id).desc()


class StoredClaim(SQLModel, table=True):
    """What one source says about one field. `field` is the dotted path in the profile."""

    __tablename__ = "claims"

    id: int | None = Field(default=None, primary_key=True)
    profile_id: int = Field(foreign_key="profiles.id", ondelete="CASCADE", index=True)
    ordinal: int
    field: str
    value: Any = Field(sa_column=Column(JSON, nullable=True))
    source: str
    url: str | None = None
    retrieved_at: datetime = Field(sa_type=UtcDateTime)
    as_of: str | None = None


class SourceAnswer(SQLModel, table=True):
    """A source's last answer about a company, cached so that the source is not asked every time.

    `origin` is the address that was asked: answers of different servers are stored separately. `claims` are the
    answer's claims as JSON, in order; null if the source was reached and knew nothing.
    """

    __tablename__ = "source_answers"

    source: str = Field(primary_key=True)
    origin: str = Field(primary_key=True)
    domain: str = Field(primary_key=True)
    retrieved_at: datetime = Field(sa_type=UtcDateTime)
    claims: list[dict[str, Any]] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))


class AnswerSummary(NamedTuple):
    """A stored answer without its claims: the source, when it answered, and whether it knew nothing."""

    source: str
    origin: str
    retrieved_at: datetime
    unknown: bool


_ANSWERS_ON: Final = select(
    SourceAnswer.source, SourceAnswer.origin, SourceAnswer.retrieved_at, col(SourceAnswer.claims).is_(None)
).where(SourceAnswer.domain == bindparam("domain"))


def answers_on(session: Session, domain: str) -> list[AnswerSummary]:
    """The answers about that domain, without their claims."""
    rows = session.connection().execute(_ANSWERS_ON, {"domain": domain})
    return [AnswerSummary(*row) for row in rows]


def get_answer(session: Session, source: str, origin: str, domain: str) -> SourceAnswer | None:
    """The last answer of that source about that domain."""
    return session.get(SourceAnswer, (source, origin, domain))


def save_answer(session: Session, answer: SourceAnswer) -> None:
    """Store an answer in place of the source's last one about that domain."""
    put(session, answer, "source", "origin", "domain")


def save_profile(session: Session, profile: StoredProfile, claims: Sequence[StoredClaim]) -> int:
    """Store a profile with its claims; gives the profile's id."""
    session.add(profile)
    session.flush()
    assert profile.id is not None
    for ordinal, claim in enumerate(claims):
        claim.profile_id = profile.id
        claim.ordinal = ordinal
    session.add_all(claims)
    return profile.id


def get_profile(session: Session, profile_id: int) -> StoredProfile:
    """The profile of that id."""
    return session.get_one(StoredProfile, profile_id)


def latest_profile(session: Session, domain: str) -> StoredProfile | None:
    """The newest profile of that domain."""
    return session.exec(
        select(StoredProfile).where(StoredProfile.domain == domain).order_by(*_NEWEST_FIRST).limit(1)
    ).first()


def load_profile_warnings(session: Session, profile_ids: Sequence[int]) -> dict[int, list[str]]:
    """The warnings of these profiles, by id."""
    rows = find_rows(session, sql_select(_profiles.c.id, _profiles.c.warnings), _profiles.c.id, profile_ids)
    return {row.id: list(row.warnings) for row in rows}


def profile_claims(session: Session, profile_id: int) -> Sequence[StoredClaim]:
    """The claims that the profile was merged from, in the order of precedence."""
    return session.exec(
        select(StoredClaim).where(StoredClaim.profile_id == profile_id).order_by(col(StoredClaim.ordinal))
    ).all()
