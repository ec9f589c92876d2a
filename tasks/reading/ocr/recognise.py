"""One page that is a picture: drawn, turned upright, and read by the available engines.

A recognising process runs `recognise_page`, one page at a time. A page is drawn as a grey picture of a size that
engines read well and that no file can inflate.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from math import isfinite, sqrt
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.errors import Unavailable
from tasks.reading import detect, limits
from tasks.reading import image as image_reader
from tasks.reading.embedded import embedded_document
from tasks.reading.image import DOTS_AN_INCH, Picture
from tasks.reading.ocr import rapidocr, tesseract
from tasks.reading.ocr.page import (
    Doubts,
    Engine,
    RecognisedPage,
    RecognisedWord,
    RecognitionFailed,
    RecognitionTimedOut,
    ScanState,
)
from tasks.reading.ocr.rapidocr import RapidOcr
from tasks.reading.ocr.tesseract import Tesseract
from tasks.reading.pdf import reader as pdf_reader
from tasks.reading.text_writer import Reading, Source

_USUAL_EDGE: Final = 3000
"""Dots of the long edge of a sheet of paper at that resolution."""

_LONGEST_EDGE: Final = 30_000
"""Tesseract counts in 16 bits."""

_MOST_DOTS: Final = 25_000_000
_MOST_SCANNED_DOTS: Final = 100_000_000
"""Of the pictures on one page. PDFium takes four bytes for each of them: 370 MB were measured."""

_MOST_OBJECTS: Final = 10_000
"""Objects on a page among which pictures are looked for."""

_SECONDS: Final = 120.0
"""That Tesseract may take for a page where nothing else limits it."""

_SURE: Final = 0.88
"""The confidence in a page from which it is not read again turned by half a circle, and Tesseract's may count."""

_SENSELESS: Final = 0.4
"""Of the words that Tesseract was less sure of fewer than one in three was right."""

_LEGIBLE: Final = 0.5
"""The confidence in a page below which Tesseract may have it on its side."""

_TALL: Final = 1.5
_INK: Final = 60
"""How much darker than its paper, or lighter where that is dark, a dot is that is ink, of 255."""

_BLANK_EDGE: Final = 1_000
_BLANK: Final = 20
"""Dots of ink that a blank page may have when it is drawn that small: dust, and the holes of a folder."""


class Engines(NamedTuple):
    """The engines that read pages here: first Tesseract in these languages ("eng+deu"), if there are any.

    `is_auto`: a page counts whichever engine has read it. `program` is the path of Tesseract.
    """

    tesseract: str | None
    rapidocr: bool
    is_auto: bool = False
    program: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which their pages are stored, the last resort first."""
        told = (f"{tesseract.NAME} {self.tesseract}",) if self.tesseract else ()
        return ((rapidocr.NAME,) if self.rapidocr else ()) + told

    def accept(self, page: RecognisedPage) -> bool:
        """Whether a page need not be read again: what the last resort read, or what this Tesseract, told these or other
        languages, is sure of. An earlier Tesseract's pages have another name.
        """
        is_sure = self.is_auto and page.engine.startswith(f"{tesseract.NAME} ") and page.confidence >= _SURE
        return is_sure or page.engine == self.names[0]

    def opened(self) -> Iterator[Engine]:
        """The engines themselves, in the order in which they are asked."""
        if self.program and self.tesseract:
            seconds = min(_SECONDS, limits.seconds_left())
            yield Tesseract(self.program, self.tesseract, seconds / 2 if self.rapidocr else seconds)
        if self.rapidocr:
            yield RapidOcr()


def order_page(document_format: str, page: str, engines: Engines) -> str:
    """The order for `recognise_page`: `page` is the label of a place of kind `scan`."""
    return json.dumps([document_format, page, engines])


def recognise_page(path: Path, order: str) -> Reading:
    """What a recognising process runs: returns the page in `order`, packed, in place of a reading's text."""
    document_format, label, engines = json.loads(order)
    number, _, digest = label.partition(" ")
    source: Source = path
    if digest:
        source, document_format = embedded_document(path, document_format, digest)
    is_pdf = detect.detect_format(source, document_format) == ".pdf"
    draw = draw_pdf_page if is_pdf else image_reader.draw_page
    picture = draw(source, int(number) - 1)
    page = recognise(picture, Engines(*engines)) if picture else RecognisedPage(ScanState.FAILED)
    return Reading(page.pack())


def recognise(picture: Picture, engines: Engines) -> RecognisedPage:
    """The words of a picture: those of which the first engine is certain, and the next one's where it is not.

    Raises:
        Unavailable: an engine cannot be loaded, and none before it read words that make sense.
    """
    best = RecognisedPage(ScanState.FAILED, engines.names[0])
    if _is_blank(picture):
        return RecognisedPage(ScanState.EMPTY, engines.names[0])
    doubts: Doubts | None = None
    for engine in engines.opened():
        is_last = engine.name == engines.names[0]
        try:
            page = _read_rest(engine, picture, best, doubts, is_last=is_last)
        except RecognitionFailed as error:
            if isinstance(error, RecognitionTimedOut) and not best.words:
                best = replace(best, state=ScanState.LATE)
            continue
        except Unavailable:
            if best.confidence < _SENSELESS:
                raise
            continue
        doubts = None if is_last else _find_doubts(picture, page)
        if not doubts and engines.accept(page):
            return page if page.confidence >= _SENSELESS else replace(page, state=ScanState.EMPTY, words=())
        if page.words:  # it counts where the next engine fails
            best = replace(page, state=ScanState.PARTLY, engine=engines.names[0])
    return best


def _find_doubts(picture: Picture, page: RecognisedPage) -> Doubts | None:
    from tasks.reading.ocr.doubts import find_doubts  # noqa: PLC0415 - numpy, in the recognising processes alone

    try:
        return find_doubts(picture.turned(page.turn), page.words)
    except Unavailable:  # all of the page is doubtful where nobody can look for what was overlooked
        return Doubts((), picture)


def _read_rest(
    engine: Engine, picture: Picture, best: RecognisedPage, doubts: Doubts | None, *, is_last: bool
) -> RecognisedPage:
    """What an engine reads: the doubtful words of the page so far, or all of the picture."""
    if doubts and doubts.sure:
        return _settle(engine, best, doubts)
    return _read_upright(engine, picture) if is_last else _read(engine, picture, 0)


def _settle(engine: Engine, page: RecognisedPage, doubts: Doubts) -> RecognisedPage:
    """A page whose doubtful words are replaced by those that an engine reads in their places."""
    first = 1 + max(word.line for word in doubts.sure)
    read = [word._replace(line=first + word.line) for word in engine.words(doubts.picture)]
    return replace(page, state=ScanState.READ, words=[*doubts.sure, *read])


def _is_blank(picture: Picture) -> bool:
    image = picture.image()
    image.thumbnail((_BLANK_EDGE, _BLANK_EDGE))
    counts = image.histogram()
    paper = max(range(256), key=counts.__getitem__)
    return sum(counts) - sum(counts[max(0, paper - _INK) : paper + _INK]) <= _BLANK


def _read(engine: Engine, picture: Picture, turn: int) -> RecognisedPage:
    """What an engine reads in a picture that is turned left by so many quarters of a circle."""
    turned = picture.turned(turn)
    words = engine.words(turned)
    state = ScanState.READ if words else ScanState.EMPTY
    return RecognisedPage(state, engine.name, turned.width, turned.height, turn, words)


def _read_upright(engine: Engine, picture: Picture) -> RecognisedPage:
    """What an engine reads in a picture that is turned upright.

    RapidOCR detects text that lies on its side, but not on which side; Tesseract makes nothing of it. Text with low
    certainty may be upside down. Of several ways, the one with most certainty is used. A picture without words both as
    it is and on its side has none.

    Raises:
        RecognitionFailed: the engine fails on the picture, or on a turned one where what it read so far makes no sense.
    """
    page = _read(engine, picture, 0)
    turns: tuple[int, ...] = (2,) if page.words and page.confidence < _SURE else ()
    if lies_on_its_side := _lies_on_its_side(page.words):
        turns = (1, 3)
    elif engine.name != rapidocr.NAME and page.confidence < _LEGIBLE:
        turns = (1, 2, 3)
    pages = [] if lies_on_its_side else [page]
    for turn in turns:
        try:
            pages.append(_read(engine, picture, turn))
        except RecognitionFailed:
            if page.confidence < _SENSELESS:
                raise
            break
        if not any(each.words for each in pages):
            break
    return max(pages, key=lambda one: sum(word.confidence * len(word.text) for word in one.words), default=page)


def _lies_on_its_side(words: Sequence[RecognisedWord]) -> bool:
    """Whether most lines of more than two letters are taller than wide."""
    tall = wide = 0
    for _, group in groupby(sorted(words, key=attrgetter("line")), key=attrgetter("line")):
        line = list(group)
        letters = sum(len(word.text) for word in line)
        if letters > 2:
            width = max(word.right for word in line) - min(word.left for word in line)
            is_tall = max(word.bottom for word in line) - min(word.top for word in line) > _TALL * width
            tall, wide = tall + is_tall * letters, wide + (not is_tall) * letters
    return tall > wide


def draw_pdf_page(source: Source, index: int) -> Picture | None:
    """A page of a PDF as a picture; None if it cannot be drawn.

    Raises:
        Damaged: the PDF cannot be opened.
    """
    with pdf_reader.open_document(source) as document:
        try:
            page = document.page(index)
        except pypdfium2.PdfiumError:
            return None
        try:
            return draw_page(page)
        finally:
            page.close()


def draw_page(page: pypdfium2.PdfPage) -> Picture | None:
    """The page as it looks, without annotations; None if it is too large. 0.03 s."""
    scale = _scale(page)
    if scale is None:
        return None
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False)
    width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    dots = bytes(bitmap.buffer)
    if stride != width:
        dots = b"".join(dots[start : start + width] for start in range(0, stride * height, stride))
    return Picture(width, height, dots)


def _scale(page: pypdfium2.PdfPage) -> float | None:
    """Pixels per point of the page's claimed size.

    The claim is often made up: one point per pixel of the scan, or a page of one inch. So the long edge gets the median
    of three: what the claim requires, what the scan on the page has, and what a page usually needs.
    """
    width, height = page.get_size()
    scanned_density = _measure_density(page)
    if scanned_density is None or not (isfinite(width * height) and width * height > 0):
        return None
    edge = max(width, height)
    claimed = edge * DOTS_AN_INCH / 72
    scanned = edge * scanned_density or claimed
    chosen = sorted((claimed, scanned, _USUAL_EDGE))[1]
    return float(min(chosen / edge, sqrt(_MOST_DOTS / (width * height)), _LONGEST_EDGE / edge))


def _measure_density(page: pypdfium2.PdfPage) -> float | None:
    """Pixels per point in the largest picture on the page; 0 if there is none, None if it has too many."""
    dots = 0
    largest, density = 0.0, 0.0
    for image in islice(page.get_objects(max_depth=3), _MOST_OBJECTS):
        if image.type != pdfium.FPDF_PAGEOBJ_IMAGE:
            continue
        try:
            across, down = image.get_px_size()
            left, bottom, right, top = image.get_bounds()
        except pypdfium2.PdfiumError:
            continue
        dots += across * down
        if dots > _MOST_SCANNED_DOTS:
            return None
        area = (right - left) * (top - bottom)
        if area > largest:
            largest, density = area, sqrt(across * down / area)
    return density
