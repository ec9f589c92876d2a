"""The standing of a run's companies: the share of all weight that each has proven, and what is still open.

stand    a company's outcomes added up
rank     companies by their proven shares
"""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Protocol

from pydantic import BaseModel

from storage.runs import RunCompany
from storage.scores import CriterionOutcome, ScoreStatus
from tasks.scoring.criteria import Criteria, Criterion, Severity

SHORT: Final = 0.4
"""Up to this share of the scale a score falls short."""
ENOUGH: Final = 0.5
"""From this share of the weight on what was scored is enough for a rank, and to recommend something."""
_EXACT: Final = 12  # decimals, so that equal scores give equal shares in any order
_SAME: Final = 9  # decimals; shares that differ less are equal


class Standing(BaseModel):
    """A company's standing. Shares are of the weight of all criteria, 0 to 1.

    `proven` is what its scores earned. `high` is what it would be if everything open turned out best; what is missing
    in a room that was read is not open. `coverage` is the share that was scored, `shares` the share with each status.
    `gates_failed` and `gates_open` are ids of criteria.
    """

    proven: float = 0.0
    high: float = 1.0
    coverage: float = 0.0
    shares: dict[ScoreStatus, float] = {}
    gates_failed: list[str] = []
    gates_open: list[str] = []

    @property
    def ranked(self) -> bool:
        """Whether the company has a rank."""
        return self.coverage > ENOUGH - 10**-_SAME and not self.gates_failed

    @classmethod
    def of(cls, company: RunCompany) -> "Standing":
        """The standing of a run's company; in runs of earlier releases everything that is not scored is open."""
        if company.standing is not None:
            return cls.model_validate(company.standing)
        coverage = company.coverage or 0.0
        proven = (company.total or 0.0) * coverage
        shares = {ScoreStatus.SCORED: coverage, ScoreStatus.UNSCORED: 1 - coverage}
        return cls(proven=proven, high=proven + 1 - coverage, coverage=coverage, shares=shares)


def is_open(criterion: Mapping[str, Any] | Criterion, outcome: CriterionOutcome | None) -> bool:
    """Whether a criterion may still turn out well: it was not scored, and is not known to be missing."""
    if outcome is None or outcome.status is not ScoreStatus.MISSING:
        return outcome is None or not outcome.status.counts
    leaves_open = criterion.get("missing") if isinstance(criterion, Mapping) else criterion.missing
    return leaves_open == "open" or (outcome.absence is not None and outcome.absence.is_open)


def is_short(score: float, severity: Severity | Mapping[Severity, float] | None, scale: tuple[float, float]) -> bool:
    """Whether a score is in the lower two fifths of the scale or, if there are bands of severity, in one of them."""
    if isinstance(severity, Mapping):
        return score <= max(severity.values())
    return score <= scale[0] + SHORT * (scale[1] - scale[0]) + 10**-_SAME


def stand(company: RunCompany, outcomes: Iterable[CriterionOutcome], criteria: Criteria) -> None:
    """Compute the company's standing from these outcomes; criteria without one are unscored."""
    low, high = criteria.scale
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    whole = sum(criterion.weight for criterion in criteria.criteria) or 1.0
    earned = unsettled = 0.0
    shares: Counter[ScoreStatus] = Counter()
    failed, unknown = [], []
    for criterion in criteria.criteria:
        outcome = by_criterion.get(criterion.id)
        may_turn_out_well = is_open(criterion, outcome)
        shares[outcome.status if outcome else ScoreStatus.UNSCORED] += criterion.weight / whole  # type: ignore[assignment]
        unsettled += criterion.weight * may_turn_out_well
        score = outcome.score if outcome and outcome.status.counts else None
        if score is not None:
            earned += criterion.weight * (score - low) / (high - low)
        if criterion.must and may_turn_out_well:
            unknown.append(criterion.id)
        elif criterion.must and (score is None or is_short(score, criterion.severity, criteria.scale)):
            failed.append(criterion.id)
    coverage = sum(share for status, share in shares.items() if status.counts)
    proven = round(earned / whole, _EXACT)
    company.total = round(earned / whole / coverage, _EXACT) if coverage else None
    company.coverage = round(coverage, _EXACT)
    company.standing = Standing(
        proven=proven,
        high=round((earned + unsettled) / whole, _EXACT),
        coverage=company.coverage,
        shares={status: round(share, _EXACT) for status, share in shares.items()},
        gates_failed=failed,
        gates_open=unknown,
    ).model_dump(mode="json")


class Ranked(Protocol):
    """What a rank depends on; see `Standing`."""

    @property
    def proven(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def ranked(self) -> bool: ...


def rank(standings: Sequence[Ranked]) -> list[int | None]:
    """The rank of each company, from 1; None if it has none.

    A company ranks behind those that have proven more, unless the range that one may still prove is wholly inside the
    other's: then they share a rank. Nobody ranks ahead of a company that has proven more.
    """
    ranges = [(round(one.proven, _SAME), round(one.high, _SAME)) if one.ranked else None for one in standings]
    ranks: dict[float, int] = {}
    highs: list[float] = []
    last = 1
    for low, group in groupby(sorted(filter(None, ranges), reverse=True), key=itemgetter(0)):
        of_group = [high for _, high in group]
        last = max(last, *(1 + len(highs) - bisect_right(highs, high) for high in of_group))
        ranks[low] = last
        for high in of_group:
            insort(highs, high)
    return [None if ends is None else ranks[ends[0]] for ends in ranges]


def rank_companies(companies: Sequence[RunCompany]) -> None:
    """Give each company of a run its rank."""
    for company, place in zip(companies, rank([Standing.of(one) for one in companies]), strict=True):
        company.rank = place
