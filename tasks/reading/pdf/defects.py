"""What PDFium gets wrong on a page or cannot know: invisible text, right-to-left scripts, unknown characters.

Pages that are not certain to be read correctly are named in warnings.
"""

import ctypes
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import atan2, inf, pi
from operator import sub
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.reading.numerals import raise_text
from tasks.reading.pdf import document
from tasks.reading.pdf.document import PageText
from tasks.reading.pdf.repair import find_packed

_SAMPLE: Final = 8
"""Characters of a page that are asked for first: what a frame cuts off of a drawing is much, and drawn in one go."""
_NEAR: Final = 0.5
"""Points by which text may stand outside of its frame and is taken to be within."""
_MOST_SEGMENTS: Final = 100
"""Segments of a frame: one with more is taken to cut nothing off."""
_MOST: Final = 60_000
"""Characters of a page that are looked at."""
_ALL: Final = 0.95
"""The share of a page's characters from which they are the layer of text of a scan, which some programs hide so."""
_INK: Final = re.compile(r"[^\s\U00010000-\U0010ffff]")
_EMPTY_LINES: Final = re.compile(r"(?<! ) *+\r\n(?: *+\r\n)++")
_SPACES: Final = re.compile("  +")

_frame_of: Final = document.plain(pdfium.FPDFPageObj_GetClipPath)
_count_paths: Final = document.plain(pdfium.FPDFClipPath_CountPaths)
_sides = [ctypes.c_float() for _ in range(4)]
_x, _y = ctypes.c_float(), ctypes.c_float()


LineBeginnings = Sequence[tuple[int, document.Box]]
"""PDFium's numbers and the boxes of some characters of a page, such as the first of each line."""


def part_unseen(
    page: Any, textpage: Any, page_text: PageText, lines: LineBeginnings, has_layers_off: bool
) -> tuple[PageText, str]:
    """The text of a page with spaces for what it does not show, and what that is; "" where it shows all.

    A frame or the page's own edge cuts it off, it stands on a layer that is switched off, or it is white, transparent,
    without ink or too small where nothing is drawn. Words over a picture are seen: recognised text lies so over a scan.
    """
    edge = _find_edge(page, lines)
    may_hide = edge or has_layers_off or _find_faint(page, textpage, lines)
    if page_text.characters > _MOST or not (may_hide or _is_sample_cut_off(textpage, page_text.characters)):
        return page_text, ""
    text = page_text.text
    spots = [match.start() for match in _INK.finditer(text)]
    numbers = document.find_characters(textpage, page_text, spots)
    characters = list(zip(numbers, document.character_boxes(textpage, numbers), strict=True))
    inkless = _find_inkless(page, textpage, characters) if has_layers_off else set()
    hidden = inkless | _find_out_of_sight(textpage, characters, edge)
    if len(hidden) > _ALL * len(spots):
        hidden = set()
    hidden |= _find_faint(page, textpage, characters)
    if not hidden:
        return page_text, ""
    gone = {spot for spot, number in zip(spots, numbers, strict=True) if number in hidden}
    shown = "".join(" " if at in gone else character for at, character in enumerate(text))
    unseen = "".join(character if at in gone or character.isspace() else " " for at, character in enumerate(text))
    return page_text._replace(text=shown), unseen


def _is_sample_cut_off(textpage: Any, count: int) -> bool:
    """Whether one of a few of a page's characters is outside its clipping path."""
    step = max(1, count // _SAMPLE)
    return any(_is_cut_off(piece) for piece in document.text_objects(textpage, range(step // 2, count, step)) if piece)


def _find_out_of_sight(textpage: Any, characters: LineBeginnings, edge: document.Box | None) -> set[int]:
    """The characters that their frame or the page's edge cuts off."""
    pieces = document.text_objects(textpage, [number for number, _ in characters])
    unseen = {piece: _is_cut_off(piece) for piece in set(pieces) if piece}
    return {
        number
        for (number, box), piece in zip(characters, pieces, strict=True)
        if (piece and unseen[piece]) or (edge and _is_beyond(box, edge))
    }


def line_beginnings(textpage: Any, page_text: PageText) -> LineBeginnings:
    """Where the lines of a page begin; empty for a page with too many characters."""
    if page_text.characters > _MOST:
        return []
    spots = [match.end() - 1 for match in _FIRST.finditer(f"\n{page_text.text}")]
    numbers = document.find_characters(textpage, page_text, spots)
    return list(zip(numbers, document.character_boxes(textpage, numbers), strict=True))


def _find_edge(page: Any, lines: LineBeginnings) -> document.Box | None:
    """Left, top, right and bottom of the page, if lines begin outside it, otherwise None."""
    edge = pdfium.FS_RECTF()
    # Of a page that lies on its side PDFium gives the sides as they are shown, and not as its characters stand.
    if pdfium.FPDFPage_GetRotation(page) or not pdfium.FPDF_GetPageBoundingBox(page, edge):
        return None
    box = (edge.left - _NEAR, edge.top + _NEAR, edge.right + _NEAR, edge.bottom - _NEAR)
    return box if any(_is_beyond(line, box) for _, line in lines) else None


def _is_beyond(character: document.Box, edge: document.Box) -> bool:
    (one, high, other, low), (left, top, right, bottom) = character, edge
    return high > low and (one > right or other < left or low > top or high < bottom)


_INK_LEVEL: Final = 6  # shades of grey by which ink differs from its ground


def _find_inkless(page: Any, textpage: Any, characters: LineBeginnings) -> set[int]:
    """The characters of text objects in ink where a page, as it is drawn, is of one colour."""
    across, down = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    scale = min(2.0, 4_000 / max(across, down, 1.0))  # dots for a point, and the most along an edge
    size = int(across * scale), int(down * scale)
    if not all(size) or pdfium.FPDFPage_CountObjects(page) > _MOST_OBJECTS:
        return set()
    bitmap = pypdfium2.PdfBitmap.new_native(*size, pdfium.FPDFBitmap_Gray)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, *size, 0, 0)
    picture = bitmap.to_pil()
    x, y = ctypes.c_int(), ctypes.c_int()
    seen: set[int | None] = {None}
    pieces = document.text_objects(textpage, [number for number, _ in characters])
    for (_, (left, top, right, bottom)), piece in zip(characters, pieces, strict=True):
        corners: list[tuple[int, int]] = []
        for corner in ((left, top), (right, bottom)):
            pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, *corner, x, y)
            corners.append((x.value, y.value))
        (one, other), (high, low) = map(sorted, zip(*corners, strict=True))
        darkest, lightest = picture.crop((one - 1, high - 1, other + 2, low + 2)).getextrema()
        if lightest - darkest >= _INK_LEVEL or (piece and document.render_mode(piece) == _INVISIBLE):
            seen.add(piece)
    return {number for (number, _), piece in zip(characters, pieces, strict=True) if piece not in seen}


_FIRST: Final = re.compile(r"\n[^\S\n]*+(?=\S)")
_WHITE: Final = 250
_INVISIBLE: Final = pdfium.FPDF_TEXTRENDERMODE_INVISIBLE
_TINY: Final = 1.2
"""The height in points of a character's box of which nobody sees anything: a point has the size of a full stop."""
_COVERS: Final = (
    pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING, pdfium.FPDF_PAGEOBJ_FORM,
)  # fmt: skip


def _find_faint(page: Any, textpage: Any, characters: LineBeginnings) -> set[int]:
    """The characters that are white, transparent or inkless with nothing behind them, or too small to be seen."""
    numbers = [number for number, _ in characters]
    colours = document.character_colours(textpage, numbers)
    pieces = document.text_objects(textpage, numbers)
    faint = {
        number: ((left + right) / 2, (top + bottom) / 2)
        for (number, (left, top, right, bottom)), colour, piece in zip(characters, colours, pieces, strict=True)
        if (colour and min(colour) >= _WHITE)
        or (colour == () and piece and document.render_mode(piece) == pdfium.FPDF_TEXTRENDERMODE_FILL)
        or 0 < top - bottom < _TINY
        or (piece and document.render_mode(piece) == _INVISIBLE)
    }
    if not faint:
        return set()
    grounds = [box for _, box in document.list_objects(page, _COVERS, _MOST_OBJECTS)]
    return {
        number
        for number, (x, y) in faint.items()
        if not any(left <= x <= right and bottom <= y <= top for left, top, right, bottom in grounds)
    }


def is_hidden(textpage: Any, lines: LineBeginnings) -> bool:
    """Whether a page's text is drawn in invisible ink, as recognised text is behind the picture of a scan."""
    sample = [number for number, _ in lines[:: max(1, len(lines) // _SAMPLE)]]
    pieces = [piece for piece in document.text_objects(textpage, sample) if piece]
    return bool(pieces) and all(document.render_mode(piece) == _INVISIBLE for piece in pieces)


def without_blanks(text: str) -> str:
    """A page's text without the empty lines and the white that `part_unseen` leaves."""
    return _EMPTY_LINES.sub("\r\n", _SPACES.sub(" ", text))


def _is_cut_off(address: int) -> bool:
    """Whether a text object is outside its clipping path."""
    frame_address = _frame_of(address)
    paths = _count_paths(frame_address) if frame_address else 0
    if paths <= 0:  # the usual
        return False
    frame = ctypes.cast(frame_address, pdfium.FPDF_CLIPPATH)
    if not pdfium.FPDFPageObj_GetBounds(ctypes.cast(address, pdfium.FPDF_PAGEOBJECT), *_sides):
        return False
    left, bottom, right, top = (side.value for side in _sides)
    for path in range(paths):
        count = pdfium.FPDFClipPath_CountPathSegments(frame, path)
        if not 0 < count <= _MOST_SEGMENTS:
            continue
        low_x, low_y, high_x, high_y = inf, inf, -inf, -inf
        for index in range(count):
            pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(frame, path, index), _x, _y)
            low_x, high_x = min(low_x, _x.value), max(high_x, _x.value)
            low_y, high_y = min(low_y, _y.value), max(high_y, _y.value)
        if left > high_x + _NEAR or right < low_x - _NEAR or bottom > high_y + _NEAR or top < low_y - _NEAR:
            return True
    return False


_LINE: Final = re.compile(r"[^\r\n]+")
_LAM: Final = "\u0644"
_ALEFS: Final = "\u0622\u0623\u0625\u0627"
_TURNED: Final = re.compile(f"[{_ALEFS}]{_LAM}")
_MOST_LINES: Final = 20_000
"""Characters whose boxes are asked for."""


def with_ligatures(textpage: Any, page_text: PageText) -> PageText:
    """The text of a page with the letters of lam-alef ligatures in reading order."""
    text = page_text.text
    spots = [match.start() for match in _TURNED.finditer(text)] if _LAM in text else []
    if not spots or not page_text.is_in_step:
        return page_text
    boxes = list(document.character_boxes(textpage, [at for spot in spots for at in (spot, spot + 1)]))
    letters = list(text)
    for spot, alef, lam in zip(spots, boxes[::2], boxes[1::2], strict=True):
        if alef == lam:
            letters[spot : spot + 2] = letters[spot + 1], letters[spot]
    return page_text._replace(text="".join(letters))


def find_turned_ligatures(codes: Sequence[int], boxes: Sequence[document.Box | None]) -> Iterator[int]:
    """Where alef and lam on a page come from a single glyph."""
    for at in range(len(codes) - 1) if ord(_LAM) in codes else ():
        if codes[at + 1] == ord(_LAM) and chr(codes[at]) in _ALEFS and boxes[at] == boxes[at + 1]:
            yield at


def find_missing_breaks(textpage: Any, page_text: PageText) -> list[int]:
    """Where line breaks must be inserted into the text of a page: between characters on different lines.

    PDFium loses them between lines of right-to-left scripts.
    """
    text = page_text.text
    if not page_text.is_in_step or len(text) > _MOST_LINES:
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


_STEP: Final = 24
"""Of so many characters one is asked for first: a font without names has more of them than that."""

_NOT_CHARACTERS: Final = re.compile("[\x00\x01\x03-\x08\x0e-\x1f\ufffd\ue000-\uefff\uf100-\uf8ff]")
"""Numbers of glyphs, and characters for private use; those from U+F000 are symbols, such as bullets.

PDFium marks hyphens with U+0002.
"""

_CONTROLS: Final = bytes([0, 1, *range(3, 9), *range(14, 32)])
_CONTROLS_OF_SYMBOLS: Final = range(0x80, 0xA0)
"""Controls that are glyphs of fonts for symbols: arrows for quotation marks."""
UNKNOWN: Final = "\ufffd"
_LONGEST: Final = 1_000_000
_FEW: Final = 10
_MANY: Final = 0.3
"""The share of a page's characters."""

_WORD: Final = re.compile(r"[^\W_]{3,}")
_ALIKE: Final = 0.5
"""The share of recognised words that a page has itself where its text is right."""


def count_in(textpage: Any, count: int) -> int:
    """How many of the `count` characters of an open text page have no name; 8 µs if all have one."""
    if 1 not in document.have_no_character(textpage, range(0, count, _STEP)):
        return 0
    unknown = document.have_no_character(textpage, range(count))
    codes = document.character_codes(textpage, count)
    return sum(has_none == 1 and code > ord(" ") for has_none, code in zip(unknown, codes, strict=True))


def with_left_out(textpage: Any, page_text: PageText) -> PageText:
    """The text of a page with characters that PDFium leaves out because it takes them for control characters.

    A glyph that its font does not name becomes U+FFFD: in articles it is the minus before a figure, which must not read
    as positive.
    """
    count = page_text.characters
    if page_text.units >= count or len(page_text.text) != page_text.units:  # the usual
        return page_text
    text: list[str] = []
    at = 0
    for index, code in enumerate(document.character_codes(textpage, count)):
        is_control = code < ord(" ") or code in _CONTROLS_OF_SYMBOLS
        if not is_control or pdfium.FPDFText_GetTextIndexFromCharIndex(textpage, index) >= 0:
            text.append(page_text.text[at : at + 1])
            at += 1
        elif code in _CONTROLS_OF_SYMBOLS or document.have_no_character(textpage, [index]) == [1]:
            text.append(UNKNOWN)
        else:
            return page_text
    return PageText("".join(text), count, count) if len(text) == count else page_text


def are_left_in(text: str) -> bool:
    """Whether a text contains numbers instead of characters, as far as matters on a useful page."""
    text = text[:_LONGEST]
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw.translate(None, _CONTROLS)) == len(raw) and b"\xee" not in raw and b"\xef" not in raw:  # the usual
        return False
    return _NOT_CHARACTERS.search(text) is not None


def are_many(count: int, text: str) -> bool:
    """Whether that many unknown characters are too many to keep the page's text without checking it."""
    return count >= _FEW and count >= _MANY * len("".join(text.split()))


def are_confirmed(text: str, recognised: str) -> bool:
    """Whether a page's text agrees with what was recognised on it, in words and figures."""
    words = {word.casefold() for word in _WORD.findall(text)}
    found = [word.casefold() for word in _WORD.findall(recognised)]
    figures = [word for word in found if word.isdecimal()]
    parts = (found, figures if len(figures) >= _FEW else [])
    return bool(found) and all(sum(word in words for word in part) >= _ALIKE * len(part) for part in parts)


_MARK_END: Final = re.compile(r"\d\)?(?!\w|[.,]\d)")
_OF_MARKS: Final = frozenset("0123456789(),")
_LONGEST_MARK: Final = 6  # characters, with what it stands behind
_SMALLER: Final = 0.85
"""The height of a raised mark as a share of that of what stands before it, at most."""
_HIGHER: Final = 0.12
"""How much higher a raised mark stands than what is before it, as a share of the height of that."""


def with_raised_marks(textpage: Any, page_text: PageText) -> PageText:
    """The text of a page with superscript digits for those that are raised and smaller than what they follow."""
    text = page_text.text
    if not page_text.is_in_step or page_text.characters > _MOST:
        return page_text
    ends = [match.end() for match in _MARK_END.finditer(text)]
    _, tops, _, bottoms = document.box_sides(textpage, [end - 1 for end in ends])
    heights = list(map(sub, tops, bottoms))
    usual = max(heights, default=0.0)
    small = [end for end, height in zip(ends, heights, strict=True) if 0 < height < _SMALLER * usual]
    marks = [(end - len(text[max(0, end - _LONGEST_MARK) : end].split()[-1]), end) for end in small]
    # what is drawn in one piece is of one height
    marks = [(at, end) for at, end in marks if len({*document.text_objects(textpage, (at, end - 1))}) > 1]
    around = sorted({at for first, end in marks for at in range(first, end)})
    _, tops, _, bottoms = document.box_sides(textpage, around)
    height = dict(zip(around, map(sub, tops, bottoms), strict=True))
    marks = [mark for mark in marks if height[mark[1] - 1] < _SMALLER * max(map(height.__getitem__, range(*mark)))]
    around = sorted({at for first, end in marks for at in range(first, end)})
    places = dict(zip(around, document.character_origins(textpage, around), strict=True))
    letters = list(text)
    for first, end in marks:
        start = _find_mark_start(text, first, end, {at: (height[at], places[at][1]) for at in range(first, end)})
        letters[start:end] = raise_text(text[start:end])
    return page_text._replace(text="".join(letters))


def _find_mark_start(text: str, first: int, end: int, heights_and_bases: Mapping[int, tuple[float, float]]) -> int:
    """Where the raised mark that ends at `end`, in the word from `first`, begins; `end` if there is none."""
    height, base = heights_and_bases[end - 1]
    for at in range(end - 2, first - 1, -1):
        other_height, other_base = heights_and_bases[at]
        if text[at] in _OF_MARKS and abs(base - other_base) < 0.01 * height:
            continue
        is_raised = height < _SMALLER * other_height and _HIGHER < (base - other_base) / other_height < 1
        return at + 1 if is_raised else end
    return end


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

_FONT_LINE, _NEXT = 2.0, 40.0
"""Points from one line between two pieces, and from the one to the other."""

_NOTHING: Final = 0.01
"""The width in points of what covers nothing."""


def is_east_asian(text: str) -> bool:
    """Whether some characters of a text are Chinese, Japanese or Korean."""
    return not text.isascii() and _EAST_ASIAN.search(text) is not None


def has_wrong_order(page: Any, textpage: Any, text: str) -> bool:
    """Whether PDFium may return the lines of an open page with this text in the wrong order.

    That happens with vertical East Asian text, and with pages that show their text sideways.
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
    """The number of quarter turns to the left that most characters have."""
    count = pdfium.FPDFText_CountChars(textpage)
    matrix = pdfium.FS_MATRIX()
    turns = [0, 0, 0, 0]
    for index in range(0, count, max(1, count // _SAMPLES)):
        if pdfium.FPDFText_GetTextObject(textpage, index) and pdfium.FPDFText_GetMatrix(textpage, index, matrix):
            turns[round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4] += 1
    return turns.index(max(turns))


def loses_glyphs(page: Any) -> bool:
    """Whether an open page has consecutive pieces of text that cover no area."""
    run, x, y = 0, 0.0, 0.0
    for _, (left, top, right, bottom) in document.list_objects(page, (pdfium.FPDF_PAGEOBJ_TEXT,), _MOST_OBJECTS):
        if right - left > _NOTHING:
            run = 0
            continue
        if top - bottom > _NEXT:  # a column
            return True
        across, down = abs(left - x), abs(bottom - y)
        x, y = left, bottom
        run = run + 1 if min(across, down) < _FONT_LINE < max(across, down) < _NEXT else 1
        if run >= _RUN:
            return True
    return False


def has_unknown_maps(data: bytes) -> bool:
    """Whether a font in a PDF has a character map that PDFium does not know."""
    contents = (data, *(item.content for item in find_packed(data)))
    return any(_is_unknown(*match.groups()) for content in contents for match in islice(_MAP.finditer(content), 10_000))


def _is_unknown(name: bytes, mode: bytes) -> bool:
    base = name.decode()
    if not mode.startswith(b"-"):
        return bool(base)  # "H" and "V" by themselves are maps
    return base not in _KNOWN_MAPS or (base in _KNOWN_ACROSS and mode == b"-V")
