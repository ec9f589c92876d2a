"""What a reader of a report is shown first: counts, what was not read, what to ask the company for."""

from typing import NamedTuple

from flows.reports.shape import Company, Criterion, Document
from storage.scores import ScoreStatus


class Tally(NamedTuple):
    """How many documents there are, how many were read, have no text, could not be read, have no reader."""

    total: int
    read: int
    empty: int
    failed: int
    unsupported: int


def tally(documents: list[Document]) -> Tally:
    """What became of these documents, in figures."""
    statuses = [document.status for document in documents]
    return Tally(
        total=len(statuses),
        read=statuses.count("read") + statuses.count("unchanged"),
        empty=statuses.count("empty"),
        failed=statuses.count("failed"),
        unsupported=statuses.count("unsupported"),
    )


def by_urgency(documents: list[Document]) -> list[Document]:
    """What could not be read first, then what was read with a warning; otherwise in the order given."""
    order = {"failed": 0, "empty": 1, "unsupported": 2}
    return sorted(documents, key=lambda document: (order.get(document.status, 3), document.warning is None))


def not_read(documents: list[Document]) -> list[Document]:
    """The documents whose text is not in the scores."""
    return [document for document in by_urgency(documents) if document.status not in ("read", "unchanged")]


def not_come_to(company: Company) -> bool:
    """Whether no criterion has anything to show, all for one reason: said once instead of a dozen times."""
    return len({criterion.reason for criterion in company.criteria}) == 1 and not any(
        criterion.quotes or criterion.status is not ScoreStatus.UNSCORED for criterion in company.criteria
    )


def to_ask(company: Company) -> list[Criterion]:
    """The criteria for which something is missing, each missing thing once."""
    return list({each.missing: each for each in reversed(company.criteria) if each.missing is not None}.values())[::-1]
