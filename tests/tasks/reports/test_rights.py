"""What a viewer's report says of a company whose documents are hidden: each field is decided on here."""

from pathlib import Path

import pytest

from storage.scores import ScoreStatus
from tasks.reports.company import HIDDEN, Seen
from tasks.reports.models import CompanyReport, CriterionInWords, CriterionReport, RunSummary, StandingReport
from tasks.reports.report import build
from tests.tasks.reports.everything import report_with_everything

OF_THE_RUN = set(RunSummary.model_fields) - {"sensitivity"}
"""The same for every viewer: what the batch asks, when it ran, and what all of it cost."""
OF_THE_COMPANY = {"name", "domain", "folder_id", "status", "compared_with"}
OF_PUBLIC_SOURCES = {"facts", "conflicts"}
MADE_ANEW = {
    "requests",
    "tables",
    "decisions",  # those on hidden criteria, and on the whole where anything is hidden, are left out
    "total", "coverage", "standing", "rank",
    "criteria", "missing", "documents", "changes", "problem", "warnings", "stability",
    "figures", "figure_conflicts", "figure_versions", "derived_figures", "figure_comparisons",
    "untied_sums", "figures_left_out", "cited",
}  # fmt: skip
"""Made of the documents that the viewer sees."""


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """Every test has a database of its own."""


def test_each_field_is_decided_on() -> None:
    assert set(RunSummary.model_fields) == OF_THE_RUN | {"sensitivity"}
    assert set(CompanyReport.model_fields) == OF_THE_COMPANY | OF_PUBLIC_SOURCES | MADE_ANEW
    assert set(CriterionReport.model_fields) - set(CriterionInWords.model_fields) == {
        "score", "status", "reason", "quotes", "confidence", "agreement", "contradictions", "missing", "nearest",
        "orders", "contested", "absence", "open", "override",
    }  # fmt: skip


def test_of_hidden_documents_nothing_is_made() -> None:
    whole = report_with_everything()
    seen = build("r2", seen={"alpha.example": Seen(documents=frozenset())})
    assert seen.run == whole.run
    alpha, hidden = seen.companies
    was = next(company for company in whole.companies if company.name == "Alpha")
    for name in OF_THE_COMPANY | OF_PUBLIC_SOURCES:
        assert getattr(alpha, name) == getattr(was, name), name
    for name in MADE_ANEW - {"criteria", "warnings", "coverage", "standing"}:
        assert not getattr(alpha, name), name
    assert (alpha.coverage, alpha.standing.proven, alpha.standing.ranked) == (0, 0, False)
    assert alpha.warnings == ["Documents that were deleted since the run, or are not shared with you, are left out."]
    for company in (alpha, hidden):
        for criterion, asked in zip(company.criteria, whole.run.criteria, strict=True):
            bare = CriterionReport(
                **asked.model_dump(exclude={"guide"}),
                score=None,
                status=ScoreStatus.WITHHELD,
                reason=criterion.reason,
                quotes=[],
                open=True,
            )
            assert criterion == bare
            assert criterion.reason.startswith("Not shown: ")
    assert hidden == CompanyReport(
        name=HIDDEN, domain="", folder_id=None, total=None, coverage=0, rank=None, criteria=hidden.criteria,
        standing=StandingReport(
            proven=0, low=0, high=1, ranked=False, gates_failed=[],
            why_not="Not ranked: 0\u202f% of the weight is scored, and half is needed; 100\u202f% is withheld.",
        ),
        missing=[], conflicts=[], documents=[], changes=[], status=hidden.status, problem=None, warnings=[],
        compared_with=None,
    )  # fmt: skip


def test_companies_are_ranked_by_what_is_shown_of_them() -> None:
    report_with_everything()
    everything = frozenset({"fine", "scan", "bad"})
    seen = {name: Seen(documents=everything) for name in ("alpha.example", "beta.example")}
    assert next((company.name, company.rank, company.total) for company in build("r2", seen=seen).companies) == (
        "Alpha", 1, 0.75,
    )  # fmt: skip
    seen["alpha.example"] = Seen(documents=everything - {"bad"})
    alpha = build("r2", seen=seen).companies[0]
    assert (alpha.name, alpha.rank, alpha.total) == ("Alpha", None, None)
