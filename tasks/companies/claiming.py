"""From what a source sent to claims: cleaned, checked, and never a guess.

What a source sends is data: characters that nobody sees go, lengths are bounded, and a value that does not fit
its field is left out with a warning rather than made to fit.
"""

from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from tasks.companies.sources import Claim, Finding
from tasks.companies.web.plain import plain

_LONGEST: Final = 20_000
"""Characters of one text: the longest descriptions have 2,000."""
_MOST: Final = 1_000
"""Elements of one list."""


class Claiming:
    """Collects one source's claims on a company. `url` is where they were found, `as_of` the date they are of."""

    def __init__(self, source: str, url: str | None = None, as_of: str | None = None) -> None:
        self._source = source
        self._url = url
        self._as_of = as_of
        self._retrieved_at = datetime.now(UTC).replace(microsecond=0)
        self._claims: dict[str, Claim] = {}
        self._unfit: list[str] = []

    def add(self, field: str, value: Any) -> None:
        """Claim `value` for `field`; what is unknown (None, blank, an object of nothing) is not claimed."""
        value = tidy(value)
        if not _says_something(value):
            return
        try:
            self._claims[field] = Claim(
                field=field,
                value=value,
                source=self._source,
                url=self._url,
                retrieved_at=self._retrieved_at,
                as_of=self._as_of,
            )
        except ValidationError:
            self._unfit.append(field)

    def finding(self, *warnings: str) -> Finding | None:
        """What was claimed, with the warnings; None where there is neither."""
        told = list(warnings)
        if self._unfit:
            told.append(left_out(self._source, self._unfit))
        return Finding(list(self._claims.values()), told) if self._claims or told else None


def left_out(source: str, fields: list[str]) -> str:
    """The sentence on fields whose values were of a wrong kind."""
    named = ", ".join(list(dict.fromkeys(fields))[:5]) + (" and more" if len(set(fields)) > 5 else "")
    return f"The source {source} gave a value of another kind than the profile has, which was left out: {named}."


def tidy(value: Any, levels: int = 8) -> Any:
    """The JSON value with its texts plain and trimmed, and nothing of unbounded size.

    A blank text is None, and left out of a list. What is nested more than `levels` deep is None; a profile has five.
    """
    if isinstance(value, str):
        return plain(value[:_LONGEST]).strip() or None
    if isinstance(value, list | dict) and levels == 0:
        return None
    if isinstance(value, list):
        tidied = ((each, tidy(each, levels - 1)) for each in value[:_MOST])
        return [to for given, to in tidied if to is not None or not isinstance(given, str)]
    if isinstance(value, dict):
        return {key: tidy(each, levels - 1) for key, each in value.items()}
    return value


def one_text(value: Any) -> str | None:
    """A text in one line with single spaces; None for everything else."""
    return " ".join(plain(value[:_LONGEST]).split()) or None if isinstance(value, str) else None


def a_day(value: Any) -> str | None:
    """An ISO date or time as it was given; None for everything else."""
    text = one_text(value)
    try:
        return text if text and datetime.fromisoformat(text) else None
    except ValueError:
        return None


def _says_something(value: Any) -> bool:
    """Whether there is anything in it. An empty list says that there is none; a flag alone says nothing."""
    if isinstance(value, dict):
        return any(_says_something(each) for each in value.values())
    if isinstance(value, list) and value:
        return any(_says_something(each) for each in value)
    return value is not None and not isinstance(value, bool)
