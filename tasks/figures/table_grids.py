"""The tables of a text as rows of cells, with the lines above them, each whole where pages or rows part it.

Rows are lines with tabs, as readers write tables; if a PDF's table has no tabs, lines with a label and several numbers
are rows too. What the cells mean is decided elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from tasks.figures.figure import WORDS
from tasks.figures.table_rows import MOST_PIECES, YEAR, Row, has_days, is_dated, is_label, is_number, is_year
from tasks.language.numbers import only_units, read_units
from tasks.language.periods import MONTH, find_periods

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
LONGEST_STATEMENT: Final = 2000
"""Rows of a table that are looked at for dates cut into cells."""
_MOST_SECTIONS: Final = 3
"""Lines of one cell in a row that may be sections of the table that they stand in."""
_NUMBER: Final = r"(?:[$€£]? ?\(?[-–−]?[$€£]? ?\(?\d[\d.,]*\)?%?|[$€£]? ?[—–-])"
_LOOSE_ROW: Final = re.compile(
    rf"^(?P<label>(?:\d{{1,2}}[.)] ?)?[^\d$€£][^$€£]*?[^\s$€£(—–-]):? +(?P<cells>{_NUMBER}(?: {_NUMBER}){{1,7}}) ?%?$"
)
_ENDS_IN_DATE: Final = re.compile(rf"\b{MONTH} [0-3]?\d, ?(?:19|20)\d\d$", re.IGNORECASE)
"""A line whose last numbers are a day and its year: a sentence or a title where it has more words than a date."""
_ENDS_IN_MONTH: Final = re.compile(rf"\b{MONTH}$", re.IGNORECASE)
_ENDS_IN_SCALE: Final = re.compile(r"(?:\b1(?:[.,'’ ]000)+|[$€£]['’]?000(?:,000)?)\)?$")
_REST: Final = re.compile(r"\S.*")
_DAY_ALONE: Final = re.compile(r"[0-3]?\d,?")
_LOOSE_CELL: Final = re.compile(_NUMBER + r"(?= |%|$) ?%?")
_LOOSE_YEARS: Final = re.compile(r"^(?:(?:19|20)\d\d)(?: +(?:19|20)\d\d){1,5}(?: +[%A-Za-z].{0,40})?$")
_DAY: Final = r"[0-3]?\d[./][01]?\d[./](?:(?:19|20)\d\d|\d\d)"
_SPAN: Final = rf"(?:(?:{_DAY}|[0-3]?\d\.[01]?\d\.) ?[-–] ?)?{_DAY}"
_LOOSE_DAYS: Final = re.compile(rf"(?P<label>\D{{0,80}}?) ?(?<!\S)(?P<cells>{_SPAN}(?: +{_SPAN}){{0,5}})")
"""Days over columns, or both ends of one time: "Conto economico 31/12/2024 31/12/2023"."""
_LOOSE_DAY: Final = re.compile(_SPAN)
_FULL_DATE: Final = re.compile(rf"\b{MONTH} [0-3]?\d, ?(?:19|20)\d\d", re.IGNORECASE)


@dataclass(slots=True)
class Grid:
    """A table: its rows, the lines above it, nearest last, and the units alone at its sheet's top."""

    titles: list[str]
    rows: list[Row] = field(default_factory=list)
    units: list[str] = field(default_factory=list)


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
    """Whether a line ends the table before it: by a page, a blank line or prose."""
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
    """Whether a row's first number is part of its label, and not of units, "Sales in EUR 1,000"."""
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
        found = list(YEAR.finditer(line))
        rest = _REST.search(line, found[-1].end())
        return _loose_row("", start, [*found, *([rest] if rest else [])])
    dates = list(_FULL_DATE.finditer(line)) if _ENDS_IN_DATE.search(line) else []
    if len(dates) > 1 and not _FULL_DATE.sub("", line).strip():
        return _loose_row("", start, dates)
    if days := _LOOSE_DAYS.fullmatch(line):
        heads = list(_LOOSE_DAY.finditer(line, days.start("cells")))
        return _loose_row(days["label"].strip(), start, heads) if len(heads) > 1 else None
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
    below = _below_labels(rows[:LONGEST_STATEMENT], text)
    for at, row in enumerate(rows):
        if at in below:
            label = rows[at - 1]
            yield Row(label.start, [label.name, *row.cells[1:]], [label.start, *row.starts[1:]], row.loose)
        elif at < LONGEST_STATEMENT and row.may_be_short and _is_cut_date(row):
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
    named = sum(1 for row in rows if row.name and row.has_number())
    return below if len(below) > named else ()


def _begins_with_number(row: Row) -> bool:
    if row.name or not row.has_number():
        return False
    first, *others = filter(None, row.cells)
    is_first = is_number(first) and not find_periods(first)
    return is_first and not any(is_label(cell) and not WORDS.no_number.fullmatch(cell) for cell in others)


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
    if not 1 < len(filled) <= MOST_PIECES or not is_year(filled[-1]) or not any(map(str.isalpha, filled[0])):
        return False
    found = find_periods(" ".join(filled))
    return (
        len(found) == 1 and found[0].end is not None and WORDS.date_words.sub("", " ".join(filled)).strip(" ,.") == ""
    )


_MOST_BETWEEN: Final = 500
"""Characters of feet and heads between the parts of a table."""
_LONGEST_PAGE_TITLE: Final = 110
"""Characters of a line that may be a part's own heading."""
_MOST_PAGE_TITLES: Final = 40
"""Lines over the parts of a table that are kept."""


def whole_grids(
    text: str, means: Callable[[str], object], *, of_pages: bool = True, sheets: Sequence[int] = ()
) -> Iterator[Grid]:
    """The tables of a text; a table that continues after a page break gets the heading of its beginning.

    Only if the text is `of_pages`: a new sheet or slide starts a new table. Within one of the `sheets`, of which the
    offsets are given, a statement below others gets the heading of the first, and tables without units those that stand
    alone at the sheet's top; `means` tells whether a label names a concept.
    """
    for sheet, held in groupby(grids(text), lambda grid: bisect_right(sheets, grid.rows[0].start)):
        if sheet:
            yield from _sheet_grids(held, means)
        else:
            yield from _page_grids(text, held, of_pages=of_pages)


def _sheet_grids(held: Iterable[Grid], means: Callable[[str], object]) -> Iterator[Grid]:
    before: Grid | None = None
    units: list[str] = []
    labels: dict[str, list[str]] = {}
    for grid in held:
        grid.rows = _without_lead(grid.rows)
        if before is None:
            units = [title for title in grid.titles if only_units(title) and read_units(title).multiplier]
        grid.units = units
        if before and (heading := _heading_of_days(before)) and _stands_under(heading, grid, labels, means):
            yield Grid([*before.titles, *grid.titles], [*heading, *grid.rows])
        else:
            if before is None or not WORDS.drivers.fullmatch(_own_heading(grid)):
                before, labels = grid, {}
            yield grid
        named = (row for row in grid.rows[:_MOST_OF_A_STATEMENT] if "%" not in "".join(row.cells[1:]))
        labels |= {row.label.casefold(): row.cells for row in named}


def _without_lead(rows: list[Row]) -> list[Row]:
    """A sheet's rows without the columns before their labels: empty ones, and a count from 0 that nothing heads."""
    while rows and len(rows) <= _MOST_OF_A_STATEMENT:
        first, *names = [row.name for row in rows if row.width > 1] or [""]
        if first or not names or (any(names) and (len(names) < _SURE or names != [*map(str, range(len(names)))])):
            break
        rows = [row if row.width == 1 else Row(row.starts[1], row.cells[1:], row.starts[1:]) for row in rows]
    return rows


_SURE: Final = 3


def _page_grids(text: str, held: Iterable[Grid], *, of_pages: bool) -> Iterator[Grid]:
    before: Grid | None = None
    end = 0
    for grid in held:
        between = text[end : grid.rows[0].start + 1]  # a break may be the row's own first character
        before = _continue(before, grid, between) if of_pages and before is not None else grid
        last = before.rows[-1]
        end = last.starts[-1] + len(last.cells[-1])
        yield before


def _continue(before: Grid, grid: Grid, between: str) -> Grid:
    """A table with the heading of the one before it, if it continues that after a page break; `between`: their text."""
    if _goes_on(before, grid, between):
        titles = [*before.titles, *grid.titles][-_MOST_PAGE_TITLES:]
        return Grid(titles, [*_heading_of_days(before), *grid.rows])
    return Grid(before.titles, grid.rows) if _repeats_heading(before, grid, between) else grid


_PAGE_NUMBER: Final = re.compile(r"\d+(?: (?:di|of|von|de|van|/) \d+)?$")


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
    if not any(map(Row.has_number, grid.rows)):
        return False
    running = {_PAGE_NUMBER.sub("", title) for title in before.titles}
    own = [title for title in grid.titles if _PAGE_NUMBER.sub("", title) not in running]
    if any(len(title) < _LONGEST_PAGE_TITLE and find_periods(title) for title in own):
        return False
    return any(_mentions_time(row) for row in _heading_of_days(before))


def _stands_under(
    heading: Sequence[Row], grid: Grid, labels: Mapping[str, Sequence[str]], means: Callable[[str], object]
) -> bool:
    """Whether a table of a sheet without a heading stands under the days or years of one above it.

    Each of its numbers does, all of them in most rows; what heads it is a statement's name, with no word of a part or
    scenario; and of the rows that have the name of one above it (`labels`) with other numbers none names a concept, and
    they are fewer than half.
    """
    rows = [row for row in grid.rows[:_MOST_OF_A_STATEMENT] if row.has_number()]
    if not rows or not has_days(heading[-1]) or not is_statement_name(_own_heading(grid)):
        return False
    dated = {at for at, cell in enumerate(heading[-1].cells) if is_dated(cell)}
    numbers = [{at for at, cell in enumerate(row.cells) if at and is_number(cell)} for row in rows]
    if not all(each <= dated for each in numbers) or 2 * numbers.count(dated) <= len(rows):
        return False
    others = [row.label for row in rows if row.cells != labels.get(row.label.casefold(), row.cells)]
    return 2 * len(others) < len(rows) and not any(map(means, others))


def _own_heading(grid: Grid) -> str:
    """What stands over a table's numbers, in one line, without what is said of hidden rows."""
    lines = [*grid.titles, *(" ".join(row.cells) for row in _heading(grid))]
    return HIDDEN.sub(" ", " ".join(lines)).strip()


def is_statement_name(heading: str) -> bool:
    """Whether a heading is the name of a statement, with nothing behind it but units of money or a section of it:
    "Balance sheet (USD m)", "Balance sheet: assets".
    """
    match = WORDS.statement_heading.match(heading) or WORDS.statement_section.match(heading)
    rest = WORDS.statement_parts.sub("", heading[match.end() :]).strip(" :") if match else heading
    return match is not None and (not rest or (only_units(rest) and not read_units(rest).percent))


HIDDEN: Final = re.compile(r"\[hidden [^\]]*\](?: to (?:\[hidden [^\]]*\]|\d+)| \d+(?: to \d+)?)?")
"""What the text of a workbook says of rows and columns that are not shown."""


_MOST_OF_A_STATEMENT: Final = 200
"""Rows of a table in a sheet by which it is told whether it stands under the heading of another."""


def _heading_of_days(grid: Grid) -> list[Row]:
    """The last rows above numbers that end in a day for each column; if there are none, the table's first heading."""
    rows = grid.rows[-LONGEST_STATEMENT:]
    last = next((at for at in range(len(rows) - 1, -1, -1) if not rows[at].has_number() and has_days(rows[at])), None)
    if last is None:
        return _heading(grid)
    first = next((at for at in range(last, -1, -1) if rows[at].has_number()), -1) + 1
    return rows[max(first, last - _MOST_HEADER_ROWS + 1) : last + 1]


def _heading(grid: Grid) -> list[Row]:
    """The rows above the first one that has a number beside its label; all rows if there is none."""
    at = next((at for at, row in enumerate(grid.rows) if row.has_number()), len(grid.rows))
    return grid.rows[max(0, at - _MOST_HEADER_ROWS) : at]


def _mentions_time(row: Row) -> bool:
    return any(find_periods(cell) for cell in row.cells)


def _width(grid: Grid) -> int:
    return max(row.width for row in grid.rows)
