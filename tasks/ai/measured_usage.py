"""What the calls of a run have used so far, and what the next one will most likely not exceed.

The tokens of a prompt are in proportion to its size, but each model and each language has its own proportion. Two
sizes are measured: bytes, which long words need many of, and pieces (words, figures, marks), which tables have many
of. The larger of both predictions counts.
"""

from collections.abc import Sequence
from math import ceil, sqrt

from tasks.ai.money import Usage

_SPREADS = 4.0  # standard deviations above the mean
_LEAST_MARGIN, _FIRST_MARGIN = (
    0.15,
    0.5,
)  # above the largest so far: the first at least, the second divided by the calls


class Measured:
    """Mean, spread and largest of the values so far (Welford's sums)."""

    def __init__(self) -> None:
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0
        self._largest = 0.0

    def add(self, value: float) -> None:
        """Take one more value in."""
        self._count += 1
        from_mean = value - self._mean
        self._mean += from_mean / self._count
        self._squares += from_mean * (value - self._mean)
        self._largest = max(self._largest, value)

    def likely_most(self) -> float | None:
        """What the next value will most likely not exceed; None where one value alone says nothing of the spread."""
        if self._count < 2:
            return None
        spread = sqrt(self._squares / (self._count - 1))
        margin = max(_LEAST_MARGIN, _FIRST_MARGIN / self._count)
        return max(self._mean + _SPREADS * spread, self._largest * (1 + margin))


class MeasuredUsage:
    """The usage of calls, to foresee that of the next. Not safe for several threads."""

    def __init__(self) -> None:
        self._answers = Measured()
        self._ratios: dict[int, Measured] = {}

    def add(self, sizes: Sequence[int], usage: Usage) -> None:
        """A call with a prompt of these sizes has used that."""
        for position, size in enumerate(sizes):
            if size:
                self._ratios.setdefault(position, Measured()).add(usage.input_tokens / size)
        self._answers.add(usage.output_tokens)

    def likely_most(self, sizes: Sequence[int], worst: Usage) -> Usage:
        """What a call with a prompt of these sizes will most likely not exceed; `worst` is the most that it can use."""
        answer = self._answers.likely_most()
        if answer is None:
            return worst
        prompt = 0.0
        for position, size in enumerate(sizes):
            measured = self._ratios.get(position)
            ratio = measured.likely_most() if measured else None
            prompt = max(prompt, size * ratio if ratio is not None else worst.input_tokens)
        return Usage(0, min(ceil(prompt), worst.input_tokens), min(ceil(answer), worst.output_tokens))
