"""What model calls use and cost: amounts as plain data, and prices by model name.

The user's own price file comes first, then the prices that come with the program.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.errors import BadRequest
from tasks.user_file import Mistakes, describe_error, nearest, read_user_text

_CAP = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*(usd|tokens?)", re.IGNORECASE)


@dataclass(frozen=True)
class Usage:
    """What was used: calls that were answered, and tokens. All zero if no model was called."""

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
    """What a model costs, in USD per million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """What `usage` costs in USD."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


@dataclass(frozen=True)
class Pace:
    """How fast a model was measured to read and write, in tokens a second, and how many calls it may answer at once."""

    reading: float
    writing: float
    at_once: int

    def seconds(self, usage: Usage) -> tuple[float, float]:
        """How long `usage` takes: if parallel calls do not slow each other, and if they share the model's speed."""
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
        """Parse a cap as users write it, such as `0.50 USD` or `20000 tokens`, in any case and spacing.

        Raises:
            ValueError: it is not such a cap; the message says what is allowed.
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
    """An amount for people: four decimals below 1 USD, two significant digits below 0.001 USD."""
    return f"{usd:.2f} USD" if usd >= 1 else f"{usd:.4f} USD" if usd >= 0.001 or not usd else f"{usd:.2g} USD"


def duration(seconds: float) -> str:
    """A time for people: in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


SHIPPED = Path(__file__).with_name("prices.toml")
SETTING = "DILIGENCE_AI_PRICES"

_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}\Z")  # the end of a dated version's name: -2024-07-18, -20250929
_Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_FORM = 'Write one line a model: [models], and below it "gpt-4o-mini" = { input = 0.15, output = 0.60 }'
_ALLOWED = {
    "model_type": "the two prices: { input = 0.15, output = 0.60 }",
    "greater_than_equal": "0 or above, in USD for a million tokens",
}


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    input: _Amount
    output: _Amount


def find_price(model: str, own: Path | None = None) -> Price | None:
    """The price of a model by its name; None where none is known.

    Args:
        model: the name as the server knows it.
        own: the user's file; an entry there takes precedence over all that come with the program.

    Raises:
        BadRequest: what is wrong in the user's file, each mistake with file, line, field and what is allowed.
    """
    if own is not None and (price := _best(model, read_prices(own))) is not None:
        return price
    return _best(model, _load_shipped())


def read_prices(path: Path) -> dict[str, Price]:
    """The prices in a file, by model name or pattern.

    Raises:
        BadRequest: as `find_price`.
    """
    text = read_user_text(path, "prices file")
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadRequest(f"{path.name}: this is not valid TOML: {error}. {_FORM}") from error
    mistakes = Mistakes(path.name)
    prices: dict[str, Price] = {}
    for name in content.keys() - {"models"}:
        mistakes.note(_line(text, name), name, f"there is no such table{nearest(name, ['models'])}")
    models = content.get("models", {})
    if not isinstance(models, dict):
        mistakes.note(_line(text, "models"), "models", f"must be a table. {_FORM}")
        models = {}
    for name, value in models.items():
        try:
            entry = _Price.model_validate(value)
        except ValidationError as error:
            for problem in error.errors(include_url=False):
                place = ".".join(["models", name, *map(str, problem["loc"])])
                what = describe_error(problem)
                if problem["type"] == "extra_forbidden":
                    what += nearest(str(problem["loc"][-1]), _Price.model_fields)
                elif problem["type"] in _ALLOWED:
                    what = f"must be {_ALLOWED[problem['type']]}"
                mistakes.note(_line(text, name), place, what)
        else:
            prices[name] = Price(entry.input, entry.output)
    mistakes.check()
    return prices


@lru_cache(maxsize=1)
def _load_shipped() -> Mapping[str, Price]:
    return read_prices(SHIPPED)


def _best(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of the longest matching entry; if two are equally long, of the one with fewer `*`."""
    fitting = [entry for entry in prices if _fits(entry, model)]
    return prices[max(fitting, key=lambda entry: (len(entry), -entry.count("*")))] if fitting else None


def _fits(entry: str, model: str) -> bool:
    pattern = entry.casefold().replace("[", "[[]").replace("?", "[?]")  # `*` alone is a wildcard
    return any(fnmatchcase(name.casefold(), pattern) for name in (model, _DATED.sub("", model)))


def _line(text: str, name: str) -> int:
    """The line, counted from 1, in which a name is written; `tomllib` does not report it."""
    match = re.search(rf"""^[\s\[]*(?:models\s*\.\s*)?["']?{re.escape(name)}["']?\s*[=.\]]""", text, re.MULTILINE)
    return text.count("\n", 0, match.end()) + 1 if match else 1
