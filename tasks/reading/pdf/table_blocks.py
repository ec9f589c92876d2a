"""The runs of lines on a PDF's page that may be tables without rules: lines of several cells near each other."""

import itertools
import math
from collections.abc import Sequence
from typing import Final

from tasks.reading.pdf.lines import Interval, Line, is_header, over
from tasks.reading.pdf.rules import RuledLine
from tasks.reading.pdf.table_columns import columns_of

_APART: Final = 3.4
"""Lines further apart than so many sizes are not of one table."""
_FARTHEST: Final = 7.0
"""The same with a rule between them that runs over most of both."""
_COVERED: Final = 0.8
"""The share of a line's width that such a rule covers."""
_RULED: Final = 3
"""Cells that one of two such lines has, at least: forms have fewer."""
_LEADING: Final = 1.6
"""Lines of a cell are nearer than so many sizes."""
_LONE: Final = 2
"""Lines of one cell in a row that a table goes on behind: headings within it, labels that wrap."""
_SENTENCE: Final = 12
"""Words of a line above which it is a sentence between two tables if it runs over their figures or ends in a colon."""
_MOST_LONE: Final = 8
"""The same where they stand in the first column: a label that wraps many times."""
_MOST_LINES: Final = 15
"""The same where each goes on a cell within the row, as what an invoice says of an item."""


def trimmed(block: list[Line]) -> list[Line]:
    """The block up to its last line of several cells, or to one that was drawn before that line was all drawn."""
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
    """Whether the lines below the last one of several cells stand within one of its cells, near to each other."""
    below = block[block.index(last) :]
    near = all(two.base - one.base < _LEADING * max(one.size, two.size) for one, two in itertools.pairwise(below))
    return near and all(_is_within(line, last) for line in below[1:])


def _is_within(line: Line, row: Line | None) -> bool:
    """Whether a line begins where a cell in the midst of a row does, and ends before the next one."""
    cells = row.cells[1:] if row is not None else []
    return any(
        abs(cell.left - line.left) < 1 and line.right < behind.left for cell, behind in itertools.pairwise(cells)
    )


def _is_ruled(above: Line, line: Line, rules: Sequence[RuledLine]) -> bool:
    """Whether two lines of several cells are rows further apart than most, with a rule over their width between."""
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


def blocks_of(lines: Sequence[Line], rules: Sequence[RuledLine] = ()) -> list[list[Line]]:
    """Runs of lines that begin and end with several cells, with no more than a few lines of one cell in between."""
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
    return [block for block in map(trimmed, [*blocks, run]) if block]


def end_of(block: Sequence[Line]) -> int:
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
            before, columns = columns, columns_of(rows, line.size)
            if across and len(rows) > 2 and len(columns) < max(2, 0.6 * len(before)):
                return index
        elif across and rows and not (line.words[0].text.startswith("(") and all(map(is_header, rows))):
            return index  # `(in thousands)` below headers is no end
    return len(block)
