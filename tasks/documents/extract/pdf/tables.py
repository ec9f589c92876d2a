"""Tables of a PDF's page that no rules draw: financial statements above all, told by their gutters.

Lines of several cells that stand below each other are a table where gutters of white run through them. A column is
where most lines have something. Signs in columns of their own (`$`, `%`, a closing parenthesis) join their figures, a
label that fills its column and goes on in the next line is one cell, a cell that is empty keeps its place.
"""

import itertools
import math
import re
from bisect import bisect, bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from tasks.documents.extract.pdf.headers import headers_above, part_headers
from tasks.documents.extract.pdf.lines import Line, LineCell, lines_of
from tasks.documents.extract.pdf.rows import GUTTER, Interval, Rows, RuledLine, TableRow, is_figure, over
from tasks.documents.extract.pdf.table_checks import (
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
from tasks.documents.extract.pdf.words import Word

_APART: Final = 3.4
"""Lines further apart than so many sizes are not of one table."""
_MOST_SIDES: Final = 8
"""Places at which a run of lines may be parted into tables side by side."""
_COVERED: Final = 0.8
"""The share of a table's width that a rule between two of its rows covers."""
_NEAR: Final = 1.6
"""Lines of a cell are nearer than so many sizes."""
_LONE: Final = 2
"""Lines of one cell in a row that a table goes on behind: headings within it, labels that wrap."""
_MOST_LONE: Final = 8
"""The same where they stand in the first column: a label that wraps many times."""
_ACROSS: Final = 0.1
"""The share of a table's lines that may run over a gutter: headings over several columns."""
_MOST_TITLES: Final = 3
"""Lines at the top of a table that may run over gutters."""
_TITLED: Final = 4
"""Rows below them that tell the columns, at least."""
_FIGURES: Final = 0.4
"""The share of their cells that are figures, at least."""
_EDGED: Final = 0.25
"""The share of a column's lines that have two cells where it is two columns."""
_ALIGNED: Final = 0.8
"""The share of those whose right cells begin at one place."""
_AT_ONE_PLACE: Final = 0.6
"""The share of a column's lines that have an edge or their middle at one place."""
_LEADERS: Final = re.compile(r"(?<!\d)[.…·_]+$")
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
    waiting = _blocks(lines)[::-1]
    while waiting:
        block = waiting.pop()
        if beside := _side_by_side(block, rules):
            tables += beside
            continue
        end = _end(block)
        if end < len(block):
            waiting += _blocks(block[end:])[::-1]
            block = _trimmed(block[:end])
        rows = _several(block)
        if len(rows) < FEWEST or not is_table(rows):
            continue
        size = sorted(line.size for line in rows)[len(rows) // 2]
        columns = _columns(rows, size)
        body = without_tail(block)
        if len(body) < len(block) and len(above := _columns(_several(body), size)) > len(columns):
            block, rows, columns = body, _several(body), above
        if _part_at_rivers(block, columns, size):
            columns = _columns(_several(block), size)
        columns = _columns_below_titles(_several(block), columns, size)
        columns = _part_at_edges(block, columns)
        if len(columns) > 1 and is_table(_several(block)) and not is_list(rows):
            if sides := beside_prose(block, columns):
                tables += (table for side in sides for table in find_tables(lines_of(side), rules))
                continue
            if inside := beside_caption(block, columns):
                tables += find_tables(lines_of(inside), rules)
                continue
            block = without_notes(block, columns)
            block = [*headers_above(lines, block[0], columns), *block]
            part_headers(block, columns)
            across = _across(rules, columns)
            block += _last_lines(lines, block[-1], columns, across)
            table = Table(block[0].base, Rows(block, columns, size, across).read())
            drawn_behind = drawn_behind or following(lines)
            if not runs_on(block, len(table.rows), drawn_behind):
                tables.append(table)
    return tables


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


def _across(rules: Sequence[RuledLine], columns: Sequence[Interval]) -> list[float]:
    """Where rules run over most of the width of a table, from its top."""
    left, right = columns[0][0], columns[-1][1]
    covered = _COVERED * (right - left)
    return sorted(rule.at for rule in rules if min(rule.end, right) - max(rule.begin, left) > covered)


def _side_by_side(block: Sequence[Line], rules: Sequence[RuledLine]) -> list[Table]:
    """Tables side by side, of which one is drawn after the other; none where there is but one."""
    words = sorted([word for line in block for word in line.words], key=attrgetter("first"))
    for middle in _drawn_apart(words)[:_MOST_SIDES]:
        left, right = words[:middle], words[middle:]
        if len(_several(lines_of(left))) < FEWEST or len(_several(lines_of(right))) < FEWEST:
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


def _several(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if len(line.cells) > 1]


def _trimmed(block: list[Line]) -> list[Line]:
    """The block up to its last line of several cells, or to one that was drawn before that line was all drawn."""
    while block and len(block[-1].cells) < 2:
        last = next((line for line in reversed(block) if len(line.cells) > 1), None)
        drawn = sorted(word.first for word in last.words) if last is not None else [0]
        if drawn[0] < block[-1].words[0].first < drawn[-1]:
            break
        block = block[:-1]
    return block


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines that begin and end with several cells, with no more than a few lines of one cell in between."""
    blocks: list[list[Line]] = []
    run: list[Line] = []
    lone = 0
    label_end = math.inf
    for line in lines:
        if run and (line.base - run[-1].base > _APART * max(line.size, run[-1].size)):
            blocks.append(run)
            run = []
        if len(line.cells) > 1:
            label_end = min(label_end, line.cells[1].left) if run else line.cells[1].left
            lone = 0
            run.append(line)
        elif run:
            run.append(line)
            lone += 1
            if lone > _LONE and (lone > _MOST_LONE or any(other.right > label_end for other in run[-lone:])):
                blocks.append(run)
                run = []
    return [block for block in map(_trimmed, [*blocks, run]) if block]


def _end(block: Sequence[Line]) -> int:
    """Where a table ends within a block: at the first line that runs over the gutters of those above."""
    rows: list[Line] = []
    columns: list[Interval] = []
    for index, line in enumerate(block):
        across = any(over(cell, columns) > 1 for cell in line.cells)
        if len(line.cells) > 1:
            rows.append(line)
            fits = not across and all(over(cell, columns) == 1 for cell in line.cells)
            if fits:
                continue
            before, columns = columns, _columns(rows, line.size)
            if across and len(rows) > 2 and len(columns) < max(2, 0.6 * len(before)):
                return index
        elif across and rows:
            return index
    return len(block)


def _columns_below_titles(lines: Sequence[Line], columns: list[Interval], size: float) -> list[Interval]:
    """The columns of a table; more of them where figures have these and titles above them run over their gutters."""
    usual = sorted(len(line.cells) for line in lines)[len(lines) // 2]
    titles = sum(1 for _ in itertools.takewhile(lambda line: len(line.cells) < usual, lines[: _MOST_TITLES + 1]))
    if not 0 < titles <= _MOST_TITLES or len(lines) - titles < _TITLED:
        return columns
    cells = [cell for line in lines[titles:] for cell in line.cells]
    if sum(is_figure(cell.text) for cell in cells) < _FIGURES * len(cells):
        return columns
    below = _columns(lines[titles:], size)
    return below if len(below) > len(columns) else columns


def _columns(lines: Sequence[Line], size: float) -> list[Interval]:
    """Where most lines have something, from left to right; between two columns some line has cells on both sides."""
    votes = [(cell.left, 1) for line in lines for cell in line.cells]
    votes += [(cell.right, -1) for line in lines for cell in line.cells]
    votes.sort()
    columns: list[list[float]] = []
    allowed = _ACROSS * len(lines)
    count = 0
    for (at, vote), (until, _) in itertools.pairwise(votes):
        count += vote
        if count > allowed and until > at:
            if columns and at - columns[-1][1] < GUTTER * size:
                columns[-1][1] = until
            else:
                columns.append([at, until])
    parted = columns[:1]
    for left, right in columns[1:]:
        middle = (parted[-1][1] + left) / 2
        if any(_on_both_sides(line, middle, (parted[-1][0], right)) for line in lines):
            parted.append([left, right])
        else:
            parted[-1][1] = right
    return [(left, right) for left, right in parted]


def _on_both_sides(line: Line, middle: float, within: Interval) -> bool:
    """Whether a line has a cell on each side of a place, and none over it."""
    left = right = False
    for cell in line.cells:
        if cell.left < middle < cell.right:
            return False
        left |= within[0] <= cell.right < middle
        right |= middle < cell.left <= within[1]
    return left and right


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


def _part_at_rivers(block: Sequence[Line], columns: Sequence[Interval], size: float) -> bool:
    """Part cells at white that is narrower than between cells but stands open in every line; tells whether any was."""
    rows = _several(block)
    if len(rows) < FEWEST:
        return False
    parted = False
    lefts = [[word.left for word in line.words] for line in rows]
    for left, right in columns:
        near = [
            line.words[bisect_left(begins, left - 1) : bisect(begins, right + 1)]
            for line, begins in zip(rows, lefts, strict=True)
        ]
        lines = [[word for word in words if word.right <= right + 1] for words in near]
        lines = [words for words in lines if words]
        several = [words for words in lines if len(words) > 1]  # headers of two columns are no part of them
        spans = _merged(((word.left, word.right) for words in several for word in words), GUTTER * size)
        for (_, begin), (end, _) in itertools.pairwise(spans):
            gaps = [gap for words in lines if (gap := _gap(words, begin, end)) is not None]
            if len(gaps) < max(3, 0.7 * len(lines)) or max(right - left for left, right in gaps) < 0.6 * size:
                continue
            behind = [[word for word in words if word.left >= end - 0.1] for words in several]
            if _are_aligned([left for left, _ in gaps], [words for words in behind if words]):
                parted = True
                for line in block:
                    line.cells = [part for cell in line.cells for part in _parted(cell, begin, end)]
    return parted


def _part_at_edges(block: Sequence[Line], columns: Sequence[Interval]) -> list[Interval]:
    """The columns; one in which many lines have two cells is two, if the right ones of those begin at one place.

    Other cells reach up to that place, so that no gutter runs down the table.
    """
    parted: list[Interval] = []
    for left, right in columns:
        held = [[cell for cell in line.cells if left <= cell.left and cell.right <= right] for line in block]
        held = [cells for cells in held if cells]
        edges = sorted(cells[1].left for cells in held if len(cells) == 2)
        edge = edges[len(edges) // 2] if edges else 0.0
        aligned = sum(abs(other - edge) < 1 for other in edges)
        if aligned >= max(FEWEST, _EDGED * len(held)) and aligned > _ALIGNED * len(edges):
            for line in block:
                line.cells = [part for cell in line.cells for part in _parted_at(cell, edge)]
            parted += (left, edge - 1), (edge, right)
        else:
            parted.append((left, right))
    return parted


def _parted_at(cell: LineCell, edge: float) -> list[LineCell]:
    """A cell whose words run over an edge, in two if one of them begins there."""
    for index, word in enumerate(cell.words[1:], 1):
        if abs(word.left - edge) < 1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]


def _merged(intervals: Iterable[Interval], gap: float) -> list[Interval]:
    merged: list[list[float]] = []
    for left, right in sorted(intervals):
        if merged and left - merged[-1][1] < gap:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return [(left, right) for left, right in merged]


def _gap(words: Sequence[Word], begin: float, end: float) -> Interval | None:
    """The white of a line between two places, both of which it has words beyond."""
    before = [word.right for word in words if word.right <= begin + 0.1]
    behind = [word.left for word in words if word.left >= end - 0.1]
    return (max(before), min(behind)) if before and behind else None


def _are_aligned(ends: Sequence[float], behind: Sequence[Sequence[Word]]) -> bool:
    """Whether what stands before the white of lines ends at one place, or what stands behind it has one edge or middle.

    White that runs down lines of prose by chance has neither.
    """
    lefts, rights = [words[0].left for words in behind], [words[-1].right for words in behind]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    for places in (ends, lefts, rights, middles):
        middle = sorted(places)[len(places) // 2]
        if sum(abs(place - middle) < 1 for place in places) >= _AT_ONE_PLACE * len(places):
            return True
    return False


def _parted(cell: LineCell, begin: float, end: float) -> list[LineCell]:
    for index in range(1, len(cell.words)):
        if cell.words[index - 1].right <= begin + 0.1 and cell.words[index].left >= end - 0.1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]
