"""What a reader should look at first: where a company falls short, how gravely, and what speaks for it."""

from typing import Final, NamedTuple

from storage.scores import ScoreStatus
from tasks.reports.models import CompanyReport, CriterionReport, Severity

GRAVE: Final = 0.2
"""Up to this share of the scale a score is grave, where its criterion does not say how severe it is."""
SHORT: Final = 0.4
"""Up to this share of the scale a score falls short."""
STRONG: Final = 0.8
"""From this share of the scale on a score speaks for a company."""
MOST: Final = 3
_ORDER: Final = {"high": 0, "medium": 1, "low": 2}


class RedFlag(NamedTuple):
    """A criterion that a company falls short of, or of which nothing is known, and how severe that is."""

    severity: Severity
    criterion: CriterionReport


def red_flags(company: CompanyReport, scale: tuple[float, float]) -> list[RedFlag]:
    """The company's red flags, the most severe first, then by weight.

    A criterion falls short with a score in the lower two fifths of the scale, or when what it asks for is missing. Its
    own `severity` says how grave that is; without one a score in the lowest fifth is high, all else medium.
    """
    flags = [
        RedFlag(criterion.severity or _by_score(criterion, scale), criterion)
        for criterion in company.criteria
        if falls_short(criterion, scale)
    ]
    return sorted(flags, key=lambda flag: (_ORDER[flag.severity], -flag.criterion.weight))


def falls_short(criterion: CriterionReport, scale: tuple[float, float]) -> bool:
    """Whether the criterion is missing, or scored in the lower two fifths of the scale."""
    share = share_of(criterion, scale)
    return criterion.status is ScoreStatus.MISSING or (share is not None and share <= SHORT)


def strengths(company: CompanyReport, scale: tuple[float, float]) -> list[CriterionReport]:
    """The strongest reasons for a company: its best scores on the weightiest criteria, three at most."""
    strong = [
        criterion
        for criterion in company.criteria
        if (share := share_of(criterion, scale)) is not None and share >= STRONG
    ]
    return sorted(strong, key=lambda criterion: -criterion.weight * (share_of(criterion, scale) or 0))[:MOST]


def share_of(criterion: CriterionReport, scale: tuple[float, float]) -> float | None:
    """The score as a share of the scale, 0 to 1; None where nothing counts."""
    if criterion.status is not ScoreStatus.SCORED or criterion.score is None:
        return None
    low, high = scale
    return (criterion.score - low) / (high - low) if high > low else 1.0


def possible_range(company: CompanyReport) -> tuple[float, float] | None:
    """The least and the most that the total would be if all were scored: what is open counted as nothing, then as all.

    None where nothing is known of the company.
    """
    if company.coverage is None:
        return None
    known = (company.total or 0.0) * company.coverage
    return known, known + 1 - company.coverage


def _by_score(criterion: CriterionReport, scale: tuple[float, float]) -> Severity:
    share = share_of(criterion, scale)
    return "high" if share is not None and share <= GRAVE else "medium"
