"""What of a report an account may see: nothing that rests on documents which the drive does not show to it."""

from collections.abc import Collection, Iterator
from typing import Final

from storage.scores import ScoreStatus
from tasks.documents.drive.drive import Drive
from tasks.documents.index import document_index
from tasks.errors import NotAllowed, NotFound
from tasks.remote.fan_out import FanOut
from tasks.reports.models import CompanyReport, CriterionReport, CriterionSummary, Report, RunSummary

_AT_ONCE: Final = 8
"""Folders that are looked at side by side."""
HIDDEN: Final = "A company that is not shared with your account"
_REASON: Final = (
    "Not shown: it rests on documents that were deleted since the run, or are not shared with your account."
)


def withhold(report: Report, drive: Drive) -> None:
    """Take out of a report what this account may not see now.

    Of a company whose folder it does not see nothing stays but its place in the list; of the others, nothing that
    quotes or names a document which the index of the folder does not show to this account.
    """
    with FanOut(_AT_ONCE, "rights") as threads:
        seen = [threads.submit(_documents_seen, drive, company) for company in report.companies]
    for position, (company, ids) in enumerate(zip(report.companies, seen, strict=True)):
        visible = ids.result()
        if visible is None:
            report.companies[position] = _hidden(report.run, company)
        else:
            _withhold(company, visible)


def _documents_seen(drive: Drive, company: CompanyReport) -> Collection[str] | None:
    """The ids of the documents of a company that this account sees; None where it does not see the folder."""
    if company.folder_id is None:
        return None
    try:
        index = document_index.function(drive.find_folder(company.folder_id))
    except (NotFound, NotAllowed):
        return None
    return {
        entry.document_id
        for category in index.document_index
        for folder in (category, *(category.subfolders or ()))
        for entry in folder.documents
    }


def _hidden(run: RunSummary, company: CompanyReport) -> CompanyReport:
    return CompanyReport(
        name=HIDDEN,
        domain="",
        folder_id=None,
        total=None,
        coverage=None,
        rank=None,
        criteria=[_unscored(criterion) for criterion in run.criteria],
        missing=[],
        conflicts=[],
        documents=[],
        changes=[],
        status=company.status,
        problem=None,
        warnings=[],
        compared_with=None,
    )


def _unscored(criterion: CriterionSummary) -> CriterionReport:
    return CriterionReport(
        **criterion.model_dump(exclude={"guide"}),
        score=None,
        status=ScoreStatus.UNSCORED,
        reason="Not shown: the company's folder is not shared with your account.",
        quotes=[],
    )


def _withhold(company: CompanyReport, visible: Collection[str]) -> None:
    documents = [document for document in company.documents if document.document_id in visible]
    hidden = len(company.documents) - len(documents)
    for criterion in company.criteria:
        if any(document_id not in visible for document_id in _rests_on(criterion)):
            hidden = hidden or 1
            criterion.reason = _REASON
            criterion.quotes = [quote for quote in criterion.quotes if quote.document_id in visible]
            criterion.orders = [order for order in criterion.orders if order.document_id in visible]
            criterion.contradictions = [
                contradiction
                for contradiction in criterion.contradictions
                if all(quote.document_id in visible for quote in contradiction.quotes)
            ]
        criterion.nearest = [near for near in criterion.nearest if near.document_id in visible]
    _withhold_figures(company, visible)
    if hidden:  # sentences may name the documents
        company.documents = documents
        company.changes = [change for change in company.changes if change.document_id in visible]
        company.problem = company.problem and "It did not come to its end."
        company.warnings = ["Documents that were deleted since the run, or are not shared with you, are left out."]


def _withhold_figures(company: CompanyReport, visible: Collection[str]) -> None:
    """Leave out the figures of documents that are not seen, and all that rests on one of them."""
    company.figures = [figure for figure in company.figures if figure.document_id in visible]
    company.figure_conflicts = [
        conflict
        for conflict in company.figure_conflicts
        if all(figure.document_id in visible for figure in (conflict.counted, *conflict.others))
    ]
    company.derived_figures = [
        derived
        for derived in company.derived_figures
        if all(figure.document_id in visible for figure in derived.inputs)
    ]
    company.figure_comparisons = [
        compared for compared in company.figure_comparisons if compared.figure.document_id in visible
    ]
    company.untied_sums = [tie for tie in company.untied_sums if tie.document_id in visible]


def _rests_on(criterion: CriterionReport) -> Iterator[str]:
    for quote in criterion.quotes:
        if quote.document_id is not None:
            yield quote.document_id
    for contradiction in criterion.contradictions:
        for side in contradiction.quotes:
            yield side.document_id
    for order in criterion.orders:
        yield order.document_id
    if criterion.kind == "figure":  # its reason names the figures that come nearest
        for near in criterion.nearest:
            yield near.document_id
