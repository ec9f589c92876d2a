"""Text of scripts that are written to the left, as Arabic and Hebrew: what PDFium gets wrong in it.

It loses line breaks between such lines, and writes the two letters of a ligature that is one glyph in the order of the
page, which is the wrong one: lam-alef as alef and lam.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tasks.reading.pdf import document
from tasks.reading.pdf.document import PageText

_LINE: Final = re.compile(r"[^\r\n]+")
_LAM: Final = "\u0644"
_ALEFS: Final = "\u0622\u0623\u0625\u0627"
_TURNED: Final = re.compile(f"[{_ALEFS}]{_LAM}")
_MOST: Final = 20_000
"""Characters whose boxes are asked for."""


def with_ligatures(textpage: Any, page_text: PageText) -> PageText:
    """The text of a page, the letters of its lam-alef ligatures in the order in which they are read."""
    text = page_text.text
    spots = [match.start() for match in _TURNED.finditer(text)] if _LAM in text else []
    if not spots or not _is_in_step(page_text):
        return page_text
    boxes = list(document.character_boxes(textpage, [at for spot in spots for at in (spot, spot + 1)]))
    letters = list(text)
    for spot, alef, lam in zip(spots, boxes[::2], boxes[1::2], strict=True):
        if alef == lam:
            letters[spot : spot + 2] = letters[spot + 1], letters[spot]
    return page_text._replace(text="".join(letters))


def turned_ligatures(codes: Sequence[int], boxes: Sequence[document.Box | None]) -> Iterator[int]:
    """Where alef and lam stand among the characters of a page that are one glyph."""
    if ord(_LAM) not in codes:
        return
    for at in range(len(codes) - 1):
        if codes[at + 1] == ord(_LAM) and chr(codes[at]) in _ALEFS and boxes[at] == boxes[at + 1]:
            yield at


def missing_breaks(textpage: Any, page_text: PageText) -> list[int]:
    """Where line breaks are to be put into the text of a page: between characters of which one is above the other.

    PDFium loses them between lines of scripts that are written to the left.
    """
    text = page_text.text
    if not _is_in_step(page_text) or len(text) > _MOST:
        return []
    boxes = list(document.character_boxes(textpage, range(len(text))))
    spots: list[int] = []
    for match in _LINE.finditer(text):
        last = match.start()
        for index in range(last + 1, match.end()):
            _, top, _, bottom = boxes[index]
            if text[index] == " " or top <= bottom:
                continue
            _, last_top, _, last_bottom = boxes[last]
            if bottom >= last_top > last_bottom or top <= last_bottom < last_top:
                spots.append(index)
            last = index
    return spots


def _is_in_step(page_text: PageText) -> bool:
    """Whether each of PDFium's characters is one of the text's."""
    return page_text.units == page_text.characters == len(page_text.text)
