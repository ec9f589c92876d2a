"""A page is drawn as large as it reads well, whatever it claims to be."""

from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from tasks.reading.ocr.recognise import draw_page
from tests.cases import cases
from tests.tasks.reading.ocr.scans import page, scan


@pytest.mark.parametrize(
    ("dots", "size", "drawn"),
    [
        ((1654, 2339), (595, 842), 2923),  # 200 dots an inch: drawn with 250
        ((4960, 7016), (595, 842), 3000),  # 600 dots an inch: as much as paper needs
        ((2480, 3508), (2480, 3508), 3508),  # a point a dot: as it is
        ((827, 1170), (827, 1170), 3000),  # the same, but coarse
        ((2480, 3508), (59, 84), 3000),  # made up: an inch of paper
    ],
)
def test_a_page_is_drawn_as_large_as_it_reads_well(
    tmp_path: Path, dots: tuple[int, int], size: tuple[int, int], drawn: int
) -> None:
    found = draw_page(page(scan(tmp_path / "a.pdf", [Image.new("L", dots, 200)], size)))
    assert found is not None
    assert found.height == pytest.approx(drawn, abs=3)
    assert len(found.dots) == found.width * found.height
    assert found.file().startswith(b"P5 %d %d 255\n" % (found.width, found.height))


def hand_written(page_entries: str, image_entries: str = "/Width 8 /Height 8 /BitsPerComponent 8") -> bytes:
    """A PDF of one page with one picture on it."""
    image = f"/Type /XObject /Subtype /Image /ColorSpace /DeviceGray {image_entries} /Length 9"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> {page_entries} >>",
        "<< /Length 28 >>\nstream\nq 500 0 0 700 0 0 cm /I Do Q\nendstream",
        f"<< {image} >>\nstream\n012345678\nendstream",
    )
    body = "".join(f"{number} 0 obj\n{each}\nendobj\n" for number, each in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF".encode()


@cases(
    "box", ["[0 0 14400 14400]", "[0 0 1 14400]", "[0 0 900000000 900000000]", "[0 0 0 0]", "[0 0 -5 -5]", "[5 5 5 9]"]
)
def test_no_claim_of_a_page_swells_its_picture(box: str) -> None:
    found = draw_page(pypdfium2.PdfDocument(hand_written(f"/MediaBox {box}"))[0])
    assert found is None or (len(found.dots) < 26_000_000 and max(found.width, found.height) <= 30_001)


def test_a_picture_with_too_many_dots_is_not_drawn() -> None:
    huge = hand_written("/MediaBox [0 0 500 700]", "/Width 20000 /Height 20000 /BitsPerComponent 8")
    assert draw_page(pypdfium2.PdfDocument(huge)[0]) is None
