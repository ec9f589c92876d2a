"""The interface of text recognition: what an engine gets and returns, and the page that comes of it.

A page is stored by itself, and laid out like a printed one.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from statistics import median
from typing import Final, NamedTuple, Protocol

from tasks.reading.pdf.layout import text_of_words
from tasks.reading.pdf.words import PageWord
from tasks.reading.picture import Picture


class RecognitionFailed(Exception):
    """An engine crashed, refused the picture, or cannot be loaded."""


class RecognitionTimedOut(RecognitionFailed):
    """An engine was stopped because the page's time was up."""


class RecognisedWord(NamedTuple):
    """A word in a picture: its box in pixels from the upper left corner, and the number of the line it was read with.

    `confidence` is how certain the engine is, 0 to 1.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    line: int


class Engine(Protocol):
    """Reads pictures in a separate process, which ends it if a page takes too long."""

    name: str
    """Under which its pages are kept: the engine and, where it needs to be told them, the languages."""

    def words(self, picture: Picture) -> list[RecognisedWord]:
        """The words in a picture, upright or not, in the order in which they were read.

        Raises:
            RecognitionFailed: it cannot read the picture, or cannot be loaded.
        """
        ...


_USUAL_SIZE: Final = 10.0
"""Points that the letters of most words are taken to have: a picture does not say how large its page is."""

_STEEPEST: Final = 0.2
"""The slope of a page's lines up to which it lies askew; lines that rise more run elsewhere."""

_SAME_ROW: Final = 0.45
"""How far the middles of two lines may lie apart that are one row, as a share of the lower one's height."""

_LONG: Final = 8
"""Heights of a line that is long enough to tell how the page slopes."""


class ScanState(StrEnum):
    """The outcome for a page: words were read; more may be there, but the engine for these failed; there are none; all
    engines failed; time was up.
    """

    READ = "read"
    PARTLY = "partly"
    EMPTY = "empty"
    FAILED = "failed"
    LATE = "late"

    @property
    def is_read(self) -> bool:
        """Whether the page counts as read."""
        return self in {ScanState.READ, ScanState.PARTLY, ScanState.EMPTY}


FAILED: Final = tuple(json.dumps([state])[:-1] for state in ScanState if not state.is_read)
"""How packed pages begin that could not be read."""


class WordBox(NamedTuple):
    """A word and its place on the page as shown, as fractions of the page's width and height."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


class Doubts(NamedTuple):
    """The words that hold, and the page's picture without them: an engine reads the rest there."""

    sure: Sequence[RecognisedWord]
    picture: Picture


@dataclass(frozen=True)
class RecognisedPage:
    """The words of a page in the picture that was read, which was turned left by `turn` quarters of a circle."""

    state: ScanState
    engine: str = ""
    width: int = 0
    height: int = 0
    turn: int = 0
    words: Sequence[RecognisedWord] = ()

    @property
    def confidence(self) -> float:
        """How certain the engine is of the page's characters, 0 to 1."""
        letters = sum(len(word.text) for word in self.words)
        return sum(word.confidence * len(word.text) for word in self.words) / letters if letters else 0.0

    def text(self) -> str:
        """The page's text in reading order, with its tables marked as `pdf.layout` marks them."""
        return text_of_words([placed for placed, _ in _placed(self.words)]).replace("\r\n", "\n")

    def boxes(self) -> list[WordBox]:
        """Its words with their places on the page as shown, row by row."""
        across, down = self.width, self.height
        return [
            _turned_back(
                WordBox(word.text, word.left / across, word.top / down, word.right / across, word.bottom / down),
                self.turn,
            )
            for _, word in _placed(self.words)
        ]

    def pack(self) -> str:
        """The page as JSON, for `unpack`."""
        words = [
            [word.text, *(round(side) for side in word[1:5]), round(word.confidence, 3), word.line]
            for word in self.words
        ]
        return json.dumps([self.state, self.engine, self.width, self.height, self.turn, words])

    @classmethod
    def unpack(cls, packed: str) -> "RecognisedPage":
        """The page from what `pack` returned."""
        state, engine, width, height, turn, words = json.loads(packed)
        return cls(ScanState(state), engine, width, height, turn, [RecognisedWord(*word) for word in words])


def _turned_back(box: WordBox, turn: int) -> WordBox:
    text, left, top, right, bottom = box
    match turn:
        case 1:
            return WordBox(text, 1 - bottom, left, 1 - top, right)
        case 2:
            return WordBox(text, 1 - right, 1 - bottom, 1 - left, 1 - top)
        case 3:
            return WordBox(text, top, 1 - right, bottom, 1 - left)
        case _:
            return box


class _Line(NamedTuple):
    """Words recognised together, straightened: the middle and the height of their line."""

    middle: float
    height: float
    words: Sequence[tuple[RecognisedWord, RecognisedWord]]
    """Each set straight, and as it was read."""


def _placed(words: Sequence[RecognisedWord]) -> list[tuple[PageWord, RecognisedWord]]:
    """Words in points, as in `pdf.words`: those of one row get one baseline, however much a page slopes or bends."""
    groups = [list(group) for _, group in groupby(sorted(words, key=attrgetter("line")), key=attrgetter("line"))]
    slope = _slope(groups)
    lines = sorted(_line([(_straight(word, slope), word) for word in group]) for group in groups)
    scale = _USUAL_SIZE / median([line.height for line in lines for _ in line.words] or [1.0])
    placed: list[tuple[PageWord, RecognisedWord]] = []
    for row in _rows(lines):
        base = scale * sum(line.middle for line in row) / len(row)
        in_row = sorted((word.left, line.height, word, read) for line in row for word, read in line.words)
        for left, height, word, read in in_row:
            first = len(placed)
            right = max(word.right, left + 1)
            placed.append(
                (PageWord(word.text, scale * left, scale * right, base, scale * height, first, first + 1), read)
            )
    return placed


def _slope(groups: Iterable[Sequence[RecognisedWord]]) -> float:
    """How far most lines of a page fall per pixel to the right."""
    slopes: list[tuple[float, float]] = []
    for group in groups:
        first, last = min(group, key=attrgetter("left")), max(group, key=attrgetter("left"))
        length = last.left - first.left
        if length > _LONG * (first.bottom - first.top):
            fall = (last.top + last.bottom - first.top - first.bottom) / 2 / length
            if abs(fall) < _STEEPEST:
                slopes.append((fall, length))
    slopes.sort()
    half = sum(length for _, length in slopes) / 2
    for fall, length in slopes:
        half -= length
        if half <= 0:
            return fall
    return 0.0


def _straight(word: RecognisedWord, slope: float) -> RecognisedWord:
    left, right = word.left + slope * word.top, word.right + slope * word.top
    fall = slope * (word.left + word.right) / 2
    return word._replace(left=left, right=right, top=word.top - fall, bottom=word.bottom - fall)


def _line(words: Sequence[tuple[RecognisedWord, RecognisedWord]]) -> _Line:
    """A line measured by its highest and lowest words, except for a few outliers, such as a rule read as `|`."""
    tops, bottoms = sorted(word.top for word, _ in words), sorted(word.bottom for word, _ in words)
    top, bottom = tops[len(words) // 4], bottoms[-1 - len(words) // 4]
    return _Line((top + bottom) / 2, max(1.0, bottom - top), words)


def _rows(lines: Iterable[_Line]) -> Iterable[list[_Line]]:
    """Lines side by side, grouped from the top; `lines` are sorted by their middles."""
    row: list[_Line] = []
    for line in lines:
        if row and line.middle - sum(other.middle for other in row) / len(row) > _SAME_ROW * min(
            line.height, row[-1].height
        ):
            yield row
            row = []
        row.append(line)
    if row:
        yield row
