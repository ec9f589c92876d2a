"""The text of a PDF's page as PDFium lays it out, with what it leaves broken put right."""

import re
from itertools import chain
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdfium import page_text

_HYPHEN: Final = re.compile("[\x02\ufffe]\n?")
_WORD: Final = re.compile(r"\w+")
_LONGEST_WORD: Final = 40

_COMMA: Final = re.compile(r",(?=[^\W\d_])")
_BREAK: Final = re.compile(r"\r\n(?=[ ,.;:)\]%’”»!?*+–−])")
_MOST_SPOTS: Final = 1_000
"""Places in a page's text that are looked at; each takes 1.5 µs."""
_SPACE: Final = 0.07
"""The gap after a comma that is a space, as a share of the line's height: in formulas it is 0.09."""
_JOINED: Final = 0.4
"""The gap or overlap up to which characters stand side by side."""


def text_of(page: Any) -> str:
    """The text of an open page as PDFium gives it, but for what only the places of its characters tell."""
    textpage = pdfium.FPDFText_LoadPage(page)
    if not textpage:
        return ""
    text, units = page_text(textpage)
    if _COMMA.search(text) or _BREAK.search(text):
        text = _placed(textpage, text, wide=len(text) != units)
    pdfium.FPDFText_ClosePage(textpage)
    return text


def mended(text: str) -> str:
    r"""`text` with lines that end in `\n` alone, and with words that a hyphen splits at a line's end in one piece.

    PDFium marks such a hyphen with U+FFFE or U+0002. It stays, as a hyphen, in a compound that the text has
    elsewhere too (`age-adjusted`), before a digit and before a capital after a small letter (`Anglo-American`).
    """
    text = text.replace("\r\n", "\n").replace("\t", " ").replace(" \n", "\n").rstrip()
    if "\xad" in text:
        text = text.replace("\xad", "")
    if "\ufffe" not in text and "\x02" not in text:
        return text
    mend: list[str] = []
    for piece in _HYPHEN.split(text):
        if mend:
            left, right = _WORD.match(mend[-1][:-_LONGEST_WORD:-1]), _WORD.match(piece)
            if left and right and _keeps_hyphen(left.group()[::-1], right.group(), text):
                mend.append("-")
        mend.append(piece)
    return "".join(mend)


def named(numbers: list[int]) -> str:
    """Page numbers as a person writes them: `pages 2, 5–7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
    return f"{'page' if len(numbers) == 1 else 'pages'} {words}"


def _keeps_hyphen(left: str, right: str, text: str) -> bool:
    return right[0].isdigit() or (right[0].isupper() and left[-1].islower()) or f"{left}-{right}" in text


def _placed(textpage: Any, text: str, *, wide: bool) -> str:
    """`text` with narrow spaces after commas, and without breaks after what is set higher or lower than its line.

    PDFium takes the former for none, and begins a line after `km²`. `wide`: some characters are two UTF-16 units.
    """
    pieces: list[str] = []
    done = units = 0
    spots = sorted(chain(_COMMA.finditer(text), _BREAK.finditer(text)), key=re.Match.start)
    for spot in spots[:_MOST_SPOTS]:
        start, end = spot.span()
        comma = text[start] == ","
        units += len(text[done:end].encode("utf-16-le")) // 2 if wide else end - done
        gap = _gap(textpage, units - 1 if comma else units - 3, units)
        pieces.append(text[done : start if gap is not None and not comma and abs(gap) < _JOINED else end])
        if gap is not None and comma and gap > _SPACE:
            pieces.append(" ")
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _gap(textpage: Any, first: int, second: int) -> float | None:
    """The gap between two units of the text as a share of their height; None where they are not on one line."""
    before, after = pdfium.FS_RECTF(), pdfium.FS_RECTF()
    for unit, box in ((first, before), (second, after)):
        if not pdfium.FPDFText_GetLooseCharBox(
            textpage, pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, unit), box
        ):
            return None
    height = min(before.top - before.bottom, after.top - after.bottom)
    if height <= 0 or before.bottom >= after.top or after.bottom >= before.top:
        return None
    return float((after.left - before.right) / height)
