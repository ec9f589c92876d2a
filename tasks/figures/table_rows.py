"""The rows of a table: their cells, and which of these are numbers, years, notes or codes."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final

from tasks.figures.figure import WORDS, find_basis
from tasks.language.numbers import Units, cell_amount, may_be_scale, only_units, read_units
from tasks.language.periods import HINT, find_periods, header_period, header_words
from tasks.language.words import alternation

MOST_PIECES: Final = 3
"""Cells of a row into which a date may be cut."""


YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MARKED_YEAR: Final = re.compile(r"(?:19|20)\d\d(?:\D| ?\([a-z1-9]\)| \((?:19|20)\d\d000\))?")
_LONGEST_YEAR: Final = 14
_UNITS_OF_YEAR: Final = re.compile(r"(.*?)(?<![\d.,])(?:19[89]\d|20[0-3]\d)(?![\d.,])(.*)")
_LONGEST_UNITS: Final = 30
_CODE_OF_LINE: Final = re.compile(r"\d{1,2}(?:\.\d{1,2})*")
"""What numbers the lines of a chart of accounts, before their labels: "3.01"."""
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
            return sum(map(bool, self._cells)) <= MOST_PIECES
        return self._line.count("\t") < MOST_PIECES or "\t\t" in self._line or self._line[0] == "\t"

    def has_number(self, *, comma_decimal: bool = False) -> bool:
        """Whether a cell after the first contains an amount that is not a year."""
        if self._line is not None and not self._cells and WORDS.row_plain_number.search(self._line):
            return True
        return any(is_number(cell, comma_decimal=comma_decimal) for cell in self.cells[1:])

    def has_number_between(self, first: int, last: int) -> bool:
        """Whether a cell from `first` to before `last`, both within the row, contains an amount that is not a year."""
        if self._counts is None:
            self._counts = list(accumulate(map(is_number, self.cells), initial=0))
        return self._counts[last] > self._counts[first]


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
        if row is not None and sum(map(bool, row.cells)) == _PAIR and row.has_number():
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
    years = [int(year[0]) for cell in filled if (year := YEAR.search(cell))]
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
    numbered = (row for row in rows if row.width > _PAIR and row.name and row.has_number())
    sections = [row.name for row in numbered if is_label(row.cells[1])]
    return len(sections) >= fewest and all(map(WORDS.statement_section.fullmatch, sections))


def time_column(rows: Sequence[Row], speaks: Callable[[str], bool]) -> int | None:
    """The column, 0 or 1, in which each row names its own time beside its label: "2018 | Revenue | 900".

    No two rows say the same of one time, and none has another name; `speaks` knows two labels, and all occur again.
    """
    numbered = [row for row in rows if row.width > _PAIR and row.has_number()]
    for at in (0, 1):
        names = [row.cells[1 - at] for row in numbered]
        times = [row.cells[at] for row in numbered]
        known = {*filter(speaks, {*names})}
        if (
            len(known) >= _PAIR
            and (rows[0] in numbered or any(map(WORDS.time_heading.fullmatch, rows[0].cells[at : at + 1])))
            and all(map(_is_span, times))
            and not any(is_label(cell) for row in numbered for cell in row.cells[_PAIR:])
            and len({*zip(times, names, strict=True)}) == len(numbered) >= _PAIR * len({*names})
        ):
            return at
    return None


def _is_span(cell: str) -> bool:
    """Whether a cell is a year or part of one, and not a day."""
    when = header_period(cell) if len(cell) <= _LONGEST_YEAR else None
    return when is not None and when.dated and (when.end is None or when.months is not None)


def is_label(cell: str) -> bool:
    return any(map(str.isalpha, cell)) and not is_number(cell) and not only_units(cell) and not find_periods(cell)


def repeats_rows(rows: Sequence[Row], at: int) -> bool:
    """Whether rows of one label name different companies in a column."""
    named = [row for row in rows if at < row.width and row.cells[at][:1].isupper() and not _OUTLINE(row.cells[at])]
    names = {(row.label, row.cells[at].casefold()) for row in named if not read_units(row.cells[at]).currency}
    return len(names) > len({label for label, _ in names})


_OUTLINE: Final = re.compile(r"[A-Z]?[IVX\d.)]*").fullmatch
"""The number of an item of a statement, "A.II.1", under a heading that names companies elsewhere."""


def find_unfilled(rows: Sequence[Row], *, comma_decimal: bool) -> frozenset[int]:
    """The columns whose numbers, three or more, are all nought: nobody filled them in, or there was no company yet."""
    held: dict[int, list[bool]] = {}
    for row in rows:
        for at, cell in enumerate(row.cells):
            if at and is_number(cell, comma_decimal=comma_decimal):
                held.setdefault(at, []).append(not set("123456789").isdisjoint(cell))
    return frozenset(at for at, values in held.items() if len(values) >= _FEWEST_COUNTED and not any(values))


def with_note_column(header: Sequence[Row], body: Sequence[Row]) -> list[Row]:
    """The rows of a header with a cell added for note numbers, if the rows below have such a column and it does not."""
    narrow = max((row.width for row in header), default=0)
    wide = [row for row in body if row.width == narrow + 1 and any(row.cells[2:])]
    notes = [row.cells[1] for row in wide if row.cells[1]]
    is_noted = 0 < len(notes) < len(wide) or any(_NOTE.fullmatch(row.name) for row in header)
    slips = any(row.width == narrow and row.has_number() for row in body)  # rows without a note
    if not notes or not is_noted or slips or not all(map(NOTE_NUMBER.fullmatch, notes)):
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
    if is_short and (len({*row.cells}) == 1 or all(map(is_dated, row.cells))):
        return Row(row.start, ["", *row.cells], [row.start, *row.starts], row.loose)
    if len(numbers) < _PAIR or sum(map(bool, row.cells[1:])) != 1:
        return row
    words = "".join(row.cells[1:])
    times = [when for when in find_periods(words) if when.dated]
    if len(times) > 1 and words[times[0].stop : times[1].start].isspace() and header_period(words):
        return Row(row.start, row.cells[:1], row.starts[:1], row.loose)  # both ends of a time, or the heads of two
    if row.cells[0] or len(times) != len(numbers):
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


NOTE_NUMBER: Final = re.compile(r"\(?\d{1,2}(?:[.,/&] ?\d{1,2})*[a-z]?\)?")


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


_LONGEST_DAY: Final = 20


def has_days(row: Row) -> bool:
    """Whether each column of a row has its own day or year."""
    days = [cell for cell in row.cells[1:] if cell and not _NOTE.fullmatch(cell)]
    if days and not row.cells[0] and not find_periods(days[0]):
        days = days[1:]  # over the labels, which a form begins behind empty columns
    told = [find_periods(day) for day in days if len(day) <= _LONGEST_DAY]
    are_days = all(len(each) == 1 and each[0].dated for each in told) and len(told) == len(days)
    return len(days) > 1 and len({*days}) == len(days) and are_days


def is_dated(cell: str) -> bool:
    return any(when.dated for when in find_periods(cell))
