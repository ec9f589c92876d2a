"""Scans to read: text set on pages, drawn as pictures, and these put into a PDF; and a Tesseract that misbehaves."""

import io
from collections.abc import Iterable
from pathlib import Path
from shutil import which
from typing import Final

import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

needs_tesseract: Final = pytest.mark.skipif(
    which("tesseract") is None, reason="Tesseract is not installed (apt install tesseract-ocr)"
)

CLAUSE: Final = (
    "The lender may call the whole of the loan when control of the\n"
    "borrower changes, with a notice of thirty days in writing.\n"
    "Until then interest of 4.75 per cent is due each quarter.\n"
)


def picture(text: str, dots_an_inch: int = 200, turned: int = 0) -> Image.Image:
    """A page with this text as a grey picture, turned so many degrees to the left; `|` parts cells."""
    page = io.BytesIO()
    canvas = Canvas(page, A4)
    canvas.setFont("Times-Roman", 12)
    for number, line in enumerate(text.split("\n")):
        for column, cell in enumerate(line.split("|")):
            canvas.drawString(72 + 120 * column, 740 - 18 * number, cell)
    canvas.showPage()
    canvas.save()
    with pypdfium2.PdfDocument(page.getvalue()) as document:
        image: Image.Image = document[0].render(scale=dots_an_inch / 72, grayscale=True).to_pil().convert("L")
    return image.rotate(turned, expand=True, fillcolor=255)


def scan(path: Path, pictures: Iterable[Image.Image], size: tuple[float, float] | None = A4) -> Path:
    """A PDF of pages of that size, in points, each with a picture all over it; None: a point a dot of the picture."""
    canvas = Canvas(str(path))
    for each in pictures:
        drawn = io.BytesIO()
        each.save(drawn, "JPEG", quality=60)
        page = size or each.size
        canvas.setPageSize(page)
        canvas.drawImage(ImageReader(drawn), 0, 0, *page)
        canvas.showPage()
    canvas.save()
    return path


def page(path: Path) -> pypdfium2.PdfPage:
    """The first page of a PDF."""
    return pypdfium2.PdfDocument(path)[0]


def program(folder: Path, *commands: str) -> Path:
    """A program `tesseract` in that folder, which says that it reads English and else runs these commands."""
    folder.mkdir(exist_ok=True)
    path = folder / "tesseract"
    answers = 'case "$1" in --version) echo tesseract 9.9; exit;; --list-langs) printf "L:\\neng\\n"; exit;; esac'
    path.write_text("\n".join(("#!/bin/sh", answers, *commands, "")))
    path.chmod(0o755)
    return folder
