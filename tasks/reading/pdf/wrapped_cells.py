"""The lines of a table's cell that wraps, put together: what was broken at the cell's edge is one word again."""

import itertools
import re
from collections.abc import Sequence
from typing import Final

from tasks.reading.pdf.words import Word, text_of

_LONG: Final = 7
"""Letters of a name from which it may be too long for its cell."""
_DIGITS: Final = "0123456789.,-–−"
_NAME: Final = re.compile(r"[_/\\.@=]|[a-z][A-Z]|\d")
"""Names of files and the like, which people do not part at the end of a line."""
_CHOICE: Final = re.compile(r"[_\\.@=]|[a-z][A-Z]|\d")
"""The same without strokes, which part words too: `Indian/Alaskan Native`."""
_LETTER: Final = 0.65
"""A letter's width as a share of the size: a cell with so much room takes no more of a word."""
_STACKED: Final = 0.8
"""The least distance of two lines of a cell, as a share of the size."""
_SOFT_BREAK: Final = re.compile(r"\S[-/\\]$|^[-–−]$|\w_$")
_GOES_ON: Final = re.compile(r"_\w")
"""What begins so goes on the name in the line above: `I2C_SLV0` and `_NACK`."""
_HYPHENS: Final = ("\x02", "\ufffe")
"""What PDFium gives for a hyphen at a line's end."""


def joined_lines(lines: Sequence[tuple[str, Sequence[Word]]], full: float, size: float) -> str:
    """The lines of a cell as one, each given by its text and its words.

    A name that is longer than the cell, whose lines may end at `full`, is broken without a hyphen: it is put together
    again, as what is parted at a hyphen or a stroke.
    """
    text = ""
    lines = _as_drawn([line for line in lines if line[0]], size)
    for index, (words, _) in enumerate(lines):
        if not text:
            text = words
            continue
        last, drawn = lines[index - 1]
        broken = len(drawn) == 1 and _is_broken(last, words, (full - drawn[0].right) / size)
        broken = broken or text.endswith(_HYPHENS) or _SOFT_BREAK.search(text) is not None
        text += words if broken or (_GOES_ON.match(words) and text[-1].isalnum()) else f" {words}"
    return text


def _as_drawn(lines: Sequence[tuple[str, Sequence[Word]]], size: float) -> Sequence[tuple[str, Sequence[Word]]]:
    """The lines of a cell; those that stand nearer to each other than lines can in the order in which they are drawn.

    They are exponents, or two cells that nothing parts.
    """
    if not any(below[0].base - above[0].base < _STACKED * size for (_, above), (_, below) in itertools.pairwise(lines)):
        return lines
    ordered = sorted(lines, key=lambda line: line[1][0].first)
    ends = [max(word.first for word in words) for _, words in ordered]
    starts = [min(word.first for word in words) for _, words in ordered]
    if all(end < start for end, start in zip(ends, starts[1:], strict=False)):
        return ordered
    drawn = sorted((word for _, words in lines for word in words), key=lambda word: word.first)
    return [(text_of(drawn), drawn)]


def _is_broken(last: str, words: str, room: float) -> bool:
    """Whether a line goes on the figure or name before it, which left so much room, as a share of the size.

    A word alone on its line that fills the cell tells nothing: columns are often as wide as their longest word.
    """
    if room >= _LETTER:
        return False
    if last[-1] in _DIGITS and words[0].isdigit():
        return True
    name = _CHOICE if last[-1].islower() and words[0].isupper() else _NAME
    return name.search(last) is not None and len(last) >= _LONG and words[0].isalnum()
