"""Tables of a PDF's page that no rules draw: financial statements above all, told by their gutters.

Lines of several cells that stand below each other are a table where gutters of white run through them. A column is
where most lines have something. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures, a
label that fills its column and goes on in the next line is one cell, a cell that is empty keeps its place.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from tasks.reading.pdf.figures import is_figure
from tasks.reading.pdf.headers import are_aligned, headers_above, part_headers
from tasks.reading.pdf.lines import GUTTER, Interval, Line, LineCell, lines_of, over
from tasks.reading.pdf.rows import Rows, TableRow
from tasks.reading.pdf.rules import RuledLine
from tasks.reading.pdf.table_blocks import blocks_of, end_of, trimmed
from tasks.reading.pdf.table_checks import (
    FEWEST,
    beside_caption,
    beside_prose,
    following,
    is_list,
    is_table,
    runs_on,
    without_notes,
    without_tail,
)
from tasks.reading.pdf.table_columns import (
    columns_below_titles,
    columns_of,
    columns_of_full_rows,
    part_at_edges,
    part_at_rivers,
    several_cells,
)
from tasks.reading.pdf.words import Word

_MOST_SIDES: Final = 8
"""Places at which a run of lines may be parted into tables side by side."""
_COVERED: Final = 0.8
"""The share of a table's width that a rule between two of its rows covers."""
_UNDER: Final = 0.4
"""How far below its words an underline stands at most, as a share of their size."""
_ENDS: Final = 2.0
"""Points between the ends of an underline and of its words."""
_NEAR: Final = 1.6
"""Lines of a cell are nearer than so many sizes."""
_HEADERS: Final = 8
"""Lines at the top of a table that may be headers."""
_NUMBER: Final = re.compile(r"\d{1,3}(\.\d{1,3})*\.?|\(?([a-z]|\d{1,3}|[ivx]{1,5})\)")
_LEADERS: Final = re.compile(r"(?:(?<![\d.…·_])|(?<=\d[.…·_]))[.…·_]++$")
_SPACED_LEADERS: Final = re.compile(r"[.…·_]{4,}|([.…·_] ){3,}|…")


@dataclass(slots=True)
class Table:
    """The rows of a table whose highest line stands at `base`; lines of prose, if `is_prose`, that are to stand so."""

    base: float
    rows: list[TableRow]
    is_prose: bool = False


def find_tables(lines: list[Line], rules: Sequence[RuledLine] = ()) -> list[Table]:
    """The tables among these lines of a page, which come in order from its top; `rules` run across the page."""
    texts = list(map(_text_of, lines))
    if _SPACED_LEADERS.search("\n".join(texts)):
        for line, text in zip(lines, texts, strict=True):
            if _SPACED_LEADERS.search(text):
                _part_at_leaders(line)
    tables: list[Table] = []
    drawn_behind: dict[int, Word] = {}
    waiting = blocks_of(lines, rules)[::-1]
    while waiting:
        block = waiting.pop()
        if beside := _side_by_side(block, rules):
            tables += beside
            continue
        end = end_of(block)
        if end < len(block):
            waiting += blocks_of(block[end:], rules)[::-1]
            block = trimmed(block[:end])
        block = _below_heading(block)
        rows = several_cells(block)
        if (len(rows) < FEWEST and not _is_ruled_pair(rows, rules)) or not is_table(rows):
            continue
        size = sorted(line.size for line in rows)[len(rows) // 2]
        columns = columns_of_full_rows(rows, columns_of(rows, size), size)
        body = without_tail(block)
        if len(body) < len(block) and len(above := columns_of(several_cells(body), size)) > len(columns):
            block, rows, columns = body, several_cells(body), above
        if part_at_rivers(block, columns, size):
            columns = columns_of(several_cells(block), size)
        columns = columns_below_titles(several_cells(block), columns, size)
        columns = part_at_edges(block, columns)
        if len(columns) > 1 and is_table(several_cells(block)) and not is_list(rows):
            if sides := beside_prose(block, columns):
                tables += (table for side in sides for table in find_tables(lines_of(side), rules))
                continue
            if inside := beside_caption(block, columns):
                tables += find_tables(lines_of(inside), rules)
                continue
            block = without_notes(block, columns)
            block = [*headers_above(lines, block[0], columns), *block]
            part_headers(block, columns)
            across = _across(rules, block, columns)
            block += _last_lines(lines, block[-1], columns, across)
            table = Table(block[0].base, Rows(block, columns, size, across, _underlined(rules, block)).read())
            drawn_behind = drawn_behind or following(lines)
            if not runs_on(block, len(table.rows), drawn_behind):
                tables.append(table)
    return tables


def _below_heading(block: list[Line]) -> list[Line]:
    """The lines of a table without a heading above it whose number stands to the left of all below.

    `3. INVENTORY` and the sentence below it are no rows.
    """
    number, *rest = block[0].cells
    if len(rest) != 1 or not _NUMBER.fullmatch(number.text) or is_figure(rest[0].text):
        return block
    below = next((at for at, line in enumerate(block[1:], 1) if len(line.cells) > 1), 0)
    beside = any(line.left < rest[0].left - 1 for line in block[1:])
    return block if beside else block[below:]


def _is_ruled_pair(rows: Sequence[Line], rules: Iterable[RuledLine]) -> bool:
    """Whether two lines are headers and a row below them, with a rule between: each cell stands below its header."""
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
    """The lines of a single cell right below the last one of a table, up to the rule that closes its last row."""
    if len(across) < FEWEST or across[-1] < last.base or across[-2] > last.base:
        return []
    held: list[Line] = []
    above = last
    for line in (line for line in lines if last.base < line.base < across[-1]):
        near = line.base - above.base < _NEAR * max(line.size, above.size)
        if not near or len(line.cells) > 1 or over(line.cells[0], columns) != 1:
            return []
        held.append(line)
        above = line
    return held


def _across(rules: Sequence[RuledLine], block: Sequence[Line], columns: Sequence[Interval]) -> list[float]:
    """Where rules run over most of the width of a table, from its top; the underlines of its words are none."""
    left, right = columns[0][0], columns[-1][1]
    covered = _COVERED * (right - left)
    wide = [rule for rule in rules if min(rule.end, right) - max(rule.begin, left) > covered]
    return sorted(rule.at for rule in wide if not any(_underlines(rule, line) for line in block))


def _underlined(rules: Sequence[RuledLine], block: Sequence[Line]) -> set[int]:
    """Which lines of a block stand below a rule that runs under a cell of the line above."""
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
    """Tables side by side, of which one is drawn after the other; none where there is but one."""
    words = sorted([word for line in block for word in line.words], key=attrgetter("first"))
    for middle in _drawn_apart(words)[:_MOST_SIDES]:
        left, right = words[:middle], words[middle:]
        if len(several_cells(lines_of(left))) < FEWEST or len(several_cells(lines_of(right))) < FEWEST:
            continue
        if any(_drawn_apart(left)):
            return []  # a table that is drawn column by column
        tables = [find_tables(lines_of(side), rules) for side in (left, right)]
        if all(tables):
            return [table for side in tables for table in side]
    return []


def _drawn_apart(words: Sequence[Word]) -> list[int]:
    """Where words that are drawn later stand all to the right of those before, in their order."""
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


def _text_of(line: Line) -> str:
    """The words of a line, dots for those whose dots went."""
    return " ".join([word.text or "...." for word in line.words])


def _part_at_leaders(line: Line) -> None:
    """Part the cells of a line where dots lead from a label to its figure; the dots go."""
    cells: list[LineCell] = []
    for cell in line.cells:
        words: list[Word] = []
        for word in cell.words:
            dots = _LEADERS.search(word.text)
            if dots:
                word.text = word.text[: dots.start()]
            if word.text:
                words.append(word)
            elif words:
                cells.append(LineCell(words))
                words = []
        if words:
            cells.append(LineCell(words))
    line.cells = cells or line.cells
