"""The report of one company of a run, built from what is stored and its viewer may see.

That is its stored rows without everything that rests on hidden documents. A report for a viewer is built from these
rows like any other, so totals, figures, changes and pages only contain what the viewer may see. Rows are built from
scratch with only the columns written here: a column that is added later is not shown where something is hidden. Each
outcome names the documents that played a part in it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, NamedTuple, Self

from sqlmodel import Session

from storage import database
from storage.documents import (
    DocumentStatus,
    RunDocument,
    company_documents,
    list_texts,
    load_company_documents,
    pages_of,
)
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from storage.scores import (
    CriterionOutcome,
    DecisionKind,
    Quote,
    ScoreStatus,
    company_outcomes,
    decisions_of,
    get_profile,
    outcome_quotes,
    profile_claims,
    table_decisions,
)
from storage.texts import find_openings
from tasks.cancellation import FanOut
from tasks.companies.claims import Claim, find_conflicts
from tasks.companies.profile import field_name
from tasks.documents.drive.drive import Drive
from tasks.documents.index import document_index
from tasks.documents.kinds.room import RoomKinds, run_kinds
from tasks.errors import NotAllowed, NotFound
from tasks.figures.conflicts import Step, conflict_row, room_row
from tasks.figures.derived import make_derived_row
from tasks.figures.ledger import reported_ledger, run_texts
from tasks.privacy import find_privileged
from tasks.reports.changes import Change, Side, changes_between
from tasks.reports.criteria import company_criteria, find_evidence, list_missing_items, run_table
from tasks.reports.key_figures import compare
from tasks.reports.models import (
    CitedElsewhere,
    CompanyReport,
    CriterionReport,
    DocumentReport,
    NamedDocument,
    ReportedDecision,
    ReportedFigure,
    ReportedRequest,
    ReportedTable,
    StandingReport,
)
from tasks.reports.wording import plain, why_not_ranked
from tasks.requests.match import OPENING, match_requests
from tasks.requests.request_list import RequestList
from tasks.review import CompanyReview, quote_key, stand_with
from tasks.scoring.criteria import Criteria, load_figure_rule
from tasks.scoring.results import Standing, stand
from tasks.table.columns import ColumnSet

_AT_ONCE: Final = 8
"""Folders that are looked at side by side."""
HIDDEN: Final = "A company that is not shared with your account"
_REASON: Final = (
    "Not shown: it is based on documents that were deleted since the run, or are not shared with your account."
)
_LEFT_OUT: Final = "Documents that were deleted since the run, or are not shared with you, are left out."


@dataclass(frozen=True, slots=True)
class Seen:
    """What an account now sees of a company's folder: the ids of its documents, and the drive's warnings.

    `documents` is None if it does not see the folder.
    """

    documents: Collection[str] | None = None
    warnings: Collection[str] = ()


def look(drive: Drive, companies: Sequence[RunCompany]) -> dict[str, Seen]:
    """What this account now sees of these companies, by domain."""
    with FanOut(_AT_ONCE, "rights") as threads:
        seen = [(company.domain, threads.submit(_look, drive, company.folder_id)) for company in companies]
    return {domain: found.result() for domain, found in seen}


def _look(drive: Drive, folder_id: str | None) -> Seen:
    if folder_id is None:
        return Seen()
    try:
        index = document_index.function(drive.find_folder(folder_id))
    except (NotFound, NotAllowed):
        return Seen()
    folders = [folder for category in index.document_index for folder in (category, *(category.subfolders or ()))]
    return Seen({entry.document_id for folder in folders for entry in folder.documents}, index.warnings or ())


def without_privileged(companies: Sequence[RunCompany], seen: Mapping[str, Seen] | None) -> Mapping[str, Seen] | None:
    """What may go to a model on behalf of a viewer who sees this much of these companies; None for everything."""
    with database.reading() as session:
        rooms = load_company_documents(session, [company.id or 0 for company in companies])
    left: dict[str, Seen] = {}
    is_less = False
    for company in companies:
        rows = rooms[company.id or 0]
        now = Seen({row.document_id for row in rows}) if seen is None else seen[company.domain]
        texts = {row.document_id: row.text_id for row in rows if row.text_id is not None}
        privileged = find_privileged(rows, texts, [company.folder])
        is_less = is_less or bool(privileged)
        documents = None if now.documents is None else {*now.documents} - privileged
        left[company.domain] = replace(now, documents=documents)
    return left if is_less else seen


def as_seen(side: Side, seen: Seen) -> Side:
    """A run's company without everything that rests on documents that the viewer does not see.

    Of a company whose folder is hidden, only its place in the batch remains.
    """
    run, company = side.run, side.company
    weights = {criterion["id"]: criterion.get("weight", 1) for criterion in run.criteria["criteria"]}
    row = RunCompany(run_id=run.id, ordinal=company.ordinal, name=HIDDEN, domain="", folder="")
    if seen.documents is None:
        row.status = CompanyStatus.FINISHED
        reason = "Not shown: the company's folder is not shared with your account."
        withheld = [_withheld(name, weight, reason) for name, weight in weights.items()]
        stand(row, withheld, Criteria.from_json(run.criteria))
        return Side(run, row, [], withheld)
    documents = [document for document in side.documents if document.document_id in seen.documents]
    everything = [document.document_id for document in side.documents]
    outcomes = [
        outcome
        if set(everything if outcome.given is None else outcome.given) <= set(seen.documents)
        else _withheld(outcome.criterion_id, outcome.weight, _REASON)
        for outcome in side.outcomes
    ]
    row.id, row.name, row.domain, row.folder_id = company.id, company.name, company.domain, company.folder_id
    row.status, row.profile_id = company.status, company.profile_id
    row.warnings = [warning for warning in company.warnings if warning in seen.warnings]
    if len(documents) == len(everything) and outcomes == list(side.outcomes):
        row.warnings += company.evidence_warnings or []
        row.total, row.coverage, row.standing, row.problem = (
            company.total,
            company.coverage,
            company.standing,
            company.problem,
        )
        row.search_warnings = company.search_warnings
    else:  # sentences may name documents
        row.warnings += [_LEFT_OUT]
        stand(row, outcomes, Criteria.from_json(run.criteria))
        row.problem = company.problem and "It did not finish."
    return Side(run, row, documents, outcomes)


def _withheld(criterion_id: str, weight: float, reason: str) -> CriterionOutcome:
    """The outcome in place of one that is not shown."""
    return CriterionOutcome(
        company_id=0,
        ordinal=0,
        criterion_id=criterion_id,
        kind="",
        weight=weight,
        status=ScoreStatus.WITHHELD,
        reason=reason,
        evidence="",
    )


_FIRST: Final = (
    "description",
    "industry",
    "founded_year",
    "hq",
    "company_size",
    "company_type",
    "extra.operating_status",
    "extra.ipo_status",
    "extra.stock_symbol",
    "specialities",
    "extra.number_of_funding_rounds",
    "extra.total_funding_amount",
    "website",
    "extra.contact_email",
    "extra.phone_number",
)
_NOT_FOR_READERS: Final = frozenset({"name", "profile_pic_url", "updates", "similar_companies", "affiliated_companies"})
_MOST: Final = 8
"""Entries of a list that are named; the rest is counted."""


MOST_CITED: Final = 50
"""Documents of other documents that are asked for."""


def to_ask_for(cited: CitedElsewhere) -> str:
    """What to ask for, in words."""
    return f"“{cited.words}”, which {cited.document_name} refers to"


class ReportedFact(NamedTuple):
    """A fact in words, and the claim that it comes from."""

    name: str
    value: str
    claim: Claim


def profile_facts(claims: Sequence[Claim]) -> list[ReportedFact]:
    """The facts that readers look for, in their order, followed by the others; ids, pictures and similar companies are
    left out.

    Args:
        claims: of each field one.
    """
    order = {field: place for place, field in enumerate(_FIRST)}
    facts = [
        ReportedFact(field_name(claim.field), in_words(claim.field, claim.value), claim)
        for claim in sorted(claims, key=lambda claim: order.get(claim.field, len(order)))
        if claim.field not in _NOT_FOR_READERS and not claim.field.endswith("_id")
    ]
    return [fact for fact in facts if fact.value]


def in_words(field: str, value: Any) -> str:
    """A profile's value as a person would write it; empty if there is nothing to say."""
    if field == "company_size" and isinstance(value, list) and len(value) == 2:
        low, high = (plain(end) if end is not None else "" for end in value)
        return f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"
    if isinstance(value, list):
        entries = [text for entry in value[:_MOST] if (text := in_words("", entry))]
        more = len(value) - _MOST
        return ", ".join(entries) + (f" and {more} more" if more > 0 else "")
    if isinstance(value, dict):
        return _group_in_words(value)
    return plain(value).replace("_", " ").capitalize() if field == "company_type" else plain(value)


def _group_in_words(group: dict[str, Any]) -> str:
    if group.keys() >= {"day", "month", "year"}:
        return "-".join(f"{group[part]:02}" for part in ("year", "month", "day") if group[part] is not None)
    if group.keys() >= {"amount", "currency", "end"}:
        return f"{group['currency']} {plain(group['amount'])} in the year to {group['end']}"
    named = [group.get(key) for key in ("name", "funding_type", "city", "country")]
    if amount := group.get("money_raised"):
        named.append(plain(amount))
    return " ".join(str(part) for part in named if part)


class CompanyRows(NamedTuple):
    """The stored rows about a company's scores and facts."""

    company_id: int
    outcomes: Sequence[CriterionOutcome]
    quotes: Mapping[int, Sequence[Quote]]
    claims: Sequence[Claim]

    @classmethod
    def of(cls, session: Session, company: RunCompany, outcomes: Sequence[CriterionOutcome] | None = None) -> Self:
        """Load the rows; `outcomes` are those to show, if not all."""
        if company.id is None:  # it is not shown
            return cls(0, outcomes or [], {}, [])
        return cls(
            company.id,
            company_outcomes(session, company.id) if outcomes is None else outcomes,
            outcome_quotes(session, company.id),
            _claims(session, company),
        )


def company_report(
    session: Session,
    run: Run,
    company: RunCompany,
    before: Run | None,
    earlier: RunCompany | None,
    seen: Seen | None = None,
    *,
    scores_alone: bool = False,
    tables: bool = True,
) -> CompanyReport:
    """All that the run found out about a company, and what has changed since `before`, whose `earlier` it was.

    With `seen` only what rests on documents that the viewer sees; with `scores_alone` without documents, tables,
    requests, figures and changes, which take most of the time; without `tables` without them.
    """
    now = side_of(session, run, company, seen, scores_alone=scores_alone)
    rows = CompanyRows.of(session, now.company, now.outcomes)
    review = review_of(session, run, now.company, rows)
    if seen is not None and seen.documents is not None and review.overrides:  # its scores were added up anew
        stand_with(now.company, run, now.outcomes, review.overrides)
    if scores_alone:
        return scores_report(session, run, now.company, rows, review)
    changes: list[Change] = []
    if before and earlier:
        changes = changes_between(now, side_of(session, before, earlier, seen), rows.quotes)
    room = run_kinds(now.documents, find=False)
    figures = _figures(now.documents, rows.claims, load_figure_rule(run.criteria), now.company.name)
    # What a viewer may not see would be called missing.
    is_whole = seen is None or len(now.documents) == len(company_documents(session, now.company.id or 0))
    return scores_report(
        session,
        run,
        now.company,
        rows,
        review,
        documents=[_document(run, document, room) for document in now.documents],
        cited=[
            CitedElsewhere(words=row.words, kind=row.kind, document_id=row.document_id, document_name=row.document_name)
            for row in room.cited[:MOST_CITED]
        ],
        requests=_requests(session, run, now.documents, room) if is_whole else [],
        tables=_tables(session, run, now, room, figures["figures"]) if is_whole and tables else [],
        changes=changes,
        compared_with=before.id if before and earlier else None,
        **figures,
    )


def _tables(
    session: Session, run: Run, now: Side, room: RoomKinds, figures: Sequence[Mapping[str, Any]]
) -> list[ReportedTable]:
    """The table of documents and questions that the criteria ask for."""
    if "table" not in run.criteria:
        return []
    columns = ColumnSet.model_validate(run.criteria["table"])
    decided = table_decisions(session, run.batch, now.company.domain)
    return [run_table(columns, room, now.documents, lambda: list(map(ReportedFigure.model_validate, figures)), decided)]


def _requests(session: Session, run: Run, documents: Sequence[RunDocument], room: RoomKinds) -> list[ReportedRequest]:
    """What the room has of the request list of the run."""
    if run.requests is None:
        return []
    by_text = find_openings(session, list(list_texts(documents).values()), OPENING)
    openings = {row.document_id: by_text.get(row.text_id, "") for row in documents if row.text_id is not None}
    outcomes = match_requests(RequestList.model_validate(run.requests).items, room, openings)
    return [
        ReportedRequest(
            number=outcome.request.number if outcome.request else None,
            item=outcome.request.item if outcome.request else outcome.documents[0].name,
            status=outcome.status,
            documents=[NamedDocument(document_id=row.document_id, document_name=row.name) for row in outcome.documents],
            section=outcome.request.section if outcome.request else None,
            priority=outcome.request.priority if outcome.request else None,
            sure=outcome.sure,
            why=outcome.why,
        )
        for outcome in outcomes
    ]


def scores_report(
    session: Session, run: Run, company: RunCompany, rows: CompanyRows, review: CompanyReview, **others: Any
) -> CompanyReport:
    """A company's report: its scores and facts, what people decided on it, and the fields in `others`."""
    shown = find_evidence(session, company, rows.outcomes, rows.quotes)
    criteria = company_criteria(run, company, rows.outcomes, rows.quotes, shown)
    _mark_decisions(criteria, review)
    standing = Standing.of(company)
    nothing: dict[str, Any] = {"documents": [], "changes": [], "compared_with": None}
    return CompanyReport(
        name=company.name,
        domain=company.domain,
        folder_id=company.folder_id,
        total=company.total,
        coverage=company.coverage,
        standing=StandingReport(
            proven=standing.proven,
            low=standing.proven,
            high=standing.high,
            ranked=standing.ranked,
            why_not=why_not_ranked(standing, {criterion.id: criterion.name for criterion in criteria}),
            gates_failed=standing.gates_failed,
        ),
        rank=company.rank if standing.ranked else None,
        criteria=criteria,
        missing=[*list_missing_items(criteria), *(to_ask_for(row) for row in others.get("cited", ()))],
        conflicts=find_conflicts(rows.claims),
        decisions=[
            ReportedDecision(
                criterion_id=state.decision.criterion_id or None,
                is_open=state.is_open,
                **state.decision.model_dump(include={"id", "kind", "by", "at", "value", "reason"}),
            )
            for state in review.states()
            if state.decision.kind is not DecisionKind.QUOTE
        ],
        status=company.status,
        problem=company.problem,
        warnings=_warnings(session, company, criteria, rows.outcomes),
        facts=list({claim.field: claim for claim in reversed(rows.claims)}.values())[::-1],
        **nothing | others,
    )


def review_of(session: Session, run: Run, company: RunCompany, rows: CompanyRows) -> CompanyReview:
    """People's decisions on the company, compared with these rows."""
    log = decisions_of(session, run.batch, company.domain) if company.id is not None else []
    return CompanyReview(run, log, rows.outcomes, rows.quotes)


def _mark_decisions(criteria: Sequence[CriterionReport], review: CompanyReview) -> None:
    """Add people's decisions to the program's results: the scores that count instead, and verdicts on quotes."""
    said = {
        (decision.criterion_id, decision.evidence.get("quote")): decision.value
        for decision in review.held
        if decision.kind is DecisionKind.QUOTE
    }
    for criterion in criteria:
        criterion.override = review.overrides.get(criterion.id)
        criterion.open = criterion.open and criterion.override is None
        for quote in criterion.quotes if said else ():
            quote.decision = said.get((criterion.id, quote_key(quote.document_id, quote.text)))


def side_of(session: Session, run: Run, company: RunCompany, seen: Seen | None, *, scores_alone: bool = False) -> Side:
    """A run's company with its documents and outcomes, as far as a viewer sees them; all of it where `seen` is None.

    With `scores_alone` documents are read only where they tell what the viewer sees.
    """
    assert company.id is not None
    documents = [] if scores_alone and seen is None else company_documents(session, company.id)
    side = Side(run, company, documents, company_outcomes(session, company.id))
    return side if seen is None else as_seen(side, seen)


def report_figures(documents: Sequence[RunDocument], run: Run, company: str) -> list[ReportedFigure]:
    """The figures in these documents of a company of a run, in the form for its report."""
    figures = _figures(documents, [], load_figure_rule(run.criteria), company)["figures"]
    return [ReportedFigure.model_validate(figure) for figure in figures]


def _figures(
    documents: Sequence[RunDocument], claims: Sequence[Claim], rule: tuple[Step, ...], company: str
) -> dict[str, Any]:
    """The fields of a company's report about the figures in its documents."""
    ledger = reported_ledger(run_texts(documents), rule, company)
    return {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [
            conflict_row(conflict) | {"step": conflict.step, "kinds": conflict.kinds} for conflict in ledger.conflicts
        ],
        "figure_versions": [conflict_row(versions) for versions in ledger.versions],
        "derived_figures": [make_derived_row(derived) for derived in ledger.derived],
        "figure_comparisons": compare(claims, [*ledger.figures, *ledger.founded], rule),
        "untied_sums": list(ledger.ties),
        "figures_left_out": ledger.left_out,
    }


def _claims(session: Session, company: RunCompany) -> list[Claim]:
    """What the sources of the company's profile say, in the order of their precedence."""
    if company.profile_id is None:
        return []
    return [Claim.model_validate(claim) for claim in profile_claims(session, company.profile_id)]


def _warnings(
    session: Session,
    company: RunCompany,
    criteria: Sequence[CriterionReport],
    outcomes: Sequence[CriterionOutcome],
) -> list[str]:
    """The company's own warnings, those of its profile's sources and those of its criteria, each once."""
    profile = get_profile(session, company.profile_id).warnings if company.profile_id is not None else []
    names = {criterion.id: criterion.name for criterion in criteria}
    judged = [
        f"{names.get(outcome.criterion_id, outcome.criterion_id)}: {outcome.warning}"
        for outcome in outcomes
        if outcome.warning
    ]
    return list(dict.fromkeys([*company.warnings, *company.search_warnings, *profile, *judged]))


def _document(run: Run, document: RunDocument, room: RoomKinds) -> DocumentReport:
    """A document in the report. One that the run did not reach counts as failed, since the scores do not include its
    text.
    """
    status, warning = document.status, document.warning
    if status is DocumentStatus.PENDING:
        status = DocumentStatus.FAILED
        warning = why_pending(run)
    return DocumentReport(
        document_id=document.document_id,
        document_name=document.name,
        status=status.value,
        characters=document.characters,
        warning=warning,
        path=document.path,
        document_url=document.url,
        **(room.row(document.document_id) | pages_of(document)),
    )


def why_pending(run: Run) -> str:
    """Why a run has no outcome for a document."""
    return "Not reached yet." if run.status is RunStatus.RUNNING else "Not reached: the run ended first."


FOLDER: Final = "companies"
MOST_IN_ONE_PAGE: Final = 20
"""With more companies than these, each is on a page of its own."""
_OWN_FILE: Final = re.compile(r"[0-9a-f]{12}\.html")


def company_anchor(domain: str) -> str:
    """The anchor of a company on its page: the same in every run, whatever its rank."""
    return f"c-{_digest(domain)[:8]}"


def _digest(domain: str) -> str:
    return sha256(domain.encode(errors="surrogatepass")).hexdigest()[:12]


class CompanyPages:
    """Where the companies of a report are shown, relative to the report's folder.

    Args:
        domains: those of its companies, in its order. Companies are counted from 1.
        most_in_one_page: with more companies than these, each is on a page of its own.
    """

    def __init__(self, domains: Sequence[str], most_in_one_page: float | None = None) -> None:
        self._domains = domains
        most = MOST_IN_ONE_PAGE if most_in_one_page is None else most_in_one_page
        self.are_apart = len(domains) > most

    def path(self, number: int) -> str:
        """The path of a company's own page."""
        return f"{FOLDER}/{_digest(self._domains[number - 1])}.html"

    def company(self, number: int) -> str:
        """The link to a company; one without a domain is hidden from the viewer and only stands in the matrix."""
        if not self._domains[number - 1]:
            return "report.html#matrix"
        return (self.path(number) if self.are_apart else "report.html") + f"#{self.anchor(number)}"

    def anchor(self, number: int) -> str:
        """The anchor of a company on the page that shows it."""
        return company_anchor(self._domains[number - 1])

    def criterion(self, number: int, position: int) -> str:
        """The link to the criterion at that position (from 1) of a company."""
        return f"{self.company(number)}-{position}"


def is_own_file(name: str) -> bool:
    """Whether a file's name in the folder is one of ours, so that a later report may delete it."""
    return _OWN_FILE.fullmatch(name) is not None
