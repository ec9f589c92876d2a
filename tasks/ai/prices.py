"""What models cost, by their names: the user's own file of prices first, then the prices that come with the program."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.ai.money import Price
from tasks.errors import BadRequest
from tasks.user_file import Mistakes, describe_error, nearest, read_user_text

SHIPPED = Path(__file__).with_name("prices.toml")
SETTING = "DILIGENCE_AI_PRICES"

_DATED = r"(?:-\d{4}-?\d{2}-?\d{2})?"  # the end of a dated version's name: -2024-07-18, -20250929
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


def price_of(model: str, own: Path | None = None) -> Price | None:
    """The price of a model by its name; None where none is known.

    Args:
        model: the name as the server knows it.
        own: the user's file; an entry there takes precedence over all that come with the program.

    Raises:
        BadRequest: what is wrong in the user's file, each mistake with file, line, field and what is allowed.
    """
    if own is not None and (price := _best(model, read_prices(own))) is not None:
        return price
    return _best(model, _shipped())


def read_prices(path: Path) -> dict[str, Price]:
    """The prices of a file, by the name or pattern of the models.

    Raises:
        BadRequest: as `price_of`.
    """
    text = read_user_text(path, "prices file")
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadRequest(f"{path.name}: this is no TOML: {error}. {_FORM}") from error
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
def _shipped() -> Mapping[str, Price]:
    return read_prices(SHIPPED)


def _best(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of the longest entry that fits; of two as long, of the one with fewer `*`."""
    fitting = [entry for entry in prices if _fits(entry, model)]
    return prices[max(fitting, key=lambda entry: (len(entry), -entry.count("*")))] if fitting else None


def _fits(entry: str, model: str) -> bool:
    first, *rest = map(re.escape, re.split(r"\*+", entry))
    # Atomic groups match the text between two stars at its first place only, so that no entry takes long.
    between = "".join(f"(?>.*?{part})" for part in rest[:-1])
    last = f".*{rest[-1]}" if rest else ""
    return re.fullmatch(f"{first}{between}{last}{_DATED}", model, re.IGNORECASE) is not None


def _line(text: str, name: str) -> int:
    """The line, from 1, in which a name is written; `tomllib` does not say."""
    match = re.search(rf"""^[\s\[]*(?:models\s*\.\s*)?["']?{re.escape(name)}["']?\s*[=.\]]""", text, re.MULTILINE)
    return text.count("\n", 0, match.end()) + 1 if match else 1
