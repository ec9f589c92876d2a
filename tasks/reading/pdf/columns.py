"""The order of a PDF's page: columns of prose one after the other, each searched for tables, and headings first."""

import itertools
import re
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from math import inf
from operator import attrgetter
from statistics import median
from typing import Final, NamedTuple

from tasks.reading.pdf.lines import Interval, Line, LineCell, build_lines
from tasks.reading.pdf.rows import TableRow
from tasks.reading.pdf.rules import RuledLine
from tasks.reading.pdf.tables import Table
from tasks.reading.pdf.words import PageWord, write_words

_BIN: Final = 2.0
"""Points in which the width of a page is counted."""
_MIDDLE: Final = (0.25, 0.75)
"""The part of a page's width in which a gutter may run."""
_WIDEST_OVER: Final = 0.12
"""The share of a page's lines that may cross its gutter: headings, captions."""
_NARROWEST: Final = 3
"""Bins of white that a gutter has at least."""
_FEW: Final = 3
"""Lines that each of two pages has at least where they have numbers."""
_FEWEST: Final = 8
"""Lines of prose that each column has at least."""
_WORDS: Final = 4
_PROSE: Final = 0.6
"""The share of a column's words that stand in lines of prose."""
_LETTERS: Final = 0.4
"""The share of a page's words that begin with a letter, at least, where that is so of both columns."""
_LEVEL: Final = 0.6
"""Columns of which more lines are level with one of the other may be the rows of a table."""
_SWITCHES: Final = 0.3
"""How often a page turns from one column to the other, as a share of its lines, where it draws by height."""
_SHEET: Final = 1.1
"""How much wider than high the print of two pages is, at least."""
_FOLD: Final = 20.0
"""Points of white between two pages on one sheet, at least."""
_NEAR_FOLD: Final = (0.4, 0.6)
"""The part of a sheet's print that the white between two pages reaches into."""
_DENSE: Final = 1.6
"""How much farther apart the lines of one page may be than those of the other."""
_CENTRED: Final = 0.9
"""Columns of which more lines are level with one of the other, or between two, may be cells in the middle of rows."""
_APART: Final = 1.3
"""Distances of lines from which a line begins a paragraph."""
_LONG: Final = 0.5
"""The share of a page's height that a rule between its columns runs down."""
_MOST_OVER: Final = 12
"""Lines over the tables of a page that may be drawn behind them."""
_CROSSED: Final = 2
"""Rules that may cross the one between columns, at its ends: more make a grid."""


Edit = tuple[int, int, str]
"""What stands in place of the characters of a page's text from and up to."""
TABLE: Final = "\ufdd0"
"""Where a table begins. No character has this number."""
TABLE_END: Final = "\ufdd1"


class Columns(NamedTuple):
    """A stretch of a page: lines across it, or the lines of its two columns one after the other."""

    across: list[Line]
    left: list[Line]
    right: list[Line]


def columns_by_height(words: Sequence[PageWord], lines: Sequence[Line]) -> list[Columns]:
    """The stretches of a page whose two columns of prose are drawn by height, from the top; empty for other pages.

    `lines` are the lines that the words form.
    """
    gutter = _gutter(words, len(lines))
    if gutter is None:
        return []
    across = [line for line in lines if _crosses(line, gutter)]
    held = {word.first for line in across for word in line.words}
    free = [word for word in words if word.first not in held]
    if sum([word.text[:1].isalpha() for word in free]) < _LETTERS * len(free):
        return []
    switches = _switches(free, gutter)
    if switches < _SWITCHES * (len(lines) - len(across)):
        return []
    left = build_lines(word for word in free if word.left < gutter)
    right = build_lines(word for word in free if word.left >= gutter)
    if switches < _SWITCHES * (len(left) + len(right)) or _are_level(left, right):
        return []
    if not (_is_prose(left) and _is_prose(right)):
        return []
    return list(_stretches(across, left, right))


def columns_by_rule(
    words: Sequence[PageWord], vertical: Sequence[RuledLine], horizontal: Sequence[RuledLine]
) -> list[Columns]:
    """The stretches of a page with a rule down its middle and lines on both sides that are not level."""
    longest = max((rule.end - rule.begin for rule in vertical), default=0.0)
    bases = [word.base for word in words] if longest else []
    least = _LONG * (max(bases) - min(bases)) if bases else longest
    for rule in vertical:
        if rule.end - rule.begin > least > 0 and (columns := _columns_beside(rule, words, horizontal)):
            return columns
    return []


def _columns_beside(rule: RuledLine, words: Sequence[PageWord], horizontal: Sequence[RuledLine]) -> list[Columns]:
    """The parts of a page above, beside and below a vertical rule; none if the rule separates no columns."""
    at, begin, end = rule
    crossed = sum([other.begin < at - 1 and at + 1 < other.end and begin < other.at < end for other in horizontal])
    beside = [word for word in words if begin < word.base < end] if crossed <= _CROSSED else []
    if not beside or any(word.left < at < word.right for word in beside):
        return []
    left = build_lines(word for word in beside if word.left < at)
    right = build_lines(word for word in beside if word.left >= at)
    if min(len(left), len(right)) < _FEWEST or _are_level(left, right):
        return []
    held = {word.first for word in beside}
    others = build_lines(word for word in words if word.first not in held)
    above = [Columns([line], [], []) for line in others if line.base <= begin]
    below = [Columns([line], [], []) for line in others if line.base > begin]
    return [*above, Columns([], left, right), *below]


def pages_side_by_side(lines: list[Line]) -> list[list[Line]]:
    """The lines of each of two pages printed on one sheet; otherwise all lines."""
    if len(lines) < 2 * _FEWEST:
        return [lines]
    parts = part_at_fold([word for line in lines for word in line.words])
    sides = [build_lines(words) for words in parts] if len(parts) > 1 else []
    return sides if are_pages(sides) else [lines]


def part_at_fold(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """The words on each side of the widest white from top to bottom near the middle of wide print; otherwise all words.

    What is neither a letter nor a figure may be the shadow of a book's fold.
    """
    begin, end = min(word.left for word in words), max(word.right for word in words)
    bases = [word.base for word in words]
    if end - begin < _SHEET * (max(bases) - min(bases)):
        return [list(words)]
    low, high = (begin + share * (end - begin) for share in _NEAR_FOLD)
    widest, fold, reach = _FOLD, begin, begin
    for word in sorted(words, key=attrgetter("left")):
        if any(map(str.isalnum, word.text)):
            if low < word.left and reach < high and word.left - reach >= widest:
                widest, fold = word.left - reach, (word.left + reach) / 2
            reach = max(reach, word.right)
    sides = [word for word in words if word.left < fold], [word for word in words if word.left >= fold]
    return [side for side in sides if side]


def are_pages(sides: Sequence[Sequence[Line]], near: float = 1) -> bool:
    """Whether what stands on two sides of a fold are two pages, and no rows of a table.

    Pages have numbers that follow each other; or lines about as far apart that are not level; or prose whose paragraphs
    do not begin where those of the other begin, as the cells of a row do. `near` is how many points lines are apart at
    most that are level.
    """
    fewest = min(map(len, sides), default=0)
    if len(sides) < 2 or fewest < _FEW or not all(map(_has_labels, sides)):
        return False
    left, right = sides
    if _follow(left, right):
        return True
    pitches = sorted(map(_pitch, sides))
    if fewest < _FEWEST or pitches[1] > _DENSE * pitches[0]:
        return False
    if _are_level(left, right, near):
        return all(map(_is_prose, sides)) and not _begin_together(left, right, near)
    return not _are_level(left, right, or_between=True)


def _follow(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether the last lines have page numbers at the outer corners, or the first ones, where the left is even."""
    for at in (-1, 0):
        numbers = left[at].words[0].text, right[at].words[-1].text
        if all(re.fullmatch("[0-9]{1,3}", number) for number in numbers):
            return int(numbers[1]) == int(numbers[0]) + 1 and (at < 0 or int(numbers[1]) % 2 == 1)
    return False


def _pitch(lines: Sequence[Line]) -> float:
    return median(below.base - above.base for above, below in itertools.pairwise(lines))


def _has_labels(lines: Sequence[Line]) -> bool:
    return sum(line.words[0].text[:1].isalpha() for line in lines) > _LETTERS * len(lines)


def _begin_together(left: Sequence[Line], right: Sequence[Line], near: float) -> bool:
    """Whether most paragraphs begin level with one of the other side."""
    score = 0
    for lines, others in ((left, right), (right, left)):
        pitch = _pitch(lines)
        for above, line in itertools.pairwise(lines):
            if line.base - above.base > _APART * pitch:
                beside = [at for at, other in enumerate(others) if abs(other.base - line.base) < near]
                score += 1 if any(at == 0 or others[at - 1].words[-1].text[-1] in ".:;!?" for at in beside) else -1
    return score > 0


def _gutter(words: Sequence[PageWord], lines: int) -> float | None:
    """The middle of the widest white space between words that runs down the middle of a page."""
    if not words:
        return None
    begin, end = min(word.left for word in words), max(word.right for word in words)
    changes = [0] * (int((end - begin) / _BIN) + 2)
    for at in [int((word.left - begin) / _BIN) for word in words]:
        changes[at] += 1
    for at in [int((word.right - begin) / _BIN) for word in words]:
        changes[at + 1] -= 1
    bins = list(itertools.accumulate(changes[:-1]))
    most = _WIDEST_OVER * lines
    best: tuple[int, int] = (0, 0)
    at = 0
    for is_white, run in itertools.groupby(bins, lambda count: count <= most):
        length = len(list(run))
        middle = at + length / 2
        if is_white and length > best[0] and _MIDDLE[0] * len(bins) <= middle <= _MIDDLE[1] * len(bins):
            best = length, at
        at += length
    length, first = best
    return begin + _BIN * (first + length / 2) if length >= _NARROWEST else None


def _crosses(line: Line, gutter: float) -> bool:
    """Whether a line crosses the gutter: with a word on it, or with words close together on both sides."""
    if any(word.left < gutter < word.right for word in line.words):
        return True
    before = [word.right for word in line.words if word.right <= gutter]
    behind = [word.left for word in line.words if word.left >= gutter]
    return bool(before and behind) and min(behind) - max(before) < line.size


def _is_prose(lines: Sequence[Line]) -> bool:
    held = [
        line
        for line in lines
        if len(line.words) >= _WORDS and 3 * sum(word.text[:1].isalpha() for word in line.words) > 2 * len(line.words)
    ]
    words = sum(len(line.words) for line in lines)
    return len(held) >= _FEWEST and sum(len(line.words) for line in held) >= _PROSE * words


def _switches(words: Sequence[PageWord], gutter: float) -> int:
    """How often the page's text switches from one column to the other."""
    sides = [word.left < gutter for word in sorted(words, key=attrgetter("first"))]
    return sum(one != other for one, other in itertools.pairwise(sides))


def _are_level(left: Sequence[Line], right: Sequence[Line], near: float = 1, *, or_between: bool = False) -> bool:
    """Whether lines on two sides of a page may be the rows of a table; `or_between`: in the middle of its rows."""
    fewer, more = sorted((left, right), key=len)
    bases = [line.base for line in more]
    bases += [(above + below) / 2 for above, below in itertools.pairwise(bases)] if or_between else []
    level = sum(any(abs(line.base - base) < near for base in bases) for line in fewer)
    return level > (_CENTRED if or_between else _LEVEL) * len(fewer)


def _stretches(across: Sequence[Line], left: Sequence[Line], right: Sequence[Line]) -> Iterator[Columns]:
    borders = [line.base for line in across]
    for index in range(len(borders) + 1):
        above = borders[index - 1] if index else float("-inf")
        below = borders[index] if index < len(borders) else float("inf")
        within = [[line for line in lines if above < line.base <= below] for lines in (left, right)]
        yield Columns([across[index - 1]] if index else [], *within)


"""Lines side by side that make columns of prose."""
_SHARE: Final = 0.25
"""The least share of a page's lines that stand side by side where it has columns."""
_FULL: Final = 0.75
"""The share of a column's width that most of its lines fill."""
_MOST: Final = 0.7
_PROSE_COLUMN: Final = 3
"""More words than that side by side, most of them letters, are prose."""


def split_prose(lines: list[Line]) -> list[list[Line]]:
    """The lines of each column of prose, and those across both; all lines if the page has one column."""
    gutters = _gutters(lines)
    if not gutters:
        return [lines]
    across: list[PageWord] = []
    columns: list[list[PageWord]] = [[] for _ in range(len(gutters) + 1)]
    for line in lines:
        parts = _part_words(line, gutters)
        runs = any(word.left < gutter < word.right for word in line.words for gutter in gutters)
        held = [part for part in parts if part]
        if runs or any(_follows(before, after) for before, after in itertools.pairwise(held)):
            across += line.words
        else:
            for column, part in zip(columns, parts, strict=True):
                column.extend(part)
    return [build_lines(column) for column in (across, *columns) if column]


def merge_columns(lines: Sequence[Line]) -> list[Table]:
    """Columns of prose drawn line by line across the page, with each line of a column as a row: read column by column.

    A line across both columns divides the page into stretches and stays where it is.
    """
    gutters = _gutters(lines, drawn_across=True)
    if not gutters:
        return []
    stretches = _part_lines(lines, gutters)
    if not all(_has_one_edge([line for part in column for line in part]) for column in zip(*stretches, strict=True)):
        return []
    prose = [[line for column in stretch for line in column] for stretch in stretches]
    return [
        Table(stretch[0].base, [TableRow([write_words(line.words)], line.words) for line in stretch], is_prose=True)
        for stretch in prose
        if stretch
    ]


def _part_words(line: Line, gutters: Sequence[float]) -> list[list[PageWord]]:
    """The words of a line in each column between the gutters, by the middles of the words."""
    parts: list[list[PageWord]] = [[] for _ in range(len(gutters) + 1)]
    for word in line.words:
        parts[bisect(gutters, (word.left + word.right) / 2)].append(word)
    return parts


def _part_lines(lines: Sequence[Line], gutters: Sequence[float]) -> list[list[list[Line]]]:
    """The lines of each column in each stretch, except for those that run across or stand alone."""
    stretches: list[list[list[Line]]] = []
    is_across = True
    for line in lines:
        parts = _part_words(line, gutters)
        if is_across:
            stretches.append([[] for _ in parts])
        is_across = any(_crosses(line, at) for at in gutters)
        if sum(map(bool, parts)) < 2 or is_across:
            continue
        for column, part in zip(stretches[-1], parts, strict=True):
            if part:
                column.append(Line(part, line.base, line.size, []))
    return stretches


def _has_one_edge(column: Sequence[Line]) -> bool:
    """Whether the lines of a column begin at one place and mostly fill it, as prose does and cells do not."""
    if len(column) < _FEWEST:
        return False
    lefts = sorted(line.left for line in column)
    left = lefts[len(lefts) // 2]
    right = max(line.right for line in column)
    aligned = sum(abs(line.left - left) < line.size / 4 for line in column)
    full = sum(line.right - left > _FULL * (right - left) for line in column)
    return aligned >= _MOST * len(column) and full >= _MOST * len(column)


def _gutters(lines: Sequence[Line], *, drawn_across: bool = False) -> list[float]:
    """The gutters between columns of prose: where many lines have several words on both sides."""
    gaps: list[Interval] = []
    for line in lines:
        for cell, other in itertools.pairwise(line.cells):
            if _is_prose_column(cell) and _is_prose_column(other) and _follows(cell.words, other.words) == drawn_across:
                gaps.append((cell.right, other.left))
    least = max(_FEWEST, _SHARE * len(lines))
    gutters: list[float] = []
    while len(gaps) >= least:
        middle = (
            max((right for _, right in gaps), key=lambda at: sum(left < at - 1 <= right for left, right in gaps)) - 1
        )
        here = [gap for gap in gaps if gap[0] < middle <= gap[1]]
        if len(here) < least:
            break
        gutters.append(middle)
        gaps = [gap for gap in gaps if gap not in here]
    return sorted(gutters)


def _is_prose_column(cell: LineCell) -> bool:
    return len(cell.words) > _PROSE_COLUMN and 3 * sum(word.text[:1].isalpha() for word in cell.words) > 2 * len(
        cell.words
    )


def _follows(before: Sequence[PageWord], after: Sequence[PageWord]) -> bool:
    """Whether words were drawn immediately after those to their left."""
    return 0 <= min(word.first for word in after) - max(word.end for word in before) <= 2


def in_printed_order(
    tables: Sequence[Sequence[PageWord]],
    edits: Sequence[Sequence[Edit]],
    words: Sequence[PageWord],
    text: str,
    spaces: Collection[int],
) -> list[Edit]:
    """The edits of a page's tables, with what heads one but is drawn behind it, if it misses none of `spaces`."""
    ordered = [list(each) for each in edits]
    moved = _lines_over(tables, min((each[0][0] for each in edits), default=0), words, text)
    for upper, lower in itertools.permutations(range(len(tables)), 2):
        (first, last, head), (start, end, rows) = ordered[upper][0], ordered[lower][0]
        row = head.strip(f"\r\n{TABLE}{TABLE_END}")
        empty = rows.partition("\r\n")[0].count("\t") - row.count("\t")
        if row and "\n" not in row and start < first and empty > 0 and _heads(tables[upper], tables[lower]):
            ordered[upper][0] = (first, last, "")
            ordered[lower][0] = (start, end, rows.replace(TABLE, TABLE + "\t" * empty + row + "\r\n", 1))
    if any(first <= space < last for first, last, _ in moved for space in spaces):
        moved = []
    return [*moved, *itertools.chain.from_iterable(ordered)]


def _heads(upper: Sequence[PageWord], lower: Sequence[PageWord]) -> bool:
    """Whether a row stands right over the last columns of a table: its header, drawn by column."""
    size, top = lower[0].size, min(word.base for word in lower)
    is_last = abs(max(word.right for word in upper) - max(word.right for word in lower)) < 2 * size
    is_inside = min(word.left for word in upper) > min(word.left for word in lower) + 2 * size
    return is_last and is_inside and 0 < top - max(word.base for word in upper) < 2 * size


def _group_by_lines(words: Sequence[PageWord], text: str) -> dict[tuple[int, int], list[PageWord]]:
    """The words of each line of a text, by where the line begins and ends."""
    lines: dict[tuple[int, int], list[PageWord]] = {}
    for word in words:
        end = text.find("\r\n", word.first)
        lines.setdefault((text.rfind("\n", 0, word.first) + 1, end if end >= 0 else len(text)), []).append(word)
    return lines


def _lines_over(tables: Sequence[Sequence[PageWord]], start: int, words: Sequence[PageWord], text: str) -> list[Edit]:
    """The edits that put lines over the only tables of a page's width, and drawn behind these, to `start`."""
    held = [word for table in tables for word in table]
    if not held or text[:start][-1:] not in {"", "\n"}:
        return []
    known = {word.first for word in held}
    lines = _group_by_lines([word for word in words if word.first not in known], text)
    top, low = min(word.base for word in held), max(word.base for word in held)
    left, right = min(word.left for word in held), max(word.right for word in held)
    beside = (word for line in lines.values() for word in line if top < word.base < low)
    upmost = min(tables, key=lambda each: min(word.base for word in each))
    is_below = min(known) < min(word.first for word in upmost)
    if is_below or any(word.left < left - word.size or word.right > right + word.size for word in beside):
        return []
    drawn = max(word.end for word in held)
    over = [at for at, line in lines.items() if at[0] > drawn and max(word.base + word.size / 3 for word in line) < top]
    over.sort(key=lambda at: lines[at][0].base)
    steps = [lines[below][0].base - lines[above][0].base for above, below in itertools.pairwise(over)]
    if not 0 < len(over) <= _MOST_OVER or min(steps, default=inf) < held[0].size:  # they stand beside each other
        return []
    above = "\r\n".join(text[slice(*at)].strip() for at in over)
    return [(start, start, f"{above}\r\n"), *((first, min(last + 2, len(text)), "") for first, last in over)]
