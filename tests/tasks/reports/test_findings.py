"""What a reader sees first: red flags by severity, strengths, and what the unscored weight could still change."""

from storage.runs import CompanyStatus
from storage.scores import ScoreStatus
from tasks.reports.findings import find_red_flags, part_flags, recommend, strengths
from tasks.reports.models import CompanyReport, CriterionReport, StandingReport

SCALE = (0.0, 5.0)


def criterion(
    name: str, score: float | None, status: ScoreStatus = ScoreStatus.SCORED, **fields: object
) -> CriterionReport:
    values = {"kind": "judged", "weight": 1.0, "reason": "", "quotes": [], "label": name} | fields
    return CriterionReport.model_validate({"id": name, "score": score, "status": status, **values})


def company(*criteria: CriterionReport) -> CompanyReport:
    return CompanyReport(
        name="Alpha",
        domain="alpha.example",
        folder_id=None,
        total=None,
        coverage=None,
        standing=StandingReport(proven=0, low=0, high=1, ranked=False, why_not=None, gates_failed=[]),
        rank=None,
        criteria=list(criteria),
        missing=[],
        conflicts=[],
        documents=[],
        changes=[],
        status=CompanyStatus.FINISHED,
        problem=None,
        warnings=[],
        compared_with=None,
    )


def test_the_criterion_says_how_severe_it_is_else_its_score_does() -> None:
    alpha = company(
        criterion("middling", 2),
        criterion("said low", 0, severity="low"),
        criterion("worst", 0),
        criterion("fine", 3),
        criterion("gone", None, ScoreStatus.MISSING),
        criterion("gone and grave", None, ScoreStatus.MISSING, severity="high", weight=3.0),
        criterion("not judged", None, ScoreStatus.UNSCORED),
        criterion("not proved", 0, ScoreStatus.UNSUPPORTED),
    )
    assert [(flag.severity, flag.criterion.id) for flag in find_red_flags(alpha, SCALE)] == [
        ("high", "worst"),
        ("high", "gone and grave"),
        ("medium", "middling"),
        ("medium", "gone"),
        ("low", "said low"),
    ]


def test_what_is_missing_is_told_apart_from_what_was_found() -> None:
    alpha = company(
        criterion("worst", 0),
        criterion("gone and grave", None, ScoreStatus.MISSING, severity="high", weight=3.0),
        criterion("gone too", None, ScoreStatus.MISSING, severity="high"),
    )
    found, missing = part_flags(find_red_flags(alpha, SCALE))
    assert [flag.criterion.id for flag in found] == ["worst"]
    assert [flag.criterion.id for flag in missing] == ["gone and grave", "gone too"]
    alpha.total, alpha.coverage = 0.0, 1.0
    lead = recommend(alpha, SCALE).lead
    assert lead.startswith("Settle 1 serious finding and 2 serious gaps before proceeding: worst, ")


def test_bands_of_severity_say_from_which_score_on_a_criterion_is_a_red_flag() -> None:
    bands = {"high": 1.0, "medium": 3.0}
    alpha = company(
        criterion("fine", 4, severity=bands),
        criterion("in the second band", 3, severity=bands),
        criterion("in the first band", 1, severity=bands),
        criterion("below no band", 1, severity={"high": 0.0}),
        criterion("gone", None, ScoreStatus.MISSING, severity={"low": 2.0}),
    )
    assert [(flag.severity, flag.criterion.id) for flag in find_red_flags(alpha, SCALE)] == [
        ("high", "in the first band"),
        ("medium", "in the second band"),
        ("low", "gone"),
    ]


def test_strengths_are_the_weightiest_of_the_best_scores() -> None:
    alpha = company(*(criterion(f"c{weight}", 5, weight=float(weight)) for weight in (1, 4, 2, 3)), criterion("c9", 3))
    assert [each.id for each in strengths(alpha, SCALE)] == ["c4", "c3", "c2"]
