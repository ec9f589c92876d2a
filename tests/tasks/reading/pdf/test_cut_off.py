"""Text that the frame of a drawing cuts off."""

from collections.abc import Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf import pdfs


def placed(frame: tuple[float, float, float, float] | None, *lines: str, page: Sequence[str] = ()) -> bytes:
    """A page of some lines, and below them a drawing of others, seen through a frame: left, bottom, width, height."""
    canvas = Canvas("a.pdf", (600, 800))
    for number, line in enumerate(page):
        canvas.drawString(72, 740 - 14 * number, line)
    if frame:
        path = canvas.beginPath()
        path.rect(*frame)
        canvas.clipPath(path, stroke=0, fill=0)
    for number, line in enumerate(lines):
        canvas.drawString(72, 600 - 30 * number, line)
    return bytes(canvas.getpdfdata())


CHARTS = ("Assets of 2024: 229", "Assets of 2023: 186", "Assets of 2022: 156", "Not for print")


def test_what_the_frame_of_a_drawing_cuts_off_is_marked_and_said() -> None:
    reading = reader.read(placed((60, 590, 200, 30), *CHARTS, page=["The portfolio grew."]))
    hidden = f"[hidden: {' '.join(CHARTS[1:])}]"
    assert reading.text == f"The portfolio grew.\nAssets of 2024: 229\n{hidden}\n"
    (warning,) = reading.warnings
    assert warning == (
        "Words that a reader cannot see are listed separately, marked as hidden, and are not evidence (they are "
        "white, transparent, too small, "
        "cut off, beyond the page's edge or on a layer that is off): page 1."
    )


def test_what_stands_partly_within_its_frame_is_read() -> None:
    reading = reader.read(placed((60, 500, 60, 120), *CHARTS, page=["The portfolio grew."]))
    assert reading.text == "The portfolio grew.\n" + "\n".join(CHARTS) + "\n"
    assert reading.warnings == []


def test_a_page_whose_text_is_all_cut_off_keeps_it_as_the_layer_of_a_scan() -> None:
    assert reader.read(placed((10, 10, 5, 5), *CHARTS)).text == "\n".join(CHARTS) + "\n"


def test_an_icon_beyond_16_bits_does_not_shift_what_is_cut_off() -> None:
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <56> <D83DDCDE> endbfchar"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(cmap), font=font)
    objects[3] = pdfs.stream(
        b"BT /F1 12 Tf 72 700 Td (VV call us) Tj ET 60 590 200 30 re W n "
        b"BT /F1 12 Tf 72 600 Td (shown) Tj 0 -60 Td (cut off by far) Tj ET"
    )
    assert reader.read(pdfs.pdf(objects)).text.splitlines()[1:] == ["shown", "[hidden: cut off by far]"]


def layered(layers: bytes, drawn: bytes = b"", *, form: bytes = b"", page: bytes = b"") -> bytes:
    """A page of three lines, the second on layer 6 of 6 and 7, or by what 8 says of layers."""
    objects = pdfs.one_page(b"", b"<< /Type /OCG /Name (Draft) >>", b"<< /Type /OCG /Name (Final) >>")
    objects[0] = objects[0].rstrip(b" >") + b" /OCProperties << /OCGs [6 0 R 7 0 R] /D <<" + layers + b">> >> >>"
    objects[2] = (
        objects[2]
        .replace(b"/Font", b"/Properties << /P 6 0 R /Q 8 0 R >> /XObject << /X 9 0 R >> /Font", 1)
        .replace(b"/Contents", page + b" /Contents", 1)
    )
    text = b"BT /F1 12 Tf 72 700 Td (Sales were 111, and costs less.) Tj ET " + drawn
    objects[3] = pdfs.stream(text + b" BT /F1 12 Tf 72 640 Td (-) Tj 9 0 Td (All is told.) Tj ET")
    objects.append(b"<< /Type /OCMD /OCGs [6 0 R 7 0 R] /P /AllOn >>")
    objects.append(pdfs.stream(form, b" /Type /XObject /Subtype /Form /BBox [0 0 600 800] /OC 6 0 R"))
    return pdfs.pdf(objects)


HIDDEN = b"BT /F1 12 Tf 72 670 Td (Sales were 999.) Tj ET"


@pytest.mark.parametrize("page", [b"", b"/Rotate 180", b"/CropBox [50 300 595 800]", b"/UserUnit 5"])
@pytest.mark.parametrize(
    ("layers", "drawn"),
    [
        (b"/OFF [6 0 R]", b"/OC /P BDC " + HIDDEN + b" EMC"),
        (b"/BaseState /OFF /ON [7 0 R]", b"/OC /P BDC " + HIDDEN + b" EMC"),
        (b"/OFF [6 0 R]", b"/OC /Q BDC " + HIDDEN + b" EMC"),
        (b"/OFF [6 0 R]", b"/X Do"),
    ],
)
def test_what_stands_on_a_layer_that_is_off_is_marked_however_the_file_says_so(
    layers: bytes, drawn: bytes, page: bytes
) -> None:
    reading = reader.read(layered(layers, drawn, form=HIDDEN, page=page))
    assert "[hidden: Sales were 999.]" in reading.text
    assert "Sales were 111, and costs less." in reading.text
    assert "All is told." in reading.text.replace("[hidden", "")
    assert reading.text.count("[hidden") == 1


def test_what_stands_on_a_layer_that_is_on_is_read() -> None:
    reading = reader.read(layered(b"/OFF [7 0 R]", b"/OC /P BDC " + HIDDEN + b" EMC"))
    assert "Sales were 999." in reading.text
    assert reading.warnings == []
