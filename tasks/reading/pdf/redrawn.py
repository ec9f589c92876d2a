"""Pages of which PDFium loses glyphs, or misreads their codes, drawn anew so that it can read them.

PDFium takes a piece of text for nothing if its glyphs cover nothing. So it loses glyphs drawn one by one in fonts whose
glyphs are empty, as text layers over scans have, and in fonts that are nowhere and whose characters those it has
instead do not know. And it takes the codes of character maps that it lacks for characters. pdfminer.six knows Adobe's
maps and the places of all glyphs, and is slow: it goes over such pages alone, in a process of its own under limits,
and what it finds is written as a plain PDF with a font for which the stand-in stands, that PDFium reads as any other.

A map's name comes from the document, and is a file's name for pdfminer.six: only plain ones are looked for.
"""

import contextlib
import logging
import pickle
import re
import resource
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import BytesIO
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.reading import limits
from tasks.reading.pdf import document
from tasks.reading.pdf.repair import packed

_KNOWN_MAPS: Final = frozenset(
    "GB-EUC GBpc-EUC GBK-EUC GBKp-EUC UniGB-UCS2 UniGB-UTF16 B5pc HKscs-B5 ETen-B5 ETenms-B5 UniCNS-UCS2 UniCNS-UTF16 "  # noqa: SIM905 - a list of names
    "83pv-RKSJ 90ms-RKSJ 90msp-RKSJ 90pv-RKSJ Add-RKSJ EUC Ext-RKSJ UniJIS-UCS2 UniJIS-UCS2-HW UniJIS-UTF16 KSC-EUC "
    "KSCms-UHC KSCms-UHC-HW KSCpc-EUC UniKS-UCS2 UniKS-UTF16 Identity DLIdent".split()
)
"""The maps that PDFium reads rightly in both directions, but for `_KNOWN_ACROSS`."""

_KNOWN_ACROSS: Final = frozenset({"83pv-RKSJ", "90pv-RKSJ", "KSCpc-EUC"})
"""Maps that PDFium knows for rows alone."""

_MAP: Final = re.compile(rb"/Encoding\s{0,9}/([A-Za-z0-9-]{1,32}?)(-?[HV])(?![A-Za-z0-9-])")
_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,40}")
_MOST_OBJECTS: Final = 3_000
_RUN: Final = 3
"""Pieces of text side by side that cover nothing: single ones are spaces."""

_LINE, _NEXT = 2.0, 40.0
"""Points from one line between two pieces, and from the one to the other."""

_NOTHING: Final = 0.01
"""The width in points of what covers nothing."""

_MOST_PAGES: Final = 500
_MOST_GLYPHS: Final = 30_000
_MOST_BYTES: Final = 40 << 20
_SECONDS: Final = 8.0
_SHARE: Final = 0.4
"""Of the time that a document has left."""

_MEMORY: Final = 600 << 20
_ABOVE: Final = 0.88
"""How far the origin of a column's glyph is above that of a row's, in its size: PDF's default (DW2)."""

_CODES: Final = 0xFFFF
_EDGE: Final = 14_400
"""Points of a page's edge, at most."""


class _Glyph(NamedTuple):
    """A character, the matrix that puts it on the page, its size, its stretch to the side, and its width."""

    text: str
    matrix: tuple[float, ...]
    size: float
    stretch: float
    width: int


class RedrawnPage(NamedTuple):
    """A page: a PDF of its own, and how many of its glyphs are no known characters."""

    data: bytes
    unknown: int


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


def pages_of(data: bytes, indices: Sequence[int]) -> dict[int, RedrawnPage]:
    """Some pages of a PDF, drawn anew; those are missing that could not be in time."""
    for module in ("pdfinterp", "pdfdevice", "pdfpage", "cmapdb"):
        import_module(f"pdfminer.{module}")  # here, where they stay loaded, and not in a process that ends
    seconds = min(_SECONDS, _SHARE * limits.left())
    if seconds <= 0:
        return {}
    try:
        made = limits.run_in_fork(lambda: _walk(data, indices, seconds), seconds)
        return dict(pickle.loads(made))  # noqa: S301 - our own
    except (TimeoutError, ChildProcessError):
        return {}


def _walk(data: bytes, indices: Sequence[int], seconds: float) -> bytes:
    """The pages, as they are handed over; in a process of its own."""
    from pdfminer.pdfdocument import PDFDocument  # noqa: PLC0415 - loaded by now
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager  # noqa: PLC0415
    from pdfminer.pdfpage import PDFPage  # noqa: PLC0415
    from pdfminer.pdfparser import PDFParser  # noqa: PLC0415

    end = time.monotonic() + 0.7 * seconds
    _limit_memory()
    logging.disable(logging.CRITICAL)
    _allow_plain_names_only()
    manager = PDFResourceManager()
    recorder = _recorder(manager)
    interpreter = PDFPageInterpreter(manager, recorder)
    redrawn: dict[int, RedrawnPage] = {}
    wanted = set(indices[:_MOST_PAGES])
    room = _MOST_BYTES
    with contextlib.suppress(Exception):
        for index, page in enumerate(PDFPage.create_pages(PDFDocument(PDFParser(BytesIO(data))))):
            room -= len(redrawn[index - 1].data) if index - 1 in redrawn else 0
            if time.monotonic() > end or index > max(wanted) or room < 0:
                break
            if index not in wanted:
                continue
            recorder.glyphs, recorder.unknown = [], 0
            rotation, page.rotate = page.rotate, 0
            with contextlib.suppress(Exception):  # what was drawn before that stays
                interpreter.process_page(page)
            left, bottom, right, top = page.mediabox
            redrawn[index] = RedrawnPage(_pdf(recorder.glyphs, right - left, top - bottom, rotation), recorder.unknown)
    return pickle.dumps(redrawn)


def _limit_memory() -> None:
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = used + _MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))


def _allow_plain_names_only() -> None:
    """Have pdfminer.six, in this process, open no file whose name is more than a map's."""
    from pdfminer.cmapdb import CMapDB  # noqa: PLC0415

    load = CMapDB._load_data  # noqa: SLF001

    def load_plain(name: str) -> Any:
        if not _NAME.fullmatch(name.removeprefix("to-unicode-")):
            raise CMapDB.CMapNotFound(name)
        return load(name)

    CMapDB._load_data = staticmethod(load_plain)  # type: ignore[method-assign] # noqa: SLF001


def _recorder(manager: Any) -> Any:
    """What pdfminer.six draws on: it keeps the glyphs."""
    from pdfminer.pdfdevice import PDFTextDevice  # noqa: PLC0415
    from pdfminer.pdffont import PDFUnicodeNotDefined  # noqa: PLC0415

    class Recorder(PDFTextDevice):
        glyphs: list[_Glyph]
        unknown: int

        def render_char(
            self,
            matrix: tuple[float, ...],
            font: Any,
            fontsize: float,
            scaling: float,
            rise: float,
            cid: int,
            *_: Any,
        ) -> float:
            width = font.char_width(cid)
            try:
                text = font.to_unichr(cid)
            except PDFUnicodeNotDefined:
                text = ""
            if len(self.glyphs) + self.unknown >= _MOST_GLYPHS:
                raise OverflowError
            x, y = 0.0, rise
            if font.is_vertical():
                across, _down = font.char_disp(cid)
                x, y = -fontsize * (0.5 if across is None else across / 1000), rise - _ABOVE * fontsize
            a, b, c, d, e, f = matrix
            place = (a, b, c, d, e + a * x + c * y, f + b * x + d * y)
            if text and text != "\0":
                self.glyphs.append(_Glyph(text, place, fontsize, scaling, 1000 if width < 0 else round(1000 * width)))
            else:
                self.unknown += 1
            return float(width * fontsize * scaling)

    return Recorder(manager)


def _pdf(glyphs: Iterable[_Glyph], width: float, height: float, rotation: int) -> bytes:
    """A PDF of one page with these glyphs."""
    codes: dict[tuple[str, int], int] = {}
    content: list[str] = []
    for glyph in glyphs:
        if not all(isfinite(number) and abs(number) < 1e6 for number in (*glyph.matrix, glyph.size, glyph.stretch)):
            continue
        code = codes.setdefault((glyph.text[:8], max(0, min(glyph.width, 5000))), len(codes) + 1)
        if code > _CODES:
            break
        matrix = " ".join(f"{number:.4f}" for number in glyph.matrix)
        content.append(f"BT /F1 {glyph.size:.4f} Tf {100 * glyph.stretch:.2f} Tz {matrix} Tm <{code:04x}> Tj ET")
    names = "".join(f"<{code:04x}> <{text.encode('utf-16-be', 'ignore').hex()}>\n" for (text, _), code in codes.items())
    widths = " ".join(f"{code} [{wide}]" for (_, wide), code in codes.items())
    across, down = (min(_EDGE, max(1, edge if isfinite(edge) else 1)) for edge in (width, height))
    return _file(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {across:.2f} {down:.2f}] /Contents 4 0 R "
        f"/Rotate {rotation // 90 % 4 * 90} "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        _stream("\n".join(content)),
        "<< /Type /Font /Subtype /Type0 /BaseFont /Redrawn /Encoding /Identity-H /DescendantFonts [6 0 R] "
        "/ToUnicode 8 0 R >>",
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Redrawn /DW 1000 /FontDescriptor 7 0 R "
        f"/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /W [{widths}] >>",
        "<< /Type /FontDescriptor /FontName /Redrawn /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 /Ascent 880 "
        "/Descent -120 /CapHeight 700 /StemV 80 >>",
        _stream(
            "begincmap\n1 begincodespacerange <0000> <ffff> endcodespacerange\n"
            f"{len(codes)} beginbfchar\n{names}endbfchar\nendcmap"
        ),
    )


def _stream(text: str) -> str:
    return f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"


def _file(*objects: str) -> bytes:
    content, places = "%PDF-1.5\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj\n{item}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    return f"{content}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")
