"""Request lists as buyers send them: workbooks, CSV and YAML files of any shape, read into numbered items.

A row with a number and a text is an item, unless it is a heading: numbers of other rows go on from its own, they begin
anew below it, or it alone is bold or lacks what the items have beside their text.
"""

import base64
import csv
import datetime as dt
import io
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, Final

import openpyxl
from openpyxl.cell import Cell, MergedCell
from pydantic import BaseModel, BeforeValidator, ConfigDict

from tasks.documents.kinds.catalogue import Phrases, plain_words
from tasks.errors import BadRequest
from tasks.user_file import Line, Mistakes, UserFile, read_user_text

FORMATS: Final = (".xlsx", ".xlsm", ".csv", ".yaml", ".yml")
_LARGEST: Final = 1024 * 1024  # bytes of a workbook: it is kept with the run
_MOST_ROWS, _MOST_COLUMNS, _MOST_ITEMS = 5000, 40, 3000
_HEAD_ROWS: Final = 40  # rows among which the columns' heads stand
_NUMBER: Final = re.compile(
    r"\(?[A-Za-z]{0,5}[-. ]?\d{1,4}(?:[.\-/]\d{1,3}|[.\-/]?[a-z])*[.)]?|\(?[A-Z](?:[.\-]\d{1,3}|[.\-][a-z])*[.)]?"
    r"|\(?(?:[ivx]{1,5}|[IVX]{1,5}|[a-z])(?:[.\-]\d{1,3})*[.)]?"
)
_NUMBERED: Final = re.compile(rf"\s*({_NUMBER.pattern})[\s:–-]+(\S.*)", re.DOTALL)
_FIRST: Final = frozenset({"1", "a", "i", "01"})


class Request(BaseModel):
    """An item of a request list, as the list has it. `sheet` and `row` are where it stands in a workbook, from 1."""

    model_config = ConfigDict(frozen=True)

    number: str
    item: str
    section: str | None = None
    priority: str | None = None
    sheet: str | None = None
    row: int | None = None


class RequestList(BaseModel):
    """A request list. `workbook` is the file itself in base64 where it is one, with the columns of each sheet."""

    model_config = ConfigDict(frozen=True)

    items: list[Request]
    workbook: str | None = None
    columns: dict[str, dict[str, int]] = {}
    heads: dict[str, int] = {}


@dataclass
class _Row:
    """A row of a sheet: its cells as texts, and whether its words are bold or reach over several cells."""

    line: int
    cells: list[str]
    is_marked: bool = False


@dataclass
class _Numbered:
    """A row with a number and a text. `extras`: the other columns in which it has something."""

    row: _Row
    number: str
    text: str
    extras: set[int] = field(default_factory=set)
    section: str | None = None
    follows_gap: bool = False

    @property
    def key(self) -> str:
        """The number without what stands around it."""
        return plain_number(self.number)


def plain_number(written: str) -> str:
    """A number in one form: `1.02)` is `1.2`, `A-3` is `a.3`."""
    parts = re.findall(r"\d+|[^\W\d_]+", written.casefold())
    return ".".join(str(int(part)) if part.isdigit() else part for part in parts)


def read_requests(path: Path) -> RequestList:
    """Read a request list.

    Raises:
        BadRequest: it cannot be read or holds no item; the message says where and what is allowed.
    """
    ending = path.suffix.lower()
    if ending in {".yaml", ".yml"}:
        return _from_yaml(path)
    if ending == ".csv":
        read = RequestList(items=_items_of(_csv_rows(path), None)[0])
    elif ending in {".xlsx", ".xlsm"}:
        read = _from_workbook(path)
    else:
        raise BadRequest(f"{path.name}: a request list is one of {', '.join(FORMATS)}.")
    if not read.items:
        raise BadRequest(
            f"{path.name}, line 1: the request list holds no item. Give each a row with a number and a text, "
            "such as 1.1 | Articles of association."
        )
    if len(read.items) > _MOST_ITEMS:
        raise BadRequest(f"{path.name}: the request list holds more than {_MOST_ITEMS} items. Split it.")
    return read


def _as_text(written: Any) -> Any:
    return str(written) if type(written) in {int, float} else written


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    number: Annotated[Line, BeforeValidator(_as_text)] | None = None
    section: Annotated[Line, BeforeValidator(_as_text)] | None = None
    item: str
    priority: Annotated[Line, BeforeValidator(_as_text)] | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    requests: list[Any]


def _from_yaml(path: Path) -> RequestList:
    file = UserFile(path, "request list")
    written = file.fit(_File, file.content)
    items: list[Request] = []
    lines: dict[tuple[str | None, str], int] = {}
    for index, entry in enumerate(written.requests if written else ()):
        at = ("requests", index)
        read = file.fit(_Entry, entry, at)
        if read is None:
            continue
        if not read.item.strip():
            file.mistake((*at, "item"), "must not be empty")
        number = read.number or str(index + 1)
        first = lines.setdefault((read.section, number), file.line(at))
        if first != file.line(at):
            file.mistake((*at, "number"), f"{number!r} is already the number of the item in line {first}")
        items.append(
            Request(number=number, item=" ".join(read.item.split()), section=read.section, priority=read.priority)
        )
    if written is not None and not written.requests:
        file.mistake(("requests",), "it is empty: list at least one item, such as {number: 1.1, item: Articles}")
    file.mistakes.check()
    return RequestList(items=items)


def _csv_rows(path: Path) -> list[_Row]:
    text = read_user_text(path, "request list")
    head = text[:4000]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    try:
        return [_Row(rows.line_num, [cell.strip() for cell in cells][:_MOST_COLUMNS]) for cells in rows]
    except csv.Error as error:
        mistakes = Mistakes(path.name)
        mistakes.note(rows.line_num, "the row", f"it is no CSV ({error}); put a text that holds a separator in quotes")
        mistakes.check()
        raise


def _from_workbook(path: Path) -> RequestList:
    try:
        content = path.read_bytes()
        if len(content) > _LARGEST:
            raise BadRequest(f"{path.name}: the request list is larger than {_LARGEST // 1024**2} MB. Split it.")
        book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BadRequest(f"{path.name}: the request list cannot be opened as a workbook. Save it as .xlsx.") from error
    items: list[Request] = []
    columns: dict[str, dict[str, int]] = {}
    heads: dict[str, int] = {}
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = [
            _sheet_row(line, cells)
            for line, cells in enumerate(sheet.iter_rows(max_row=_MOST_ROWS, max_col=_MOST_COLUMNS), 1)
        ]
        found, known, head = _items_of(rows, sheet.title)
        if found:
            items += found
            columns[sheet.title], heads[sheet.title] = known, head
    return RequestList(items=items, workbook=base64.b64encode(content).decode(), columns=columns, heads=heads)


def _sheet_row(line: int, cells: Sequence[Cell | MergedCell]) -> _Row:
    filled = [cell for cell in cells if cell.value is not None]
    is_bold = bool(filled) and all(cell.font is not None and cell.font.b for cell in filled)
    is_wide = len(filled) <= 2 and any(isinstance(cell, MergedCell) for cell in cells)
    return _Row(line, [_cell_text(cell) for cell in cells], is_bold or is_wide)


def _cell_text(cell: Cell | MergedCell) -> str:
    """What a cell shows: 1.10 with two decimals is not 1.1."""
    value = cell.value
    if isinstance(value, float):
        decimals = re.search(r"0\.(0+)", cell.number_format or "")
        return f"{value:.{len(decimals[1])}f}" if decimals else f"{value:g}"
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    return "" if value is None else str(value).strip()


@cache
def read_words(name: str) -> Mapping[str, Any]:
    """One of the lists of words beside this module."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def _heads() -> Phrases:
    known = read_words("headers.toml")
    return Phrases((phrase, name) for name, phrases in known.items() if isinstance(phrases, list) for phrase in phrases)


def _head_of(cell: str) -> str | None:
    """What a column's head says that the column holds: the name that fills it, else None."""
    words = plain_words(cell)
    if not words or words.count(" ") > 6:
        return None
    whole = [meaning for start, end, meaning in _heads().find(words) if (start, end) == (0, len(words))]
    if whole:
        return str(whole[0])
    parts = {meaning: end - start for start, end, meaning in _heads().find(words) if end - start > 3}
    return max(parts, key=lambda name: parts[name]) if parts else None


def _find_head(rows: Sequence[_Row]) -> tuple[int, dict[str, int]]:
    """The place of the row that heads the columns (-1 without one), and the columns it names, from 0."""
    best: tuple[int, dict[str, int]] = (-1, {})
    for place, row in enumerate(rows[:_HEAD_ROWS]):
        known: dict[str, int] = {}
        for column, cell in enumerate(row.cells):
            name = _head_of(cell)
            if name is not None:
                known.setdefault(name, column)
        filled = sum(bool(cell) for cell in row.cells)
        if "item" in known and len(known) >= 2 and len(known) > len(best[1]) and 2 * len(known) >= filled:
            best = (place, known)
    return best


def _items_of(rows: Sequence[_Row], sheet: str | None) -> tuple[list[Request], dict[str, int], int]:
    """The items of a sheet, its columns by what they hold (from 0), and the line of their heads (0 without)."""
    head, known = _find_head(rows)
    body = [row for row in rows[head + 1 :] if any(row.cells)]
    if not body:
        return [], known, 0
    known = {**_columns_by_content(body, known), **known}
    listed = list(_numbered(body, known))
    headings = {id(one) for place, one in enumerate(listed) if _is_heading(place, listed)}
    items: list[Request] = []
    sections: list[_Numbered] = []
    for one in listed:
        if id(one) in headings:
            sections = [*(wider for wider in sections if one.key.startswith(f"{wider.key}.")), one]
            continue
        near = [wider for wider in sections if one.key.startswith(f"{wider.key}.")] or sections[-1:]
        section = one.section or (near[-1].text if near else None)
        items.append(
            Request(
                number=one.number,
                item=one.text,
                section=section,
                priority=_cell(one.row, known.get("priority")) or None,
                sheet=sheet,
                row=one.row.line,
            )
        )
    return items, known, rows[head].line if head >= 0 else 0


def _cell(row: _Row, column: int | None) -> str:
    return row.cells[column] if column is not None and column < len(row.cells) else ""


def _columns_by_content(rows: Sequence[_Row], known: dict[str, int]) -> dict[str, int]:
    """The columns of numbers and of texts where no head names them."""
    found: dict[str, int] = {}
    width = max(len(row.cells) for row in rows)
    taken = set(known.values())
    if "item" not in known:
        lengths = {
            column: mean(len(_cell(row, column)) for row in rows) for column in range(width) if column not in taken
        }
        found["item"] = max(lengths, key=lambda column: lengths[column])
        taken.add(found["item"])
    if "number" not in known:
        item = known.get("item", found.get("item", 0))
        shares = {
            column: mean(bool(_NUMBER.fullmatch(_cell(row, column))) for row in rows if _cell(row, item))
            for column in range(item)
            if column not in taken
        }
        best = max(shares, key=lambda column: shares[column], default=None)
        if best is not None and shares[best] >= 0.4:
            found["number"] = best
    return found


def _numbered(rows: Sequence[_Row], known: dict[str, int]) -> Iterator[_Numbered]:
    """The rows with a number and a text; a line of text alone is the section of those below it."""
    number_at, item_at = known.get("number"), known["item"]
    section: str | None = None
    seen: set[str] = set()
    last = ""
    for row in rows:
        number, text = _split_number(_cell(row, number_at), _cell(row, item_at), is_alone=number_at is None)
        beside = {at for at, cell in enumerate(row.cells) if cell and at not in {number_at, item_at}}
        if not number and text and number_at is None and known.get("section") is not None and beside:
            number = str(len(seen) + 1)
        if not _NUMBER.fullmatch(number) or not text:
            label = text or number
            if label and len(label) <= 120 and not beside:
                section = label
            continue
        if number in seen and plain_number(f"{number}0") == _successor(last):
            number += "0"  # 1.10 that was kept as the number 1.1
        last = number
        seen.add(number)
        own = _cell(row, known.get("section")) or None
        yield _Numbered(row, number, " ".join(text.split()), beside - {known.get("section")}, own or section)


def _split_number(number: str, text: str, *, is_alone: bool) -> tuple[str, str]:
    """Number and text, where both stand in one cell; `is_alone`: numbers have no column of their own."""
    if is_alone or (not number and _NUMBERED.fullmatch(text)):
        match = _NUMBERED.fullmatch(text)
        return (match[1], match[2]) if match else ("", text)
    if number and not text and (match := _NUMBERED.fullmatch(number)):
        return match[1], match[2]  # a heading in the first of the cells that it reaches over
    return number, text


def _successor(number: str) -> str:
    """The plain number that comes after one: `1.9` is followed by `1.10`."""
    *front, end = plain_number(number).split(".")
    return ".".join([*front, str(int(end) + 1)]) if end.isdigit() else ""


def _is_heading(place: int, listed: Sequence[_Numbered]) -> bool:
    """Whether a numbered row heads the rows below it."""
    one, below = listed[place], listed[place + 1 :]
    lacks_extras = not one.extras and mean(bool(other.extras) for other in listed) >= 0.5
    if any(other.key.startswith(f"{one.key}.") for other in below):
        return not one.extras or lacks_extras
    if not below or one.extras:
        return False
    following = below[0]
    is_letter, is_next_letter = not one.key[0].isdigit(), not following.key[0].isdigit()
    begins = following.key in _FIRST and one.key != following.key and not following.row.is_marked
    if begins and (is_letter != is_next_letter or "." not in one.key) and following.row.line == one.row.line + 1:
        return True
    if following.key == one.key and following.key in _FIRST:
        return True
    is_flat = len({other.key.count(".") for other in listed}) == 1  # where numbers tell no depth
    looks_so = one.row.is_marked or (lacks_extras and is_flat)
    return looks_so and not following.row.is_marked and _is_set_apart(one, listed)


def _is_set_apart(one: _Numbered, listed: Sequence[_Numbered]) -> bool:
    """Whether a row looks other than most of them."""
    return (
        mean(other.row.is_marked == one.row.is_marked and bool(other.extras) == bool(one.extras) for other in listed)
        <= 0.5
    )
