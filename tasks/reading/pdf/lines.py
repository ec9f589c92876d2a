"""The lines of a PDF's page: words side by side, and which of them stand together.

All lengths are points; `base` grows from the top of the page to its bottom.
"""

import itertools
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Final

from tasks.reading.pdf.words import FARTHEST, WORD_GAP, PageWord, write_words

_FIGURE: Final = re.compile(
    r"[(\[−–+-]? ?(US\$|[A-Z]{0,3}[$€£¥₱₹₩₺₽₪₫]|P=)? ?[(−–-]?\d[\d,.'’ ]*\)? ?(%|x|[kKmMbB]n?|pp|bps?|[$€£¥])?\)?[*†‡]?"
    r"|[-–—−]+|n/?[am]\.?|N/?[AM]|nil|Nil"
)
_LONGEST_FIGURE: Final = 40
_LIKE_FIGURE: Final = re.compile(r"\d{1,9} ?/ ?\d{1,9}|\w\d{1,9}([.,]\d{1,9})?%")
_YEAR: Final = re.compile(r"(19|20)\d\d")
LEADING_SIGN: Final = re.compile(r"(US|[A-Z]{0,2})[$€£¥]( ?\()?|\(|EUR|USD|GBP|CHF")
CLOSING_SIGN: Final = re.compile(r"%|\)|%\)|\)%|\) ?%")


@lru_cache(maxsize=4096)  # each cell is asked several times
def is_figure(text: str) -> bool:
    """Whether a cell's text is a figure, or a dash for none."""
    return len(text) <= _LONGEST_FIGURE and _FIGURE.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def is_like_figure(text: str) -> bool:
    """Whether a cell's text is a figure, or one beside another (`25/30`), or with an unknown sign (`þ5%`)."""
    return is_figure(text) or _LIKE_FIGURE.fullmatch(text) is not None


def is_amount(text: str) -> bool:
    """Whether a cell's text is a figure, or a dash for none, but not a year."""
    return is_figure(text) and not _YEAR.fullmatch(text)


def is_sign(text: str) -> bool:
    """Whether a cell contains nothing but a currency sign, or what closes a figure."""
    return LEADING_SIGN.fullmatch(text) is not None or CLOSING_SIGN.fullmatch(text) is not None


Interval = tuple[float, float]

VALUE: Final = "\ufdd2"
"""What stands between the value of a form's field and other words in one cell. No character has this number."""

GUTTER: Final = 0.35
"""The least width of the white between two columns, as a share of the size."""
TOUCH: Final = 0.1
"""Points by which a cell has to reach into a column."""
_MARKS: Final = frozenset(("(", ")", "$", "€", "£", "¥", "US$", "A$", "C$", "HK$", "$(", "€(", "£(", "¥(", "US$("))
"""Words that belong to the figure beside them."""
_BEFORE: Final = ("$", "£", "¥", "US$", "$(", "£(")
"""Signs that always stand before their figure; others stand beside the nearer one."""
_LONE_FIGURE: Final = re.compile(r"[(−–—-]?[\d(]|[−–—-]+$")
_ENDS_FIGURE: Final = re.compile(r"[\d)%−–—-]$")
CELL_GAP: Final = 0.9
"""Words whose gap is wider, as a share of the size, stand in cells of their own where other lines agree."""
_SAME_LINE: Final = 0.3
"""How far a word may be raised or lowered, as a share of the size, to belong to the line."""
_HALF_LINE: Final = 0.5
"""How much lower a code or a figure may stand than the label beside it, as a share of the size."""
_CODE: Final = 2
"""Words of a code or a figure at most."""
_STEP: Final = 0.3
"""Points by which a column may be set lower in one row than in another."""
_ALONE: Final = 2.5
"""How much further away other lines are, at least."""
_STEPS: Final = 3
"""Rows in which it is set so, at least."""
_SMALL: Final = 0.82
"""Words smaller than that share of a line's may be its exponents."""
_RAISED: Final = 0.6
"""How far exponents may be raised, as a share of the line's size."""
_SPACE: Final = 2
"""Characters between two words that PDFium parts: a space or a line break."""
_FEW: Final = 6
"""Lines above that a word is checked against."""


class LineCell:
    """Words of a line that belong together, and where they begin and end."""

    __slots__ = ("_text", "left", "right", "words")

    def __init__(self, words: list[PageWord]) -> None:
        self.words = words
        self.left = words[0].left
        self.right = words[-1].right
        self._text: str | None = None

    @property
    def text(self) -> str:
        """Its words with single spaces."""
        if self._text is None:
            self._text = write_words(self.words)
        return self._text


@dataclass(slots=True)
class Line:
    """Words side by side, from left to right; `cells` are separated by wide gaps."""

    words: list[PageWord]
    base: float
    size: float
    cells: list[LineCell]

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.words[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(word.right for word in self.words)


def build_lines(words: Iterable[PageWord]) -> list[Line]:
    """Words put into lines, from the top of the page to its bottom. Exponents join the line beside them."""
    words = list(words)
    if len(words) == 1:  # half of the cells between rules
        return [Line(words, words[0].base, words[0].size, [LineCell(words)])]
    if only := _only_line(words):
        return [only]
    lines: list[Line] = []
    words.sort(key=attrgetter("left"))
    words.sort(key=attrgetter("base"))
    for (base, size), run in itertools.groupby(words, attrgetter("base", "size")):
        level = list(run)
        for line in lines[: -_FEW - 1 : -1]:
            apart = abs(base - line.base)
            if apart <= FARTHEST and apart <= _SAME_LINE * max(size, line.size):
                line.words += level
                if size > line.size:
                    line.size, line.base = size, base
                break
        else:
            lines.append(Line(level, base, size, []))
    lines = _with_exponents(lines)
    for line in lines:
        _cut(line)
    return _level(lines)


def _only_line(words: list[PageWord]) -> Line | None:
    """The line that contains all words; None if there are several lines, or none."""
    if not words:
        return None
    bases = [word.base for word in words]
    spread = max(bases) - min(bases)
    if spread > FARTHEST or spread > _SAME_LINE * min([word.size for word in words]):
        return None
    highest = max(words, key=attrgetter("size"))
    line = Line(words, highest.base, highest.size, [])
    _cut(line)
    return line


def _cut(line: Line) -> None:
    """Sort the words of a line and split it into cells."""
    words = line.words
    if len(words) == 1:
        line.cells = [LineCell(words)]
        return
    words.sort(key=attrgetter("left"))
    begins = _find_cell_starts(words)
    if not _MARKS.isdisjoint([word.text for word in words]):
        begins += _beside_marks(words, begins)
        begins.sort()
    line.cells = [LineCell(words[begin:end]) for begin, end in itertools.pairwise((0, *begins, len(words)))]


def _level(lines: list[Line]) -> list[Line]:
    """The lines; codes and figures slightly lower or higher than their labels, row by row, join the labels' lines."""
    pairs = list(itertools.pairwise(lines))
    if sum([_are_near(*pair) for pair in pairs]) < _STEPS:  # the usual
        return lines
    steps = [below.base - above.base if _may_be_level(above, below) else 0.0 for above, below in pairs]
    apart = [math.inf, *(below.base - above.base for above, below in pairs), math.inf]
    steps = [
        step if min(before, behind) > _ALONE * step else 0.0
        for before, step, behind in zip(apart, steps, apart[2:], strict=False)
    ]
    kept = lines[:1]
    joined = False
    for (_, line), step in zip(pairs, steps, strict=True):
        joined = not joined and step > 0 and sum(abs(step - other) < _STEP for other in steps) >= _STEPS
        if joined:
            larger = max(kept[-1], line, key=attrgetter("size"))
            kept[-1] = Line([*kept[-1].words, *line.words], larger.base, larger.size, [])
            _cut(kept[-1])
        else:
            kept.append(line)
    return kept


def _are_near(above: Line, below: Line) -> bool:
    """Whether two lines are within half a line's height."""
    return below.base - above.base < _HALF_LINE * max(above.size, below.size)


def _may_be_level(above: Line, below: Line) -> bool:
    """Whether two lines are within half a line's height, beside each other, and one has only short cells."""
    return (
        _are_near(above, below)
        and min(max(len(cell.words) for cell in line.cells) for line in (above, below)) <= _CODE
        and not any(one.left < other.right and other.left < one.right for one in above.cells for other in below.cells)
    )


def _with_exponents(lines: list[Line]) -> list[Line]:
    """The lines, with those that hold only exponents and indices merged into the line before or after them."""
    sizes = [line.size for line in lines]
    if not sizes or min(sizes) >= _SMALL * max(sizes):
        return lines
    kept: list[Line] = []
    for index, line in enumerate(lines):
        near = [other for other in (*kept[-1:], *lines[index + 1 : index + 2]) if line.size < _SMALL * other.size]
        hosts = [
            other
            for other in near
            if abs(other.base - line.base) < _RAISED * other.size and all(_beside(word, other) for word in line.words)
        ]
        if hosts:
            hosts[0].words += line.words
        else:
            kept.append(line)
    return kept


def _beside(small: PageWord, line: Line) -> bool:
    """Whether a small word is immediately beside a word of a line."""
    reach = 0.35 * line.size
    return any(
        -reach < small.left - word.right < reach or -reach < word.left - small.right < reach for word in line.words
    )


def _find_cell_starts(words: Sequence[PageWord]) -> list[int]:
    """The words of a line, except the first, that follow a wide gap. Words that continue the one before are marked."""
    begins: list[int] = []
    last = words[0]
    last_right, last_size = last.right, last.size
    for index, word in enumerate(words):
        gap, size = word.left - last_right, word.size
        smaller = size if size < last_size else last_size  # noqa: FURB136 - min takes three times as long
        if (gap > CELL_GAP * smaller and not word.piece) or word.piece != last.piece:
            begins.append(index)
        elif gap < WORD_GAP * smaller and index:
            word.glued = word.glued or _goes_on(last, word, gap)
        last, last_right, last_size = word, word.right, size
    return begins


def _goes_on(last: PageWord, word: PageWord, gap: float) -> bool:
    """Whether a word continues the one before, with almost no gap and no space that PDFium considers intended."""
    size = word.size
    raised = abs(word.base - last.base)
    spaced = 0 <= word.first - last.end <= _SPACE and raised < WORD_GAP * size
    return -size / 2 < gap and not spaced and raised < _RAISED * max(size, last.size)


def _beside_marks(words: Sequence[PageWord], begins: Collection[int]) -> list[int]:
    """The other words of a line that begin a cell, such as a currency sign after a figure.

    Signs within a cell are joined to their figures.
    """
    more: list[int] = []
    for index, (last, word) in enumerate(itertools.pairwise(words), 1):
        if index in begins or not (word.text in _MARKS or last.text in _MARKS):
            continue
        if _begins_figure(words, index):
            more.append(index)
        elif word.text == ")" or last.text == "(" or (last.text not in "()" and _LONE_FIGURE.match(word.text)):
            word.glued = True  # what stands before a figure is a currency sign
    return more


def _begins_figure(words: Sequence[PageWord], index: int) -> bool:
    """Whether a word is a currency sign before a figure, and after another figure or a label."""
    if index + 1 == len(words) or words[index].text not in _MARKS or words[index].text in "()":
        return False
    last, word, after = words[index - 1 : index + 2]
    if not _ENDS_FIGURE.search(last.text) or not _LONE_FIGURE.match(after.text):
        return False
    return word.text in _BEFORE or word.left - last.right >= after.left - word.right


def over(cell: LineCell | PageWord, columns: Sequence[Interval]) -> int:
    """How many columns a cell extends over; these come from left to right."""
    begin, at = cell.left + TOUCH, bisect_left(columns, (cell.right - TOUCH,))
    count = 0
    while count < at and columns[at - count - 1][1] > begin:
        count += 1
    return count


def offset(one: Interval, other: Interval) -> float:
    """The smallest distance between the left edges, right edges or middles of two intervals."""
    left, right = one[0] - other[0], one[1] - other[1]
    return min(abs(left), abs(right), abs(left + right) / 2)


def is_header(line: Line) -> bool:
    """Whether a line has no figures other than years."""
    return not any(is_amount(cell.text) for cell in line.cells)
