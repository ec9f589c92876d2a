"""The summary of a company for the report's first page: all that is kept of it while others are rendered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Never, TypeVar

from pydantic import BaseModel

from tasks.reports.findings import main_changes
from tasks.reports.key_figures import NewestFigure, contradicted_in_words, newest_figures
from tasks.reports.models import CompanyReport, CriterionReport, ReportedQuote
from tasks.reports.wording import Tally, tally

M = TypeVar("M", bound=BaseModel)

_NOTED_AS_SET: Final[set[str]] = set()
_NONE: Final[list[Never]] = []
"""Of a company in an overview, what is left out: one list for all, which nobody fills."""
_CONFLICTS = 2
"""Figures that contradict each other, of which the first page names so many of a company."""


@dataclass(frozen=True, slots=True)
class CompanyInOverview:
    """A company on the first page.

    `company` has its scores, what is missing and its standing, and none of its documents, figures, facts and changes:
    of these are the main `changes` of `changed` in all, the first figures that are `contradicted` of `conflicts` in
    all, both in words, the `newest` figures by name, and its `documents` counted.
    """

    company: CompanyReport
    changes: Sequence[str]
    changed: int
    contradicted: Sequence[str]
    conflicts: int
    newest: Mapping[str, NewestFigure]
    documents: Tally


def in_overview(company: CompanyReport) -> CompanyInOverview:
    """What the first page shows of this company."""
    return CompanyInOverview(
        company=scores_alone(company),
        changes=[change.text for change in main_changes(company)],
        changed=len(company.changes),
        contradicted=[contradicted_in_words(conflict) for conflict in company.figure_conflicts[:_CONFLICTS]],
        conflicts=len(company.figure_conflicts),
        newest=newest_figures(company),
        documents=tally(company.documents),
    )


def scores_alone(company: CompanyReport) -> CompanyReport:
    """The company with its scores and its standing, without all that is as large as its data room."""
    return company.model_copy(
        update={
            "criteria": [_scored(criterion) for criterion in company.criteria],
            "conflicts": _NONE,
            "documents": _NONE,
            "changes": _NONE,
            "warnings": _NONE,
            "facts": _NONE,
            "figures": _NONE,
            "figure_conflicts": _NONE,
            "derived_figures": _NONE,
            "figure_comparisons": _NONE,
            "untied_sums": _NONE,
        }
    )


def _scored(criterion: CriterionReport) -> CriterionReport:
    """How a criterion came out, with the place that stands for it; whether it has any tells it from one unreached."""
    verified = [quote for quote in criterion.quotes if quote.verified]
    with_page = [quote for quote in verified if quote.evidence_url]
    quotes: list[ReportedQuote] = []
    for quote in (*verified[:1], *with_page[:1]) or criterion.quotes[:1]:
        if not any(quote is other for other in quotes):
            quotes.append(quote)
    places = [_slim(quote, text="", before="", behind="", boxes=_NONE) for quote in quotes]
    return _slim(criterion, quotes=places, contradictions=_NONE, orders=criterion.orders[:1], nearest=_NONE)


def _slim(model: M, **fields: object) -> M:
    """A copy with other values of these fields. It takes half the memory: which fields were set is nobody's concern.

    There are as many as companies times criteria.
    """
    return type(model).model_construct(_NOTED_AS_SET, **dict(model) | fields)
