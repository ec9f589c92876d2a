"""Writes a source as a scan: each page of the PDF is a grey picture of the typed page and holds no text."""

import io
import random
from pathlib import Path

import reportlab
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.sample_rooms.markup import Kind, Source

_DPI = 110
_SIZE = (round(A4[0] / 72 * _DPI), round(A4[1] / 72 * _DPI))
_FONT = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"  # comes with reportlab, so every machine has it
_PAPER, _INK = 244, 40


def write(source: Source) -> bytes:
    """The source as the bytes of a PDF of pictures. The noise is the same every time."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1, pageCompression=0)
    canvas.setTitle(source.title)
    canvas.setCreator("Scan to PDF")
    noise = random.Random(source.title)
    for lines in _pages(source):
        picture = io.BytesIO()
        _picture(lines, noise).save(picture, "JPEG", quality=38, optimize=True)
        canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _pages(source: Source) -> list[list[str]]:
    """The typed lines of each page, an empty one between blocks."""
    font = ImageFont.truetype(str(_FONT), 17)
    pages: list[list[str]] = [[]]
    for block in source.blocks:
        if block.kind is Kind.BREAK:
            pages.append([])
            continue
        line = ""
        for word in block.text.split():
            longer = f"{line} {word}".strip()
            if font.getlength(longer) > _SIZE[0] * 0.78:
                pages[-1].append(line)
                line = word
            else:
                line = longer
        pages[-1] += [line, ""]
    return pages


def _picture(lines: list[str], noise: random.Random) -> Image.Image:
    page = Image.new("L", _SIZE, _PAPER)
    pen = ImageDraw.Draw(page)
    font = ImageFont.truetype(str(_FONT), 17)
    for number, line in enumerate(lines):
        pen.text((_SIZE[0] * 0.11, 110 + number * 25), line, font=font, fill=_INK)
    page = page.rotate(noise.uniform(-0.7, 0.7), Image.Resampling.BICUBIC, fillcolor=_PAPER)
    page = page.filter(ImageFilter.GaussianBlur(0.6))
    specks = Image.frombytes("L", (_SIZE[0] // 2, _SIZE[1] // 2), noise.randbytes(_SIZE[0] // 2 * (_SIZE[1] // 2)))
    specks = specks.resize(_SIZE).point([value // 12 for value in range(256)])
    return ImageChops.subtract(page, specks)
