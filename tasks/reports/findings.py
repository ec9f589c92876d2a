"""What a reader should look at first: where a company falls short, how gravely, and what speaks for it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple, Never, TypeVar

from pydantic import BaseModel

from storage.scores import Absence, ScoreStatus
from tasks.language.normalise import join_first
from tasks.reports.changes import Change
from tasks.reports.key_figures import NewestFigure, describe_contradiction, newest_figures
from tasks.reports.models import CompanyReport, CriterionReport, ReportedQuote, Severity
from tasks.reports.wording import WHOLE, Tally, describe_standing, open_gates, percent, sentence, tally, to_request
from tasks.scoring.results import ENOUGH, is_short

GRAVE: Final = 0.2
"""Up to this share of the scale a score is grave, where its criterion does not say how severe it is."""
STRONG: Final = 0.8
"""From this share of the scale on a score speaks for a company."""
MOST: Final = 3
"""Reasons, findings and changes that the first screen names of a company."""
HEAT_STEPS: Final = 10
"""The heat scale of the reports runs from 0 to this."""
_SAME: Final = 1e-9
"""Totals that differ less are equal."""
_ORDER: Final[dict[Severity, int]] = {"high": 0, "medium": 1, "low": 2}


class RedFlag(NamedTuple):
    """A criterion on which a company falls short or nothing is known, and how severe that is."""

    severity: Severity
    criterion: CriterionReport


def find_red_flags(company: CompanyReport, scale: tuple[float, float]) -> list[RedFlag]:
    """The company's red flags, most severe first; of these what was found before what is missing, then by weight.

    A company falls short of a criterion if its score is in the lower two fifths of the scale or not above the highest
    score in the criterion's bands of severity, or if what the criterion asks for is missing. The criterion's `severity`
    says how severe that is; without one, a score in the lowest fifth is high and anything else medium. If `severity`
    has bands, something missing counts as the lowest score.
    """
    flags = [
        RedFlag(_severity(criterion, scale), criterion)
        for criterion in company.criteria
        if falls_short(criterion, scale)
    ]
    found, missing = part_flags(sorted(flags, key=lambda flag: -flag.criterion.weight))
    return sorted([*found, *missing], key=lambda flag: _ORDER[flag.severity])


class PlacedFlag(NamedTuple):
    """A red flag and where the report shows it: the company's number and the criterion's position, both from 1."""

    severity: Severity
    criterion: CriterionReport
    number: int
    position: int


_Flag = TypeVar("_Flag", RedFlag, PlacedFlag)


def part_flags(flags: Iterable[_Flag]) -> tuple[list[_Flag], list[_Flag]]:
    """Those that rest on what was found, and those of which nothing was found that the criterion asks for."""
    parted: tuple[list[_Flag], list[_Flag]] = [], []
    for flag in flags:
        parted[flag.criterion.status is ScoreStatus.MISSING].append(flag)
    return parted


def place_flags(company: CompanyReport, number: int, scale: tuple[float, float]) -> list[PlacedFlag]:
    """The red flags of the company with that number in the report."""
    places = {criterion.id: position for position, criterion in enumerate(company.criteria, 1)}
    return [PlacedFlag(*flag, number, places[flag.criterion.id]) for flag in find_red_flags(company, scale)]


def flags_by_severity(
    companies: Sequence[CompanyReport], scale: tuple[float, float]
) -> list[tuple[Severity, list[PlacedFlag]]]:
    """The red flags of all companies, most severe first; severities without flags are left out."""
    flags = [flag for number, company in enumerate(companies, 1) for flag in place_flags(company, number, scale)]
    by_severity = [(severity, [flag for flag in flags if flag.severity == severity]) for severity in _ORDER]
    return [(severity, of_severity) for severity, of_severity in by_severity if of_severity]


def by_criterion(flags: Sequence[PlacedFlag]) -> list[tuple[CriterionReport, list[PlacedFlag]]]:
    """Red flags grouped by criterion, those with most weight first."""
    groups: dict[str, list[PlacedFlag]] = {}
    for flag in flags:
        groups.setdefault(flag.criterion.id, []).append(flag)
    ordered = sorted(groups.values(), key=lambda group: (-group[0].criterion.weight, -len(group)))
    return [(group[0].criterion, group) for group in ordered]


def falls_short(criterion: CriterionReport, scale: tuple[float, float]) -> bool:
    """Whether the criterion is missing, or its score is in the lower two fifths of the scale or in
    a band of severity.
    """
    if criterion.counted is not None:
        return is_short(criterion.counted, criterion.severity, scale)
    return criterion.status is ScoreStatus.MISSING and criterion.absence is not Absence.NOT_APPLICABLE


def strengths(company: CompanyReport, scale: tuple[float, float]) -> list[CriterionReport]:
    """What speaks most for a company: its best scores on the weightiest criteria, at most three."""
    strong = [
        criterion
        for criterion in company.criteria
        if (share := score_share(criterion, scale)) is not None and share >= STRONG
    ]
    return sorted(strong, key=lambda criterion: -criterion.weight * (score_share(criterion, scale) or 0))[:MOST]


def score_share(criterion: CriterionReport, scale: tuple[float, float]) -> float | None:
    """The score as a share of the scale, 0 to 1; None if it does not count."""
    if criterion.counted is None:
        return None
    low, high = scale
    return (criterion.counted - low) / (high - low) if high > low else 1.0


def heat(score: float, scale: tuple[float, float]) -> int:
    """The step of the heat scale for a score; scores beyond the scale get its end."""
    low, high = scale
    share = (score - low) / (high - low) if high > low else 1.0
    return round(HEAT_STEPS * min(max(share, 0.0), 1.0))


def possible_ranks(companies: Sequence[CompanyReport]) -> list[tuple[int, int] | None]:
    """For each company, the best and worst rank that is still possible given what is open; None if it is not ranked."""
    ranges = [
        (company.standing.low, company.standing.high) if company.rank is not None else None for company in companies
    ]
    known = [ends for ends in ranges if ends is not None]
    return [
        (
            1 + sum(low > ends[1] + _SAME for low, _ in known),
            1 + sum(high > ends[0] + _SAME for _, high in known) - (ends[1] > ends[0] + _SAME),
        )
        if ends is not None
        else None
        for ends in ranges
    ]


def count_missing(companies: Sequence[CompanyReport]) -> list[tuple[str, int]]:
    """What is missing at most companies, with the number of companies; ties are in order of occurrence."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for company in companies:
        counts.update({criterion.heading for criterion in company.criteria if criterion.missing is not None})
        weights |= {criterion.heading: criterion.weight for criterion in company.criteria}
    return sorted(counts.items(), key=lambda item: (-item[1], -weights[item[0]], item[0]))[:MOST]


def main_changes(company: CompanyReport) -> list[Change]:
    """The main changes since the last run, at most three: scores before criteria before documents."""
    order = {"score_moved": 0, "criteria_changed": 1}
    return sorted(company.changes, key=lambda change: order.get(change.kind, 2))[:MOST]


def _severity(criterion: CriterionReport, scale: tuple[float, float]) -> Severity:
    if isinstance(criterion.severity, dict):
        score = scale[0] if criterion.score is None else criterion.score
        return next((name for name in _ORDER if score <= criterion.severity.get(name, -inf)), "low")
    share = score_share(criterion, scale)
    return criterion.severity or ("high" if share is not None and share <= GRAVE else "medium")


_NAMED: Final = 3


class Recommendation(NamedTuple):
    """One sentence that says what to do, and the steps, most severe first."""

    lead: str
    steps: list[str]


def recommend(company: CompanyReport, scale: tuple[float, float]) -> Recommendation:
    """What to do about the company, given its scores.

    The steps are what the criteria recommend if a company falls short of them, and what to ask it for.
    """
    flags = find_red_flags(company, scale)
    steps = [f"{flag.criterion.name}: {flag.criterion.recommend}" for flag in flags if flag.criterion.recommend]
    requests = [request.missing for request in to_request(company) if request.missing is not None]
    if requests:
        steps.append(sentence(f"Ask the company for: {join_first(requests, _NAMED, '; ')}"))
    return Recommendation(_lead(company, flags), steps)


def describe_place(company: CompanyReport, ranked: int) -> str:
    """The company's standing in a sentence or two: its rank, its proven share, and the range still possible.

    `ranked` is how many companies have a rank.
    """
    rank = f"Rank {company.rank} of {ranked}. " if company.rank is not None else ""
    known = f"{rank}Of all the weight, {describe_standing(company)}."
    if company.standing.why_not:
        known += f" {company.standing.why_not}"
    if gates := open_gates(company):
        known += f" Not known whether it meets {join_first([gate.name for gate in gates], _NAMED)}, which it must."
    return known


def _lead(company: CompanyReport, flags: list[RedFlag]) -> str:
    grave_flags = [flag for flag in flags if flag.severity == "high"]
    high = [flag.criterion.name for flag in grave_flags]
    counts = zip(map(len, part_flags(grave_flags)), ("serious finding", "serious gap"), strict=True)
    grave = " and ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count)
    names = {criterion.id: criterion.name for criterion in company.criteria}
    if failed := [names.get(gate, gate) for gate in company.standing.gates_failed]:
        return f"Stop, or first settle the gates that it has not been shown to meet: {join_first(failed, _NAMED)}."
    if company.total is None or company.coverage is None:
        return "No recommendation: nothing could be scored."
    if company.coverage < ENOUGH:
        known = f" {grave[0].upper()}{grave[1:]} so far: {join_first(high, _NAMED)}." if high else ""
        return f"Too early to say: {percent(company.coverage)} of the weight could be scored.{known}"
    if high:
        return f"Settle {grave} before proceeding: {join_first(high, _NAMED)}."
    if flags:
        return f"Proceed, and settle on the way: {join_first([flag.criterion.name for flag in flags], _NAMED)}."
    if company.coverage < WHOLE:
        return f"Proceed: nothing falls short among the {percent(company.coverage)} of the weight that is scored."
    return "Proceed: nothing falls short."


M = TypeVar("M", bound=BaseModel)

_NOTED_AS_SET: Final[set[str]] = set()
_NONE: Final[list[Never]] = []
"""Of a company in an overview, what is left out: one list for all, which nobody fills."""
_CONFLICTS = 2
"""Figures that contradict each other, of which the first page names so many of a company."""


@dataclass(frozen=True, slots=True)
class CompanyInOverview:
    """A company on the first page.

    `company` has its scores, what is missing and its standing, but no documents, figures, facts and changes. Instead
    there are its main `changes` out of `changed`, its first contradicting figures out of `conflicts`, both in words,
    its `newest` figures by name, and the number of its `documents`.
    """

    company: CompanyReport
    changes: Sequence[str]
    changed: int
    contradicted: Sequence[str]
    conflicts: int
    newest: Mapping[str, NewestFigure]
    documents: Tally


def in_overview(company: CompanyReport) -> CompanyInOverview:
    """What the first page shows about this company."""
    return CompanyInOverview(
        company=scores_alone(company),
        changes=[change.text for change in main_changes(company)],
        changed=len(company.changes),
        contradicted=[describe_contradiction(conflict) for conflict in company.figure_conflicts[:_CONFLICTS]],
        conflicts=len(company.figure_conflicts),
        newest=newest_figures(company),
        documents=tally(company.documents),
    )


def scores_alone(company: CompanyReport) -> CompanyReport:
    """The company with its scores and standing, without everything that grows with its data room."""
    return company.model_copy(
        update={
            "criteria": [_describe_score(criterion) for criterion in company.criteria],
            "conflicts": _NONE,
            "documents": _NONE,
            "changes": _NONE,
            "warnings": _NONE,
            "facts": _NONE,
            "figures": _NONE,
            "figure_conflicts": _NONE,
            "figure_versions": _NONE,
            "derived_figures": _NONE,
            "figure_comparisons": _NONE,
            "untied_sums": _NONE,
        }
    )


def _describe_score(criterion: CriterionReport) -> CriterionReport:
    """A criterion's outcome with one representative place; whether it has any tells it from an unreached one."""
    verified = [quote for quote in criterion.quotes if quote.verified]
    with_page = [quote for quote in verified if quote.evidence_url]
    quotes: list[ReportedQuote] = []
    for quote in (*verified[:1], *with_page[:1]) or criterion.quotes[:1]:
        if not any(quote is other for other in quotes):
            quotes.append(quote)
    places = [_slim(quote, text="", before="", behind="", boxes=_NONE) for quote in quotes]
    return _slim(criterion, quotes=places, contradictions=_NONE, orders=criterion.orders[:1], nearest=_NONE)


def _slim(model: M, **fields: object) -> M:
    """A copy with other values for these fields. It takes half the memory, as it does not record which fields were set.

    There are as many as companies times criteria.
    """
    return type(model).model_construct(_NOTED_AS_SET, **dict(model) | fields)
