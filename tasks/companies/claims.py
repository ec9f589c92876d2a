"""Claims: what one source says about one field of a company's profile.

A `ClaimCollector` turns the values that a source sent into claims. These values come from outside: invisible characters
are removed, lengths are limited, and a value that does not fit its field is left out with a warning. `merge` combines
the claims of several sources into one profile: the first source has precedence, except that the newest claim counts for
values that change with time; headquarters are combined part by part. `find_conflicts` lists the fields on which sources
disagree. Two claims disagree when their meaning differs: case, spacing, punctuation, `https://www.`, the order of a
list and parts that one of them leaves open do not count.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import combinations
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from tasks.companies.profile import CompanyProfile, Extra
from tasks.language.normalise import plain

CLAIMABLE: Final = (
    *(name for name in CompanyProfile.model_fields if name not in {"extra", "last_updated"}),
    *(f"extra.{name}" for name in Extra.model_fields),
)
"""The fields that a claim can be about: the profile's and those in `extra`, each as one value."""
_MAX_CHARACTERS: Final = 20_000
"""Of one text; the longest descriptions have 2,000."""
_MAX_ELEMENTS: Final = 1_000
"""Of one list."""
_MAX_NAMED_FIELDS: Final = 5
"""In one warning."""
_NEVER_IN_CONFLICT: Final = frozenset(
    {"description", "tagline", "profile_pic_url", "search_id", "updates", "similar_companies", "extra.annual_revenue"}
)
"""Fields for which each source has its own words, pictures or choice: two values do not contradict each other.

Revenue is of other years from each source; each year is checked against the room's own."""
_CHANGES_WITH_TIME: Final = frozenset(
    {"company_size", "company_size_on_social", "follower_count", "extra.ipo_status", "extra.operating_status"}
    | {"extra.employee_count", "extra.annual_revenue"}
    | {
        f"extra.{name}"
        for name in Extra.model_fields
        if name.startswith(("number_of_", "total_fund", "funding_db_rank"))
    }
)
"""Fields of which the newest value counts, by the dates that the sources give."""


class Claim(BaseModel):
    """What one source says about one field.

    `field` is one of `CLAIMABLE`, `value` as in the profile (JSON, every key present, never null: a source that does
    not know makes no claim). `as_of` is the date that the source gives for it, in ISO form, perhaps only a year.
    """

    model_config = ConfigDict(frozen=True, from_attributes=True)

    field: str
    value: Any
    source: str
    url: str | None = None
    retrieved_at: datetime
    as_of: str | None = None

    @model_validator(mode="after")
    def _fits_the_profile(self) -> Self:
        if self.field not in CLAIMABLE:
            raise ValueError(f"the profile has no field {self.field} to claim")
        if self.value is None:
            raise ValueError("a claim has a value")
        adapter = _type_adapter(self.field)
        object.__setattr__(self, "value", adapter.dump_python(adapter.validate_python(self.value, strict=True)))
        return self


@cache
def _type_adapter(field: str) -> TypeAdapter[Any]:
    group, _, name = field.rpartition(".")
    annotation: Any = (Extra if group else CompanyProfile).model_fields[name].annotation
    return TypeAdapter(annotation)


@dataclass(frozen=True)
class SourceClaims:
    """What one source knows about a company. `warnings` are sentences for the reader of the facts."""

    claims: Sequence[Claim]
    warnings: Sequence[str] = ()


class ClaimCollector:
    """Collects the claims of one source about a company. `url` is where they were read, `as_of` the
    date they refer to, `retrieved_at` when they were read: now, unless it is given.
    """

    def __init__(
        self, source: str, url: str | None = None, as_of: str | None = None, retrieved_at: datetime | None = None
    ) -> None:
        self._source = source
        self._url = url
        self._as_of = as_of
        self._retrieved_at = retrieved_at or datetime.now(UTC).replace(microsecond=0)
        self._claims: dict[str, Claim] = {}
        self._unfit: list[str] = []

    def add(self, field: str, value: Any, *, url: str | None = None, as_of: str | None = None) -> None:
        """Claim `value` for `field`, unless it is unknown (None, blank, or an object of nothing else).

        `url` and `as_of` stand in place of the collector's own.
        """
        value = tidy(value)
        if not _has_content(value):
            return
        try:
            self._claims[field] = Claim(
                field=field,
                value=value,
                source=self._source,
                url=url or self._url,
                retrieved_at=self._retrieved_at,
                as_of=as_of or self._as_of,
            )
        except ValidationError:
            self._unfit.append(field)

    def result(self, *warnings: str) -> SourceClaims | None:
        """The claims with the warnings; None if there are neither."""
        all_warnings = list(warnings)
        if self._unfit:
            all_warnings.append(warn_left_out(self._source, self._unfit))
        return SourceClaims(list(self._claims.values()), all_warnings) if self._claims or all_warnings else None


def warn_left_out(source: str, fields: list[str]) -> str:
    """The warning about fields whose values had the wrong type."""
    names = list(dict.fromkeys(fields))
    more = " and more" if len(names) > _MAX_NAMED_FIELDS else ""
    listed = ", ".join(names[:_MAX_NAMED_FIELDS]) + more
    return f"The source {source} gave a value of another kind than the profile has, which was left out: {listed}."


def tidy(value: Any, levels: int = 8) -> Any:
    """The JSON value with plain, trimmed texts of limited length.

    A blank text becomes None, and is dropped from a list. Anything nested more than `levels` deep becomes None; a
    profile has five levels.
    """
    if isinstance(value, str):
        return plain(value[:_MAX_CHARACTERS]).strip() or None
    if isinstance(value, list | dict) and levels == 0:
        return None
    if isinstance(value, list):
        pairs = ((element, tidy(element, levels - 1)) for element in value[:_MAX_ELEMENTS])
        return [tidied for element, tidied in pairs if tidied is not None or not isinstance(element, str)]
    if isinstance(value, dict):
        return {key: tidy(element, levels - 1) for key, element in value.items()}
    return value


def one_text(value: Any) -> str | None:
    """A text on one line with single spaces; None for anything that is not a text."""
    return " ".join(plain(value[:_MAX_CHARACTERS]).split()) or None if isinstance(value, str) else None


def dig(value: Any, *keys: str) -> Any:
    """What JSON objects inside each other have at these keys; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def a_day(value: Any) -> str | None:
    """An ISO date or time as the source wrote it; None for anything else."""
    text = one_text(value)
    try:
        return text if text and datetime.fromisoformat(text) else None
    except ValueError:
        return None


def _has_content(value: Any) -> bool:
    """Whether the value says anything. An empty list does (there are none); a flag alone does not."""
    if isinstance(value, dict):
        return any(_has_content(element) for element in value.values())
    if isinstance(value, list) and value:
        return any(_has_content(element) for element in value)
    return value is not None and not isinstance(value, bool)


class ClaimConflict(BaseModel):
    """A field on which the sources disagree, with every claim on it in order of precedence."""

    model_config = ConfigDict(frozen=True)

    field: str
    claims: list[Claim]


def merge(claims: Sequence[Claim]) -> CompanyProfile:
    """The profile that results from the claims. `last_updated` is the newest claim's date.

    For each field the first claim counts; for head-counts, money and status the one with the newest `as_of`, unless the
    first claim has none. Parts missing from the first headquarters are filled from claims that do not contradict them.
    """
    values: dict[str, Any] = {"extra": {}}
    for field, about in _by_field(claims).items():
        group, _, name = field.rpartition(".")
        (values[group] if group else values)[name] = _value(field, about)
    if claims:
        values["last_updated"] = max(_date(claim) for claim in claims).isoformat()
    return CompanyProfile.model_validate(values)


def _value(field: str, claims: Sequence[Claim]) -> Any:
    first = claims[0]
    if field in _CHANGES_WITH_TIME and _has_date(first):
        return max(filter(_has_date, claims), key=_date).value  # the first one of a date
    if field != "hq":
        return first.value
    place = dict(first.value)
    for claim in claims[1:]:
        if _agree(place, claim.value, _words):
            place |= {part: value for part, value in claim.value.items() if place.get(part) is None}
    return place


def _has_date(claim: Claim) -> bool:
    """Whether the source gives a valid date that is not in the future."""
    return claim.as_of is not None and _own_date(claim.as_of) is not None and _date(claim) <= datetime.now(UTC)


def _by_field(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    by_field: dict[str, list[Claim]] = {}
    for claim in claims:
        by_field.setdefault(claim.field, []).append(claim)
    return by_field


def find_conflicts(claims: Sequence[Claim]) -> list[ClaimConflict]:
    """The fields on which the claims disagree, in the profile's order."""
    by_field = _by_field(claims)
    # A founding year and a founding date of another year contradict each other too: the date counts as its year.
    years = [year for claim in claims if (year := find_founding_year(claim)) is not None]
    by_field["founded_year"] = list({(year.source, year.value): year for year in reversed(years)}.values())[::-1]
    return [
        ClaimConflict(field=field, claims=by_field[field])
        for field in CLAIMABLE
        if field not in _NEVER_IN_CONFLICT
        and any(not _agree(a.value, b.value, _form(field)) for a, b in combinations(by_field.get(field, ()), 2))
    ]


def find_founding_year(claim: Claim) -> Claim | None:
    """The claim as one about the founding year; None if it is about something else."""
    if claim.field == "extra.founding_date" and isinstance(year := claim.value.get("year"), int):
        return claim.model_copy(update={"field": "founded_year", "value": year})
    return claim if claim.field == "founded_year" else None


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
    """Whether each element of one list can be paired with an element of the other."""
    if all(value is None or isinstance(value, int) for value in (*one, *other)):
        return False  # a range of head-counts: its order tells the ends apart
    left = list(other)
    for value in one:
        partner = next((element for element in left if _agree(value, element, form)), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _form(field: str) -> Callable[[str], str]:
    """The function that brings the texts of a field into a form for comparison."""
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
    """The claim's own date (a year counts from its first day), otherwise the time when it was retrieved."""
    return _own_date(claim.as_of or "") or claim.retrieved_at.astimezone(UTC)


def _own_date(as_of: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(as_of + {4: "-01-01", 7: "-01"}.get(len(as_of), ""))
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
