"""What an account may see of a run's company: its stored rows without everything that rests on hidden documents.

A report for a viewer is built from these rows like any other, so totals, figures, changes and pages only contain what
the viewer may see. Rows are built from scratch with only the columns written here: a column that is added later is not
shown where something is hidden. Each outcome names the documents that played a part in it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from storage import database, run_documents
from storage.runs import CompanyStatus, RunCompany
from storage.scores import CriterionOutcome, ScoreStatus
from tasks.ai.privileged import find_privileged
from tasks.documents.drive.drive import Drive
from tasks.documents.index import document_index
from tasks.errors import NotAllowed, NotFound
from tasks.remote.fan_out import FanOut
from tasks.reports.changes import Side
from tasks.scoring.criteria import Criteria
from tasks.scoring.standing import stand

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
        rooms = run_documents.load_company_documents(session, [company.id or 0 for company in companies])
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
