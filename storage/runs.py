"""Runs: their companies with status, cost and rank, the requests for runs, and the webhooks that tell of them.

People request runs in the service; `diligence run` or a worker carries them out. A delivery of a webhook says what is
sent to which receiver, and how often that was tried.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Column, delete, func, update
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, find_table, in_parts, now, put, put_new, string_enum
from storage.locks import is_any_held


class RunStatus(StrEnum):
    """`superseded`: the run was interrupted, and its batch file was changed before the next start."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class ModelTrial(StrEnum):
    """What the trial of a run's model showed: `weak` if it fell short of what a judge needs."""

    UNTRIED = "untried"
    WEAK = "weak"
    PASSED = "passed"


class CompanyStatus(StrEnum):
    PENDING = "pending"
    FINISHED = "finished"
    FAILED = "failed"


class Run(SQLModel, table=True):
    """One run of a batch. `fingerprint` tells whether a batch file still asks for the same run.

    `sequence` numbers runs in the order in which they were started, whatever the clock said. `reported_at` is when its
    report was written, or stored where none was asked for: a run that was killed before that is unfinished. `usd` is
    what it has cost so far, None if no price is known; `budget` is the most it may spend, as written. `drive` says
    where its documents are, in the form that `override_settings` takes; `model_trial` is what is known about its model.
    Both are None in runs of earlier releases, as are `definition`, the hash of the batch as it was read, and `version`,
    that of the program; processes on other machines that help with the run compare these two. `requests` is the request
    list that it answers, None without one.
    """

    __tablename__ = "runs"

    id: str = Field(primary_key=True)
    sequence: int | None = Field(default=None, index=True, unique=True)
    batch: str = Field(index=True)
    fingerprint: str
    status: RunStatus = Field(default=RunStatus.RUNNING, sa_type=string_enum(RunStatus))
    started_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    reported_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    answerer: str
    criteria: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    budget: str | None = None
    drive: dict[str, str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    model_trial: ModelTrial | None = Field(default=None, sa_type=string_enum(ModelTrial))
    requests: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    definition: str | None = None
    version: str | None = None


def batch_lock(batch: str) -> str:
    """The name of the lock of the process that leads a run of that batch."""
    return f"batch {batch}"


class StoredDefinition(SQLModel, table=True):
    """A batch as it was when deployed or started. `hash` is the SHA-256 of its content, in hex.

    `kept_at` is when it was last deployed, or last run as deployed.
    """

    __tablename__ = "definitions"

    hash: str = Field(primary_key=True)
    content: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    kept_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def save_definition(session: Session, content: dict[str, Any]) -> str:
    """Store the definition of a batch and return its hash."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    put(session, StoredDefinition(hash=digest, content=content), "hash")
    return digest


def find_definition(session: Session, digest: str) -> dict[str, Any] | None:
    """The definition with that hash; None if this database has none."""
    stored = session.get(StoredDefinition, digest)
    return None if stored is None else stored.content


def use_definition(session: Session, digest: str) -> None:
    """Record that a deployment still uses that definition."""
    session.exec(update(StoredDefinition).where(col(StoredDefinition.hash) == digest).values(kept_at=now()))


def delete_definitions(session: Session) -> None:
    """Delete definitions that belong to no run and that no deployment has used for more than a year."""
    of_runs = select(Run.definition).where(col(Run.definition).is_not(None))
    unused = col(StoredDefinition.kept_at) < now() - _LONGEST_UNUSED, col(StoredDefinition.hash).not_in(of_runs)
    session.exec(delete(StoredDefinition).where(*unused))


_LONGEST_UNUSED = timedelta(days=400)
"""A deployment may run once a year."""


class RunCompany(SQLModel, table=True):
    """One company of a run. `problem` says in a sentence for the report why it failed.

    `evidence_warnings` are the warnings that follow from its evidence alone, and so hold while the evidence is the
    same; None if anything else played a part (such as a model that could not be asked). `carried_from` is the run from
    which all its outcomes were copied. `standing` is what `tasks.scoring.results` stores; None before scoring and in
    runs of earlier releases. `search_warnings` say what went wrong in the last search for passages.
    """

    __tablename__ = "run_companies"
    __table_args__ = (UniqueConstraint("run_id", "domain"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="runs.id", ondelete="CASCADE", index=True)
    ordinal: int
    name: str
    domain: str
    folder: str
    folder_id: str | None = None
    room_id: int | None = Field(default=None, foreign_key="rooms.id", ondelete="SET NULL")
    profile_id: int | None = Field(default=None, foreign_key="profiles.id", ondelete="SET NULL", index=True)
    status: CompanyStatus = Field(default=CompanyStatus.PENDING, sa_type=string_enum(CompanyStatus))
    problem: str | None = None
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    evidence_warnings: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    carried_from: str | None = None
    total: float | None = None
    coverage: float | None = None
    search_warnings: list[str] = Field(
        default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]")
    )
    standing: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    rank: int | None = None

    @property
    def lock(self) -> str:
        """The name of the lock of the process that examines it."""
        return f"company {self.run_id} {self.domain}"


_companies = find_table(RunCompany)


def add_run(session: Session, run: Run, companies: Iterable[RunCompany]) -> None:
    """Store a new run with its companies as the newest one."""
    if session.connection().dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        session.connection().exec_driver_sql("LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE")
    run.sequence = (session.exec(select(func.max(Run.sequence))).one() or 0) + 1
    session.add(run)
    session.flush()
    session.add_all(companies)


def get_run(session: Session, run_id: str) -> Run:
    """The run of that id."""
    return session.get_one(Run, run_id)


def find_run(session: Session, run_id: str) -> Run | None:
    """A run by its id, by its batch's name (the latest run), or the latest of all for `latest`."""
    query = select(Run).order_by(col(Run.sequence).desc()).limit(1)
    if run_id == "latest":
        return session.exec(query).first()
    return session.get(Run, run_id) or session.exec(query.where(Run.batch == run_id)).first()


def find_unfinished(session: Session, batch: str) -> Run | None:
    """The interrupted run of that batch: the one whose report was not written; None if there is none."""
    return session.exec(
        select(Run)
        .where(Run.batch == batch, Run.status != RunStatus.SUPERSEDED, col(Run.reported_at).is_(None))
        .order_by(col(Run.sequence).desc())
    ).first()


def previous_run(session: Session, run: Run) -> Run | None:
    """The last run of the same batch before this one that wrote its report."""
    return session.exec(
        select(Run)
        .where(
            Run.batch == run.batch,
            col(Run.status).in_((RunStatus.FINISHED, RunStatus.FAILED)),
            col(Run.reported_at).is_not(None),
            col(Run.sequence) < run.sequence,
        )
        .order_by(col(Run.sequence).desc())
        .limit(1)
    ).first()


def earlier_company(session: Session, company_id: int) -> RunCompany | None:
    """The company with the same domain in the batch's previous run; None if that had none."""
    company, run = company_and_run(session, company_id)
    before = previous_run(session, run)
    return None if before is None else find_company(session, before.id, company.domain)


def with_earlier(session: Session, run: Run) -> list[tuple[RunCompany, RunCompany]]:
    """The companies that a run has not started, each paired with the same company in the batch's previous run."""
    before = previous_run(session, run)
    if before is None:
        return []
    earlier = {company.domain: company for company in run_companies(session, before.id)}
    return [
        (company, earlier[company.domain])
        for company in run_companies(session, run.id)
        if company.status is CompanyStatus.PENDING and company.room_id is None and company.domain in earlier
    ]


def finish_run(session: Session, run_id: str, status: RunStatus) -> None:
    """Store how the run ended."""
    run = session.get_one(Run, run_id)
    run.status = status
    run.finished_at = now()


def note_report(session: Session, run_id: str) -> None:
    """Record that the run's report is written, which ends the run: it is no longer resumed."""
    run = session.get_one(Run, run_id)
    run.reported_at = now()


def prunable_runs(session: Session, keep: int) -> tuple[Sequence[Run], datetime | None]:
    """The runs that may be deleted, and when the oldest of the newest `keep` reported runs began.

    The newest reported run of each batch is needed, and so is every run that can be resumed. None of the others is in
    use: processes only work on runs without a report, or on that of an estimate, which is superseded from its start.
    """
    finished: list[Run] = []
    others: list[Run] = []
    for run in session.exec(select(Run).order_by(col(Run.sequence).desc())):
        if run.status is RunStatus.SUPERSEDED:
            if run.finished_at is not None or run.started_at < now() - _LONGEST_ESTIMATE:
                others.append(run)
        elif run.reported_at is not None:
            finished.append(run)
    needed = {run.id for run in finished[:keep]}
    batches: set[str] = set()
    for run in finished:
        if run.batch not in batches:
            batches.add(run.batch)
            needed.add(run.id)
    first = min((run.started_at for run in finished[:keep]), default=None)
    return [run for run in [*finished, *others] if run.id not in needed], first


_LONGEST_ESTIMATE = timedelta(days=1)
"""A superseded run without an end is that of an estimate: under way, or killed."""


def newest_runs(session: Session, most: int) -> Sequence[Run]:
    """The newest runs, newest first, at most that many."""
    return session.exec(select(Run).order_by(col(Run.sequence).desc()).limit(most)).all()


def add_cost(
    session: Session, run_id: str, calls: int, input_tokens: int, output_tokens: int, usd: float | None = None
) -> None:
    """Add what was spent to the run's cost; `usd` is None if the price is not known."""
    spent: dict[str, Any] = {
        "calls": Run.calls + calls,
        "input_tokens": Run.input_tokens + input_tokens,
        "output_tokens": Run.output_tokens + output_tokens,
    }
    if usd is not None:
        spent["usd"] = func.coalesce(Run.usd, 0.0) + usd
    session.exec(update(Run).where(col(Run.id) == run_id).values(**spent))


def sum_costs(session: Session, since: datetime) -> tuple[int, float]:
    """The tokens (read and written) and USD that runs started since then have spent or reserved."""
    sums = func.sum(col(Run.input_tokens) + col(Run.output_tokens)), func.sum(col(Run.usd))
    tokens, usd = session.exec(select(*sums).where(col(Run.started_at) >= since)).one()
    return int(tokens or 0), float(usd or 0.0)


def hold_cost(
    session: Session,
    run_id: str,
    input_tokens: int,
    output_tokens: int,
    rates: tuple[float, float],
    most: tuple[int | None, float | None],
) -> bool:
    """Reserve what a call may use on the run's account if the run stays within its cap; returns whether it does.

    Args:
        session: one that writes. The check and the sum are one statement: processes share the cap.
        run_id: the run.
        input_tokens: the most that are read.
        output_tokens: the most that are written.
        rates: USD for a million tokens read, and written.
        most: the cap, in tokens or in USD; None where it has none. Tokens that are held have no cost in USD yet.
    """
    most_tokens, most_usd = most
    read, written = col(Run.input_tokens) + input_tokens, col(Run.output_tokens) + output_tokens
    hold = update(Run).where(col(Run.id) == run_id)
    if most_tokens is not None:
        hold = hold.where(read + written <= most_tokens)
    if most_usd is not None:
        least = most_usd + _ROUNDING
        more = (input_tokens * rates[0] + output_tokens * rates[1]) / 1_000_000
        hold = hold.where(
            (read * rates[0] + written * rates[1]) / 1_000_000.0 <= least, func.coalesce(Run.usd, 0.0) + more <= least
        )
    held = hold.values(input_tokens=read, output_tokens=written).execution_options(synchronize_session=False)
    return session.exec(held).rowcount == 1


_ROUNDING = 1e-9  # USD; the error of sums of floats


def run_companies(session: Session, run_id: str) -> Sequence[RunCompany]:
    """The run's companies in the batch's order."""
    return session.exec(select(RunCompany).where(RunCompany.run_id == run_id).order_by(col(RunCompany.ordinal))).all()


def company_names(session: Session, run_id: str) -> Sequence[tuple[int, str]]:
    """The ids and names of the run's companies in the batch's order."""
    of_run = select(RunCompany.id, RunCompany.name).where(RunCompany.run_id == run_id)
    return [(id_ or 0, name) for id_, name in session.exec(of_run.order_by(col(RunCompany.ordinal)))]


def pending_companies(session: Session, run_id: str, after: int, most: int) -> Sequence[RunCompany]:
    """The run's pending companies after that position in the batch's order, at most that many."""
    pending = RunCompany.run_id == run_id, RunCompany.status == CompanyStatus.PENDING, col(RunCompany.ordinal) > after
    return session.exec(select(RunCompany).where(*pending).order_by(col(RunCompany.ordinal)).limit(most)).all()


def is_pending(session: Session, company_id: int) -> bool:
    """Whether the company still has to be examined."""
    status = sql_select(_companies.c.status).where(_companies.c.id == company_id)
    return session.connection().execute(status).scalar_one() is CompanyStatus.PENDING


def is_under_way(session: Session, run: Run) -> bool:
    """Whether a process works on the run. The status of one that was stopped or killed stays `running`."""
    if run.status is not RunStatus.RUNNING:
        return False
    first = pending_companies(session, run.id, -1, most=20)  # of which processes whose leader is gone have some
    return is_any_held(session.get_bind().engine, [batch_lock(run.batch), *(company.lock for company in first)])


def count_pending(session: Session, run_id: str) -> int:
    """How many of the run's companies are pending."""
    pending = RunCompany.run_id == run_id, RunCompany.status == CompanyStatus.PENDING
    return session.exec(select(func.count()).where(*pending)).one()


def reopen_companies(session: Session, company_ids: Iterable[int]) -> None:
    """Set companies to be examined again."""
    for some in in_parts(company_ids):
        session.exec(update(RunCompany).where(col(RunCompany.id).in_(some)).values(status=CompanyStatus.PENDING))


def get_company(session: Session, company_id: int) -> RunCompany:
    """The company of a run, by its id."""
    return session.get_one(RunCompany, company_id)


def company_and_run(session: Session, company_id: int) -> tuple[RunCompany, Run]:
    """The company of a run, by its id, and that run."""
    return session.exec(select(RunCompany, Run).join(Run).where(RunCompany.id == company_id)).one()


def change_company(session: Session, company_id: int, *more_warnings: str, **values: Any) -> None:
    """Store these values of a company and nothing else, and add warnings to its own, each sentence only once."""
    connection, is_it = session.connection(), _companies.c.id == company_id
    if more_warnings:
        known = connection.execute(sql_select(_companies.c.warnings).where(is_it)).scalar_one()
        values["warnings"] = list(dict.fromkeys([*known, *more_warnings]))
    connection.execute(update(_companies).where(is_it).values(**values))


def find_company(session: Session, run_id: str, domain: str) -> RunCompany | None:
    """The company of a run with that domain; None if there is none."""
    return session.exec(select(RunCompany).where(RunCompany.run_id == run_id, RunCompany.domain == domain)).first()


def save_companies(session: Session, companies: Iterable[RunCompany]) -> None:
    """Store the changes to companies that were loaded in another session."""
    session.add_all(companies)


class RequestKind(StrEnum):
    START = "start"
    STOP = "stop"


class RunRequest(SQLModel, table=True):
    """A request to start the batch in `batch_file`, or to stop the run `run_id`; `outcome` says how it ended."""

    __tablename__ = "run_requests"

    id: int | None = Field(default=None, primary_key=True)
    kind: RequestKind = Field(sa_type=string_enum(RequestKind))
    by: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    batch_file: str | None = None
    run_id: str | None = None
    taken_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: str | None = None


def add_request(session: Session, request: RunRequest) -> None:
    """Add a request."""
    session.add(request)


def take_request(session: Session) -> RunRequest | None:
    """Take the oldest request to start a run, so that no other process takes it; None if there is none."""
    waiting = select(RunRequest).where(RunRequest.kind == RequestKind.START, col(RunRequest.taken_at).is_(None))
    for request in session.exec(waiting.order_by(col(RunRequest.id))).all():
        taken = update(RunRequest).where(col(RunRequest.id) == request.id, col(RunRequest.taken_at).is_(None))
        if session.connection().execute(taken.values(taken_at=now())).rowcount:
            session.refresh(request)
            return request
    return None


def note_outcome(session: Session, request_id: int, outcome: str) -> None:
    """Store how a request ended, in words."""
    session.connection().execute(update(RunRequest).where(col(RunRequest.id) == request_id).values(outcome=outcome))


def is_to_stop(session: Session, run_id: str, since: datetime) -> bool:
    """Whether anybody has asked for that run to stop since then."""
    query = select(RunRequest.id).where(RunRequest.kind == RequestKind.STOP, RunRequest.run_id == run_id)
    return session.exec(query.where(col(RunRequest.at) >= since)).first() is not None


def newest_requests(session: Session, most: int) -> Sequence[RunRequest]:
    """The newest requests to start a run, newest first, at most that many."""
    starts = select(RunRequest).where(RunRequest.kind == RequestKind.START)
    return session.exec(starts.order_by(col(RunRequest.id).desc()).limit(most)).all()


class WebhookDelivery(SQLModel, table=True):
    """An event on its way to a receiver.

    `message` is the event's id, the same at each attempt and for each receiver. `next_at` is when it will next be
    tried: null once it has arrived (`delivered_at`) or was given up. `problem` says why the last attempt failed.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (UniqueConstraint("message", "url"),)

    id: int | None = Field(default=None, primary_key=True)
    message: str
    event: str
    url: str
    body: str
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    attempts: int = 0
    next_at: datetime | None = Field(default_factory=now, sa_type=UtcDateTime, index=True)
    delivered_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    problem: str | None = None


def add_delivery(session: Session, delivery: WebhookDelivery) -> None:
    """Add a delivery, unless the same event is on its way to the same receiver already."""
    put_new(session, delivery, "message", "url")


def take_due(session: Session, until: datetime) -> WebhookDelivery | None:
    """The delivery that has been due longest; nobody else takes it before `until`. None if none is due."""
    due = select(WebhookDelivery).where(col(WebhookDelivery.next_at) <= now()).order_by(col(WebhookDelivery.next_at))
    for delivery in session.exec(due.limit(10)).all():
        ours = update(WebhookDelivery).where(
            col(WebhookDelivery.id) == delivery.id, col(WebhookDelivery.next_at) == delivery.next_at
        )
        if session.connection().execute(ours.values(next_at=until)).rowcount:
            session.expunge(delivery)
            return delivery
    return None


def note_attempt(session: Session, delivery_id: int, problem: str | None, next_at: datetime | None) -> None:
    """Store how an attempt ended: delivered if there is no problem, otherwise when to try again."""
    outcome = {"problem": problem, "next_at": next_at, "delivered_at": None if problem else now()}
    this = update(WebhookDelivery).where(col(WebhookDelivery.id) == delivery_id)
    session.connection().execute(this.values(attempts=WebhookDelivery.attempts + 1, **outcome))


def newest_deliveries(session: Session, most: int) -> Sequence[WebhookDelivery]:
    """The newest deliveries, newest first, at most that many."""
    return session.exec(select(WebhookDelivery).order_by(col(WebhookDelivery.id).desc()).limit(most)).all()


def make_due(session: Session) -> int:
    """Make every delivery that did not arrive due now; returns how many there are."""
    lost = update(WebhookDelivery).where(col(WebhookDelivery.delivered_at).is_(None))
    return session.connection().execute(lost.values(next_at=now(), attempts=0)).rowcount
