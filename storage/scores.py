"""What is known of companies: their scores in a run with quotes, what people decided about these, and their profiles.

Decisions stand in a log that only grows. A decision is about a cell (a company and a criterion), about a whole company,
or about what one of its documents says in a column of a table. It belongs to the batch rather than to a run, so it also
holds in the next run. `follows` is the previous decision on the same cell: when two people decide on a cell at the same
moment, only one of them follows what both saw, and the other is told.

A profile is dated, and kept with the claims that it was merged from.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import JSON, Column, Text, and_, bindparam, case, delete, func, insert, or_
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, find_rows, find_table, now, put, put_new, put_rows, string_enum
from storage.runs import RunCompany


class ScoreStatus(StrEnum):
    """`unsupported`: judged, but no quote could be verified. `missing`: nothing is said. `unscored`: no judgement was
    made.

    `contested`: judged with and without words that may influence a model, with different scores, of which the lower
    counts; or the reason does not name what speaks against a high score. `withheld`, never stored: it rests on
    documents that the present viewer may not see.
    """

    SCORED = "scored"
    CONTESTED = "contested"
    UNSUPPORTED = "unsupported"
    MISSING = "missing"
    UNSCORED = "unscored"
    WITHHELD = "withheld"

    @property
    def counts(self) -> bool:
        """Whether scores of this status count in the total."""
        return self in {ScoreStatus.SCORED, ScoreStatus.CONTESTED}


class Absence(StrEnum):
    """Why something is missing. `silent`: nothing is said about it. `none`: it is said that there is none.

    `not_applicable`: it does not apply to the company. `elsewhere`: it is in a document that is not in the room.
    `unread`: it may be in pages that could not be read.
    """

    SILENT = "silent"
    NONE = "none"
    NOT_APPLICABLE = "not_applicable"
    ELSEWHERE = "elsewhere"
    UNREAD = "unread"

    @property
    def is_open(self) -> bool:
        """Whether the question is still open: the room was not read whole, or the criterion does not apply."""
        return self in {Absence.UNREAD, Absence.NOT_APPLICABLE}


class CriterionOutcome(SQLModel, table=True):
    """The outcome of one criterion. `evidence` is the hash of everything that the outcome rests on.

    `failed`: the judgement failed (an error of the model), so the run counts as failed. `confidence` is the judge's
    own, `agreement` the share of repeated judgements that gave this score, both 0 to 1. `contradictions` lists
    contradictions between documents, `nearest` the documents closest to a missing one, `orders` the passages judged
    that give orders to a model; `tasks.scoring.results` writes all three. `contested` is `{with, without}`, the scores
    with and without such orders where they differ (None where there was no score). `warning` is what a reader must know
    about how it was judged. `given` are the ids of the documents that played a part; None, also in rows of earlier
    releases, means all documents of the room. `absence` says why something is missing; None in rows of earlier
    releases.
    """

    __tablename__ = "criterion_outcomes"
    __table_args__ = (UniqueConstraint("company_id", "criterion_id"),)

    id: int | None = Field(default=None, primary_key=True)
    company_id: int = Field(foreign_key="run_companies.id", ondelete="CASCADE", index=True)
    ordinal: int
    criterion_id: str
    kind: str
    weight: float
    score: float | None = None
    status: ScoreStatus = Field(sa_type=string_enum(ScoreStatus))
    reason: str = Field(sa_column=Column(Text, nullable=False))
    missing: str | None = None
    absence: Absence | None = Field(default=None, sa_type=string_enum(Absence))
    evidence: str
    failed: bool = False
    confidence: float | None = None
    agreement: float | None = None
    contradictions: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    nearest: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    orders: list[dict[str, Any]] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    contested: dict[str, float | None] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    warning: str | None = None
    given: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))


class Quote(SQLModel, table=True):
    """A quotation from a document. `start` and `end` are its offsets in the stored text if it was verified.

    `stance`: whether it speaks `for` or `against` what the criterion asks; None if nobody judged that.
    """

    __tablename__ = "quotes"

    id: int | None = Field(default=None, primary_key=True)
    outcome_id: int = Field(foreign_key="criterion_outcomes.id", ondelete="CASCADE", index=True)
    ordinal: int
    text: str = Field(sa_column=Column(Text, nullable=False))
    verified: bool
    document_id: str | None = None
    document_name: str | None = None
    document_url: str | None = None
    place: str | None = None
    text_id: int | None = Field(default=None, foreign_key="texts.id", ondelete="SET NULL", index=True)
    start: int | None = None
    end: int | None = None
    stance: str | None = None


def save_outcomes(
    session: Session, company_id: int, outcomes: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]
) -> None:
    """Store outcomes with their quotes in place of the company's earlier ones for the same criteria.

    `outcomes` are the values of rows by column, as `row_values` gives them: objects take ten times as long.
    """
    _delete_outcomes(session, [company_id], [outcome["criterion_id"] for outcome, _ in outcomes])
    put_rows(session, CriterionOutcome, [outcome for outcome, _ in outcomes], "company_id", "criterion_id")
    query = select(CriterionOutcome.criterion_id, CriterionOutcome.id).where(CriterionOutcome.company_id == company_id)
    ids = dict(session.exec(query).all())
    rows = [
        {**quote, "outcome_id": ids[outcome["criterion_id"]], "ordinal": ordinal}
        for outcome, quotes in outcomes
        for ordinal, quote in enumerate(quotes)
    ]
    if rows:
        session.connection().execute(insert(find_table(Quote)), rows)


def carry_outcomes(session: Session, companies: Mapping[int, int], places: Mapping[str, tuple[int, float]]) -> None:
    """Copy outcomes, with their quotes, from companies of an earlier run.

    Args:
        session: one that writes.
        companies: by the id of each of these companies (a few hundred at most) that of the same company in this run,
            whose outcomes of these criteria are replaced.
        places: the criteria by id, and each one's place among the criteria of this run (from 0) and its weight there.
    """
    _delete_outcomes(session, list(companies.values()), list(places))
    outcomes, quotes = find_table(CriterionOutcome), find_table(Quote)
    copied = [column for column in outcomes.c if column.name not in {"id", "company_id", "ordinal", "weight"}]
    earlier = outcomes.alias("earlier")
    connection = session.connection()
    connection.execute(
        insert(outcomes).from_select(
            ["company_id", "ordinal", "weight", *(column.name for column in copied)],
            sql_select(
                case(companies, value=outcomes.c.company_id),
                case({name: place for name, (place, _) in places.items()}, value=outcomes.c.criterion_id),
                case({name: weight for name, (_, weight) in places.items()}, value=outcomes.c.criterion_id),
                *copied,
            ).where(outcomes.c.company_id.in_(companies), outcomes.c.criterion_id.in_(places)),
        )
    )
    copied = [column for column in quotes.c if column.name not in {"id", "outcome_id"}]
    connection.execute(
        insert(quotes).from_select(
            ["outcome_id", *(column.name for column in copied)],
            sql_select(outcomes.c.id, *copied)
            .join_from(quotes, earlier, quotes.c.outcome_id == earlier.c.id)
            .join(
                outcomes,
                and_(
                    outcomes.c.company_id == case(companies, value=earlier.c.company_id),
                    outcomes.c.criterion_id == earlier.c.criterion_id,
                ),
            )
            .where(earlier.c.company_id.in_(companies), earlier.c.criterion_id.in_(places))
            .order_by(quotes.c.id),
        )
    )


def _delete_outcomes(session: Session, company_ids: Sequence[int], criterion_ids: Sequence[str]) -> None:
    table = find_table(CriterionOutcome)
    session.connection().execute(
        delete(table).where(table.c.company_id.in_(company_ids), table.c.criterion_id.in_(criterion_ids))
    )


def company_outcomes(session: Session, company_id: int) -> Sequence[CriterionOutcome]:
    """The company's outcomes in the order of the criteria: plain rows for reading only, as `load_company_outcomes`."""
    return load_company_outcomes(session, [company_id])[company_id]


def load_company_outcomes(session: Session, company_ids: Sequence[int]) -> dict[int, list[CriterionOutcome]]:
    """The outcomes of these companies (a few hundred at most), by company id, in the order of the criteria.

    They are plain rows for reading only: the session's objects take several times as long.
    """
    by_company: dict[int, list[CriterionOutcome]] = {company_id: [] for company_id in company_ids}
    rows = find_table(CriterionOutcome)
    of_these = rows.select().where(rows.c.company_id.in_(company_ids)).order_by(rows.c.ordinal)
    for row in session.connection().execute(of_these):
        by_company[row.company_id].append(cast("CriterionOutcome", row))
    return by_company


def remarkable_outcomes(session: Session, run_id: str) -> Sequence[CriterionOutcome]:
    """The outcomes of a run that are missing, contested or have a warning, in the order of the criteria."""
    return session.exec(
        select(CriterionOutcome)
        .join(RunCompany)
        .where(
            RunCompany.run_id == run_id,
            or_(
                col(CriterionOutcome.status) == ScoreStatus.MISSING,
                col(CriterionOutcome.warning).is_not(None),
                col(CriterionOutcome.contested).is_not(None),
            ),
        )
        .order_by(col(CriterionOutcome.ordinal))
    ).all()


def count_without_evidence(session: Session, run_id: str) -> dict[int, int]:
    """How many outcomes have no evidence hash, by company id: budget or time did not reach them; a next run will."""
    counts = (
        select(CriterionOutcome.company_id, func.count())
        .join(RunCompany)
        .where(RunCompany.run_id == run_id, CriterionOutcome.evidence == "")
        .group_by(col(CriterionOutcome.company_id))
    )
    return dict(session.exec(counts).all())


def list_counted_scores(session: Session, run_id: str) -> Iterator[tuple[int, str, float]]:
    """The scores of a run that count in a total: company id, criterion id, and score."""
    query = (
        select(CriterionOutcome.company_id, CriterionOutcome.criterion_id, CriterionOutcome.score)
        .join(RunCompany)
        .where(
            RunCompany.run_id == run_id,
            col(CriterionOutcome.status).in_([status for status in ScoreStatus if status.counts]),
            col(CriterionOutcome.score).is_not(None),
        )
        .order_by(col(CriterionOutcome.company_id), col(CriterionOutcome.ordinal))
    )
    for company_id, criterion_id, score in session.exec(query):
        if score is not None:
            yield company_id, criterion_id, score


def outcome_quotes(session: Session, company_id: int) -> dict[int, list[Quote]]:
    """The quotes of all the company's outcomes, by outcome id, in order: plain rows for reading only."""
    rows, outcomes = find_table(Quote), find_table(CriterionOutcome)
    of_company = rows.select().join(outcomes).where(outcomes.c.company_id == company_id)
    quotes: dict[int, list[Quote]] = {}
    for row in session.connection().execute(of_company.order_by(rows.c.outcome_id, rows.c.ordinal)):
        quotes.setdefault(row.outcome_id, []).append(cast("Quote", row))
    return quotes


class QuotedSpan(NamedTuple):
    """The place of a verified quote: the stored text, and the offsets of its first character and its end."""

    outcome_id: int
    ordinal: int
    document_id: str
    place: str | None
    text_id: int
    start: int
    end: int


def list_quoted_spans(session: Session, company_ids: Sequence[int]) -> list[QuotedSpan]:
    """The places of the verified quotes of all these companies' outcomes, outcome by outcome, in order.

    Quotes whose text was pruned are left out. The words themselves are not loaded, because a company may have
    thousands.
    """
    quotes, outcomes = find_table(Quote).c, find_table(CriterionOutcome)
    rows = (
        sql_select(*(quotes[name] for name in QuotedSpan._fields))
        .join(outcomes)
        .where(outcomes.c.company_id.in_(company_ids), quotes.verified)
        .where(*(quotes[name].is_not(None) for name in ("document_id", "text_id", "start", "end")))
        .order_by(quotes.outcome_id, quotes.ordinal)
    )
    return list(map(QuotedSpan._make, session.connection().execute(rows)))


WHOLE_COMPANY: Final = ""
"""The criterion's id of a decision about a company as a whole."""


class DecisionKind(StrEnum):
    """The kinds of decision. `quote` accepts or rejects a quotation; `undo` cancels an earlier decision."""

    OVERRIDE = "override"
    COMMENT = "comment"
    SIGN_OFF = "sign_off"
    FLAG = "flag"
    ASSIGNMENT = "assignment"
    QUOTE = "quote"
    UNDO = "undo"


_CELL: Final = ("batch", "domain", "document_id", "criterion_id")


class Decision(SQLModel, table=True):
    """One act by one person, `by`, on a cell.

    For a cell of a table, `document_id` is the document and `criterion_id` the column. `value` is the score of an
    override (for a cell of a table its value, or null where the document has none), the name of an assignee, or
    `accepted` or `rejected` for a quotation. `evidence` names what the person saw, in the form that
    `tasks.review` writes. `run_id` is the run that they looked at, `undoes` the id of the decision that an
    undo cancels.
    """

    __tablename__ = "decisions"
    __table_args__ = (UniqueConstraint(*_CELL, "follows"),)

    id: int | None = Field(default=None, primary_key=True)
    batch: str
    domain: str
    document_id: str = ""
    criterion_id: str = WHOLE_COMPANY
    follows: int = 0
    kind: DecisionKind = Field(sa_type=string_enum(DecisionKind))
    by: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    value: Any = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    reason: str = Field(default="", sa_column=Column(Text, nullable=False))
    evidence: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    run_id: str
    undoes: int | None = None


def add_decision(session: Session, decision: Decision) -> bool:
    """Add a decision; False if `follows` is not the newest on its cell, because somebody else was first."""
    newest = session.exec(
        select(func.max(Decision.id)).where(*(getattr(Decision, name) == getattr(decision, name) for name in _CELL))
    ).one()
    if decision.follows != (newest or 0):
        return False
    decision.id = put_new(session, decision, *_CELL, "follows")
    return decision.id is not None


def decisions_of(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The decisions about criteria and whole companies, for a batch or one of its companies, oldest first."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id == "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def table_decisions(session: Session, batch: str, domain: str | None = None) -> Sequence[Decision]:
    """The decisions about cells of tables, for a batch or one of its companies, oldest first."""
    query = select(Decision).where(Decision.batch == batch, Decision.document_id != "").order_by(col(Decision.id))
    return session.exec(query if domain is None else query.where(Decision.domain == domain)).all()


def in_force(log: Sequence[Decision]) -> list[Decision]:
    """The decisions of a log that hold now: undone ones, undos, and those that a newer one replaces are left out.

    A later override, sign-off or assignment replaces the earlier one on its cell; so does a later verdict on a
    quotation.
    """
    undone = {decision.undoes for decision in log if decision.undoes is not None}
    last: dict[tuple[object, ...], int | None] = {}
    held = [decision for decision in log if decision.id not in undone and decision.kind is not DecisionKind.UNDO]
    for decision in held:
        last[_place(decision)] = decision.id
    return [decision for decision in held if last[_place(decision)] == decision.id]


def _place(decision: Decision) -> tuple[object, ...]:
    """What two decisions have in common if the later one replaces the earlier: comments and flags coexist."""
    adds = decision.kind in {DecisionKind.COMMENT, DecisionKind.FLAG}
    own = decision.id if adds else decision.evidence.get("quote") if decision.kind is DecisionKind.QUOTE else None
    return decision.domain, decision.document_id, decision.criterion_id, decision.kind, own


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
