"""What the labels of tables say: the concept, the period, the units and the basis in a row's or a column's words."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.figures.abbreviations import SHORT_NAMES
from tasks.figures.concepts import Meaning, Taxonomy, plain_label, plain_words
from tasks.figures.figure import Basis, basis_of, without_basis
from tasks.language.numbers import Units, only_units, units_of, without_units
from tasks.language.periods import HINT, When, find_periods

WHOLE: Final = re.compile(
    r"^(?:the |total |consolidated |our )*(?:total|consolidated|group|company|combined|amounts?|value"
    r"|actuals?|balance|reported|as reported|currency|figures?|number|year|all|sum|summe|gesamt|konzern|ist|wert"
    r"|betrag|anzahl|total company|registrant|\d{4}"
    r"|shares|shares held|stock|persons|people|heads|units|aktien|actions|acciones|azioni|aandelen)?s?$",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(
    r"\b(?:(?:this|current|dieses|laufendes)[- ](?:year|jahr)"
    r"|for|the|years?|months?|weeks?|quarters?|periods?|fiscal|financial|then|ended|ending|as|of|at|on|in|to"
    r"|from|and|twelve|three|six|nine|full|fy|ye|zum|am|per|"
    r"restated|revised|previously|originally|recast|note|notes|december|consolidated|stated|jahr|geschäftsjahr"
    r"|exercice|ejercicio|clos|le|al|du|au|stand|thousands?|millions?|billions?|dollars|usd|eur|except|share|data"
    r"|amounts?|unaudited|audited|year[- ]end|ltm|ttm|ytd|to date|pf|(?:prior|previous|last)[- ]year|vorjahr"
    r"|vorjahreszeitraum|month|quarter|period|m|k|mm|mn|bn|tsd|mio|mrd)\b|[$€£%,.:;()\[\]–—/*'’&-]|\b\d{1,3}s?\b",
    re.IGNORECASE,
)
_CUT_WORD: Final = re.compile(r"(?<=[a-zäöüß]{8}) (?=[a-zäöüß]{1,3}$)")
"""A blank that a cell's width has put into a long word: "Finanzverbindlichkeite n"."""

_BILINGUAL: Final = re.compile(r"\s[/|]\s")
_DATE_TAIL: Final = re.compile(
    r"\b(?:at|as at|as of|on|for|in|of|per|zum|am|au|al|end of|year end(?:ed)?|year to|the year ended|year)\s*$",
    re.IGNORECASE,
)
_ASIDE_WORDS: Final = (
    r"(?:ftes?|period[- ]end|year[- ]end|end of (?:period|year|month)|at (?:period |year )?end|annual(?:i[sz]ed)?"
    r"|monthly|unaudited|#|no\.?|number|count|units?|arr|nrr|3[01]\.\d\d?\.|stichtag|(?:zum )?jahresende"
    r"|fin de période|cierre)"
)
_ASIDE: Final = re.compile(rf"\({_ASIDE_WORDS}(?:[,;] ?{_ASIDE_WORDS})*\)", re.IGNORECASE)
"""Brackets that do not change what a label means."""

_OF_PART: Final = re.compile(
    r"(?P<what>[^–—]{4,40}?) (?:[–—]|- ) ?(?P<part>[A-ZÄÖÜÉ][\w&.’'/]*(?: [A-ZÄÖÜÉ&][\w&.’'/]*){0,3})"
)
"""A row of a part of the company: "Net revenue – Dallas"."""

_IN_PERCENT: Final = re.compile(r"[,(]? ?(?:in )?%\)?(?= |$)")
"""Percent among a label's words: "Customer churn, % per year"."""

_AVERAGE: Final = re.compile(r"\baverage\b|\bmean\b|durchschnitt|\bmoyen|\bmedi[oa]\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Label:
    """What a row's or a column's words say: what they mean, of when, in which units, of which basis, of which part."""

    words: str
    meaning: Meaning | None
    when: When | None
    units: Units
    basis: Basis | None
    average: bool
    rest: str
    part: str | None = None


class LabelReader:
    """Reads labels by a taxonomy; the same label is read once."""

    def __init__(self, taxonomy: Taxonomy, short_names: Mapping[str, str]) -> None:
        self._taxonomy = taxonomy
        self._short = short_names
        self.read = lru_cache(maxsize=16384)(self._read)
        self.meaning = lru_cache(maxsize=65536)(self._meaning)

    def speaks(self, words: str) -> bool:
        """Whether a label has a meaning, if need be without its periods, units and basis."""
        return self.may_speak(words) and self.read(words).meaning is not None

    def may_speak(self, words: str) -> bool:
        """Whether a label holds a word of any concept."""
        return self._may_speak(plain_label(words))

    def _may_speak(self, plain: str) -> bool:
        if self._taxonomy.may_speak(plain):
            return True
        return bool(self._short) and not self._short.keys().isdisjoint(plain.split())

    def any_may_speak(self, labels: Iterable[str]) -> bool:
        """Whether one of these labels may have a meaning."""
        return self._may_speak(plain_words(" | ".join(map(_whole_words, labels))))

    def _meaning(self, words: str) -> Meaning | None:
        """The concept of a label as it is written, without a look at periods, units or basis."""
        plain = plain_label(words)
        cut = _CUT_WORD.sub("", words)
        if cut != words and self._taxonomy.meaning(plain_label(cut)) is not None:  # a cell's line ends within a word
            plain = plain_label(cut)
        if not self._may_speak(plain):
            return None
        found = self._taxonomy.meaning(self._short.get(plain, plain))
        if found is None and _BILINGUAL.search(words):
            found = next(
                filter(None, (self._taxonomy.meaning(plain_label(part)) for part in _BILINGUAL.split(words))), None
            )
        return found

    def _read(self, words: str) -> Label:
        meaning = self.meaning(words)
        rest, when, units = words, None, Units()
        if meaning is None or HINT.search(words):
            periods = [when for when in find_periods(words) if when.dated]
            if len(periods) == 1:
                when = periods[0]
                rest = words[: when.start] + " " + words[when.stop :]
                rest = (
                    _DATE_TAIL.sub("", words[: when.start].rstrip(" ,(:–-")) + " " + words[when.stop :].lstrip(" ,):–-")
                )
            elif not periods:
                rest = _without_day(words)
        units = units_of(rest)
        basis = basis_of(rest)
        if meaning is None:
            rest = without_units(_IN_PERCENT.sub(" ", rest))
            meaning = self.meaning(rest)
            if meaning is None and "(" in rest:
                rest = " ".join(_ASIDE.sub(" ", rest).split())
                meaning = self.meaning(rest)
            if meaning is None and "(" in rest:
                meaning = self.meaning(re.sub(r"\([^()]*\)", " ", rest))
                meaning = meaning if meaning and "money" in meaning.concept.units else None
            if meaning is None and basis is not None:
                rest = without_basis(rest)
                meaning = self.meaning(rest)
        part = None
        if meaning is None and (of_part := _OF_PART.fullmatch(rest)) is not None and basis_of(of_part["part"]) is None:
            meaning = None if WHOLE.match(of_part["part"]) else self.meaning(of_part["what"])
            part = of_part["part"] if meaning is not None else None
        average = _AVERAGE.search(words) is not None
        return Label(words, meaning, when, units, basis, average, rest.strip(" ,:–-"), part)


def _without_day(words: str) -> str:
    """A label without a day that a column gives the year to: "Headcount at 31 December"."""
    days = [when for when in find_periods(words) if when.month_day]
    if len(days) != 1:
        return words
    return _DATE_TAIL.sub("", words[: days[0].start].rstrip(" ,(:–-")) + " " + words[days[0].stop :].lstrip(" ,):–-")


def _whole_words(words: str) -> str:
    """A label, with a word that its cell has cut beside it as it was."""
    if not words[-1:].islower():
        return words
    cut = _CUT_WORD.sub("", words)
    return words if cut == words else f"{words} | {cut}"


def label_reader(taxonomy: Taxonomy, language: str = "") -> LabelReader:
    """The reader by a taxonomy, with a language's short names: documents of a room have many labels in common."""
    return _label_reader(taxonomy, language if language in SHORT_NAMES else "")


@lru_cache(maxsize=len(SHORT_NAMES) + 1)
def _label_reader(taxonomy: Taxonomy, language: str) -> LabelReader:
    return LabelReader(taxonomy, SHORT_NAMES.get(language, {}))


def without_dates(words: str) -> str:
    """What is left of a label without its periods and filling words."""
    return " ".join(_FILLER.sub(" ", _without_periods(words)).split())


def _without_periods(words: str) -> str:
    """Words with a blank for each period that they name."""
    periods = find_periods(words)
    starts = [0, *(when.stop for when in periods)]
    stops = [*(when.start for when in periods), len(words)]
    return " ".join(words[start:stop] for start, stop in zip(starts, stops, strict=True))


_OF_SHARES: Final = re.compile(r"\b(?:19|20)\d\d ?[-–—] ?\d{1,3}(?:,\d{3})+")
"""A line of a balance sheet that counts a year's shares: "2024 - 2,279,164,313"."""


def is_date(words: str) -> bool:
    """Whether a line of one cell begins new columns: it is a period and nothing else."""
    if _OF_SHARES.search(words):
        return False
    return len(words) < 60 and bool(find_periods(words)) and not without_dates(words)


def entity_named(text: str, label: Label) -> str | None:
    """The part of the company that a column's words name; None where they name the whole, or a concept."""
    rest = without_basis(without_units(_without_periods(text)))
    if label.meaning is not None or only_units(rest):
        return None
    plain = " ".join(_FILLER.sub(" ", rest).split())
    return (
        None if not plain or WHOLE.match(plain) or len(plain) > 60 else " ".join(rest.split()).strip(" ,:()-–$€£'\"’0")
    )
