"""Pictures: photographs of pages, screenshots and scans, page by page, their text recognised where Tesseract is there.

Pillow takes them apart, in a fork under limits: a picture of 1 KB may unpack to gigabytes, and keep its decoder busy.
"""

import struct
import warnings
from enum import Enum
from functools import partial
from io import BytesIO
from math import sqrt
from typing import Final

from PIL import Image, ImageFile, ImageOps

from tasks.errors import Damaged, TooLarge
from tasks.reading import limits
from tasks.reading.ocr import recognise
from tasks.reading.ocr.recognise import Picture
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.places import OCR, PAGE, page_numbers
from tasks.reading.text_writer import Reading, Source, Writer

_FORMATS: Final = ("PNG", "JPEG", "TIFF")
_MOST_PAGES: Final = 1_000
_MOST_DOTS: Final = 64_000_000
"""Of one page: a sheet of A2 at 300 dots an inch has 35 million. Pillow takes four bytes for each of them."""

_MOST_READ_DOTS: Final = 25_000_000
_LONGEST_EDGE: Final = 30_000
_USUAL_EDGE: Final = 3000
_DENSITIES: Final = (30.0, 2400.0)
"""Dots an inch that a picture may claim; what is beyond is made up."""

_SECONDS: Final = 10.0
_COUNT: Final = struct.Struct("II?")
_SIZE: Final = struct.Struct("II?")


class _Outcome(Enum):
    """What became of pages, in the words of the warning."""

    RECOGNISED = "The text of a picture was recognised (OCR) and may be wrong{}."
    LATE = "Not recognised (OCR), for the time was up (DILIGENCE_DOCUMENT_TIMEOUT){}."
    FAILED = "Text recognition (OCR) failed on the picture{}."
    EMPTY = "Text recognition (OCR) found no text in the picture{}."
    UNREAD = "A picture, whose text was not read{}. " + recognise.ADVICE


def read(source: Source) -> Reading:
    """The text of the picture in `source`, by page; none where recognition is not there, with a warning.

    Raises:
        Damaged, TooLarge: it cannot be read.
    """
    count = _pages(source)
    writer = Writer()
    outcomes: dict[_Outcome, list[int]] = {}
    cut = False
    for index in range(min(count, _MOST_PAGES)):
        with writer.part(PAGE, str(index + 1)):
            outcome, damaged = _write_page(source, index, writer)
            cut |= damaged
        outcomes.setdefault(outcome, []).append(index + 1)
        writer.note_picture(recognised=outcome not in {_Outcome.LATE, _Outcome.UNREAD})
    for outcome, numbers in outcomes.items():
        where = "" if count == 1 else f": {page_numbers(numbers)}"
        writer.warn(outcome.value.format(where))
    if count > _MOST_PAGES:
        writer.warn(f"The picture has very many pages: it was read up to page {_MOST_PAGES:,}.")
    if cut:
        writer.warn(CUT_OFF)
    return writer.reading()


def _write_page(source: Source, index: int, writer: Writer) -> tuple[_Outcome, bool]:
    """Write the text of a page. Returns what became of it, and whether it is cut off."""
    recogniser = recognise.active()
    if recogniser is None:
        return _Outcome.UNREAD, False
    cut: list[bool] = []

    def draw(seconds: float) -> Picture | None:
        picture, damaged = _picture(source, index, seconds)
        cut.append(damaged)
        return picture

    try:
        text = recogniser.text_of(draw)
    except recognise.OutOfTime:
        return _Outcome.LATE, any(cut)
    except recognise.NotRecognised:
        return _Outcome.FAILED, any(cut)
    writer.placed(OCR, recogniser.languages, text)
    return (_Outcome.RECOGNISED if text.strip() else _Outcome.EMPTY), any(cut)


def _pages(source: Source) -> int:
    """How many pages there are."""
    if not (source[:1] if isinstance(source, bytes) else source.stat().st_size):
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    try:
        count, edge, is_small = _COUNT.unpack(limits.run_in_fork(partial(_counted, source), _seconds()))
    except (TimeoutError, ChildProcessError, struct.error) as error:
        raise Damaged(
            "The file is cut off or damaged: it is no picture that can be opened. Ask for it again."
        ) from error
    if count == 1 and not is_small:
        raise TooLarge(f"The picture has too many dots to be read ({edge:,} on its long edge). Make it smaller.")
    return int(count)


def _counted(source: Source) -> bytes:
    with _opened(source) as image:
        width, height = image.size
        count = 1
        while count <= _MOST_PAGES and image.format == "TIFF":  # it may lead from page to page in a circle
            try:
                image.seek(count)
            except (EOFError, ValueError, SyntaxError):
                break
            count += 1
        return _COUNT.pack(count, max(width, height), 0 < width * height <= _MOST_DOTS)


def _picture(source: Source, index: int, seconds: float) -> tuple[Picture | None, bool]:
    """A page as a grey picture of a size that Tesseract reads well, upright; None when it cannot be had."""
    try:
        drawn = limits.run_in_fork(partial(_drawn, source, index), min(seconds, _SECONDS))
        width, height, damaged = _SIZE.unpack_from(drawn)
    except (TimeoutError, ChildProcessError, struct.error):
        return None, False
    return Picture(width, height, drawn[_SIZE.size :]), damaged


def _drawn(source: Source, index: int) -> bytes:
    with _opened(source) as image:
        if index:
            image.seek(index)
        width, height = image.size
        if not 0 < width * height <= _MOST_DOTS:
            raise ValueError
        scale = _scale(image)
        damaged = False
        if image.format == "JPEG":
            image.draft("L", (round(width * scale), round(height * scale)))
        try:
            image.load()
        except OSError:  # it breaks off
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            damaged = True
            image.load()
        upright = ImageOps.exif_transpose(image)
        grey = _grey(upright)
        size = tuple(max(1, round(edge * scale)) for edge in (upright.width, upright.height))
        if image.size != (width, height):  # the decoder has made it smaller
            size = tuple(max(1, round(edge * scale * width / image.width)) for edge in (upright.width, upright.height))
        if size != grey.size:
            grey = grey.resize((size[0], size[1]), Image.Resampling.BICUBIC)
        return _SIZE.pack(grey.width, grey.height, damaged) + grey.tobytes()


def _grey(image: Image.Image) -> Image.Image:
    """A picture without colours, on white where it can be seen through."""
    if image.mode.startswith("I"):  # 16 bits a dot
        return image.convert("I").point(lambda value: value / 256).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        see_through = image.convert("LA")
        white = Image.new("L", image.size, 255)
        white.paste(see_through.getchannel("L"), mask=see_through.getchannel("A"))
        return white
    return image.convert("L")


def _scale(image: Image.Image) -> float:
    """What the picture is to be enlarged by: the middle one of what it has, claims, and a page usually has."""
    width, height = image.size
    edge = max(width, height)
    density = image.info.get("dpi", (0, 0))[0]
    claimed = edge
    if isinstance(density, int | float) and _DENSITIES[0] <= density <= _DENSITIES[1]:
        claimed = round(edge * recognise.DOTS_AN_INCH / float(density))
    elif not density:
        claimed = round(edge * recognise.DOTS_AN_INCH / 96)  # a screen's
    chosen = sorted((claimed, edge, _USUAL_EDGE))[1]
    return min(chosen / edge, sqrt(_MOST_READ_DOTS / (width * height)), _LONGEST_EDGE / edge)


def _opened(source: Source) -> Image.Image:
    Image.MAX_IMAGE_PIXELS = None  # this process ends at once, and we look at the size ourselves
    warnings.simplefilter("ignore")  # of Pillow's, on broken tags
    return Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=_FORMATS)


def _seconds() -> float:
    return min(_SECONDS, limits.left())
