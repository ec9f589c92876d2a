"""Request lists as buyers send them: workbooks, CSV and YAML files of any shape, read into numbered items.

A row with a number and a text is an item, unless it is a heading: numbers of other rows go on from its own, they begin
anew below it, or it alone is bold or lacks what the items have beside their text. Where headings alone have numbers, or
no row has one, the rows below the headings are the items, and are counted.
"""

import base64
import csv
import datetime as dt
import io
import re
import tomllib
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict

from tasks.documents.kinds.catalogue import Phrases, plain_words
from tasks.errors import BadRequest
from tasks.reading.txt import decode_text
from tasks.user_file import Line, Mistakes, UserFile

if TYPE_CHECKING:
    from openpyxl import cell, worksheet

FORMATS: Final = (".xlsx", ".xlsm", ".csv", ".yaml", ".yml")
_LARGEST: Final = 1024 * 1024  # bytes of a workbook: it is kept with the run
_MOST_ROWS, _MOST_COLUMNS, _MOST_ITEMS = 5000, 40, 3000
_HEAD_ROWS: Final = 40  # rows among which the columns' heads stand
_PART: Final = r"(?:\d{1,4}|[ivx]{1,5}|[IVX]{1,5}|[A-Za-z])"
_PARTS: Final = rf"{_PART}(?:[.\-/_]\(?{_PART}\)?|\({_PART}\)|(?<=\d)[a-z])*"
_NUMBER: Final = re.compile(rf"[(\[]?(?:[A-Za-z]{{1,12}}[-–._/ :]{{0,2}}(?=\d))?{_PARTS}[.):\]]{{0,2}}")
_NUMBERED: Final = re.compile(
    rf"\s*((?:[A-Z]{{1,5}}-)?(?=\d){_PARTS}[.):]{{0,2}}|\(?{_PARTS}[.):]{{1,2}})[\s:–-]+(\S.*)", re.DOTALL
)
"""A number and a text in one cell: letters have a bracket or a full stop behind them."""
_BULLET: Final = re.compile(r"^[-–—•·▪●○◦□☐☑✓*]\s*")
_FIRST: Final = frozenset({"1", "a", "i"})
_LONGEST_SECTION: Final = 120


class Request(BaseModel):
    """An item of a request list, as in the list. `sheet` and `row` are its place in a workbook, from 1."""

    model_config = ConfigDict(frozen=True)

    number: str
    item: str
    section: str | None = None
    priority: str | None = None
    sheet: str | None = None
    row: int | None = None


class RequestList(BaseModel):
    """A request list. `workbook` is the file itself in base64, if it is one, with the columns of each sheet."""

    model_config = ConfigDict(frozen=True)

    items: list[Request]
    workbook: str | None = None
    columns: dict[str, dict[str, int]] = {}


@dataclass
class _Row:
    """A row of a sheet: its cells as text, and whether its words are bold or span several cells."""

    line: int
    cells: list[str]
    is_marked: bool = False


@dataclass
class _Line:
    """A row that has a text. `number` is "" if it has none; `extras` are the other columns that are filled."""

    row: _Row
    number: str
    text: str
    extras: set[int] = field(default_factory=set)
    section: str | None = None

    @property
    def key(self) -> str:
        """The number without the characters around it."""
        return plain_number(self.number)


def plain_number(written: str) -> str:
    """A number in normalised form: `1.02)` is `1.2`, `A-3` is `a.3`."""
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
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"{path.name}: the request list cannot be opened ({error.strerror}).") from error
    _check_size(path, content)
    text, _ = decode_text(content)
    head = text[:4000].splitlines()
    delimiter = max("\t;,", key=lambda one: sum(one in line for line in head))
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [_Row(rows.line_num, [cell.strip() for cell in cells][:_MOST_COLUMNS]) for cells in rows]
    except csv.Error as error:
        mistakes = Mistakes(path.name)
        mistakes.note(
            rows.line_num, "the row", f"it is not valid CSV ({error}); put text that contains a separator in quotes"
        )
        mistakes.check()
        raise


def _check_size(path: Path, content: bytes) -> None:
    if len(content) > _LARGEST:
        raise BadRequest(f"{path.name}: the request list is larger than {_LARGEST // 1024**2} MB. Split it.")


def _from_workbook(path: Path) -> RequestList:
    import openpyxl  # noqa: PLC0415 - 0.05 s, which few batches need

    try:
        content = path.read_bytes()
        _check_size(path, content)
        book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BadRequest(f"{path.name}: the request list cannot be opened as a workbook. Save it as .xlsx.") from error
    read = {
        sheet.title: _items_of(_sheet_rows(sheet), sheet.title)
        for sheet in book.worksheets
        if sheet.sheet_state == "visible"
    }
    has_heads = any(head for _, _, head in read.values())  # a sheet without them is a note to the reader then
    lists = {title: one for title, one in read.items() if one[0] and (one[2] or not has_heads)}
    items = [
        item.model_copy(update={"section": item.section or title}) if len(lists) > 1 else item
        for title, (found, _, _) in lists.items()
        for item in found
    ]
    return RequestList(
        items=items,
        workbook=base64.b64encode(content).decode(),
        columns={title: known for title, (_, known, _) in lists.items()},
    )


def _sheet_rows(sheet: "worksheet.worksheet.Worksheet") -> list[_Row]:
    reach = {one.min_row for one in sheet.merged_cells.ranges if one.max_col > one.min_col}
    rows: list[_Row] = []
    # without its own ends a sheet is given in full, 200,000 cells
    max_row, max_col = min(sheet.max_row, _MOST_ROWS), min(sheet.max_column, _MOST_COLUMNS)
    for line, cells in enumerate(sheet.iter_rows(max_row=max_row, max_col=max_col), 1):
        filled = [cell for cell in cells if cell.value is not None]
        is_bold = bool(filled) and all(cell.font is not None and cell.font.b for cell in filled)
        is_wide = len(filled) <= 2 and line in reach
        rows.append(_Row(line, [_cell_text(cell) for cell in cells], is_bold or is_wide))
    return rows


def _cell_text(shown: "cell.Cell | cell.MergedCell") -> str:
    """The text that a cell shows: 1.10 with two decimals is not 1.1."""
    value = shown.value
    if isinstance(value, float):
        decimals = re.search(r"0\.(0+)", shown.number_format or "")
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


def _head_of(cell: str) -> tuple[str, bool] | None:
    """What a column's heading says that it contains, and whether that is all it says; None if it says nothing."""
    words = plain_words(cell)
    if not words or words.count(" ") > 6:
        return None
    found = [(end - start, str(meaning)) for start, end, meaning in _heads().find(words)]
    length, name = max(found, default=(0, ""))
    return (name, length == len(words)) if length == len(words) or length > 3 else None


def _name_columns(row: _Row, body: Sequence[_Row]) -> tuple[dict[str, int], int]:
    """The columns that a row names (of two for items, the one with longer texts), and how many of
    its cells name one.
    """
    named = {column: head for column, cell in enumerate(row.cells) if (head := _head_of(cell)) is not None}
    known: dict[str, int] = {}
    for column, (name, _) in sorted(named.items(), key=lambda one: not one[1][1]):
        known.setdefault(name, column)
    items = [column for column, head in named.items() if head == ("item", True)]
    if len(items) > 1:
        known["item"] = max(items, key=lambda column: sum(len(_cell(one, column)) for one in body))
    return known, len(named)


def _find_head(rows: Sequence[_Row]) -> tuple[int, dict[str, int]]:
    """The index of the last row of column headings (-1 if there is none), and the columns that it names, from 0."""
    best: tuple[int, dict[str, int]] = (-1, {})
    for place, row in enumerate(rows[:_HEAD_ROWS]):
        known, count = _name_columns(row, rows[place + 1 :])
        filled = sum(bool(cell) for cell in row.cells)
        if "item" in known and len(known) >= 2 and len(known) > len(best[1]) and 2 * count >= filled:
            best = (place, known)
    head, known = best
    if 0 <= head < len(rows) - 1:
        more, count = _name_columns(rows[head + 1], ())
        if count >= 2 and count == sum(bool(cell) for cell in rows[head + 1].cells):
            return head + 1, known | more
    return best


def _items_of(rows: Sequence[_Row], sheet: str | None) -> tuple[list[Request], dict[str, int], int]:
    """The items of a sheet, its columns by what they contain (from 0), and the line of its headings
    (0 if it has none).
    """
    head, known = _find_head(rows)
    body = [row for row in rows[head + 1 :] if any(row.cells)]
    if head > 0 and any(row.cells == rows[head].cells for row in body):  # each section has its heads below its title
        body = [rows[head - 1], *(row for row in body if row.cells != rows[head].cells)]
    if not body:
        return [], known, 0
    known = {**_columns_by_content(body, known), **known}
    items = [
        Request(
            number=one.number,
            item=one.text,
            section=one.section,
            priority=_cell(one.row, known.get("priority")) or None,
            sheet=sheet,
            row=one.row.line,
        )
        for one in _list_items(_read_lines(body, known), has_head=head >= 0)
        if plain_words(one.text) not in read_words("matching.toml")["dropped"]
    ]
    return items, known, rows[head].line if head >= 0 else 0


def _cell(row: _Row, column: int | None) -> str:
    return row.cells[column] if column is not None and column < len(row.cells) else ""


def _columns_by_content(rows: Sequence[_Row], known: dict[str, int]) -> dict[str, int]:
    """The columns for numbers and for texts, by their content, if no heading names them."""
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
        cells = {
            column: [bool(_NUMBER.fullmatch(cell)) for row in rows if (cell := _cell(row, column))]
            for column in range(item)
            if column not in taken
        }
        best = max(cells, key=lambda column: sum(cells[column]), default=None)
        if best is not None and sum(cells[best]) > 0.5 * len(cells[best]):
            found["number"] = best
    return found


def _read_lines(rows: Sequence[_Row], known: Mapping[str, int]) -> list[_Line]:
    """The rows that have a text, with the numbers of their own cells, or in front of their texts."""
    number_at, item_at, section_at = known.get("number"), known["item"], known.get("section")
    in_text = [match[1] for row in rows if (match := _NUMBERED.fullmatch(_cell(row, item_at)))]
    counts = [int(number) for number in in_text if number.isdigit()]
    is_counted = any(after == before + 1 for before, after in pairwise(counts))
    lines: list[_Line] = []
    seen: set[str] = set()
    last, section = "", None
    for row in rows:
        section = _cell(row, section_at) or section
        number, text = _number_and_text(_cell(row, number_at), _cell(row, item_at), is_counted=is_counted)
        if not text:
            continue
        if number in seen and plain_number(f"{number}0") == _successor(last):
            number += "0"  # 1.10 that was kept as the number 1.1
        last = number or last
        seen.add(number)
        beside = {at for at, cell in enumerate(row.cells) if cell and at not in {number_at, item_at, section_at}}
        if not number:  # that of a heading may stand in a column of its own
            beside = {at for at in beside if at > item_at or not _NUMBER.fullmatch(row.cells[at])}
        lines.append(_Line(row, number, " ".join(text.split()), beside, section))
    return lines


def _number_and_text(number: str, text: str, *, is_counted: bool) -> tuple[str, str]:
    """The number and the text of a row with these cells; without a text of its own, a number's cell may hold both.

    A whole number before a text may be part of a sentence: it is a number of the list only if the list `is_counted`.
    """
    if not number and (match := _NUMBERED.fullmatch(text)) and (is_counted or not match[1].isdigit()):
        number, text = match[1], match[2]
    elif number and not text:  # a heading in the first of the cells that it reaches over
        match = _NUMBERED.fullmatch(number)
        number, text = (match[1], match[2]) if match else ("", number)
    return (number if _NUMBER.fullmatch(number) else ""), text


def _successor(number: str) -> str:
    """The plain number that comes after the given one: `1.9` is followed by `1.10`."""
    *front, end = plain_number(number).split(".")
    return ".".join([*front, str(int(end) + 1)]) if end.isdigit() else ""


def _list_items(lines: Sequence[_Line], *, has_head: bool) -> list[_Line]:
    """The lines that are items, with their sections; the others are headings, or continue the item above them."""
    plain = [line for line in lines if not line.number]
    followers = zip(lines, [*lines[1:], None], strict=True)
    if plain and all(below and not below.number for line, below in followers if line.number):
        return _count_items(lines, plain, has_head=has_head)
    is_heading = _Headings([line for line in lines if line.number])
    items: list[_Line] = []
    sections: list[_Line] = []
    goes_on = False
    for line in lines:
        if not line.number and goes_on and (_BULLET.match(line.text) or line.text[0].islower()):
            items[-1].text += f" {line.text}"
        elif is_heading(line):
            sections = [*_wider_sections(line, sections), line]
            goes_on = False
        elif line.number:
            near = _wider_sections(line, sections) or sections[-1:]
            line.section = line.section or (near[-1].text.removesuffix(":") if near else None)
            items.append(line)
            goes_on = True
    return items


def _wider_sections(line: _Line, sections: Sequence[_Line]) -> list[_Line]:
    """Those of the sections whose numbers the line's number goes on from."""
    return [wider for wider in sections if wider.number and line.key.startswith(f"{wider.key}.")]


def _count_items(lines: Sequence[_Line], plain: Sequence[_Line], *, has_head: bool) -> list[_Line]:
    """The items of a list in which headings alone have numbers, or nothing has: the plain lines, which are counted.

    There are none in plain lines without any sign of a list: headings, columns' heads or bullets.
    """
    headings = {id(line) for line in [*(line for line in lines if line.number), *_plain_headings(plain)]}
    if not (headings or has_head or any(_BULLET.match(line.text) for line in plain)):
        return []
    items: list[_Line] = []
    section, numbered, count = None, "", 0
    for line in lines:
        if id(line) in headings:
            section = line.text.removesuffix(":")
            if line.number:
                numbered, count = f"{line.number.strip('().:[] ')}.", 0
        else:
            count += 1
            line.number, line.text = f"{numbered}{count}", _BULLET.sub("", line.text)
            line.section = line.section or section
            items.append(line)
    return items


def _plain_headings(plain: Sequence[_Line]) -> list[_Line]:
    """Those of the lines without numbers that look like headings; none if most of them do."""
    has_bullets = mean(bool(_BULLET.match(line.text)) for line in plain) > 0.5
    has_extras = mean(bool(line.extras) for line in plain) > 0.7
    found = [
        line
        for line in plain
        if len(line.text) <= _LONGEST_SECTION
        and not _BULLET.match(line.text)
        and (
            has_bullets
            or line.row.is_marked
            or line.text.isupper()
            or line.text.endswith(":")
            or (has_extras and not line.extras)
        )
    ]
    return found if len(found) <= len(plain) / 2 else []


class _Headings:
    """Tells the headings of a list whose items have numbers."""

    def __init__(self, numbered: Sequence[_Line]) -> None:
        self._below = {id(line): numbered[place + 1 :] for place, line in enumerate(numbered)}
        looks = Counter(map(_look, numbered))
        self._rare = {look for look, count in looks.items() if count <= 0.5 * len(numbered)}
        self._are_flat = len({line.key.count(".") for line in numbered}) == 1  # numbers tell no depth
        self._have_extras = bool(numbered) and mean(bool(line.extras) for line in numbered) >= 0.5

    def __call__(self, line: _Line) -> bool:
        """Whether the line is a heading: it has nothing beside its text, and one of the signs below."""
        below = self._below.get(id(line), ())
        if line.extras or not below:
            return not line.number and not line.extras and len(line.text) <= _LONGEST_SECTION
        following = below[0]
        is_other_kind = line.key[0].isdigit() != following.key[0].isdigit() or "." not in line.key
        looks_so = line.row.is_marked or (self._have_extras and self._are_flat)
        signs = {
            "numbers below go on from its own": any(other.key.startswith(f"{line.key}.") for other in below),
            "numbers begin anew below it": following.key in _FIRST
            and line.key not in {following.key, "h"}
            and is_other_kind
            and not following.row.is_marked
            and following.row.line == line.row.line + 1,
            "both are the first": following.key == line.key and following.key in _FIRST,
            "it alone is bold or lacks something": looks_so
            and not following.row.is_marked
            and _look(line) in self._rare,
        }
        return any(signs.values())


def _look(line: _Line) -> tuple[bool, bool]:
    return line.row.is_marked, bool(line.extras)
