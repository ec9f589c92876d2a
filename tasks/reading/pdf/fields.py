"""The values of a form's fields on a page: those that its fields hold, and those that were drawn for good.

Values that fields hold are set as type in their boxes, so that they are read in the rows of their labels. A program
that flattens a form draws each of its fields as a form of its own (ISO 32000-1, 8.10) over the finished page: its
values come after all other words, far from their labels.
"""

import ctypes
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.language.normalise import one_line
from tasks.reading.pdf import document
from tasks.reading.pdf.annotations import Remark
from tasks.reading.pdf.document import PageText, PdfDocument
from tasks.reading.pdf.words import TO_WRITE_ON, KnownCells

_TYPE: Final = (4.0, 8.0)
"""The smallest and the largest size in points in which values are set; that of most forms is between them."""

_LINE: Final = 2.5
"""The height of a field of one line at most, in sizes."""
_MOST_SET: Final = 500
_CAN_BE_SET: Final = re.compile(r"[ -~\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]{1,200}")
_WIDE: Final = 1.6
"""Boxes of single characters between two of which one is empty."""
_MOST_DRAWN: Final = 10_000
"""Characters of a page that are looked at for values, and objects of a form."""
_FEWEST: Final = 3
"""Values from which forms that are drawn last are the fields of a flattened form, and no stamp or footer."""
_MOST: Final = 0.75
"""The share of a page's text that they are at most."""
_LINES: Final = 1.8
"""Heights of a character from which a value has several lines."""

_LONGEST: Final = 200
"""Characters of a label, and of a value, that are written once more."""
_SHARED: Final = 2
"""Fields of a page that may be called the same: what more are called ("cent") does not tell them apart."""
_STATED: Final = re.compile(r"[$€£¥%]|\d[.,/]\d|\d{4}")
"""Amounts, days and years: names of fields often have them from an earlier year's form."""
_SAYS: Final = re.compile(
    r"[.?;]\s*$|\b(?:is|are|was|were|has|have|had|does|do|did|will|not?|if|please|enter|write|leave|example|e\.g|bitte|geben"
    r"|ist|sind|hat|haben|kein\w*|wenn|est|sont|ont|pas|si|saisir|indiquer|è|sono|non|se|indicare|inserire)\b",
    re.IGNORECASE,
)
"""A sentence or an instruction: with the value behind it, it would say something that nobody has said."""
_WORD: Final = re.compile(r"[^\W_]{3,}")

Field = tuple[tuple[float, float, float, float], str]
"""The left, bottom, right and top of a field, in points, and its value."""


def find_drawn_values(page: Any, textpage: Any, page_text: PageText, known: KnownCells) -> KnownCells:
    """What is known of a page's cells, with the values of a flattened form, each of one line in a form drawn last.

    A field is empty below its value: forms that lie over words are stamps, initials or a watermark.
    """
    pieces = _number_last_forms(page)
    text = page_text.text
    if not pieces or page_text.units != page_text.characters or len(text) != page_text.units:
        return known
    drawn = [index for index in range(max(0, len(text) - _MOST_DRAWN), len(text)) if not text[index].isspace()]
    objects = dict(zip(drawn, document.text_objects(textpage, drawn), strict=True))
    parts = [(piece, list(held)) for piece, held in groupby(drawn, lambda index: pieces.get(objects[index] or 0, 0))]
    printed = [index for piece, indices in parts if not piece for index in indices]
    middles = _find_middles(textpage, [index for index in printed if not TO_WRITE_ON.fullmatch(text[index])])
    found: list[Field] = []
    spaces: list[int] = []
    for _, indices in (part for part in parts if part[0]):
        field = _read_value(textpage, text, indices, objects)
        if field is not None and not _lies_over(field[0], middles):
            found.append(field)
            spaces += indices[:1] if text[indices[0] - 1].strip() and indices[0] else []
    if len(found) < _FEWEST or sum(len(value) for _, value in found) > _MOST * len(text):
        return known
    return known._replace(fields=found, spaces=spaces)


def _number_last_forms(page: Any) -> dict[int, int]:
    """The number of its form by the address of each text object in forms drawn last; none if all objects are forms."""
    last = pdfium.FPDFPage_CountObjects(page) - 1
    pieces: dict[int, int] = {}
    left = [_MOST_DRAWN]
    while last >= 0:
        item = pdfium.FPDFPage_GetObject(page, last)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_FORM:
            return pieces
        for texts in _leaves(item, left):
            pieces.update(dict.fromkeys(texts, len(pieces) + 1))
        last -= 1
        if left[0] <= 0:
            break
    return {}


def _read_value(textpage: Any, text: str, indices: Sequence[int], objects: Mapping[int, int | None]) -> Field | None:
    """The box and the value of the characters of one form; None if it has several lines."""
    lefts, tops, rights, bottoms = document.box_sides(textpage, indices)
    if max(tops) - min(bottoms) >= _LINES * max(top - bottom for top, bottom in zip(tops, bottoms, strict=True)):
        return None
    value = " ".join(text[indices[0] : indices[-1] + 1].split())
    steps = [after - before for before, after in pairwise(lefts)]
    if steps and len({objects[index] for index in indices}) == len(indices):  # each in a box of its own
        wide = _WIDE * min(steps)
        blanks = ["" if step < wide else " " for step in [0.0, *steps]]
        value = "".join(blank + text[index] for blank, index in zip(blanks, indices, strict=True))
    return (min(lefts), min(bottoms), max(rights), max(tops)), value


def _find_middles(textpage: Any, indices: Sequence[int]) -> list[tuple[float, float]]:
    """The middles of characters, each its height on the page and its distance from the left, from the bottom."""
    lefts, tops, rights, bottoms = document.box_sides(textpage, indices)
    sides = zip(lefts, tops, rights, bottoms, strict=True)
    return sorted(((top + bottom) / 2, (left + right) / 2) for left, top, right, bottom in sides)


def _lies_over(box: tuple[float, float, float, float], middles: Sequence[tuple[float, float]]) -> bool:
    """Whether the middle of a printed character is in a box."""
    left, bottom, right, top = box
    return any(left < x < right for _, x in middles[bisect(middles, (bottom,)) : bisect(middles, (top,))])


def _leaves(form: Any, left: list[int], deepest: int = 2) -> Iterator[list[int]]:
    """The addresses of the text objects of each form within a form, or of itself; `left`: objects to look at."""
    form = ctypes.cast(form, pdfium.FPDF_PAGEOBJECT)
    texts: list[int] = []
    count = pdfium.FPDFFormObj_CountObjects(form)
    left[0] -= count + 1
    for index in range(count if left[0] > 0 else 0):
        item = pdfium.FPDFFormObj_GetObject(form, index)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            texts.append(ctypes.cast(item, ctypes.c_void_p).value or 0)
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and deepest:
            yield from _leaves(item, left, deepest - 1)
    if texts:
        yield texts


def set_values(document: PdfDocument, page: Any, remarks: Sequence[Remark]) -> list[Remark]:
    """Set the values of fields as type in their boxes, so that they are read in the rows of their labels.

    Returns those that were set. Helvetica, which every program for PDFs has, knows the characters of Windows-1252
    (ISO 32000-1, annex D.2).
    """
    if pdfium.FPDFPage_GetRotation(page):
        return []
    values = [remark for remark in remarks[:_MOST_SET] if remark.field and _CAN_BE_SET.fullmatch(remark.text)]
    places = dict.fromkeys((remark.field, remark.text) for remark in values if remark.field)  # some are drawn twice
    for field, text in places:
        left, bottom, right, top = field
        smallest, largest = _TYPE
        size = min(largest, max(smallest, 0.7 * (top - bottom)))
        item = pdfium.FPDFPageObj_NewTextObj(document.handle, b"Helvetica", size)
        pdfium.FPDFText_SetText(item, (ctypes.c_ushort * (len(text) + 1))(*map(ord, text)))
        sides = [ctypes.c_float() for _ in range(4)]
        pdfium.FPDFPageObj_GetBounds(item, *sides)
        squeezed = min(1.0, (right - left) / max(1.0, sides[2].value - sides[0].value + size))
        left += squeezed * size / 2  # so that it is not glued to a currency's sign before it
        bottom = max(bottom, top - _LINE * largest)  # a field of several lines is filled from its top
        pdfium.FPDFPageObj_Transform(item, squeezed, 0, 0, 1, left, (bottom + top - 0.7 * size) / 2)
        pdfium.FPDFPage_InsertObject(page, item)
    return values


def list_labelled(remarks: Sequence[Remark], text: str) -> Iterator[str]:
    """The values of fields behind what their author calls them, where no line of a page's text says it so."""
    lines = [one_line(line) for line in text.splitlines()] if remarks else []
    shared = Counter(remark.label for remark in remarks)
    for remark in remarks:
        value = one_line(remark.text)
        if not value or shared[remark.label] > _SHARED or max(len(remark.label), len(value)) > _LONGEST:
            continue
        if _STATED.search(remark.label) or _SAYS.search(remark.label):
            continue
        words = {word.casefold() for word in _WORD.findall(remark.label)}
        apart = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
        before = (line[: found.start()] for line in lines if (found := apart.search(line)))
        said = [{word.casefold() for word in _WORD.findall(part)} for part in before]
        is_figure = any(map(str.isdecimal, value))  # what stands before it on the page says what it is
        if not any(held if is_figure else 2 * len(words & held) >= len(words) for held in said):
            yield f"{remark.label.rstrip(' :.')}: {value}"
