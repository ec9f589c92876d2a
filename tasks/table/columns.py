"""Columns of tables of documents and questions, and the values that stand in them: dates, durations, amounts.

The sets of columns come with the program, or stand in a user's file. Values are read as people and models write them,
and written as people read them.

`Contract` is a contract as the finders of its clauses see it: its dates and durations, and the clauses around them.
Offsets are those of the text: `flatten` replaces each line break with a space, so that words can be found across it.
Finders look for the patterns of `clauses.toml`.
"""

import re
import tomllib
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict

from storage.scores import Absence
from tasks.documents.kinds.catalogue import is_kind, kinds
from tasks.errors import BadRequest
from tasks.figures.figure import guess_language
from tasks.language.numbers import amounts, numbers, uses_decimal_comma
from tasks.language.periods import dates
from tasks.user_file import Line, UserFile, nearest

_BREAK: Final = re.compile(r"[^\S ]")
_DATA: Final = tomllib.loads(Path(__file__).with_name("durations.toml").read_text(encoding="utf-8"))
_NUMBERS: Final = {word: int(number) for number, words in _DATA["numbers"].items() for word in words}
_UNITS: Final = {word: unit for unit, words in _DATA["units"].items() for word in words}
ORDINALS: Final[dict[str, int]] = _DATA["ordinals"]
_ORDINAL: Final = "|".join(sorted(ORDINALS, key=len, reverse=True)).replace("-", "[ -]")
_ORDINAL_DAY: Final = re.compile(  # a raised "th" may come apart: "20t h day of December 2018"
    rf"(?<![\w-])(?P<day>\d{{1,2}}|{_ORDINAL}) *(?:st|nd|rd|th|s t|n d|r d|t h)? +day +of +"
    r"(?P<month>[A-Z]{3,9})[ .,]*(?:in the year )?(?P<year>\d{4})",
    re.IGNORECASE,
)
_NUMBER: Final = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
DURATION: Final = (
    rf"(?<![\w.,])(?:(?P<words>{_NUMBER})[ -]*(?:\(? *(?P<beside>\d{{1,3}}) *\)?)?|(?P<digits>\d{{1,3}})(?: *\([a-z -]+\))?)"
    rf"[ -]*(?:full |consecutive |additional |successive |more |weitere[rn]? )?"
    rf"(?P<unit>(?:business |calendar |working )?(?:day|week|month|year)s?['’]?|Tage?n?|Wochen?|Monat[es]?n?|Jahre?[ns]?"
    rf"|jours?|mois|ans?|années?)(?!\w)"
)


_CENTURY: Final = 2070


class Span(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int


class Dated(NamedTuple):
    """A day and its place in the text."""

    day: date
    start: int
    end: int


class Duration(NamedTuple):
    """A duration in ISO 8601 and its place in the text."""

    value: str
    start: int
    end: int


def flatten(text: str) -> str:
    """The text with a space in place of each line break and tab; its length stays the same."""
    return _BREAK.sub(" ", text)


def find_dates(flat: str, start: int, end: int) -> list[Dated]:
    """The days between two offsets of a flat text, in order."""
    stretch = flat[max(0, start) : end]
    found: list[Dated] = []
    for match in _ORDINAL_DAY.finditer(stretch):
        day = ORDINALS.get(match["day"].casefold().replace(" ", "-")) or int(match["day"])
        named = dates(f"{match['month'].title()} {day}, {match['year']}")
        if named and named[0].end:
            found.append(Dated(named[0].end, match.start(), match.end()))
    # several blanks are one to the reader of dates: they are put off to the end of the word before them
    for when in dates(_narrow(stretch)):
        if (
            when.end
            and when.months is None
            and not any(other.start < when.stop and when.start < other.end for other in found)
        ):
            year = when.end.year  # of two digits, in the right century: 05/05/98 is in 1998
            is_past = year >= _CENTURY and str(year) not in stretch[when.start : when.stop]
            found.append(Dated(when.end.replace(year=year - 100 * is_past), when.start, when.stop))
    return sorted(
        (Dated(one.day, one.start + max(0, start), one.end + max(0, start)) for one in found), key=lambda one: one.start
    )


_CLOCK: Final = re.compile(r"[\s,]*(?:at |um |à |@)?\s*\d ?\d? ?: ?\d(?!\d? ?Uhr)")
_STAMP: Final = re.compile(r"\b(?:fax|clerk|recorded|filed|received|docusign)|\d ?[ap]\.?m\b", re.IGNORECASE)
"""Words around the day and the time of a register, a fax or an electronic signature. Deeds state a time as well."""


def is_stamped(flat: str, dated: Dated) -> bool:
    """Whether a day with a time behind it is in figures, or has words of a stamp around it."""
    if not _CLOCK.match(flat, dated.end):
        return False
    is_in_figures = not re.search(r"[^\W\d_]", flat[dated.start : dated.end])
    return is_in_figures or _STAMP.search(flat, max(0, dated.start - 40), dated.end + 30) is not None


def fills_line(text: str, dated: Dated) -> bool:
    """Whether a day stands alone on its line, as over a letter."""
    around = text[: dated.start].rpartition("\n")[2] + text[dated.end :].partition("\n")[0]
    return not around.strip()


def _narrow(stretch: str) -> str:
    """A stretch of the same length in which no two blanks split a date."""
    return re.sub(
        r"(\w,?)( +) (?=\w)", lambda match: f"{match[1]} {match[2][1:]}"[: len(match[0])].ljust(len(match[0])), stretch
    )


def find_durations(flat: str, start: int, end: int) -> Iterator[Duration]:
    """The durations between two offsets of a flat text, in order."""
    for match in _duration().finditer(flat, max(0, start), end):
        number = match["beside"] or match["digits"]
        count = int(number) if number else _NUMBERS[" ".join(match["words"].casefold().split())]
        named = match["unit"].casefold().rstrip("'’").split()[-1]
        unit = _UNITS.get(named) or _UNITS[named.rstrip("s")]
        if count:
            yield Duration(f"P{count}{unit}", match.start(), match.end())


@cache
def _duration() -> re.Pattern[str]:
    return re.compile(DURATION, re.IGNORECASE)


def add_duration(day: date, duration: str) -> date:
    """The day that much later: a year after 1 March 2024 is 1 March 2025."""
    count, unit = int(duration[1:-1]), duration[-1]
    if unit in "DW":
        return day + timedelta(days=count * (7 if unit == "W" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "Y" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def subtract_duration(day: date, duration: str) -> date:
    """The day that much earlier."""
    return add_duration(day, f"P-{duration[1:]}")


_SENTENCE_END: Final = re.compile(
    r"(?<![A-Z]\.[A-Z])(?<!\b(?:No|Co|Mr|Ms|Dr))(?<!\b(?:Inc|Ltd|Art|Sec|Abs))[.;]['\"”)]* +(?=[\"“(A-ZÄÖÜ\d])"
)


def clause_around(text: str, flat: str, start: int, end: int, most: int = 700) -> Span:
    """The sentence around a stretch, at most `most` characters on each side."""
    low, high = max(0, start - most), min(len(text), end + most)
    first = max((match.end() for match in _SENTENCE_END.finditer(flat, low, start)), default=low)
    blank = text.rfind("\n\n", first, start)
    first = blank + 2 if blank >= 0 else first
    stop = _SENTENCE_END.search(flat, max(start, end - 1), high)
    last = stop.start() + 1 if stop else high
    blank = text.find("\n\n", end, last)
    last = blank if blank >= 0 else last
    while first < start and flat[first] == " ":
        first += 1
    while last > end and flat[last - 1] == " ":
        last -= 1
    return Span(first, last)


OPENING: Final = 6000
"""Characters in which a contract names its parties."""
PERPETUAL: Final = "perpetual"
"""The value of an expiry where a contract has no end."""


@cache
def clause_words() -> Mapping[str, Any]:
    """The words of `clauses.toml` by entry."""
    return tomllib.loads(Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8"))


def written(name: str) -> str:
    """A pattern from `clauses.toml` that matches any of the entry's lines."""
    return "|".join(clause_words()[name])


@cache
def _searched(name: str) -> re.Pattern[str]:
    return re.compile(written(name), re.IGNORECASE)


def says(name: str, words: str) -> bool:
    """Whether words match any of the lines of an entry of `clauses.toml`."""
    return _searched(name).search(words) is not None


@cache
def pattern(expression: str) -> re.Pattern[str]:
    """A compiled pattern in which a space stands for any amount of white space."""
    return re.compile(expression.replace(" ", r"\s+"), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value with the stretches of text that say so; without a value, `absence` says why there is none."""

    value: Any
    spans: tuple[Span, ...]
    sure: float = 0.8
    absence: Absence | None = None


_EMPHASIS: Final = re.compile(r"(?<![*\[])\*\*(?![*\s\]])([^*\n]{1,1000})(?<!\s)\*\*(?!\*)")


@dataclass
class Contract:
    """A text for finders to look at; `finders` are all of them by name, because some ask others."""

    text: str
    finders: Mapping[str, "Finder"]
    known: dict[str, FoundValue | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Blank the stars of Markdown around words; all places stay the same."""
        self.text = _EMPHASIS.sub(r"  \1  ", self.text)

    @cached_property
    def flat(self) -> str:
        """The text with spaces in place of line breaks."""
        return flatten(self.text)

    @cached_property
    def comma_decimal(self) -> bool:
        """Whether it writes decimals with a comma."""
        return uses_decimal_comma(self.text, guess_language(self.text))

    def clause(self, start: int, end: int) -> Span:
        """The sentence around a stretch."""
        return clause_around(self.text, self.flat, start, end)

    def words(self, span: Span) -> str:
        """The words of a stretch, single-spaced."""
        return " ".join(self.flat[span.start : span.end].split())

    def find(self, name: str) -> FoundValue | None:
        """What a finder finds, cached."""
        if name not in self.known:
            self.known[name] = self.finders[name](self)
        return self.known[name]


Finder = Callable[[Contract], FoundValue | None]
"""Finds one thing that a contract states; None if it does not."""


def find_all(contract: Contract, expression: str, end: int | None = None) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a contract, up to `end`."""
    return pattern(expression).finditer(contract.flat, 0, len(contract.flat) if end is None else end)


def heads_line(text: str, match: re.Match[str]) -> bool:
    """Whether words are a label at the beginning of a line of the contract's head: `Effective Date: 1 March 2024`."""
    before = text[: match.start()].rpartition("\n")[2]
    return match.end() < OPENING and match[0].endswith(":") and not before.strip(" \t*-•|")


def is_of_another(text: str, match: re.Match[str]) -> bool:
    """Whether the lines above a label, or what follows it, name a contract that is not the one of the title."""
    title, _, above = text[: match.start()].lstrip().partition("\n")
    around = f"{above[-300:]} {text[match.end() :][:60]}"
    is_master = says("master", around) and not says("master", title)
    return match[0].endswith(":") and (is_master or says("of_another", f"{title} {around}"))


ColumnType = Literal["text", "names", "date", "duration", "money", "percent", "choice", "yes_no"]
_SIGNED: Final = "*signed"
_FEW: Final = 3
"""Cells from which on a document of no known kind is taken for an agreement."""
_TELLING: Final = 2
"""Of these, the cells in columns that not each contract has, where only agreements of certain kinds are wanted."""


class Column(BaseModel):
    """A column. `find` names what fills it without a model; for columns that nothing fills, a model is asked."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Line
    title: Line = ""
    type: ColumnType = "text"
    ask: Line | None = None
    find: Line | None = None
    choices: list[Line] | None = None


class ColumnSet(BaseModel):
    """Columns, and the kinds of documents that are rows; None for all documents with words."""

    model_config = ConfigDict(frozen=True)

    columns: list[Column]
    kinds: list[str] | None = None

    def takes(self, kind: str | None) -> bool | None:
        """Whether a document of this kind is a row; None if its kind does not tell."""
        if self.kinds is None:
            return True
        if kind is None:
            return None
        return any(kinds()[kind].signed if wanted == _SIGNED else is_kind(kind, wanted) for wanted in self.kinds)

    def takes_unknown(self, cells: Mapping[str, Any]) -> bool:
        """Whether a document of no known kind, whose text has these cells, is a row: it states much of what is looked
        for, and of that what each contract has (its parties, its law) only in part, unless little else is looked for.
        """
        of_each = () if _SIGNED in (self.kinds or ()) else _data()["sets"]["contracts"]
        telling = {column.id for column in self.columns if column.find and column.find not in of_each}
        stated = {column for column, cell in cells.items() if cell["value"] is not None}
        return len(stated) >= _FEW and (len(telling) < _TELLING or len(stated & telling) >= _TELLING)


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


@cache
def known_column(name: str) -> Column | None:
    """The column of that id that comes with the program."""
    entry = _data()["columns"].get(name)
    return Column(id=name, find=name, **entry) if entry else None


def set_names() -> list[str]:
    """The sets that come with the program."""
    return list(_data()["sets"])


def named_set(name: str) -> ColumnSet:
    """A set that comes with the program."""
    titles = _data()["titles"].get(name, {})
    known = [column for column in map(known_column, _data()["sets"][name]) if column is not None]
    columns = [column.model_copy(update={"title": titles.get(column.id, column.title)}) for column in known]
    return ColumnSet(columns=columns, kinds=_data()[name]["kinds"])


def read_columns(named: str, beside: Path | None = None) -> ColumnSet:
    """The set of that name, otherwise the columns in that file, whose path is relative to the folder `beside`.

    Raises:
        BadRequest: there is neither, or the file has mistakes, each named with line, field and what is allowed.
    """
    if named in set_names():
        return named_set(named)
    path = (beside or Path()) / named
    if not path.is_file():
        raise BadRequest(f"There is no file {named}, and no set of columns of that name: {', '.join(set_names())}.")
    return _read_file(path)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    columns: list[Any]
    kinds: list[Line] | None = None


def _read_file(path: Path) -> ColumnSet:
    file = UserFile(path, "column file")
    written = file.fit(_File, file.content)
    columns: dict[str, Column] = {}
    for index, entry in enumerate(written.columns if written else ()):
        at = ("columns", index)
        known = known_column(entry) if isinstance(entry, str) else None
        column = known if isinstance(entry, str) else file.fit(Column, entry, at)
        if isinstance(entry, str) and known is None:
            file.mistake(at, f"there is no column {entry!r} in the program{nearest(entry, _data()['columns'])}")
        if column is None:
            continue
        if column.id in columns:
            file.mistake((*at, "id"), f"{column.id!r} stands twice")
        columns[column.id] = _checked(file, at, column) if known is None else column
    if written is not None and not written.columns:
        file.mistake(("columns",), "it is empty: list at least one, such as governing_law or {id: scope, ask: …}")
    for index, kind in enumerate((written.kinds if written else None) or ()):
        if kind not in kinds():
            file.mistake(("kinds", index), f"there is no kind of document {kind!r}{nearest(kind, kinds())}")
    file.mistakes.check()
    return ColumnSet(columns=list(columns.values()), kinds=written.kinds if written else None)


def _checked(file: UserFile, at: tuple[str | int, ...], column: Column) -> Column:
    """A column from a user's file, completed with what the program knows about it; mistakes are recorded."""
    find = column.find or (column.id if known_column(column.id) and column.ask is None else None)
    known = known_column(find) if find else None
    if find and known is None:
        file.mistake((*at, "find"), f"nothing finds {find!r}{nearest(find, _data()['columns'])}")
    elif known is None and column.ask is None:
        file.mistake(at, "needs ask, the question, or find, the name of what fills it")
    if column.type == "choice" and not column.choices and (known is None or known.type != "choice"):
        file.mistake((*at, "choices"), "it is missing: list what may be chosen")
    if column.type not in get_args(ColumnType):
        return column
    changes: dict[str, Any] = {"find": find, "title": column.title or column.id.replace("_", " ").capitalize()}
    if known is not None:
        changes |= {"type": known.type, "choices": known.choices, "ask": column.ask or known.ask}
    return column.model_copy(update=changes)


_LONGEST: Final = 1000
_ISO_DURATION: Final = re.compile(r"P[1-9]\d{0,4}[DWMY]")
_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}
ALLOWED: Final[dict[ColumnType, str]] = {
    "text": "words",
    "names": "names, with a semicolon between them",
    "date": "a day such as 2027-12-31, or perpetual",
    "duration": "a duration such as 3 months or P3M",
    "money": "an amount with its currency, such as EUR 12,000",
    "percent": "a percentage such as 2.5 %",
    "choice": "one of the choices",
    "yes_no": "yes or no",
}


def parse_value(type_: ColumnType, written: str, choices: Sequence[str] | None = None) -> Any:
    """The value of these words in the form for a cell of this type; None if they are no such value.

    A day without its year, an amount without its currency, and two different values are rejected.
    """
    words = " ".join(written.split())
    if not words or len(words) > _LONGEST:
        return None
    match type_:
        case "text":
            return words
        case "names":
            return [name for part in words.split(";") if (name := part.strip())] or None
        case "choice":
            return next((choice for choice in choices or () if choice.casefold() == words.casefold()), None)
        case "yes_no":
            return _YES_NO.get(words.casefold())
        case "date":
            return _day(words)
        case "duration":
            return _parse_duration(words)
        case "money" | "percent":
            return _amount(type_, words)


def _day(words: str) -> str | None:
    if words.casefold() == PERPETUAL:
        return PERPETUAL
    try:
        return date.fromisoformat(words).isoformat()
    except ValueError:
        days = {when.end for when in dates(words) if when.end and when.months is None}
        return days.pop().isoformat() if len(days) == 1 else None


def _parse_duration(words: str) -> str | None:
    if _ISO_DURATION.fullmatch(words):
        return words
    durations = {duration.value for duration in find_durations(flatten(words), 0, len(words))}
    return durations.pop() if len(durations) == 1 else None


def _amount(type_: ColumnType, words: str) -> Any:
    if type_ == "percent":
        shares = [one for one in numbers(words) if one.unit == "percent" or words.replace(".", "").isdigit()]
        return f"{shares[0].value.normalize():f}" if len(shares) == 1 else None
    sums = [one for one in amounts(words) if one.unit and len(one.unit) == 3]
    return {"value": f"{sums[0].value.normalize():f}", "unit": sums[0].unit} if len(sums) == 1 else None


def value_in_words(value: Any) -> str:
    """A cell's value for people; `parse_value` parses it again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        return f"{value['unit']} {Decimal(value['value']):,f}"
    match = re.fullmatch(r"P(\d+)([DWMY])", str(value))
    if match:
        unit = {"D": "day", "W": "week", "M": "month", "Y": "year"}[match[2]]
        return f"{match[1]} {unit}{'' if match[1] == '1' else 's'}"
    return str(value)
