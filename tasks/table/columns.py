"""Columns of tables of documents and questions: the sets that come with the program, and those in a user's file.

Their values are read as people and models write them, and written as people read them.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict

from tasks.documents.kinds.catalogue import is_kind, kinds
from tasks.errors import BadRequest
from tasks.language.numbers import amounts, numbers
from tasks.language.periods import dates
from tasks.table.spans import PERPETUAL, find_durations, flatten
from tasks.user_file import Line, UserFile, nearest

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
            return _duration(words)
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


def _duration(words: str) -> str | None:
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
