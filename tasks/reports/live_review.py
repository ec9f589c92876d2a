"""The review of a run in the service: what its viewer sees of each company, the decisions so far,
and making new ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storage import database, decisions
from storage.decisions import WHOLE_COMPANY, Decision
from storage.runs import RunCompany
from tasks.errors import NotFound
from tasks.reports.company import CompanyRows, review_of, side_of
from tasks.reports.evidence_pages import with_originals
from tasks.reports.live import LiveRun, live_report, live_run, originals
from tasks.reports.models import CompanyReport, CriterionReport, ReportedDecision, RunSummary
from tasks.reports.rights import Seen, look
from tasks.review.decide import Act, decide
from tasks.review.state import CompanyReview, quote_key

_NO_COMPANY = "The run has no such company, or it is not shared with your account."


@dataclass(frozen=True)
class ReviewedCell:
    """A criterion with the decisions on it; the next decision must name `saw` and `follows`."""

    criterion: CriterionReport
    decisions: Sequence[ReportedDecision]
    saw: str
    follows: int
    is_signed: bool
    quote_keys: Sequence[str]


@dataclass(frozen=True)
class ReviewedCompany:
    """A company with its cells; `others` are decisions on criteria that this run does not have."""

    run: RunSummary
    company: CompanyReport
    cells: Sequence[ReviewedCell]
    decisions: Sequence[ReportedDecision]
    others: Sequence[ReportedDecision]
    follows: int
    is_signed: bool
    may_sign: bool


@dataclass(frozen=True)
class ReviewedLine:
    """A company in the overview of a review."""

    name: str
    domain: str
    cells: int
    signed: int
    open: int
    is_signed: bool


def overview(run_id: str) -> tuple[str, str, list[ReviewedLine]]:
    """The run's id, its batch, and the progress of the review for each company that the viewer sees.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        lines = []
        for company, seen in seen_companies(live):
            review = _review(live, company, seen)
            cells = [criterion_id for criterion_id in review.cells if criterion_id != WHOLE_COMPANY]
            lines.append(
                ReviewedLine(
                    company.name,
                    company.domain,
                    len(live.run.criteria["criteria"]),
                    sum(map(review.is_signed, cells)),
                    sum(state.is_open for state in review.states()),
                    review.is_signed(WHOLE_COMPANY),
                )
            )
        return live.run.id, live.run.batch, lines


def reviewed_company(run_id: str, domain: str) -> ReviewedCompany:
    """A company of a run with everything that its viewer may see and decide on.

    Raises:
        NotFound: there is none, or it is not shared with this account.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        number, row = find_company(live, domain)
        report = live_report(live, number, scores_alone=True)
        company = with_originals(report.companies[0], originals(live))
        review = _review(live, row, find_seen(live, row))
        known = {criterion.id for criterion in company.criteria}
        return ReviewedCompany(
            run=report.run,
            company=company,
            cells=[_cell(criterion, company, review) for criterion in company.criteria if criterion.id in review.cells],
            decisions=[one for one in company.decisions if one.criterion_id is None],
            others=[one for one in company.decisions if one.criterion_id and one.criterion_id not in known],
            follows=review.newest(WHOLE_COMPANY),
            is_signed=review.is_signed(WHOLE_COMPANY),
            may_sign=len(review.cells) > len(company.criteria),
        )


def _cell(criterion: CriterionReport, company: CompanyReport, review: CompanyReview) -> ReviewedCell:
    return ReviewedCell(
        criterion=criterion,
        decisions=[one for one in company.decisions if one.criterion_id == criterion.id],
        saw=review.cells[criterion.id]["digest"],
        follows=review.newest(criterion.id),
        is_signed=review.is_signed(criterion.id),
        quote_keys=[quote_key(quote.document_id, quote.text) for quote in criterion.quotes],
    )


def write_decision(run_id: str, domain: str, act: Act, by: str) -> Decision:
    """Store somebody's decision on a company of a run.

    Raises:
        BadRequest, Conflict, NotFound: as `tasks.review.decide.decide`.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        _, row = find_company(live, domain)
        return decide(live.run, domain, _review(live, row, find_seen(live, row)), act, by)


def exported_log(run_id: str) -> list[dict[str, Any]]:
    """Every act on the batch of a run that the viewer may see, including undone ones, oldest first.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        if not live.has_accounts:
            with database.reading() as session:
                log = [*decisions.decisions_of(session, live.run.batch)]
                log += decisions.table_decisions(session, live.run.batch)
        else:
            log = []
            for company, seen in seen_companies(live):
                log += _review(live, company, seen).log
                with database.reading() as session:
                    on_cells = decisions.table_decisions(session, live.run.batch, company.domain)
                log += [one for one in on_cells if seen is not None and one.document_id in (seen.documents or ())]
        in_order = sorted(log, key=lambda one: one.id or 0)
        return [one.model_dump(mode="json", exclude={"follows"}) for one in in_order]


def seen_companies(live: LiveRun) -> list[tuple[RunCompany, Seen | None]]:
    """The companies of a run that the viewer sees, each with what they see of it."""
    if not live.has_accounts:
        return [(company, None) for company in live.companies]
    seen = look(live.drive, live.companies)
    return [(row, seen[row.domain]) for row in live.companies if seen[row.domain].documents is not None]


def find_seen(live: LiveRun, company: RunCompany) -> Seen | None:
    """What the viewer sees of a company; None if they see everything."""
    return look(live.drive, [company])[company.domain] if live.has_accounts else None


def find_company(live: LiveRun, domain: str) -> tuple[int, RunCompany]:
    """The company of that domain with its number in the run, from 1.

    Raises:
        NotFound: there is none.
    """
    for number, company in enumerate(live.companies, 1):
        if company.domain == domain:
            return number, company
    raise NotFound(_NO_COMPANY)


def _review(live: LiveRun, company: RunCompany, seen: Seen | None) -> CompanyReview:
    if seen is not None and seen.documents is None:
        raise NotFound(_NO_COMPANY)
    with database.reading() as session:
        now = side_of(session, live.run, company, seen, scores_alone=True)
        return review_of(session, live.run, now.company, CompanyRows.of(session, now.company, now.outcomes))
