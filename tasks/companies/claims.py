"""From what a source sent to claims: cleaned, checked, and never a guess.

What a source sends is data: characters that nobody sees go, lengths are bounded, and a value that does not fit
its field is left out with a warning rather than made to fit.

From claims to one profile: the first source that speaks to a field has the word, and disagreement is shown.

Two claims disagree when they differ in what they say, not in how they write it: case, spacing,
punctuation, `https://www.`, the order of a list and what one of them leaves open do not count.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.companies.profile import CompanyProfile
from tasks.companies.sources import CLAIMABLE, Claim, Finding
from tasks.text.normalise import plain

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


_OWN_WORDS = {"description", "tagline", "profile_pic_url", "search_id", "updates", "similar_companies"}
"""Fields in which each source has words, pictures or a choice of its own: another one's contradicts nothing."""


class Conflict(BaseModel):
    """A field on which the sources disagree, with every claim on it in order of precedence."""

    model_config = ConfigDict(frozen=True)

    field: str
    claims: list[Claim]


def merge(claims: Sequence[Claim]) -> CompanyProfile:
    """The profile that the claims make, the preferred source's first; `last_updated` is the newest one's date."""
    values: dict[str, Any] = {"extra": {}}
    for claim in reversed(claims):
        group, _, name = claim.field.rpartition(".")
        (values[group] if group else values)[name] = claim.value
    if claims:
        values["last_updated"] = max(_date(claim) for claim in claims).isoformat()
    return CompanyProfile.model_validate(values)


def find_conflicts(claims: Sequence[Claim]) -> list[Conflict]:
    """The fields on which the claims disagree, in the profile's order."""
    by_field: dict[str, list[Claim]] = {}
    for claim in claims:
        by_field.setdefault(claim.field, []).append(claim)
    return [
        Conflict(field=field, claims=by_field[field])
        for field in CLAIMABLE
        if field in by_field and field not in _OWN_WORDS and _disagree(field, by_field[field])
    ]


def _disagree(field: str, claims: Sequence[Claim]) -> bool:
    return any(not _agree(one.value, other.value, _form(field)) for one, other in combinations(claims, 2))


def _agree(one: Any, other: Any, form: Callable[[str], str]) -> bool:
    if one is None or other is None:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_agree(one.get(key), other.get(key), _form(key)) for key in one.keys() | other.keys())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and (
            all(_agree(*pair, form) for pair in zip(one, other, strict=True)) or _same_members(one, other, form)
        )
    if isinstance(one, str) and isinstance(other, str):
        return form(one) == form(other)
    return bool(one == other)


def _same_members(one: Sequence[Any], other: Sequence[Any], form: Callable[[str], str]) -> bool:
    """Whether each element of one list has a partner of its own in the other."""
    if all(value is None or isinstance(value, int) for value in (*one, *other)):
        return False  # a range of head-counts: its order tells the ends apart
    left = list(other)
    for value in one:
        partner = next((each for each in left if _agree(value, each, form)), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _form(field: str) -> Callable[[str], str]:
    """How the text of a field is written for comparison."""
    if field.endswith(("url", "website", "link", "image")):
        return _address
    return _digits if field.endswith("phone_number") else _words


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())) or text.strip()


def _address(text: str) -> str:
    return re.sub(r"^(?:[a-z]+:)?//(?:www\.)?", "", text.strip(), flags=re.IGNORECASE).rstrip("/").casefold()


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text).lstrip("0") or text


def _date(claim: Claim) -> datetime:
    """The date that the claim gives itself (a year counts from its first day), else when it was retrieved."""
    given = claim.as_of or ""
    try:
        time = datetime.fromisoformat(given + {4: "-01-01", 7: "-01"}.get(len(given), ""))
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return claim.retrieved_at.astimezone(UTC)
