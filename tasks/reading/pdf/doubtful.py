"""Pages that PDFium does not read for certain: written from top to bottom, in fonts that are not there, in rare codes.

Nothing of them is read in another way: warnings name them, and where text recognition is configured, those with little
text are recognised.
"""

import re
from itertools import islice
from math import atan2, pi
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.repair import packed

_EAST_ASIAN: Final = re.compile(
    "[\u2e80-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe10-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff]"
)
_SAMPLES: Final = 32
"""Characters that are looked at."""

_DOWN: Final = 0.5
"""Their share that have the next one of their piece below them on a page of columns."""

_KNOWN_MAPS: Final = frozenset(
    "GB-EUC GBpc-EUC GBK-EUC GBKp-EUC UniGB-UCS2 UniGB-UTF16 B5pc HKscs-B5 ETen-B5 ETenms-B5 UniCNS-UCS2 UniCNS-UTF16 "  # noqa: SIM905 - a list of names
    "83pv-RKSJ 90ms-RKSJ 90msp-RKSJ 90pv-RKSJ Add-RKSJ EUC Ext-RKSJ UniJIS-UCS2 UniJIS-UCS2-HW UniJIS-UTF16 KSC-EUC "
    "KSCms-UHC KSCms-UHC-HW KSCpc-EUC UniKS-UCS2 UniKS-UTF16 Identity DLIdent".split()
)
"""The maps that PDFium reads rightly in both directions, but for `_KNOWN_ACROSS`."""

_KNOWN_ACROSS: Final = frozenset({"83pv-RKSJ", "90pv-RKSJ", "KSCpc-EUC"})
"""Maps that PDFium knows for rows alone."""

_MAP: Final = re.compile(rb"/Encoding\s{0,9}/([A-Za-z0-9-]{1,32}?)(-?[HV])(?![A-Za-z0-9-])")
_MOST_OBJECTS: Final = 3_000
_RUN: Final = 3
"""Pieces of text side by side that cover nothing: single ones are spaces."""

_LINE, _NEXT = 2.0, 40.0
"""Points from one line between two pieces, and from the one to the other."""

_NOTHING: Final = 0.01
"""The width in points of what covers nothing."""


def is_east_asian(text: str) -> bool:
    """Whether some characters of a text are Chinese, Japanese or Korean."""
    return not text.isascii() and _EAST_ASIAN.search(text) is not None


def is_out_of_order(page: Any, textpage: Any, text: str) -> bool:
    """Whether PDFium may have the lines of an open page, whose text is this, in a wrong order.

    So it is with East Asian characters one below the other, and with pages that show their text on its side.
    """
    turned = pdfium.FPDFPage_GetRotation(page)
    return bool(turned and _quarter_turns(textpage) != turned) or (is_east_asian(text) and _runs_down(textpage, text))


def _runs_down(textpage: Any, text: str) -> bool:
    spots = [match.start() for match in _EAST_ASIAN.finditer(text)]
    spots = spots[:: max(1, len(spots) // _SAMPLES)]
    indices = [document.character_at(textpage, spot) for spot in spots]
    origins = list(document.character_origins(textpage, [index for at in indices for index in (at, at + 1)]))
    pairs = zip(origins[::2], origins[1::2], strict=True)
    down = [abs(x - next_x) < abs(y - next_y) for (x, y), (next_x, next_y) in pairs]
    return sum(down) > _DOWN * len(down)


def _quarter_turns(textpage: Any) -> int:
    """By how many quarters of a circle most characters are turned to the left."""
    count = pdfium.FPDFText_CountChars(textpage)
    matrix = pdfium.FS_MATRIX()
    turns = [0, 0, 0, 0]
    for index in range(0, count, max(1, count // _SAMPLES)):
        if pdfium.FPDFText_GetTextObject(textpage, index) and pdfium.FPDFText_GetMatrix(textpage, index, matrix):
            turns[round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4] += 1
    return turns.index(max(turns))


def loses_glyphs(page: Any) -> bool:
    """Whether some pieces of text in a row on an open page cover nothing."""
    run, x, y = 0, 0.0, 0.0
    for _, (left, top, right, bottom) in document.objects_of(page, pdfium.FPDF_PAGEOBJ_TEXT, _MOST_OBJECTS):
        if right - left > _NOTHING:
            run = 0
            continue
        if top - bottom > _NEXT:  # a column
            return True
        across, down = abs(left - x), abs(bottom - y)
        x, y = left, bottom
        run = run + 1 if min(across, down) < _LINE < max(across, down) < _NEXT else 1
        if run >= _RUN:
            return True
    return False


def has_unknown_maps(data: bytes) -> bool:
    """Whether a font of a PDF has a character map that PDFium does not know."""
    contents = (data, *(item.content for item in packed(data)))
    return any(_is_unknown(*match.groups()) for content in contents for match in islice(_MAP.finditer(content), 10_000))


def _is_unknown(name: bytes, mode: bytes) -> bool:
    base = name.decode()
    if not mode.startswith(b"-"):
        return bool(base)  # "H" and "V" by themselves are maps
    return base not in _KNOWN_MAPS or (base in _KNOWN_ACROSS and mode == b"-V")
