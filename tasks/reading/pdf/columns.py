"""Two columns that a page draws in the order of their heights, or with a rule between: read one after the other.

They are prose where nothing else tells them from the rows of a table. A page that draws one column behind the other
needs nothing of this, and columns whose lines are level and drawn
across are put in order by `prose`. Here the lines of the columns stand at heights of their own, and the page draws a
line of one, then a line of the other.
"""

import itertools
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from tasks.reading.pdf.lines import Line, lines_of
from tasks.reading.pdf.rules import RuledLine
from tasks.reading.pdf.words import Word

_BIN: Final = 2.0
"""Points in which the width of a page is counted."""
_MIDDLE: Final = (0.25, 0.75)
"""The part of a page's width in which a gutter may run."""
_WIDEST_OVER: Final = 0.12
"""The share of a page's lines that may cross its gutter: headings, captions."""
_NARROWEST: Final = 3
"""Bins of white that a gutter has at least."""
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
"""Points of white between two pages on one sheet, at least, and how far it may stand from the sheet's middle."""
_LONG: Final = 0.5
"""The share of a page's height that a rule between its columns runs down."""
_CROSSED: Final = 2
"""Rules that may cross the one between columns, at its ends: more make a grid."""


class Columns(NamedTuple):
    """A stretch of a page: lines across it, or the lines of its two columns below each other."""

    across: list[Line]
    left: list[Line]
    right: list[Line]


def columns_by_height(words: Sequence[Word], lines: Sequence[Line]) -> list[Columns]:
    """The stretches of a page whose two columns of prose are drawn by height, from the top; none of other pages.

    `lines` are those that the words make.
    """
    gutter = _gutter(words, len(lines))
    if gutter is None:
        return []
    across = [line for line in lines if _crosses(line, gutter)]
    held = {word.first for line in across for word in line.words}
    free = [word for word in words if word.first not in held]
    if sum([word.text[0].isalpha() for word in free]) < _LETTERS * len(free):
        return []
    switches = _switches(free, gutter)
    if switches < _SWITCHES * (len(lines) - len(across)):
        return []
    left = lines_of(word for word in free if word.left < gutter)
    right = lines_of(word for word in free if word.left >= gutter)
    if switches < _SWITCHES * (len(left) + len(right)) or _are_level(left, right):
        return []
    if not (_is_prose(left) and _is_prose(right)):
        return []
    return list(_stretches(across, left, right))


def columns_by_rule(
    words: Sequence[Word], vertical: Sequence[RuledLine], horizontal: Sequence[RuledLine]
) -> list[Columns]:
    """The stretches of a page down the middle of which a rule runs, and whose lines on both sides are not level."""
    longest = max((rule.end - rule.begin for rule in vertical), default=0.0)
    bases = [word.base for word in words] if longest else []
    least = _LONG * (max(bases) - min(bases)) if bases else longest
    for at, begin, end in [rule for rule in vertical if rule.end - rule.begin > least > 0]:
        crossed = sum([rule.begin < at - 1 and at + 1 < rule.end and begin < rule.at < end for rule in horizontal])
        beside = [word for word in words if begin < word.base < end] if crossed <= _CROSSED else []
        if not beside or any(word.left < at < word.right for word in beside):
            continue
        left = lines_of(word for word in beside if word.left < at)
        right = lines_of(word for word in beside if word.left >= at)
        if min(len(left), len(right)) >= _FEWEST and not _are_level(left, right):
            held = {word.first for word in beside}
            others = lines_of(word for word in words if word.first not in held)
            above = [Columns([line], [], []) for line in others if line.base <= begin]
            below = [Columns([line], [], []) for line in others if line.base > begin]
            return [*above, Columns([], left, right), *below]
    return []


def pages_side_by_side(lines: list[Line]) -> list[list[Line]]:
    """The lines of each of two pages that are printed on one sheet, told by its width and their numbers; else all.

    Without numbers at their outer corners they are two where the lines of one are not level with those of the other.
    """
    if len(lines) < 2 * _FEWEST:
        return [lines]
    begin, end = min(line.left for line in lines), max(line.right for line in lines)
    if end - begin < _SHEET * (lines[-1].base - lines[0].base):
        return [lines]
    middle = (begin + end) / 2
    words = [word for line in lines for word in line.words]
    before = [word for word in words if word.right < middle + _FOLD]
    behind = [word for word in words if word.left > middle - _FOLD and word.right >= middle + _FOLD]
    if len(before) + len(behind) < len(words) or not before or not behind:
        return [lines]
    if min(word.left for word in behind) - max(word.right for word in before) < _FOLD:
        return [lines]
    left, right = lines_of(before), lines_of(behind)
    if min(len(left), len(right)) < _FEWEST:
        return [lines]
    numbers = [line.words[at].text for line, at in ((left[-1], 0), (right[-1], -1))]
    follow = all(map(str.isdecimal, numbers)) and int(numbers[1]) == int(numbers[0]) + 1
    return [left, right] if follow or not _are_level(left, right) else [lines]


def _gutter(words: Sequence[Word], lines: int) -> float | None:
    """The middle of the widest white that runs down the middle of a page between words."""
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
    """Whether a line runs over the gutter: by a word on it, or by words that stand close to each other around it."""
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


def _switches(words: Sequence[Word], gutter: float) -> int:
    """How often a page goes from one column to the other."""
    sides = [word.left < gutter for word in sorted(words, key=attrgetter("first"))]
    return sum(one != other for one, other in itertools.pairwise(sides))


def _are_level(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether lines on two sides of a page may be the rows of a table."""
    fewer, more = sorted((left, right), key=len)
    bases = [line.base for line in more]
    return sum(any(abs(line.base - base) < 1 for base in bases) for line in fewer) > _LEVEL * len(fewer)


def _stretches(across: Sequence[Line], left: Sequence[Line], right: Sequence[Line]) -> Iterator[Columns]:
    borders = [line.base for line in across]
    for index in range(len(borders) + 1):
        above = borders[index - 1] if index else float("-inf")
        below = borders[index] if index < len(borders) else float("inf")
        within = [[line for line in lines if above < line.base <= below] for lines in (left, right)]
        yield Columns([across[index - 1]] if index else [], *within)
