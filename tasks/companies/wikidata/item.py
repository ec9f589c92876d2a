"""An item of Wikidata, of its EntityData as much as is said of companies: labels, and statements with their ranks.

A statement is deprecated, normal or preferred, and may have an end; what is deprecated is not taken in.
`Item.best` gives those that Wikidata itself holds for current: the preferred ones, or else the normal ones.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

from tasks.companies.profile import Date
from tasks.errors import SourceFailed
from tasks.text.normalise import one_line

START, END, MOMENT, PART = "P580", "P582", "P585", "P518"
_RETRIEVED: Final = "P813"
_TAKEN: Final = frozenset(
    "P17 P31 P112 P127 P154 P159 P169 P249 P281 P297 P355 P414 P452 P571 P576 P749 P856 P1128 P1278 P1329 P1448 "  # noqa: SIM905 - a list of words reads best as words
    "P1454 P2002 P2013 P2088 P4264 P5531".split()
)
"""The properties of which something is read; an item of a large company has several hundred."""
_ENGLISH: Final = ("en", "mul", "en-us", "en-gb", "en-ca")
_LANGUAGES: Final = {
    "Q1860": "en", "Q188": "de", "Q150": "fr", "Q1321": "es", "Q652": "it", "Q7411": "nl", "Q5146": "pt",
    "Q9027": "sv", "Q9035": "da", "Q9043": "nb", "Q1412": "fi", "Q809": "pl", "Q5287": "ja", "Q7850": "zh",
    "Q9176": "ko", "Q7737": "ru",
}  # fmt: skip
"""The languages that a website is most often said to be in (qualifier P407), by their codes."""
_MOST: Final = 1000
"""Statements of a property; the subsidiaries of the largest companies are some hundred."""
_LONGEST: Final = 2000
"""Characters of a text; Wikidata itself allows 1,500 of an address and 400 of a text."""


@dataclass(frozen=True)
class Statement:
    """What an item says of itself: a value (None: explicitly unknown, or none), as Wikidata's JSON has it."""

    value: Any
    preferred: bool
    qualifiers: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    retrieved: str | None = None
    """The day on which its reference was read, where one is given."""

    def qualifier(self, name: str) -> Any:
        """The first value of that qualifier, or None."""
        return next(iter(self.qualifiers.get(name, ())), None)

    @property
    def ended(self) -> bool:
        """Whether it is said to hold no longer, of whatever day that is."""
        return END in self.qualifiers

    @property
    def as_of(self) -> str | None:
        """The date that it gives to itself: its point in time, the day its reference was read, or its start."""
        given = (iso(self.qualifier(MOMENT)), self.retrieved, iso(self.qualifier(START)))
        today = datetime.now(UTC).date().isoformat()
        return next((each for each in given if each is not None and each <= today), None)

    @property
    def since(self) -> str:
        """For the order of statements in time: its point in time or start; an empty text where it gives none."""
        return iso(self.qualifier(MOMENT)) or iso(self.qualifier(START)) or ""


@dataclass(frozen=True)
class Item:
    """An item, and when it was fetched. `statements` are those that are not deprecated, in the order of Wikidata."""

    id: str
    labels: Mapping[str, str]
    descriptions: Mapping[str, str]
    statements: Mapping[str, Sequence[Statement]]
    wikipedia: str | None
    retrieved_at: datetime

    def all(self, name: str) -> Sequence[Statement]:
        """The statements of that property."""
        return self.statements.get(name, ())

    def best(self, name: str) -> Sequence[Statement]:
        """Those that hold now: without an end and with a value; of them the preferred ones, or else all."""
        current = [each for each in self.all(name) if each.value is not None and not each.ended]
        return [each for each in current if each.preferred] or current

    def texts(self, name: str) -> Sequence[str]:
        """The best values of a property of texts or identifiers."""
        return list(dict.fromkeys(filter(None, (text(each.value) for each in self.best(name)))))

    def items(self, name: str) -> Sequence[str]:
        """The best values of a property of items, by their ids."""
        return list(dict.fromkeys(filter(None, (id_of(each.value) for each in self.best(name)))))

    def label(self, language: str | None = None) -> str | None:
        """The label in English or for all languages, or else in the one given."""
        return self._text(self.labels, language)

    def description(self, language: str | None = None) -> str | None:
        """The description, as the label."""
        return self._text(self.descriptions, language)

    @staticmethod
    def _text(texts: Mapping[str, str], language: str | None) -> str | None:
        return next((texts[each] for each in (*_ENGLISH, language) if each in texts), None)  # type: ignore[index]


def read_item(data: Any, wanted: str, retrieved_at: datetime) -> Item:
    """The item in the JSON of Special:EntityData; of one that was merged, the item it was merged into.

    Raises:
        SourceFailed: there is none.
    """
    try:
        entities = data["entities"]
        entity = entities.get(wanted) or next(iter(entities.values()))
        return Item(
            id=_known_id(entity["id"]),
            labels=_by_language(entity.get("labels") or {}),
            descriptions=_by_language(entity.get("descriptions") or {}),
            statements={
                name: list(_statements(given)) for name, given in (entity.get("claims") or {}).items() if name in _TAKEN
            },
            wikipedia=_title((entity.get("sitelinks") or {}).get("enwiki")),
            retrieved_at=retrieved_at,
        )
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration, RecursionError):
        raise SourceFailed("Wikidata sent something else than the item that it should have.") from None


def text(value: Any) -> str | None:
    """A value that is a text, an identifier or a text with its language; in one line."""
    given = value.get("text") if isinstance(value, dict) else value
    return (one_line(given[:_LONGEST]) or None) if isinstance(given, str) else None


def language_of_text(value: Any) -> str:
    """The code of a text's language; an empty text where there is none."""
    return str(value.get("language") or "") if isinstance(value, dict) else ""


def id_of(value: Any) -> str | None:
    """The id of the item that a value is."""
    given = value.get("id") if isinstance(value, dict) else None
    return given if isinstance(given, str) and re.fullmatch(r"Q[1-9][0-9]{0,11}", given) else None


def number(value: Any) -> int | None:
    """The whole number that a quantity is."""
    amount = value.get("amount") if isinstance(value, dict) else None
    found = re.fullmatch(r"\+?([0-9]{1,12})(?:\.[0-9]+)?", amount) if isinstance(amount, str) else None
    return int(found[1]) if found else None


def day(value: Any) -> Date | None:
    """As much of a date as its precision covers; None where not even the year is certain, or is before our era."""
    if not isinstance(value, dict) or not isinstance(value.get("time"), str):
        return None
    parts = re.match(r"\+0*([0-9]{4})-([0-9]{2})-([0-9]{2})T", value["time"])
    precision = value.get("precision")
    if not parts or not isinstance(precision, int) or precision < 9:  # 8 is a decade, 9 a year, 10 a month, 11 a day
        return None
    year, month, of_month = (int(part) for part in parts.groups())
    try:
        date(year, month or 1, of_month or 1)
    except ValueError:
        return None
    known = month if precision >= 10 and month else None
    return Date(year=year, month=known, day=of_month if precision >= 11 and known and of_month else None)


def iso(value: Any) -> str | None:
    """`day` as `2024`, `2024-03` or `2024-03-31`."""
    known = day(value)
    if known is None:
        return None
    return "-".join(f"{part:0{width}}" for part, width in ((known.year, 4), (known.month, 2), (known.day, 2)) if part)


def language_of(statement: Statement) -> str | None:
    """The code of the language that a website is in."""
    return _LANGUAGES.get(id_of(statement.qualifier("P407")) or "")


def _statements(given: Any) -> Iterator[Statement]:
    for each in given[:_MOST]:
        if each.get("rank") == "deprecated":
            continue
        yield Statement(
            value=_value(each["mainsnak"]),
            preferred=each.get("rank") == "preferred",
            qualifiers={
                name: [_value(snak) for snak in snaks] for name, snaks in (each.get("qualifiers") or {}).items()
            },
            retrieved=_retrieved(each.get("references") or []),
        )


def _value(snak: Any) -> Any:
    return snak["datavalue"]["value"] if snak.get("snaktype", "value") == "value" else None


def _retrieved(references: Any) -> str | None:
    """The latest day on which a reference was read."""
    read = (
        iso(_value(snak)) for reference in references for snak in (reference.get("snaks") or {}).get(_RETRIEVED, [])
    )
    return max(filter(None, read), default=None)


def _by_language(given: Any) -> dict[str, str]:
    known = {*_ENGLISH, *_LANGUAGES.values()}  # of the 300 that a country's name is given in
    return {code: said for code, each in given.items() if code in known and (said := text(each["value"])) is not None}


def _title(link: Any) -> str | None:
    return text(link["title"]) if link else None


def _known_id(given: Any) -> str:
    if (known := id_of({"id": given})) is None:
        raise ValueError(given)
    return known
