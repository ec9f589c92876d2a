"""Amounts, as plain data: what calls of a model use, cost and take, and the most that a run may spend.

Nothing is imported here but the standard library: settings, the seam and everything above them share these classes.
"""

import re
from dataclasses import dataclass
from typing import Self

_CAP = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*(usd|tokens?)", re.IGNORECASE)


@dataclass(frozen=True)
class Usage:
    """What was used of a model: calls that were answered, and tokens. All zero where no model was called."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls, self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )

    def __neg__(self) -> "Usage":
        return Usage(-self.calls, -self.input_tokens, -self.output_tokens)

    @property
    def tokens(self) -> int:
        """Tokens read and written together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Price:
    """What a model costs, in USD for a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """What `usage` costs in USD."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


@dataclass(frozen=True)
class Pace:
    """How fast a model was measured to read and to write, in tokens a second, and the calls it may answer at once."""

    reading: float
    writing: float
    at_once: int

    def seconds(self, usage: Usage) -> tuple[float, float]:
        """What `usage` takes: where as many calls side by side are as fast as one, and where they share its speed."""
        alone = usage.input_tokens / self.reading + usage.output_tokens / self.writing
        return alone / self.at_once, alone


@dataclass(frozen=True)
class Cap:
    """The most that a run may spend, in USD or in tokens (read and written together). Exactly one is set."""

    usd: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if (self.usd is None) == (self.tokens is None):
            raise ValueError("a cap is in USD or in tokens")

    @classmethod
    def parse(cls, written: str) -> Self:
        """The cap that a user wrote, such as `0.50 USD` or `20000 tokens`, in any case and spacing.

        Raises:
            ValueError: it is no such cap; the message says what is allowed.
        """
        match = _CAP.fullmatch(written.strip())
        if match is None:
            raise ValueError("must be an amount such as 0.50 USD or 20000 tokens")
        amount, unit = match[1], match[2].lower()
        if unit == "usd":
            return cls(usd=float(amount))
        if "." in amount:
            raise ValueError("must be a whole number of tokens, such as 20000 tokens")
        return cls(tokens=int(amount))

    def __str__(self) -> str:
        if self.usd is None:
            return f"{self.tokens} tokens"
        exact = f"{self.usd:.9f}".rstrip("0")
        return f"{self.usd:.2f} USD" if len(exact.partition(".")[2]) <= 2 else f"{exact} USD"


def dollars(usd: float) -> str:
    """An amount as users read it: four decimals below 1 USD, two significant digits below 0.001 USD."""
    return f"{usd:.2f} USD" if usd >= 1 else f"{usd:.4f} USD" if usd >= 0.001 or not usd else f"{usd:.2g} USD"


def duration(seconds: float) -> str:
    """A time as users read it: in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
