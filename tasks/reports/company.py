"""The report of one company of a run, built from what is stored."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from sqlmodel import Session

from storage.companies import get_profile, profile_claims
from storage.run_documents import DocumentStatus, RunDocument, company_documents
from storage.runs import Run, RunCompany, RunStatus
from storage.scores import CriterionOutcome, Quote, company_outcomes, outcome_quotes
from tasks.companies.claims import Claim, find_conflicts
from tasks.figures.conflicts import Step
from tasks.figures.ledger import LedgerText, room_ledger
from tasks.figures.rows import conflict_row, derived_row, room_row
from tasks.reports.changes import Change, Side, changes_between
from tasks.reports.criteria import company_criteria, evidence_of, missing_items
from tasks.reports.figure_comparisons import compare
from tasks.reports.models import CompanyReport, CriterionReport, DocumentReport
from tasks.reports.rights import Seen, as_seen
from tasks.scoring.criteria import rule_of_run


class Rows(NamedTuple):
    """What is stored of a company's scores and of its facts."""

    company_id: int
    outcomes: Sequence[CriterionOutcome]
    quotes: Mapping[int, Sequence[Quote]]
    claims: Sequence[Claim]

    @classmethod
    def of(cls, session: Session, company: RunCompany, outcomes: Sequence[CriterionOutcome] | None = None) -> Self:
        """Read them; `outcomes` are those to show, if not all."""
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
) -> CompanyReport:
    """All that the run found out about a company, and what has changed since `before`, whose `earlier` it was.

    With `seen` only what rests on documents that the viewer sees.
    """
    now = _side(session, run, company, seen)
    rows = Rows.of(session, now.company, now.outcomes)
    changes: list[Change] = []
    if before and earlier:
        changes = changes_between(now, _side(session, before, earlier, seen), rows.quotes)
    return scores_report(
        session,
        run,
        now.company,
        rows,
        documents=[_document(run, document) for document in now.documents],
        changes=changes,
        compared_with=before.id if before and earlier else None,
        **_figures(now.documents, rows.claims, rule_of_run(run.criteria)),
    )


def scores_report(session: Session, run: Run, company: RunCompany, rows: Rows, **others: Any) -> CompanyReport:
    """A company's report: its scores and facts, and the fields in `others`."""
    shown = evidence_of(session, company, rows.outcomes, rows.quotes)
    criteria = company_criteria(run, company, rows.outcomes, rows.quotes, shown)
    nothing: dict[str, Any] = {"documents": [], "changes": [], "compared_with": None}
    return CompanyReport(
        name=company.name,
        domain=company.domain,
        folder_id=company.folder_id,
        total=company.total,
        coverage=company.coverage,
        rank=company.rank,
        criteria=criteria,
        missing=missing_items(criteria),
        conflicts=find_conflicts(rows.claims),
        status=company.status,
        problem=company.problem,
        warnings=_warnings(session, company, criteria, rows.outcomes),
        facts=list({claim.field: claim for claim in reversed(rows.claims)}.values())[::-1],
        **nothing | others,
    )


def _side(session: Session, run: Run, company: RunCompany, seen: Seen | None) -> Side:
    assert company.id is not None
    side = Side(run, company, company_documents(session, company.id), company_outcomes(session, company.id))
    return side if seen is None else as_seen(side, seen)


def _figures(documents: Sequence[RunDocument], claims: Sequence[Claim], rule: Sequence[Step]) -> dict[str, Any]:
    """The fields of a company's report that tell of the figures in its documents."""
    texts = [
        LedgerText(document.text_id, document.document_id, document.name, document.path)
        for document in documents
        if document.text_id is not None
    ]
    ledger = room_ledger(texts, rule=rule)
    return {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [conflict_row(conflict) for conflict in ledger.conflicts],
        "derived_figures": [derived_row(derived) for derived in ledger.derived],
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
    return list(dict.fromkeys([*company.warnings, *profile, *judged]))


def _document(run: Run, document: RunDocument) -> DocumentReport:
    """A document that the run did not reach counts as failed: the scores do not include its text."""
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
    )


def why_pending(run: Run) -> str:
    """Why a run has no outcome for a document."""
    return "Not reached yet." if run.status is RunStatus.RUNNING else "Not reached: the run ended before it."
