"""Pictures: photographs of pages, screenshots and scans, page by page. `reading.ocr` recognises their text.

Pillow decodes them in a fork under limits: a picture of 1 KB may unpack to gigabytes and keep its decoder busy. A page
of any document is a grey `Picture` for text recognition.
"""

import struct
import warnings
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from math import sqrt
from typing import Final

from PIL import Image, ImageFile, ImageOps

from tasks.errors import Damaged, TooLarge
from tasks.reading import limits
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.text_writer import PAGE, Reading, Source, Writer

DOTS_AN_INCH: Final = 250
"""At which pages are drawn. Measured with Tesseract 5.3 on pages of sixteen public documents made into scans, the share
of the pages' own words that was recognised: at 150 dots an inch .88, 200 .92, 250 .93, 300 .93."""


@dataclass(frozen=True)
class Picture:
    """A grey picture: one byte per pixel, row by row from the top."""

    width: int
    height: int
    dots: bytes

    def file(self) -> bytes:
        """The picture as a file: a portable grey map (PGM)."""
        return b"P5 %d %d 255\n%s" % (self.width, self.height, self.dots)

    def image(self) -> Image.Image:
        """The picture as Pillow has it."""
        return Image.frombytes("L", (self.width, self.height), self.dots)

    def turned(self, quarters: int) -> "Picture":
        """The picture turned left by that many quarters of a circle."""
        if not quarters:
            return self
        image = self.image().transpose(_TURNS[quarters])
        return Picture(image.width, image.height, image.tobytes())


_TURNS: Final = {1: Image.Transpose.ROTATE_90, 2: Image.Transpose.ROTATE_180, 3: Image.Transpose.ROTATE_270}


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
_COUNT: Final = struct.Struct("II??")


def read(source: Source) -> Reading:
    """The pages of the picture in `source`, to be recognised.

    Raises:
        Damaged, TooLarge: it cannot be read.
    """
    count, is_cut_off = _pages(source)
    writer = Writer()
    if is_cut_off:
        writer.warn(CUT_OFF)
    for number in range(1, min(count, _MOST_PAGES) + 1):
        with writer.part(PAGE, str(number)):
            writer.picture(number)
    if count > _MOST_PAGES:
        writer.warn(f"The picture has very many pages: it was read up to page {_MOST_PAGES:,}.")
    return writer.reading()


def _pages(source: Source) -> tuple[int, bool]:
    """The number of pages, and whether the last one is cut off."""
    if not (source[:1] if isinstance(source, bytes) else source.stat().st_size):
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    try:
        seconds = min(_SECONDS, limits.seconds_left())
        count, edge, is_small, is_cut_off = _COUNT.unpack(limits.run_in_fork(partial(_count, source), seconds))
    except (TimeoutError, ChildProcessError, struct.error) as error:
        raise Damaged("The file is cut off or damaged: it cannot be opened as a picture. Ask for it again.") from error
    if count == 1 and not is_small:
        raise TooLarge(f"The picture has too many dots to be read ({edge:,} on its long edge). Make it smaller.")
    return int(count), bool(is_cut_off)


def _count(source: Source) -> bytes:
    with _open(source) as image:
        width, height = image.size
        count = 1
        while count <= _MOST_PAGES and image.format == "TIFF":  # it may lead from page to page in a circle
            try:
                image.seek(count)
            except (EOFError, ValueError, SyntaxError):
                break
            count += 1
        is_small = 0 < width * height <= _MOST_DOTS
        return _COUNT.pack(count, max(width, height), is_small, is_small and _breaks_off(image, count - 1))


def _breaks_off(image: Image.Image, last: int) -> bool:
    try:
        if last:
            image.seek(last)
        image.load()
    except (OSError, ValueError, SyntaxError):
        return True
    return False


def draw_page(source: Source, index: int) -> Picture | None:
    """A page as a grey, upright picture of a size that engines read well; None if it cannot be decoded.

    It runs in a process with limits: a picture of 1 KB may unpack to gigabytes and keep its decoder busy.
    """
    with _open(source) as image:
        if index:
            image.seek(index)
        width, height = image.size
        if not 0 < width * height <= _MOST_DOTS:
            return None
        scale = _scale(image)
        if image.format == "JPEG":
            image.draft("L", (round(width * scale), round(height * scale)))
        ImageFile.LOAD_TRUNCATED_IMAGES = True  # what is left of one that breaks off
        image.load()
        upright = ImageOps.exif_transpose(image)
        grey = _grey(upright)
        size = tuple(max(1, round(edge * scale)) for edge in (upright.width, upright.height))
        if image.size != (width, height):  # the decoder has made it smaller
            size = tuple(max(1, round(edge * scale * width / image.width)) for edge in (upright.width, upright.height))
        if size != grey.size:
            grey = grey.resize((size[0], size[1]), Image.Resampling.BICUBIC)
        return Picture(grey.width, grey.height, grey.tobytes())


def _grey(image: Image.Image) -> Image.Image:
    """A picture in shades of grey, on white where it is transparent."""
    if image.mode.startswith("I"):  # 16 bits a dot
        return image.convert("I").point(lambda value: value / 256).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        see_through = image.convert("LA")
        white = Image.new("L", image.size, 255)
        white.paste(see_through.getchannel("L"), mask=see_through.getchannel("A"))
        return white
    return image.convert("L")


def _scale(image: Image.Image) -> float:
    """The factor to enlarge the picture by: for the median of its actual, its claimed and a page's usual size."""
    width, height = image.size
    edge = max(width, height)
    density = image.info.get("dpi", (0, 0))[0]
    claimed = edge
    if isinstance(density, int | float) and _DENSITIES[0] <= density <= _DENSITIES[1]:
        claimed = round(edge * DOTS_AN_INCH / float(density))
    elif not density:
        claimed = round(edge * DOTS_AN_INCH / 96)  # a screen's
    chosen = sorted((claimed, edge, _USUAL_EDGE))[1]
    return min(chosen / edge, sqrt(_MOST_READ_DOTS / (width * height)), _LONGEST_EDGE / edge)


def _open(source: Source) -> Image.Image:
    Image.MAX_IMAGE_PIXELS = None  # this process ends at once, and we look at the size ourselves
    warnings.simplefilter("ignore")  # of Pillow's, on broken tags
    return Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=_FORMATS)
