"""Tables on a PDF's page without rules, mainly financial statements, recognised by their gutters.

Consecutive lines of several cells are a table if white gutters run through them. A column is where most lines have
something. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures, a label that fills its
column and continues on the next line is one cell, and empty cells keep their place.
"""

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Final

from tasks.reading.pdf.lines import GUTTER, Interval, Line, LineCell, build_lines, is_figure, is_header, offset, over
from tasks.reading.pdf.rows import Rows, TableRow, figures_in_one_cell
from tasks.reading.pdf.rules import RuledLine
from tasks.reading.pdf.table_columns import (
    FEWEST,
    beside_caption,
    columns_below_titles,
    find_column,
    find_columns,
    find_full_row_columns,
    find_sheet_columns,
    is_list,
    is_of_sheet,
    is_table,
    link_words,
    part_at_edges,
    part_at_rivers,
    runs_on,
    several_cells,
    with_signs,
    without_notes,
)
from tasks.reading.pdf.words import PageWord

_APART: Final = 3.4
"""Lines further apart than so many sizes are not of one table."""
_FARTHEST: Final = 7.0
"""The same with a rule between them that runs over most of both."""
_COVERED: Final = 0.8
"""The share of a line's width that such a rule covers."""
_LEADING: Final = 2.0
"""Lines of a cell are nearer than so many sizes."""
_LONE: Final = 2
"""Lines of one cell in a row that a table goes on behind: headings within it, labels that wrap."""
_SENTENCE: Final = 12
"""Words of a line above which it is a sentence between two tables if it runs over their figures or ends in a colon."""
_MOST_LONE: Final = 8
"""The same where they stand in the first column: a label that wraps many times."""
_MOST_LINES: Final = 15
"""The same where each goes on a cell within the row, as what an invoice says of an item."""


def trim_block(block: list[Line]) -> list[Line]:
    """The block up to its last line of several cells, or up to a line drawn before the lines above it were complete."""
    while block and len(block[-1].cells) < 2:
        last = next((line for line in reversed(block) if len(line.cells) > 1), None)
        drawn = sorted(word.first for word in last.words) if last is not None else [0]
        if drawn[0] < block[-1].words[0].first < drawn[-1]:
            break
        if last is not None and _goes_on(block, last):
            break
        block = block[:-1]
    return block


def _goes_on(block: Sequence[Line], last: Line) -> bool:
    """Whether the lines below the last one with several cells are within one of its cells, close together."""
    below = block[block.index(last) :]
    near = all(two.base - one.base < _LEADING * max(one.size, two.size) for one, two in itertools.pairwise(below))
    return near and all(_is_within(line, last) for line in below[1:])


def _is_within(line: Line, row: Line | None) -> bool:
    """Whether a line begins where a middle cell of a row does, and ends before the next cell."""
    cells = row.cells[1:] if row is not None else []
    return any(
        abs(cell.left - line.left) < 1 and line.right < behind.left for cell, behind in itertools.pairwise(cells)
    )


def _is_ruled(above: Line, line: Line, rules: Sequence[RuledLine]) -> bool:
    """Whether two lines of several cells are widely spaced rows, with a rule across their width between them."""
    if min(len(above.cells), len(line.cells)) < 2 or line.base - above.base > _FARTHEST * max(above.size, line.size):
        return False
    left, right = max(above.left, line.left), min(above.right, line.right)
    widest = max(above.right - above.left, line.right - line.left)
    return right - left > 0 and any(
        above.base < rule.at < line.base - line.size / 2
        and min(rule.end, max(above.right, line.right)) - max(rule.begin, min(above.left, line.left))
        > _COVERED * widest
        for rule in rules
    )


def find_blocks(lines: Sequence[Line], rules: Sequence[RuledLine] = ()) -> list[list[Line]]:
    """Runs of lines that begin and end with several cells, with at most a few lines of one cell in between."""
    if is_of_sheet(lines):
        return _sheet_block(lines)
    blocks: list[list[Line]] = []
    run: list[Line] = []
    lone = 0
    label_end = math.inf
    row: Line | None = None  # the last line of several cells
    for line in lines:
        apart = bool(run) and line.base - run[-1].base > _APART * max(line.size, run[-1].size)
        if apart and not _is_ruled(run[-1], line, rules):
            blocks.append(run)
            run = []
        if len(line.cells) > 1:
            label_end = min(label_end, line.cells[1].left) if run else line.cells[1].left
            lone = 0
            run.append(line)
            row = line
        elif run and lone < _MOST_LINES and _is_within(line, row) and line.base - run[-1].base < _LEADING * line.size:
            run.append(line)
        elif run:
            run.append(line)
            lone += 1
            leads_in = line.right > label_end or line.words[-1].text.endswith(":")
            sentence = len(line.words) > _SENTENCE and line.left + line.size < label_end and leads_in
            if sentence or (
                lone > _LONE and (lone > _MOST_LONE or any(other.right > label_end for other in run[-lone:]))
            ):
                blocks.append(run)
                run = []
    return [block for block in map(trim_block, [*blocks, run]) if block]


def _sheet_block(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of a printed sheet from the first with several cells to the last one: a page is one table."""
    rows = [index for index, line in enumerate(lines) if len(line.cells) > 1]
    return [list(lines[rows[0] : rows[-1] + 1])] if rows else []


def find_table_end(block: Sequence[Line]) -> int:
    """Where a table ends within a block: at the first line that crosses the gutters of those above."""
    rows: list[Line] = []
    columns: list[Interval] = []
    for index, line in enumerate(block):
        across = any(over(cell, columns) > 1 for cell in line.cells)
        if len(line.cells) > 1:
            rows.append(line)
            fits = not across and all(over(cell, columns) == 1 for cell in line.cells)
            if fits:
                continue
            before, columns = columns, find_columns(rows, line.size)
            if across and len(rows) > 2 and len(columns) < max(2, 0.6 * len(before)):
                return index
        elif across and rows and not (line.words[0].text.startswith("(") and all(map(is_header, rows))):
            return index  # `(in thousands)` below headers is no end
    return len(block)


_HEADER_LEADING: Final = 2.2
"""Headers no further above a table than so many sizes are part of it."""
_MOST: Final = 4
"""Lines above a table that are looked at."""
_LONGEST: Final = 12
"""Words of a line that is a header at most: one with more is prose."""
_LEVEL: Final = 0.7
"""Lines of a header that stand nearer than so many sizes are one: some programs set each heading a little higher."""
_CENTRED: Final = 0.15
"""How far a heading's middle is from that of the columns below it, as a share of their width."""
_ALIGNED: Final = 1.0
"""Points by which the lines of a header stand apart at most, at one of their sides or in their middle."""
_NEAR: Final = 0.5
"""The same in sizes, for headers a space apart."""


def headers_above(lines: Sequence[Line], first: Line, columns: Sequence[Interval]) -> list[Line]:
    """The single-cell lines right above a table's first line that are above columns other than the first.

    Adjacent headers with only a space between them are separated, and one centred above several columns belongs to all
    of them.
    """
    headers: list[Line] = []
    for line in reversed([line for line in lines if line.base < first.base][-_MOST:]):
        below = headers[0] if headers else first
        near = below.base - line.base < _HEADER_LEADING * max(line.size, below.size)
        if not near or len(line.cells) > 1 or line.left < columns[1][0] - line.size:
            break
        _part(line, below, columns)
        beside = bool(headers) and _are_beside(line, below)
        under = [*headers, first][1] if beside else below
        if len(line.cells) == 1 and over(line.cells[0], columns) != 1 and not _is_centred(line, under, columns):
            break
        if beside:
            left, right = sorted((line, below), key=attrgetter("left"))
            cells, size = [*left.cells, *right.cells], max(line.size, below.size)
            headers[0] = Line([*left.words, *right.words], below.base, size, cells)
        else:
            headers.insert(0, line)
    return headers


def _is_centred(line: Line, below: Line, columns: Sequence[Interval]) -> bool:
    """Whether a line with one cell is centred over several columns, or over a cell below it."""
    if len(line.words) > _LONGEST:
        return False
    middle = (line.left + line.right) / 2
    if any(abs(cell.left + cell.right - 2 * middle) / 2 < _ALIGNED for cell in below.cells):
        return True
    spanned = [(left, right) for left, right in columns if left < line.right and line.left < right]
    if len(spanned) < 2:
        return False
    left, right = spanned[0][0], spanned[-1][1]
    return abs(left + right - 2 * middle) / 2 < _CENTRED * (right - left)


def _are_beside(line: Line, other: Line) -> bool:
    """Whether two lines of a header are nearly level, with their words side by side."""
    near = other.base - line.base < _LEVEL * max(line.size, other.size)
    return near and (line.right < other.left or other.right < line.left)


def part_headers(block: Sequence[Line], columns: Sequence[Interval]) -> None:
    """Separate cells of a table's header that have no more than a space between them.

    The line above or below shows where: what is on both sides of the space is aligned with its counterpart there, and
    in a column of its own.
    """
    figures = [_has_figures(line) for line in block]
    if all(figures):
        return
    columns = with_signs(columns, block)
    for (above, is_row), (below, is_row_below) in itertools.pairwise(zip(block, figures, strict=True)):
        if not is_row:
            _part(above, below, columns)
            _part(below, above, columns)
            if is_row_below:
                _part_above_figures(above, columns)


def _part_figures(cell: LineCell, columns: Sequence[Interval]) -> list[LineCell]:
    """A cell of figures in several columns, split into those of each column."""
    if len(cell.words) == 1:
        return [cell]
    held = itertools.groupby(cell.words, lambda word: find_column(word, columns))
    parts = [LineCell(list(words)) for _, words in held]
    apart = len(parts) > 1 and all(is_figure(part.text) and over(part, columns) == 1 for part in parts)
    return parts if apart else [cell]


def _has_figures(line: Line) -> bool:
    """Whether a line has a figure of more than one digit, as most rows have at their end."""
    return any(len(cell.text) > 1 and is_figure(cell.text) for cell in reversed(line.cells))


def _part_above_figures(line: Line, columns: Sequence[Interval]) -> None:
    """Split the cells of the line right above a table's figures that are the headers of two columns.

    Only if every other column has its own header: a heading over several columns has a line of headers below it.
    """
    wide = [cell for cell in line.cells if over(cell, columns) == 2]
    if not wide or len(line.cells) + len(wide) < len(columns) - 1:
        return
    for cell in wide:
        first = next(index for index, (_, right) in enumerate(columns) if right > cell.left + 1)
        pair = columns[first : first + 2]
        apart = [
            (round(sum(map(_distance, parts, pair))), parts)
            for parts in _partings(cell)
            if max(map(_distance, parts, pair)) < _NEAR * line.size and all(over(part, columns) == 1 for part in parts)
        ]
        if apart:
            at = line.cells.index(cell)
            line.cells[at : at + 1] = min(apart, key=itemgetter(0))[1]


def _distance(part: LineCell, column: Interval) -> float:
    """The distance between an edge or the middle of a part of a line and that of a column."""
    return offset((part.left, part.right), column)


def _part(line: Line, beside: Line, columns: Sequence[Interval]) -> None:
    """Split the cells of a line that span several columns where the line beside it is, or can be, split."""
    pairs = list(itertools.pairwise(beside.cells))
    pairs += (
        parts
        for cell in beside.cells
        if over(cell, columns) > 1
        for parts in _partings(cell)
        if all(any(_distance(part, column) < _ALIGNED for column in columns) for part in parts)
    )
    for cell in [cell for cell in line.cells if over(cell, columns) > 1]:
        at = line.cells.index(cell)
        for parts, others in itertools.product(_partings(cell), pairs):
            apart = max(parts[0].right, others[0].right) < min(parts[1].left, others[1].left)
            if apart and all(map(are_aligned, parts, others)) and all(over(part, columns) == 1 for part in parts):
                line.cells[at : at + 1] = parts
                break


def _partings(cell: LineCell) -> list[tuple[LineCell, LineCell]]:
    return [(LineCell(cell.words[:at]), LineCell(cell.words[at:])) for at in range(1, len(cell.words))]


def are_aligned(one: LineCell, other: LineCell) -> bool:
    """Whether two cells begin, end, or are centred at the same place."""
    return _distance(one, (other.left, other.right)) < _ALIGNED


_MOST_SIDES: Final = 8
"""Places at which a run of lines may be parted into tables side by side."""
_UNDER: Final = 0.4
"""How far below its words an underline stands at most, as a share of their size."""
_ENDS: Final = 2.0
"""Points between the ends of an underline and of its words."""
_NEAR_TABLE: Final = 1.6
"""Lines of a cell are nearer than so many sizes."""
_MOST_CELLS: Final = 20_000
"""Cells of a table at most, empty ones too: a page has 6,000 words."""
_HEADERS: Final = 8
"""Lines at the top of a table that may be headers."""
_NUMBER: Final = re.compile(r"\d{1,3}(\.\d{1,3})*\.?|\(?([a-z]|\d{1,3}|[ivx]{1,5})\)")
_LEADERS: Final = re.compile(r"(?:(?<![\d.…·_])|(?<=\d[.…·_]))[.…·_]++$")
_SPACED_LEADERS: Final = re.compile(r"[.…·_](?:[.…·_]{3}| [.…·_] [.…·_] |(?<=…))")
"""Begins with what it looks for first: as three patterns it takes twice as long."""


@dataclass(slots=True)
class Table:
    """The rows of a table whose highest line is at `base`; lines of prose to be kept together, if `is_prose`.

    They stand where their first word is drawn, or the cells of the only row each behind the line of the page's text in
    which a word ends at the place that `behind` gives.
    """

    base: float
    rows: list[TableRow]
    is_prose: bool = False
    behind: Sequence[int] = ()


def find_tables(lines: list[Line], rules: Sequence[RuledLine] = (), *, is_part: bool = False) -> list[Table]:
    """The tables among these lines of a page, which come in order from its top; `rules` run across the page.

    With `is_part` the lines are those above or below a heading, and are not parted at other headings: each would double
    the work.
    """
    _part_at_all_leaders(lines)
    tables: list[Table] = []
    drawn_behind: dict[int, PageWord] = {}
    waiting = find_blocks(lines, rules)[::-1]
    while waiting:
        block = waiting.pop()
        if beside := _side_by_side(block, rules):
            tables += beside
            continue
        end = len(block) if is_of_sheet(block) else find_table_end(block)
        if end < len(block):
            waiting += find_blocks(block[end:], rules)[::-1]
            block = trim_block(block[:end])
        found = _read_block(_below_heading(block), lines, rules, drawn_behind, is_part=is_part)
        last = max((word.base for table in found for row in table.rows for word in row.words), default=-math.inf)
        lines = [line for line in lines if line.base > last]
        tables += found
    return tables


def _read_block(
    block: list[Line],
    lines: list[Line],
    rules: Sequence[RuledLine],
    drawn_behind: dict[int, PageWord],
    *,
    is_part: bool,
) -> list[Table]:
    """The tables in a block of lines, if there are any; `is_part` as in `find_tables`.

    `drawn_behind`: the word that is drawn after each; filled when first needed.
    """
    rows = several_cells(block)
    is_sheet = is_of_sheet(block)
    if not is_sheet and ((len(rows) < FEWEST and not _is_ruled_pair(rows, rules)) or not is_table(rows)):
        return []
    rows, columns, size = _find_columns(block)
    is_wide = 2 <= len(columns) <= _MOST_CELLS / len(block)
    if not is_wide or not (is_sheet or (is_table(several_cells(block)) and not is_list(rows))):
        return []
    if not is_sheet and (inside := beside_caption(block, columns)):
        return find_tables(build_lines(inside), rules)
    block = block if is_sheet else without_notes(block, columns)
    for line in block:
        line.cells = [part for cell in line.cells for part in _part_figures(cell, columns)]
    block = [*headers_above(lines, block[0], columns), *block]
    part_headers(block, columns)
    across = _across(rules, block, columns)
    block += _last_lines(lines, block[-1], columns, across)
    table = Table(block[0].base, Rows(block, columns, size, across, _find_underlined(rules, block)).read())
    if not is_part and (parts := _parted_at_headings(block, table, rules)):
        return parts
    if not drawn_behind:
        drawn_behind.update(link_words(lines))
    return [] if not is_sheet and runs_on(block, len(table.rows), drawn_behind) else [table]


def _find_columns(block: list[Line]) -> tuple[list[Line], list[Interval], float]:
    """A table's rows, before some were split, and its columns, and the size of its letters."""
    rows = several_cells(block)
    size = sorted(line.size for line in rows)[len(rows) // 2]
    if is_of_sheet(block):
        return rows, find_sheet_columns(rows), size
    columns = find_full_row_columns(rows, find_columns(rows, size), size)
    if part_at_rivers(block, columns, size):
        columns = find_columns(several_cells(block), size)
    columns = columns_below_titles(several_cells(block), columns, size)
    return rows, part_at_edges(block, columns), size


def _parted_at_headings(block: Sequence[Line], table: Table, rules: Sequence[RuledLine]) -> list[Table]:
    """The tables above and below a heading in a block, if their columns separate figures that share cells of `table`.

    None if the block reads equally well as one table.
    """
    best: list[Table] = []
    fewest = figures_in_one_cell(table.rows)
    for at in (at for at, line in enumerate(block) if fewest and at and len(line.cells) == 1):
        parts = [find_tables(list(side), rules, is_part=True) for side in (block[:at], block[at:])]
        shared = sum(figures_in_one_cell(part.rows) for side in parts for part in side)
        wider = all(len(part.rows[0].cells) > len(table.rows[0].cells) for side in parts for part in side)
        if all(parts) and wider and shared < fewest:
            best, fewest = [part for side in parts for part in side], shared
    return best


def _below_heading(block: list[Line]) -> list[Line]:
    """The lines of a table without a numbered heading above it, whose number is to the left of everything below.

    `3. INVENTORY` and the sentence below it are not rows.
    """
    number, *rest = block[0].cells
    if len(rest) != 1 or not _NUMBER.fullmatch(number.text) or is_figure(rest[0].text):
        return block
    below = next((at for at, line in enumerate(block[1:], 1) if len(line.cells) > 1), 0)
    beside = any(line.left < rest[0].left - 1 for line in block[1:])
    return block if beside else block[below:]


def _is_ruled_pair(rows: Sequence[Line], rules: Iterable[RuledLine]) -> bool:
    """Whether two lines are headers and one row, with a rule between them: each cell is below its header."""
    if len(rows) != FEWEST - 1 or not FEWEST <= len(rows[0].cells) == len(rows[1].cells):
        return False
    header, row = rows
    if any(is_figure(cell.text) for cell in header.cells) or not all(map(are_aligned, header.cells, row.cells)):
        return False
    least = _COVERED * (row.right - row.left)
    return any(
        header.base - header.size / 3 < rule.at < row.base - row.size / 3
        and min(rule.end, row.right) - max(rule.begin, row.left) > least
        for rule in rules
    )


def _last_lines(lines: Iterable[Line], last: Line, columns: Sequence[Interval], across: Sequence[float]) -> list[Line]:
    """The single-cell lines right below a table's last line, up to the rule that closes its last row."""
    if len(across) < FEWEST or across[-1] < last.base or across[-2] > last.base:
        return []
    held: list[Line] = []
    above = last
    for line in (line for line in lines if last.base < line.base < across[-1]):
        near = line.base - above.base < _NEAR_TABLE * max(line.size, above.size)
        if not near or len(line.cells) > 1 or over(line.cells[0], columns) != 1:
            return []
        held.append(line)
        above = line
    return held


def _across(rules: Sequence[RuledLine], block: Sequence[Line], columns: Sequence[Interval]) -> list[float]:
    """The positions of rules across most of a table's width, from the top, without underlines of its words."""
    left, right = columns[0][0], columns[-1][1]
    covered = _COVERED * (right - left)
    wide = [rule for rule in rules if min(rule.end, right) - max(rule.begin, left) > covered]
    return sorted(rule.at for rule in wide if not any(_underlines(rule, line) for line in block))


def _find_underlined(rules: Sequence[RuledLine], block: Sequence[Line]) -> set[int]:
    """The lines of a block that are below a rule under a cell of the line above."""
    return {
        index
        for index, (above, line) in enumerate(itertools.pairwise(block[:_HEADERS]), 1)
        for rule in rules
        if above.base - above.size / 3 < rule.at < line.base - line.size / 3
        and any(min(rule.end, cell.right) > max(rule.begin, cell.left) for cell in above.cells)
    }


def _underlines(rule: RuledLine, line: Line) -> bool:
    """Whether a rule runs right below a cell of a line, from its beginning to its end."""
    if not 0 <= rule.at - line.base < _UNDER * line.size:
        return False
    return any(abs(cell.left - rule.begin) < _ENDS and abs(cell.right - rule.end) < _ENDS for cell in line.cells)


def _side_by_side(block: Sequence[Line], rules: Sequence[RuledLine]) -> list[Table]:
    """Tables side by side that are drawn one after the other; none if there is only one table."""
    words = sorted([word for line in block for word in line.words], key=attrgetter("first"))
    for middle in _find_words_apart(words)[:_MOST_SIDES]:
        left, right = words[:middle], words[middle:]
        if len(several_cells(build_lines(left))) < FEWEST or len(several_cells(build_lines(right))) < FEWEST:
            continue
        if any(_find_words_apart(left)):
            return []  # a table that is drawn column by column
        tables = [find_tables(build_lines(side), rules) for side in (left, right)]
        if all(tables):
            return [table for side in tables for table in side]
    return []


def _find_words_apart(words: Sequence[PageWord]) -> list[int]:
    """Positions from which all words drawn later are to the right of those before, in drawing order."""
    end = words[0].right  # the words before reach so far at least
    start = len(words)
    while start > 1 and words[start - 1].left > end:
        start -= 1
    if start == len(words):  # the usual
        return []
    lefts = [*itertools.accumulate((word.left for word in reversed(words[start:])), min)][::-1]
    apart: list[int] = []
    right = max([word.right for word in words[:start]])
    for index, left in enumerate(lefts, start):
        word = words[index]
        if left - right > GUTTER * word.size and word.base <= words[index - 1].base:
            apart.append(index)
        right = max(right, word.right)
    return apart


def _write_line(line: Line) -> str:
    """The words of a line, with dots again for the words whose dots were removed."""
    return " ".join([word.text or "...." for word in line.words])


def _part_at_all_leaders(lines: Sequence[Line]) -> None:
    """Split the cells of lines in which dots lead from labels to figures, if any line has that many dots."""
    texts = list(map(_write_line, lines))
    if _SPACED_LEADERS.search("\n".join(texts)):
        for line, text in zip(lines, texts, strict=True):
            if _SPACED_LEADERS.search(text):
                _part_at_leaders(line)


def _part_at_leaders(line: Line) -> None:
    """Split the cells of a line where dots lead from a label to its figure, and remove the dots."""
    cells: list[LineCell] = []
    led = {word.first for word, behind in itertools.pairwise(line.words) if behind.text == "."}
    for cell in line.cells:
        words: list[PageWord] = []
        for word in cell.words:
            dots = _LEADERS.search(word.text)
            # a single one is an abbreviation's, unless dots with blanks between them begin with it
            if dots and (dots[0] != "." or not dots.start() or word.first in led):
                word.text = word.text[: dots.start()]
            if word.text:
                words.append(word)
            elif words:
                cells.append(LineCell(words))
                words = []
        if words:
            cells.append(LineCell(words))
    line.cells = cells or line.cells
