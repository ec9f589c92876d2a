"""How much of a ranking is the weights' doing: it is drawn up again a thousand times under other weights.

In each draw every weight is multiplied by a factor of its own between a half and twice, halving as
likely as doubling. A company that keeps its place in nearly all draws owes it to its scores.
"""

from collections.abc import Mapping, Sequence
from math import log
from random import Random

DRAWS = 1000
_MOST = 2.0  # a weight is at most doubled and at least halved
_SAME = 9  # decimals; totals that differ less are equal, as in the ranking itself

Standing = Mapping[str, float]
"""One company's scored criteria: the id of each with its score as a share of the scale, 0 to 1."""


def stability(standings: Sequence[Standing], weights: Mapping[str, float]) -> list[float] | None:
    """The share of draws in which each company keeps its place, 0 to 1; the same for the same figures.

    Args:
        standings: the ranked companies, none without a scored criterion.
        weights: each criterion's weight, above 0.

    Returns:
        A share a company, in their order; None where there is nothing to vary: fewer than two
        companies, or fewer than two criteria.
    """
    asked = sorted({criterion for standing in standings for criterion in standing})
    if len(standings) < 2 or len(asked) < 2:
        return None
    import numpy as np  # noqa: PLC0415 - 0.1 s that only a report of several companies need pay

    chosen = Random(0)  # noqa: S311 - drawn anew, a report must say the same
    spread = log(_MOST)
    factors = np.exp([[chosen.uniform(-spread, spread) for _ in asked] for _ in range(DRAWS)])
    given = np.array([weights[criterion] for criterion in asked])
    drawn = np.vstack([given, given * factors])  # the first row is the ranking as it is
    scored = np.array([[criterion in standing for criterion in asked] for standing in standings], dtype=float)
    shares = np.array([[standing.get(criterion, 0.0) for criterion in asked] for standing in standings])
    totals = -np.round((drawn @ shares.T) / (drawn @ scored.T), _SAME)
    places = np.array([np.searchsorted(np.sort(row), row) for row in totals])
    return [float(share) for share in (places[1:] == places[0]).mean(axis=0)]
