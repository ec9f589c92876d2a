"""The tables of a text as rows of cells, with the lines above them.

Rows are lines with tabs, as readers write tables; if a PDF's table has no tabs, lines with a label and several numbers
are rows too. What the cells mean is decided elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from typing import Final

from tasks.figures.figure import WORDS, find_basis
from tasks.language.locales import alternation
from tasks.language.numbers import Units, cell_amount, may_be_scale, only_units, read_units
from tasks.language.periods import HINT, MONTH, find_periods, header_words

_MOST_TITLES: Final = 9
_MOST_LINES: Final = 40
"""Lines over a table that are kept: a heading of which each word stands on a line of its own is one title."""

_LONGEST_TITLE: Final = 400
_SHORT_TITLE: Final = 14
_LONGEST_HEADING: Final = 20
"""Words of a heading that stand on a line each."""

_LONGEST_ROW: Final = 170
_FEWEST_BARRED: Final = 3
_END_BARS: Final = re.compile(r"^(\s*)\||\|(\s*)$")
_MOST_ROWS: Final = 50_000
"""Rows that are looked at together; a longer table is cut, and keeps the headers of its beginning."""

_MOST_HEADER_ROWS: Final = 8

_LONGEST_STATEMENT: Final = 2000
"""Rows of a table that are looked at for dates cut into cells."""

_MOST_SECTIONS: Final = 3
"""Lines of one cell in a row that may be sections of the table that they stand in."""

_MOST_PIECES: Final = 3
"""Cells of a row into which a date may be cut."""

_NUMBER: Final = r"(?:[$€£]? ?\(?[-–−]?[$€£]? ?\(?\d[\d.,]*\)?%?|[$€£]? ?[—–-])"
_LOOSE_ROW: Final = re.compile(
    rf"^(?P<label>[^\d$€£][^$€£]*?[^\s$€£(—–-]):? +(?P<cells>{_NUMBER}(?: {_NUMBER}){{1,7}}) ?%?$"
)
_ENDS_IN_DATE: Final = re.compile(rf"\b{MONTH} [0-3]?\d, ?(?:19|20)\d\d$", re.IGNORECASE)
"""A line whose last numbers are a day and its year: a sentence or a title where it has more words than a date."""

_ENDS_IN_MONTH: Final = re.compile(rf"\b{MONTH}$", re.IGNORECASE)
_ENDS_IN_SCALE: Final = re.compile(r"(?:\b1(?:[.,'’ ]000)+|[$€£]['’]?000(?:,000)?)\)?$")
_REST: Final = re.compile(r"\S.*")
_DAY_ALONE: Final = re.compile(r"[0-3]?\d,?")
_LOOSE_CELL: Final = re.compile(_NUMBER + r"(?= |%|$) ?%?")
_LOOSE_YEARS: Final = re.compile(r"^(?:(?:19|20)\d\d)(?: +(?:19|20)\d\d){1,5}(?: +[%A-Za-z].{0,40})?$")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MARKED_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\D| ?\([a-z1-9]\)| \((?:19|20)\d\d000\))?")
_LONGEST_YEAR: Final = 14
_UNITS_OF_YEAR: Final = re.compile(r"(.*?)(?<![\d.,])(?:19[89]\d|20[0-3]\d)(?![\d.,])(.*)")
_LONGEST_UNITS: Final = 30
_CODE_OF_LINE: Final = re.compile(r"\d{1,2}(?:\.\d{1,2})*")
"""What numbers the lines of a chart of accounts, before their labels: "3.01"."""

_FULL_DATE: Final = re.compile(rf"\b{MONTH} [0-3]?\d, ?(?:19|20)\d\d", re.IGNORECASE)


_UNCUT: Final[list[str]] = []
_UNPLACED: Final[list[int]] = []
"""What rows have in common that nobody has looked at yet: never written to."""


class Row:
    """A row: the cells, and the offsets in the text where they begin. `loose`: it was split at spaces.

    A line with tabs is only split when its cells are needed: most rows of a sheet with a million are never looked at.
    """

    __slots__ = ("_cells", "_counts", "_line", "_name", "_start", "_starts", "loose")

    def __init__(
        self,
        start: int,
        cells: list[str] = _UNCUT,
        starts: list[int] = _UNPLACED,
        loose: bool = False,
        line: str | None = None,
    ) -> None:
        """With `line`, the cells are its parts between tabs, and `start` is where it begins."""
        self._name: str | None = None
        self._counts: list[int] | None = None
        self._start = start
        self._cells = cells
        self._starts = starts
        self._line = line
        self.loose = loose

    @property
    def start(self) -> int:
        """Where its first cell begins."""
        return self.starts[0] if self._line is not None else self._start

    @property
    def cells(self) -> list[str]:
        """Its cells, trimmed."""
        if not self._cells and self._line is not None:
            self._cells = list(map(str.strip, self._line.split("\t")))
            if "*" in self._line or "_" in self._line:
                self._cells = [WORDS.row_marked.sub(r"\2", cell) for cell in self._cells]
        return self._cells

    @property
    def starts(self) -> list[int]:
        """Where each cell begins in the text."""
        if not self._starts and self._line is not None:
            at = self._start
            placed = []
            for piece, words in zip(self._line.split("\t"), self.cells, strict=True):
                placed.append(at + (piece.find(words) if words else 0))
                at += len(piece) + 1
            self._starts = placed
        return self._starts

    @property
    def name(self) -> str:
        """Its first cell."""
        if self._name is None:
            line = self._line
            self._name = self._cells[0] if line is None or self._cells else line[: line.index("\t")].strip()
        return self._name

    def units_beside(self, numbers: Collection[int]) -> Units:
        """The units that a separate cell gives to these numbers of the row: "Revenue | EUR m | 12"."""
        beside = (cell for index, cell in enumerate(self.cells) if index and cell and index not in numbers)
        return next((read_units(cell) for cell in beside if only_units(cell)), Units())

    @property
    def label(self) -> str:
        """Its first cell with words."""
        if self.name and not _CODE_OF_LINE.fullmatch(self.name):
            return self.name
        return next((cell for cell in self.cells[1:] if cell), self.name)

    @property
    def width(self) -> int:
        """How many cells it has."""
        return len(self._cells) if self._line is None or self._cells else self._line.count("\t") + 1

    @property
    def may_be_short(self) -> bool:
        """Whether at most three of its cells can have words."""
        if self._line is None or self._cells:
            return sum(map(bool, self._cells)) <= _MOST_PIECES
        return self._line.count("\t") < _MOST_PIECES or "\t\t" in self._line or self._line[0] == "\t"

    def has_number(self, *, comma_decimal: bool) -> bool:
        """Whether a cell after the first contains an amount that is not a year."""
        if self._line is not None and not self._cells and WORDS.row_plain_number.search(self._line):
            return True
        return any(is_number(cell, comma_decimal=comma_decimal) for cell in self.cells[1:])

    def has_number_between(self, first: int, last: int) -> bool:
        """Whether a cell from `first` to before `last`, both within the row, contains an amount that is not a year."""
        if self._counts is None:
            self._counts = list(accumulate(map(is_number, self.cells), initial=0))
        return self._counts[last] > self._counts[first]


@dataclass(slots=True)
class Grid:
    """A table: its rows, and the lines above it, nearest last; `sections` are single-cell lines among its rows."""

    titles: list[str]
    rows: list[Row] = field(default_factory=list)


def grids(text: str) -> Iterator[Grid]:
    """The tables of a text in order."""
    titles: list[str] = []
    grid: Grid | None = None
    alone: list[Row] = []  # lines without numbers since the last row: sections within, titles of what follows
    at = 0
    for line in _part_at_bars(text.split("\n")):
        start, at = at, at + len(line) + 1
        if grid is not None and not alone and _is_plain_row(line) and len(grid.rows) < _MOST_ROWS:
            grid.rows.append(Row(start, line=line))
            continue
        blank = not line or line.isspace()
        row = None if blank else _row(line, start)
        if grid is not None and _ends_table(line, row, alone):
            yield grid
            grid, titles, alone = None, [each.label for each in alone][-_MOST_TITLES:], []
        if row is None:
            if not blank and grid is None:
                titles = [*titles[1 - _MOST_LINES :], line.strip()[:_LONGEST_TITLE]]
            elif not blank:
                alone.append(Row(start, [line.strip()], [start]))
            continue
        if grid is not None and len(grid.rows) >= _MOST_ROWS:
            yield grid
            grid = Grid(grid.titles, _heading(grid))
        if grid is None:
            grid = Grid(join_titles(titles)[-_MOST_TITLES:])
            titles = []
        grid.rows.extend(alone)
        alone = []
        grid.rows.append(row)
    if grid is not None:
        yield grid


def _part_at_bars(lines: list[str]) -> list[str]:
    """The lines with tabs for the bars of rows, "Revenue | 90 | 80", three or more with as many bars each."""
    at = 0
    counts = list(map(_count_bars, lines))
    for line, count in enumerate(counts[1:], 1):
        if count < 0:
            counts[line] = counts[line - 1]
    for count, run in groupby(counts):
        end = at + len(list(run))
        if count > 0 and end - at >= _FEWEST_BARRED:
            lines[at:end] = [
                _END_BARS.sub(r"\1 \2", line).replace(" | ", " \t ") if _count_bars(line) > 0 else " " * len(line)
                for line in lines[at:end]
            ]
        at = end
    return lines


def _count_bars(line: str) -> int:
    """The bars between cells of a line; -1 for the rule between a head and its rows, 0 for a line with tabs."""
    if "|" not in line or "\t" in line:
        return 0
    return -1 if not line.strip("|-: ") and "--" in line else line.strip("| ").count(" | ")


def _ends_table(line: str, row: Row | None, alone: Sequence[Row]) -> bool:
    """Whether a line ends the table before it: the first on a page, or a blank line or prose after lines without
    numbers.
    """
    if row is not None:
        return "\f" in line
    if not line or line.isspace():
        return bool(alone)
    return len(line) > _LONGEST_ROW or len(alone) >= _MOST_SECTIONS or "\f" in line


def _is_plain_row(line: str) -> bool:
    """Whether a line can be used as a tab-separated row as it is, within a page."""
    if "\t" not in line or "\f" in line or line.isspace():
        return False
    return len(line) > _LONGEST_ROW or not _has_number_in_label(line)


def _has_number_in_label(line: str) -> bool:
    """Whether a row's first number is still part of its label; a number in its units, "Sales in EUR 1,000", does not
    count.
    """
    match = WORDS.row_number_in_label.match(line)
    return match is not None and read_units(match.group()).multiplier is None


def join_titles(titles: Sequence[str]) -> list[str]:
    """The lines above a table; three or more short ones in a row are joined: "CONSOLIDATED", "BALANCE", "SHEETS".

    If there are more than a heading has, the last ones are one heading and those before them another.
    """
    joined: list[str] = []
    short: list[str] = []
    for title in [*titles, ""]:
        if _DAY_ALONE.fullmatch(title) and joined and not short and _ENDS_IN_MONTH.search(joined[-1]):
            joined[-1] += f" {title}"  # "For the twelve months ending April", "30,"
            continue
        if title and len(title) <= _SHORT_TITLE:
            short.append(title)
            continue
        parts = (short[:-_LONGEST_HEADING], short[-_LONGEST_HEADING:]) if len(short) > 2 else ()
        joined.extend([" ".join(part) for part in parts if part] if parts else short)
        short = []
        if title:
            joined.append(title)
    return joined


def _row(line: str, start: int) -> Row | None:
    if "\t" in line and len(line) <= _LONGEST_ROW and _has_number_in_label(line):
        loose = _row(line.replace("\t", " "), start)
        if loose is not None:
            return loose
    if "\t" in line:
        return Row(start, line=line)
    years = _LOOSE_YEARS.match(line)
    if len(line) > _LONGEST_ROW or not (line[-1].isdigit() or line[-1] in ")%—–-" or years):
        return None
    if years:
        found = list(_YEAR.finditer(line))
        rest = _REST.search(line, found[-1].end())
        return _loose_row("", start, [*found, *([rest] if rest else [])])
    dates = list(_FULL_DATE.finditer(line)) if _ENDS_IN_DATE.search(line) else []
    if len(dates) > 1 and not _FULL_DATE.sub("", line).strip():
        return _loose_row("", start, dates)
    match = _LOOSE_ROW.match(line)
    if (
        match is None
        or (_ENDS_IN_SCALE.search(line) and read_units(line).multiplier)
        or (_ENDS_IN_DATE.search(line) and WORDS.date_words.sub("", line).strip())
    ):
        return None
    return _loose_row(match["label"].strip(), start, list(_LOOSE_CELL.finditer(line, match.start("cells"))))


def _loose_row(label: str, start: int, cells: Sequence[re.Match[str]]) -> Row:
    """A row that was split at spaces: its label, and the cells found in its line."""
    starts = [start, *(start + cell.start() for cell in cells)]
    return Row(start, [label, *(cell.group().strip() for cell in cells)], starts, True)


def whole_rows(rows: Sequence[Row], text: str) -> Iterator[Row]:
    """The rows of a table in a text with split ones joined: dates above rows, and labels on the line above their
    numbers.
    """
    below = _below_labels(rows[:_LONGEST_STATEMENT], text)
    for at, row in enumerate(rows):
        if at in below:
            label = rows[at - 1]
            yield Row(label.start, [label.name, *row.cells[1:]], [label.start, *row.starts[1:]], row.loose)
        elif at < _LONGEST_STATEMENT and row.may_be_short and _is_cut_date(row):
            yield Row(row.start, [" ".join(filter(None, row.cells))], row.starts[:1], row.loose)
        elif at + 1 not in below:
            yield row


def _below_labels(rows: Sequence[Row], text: str) -> Collection[int]:
    """The rows that begin with their numbers, each below a line with nothing but a label, where most rows are so.

    None where the labels may be below their numbers: the first numbers have no label above, or the last label is last.
    """
    numbered = [at for at, row in enumerate(rows) if _begins_with_number(row)]
    below = {at for at in numbered if at and _is_label_alone(rows[at - 1])}
    if len(below) <= 1 or numbered[0] not in below or _is_label_alone(rows[-1]) or _has_line_behind(text, rows[-1]):
        return ()
    named = sum(1 for row in rows if row.name and row.has_number(comma_decimal=False))
    return below if len(below) > named else ()


def _begins_with_number(row: Row) -> bool:
    if row.name or not row.has_number(comma_decimal=False):
        return False
    first, *others = filter(None, row.cells)
    is_first = is_number(first) and not find_periods(first)
    return is_first and not any(_is_label(cell) and not WORDS.no_number.fullmatch(cell) for cell in others)


def _is_label_alone(row: Row) -> bool:
    return bool(row.name) and not any(row.cells[1:])


def _has_line_behind(text: str, row: Row) -> bool:
    """Whether a line follows a table's last row on its page without a gap."""
    end = text.find("\n", row.start) + 1
    line = text[end : end + _LONGEST_ROW].partition("\n")[0] if end else ""
    return bool(line.strip()) and "\f" not in line


def _is_cut_date(row: Row) -> bool:
    """Whether a row of few cells is a single date above the rows below it: "Year Ended January | 31, | 2017"."""
    filled = [cell for cell in row.cells if cell]
    if not 1 < len(filled) <= _MOST_PIECES or not is_year(filled[-1]) or not any(map(str.isalpha, filled[0])):
        return False
    found = find_periods(" ".join(filled))
    return (
        len(found) == 1 and found[0].end is not None and WORDS.date_words.sub("", " ".join(filled)).strip(" ,.") == ""
    )


def is_year(cell: str) -> bool:
    """Whether a cell may be a year: four digits, 1900 to 2099, perhaps with a mark, a note's number or units.

    "2017 (1)", "2023 EUR", "in % 2023".
    """
    if len(cell) <= _LONGEST_YEAR and _MARKED_YEAR.fullmatch(cell) is not None:
        return True
    match = _UNITS_OF_YEAR.fullmatch(cell) if len(cell) <= _LONGEST_UNITS else None
    return match is not None and only_units(f"{match[1]} {match[2]}")


@lru_cache(maxsize=16384)
def is_number(cell: str, *, comma_decimal: bool = False) -> bool:
    """Whether a cell contains an amount that is not a year."""
    if WORDS.row_sure_number.match(cell):
        return not is_year(cell)
    if not cell or not any(map(str.isdigit, cell)):
        return False
    return not is_year(cell) and not may_be_scale(cell) and cell_amount(cell, comma_decimal=comma_decimal) is not None


_LONGEST: Final = 30


def has_no_number(filled: Sequence[str]) -> bool:
    """Whether a row of these cells names something without a number: dashes, "n/a", "#REF!"."""
    return (
        len(filled) > 1
        and not is_note_heading(filled[0])
        and all(
            WORDS.no_number.fullmatch(cell) or (WORDS.no_single_number.fullmatch(cell) and not find_periods(cell))
            for cell in filled[1:]
        )
    )


def counts_columns(row: Row, numbers: Sequence[int]) -> bool:
    """Whether a row numbers the columns of a table: "Year | 1 | 2 | 3"."""
    counted = [row.cells[at] for at in numbers]
    first = counted[0] if len(counted) >= _FEWEST_COUNTED else ""
    return first in {"0", "1"} and counted == [str(int(first) + at) for at in range(len(counted))]


_FEWEST_COUNTED: Final = 3


def find_valuation(rows: Sequence[Row]) -> frozenset[int]:
    """Where the rows of a valuation begin that stand below columns of years and are of none of them.

    "Sum of cash flows | 900", "Cash | 40", "Debt | 25", "Value per share | 12": three or more running, one number each.
    """
    found: set[int] = set()
    run: list[Row] = []
    for row in (*rows, None):
        if row is not None and sum(map(bool, row.cells)) == _PAIR and row.has_number(comma_decimal=False):
            run.append(row)
            continue
        if len(run) >= _FEWEST_COUNTED and any(WORDS.of_a_valuation.search(each.label) for each in run):
            found.update(each.start for each in run)
        run = []
    return frozenset(found)


def not_one_number(row: Row, numbers: Sequence[int]) -> int:
    """How many cells of a row contain digits, or a failed formula, but not a single number: "5-6"."""
    known = {0, *numbers}
    others = (cell for index, cell in enumerate(row.cells) if index not in known and len(cell) <= _LONGEST)
    return sum(1 for cell in others if WORDS.no_single_number.fullmatch(cell) and not find_periods(cell))


def holds_four_digits(row: Row) -> bool:
    """Whether a row deep in a table has numbers that look like years but head no columns: "Item 2001 | 2001"."""
    filled = [cell for cell in row.cells[1:] if cell and cell != row.label]
    if not filled or not all(map(is_year, filled)) or read_units(row.label) != Units():
        return False
    years = [int(year[0]) for cell in filled if (year := _YEAR.search(cell))]
    return not any(abs(one - other) == 1 for one, other in pairwise(years))


def is_amount_like_year(row: Row, above: Collection[int]) -> bool:
    """Whether a row right below amounts, in the columns `above`, has amounts that look like years: "Marketing | 2000".

    A row that is called a statement or summary does start new columns, and so does one year beside anything but a cost.
    """
    filled = {at for at, cell in enumerate(row.cells) if at and cell and cell != row.label}
    is_named = any(map(str.isalpha, row.label)) and not WORDS.statement_names.search(row.label)
    is_cost = WORDS.cost_label.search(row.label) and not HINT.search(row.label) and find_basis(row.label) is None
    is_headed = not filled or (len(filled) == 1 and not is_cost)
    return not is_headed and filled <= {*above} and is_named and holds_four_digits(row)


def part_head(rows: Sequence[Row], speaks: Callable[[str], bool]) -> tuple[int, list[str]]:
    """How many rows at the top of a table are its head of names and values, and the time and the units that it gives.

    "Accounting period end date | 2024-12-31", "Currency | EUR". The head ends where a row that `speaks`, or a code, has
    a number. 0 if no row of two cells names the last day of the accounts.
    """
    pairs = [(at, row.name, row.cells[1]) for at, row in enumerate(rows) if row.width == _PAIR]
    begun, ended = (
        next(((at, value) for at, name, value in pairs if named.search(name) and find_periods(value)), (0, ""))
        for named in (WORDS.period_begin_name, WORDS.period_end_name)
    )
    if not ended[1]:
        return 0, []
    body = (at for at, name, value in pairs if at > ended[0] and is_number(value) and (is_code(name) or speaks(name)))
    head = next(body, 0)
    units = [value for at, _, value in pairs if at < head and only_units(value)]
    return head, [*units, f"{begun[1]} to {ended[1]}" if begun[1] else ended[1]]


_PAIR: Final = 2
_CODE: Final = re.compile(r"[A-ZØ][A-Z\dØ]|\d[A-ZØ]|\d{1,4}(?:/\d{1,3})?[A-Z]?")
_FEWEST_CODES: Final = 5


def is_code(text: str) -> bool:
    """Whether a cell may be the code of a line on a form."""
    return _CODE.fullmatch(text) is not None


def code_columns(rows: Sequence[Row]) -> list[int]:
    """The columns of a form with the codes or numbers of its lines: `DA`, `1B`, `20/58`, `001`; many are no numbers."""
    held: dict[int, list[str]] = {}
    for row in rows:
        for at, cell in enumerate(row.cells):
            if cell:
                held.setdefault(at, []).append(cell)
    columns: list[int] = []
    for at, cells in held.items():
        codes = list(filter(is_code, cells))
        named = sum(not cell.isdecimal() for cell in codes)
        unmistakable = sum("/" in cell for cell in codes) >= _FEWEST_CODES  # and they may stand in place of labels
        named += sum(cell[0] == "0" and len(cell) > 1 for cell in codes)
        told = unmistakable or (at and len(codes) >= 0.8 * len(cells) and 3 * named >= len(codes))
        if told and 2 * len(codes) >= max(2 * _FEWEST_CODES, len(cells)):
            columns.append(at)
    return columns


_FEWEST_IN_SECTIONS: Final = 6


def begins_with_sections(rows: Sequence[Row]) -> bool:
    """Whether the first column names the statement of each row, and the second its label: "P&L | Revenue | USD | 12".

    Other names there may be other companies, parts of this one, or scenarios: "Europe | Revenue", "Budget | Revenue".
    """
    first = rows[0].cells if rows else []
    is_headed = len(first) > 1 and WORDS.section_heading.fullmatch(first[0]) and WORDS.item_heading.fullmatch(first[1])
    fewest = 1 if is_headed else _FEWEST_IN_SECTIONS
    numbered = (row for row in rows if row.width > _PAIR and row.name and row.has_number(comma_decimal=False))
    sections = [row.name for row in numbered if _is_label(row.cells[1])]
    return len(sections) >= fewest and all(map(WORDS.statement_section.fullmatch, sections))


def _is_label(cell: str) -> bool:
    return any(map(str.isalpha, cell)) and not is_number(cell) and not only_units(cell) and not find_periods(cell)


def with_note_column(header: Sequence[Row], body: Sequence[Row]) -> list[Row]:
    """The rows of a header with a cell added for note numbers, if the rows below have such a column and it does not."""
    narrow = max((row.width for row in header), default=0)
    wide = [row for row in body if row.width == narrow + 1 and any(row.cells[2:])]
    notes = [row.cells[1] for row in wide if row.cells[1]]
    is_noted = 0 < len(notes) < len(wide) or any(_NOTE.fullmatch(row.name) for row in header)
    slips = any(row.width == narrow and row.has_number(comma_decimal=False) for row in body)  # rows without a note
    if not notes or not is_noted or slips or not all(map(_NOTE_NUMBER.fullmatch, notes)):
        return list(header)
    names = ["" for _ in header[1:]] + ["Note"]
    return [
        Row(row.start, [row.cells[0], name, *row.cells[1:]], [row.starts[0], *row.starts], row.loose)
        for row, name in zip(header, names, strict=True)
    ]


def part_times(row: Row, numbers: Sequence[int]) -> Row:
    """A header row whose only words are the times of all columns with `numbers`, with each over its own column.

    "31-12-2024 31-12-2023" over two columns. A row that lacks the empty cell over the labels gets it.
    """
    is_short = row.width == len(numbers) > 1 and row.width == numbers[-1] and all(row.cells)
    if is_short and (len({*row.cells}) == 1 or all(map(_is_dated, row.cells))):
        return Row(row.start, ["", *row.cells], [row.start, *row.starts], row.loose)
    if len(numbers) < _PAIR or sum(map(bool, row.cells[1:])) != 1 or row.cells[0]:
        return row
    words = "".join(row.cells)
    times = [when for when in find_periods(words) if when.dated]
    if len(times) != len(numbers):
        return row
    if any(WORDS.between_listed.fullmatch(words, one.stop, other.start) for one, other in pairwise(times)):
        return row  # "June 30, 2024 and 2023"
    starts = [0, *(when.start for when in times[1:]), len(words)]
    cells = dict(zip(numbers, (words[start:stop].strip() for start, stop in pairwise(starts)), strict=True))
    width = max(numbers) + 1
    return Row(row.start, [cells.get(at, "") for at in range(width)], [row.start] * width, row.loose)


_NOTE: Final = re.compile(alternation(header_words("note")), re.IGNORECASE)


def is_note_heading(cell: str) -> bool:
    """Whether a cell heads the column of note numbers."""
    return _NOTE.fullmatch(cell) is not None


def is_note_number(cell: str) -> bool:
    """Whether a cell may contain one or more note numbers."""
    return _NOTE_NUMBER.fullmatch(cell) is not None


_NOTE_NUMBER: Final = re.compile(r"\(?\d{1,2}(?:[.,/&] ?\d{1,2})*[a-z]?\)?")


def find_unit_lines(header: Sequence[Row]) -> Iterator[str]:
    """The single-cell lines in a header that give units to the whole table."""
    for row in header:
        filled = [cell for cell in row.cells if cell]
        if len(filled) == 1 and read_units(filled[0]) != Units():
            yield filled[0]


def of_percents(row: Row, numbers: Sequence[int]) -> Iterator[int]:
    """The columns with percentages beside amounts: "2,110 | 30% | 2,196 | 33%"."""
    for left, index in pairwise(numbers):
        if index == left + 1 and row.cells[index].endswith("%") and not row.cells[left].endswith("%"):
            yield index


_MOST_BETWEEN: Final = 500
"""Characters of feet and heads between the parts of a table."""

_LONGEST_PAGE_TITLE: Final = 110
"""Characters of a line that may be a part's own heading."""

_MOST_PAGE_TITLES: Final = 40
"""Lines over the parts of a table that are kept."""


def whole_grids(text: str, *, of_pages: bool = True, sheets: Sequence[int] = ()) -> Iterator[Grid]:
    """The tables of a text; a table that continues after a page break gets the heading of its beginning.

    Only if the text is `of_pages`: a new sheet or slide starts a new table. Within one of the `sheets`, of which the
    offsets are given, a statement below others gets the heading of the first.
    """
    before: Grid | None = None
    end = of_sheet = 0
    labels: dict[str, list[str]] = {}
    for grid in grids(text):
        if sheet := bisect_right(sheets, grid.rows[0].start):
            heading = _heading_of_days(before) if before is not None and sheet == of_sheet else []
            if before is not None and heading and _stands_under(heading, grid, labels):
                yield Grid([*before.titles, *grid.titles], [*heading, *grid.rows])
            else:
                before, of_sheet, labels = grid, sheet, {}
                yield grid
            labels |= {row.label.casefold(): row.cells for row in grid.rows[:_MOST_OF_A_STATEMENT]}
            continue
        between = text[end : grid.rows[0].start + 1]  # a break may be the row's own first character
        if of_pages and before is not None and _goes_on(before, grid, between):
            titles = [*before.titles, *grid.titles][-_MOST_PAGE_TITLES:]
            whole = Grid(titles, [*_heading_of_days(before), *grid.rows])
        elif of_pages and before is not None and _repeats_heading(before, grid, between):
            whole = Grid(before.titles, grid.rows)
        else:
            whole = grid
        last = whole.rows[-1]
        end = last.starts[-1] + len(last.cells[-1])
        before = whole
        yield whole


_PAGE_NUMBER: Final = re.compile(r"\d+(?: (?:di|of|von|de|van|/) \d+)?$")
_LONGEST_DAY: Final = 20


def _repeats_heading(before: Grid, grid: Grid, between: str) -> bool:
    """Whether a page begins with the heading of the table on the page before it, and with nothing else."""
    own = {_PAGE_NUMBER.sub("", title) for title in grid.titles}
    heading = [row.cells for row in _heading(grid)]
    return (
        between.count("\f") == 1
        and len(between) <= _MOST_BETWEEN
        and own <= {_PAGE_NUMBER.sub("", title) for title in before.titles}
        and any(map(any, heading))
        and heading == [row.cells for row in _heading(before)][: len(heading)]
    )


def _goes_on(before: Grid, grid: Grid, between: str) -> bool:
    if between.count("\f") != 1 or len(between) > _MOST_BETWEEN or _width(before) != _width(grid) or _width(grid) < 2:
        return False
    if any(len(list(filter(None, row.cells))) > 1 or _mentions_time(row) for row in _heading(grid)):
        return False  # it has its own heading
    if not any(map(_has_numbers, grid.rows)):
        return False
    running = {_PAGE_NUMBER.sub("", title) for title in before.titles}
    own = [title for title in grid.titles if _PAGE_NUMBER.sub("", title) not in running]
    if any(len(title) < _LONGEST_PAGE_TITLE and find_periods(title) for title in own):
        return False
    return any(_mentions_time(row) for row in _heading_of_days(before))


def _stands_under(heading: Sequence[Row], grid: Grid, labels: Mapping[str, Sequence[str]]) -> bool:
    """Whether a table of a sheet without a heading stands under the days or years of one above it.

    Each of its numbers does, all of them in most rows; what heads it is a statement's name, with no word of a part or
    scenario; and no row has the name of one above it (`labels`) with other numbers.
    """
    rows = [row for row in grid.rows[:_MOST_OF_A_STATEMENT] if _has_numbers(row)]
    own = " ".join([*grid.titles, *(" ".join(row.cells) for row in _heading(grid))]).strip()
    if not rows or not has_days(heading[-1]) or not _is_statement_name(own):
        return False
    dated = {at for at, cell in enumerate(heading[-1].cells) if _is_dated(cell)}
    numbers = [{at for at, cell in enumerate(row.cells) if at and is_number(cell)} for row in rows]
    if not all(each <= dated for each in numbers) or 2 * numbers.count(dated) <= len(rows):
        return False
    return all(row.cells == labels.get(row.label.casefold(), row.cells) for row in rows)


def _is_statement_name(heading: str) -> bool:
    """Whether a heading is the name of a statement and nothing else but units of money: "Balance sheet (USD m)"."""
    match = WORDS.statement_heading.match(heading) or WORDS.statement_section.match(heading)
    rest = heading[match.end() :] if match else heading
    return match is not None and (not rest or (only_units(rest) and not read_units(rest).percent))


_MOST_OF_A_STATEMENT: Final = 200
"""Rows of a table in a sheet by which it is told whether it stands under the heading of another."""


def _heading_of_days(grid: Grid) -> list[Row]:
    """The last rows above numbers that end in a day for each column; if there are none, the table's first heading."""
    rows = grid.rows[-_LONGEST_STATEMENT:]
    last = next((at for at in range(len(rows) - 1, -1, -1) if not _has_numbers(rows[at]) and has_days(rows[at])), None)
    if last is None:
        return _heading(grid)
    first = next((at for at in range(last, -1, -1) if _has_numbers(rows[at])), -1) + 1
    return rows[max(first, last - _MOST_HEADER_ROWS + 1) : last + 1]


def has_days(row: Row) -> bool:
    """Whether each column of a row has its own day or year."""
    days = [cell for cell in row.cells[1:] if cell and not _NOTE.fullmatch(cell)]
    if days and not row.cells[0] and not find_periods(days[0]):
        days = days[1:]  # over the labels, which a form begins behind empty columns
    told = [find_periods(day) for day in days if len(day) <= _LONGEST_DAY]
    are_days = all(len(each) == 1 and each[0].dated for each in told) and len(told) == len(days)
    return len(days) > 1 and len({*days}) == len(days) and are_days


def _heading(grid: Grid) -> list[Row]:
    """The rows above the first one that has a number beside its label; all rows if there is none."""
    at = next((at for at, row in enumerate(grid.rows) if _has_numbers(row)), len(grid.rows))
    return grid.rows[max(0, at - _MOST_HEADER_ROWS) : at]


def _has_numbers(row: Row) -> bool:
    return row.has_number(comma_decimal=False)


def _is_dated(cell: str) -> bool:
    return any(when.dated for when in find_periods(cell))


def _mentions_time(row: Row) -> bool:
    return any(find_periods(cell) for cell in row.cells)


def _width(grid: Grid) -> int:
    return max(row.width for row in grid.rows)
