"""The words and lines of a PDF's page, by the places of their characters.

PDFium gives the characters of a page in the order in which they are drawn, with a space or a line break where it takes
one for meant. Words come from that text; where it has come apart, letter by letter, they come from the gaps between the
boxes of the glyphs. All lengths are points; `base` grows from the top of the page to its bottom.
"""

import itertools
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from math import pi
from operator import attrgetter
from typing import Any, Final

from tasks.documents.extract.pdf import document
from tasks.documents.extract.pdf.document import Box, PageText

_WORD: Final = re.compile("([^\\s\x02\ufffe]+)[\x02\ufffe]?")
"""PDFium marks a hyphen at a line's end, and gives no line break."""
_PLAIN: Final = re.compile(r"\S+")
_PERCENT: Final = re.compile("%[\x02\ufffe]?")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
LETTERS: Final = 0.85
"""A font's size as a share of the height of its characters' boxes."""
_MARKS: Final = frozenset(("(", ")", "$", "€", "£", "¥", "US$", "A$", "C$", "HK$", "$(", "€(", "£(", "¥(", "US$("))
"""Words that belong to the figure beside them."""
_BEFORE: Final = ("$", "£", "¥", "US$", "$(", "£(")
"""Signs that always stand before their figure; others stand beside the nearer one."""
_FIGURE: Final = re.compile(r"[(−–—-]?[\d(]|[−–—-]+$")
_ENDS_FIGURE: Final = re.compile(r"[\d)%−–—-]$")
WORD_GAP: Final = 0.13
"""Glyphs whose gap is wider, as a share of the size, are of two words. A space is 0.2 to 0.3."""
_LEVEL: Final = 0.2
"""How much lower a word's last letter stands, as a share of its height, where the word may be turned."""
_SIGN_GAP: Final = 0.26
"""The white before a percent sign up to which it belongs to its figure, if no space was typed."""
_CELL_GAP: Final = 0.9
"""Words whose gap is wider, as a share of the size, stand in cells of their own where other lines agree."""
_SAME_LINE: Final = 0.3
"""How far a word may be raised or lowered, as a share of the size, to belong to the line."""
FARTHEST: Final = 2.4
"""How far that is at most: some fonts say that their letters are twice as high as they are."""
_SMALL: Final = 0.82
"""Words smaller than that share of a line's may be its exponents."""
_RAISED: Final = 0.6
"""How far exponents may be raised, as a share of the line's size."""
_SPACE: Final = 2
"""Characters between two words that PDFium parts: a space or a line break."""
_FEW: Final = 6
"""Lines above that a word is held against."""
_SAMPLE: Final = 12
"""Words whose turn tells how the page is turned."""
MOST: Final = 30_000
"""Characters of a page that are looked at; pages that print more hold no table for people."""
_ENOUGH: Final = 400
"""Words that tell whether a page may be printed twice."""
_TWICE: Final = 0.05
"""The share of a page's words that stand on others where it is printed twice."""
_LINE: Final = 200
"""Characters that a line has at most."""


@dataclass(slots=True)
class Word:
    """Characters `first` up to `end` of the page's text, without white space among them.

    `glued`: no space stands before it, for it goes on the word to its left.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    first: int
    end: int
    glued: bool = False


class LineCell:
    """Words of a line that stand together, from where it begins to where it ends."""

    __slots__ = ("_text", "left", "right", "words")

    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.left = words[0].left
        self.right = words[-1].right
        self._text: str | None = None

    @property
    def text(self) -> str:
        """Its words with single spaces."""
        if self._text is None:
            self._text = text_of(self.words)
        return self._text


@dataclass(slots=True)
class Line:
    """Words side by side, from left to right; `cells` are those that wide gaps part."""

    words: list[Word]
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


def text_of(words: Iterable[Word]) -> str:
    """Words from left to right with single spaces; those of a script that is written to the left as they were drawn."""
    words = list(words)
    if len(words) == 1:
        return words[0].text
    text = "".join([word.text if word.glued else f" {word.text}" for word in words]).lstrip()
    if has_right_to_left(text):
        return " ".join(word.text for word in sorted(words, key=lambda word: word.first))
    return text


def has_right_to_left(text: str) -> bool:
    """Whether some letters of a text are of a script that is written to the left."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Whether most letters of a text are of a script that is written to the left."""
    return has_right_to_left(text) and 2 * len(_RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def turn_of(textpage: Any, page_text: PageText) -> int:
    """By how many quarters most words of a page are turned."""
    text = page_text.text
    step = max(1, len(text) // _SAMPLE)
    sample = [index for index in range(step // 2, len(text), step) if not text[index].isspace()]
    angles = document.character_angles(textpage, sample)
    if not any(angles):
        return 0
    turns = Counter(round(angle / (pi / 2)) % 4 for angle in angles)
    return turns.most_common(1)[0][0] if turns else 0


def words_of_text(textpage: Any, page_text: PageText, turn: int, spaces: Sequence[int] = ()) -> list[Word]:
    """The words of a page as PDFium parts them, those that are turned by `turn` quarters; these stand upright here.

    `spaces`: where spaces are missing in the text.

    A page that is too full has none, nor has one with characters beyond 16 bits, which PDFium counts otherwise: these
    are the letters of formulas, whose parts stand like the cells of a table.
    """
    text = page_text.text
    if page_text.characters > MOST or len(text) != page_text.units:
        return []
    spans = _spans(text, spaces)
    ones, others = [first for first, _, _ in spans], [end - 1 for _, end, _ in spans]
    if page_text.units != page_text.characters:
        ones, others = ([document.character_at(textpage, at) for at in side] for side in (ones, others))
    single = [one for one, other in zip(ones, others, strict=True) if one == other]
    angles = document.character_angles(textpage, single)
    turned = {one for one, angle in zip(single, angles, strict=True) if round(angle / (pi / 2)) % 4 != turn}
    if turned:
        upright_ones = [one < other or one not in turned for one, other in zip(ones, others, strict=True)]
        spans = list(compress(spans, upright_ones))
        ones, others = list(compress(ones, upright_ones)), list(compress(others, upright_ones))
    boxes = document.character_boxes(textpage, ones)
    last_boxes = document.character_boxes(textpage, others)
    origins = document.character_origins(textpage, ones)
    if turn:
        words = list(_turned_words(text, spans, boxes, last_boxes, origins, turn))
    else:
        words = []
        for (first, _, behind), one, box, (last_left, _, last_right, last_bottom), (_, y) in zip(
            spans, ones, boxes, last_boxes, origins, strict=True
        ):
            left, top, right, bottom = box
            height = top - bottom
            if bottom != last_bottom:
                lower = abs(bottom - last_bottom)
                if lower > height or (
                    lower > _LEVEL * height and round(document.character_angle(textpage, one) / (pi / 2)) % 4
                ):
                    continue
            if last_left >= left:
                right = last_right
            elif _RIGHT_TO_LEFT.match(text, first):
                left, right = last_left, max(right, last_right)
            else:
                continue
            if height > 0 and right > left:
                words.append(Word(text[first:behind], left, right, -y, LETTERS * height, first, behind))
    if "%" in text:
        numbers = {first: one for (first, _, _), one in zip(spans, ones, strict=True)}
        for last, word in itertools.pairwise(words):
            near = word.text[0] == "%" and word.left - last.right < _SIGN_GAP * word.size
            if near and _PERCENT.fullmatch(word.text):
                word.glued = document.is_generated(textpage, numbers[word.first] - 1) == 1
    return words


def _spans(text: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
    """Where each word begins and ends, and where the mark of a hyphen behind it ends."""
    if not spaces and "\x02" not in text and "\ufffe" not in text:  # the usual
        return [(first, end, end) for first, end in map(re.Match.span, _PLAIN.finditer(text))]
    spans: list[tuple[int, int, int]] = []
    for match in _WORD.finditer(text):
        first, end = match.span(1)
        for space in spaces[bisect(spaces, first) : bisect(spaces, end - 1)]:
            spans.append((first, space, space))
            first = space
        spans.append((first, end, match.end()))
    return spans


def _turned_words(
    text: str,
    spans: Iterable[tuple[int, int, int]],
    boxes: Iterable[Box],
    last_boxes: Iterable[Box],
    origins: Iterable[tuple[float, float]],
    turn: int,
) -> Iterator[Word]:
    """Words of a page that is turned by so many quarters, by the boxes of their first and their last character."""
    for (first, end, behind), box, last_box, origin in zip(spans, boxes, last_boxes, origins, strict=True):
        left, right, base, height = upright(box, origin, turn)
        if end > first + 1:
            other_left, right, low, _ = upright(last_box, (last_box[0], last_box[3]), turn)
            if abs(base - low) > height or other_left < left:
                continue
        if height > 0 and right > left:
            yield Word(text[first:behind], left, right, base, LETTERS * height, first, behind)


def are_set_twice(words: Sequence[Word]) -> bool:
    """Whether many words of a page are drawn twice, one right after the other: PDFium loses parts of those."""
    return _share_twice(words[:_ENOUGH]) > _TWICE and _share_twice(words) > _TWICE


def _share_twice(words: Sequence[Word]) -> float:
    """The share of words that stand where the same one was drawn shortly before."""
    places: dict[tuple[str, int, int], int] = {}
    twice = 0
    for word in words:
        place = word.text, round(word.left / 2), round(word.base / 2)
        first = word.first
        if first - places.get(place, -_LINE) < _LINE:
            twice += 1
        places[place] = first
    return twice / len(words) if twice > _FEW else 0.0


def upright(box: Box, origin: tuple[float, float], turn: int) -> tuple[float, float, float, float]:
    """Left, right, base and height of a glyph's box after its line was turned upright."""
    left, top, right, bottom = box
    match turn:
        case 1:
            return -top, -bottom, -origin[0], right - left
        case 2:
            return -right, -left, origin[1], top - bottom
        case 3:
            return bottom, top, origin[0], right - left
        case _:
            return left, right, -origin[1], top - bottom


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Words put into lines, from the top of the page to its bottom. Exponents join the line beside them."""
    words = list(words)
    if line := _only_line(words):
        return [line]
    lines: list[Line] = []
    for word in sorted(words, key=attrgetter("base", "left")):
        base, size = word.base, word.size
        reach = min(FARTHEST, _SAME_LINE * size)
        for line in lines[: -_FEW - 1 : -1]:
            distance = abs(base - line.base)
            if distance <= reach and distance <= _SAME_LINE * line.size:
                line.words.append(word)
                if size > line.size:
                    line.size, line.base = size, base
                break
        else:
            lines.append(Line([word], base, size, []))
    lines = _with_exponents(lines)
    for line in lines:
        _cut(line)
    return lines


def _only_line(words: list[Word]) -> Line | None:
    """The line that all words stand in; None where there are several, or none."""
    if not words:
        return None
    if len(words) > 1:
        bases = [word.base for word in words]
        spread = max(bases) - min(bases)
        if spread > FARTHEST or spread > _SAME_LINE * min([word.size for word in words]):
            return None
    highest = max(words, key=attrgetter("size"))
    line = Line(words, highest.base, highest.size, [])
    _cut(line)
    return line


def _cut(line: Line) -> None:
    """Put the words of a line in order, and part its cells."""
    words = line.words
    if len(words) > 1:
        words.sort(key=attrgetter("left"))
        _glue(words)
    line.cells = cells_of(words)


def _with_exponents(lines: list[Line]) -> list[Line]:
    """The lines; those that hold nothing but exponents and indices of the next one or the last are part of it."""
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


def _beside(small: Word, line: Line) -> bool:
    """Whether a small word stands right beside a word of a line."""
    reach = 0.35 * line.size
    return any(
        -reach < small.left - word.right < reach or -reach < word.left - small.right < reach for word in line.words
    )


def _glue(words: list[Word]) -> None:
    """Mark the words of a line that go on the one before, unless PDFium took a space between them for meant."""
    for last, word in itertools.pairwise(words):
        gap, size = word.left - last.right, word.size
        if not (-size / 2 < gap < WORD_GAP * size and gap < WORD_GAP * last.size):
            continue
        raised = abs(word.base - last.base)
        spaced = 0 <= word.first - last.end <= _SPACE and raised < WORD_GAP * size
        if not spaced and raised < _RAISED * max(size, last.size):
            word.glued = True


def cells_of(words: list[Word]) -> list[LineCell]:
    """Words of a line, parted where their gaps are wide, and before a currency's sign behind a figure."""
    if len(words) == 1:
        return [LineCell(words)]
    last = words[0]
    part = [last]
    parts = [part]
    was_mark = last.text in _MARKS
    for index, word in enumerate(words[1:], 1):
        gap = word.left - last.right
        is_mark = word.text in _MARKS
        signed = is_mark or was_mark
        if gap > _CELL_GAP * word.size or gap > _CELL_GAP * last.size or (signed and _begins_figure(words, index)):
            part = [word]
            parts.append(part)
        else:
            part.append(word)
            if signed and (word.text == ")" or last.text == "(" or _is_sign(last, word)):
                word.glued = True
        last, was_mark = word, is_mark
    return [LineCell(part) for part in parts]


def _is_sign(word: Word, after: Word) -> bool:
    """Whether a word is a currency's sign and the next one its figure."""
    return word.text not in "()" and _FIGURE.match(after.text) is not None


def _begins_figure(words: list[Word], index: int) -> bool:
    """Whether a word is a currency's sign that stands before a figure and behind another, or behind a label."""
    if index + 1 == len(words) or words[index].text not in _MARKS or words[index].text in "()":
        return False
    last, word, after = words[index - 1 : index + 2]
    if not _ENDS_FIGURE.search(last.text) or not _FIGURE.match(after.text):
        return False
    return word.text in _BEFORE or word.left - last.right >= after.left - word.right
