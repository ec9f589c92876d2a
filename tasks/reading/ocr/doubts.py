"""What the first engine overlooked on a page or is not sure of: RapidOCR reads that alone.

Tesseract says nothing of what it overlooks, such as numbers that stand by themselves. The ink shows it: marks as large
as letters that stand in no word. Only the recognising processes import this: numpy takes them 0.1 s.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tasks.reading.image import Picture
from tasks.reading.ocr import rapidocr
from tasks.reading.ocr.page import Doubts, RecognisedWord

_SURE_LINE: Final = 0.8
_SURE_NUMBER: Final = 0.9
_TALLEST: Final = 2.5
"""Heights of a usual word: a column of numbers that was read as one word is taller."""

_LEAST_SHARE: Final = 0.7
"""Of words in sure lines: on a page with fewer Tesseract's certainty is worth little, and all of it is read again."""

_NEAR: Final = 10
"""Heights of a word: what stands that near to unread ink in its row is read again, as RapidOCR, too, overlooks numbers
that stand alone."""

_DUST: Final = 0.001
_INK: Final = 25
"""How much darker than what surrounds it a dot of ink is, of 255, or lighter on dark paper."""

_DARK: Final = 110


def find_doubts(picture: Picture, words: Sequence[RecognisedWord]) -> Doubts | None:
    """The doubts that remain after an engine read these words in an upright picture; None if there are none."""
    heights = sorted(word.bottom - word.top for word in words for _ in word.text)
    height = max(1.0, heights[len(heights) // 2]) if heights else 0.0
    lines = [list(line) for _, line in groupby(sorted(words, key=attrgetter("line")), key=attrgetter("line"))]
    words_held = [word for line in lines if _is_sure(line, height) for word in line]
    if len(words_held) < max(1, _LEAST_SHARE * len(words)):
        return Doubts((), picture)
    grey = np.frombuffer(picture.dots, np.uint8).reshape(picture.height, picture.width)
    glyphs = _find_glyphs(grey, height)
    is_read = np.zeros(grey.shape, np.bool_)
    for word in words_held:
        _fill(is_read, word, 1, height / 4)
    across, down = glyphs[:, ~is_read[glyphs[1], glyphs[0]]]
    if len(across) <= max(2, _DUST * glyphs.shape[1]):
        return None
    rest, paper, near = grey.copy(), int(np.median(grey)), _NEAR * height
    sure: list[RecognisedWord] = []
    for word in words_held:
        is_in_row = (down >= word.top) & (down <= word.bottom)
        if not (is_in_row & (across > word.left - near) & (across < word.right + near)).any():
            _fill(rest, word, paper, height / 10)
            sure.append(word)
    return Doubts(sure, Picture(picture.width, picture.height, rest.tobytes()))


def _is_sure(line: Sequence[RecognisedWord], height: float) -> bool:
    numbers = [word.confidence for word in line if any(map(str.isdigit, word.text))]
    tallest = max(word.bottom - word.top for word in line)
    certain = sum(word.confidence * len(word.text) for word in line) / sum(len(word.text) for word in line)
    return certain >= _SURE_LINE and min(numbers, default=1.0) >= _SURE_NUMBER and tallest <= _TALLEST * height


def _find_glyphs(grey: NDArray[np.uint8], height: float) -> NDArray[np.int32]:
    """The middles of marks on paper that are as large as the letters of words of that height: across and down."""
    cv2 = rapidocr.load_cv2()
    edge = int(2 * height) | 1
    paper = cv2.blur(grey, (edge, edge)).astype(np.int16)
    ink = (paper - grey if np.median(grey) > _DARK else grey - paper) > _INK
    _, _, boxes, middles = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    _, _, width, tall, dots = boxes[1:].T
    is_glyph = (tall > height / 2) & (tall < 2 * height) & (width < 2 * height) & (dots > width * tall / 8)
    return np.asarray(middles[1:][is_glyph].T, np.int32)


def _fill(picture: NDArray[Any], word: RecognisedWord, value: int, margin: float) -> None:
    top, left = max(0, int(word.top - margin)), max(0, int(word.left - margin))
    picture[top : int(word.bottom + margin), left : int(word.right + margin)] = value
