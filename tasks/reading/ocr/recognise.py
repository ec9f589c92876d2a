"""Text recognition (OCR): pages that are pictures, drawn by PDFium and read by Tesseract.

A reader asks for what is `active`: nothing where recognition is switched off or Tesseract is missing, and `ADVICE`
says so. The time for it is a share of what a document may take, so that a long scan gives its first pages rather than
nothing. A page is drawn as a grey picture of a size that Tesseract reads well and that no page's claim can inflate.

Measured with Tesseract 5.3 on pages of sixteen public documents made into scans (grey, noise, 0.4° askew, JPEG), the
share of the pages' own words that was recognised: at 150 dots an inch .88 in 1.1 s a page, 200 .92 in 1.3 s, 250 .93
in 1.5 s, 300 .93 in 1.7 s. Tesseract takes 60 MB, 150 MB for the largest picture.
"""

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, islice, pairwise, zip_longest
from math import isfinite, sqrt
from struct import Struct
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.errors import Unavailable
from tasks.reading.limits import run_in_fork
from tasks.reading.ocr import tesseract

DOTS_AN_INCH: Final = 250
_USUAL_EDGE: Final = 3000
"""Dots of the long edge of a sheet of paper at that resolution."""

_LONGEST_EDGE: Final = 30_000
"""Tesseract counts in 16 bits."""

_MOST_DOTS: Final = 25_000_000
_MOST_SCANNED_DOTS: Final = 100_000_000
"""Of the pictures on one page. PDFium takes four bytes for each of them: 370 MB were measured."""

_SECONDS: Final = 10.0
_SIZE: Final = Struct("II")
_MOST_OBJECTS: Final = 10_000
"""Objects on a page among which pictures are looked for."""

ADVICE: Final = (
    f"Install Tesseract (package {tesseract.PACKAGE}) to have scans read; `diligence doctor` says what is missing."
)
_SHARE_OF_DOCUMENT: Final = 0.75
"""Of the time that a document may take; the rest is for reading what is no picture."""

_SHARE_OF_PAGE: Final = 0.5
"""Of the time for recognition: noise without a word keeps Tesseract ten times as long as a page of text."""

_DOUBTFUL: Final = 60
_SENSELESS: Final = 40
"""Tesseract's mean confidence in a page's words, of 100. It was 79 and more for legible text the right way up,
50 at most for text upside down or in another script; of words below 40 fewer than one in three was right."""

_BULLETS: Final = frozenset("eo°*©®¢«».•·●+")
"""What Tesseract takes a list's bullet for; as a cell before words it is one."""
_BULLET_WORDS: Final = 3
_CELL_GAP: Final = 1.2
"""Heights of a line. In running text 95 of 100 gaps were narrower than 0.6, one in 100 was wider than this."""

_recogniser: "ContextVar[Recogniser | None]" = ContextVar("recogniser", default=None)


class OutOfTime(Exception):
    """The document's time for recognition is used up: what was recognised stays, the rest is to be named."""


class NotRecognised(Exception):
    """A page that cannot be read: it is too large, Tesseract failed on it, or it takes too long."""


@dataclass(frozen=True)
class Picture:
    """A grey picture: a byte a dot, row by row from the top."""

    width: int
    height: int
    dots: bytes

    def file(self) -> bytes:
        """The picture as a file: a portable grey map (PGM)."""
        return b"P5 %d %d 255\n%s" % (self.width, self.height, self.dots)

    def upside_down(self) -> "Picture":
        """The picture turned by half a circle."""
        return replace(self, dots=self.dots[::-1])


@dataclass(frozen=True)
class WordBox:
    """A word that was recognised, and where it stands on its page as shown, in shares of its width and height."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Recogniser:
    """Reads pages of one document, until its time is up.

    `languages` are Tesseract's names, as it takes them ("eng+deu"): the label of places of kind `ocr`.
    `seconds` are for all pages together, up to `deadline` on the monotonic clock.
    """

    program: str
    languages: str
    seconds: float
    deadline: float

    def page_text(self, page: pypdfium2.PdfPage) -> str:
        """The text of a page as it looks, "" when there is none that makes sense.

        Lines of a table have tabs between the cells, paragraphs an empty line. Pages that lie on their side or
        upside down are read as well. A page takes 1 to 3 s.

        Raises:
            OutOfTime: the document's time for recognition is used up.
            NotRecognised: this page cannot be read.
        """
        return self.text_of(partial(picture_of, page))

    def text_of(self, draw: Callable[[float], Picture | None]) -> str:
        """The text of the picture that `draw` gives, who is told how many seconds it may take; as `page_text`."""
        words, _, _ = self._words_of(draw)
        return _text(words) if words and _confidence(words) >= _SENSELESS else ""

    def word_boxes(self, page: pypdfium2.PdfPage) -> list[WordBox]:
        """The words of a page as it looks, in the order of `page_text`, and where they stand; raises what it raises."""
        words, picture, is_upside_down = self._words_of(partial(picture_of, page))
        boxes = [
            WordBox(
                word.text,
                word.across[0] / picture.width,
                word.down[0] / picture.height,
                word.across[1] / picture.width,
                word.down[1] / picture.height,
            )
            for word in words
        ]
        if is_upside_down:
            boxes = [WordBox(box.text, 1 - box.right, 1 - box.bottom, 1 - box.left, 1 - box.top) for box in boxes]
        return boxes

    def _words_of(
        self, draw: Callable[[float], Picture | None]
    ) -> tuple[list[tesseract.RecognisedWord], Picture, bool]:
        """The words of a picture the right way up, the picture, and whether that is upside down."""
        picture = draw(min(self._time_left(), self.seconds * _SHARE_OF_PAGE))
        if picture is None:
            self._time_left()
            raise NotRecognised
        words = self._words(picture)
        if words and _confidence(words) < _DOUBTFUL:  # Tesseract sees by itself what lies on one side, not on the other
            turned = self._words(picture.upside_down())
            if sum(word.confidence for word in turned) > sum(word.confidence for word in words):
                return turned, picture, True
        return words, picture, False

    def _words(self, picture: Picture) -> list[tesseract.RecognisedWord]:
        left = self._time_left()
        seconds = min(left, self.seconds * _SHARE_OF_PAGE)
        try:
            return tesseract.words(self.program, self.languages, picture.file(), DOTS_AN_INCH, seconds)
        except TimeoutError as error:
            raise (OutOfTime if seconds == left else NotRecognised) from error
        except tesseract.TesseractFailed as error:
            raise NotRecognised from error

    def _time_left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left


def configure(languages: str | None, seconds: float = 60) -> None:
    """Have pictures read in this process; called once, when it starts.

    Args:
        languages: those that Tesseract has (`tesseract.languages_of`), as "eng+deu"; None: nothing is recognised.
        seconds: what a document may take in all.
    """
    program = tesseract.program() if languages else None
    if program is None or languages is None:
        _recogniser.set(None)
        return
    _recogniser.set(Recogniser(program, languages, seconds * _SHARE_OF_DOCUMENT, deadline=0))
    begin()


def begin() -> None:
    """A document begins here: its time for recognition counts from now, with all that is attached to it."""
    recogniser = _recogniser.get()
    if recogniser is not None:
        _recogniser.set(replace(recogniser, deadline=time.monotonic() + recogniser.seconds))


def active() -> Recogniser | None:
    """What recognises text in this process; None where that is not wanted or Tesseract is not there."""
    return _recogniser.get()


def _confidence(words: list[tesseract.RecognisedWord]) -> float:
    return sum(word.confidence for word in words) / len(words)


def _text(words: list[tesseract.RecognisedWord]) -> str:
    return "\n\n".join(
        "\n".join(_line(list(line)) for _, line in groupby(paragraph, key=lambda word: word.line))
        for _, paragraph in groupby(words, key=lambda word: word.paragraph)
    )


def _line(words: list[tesseract.RecognisedWord]) -> str:
    """The words of a line, with a tab where the gap between two is as wide as between the cells of a table."""
    along, high = [word.across for word in words], [word.down for word in words]
    if _length(high) > _length(along):  # the page lies on its side
        along, high = high, along
    wide = _CELL_GAP * max(map(_length, zip(high)))
    gaps = ["\t" if max(one[0], other[0]) - min(one[1], other[1]) > wide else " " for one, other in pairwise(along)]
    texts = [word.text for word in words]
    if len(words) > _BULLET_WORDS and texts[0] in _BULLETS and gaps[0] == "\t":
        texts[0], gaps[0] = "•", " "
    return "".join(chain.from_iterable(zip_longest(texts, gaps, fillvalue="")))


def _length(spans: Sequence[tesseract.Span]) -> int:
    return max(end for _, end in spans) - min(start for start, _ in spans)


def picture_of(page: pypdfium2.PdfPage, seconds: float = _SECONDS) -> Picture | None:
    """The page as it looks, without the notes on it; None when it is too large or cannot be drawn in time. 0.03 s.

    It is drawn in a process of its own: patterns and layers can keep PDFium for hours.
    """
    scale = _scale(page)
    if scale is None:
        return None
    try:
        drawn = run_in_fork(lambda: _drawn(page, scale), seconds)
    except (TimeoutError, ChildProcessError, Unavailable):
        return None
    width, height = _SIZE.unpack_from(drawn)
    return Picture(width, height, drawn[_SIZE.size :])


def _drawn(page: pypdfium2.PdfPage, scale: float) -> bytes:
    """The width and height of the picture, and its dots."""
    bitmap = page.render(scale=scale, grayscale=True, draw_annots=False, may_draw_forms=False)
    width, height, stride = bitmap.width, bitmap.height, bitmap.stride
    dots = bytes(bitmap.buffer)
    if stride != width:
        dots = b"".join(dots[start : start + width] for start in range(0, stride * height, stride))
    return _SIZE.pack(width, height) + dots


def _scale(page: pypdfium2.PdfPage) -> float | None:
    """Dots for a point of the page's claimed size.

    The claim is often made up: a point for each dot of the scan, a page of an inch. So the long edge takes the
    middle one of three: what the claim asks for, what the scan on the page has, and what a page usually takes.
    """
    width, height = page.get_size()
    scanned_density = _scanned_density(page)
    if scanned_density is None or not (isfinite(width * height) and width * height > 0):
        return None
    edge = max(width, height)
    claimed = edge * DOTS_AN_INCH / 72
    scanned = edge * scanned_density or claimed
    chosen = sorted((claimed, scanned, _USUAL_EDGE))[1]
    return float(min(chosen / edge, sqrt(_MOST_DOTS / (width * height)), _LONGEST_EDGE / edge))


def _scanned_density(page: pypdfium2.PdfPage) -> float | None:
    """Dots that the largest picture on the page has for a point; 0 where there is none, None when it has too many."""
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
