"""The words of a PDF's page, from the positions of their characters.

PDFium returns the characters of a page in drawing order, with a space or line break where it infers one. Words come
from that text; if it has fallen apart into letters, they come from the gaps between the glyphs' boxes. All lengths are
points; `base` grows from the top of the page to its bottom.
"""

import itertools
import re
from bisect import bisect
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import pi
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.language.normalise import one_line
from tasks.reading.numerals import raise_text
from tasks.reading.pdf import document
from tasks.reading.pdf.document import Box, PageText, TagBudget

_WORD: Final = re.compile("([^\\s\x02\ufffe]+)[\x02\ufffe]?")
"""PDFium marks a hyphen at a line's end, and gives no line break."""
_PLAIN: Final = re.compile(r"\S+")
_PERCENT: Final = re.compile("%[\x02\ufffe]?")
_OF_FORMULAS: Final = re.compile("[\U0001d400-\U0001d7ff]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
LETTERS: Final = 0.85
"""A font's size as a share of the height of its characters' boxes."""
WORD_GAP: Final = 0.13
"""Glyphs whose gap is wider, as a share of the size, are of two words. A space is 0.2 to 0.3."""
_LEVEL: Final = 0.2
"""How much lower a word's last letter stands, as a share of its height, where the word may be turned."""
_SIGN_GAP: Final = 0.26
"""The white before a percent sign up to which it belongs to its figure, if no space was typed."""
FARTHEST: Final = 2.4
"""How far a word of a line may be raised at most: some fonts say that their letters are twice as high as they are."""
TO_WRITE_ON: Final = re.compile(r"[.…·_/]+")
MARK: Final = "☒"
"""What stands in a box that is checked."""
_SIGN: Final = re.compile(r"\W+")
_SPACE: Final = 0.5
"""The white between cells of a sheet where one ends in a blank, at least, as a share of the size."""
_TYPED: Final = 0.05
"""The share of the spaces of a sheet's page that were typed, at least, where others part its cells."""
_SAME_CELL: Final = 0.05
"""How far a raised sign begins from the end of the word that it is of at most, as a share of the size."""
_THOUSANDS: Final = re.compile(r"\d \d{3}(?!\d)")
_GROUP: Final = 3
"""Digits between two blanks that part thousands."""
_BLANK: Final = 1.2
"""Digits that such a blank is as wide as, at most."""
_FEW: Final = 6
"""Words that stand on others by chance, at most; and of so many one, on a page of few words."""
_SAMPLE: Final = 12
"""Words whose turn tells how the page is turned."""
MOST: Final = 30_000
"""Characters of a page that are looked at; pages that print more hold no table for people."""
_ENOUGH: Final = 400
"""Words that tell whether a page may be printed twice."""
_TWICE: Final = 0.03
"""The share of a page's words that stand on others where it is printed twice."""
_LINE: Final = 200
"""Characters that a line has at most."""


@dataclass(slots=True)
class PageWord:
    """The characters from `first` to `end` of the page's text, without white space.

    `glued`: there is no space before it, because it continues the word to its left. `apart`: none was typed before it,
    as between cells that are drawn one by one. `piece`: the number of the cell in which the document itself says that
    it stands, above 0 for a form's field, below 0 for a sheet's cell; 0 where it says nothing.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    first: int
    end: int
    glued: bool = False
    apart: bool = False
    piece: int = 0


def middle(word: PageWord) -> float:
    """The vertical middle of a word's letters, from the top of the page."""
    return word.base - 0.3 * word.size


class KnownCells(NamedTuple):
    """What a document itself says of the cells on a page.

    `fields`: the boxes of a form's fields that are filled in, and their values. `is_sheet`: a program for sheets
    printed it, which draws each cell by itself. `tags`: how much of its structure, which may name tables, is still
    looked at; None where fields are on the page: the tags of forms are those of their boxes. `spaces`: where one is
    missing in the page's text between two values.
    """

    fields: Sequence[tuple[Box, str]] = ()
    is_sheet: bool = False
    tags: TagBudget | None = None
    spaces: Sequence[int] = ()


NONE_KNOWN: Final = KnownCells()


def write_words(words: Iterable[PageWord]) -> str:
    """Words from left to right with single spaces; those of a right-to-left script in drawing order."""
    words = list(words)
    if len(words) == 1:
        return words[0].text
    text = "".join([word.text if word.glued else f" {word.text}" for word in words]).lstrip()
    if has_right_to_left(text):
        return " ".join(word.text for word in sorted(words, key=lambda word: word.first))
    return text


def has_right_to_left(text: str) -> bool:
    """Whether a text has letters of a right-to-left script."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Whether most letters of a text are of a right-to-left script."""
    return has_right_to_left(text) and 2 * len(_RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def find_turn(textpage: Any, page_text: PageText) -> int:
    """By how many quarter turns most words of a page are rotated."""
    text = page_text.text
    step = max(1, len(text) // _SAMPLE)
    sample = [index for index in range(step // 2, len(text), step) if not text[index].isspace()]
    angles = document.character_angles(textpage, sample)
    if not any(angles):
        return 0
    turns = Counter(round(angle / (pi / 2)) % 4 for angle in angles)
    return turns.most_common(1)[0][0] if turns else 0


def find_words(
    textpage: Any, page_text: PageText, turn: int, spaces: Sequence[int] = (), known: KnownCells = NONE_KNOWN
) -> list[PageWord]:
    """The words of a page as PDFium separates them, those rotated by `turn` quarters, turned upright.

    `spaces`: where spaces are missing in the text.

    Empty for a page with too many characters, and for one with letters of formulas, whose parts look like cells of a
    table.
    """
    text = page_text.text
    if page_text.characters > MOST or (len(text) != page_text.units and _OF_FORMULAS.search(text)):
        return []
    spans = _spans(text, spaces)
    ones = document.find_characters(textpage, page_text, [first for first, _, _ in spans])
    others = document.find_characters(textpage, page_text, [end - 1 for _, end, _ in spans])
    single = [one for one, other in zip(ones, others, strict=True) if one == other]
    angles = document.character_angles(textpage, single)
    if turn or any(angles):
        turned = {one for one, angle in zip(single, angles, strict=True) if round(angle / (pi / 2)) % 4 != turn}
        upright_ones = [one < other or one not in turned for one, other in zip(ones, others, strict=True)]
        spans = list(compress(spans, upright_ones))
        ones, others = list(compress(ones, upright_ones)), list(compress(others, upright_ones))
    if turn:
        boxes, last_boxes = document.character_boxes(textpage, ones), document.character_boxes(textpage, others)
        origins = document.character_origins(textpage, ones)
        words = list(_find_turned_words(text, spans, boxes, last_boxes, origins, turn))
    else:
        words = list(_upright_words(textpage, text, spans, ones, others))
        if page_text.characters == len(text):
            _note_generated_spaces(textpage, text, words)
            _note_pieces(textpage, text, words, known)
    if "%" in text:
        _glue_percents(textpage, words, {first: one for (first, _, _), one in zip(spans, ones, strict=True)})
    return _join_thousands(words) if _THOUSANDS.search(text) else words


def _note_generated_spaces(textpage: Any, text: str, words: Iterable[PageWord]) -> None:
    """Note of words whether the space before them was typed, or inserted by PDFium."""
    spaced = [word for word in words if word.first and text[word.first - 1] == " "]
    generated = document.are_generated(textpage, [word.first - 1 for word in spaced])
    for word, is_generated in zip(spaced, generated, strict=True):
        word.apart = is_generated == 1


def _note_pieces(textpage: Any, text: str, words: Sequence[PageWord], known: KnownCells) -> None:
    """Note in which field or cell of a sheet each word stands. Dots and lines to write a value on are left out."""
    if known.is_sheet:
        _note_cells(textpage, text, words)
    for number, (box, stored) in enumerate(known.fields, 1):
        held = _note_field(words, number, box, one_line(stored))
        if held:
            held[-1].right = max(held[-1].right, box[2])  # what stands behind the field is next to it


def _note_field(words: Sequence[PageWord], number: int, box: Box, value: str) -> list[PageWord]:
    """Note the words that are a field's value, or what it is written on; gives them."""
    left, bottom, right, top = box
    inside = [
        word
        for word in words
        if left < (word.left + word.right) / 2 < right and bottom < word.size / 3 - word.base < top
    ]
    is_comb = len(inside) > 1 and "".join(word.text for word in inside) == value.replace(" ", "")
    parts = {word.text for word in inside} if is_comb else set(value.split())
    written_on = _SIGN if value.startswith(MARK) else TO_WRITE_ON
    held = [word for word in inside if word.text in parts or written_on.fullmatch(word.text)]
    at = 0
    for word in held:
        word.piece = number
        if MARK in word.text and value.startswith(MARK):
            word.text = MARK  # without the sign of the box that touches it
        if word.text not in parts:
            word.text, word.glued = "", True
        at += value.startswith(" ", at)
        word.glued = word.glued or (is_comb and at > 0 and value[at - 1] != " ")
        at += len(word.text)
    return held


def _note_cells(textpage: Any, text: str, words: Sequence[PageWord]) -> None:
    """Note in which cell of a sheet each word stands: no space was typed between two cells, or they stand apart.

    A raised or lowered sign that begins where the word before it ends is part of that word's cell. On pages that are
    drawn word by word nothing tells the cells.
    """
    spaced = [index for index, word in enumerate(words) if index and text[word.first - 1] == " "]
    typed = {index for index in spaced if not words[index].apart}
    wide = {
        index
        for index in spaced
        if words[index].left - words[index - 1].right > _SPACE * max(words[index].size, words[index - 1].size)
    }
    if len(typed) < _TYPED * len(spaced) and 2 * len(wide) < len(spaced):
        return
    objects = document.text_objects(textpage, [word.first for word in words])
    piece = 0
    for index, word in enumerate(words):
        if index and _touches(words[index - 1], word):
            word.text = raise_text(word.text) if word.base < words[index - 1].base else word.text
        else:
            piece -= index not in typed or (index in wide and objects[index] != objects[index - 1])
        word.piece = piece


def _touches(last: PageWord, word: PageWord) -> bool:
    """Whether a word begins where the last one ends, in letters of another size on another level of its line."""
    size = max(last.size, word.size)
    near = abs(word.left - last.right) < _SAME_CELL * size and word.size != last.size
    return near and 0 < abs(word.base - last.base) < size


def _join_thousands(words: Iterable[PageWord]) -> list[PageWord]:
    """The words, with figures whose thousands are parted by blanks as one: no column may run through them."""
    joined: list[PageWord] = []
    for word in words:
        if joined and _is_thousands_blank(joined[-1], word):
            last = joined[-1]
            last.text += f" {word.text}"
            last.right, last.end = word.right, word.end
        else:
            joined.append(word)
    return joined


def _is_thousands_blank(last: PageWord, word: PageWord) -> bool:
    """Whether between one to three digits and three more is a blank no wider than a digit, as on a typewriter."""
    group, digits = last.text.rpartition(" ")[2].lstrip("(-−–"), word.text.rstrip(")")
    if not (word.first == last.end + 1 and group.isdecimal() and digits.isdecimal()):
        return False
    level = len(group) <= _GROUP == len(digits) and abs(word.base - last.base) < WORD_GAP * word.size
    return level and 0 < word.left - last.right < _BLANK * (word.right - word.left) / len(word.text)


def _glue_percents(textpage: Any, words: Iterable[PageWord], numbers: Mapping[int, int]) -> None:
    """Join percent signs to the figures on their left; `numbers` are PDFium's numbers for the words' beginnings."""
    for last, word in itertools.pairwise(words):
        near = word.text[:1] == "%" and word.left - last.right < _SIGN_GAP * word.size
        if near and _PERCENT.fullmatch(word.text):
            word.glued = document.are_generated(textpage, [numbers[word.first] - 1]) == [1]


def _spans(text: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
    """The beginning and end of each word, and the end of the hyphen mark after it."""
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


def _upright_words(
    textpage: Any, text: str, spans: Iterable[tuple[int, int, int]], ones: Sequence[int], others: Sequence[int]
) -> Iterator[PageWord]:
    """The words of a page that is not rotated, given their first and last characters."""
    lefts, tops, rights, bottoms = document.box_sides(textpage, ones)
    longer = [other for one, other in zip(ones, others, strict=True) if one != other]
    last_boxes = document.character_boxes(textpage, longer)
    levels = list(zip(bottoms, tops, strict=True))
    one_of = dict(zip(levels, ones, strict=True))  # letters of one height and level stand on one line
    origins = document.character_origins(textpage, list(one_of.values()))
    base_of = {level: -y for level, (_, y) in zip(one_of, origins, strict=True)}
    for (first, _, behind), one, other, left, right, level in zip(
        spans, ones, others, lefts, rights, levels, strict=True
    ):
        bottom, top = level
        height = top - bottom
        begin, end = left, right
        if one != other:
            last_left, _, last_right, last_bottom = next(last_boxes)
            if bottom != last_bottom:
                lower = abs(bottom - last_bottom)
                if lower > height or (
                    lower > _LEVEL * height and round(document.character_angle(textpage, one) / (pi / 2)) % 4
                ):
                    continue
            if last_left >= left:
                end = last_right
            elif _RIGHT_TO_LEFT.match(text, first):
                begin, end = last_left, max(right, last_right)
            else:
                continue
        if height > 0 and end > begin:
            yield PageWord(text[first:behind], begin, end, base_of[level], LETTERS * height, first, behind)


def _find_turned_words(
    text: str,
    spans: Iterable[tuple[int, int, int]],
    boxes: Iterable[Box],
    last_boxes: Iterable[Box],
    origins: Iterable[tuple[float, float]],
    turn: int,
) -> Iterator[PageWord]:
    """The words of a page turned by `turn` quarters, from the boxes of their first and last characters."""
    for (first, end, behind), box, last_box, origin in zip(spans, boxes, last_boxes, origins, strict=True):
        left, right, base, height = upright(box, origin, turn)
        if end > first + 1:
            other_left, right, low, _ = upright(last_box, (last_box[0], last_box[3]), turn)
            if abs(base - low) > height or other_left < left:
                continue
        if height > 0 and right > left:
            yield PageWord(text[first:behind], left, right, base, LETTERS * height, first, behind)


def are_set_twice(words: Sequence[PageWord]) -> bool:
    """Whether many words of a page are drawn twice in a row: PDFium loses parts of those."""
    return _share_twice(words[:_ENOUGH]) > _TWICE and _share_twice(words) > _TWICE


def _share_twice(words: Sequence[PageWord]) -> float:
    """The share of words at a place where the same word was drawn shortly before."""
    few = min(_FEW, len(words) // _FEW)
    counts = Counter([word.text for word in words])
    last: dict[tuple[str, int, int], int] = {}
    twice = 0
    for word in words:
        if counts[word.text] > 1:
            place = (word.text, round(word.left / 2), round(word.base / 2))
            twice += word.first - last.get(place, -_LINE) < _LINE
            last[place] = word.first
    return twice / len(words) if twice > few else 0.0


def upright(box: Box, origin: tuple[float, float], turn: int) -> tuple[float, float, float, float]:
    """Left, right, base and height of a glyph's box once its line is turned upright."""
    x, y = origin
    if not turn:
        return box[0], box[2], -y, box[1] - box[3]
    left, top, right, bottom = document.turn_upright(box, turn)
    _, _, _, base = document.turn_upright((x, y, x, y), turn)
    return left, right, -base, top - bottom


_SAME: Final = 0.6
"""How far two equal glyphs stand apart that are one, as a share of their width."""
_MOST_ALIKE: Final = 64
"""Equal glyphs of a line that a glyph is checked against."""
_LEFT: Final = 2
_BASE: Final = 4
_Glyph = tuple[int, str, float, float, float, float]
"""A character's number, itself, and its left, right, base and height once its line is turned upright."""


def words_by_turn(textpage: Any, *, twice: bool = False) -> dict[int, list[PageWord]]:
    """The words of a page from the gaps between its glyphs, by the number of quarter turns.

    `twice`: some are drawn on top of each other, and are taken once, from left to right.
    """
    return {turn: _words(_once(held) if twice else held) for turn, held in _glyphs(textpage).items()}


def _words(glyphs: Iterable[_Glyph]) -> list[PageWord]:
    """The words that the glyphs form, in order."""
    words: list[PageWord] = []
    last: PageWord | None = None
    for index, character, left, right, base, height in glyphs:
        if character.isspace():
            last = None
            continue
        size = LETTERS * height
        if (
            last is not None
            and abs(base - last.base) < WORD_GAP * size
            and -size / 2 < left - last.right < WORD_GAP * min(size, last.size)
        ):
            last.text += character
            last.right, last.end = max(last.right, right), index + 1
        else:
            last = PageWord(character, left, right, base, size, index, index + 1)
            words.append(last)
    return words


def _glyphs(textpage: Any) -> dict[int, list[_Glyph]]:
    """The drawn characters of a page, by the number of quarters that they are turned."""
    count = min(pdfium.FPDFText_CountChars(textpage), MOST)
    codes = document.character_codes(textpage, count)
    generated = document.are_generated(textpage, range(count))
    drawn = [(index, code) for index, code in enumerate(codes) if code >= ord(" ") and not generated[index]]
    indices = [index for index, _ in drawn]
    boxes, origins = document.character_boxes(textpage, indices), document.character_origins(textpage, indices)
    angles = document.character_angles(textpage, indices)
    by_turn: dict[int, list[_Glyph]] = {}
    for (index, code), box, origin, angle in zip(drawn, boxes, origins, angles, strict=True):
        turn = round(angle / (pi / 2)) % 4 if angle else 0
        by_turn.setdefault(turn, []).append((index, chr(code), *upright(box, origin, turn)))
    return by_turn


def _once(glyphs: Iterable[_Glyph]) -> list[_Glyph]:
    """The glyphs without duplicates on top of each other, from left to right in lines from the top."""
    seen: dict[tuple[str, int], deque[float]] = {}
    kept: list[_Glyph] = []
    for glyph in glyphs:
        _, character, left, right, base, _ = glyph
        level, near = round(base), _SAME * (right - left)
        here = [places for y in (level - 1, level, level + 1) if (places := seen.get((character, y)))]
        if here and any(-near < place - left < near for places in here for place in places) and not character.isspace():
            continue
        seen.setdefault((character, level), deque(maxlen=_MOST_ALIKE)).append(left)
        kept.append(glyph)
    kept.sort(key=itemgetter(_BASE))
    lines: list[list[_Glyph]] = []
    for glyph in kept:
        if lines and glyph[_BASE] - lines[-1][-1][_BASE] < FARTHEST / 2:
            lines[-1].append(glyph)
        else:
            lines.append([glyph])
    return [glyph for line in lines for glyph in sorted(line, key=itemgetter(_LEFT))]
