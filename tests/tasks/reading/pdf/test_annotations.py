"""Notes and form values: each on its page, once, at its place where it is drawn."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Highlight, Text
from pypdf.generic import ArrayObject, FloatObject, NameObject
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tasks.reading import limits
from tasks.reading.ocr.page import scanned_pages
from tasks.reading.pdf import annotations, reader
from tests.cases import cases
from tests.tasks.reading.pdf import pdfs


def form(fill: dict[str, str] | None = None) -> bytes:
    """A form: labels, a field after the first, a choice, a list, two boxes to check, a second page."""
    out = BytesIO()
    canvas = Canvas(out, A4)
    canvas.drawString(72, 700, "Signed by")
    canvas.acroForm.textfield(name="signatory", value="Ada Alpha", x=140, y=690, width=100, height=20)
    canvas.drawString(72, 660, "on behalf of the lessor")
    canvas.acroForm.choice(name="country", value="Norway", options=["Norway", "Sweden"], x=72, y=600, width=90)
    canvas.acroForm.listbox(name="cities", value="Oslo", options=["Oslo", "Bergen"], x=72, y=500, width=90, height=60)
    canvas.acroForm.checkbox(name="married", checked=True, x=72, y=450)
    canvas.acroForm.checkbox(name="single", checked=False, x=72, y=420)
    canvas.showPage()
    canvas.drawString(72, 700, "Next")
    canvas.showPage()
    canvas.save()
    if fill is None:
        return out.getvalue()
    writer = PdfWriter(clone_from=PdfReader(out))
    writer.update_page_form_field_values(writer.pages[0], fill, auto_regenerate=False)
    filled = BytesIO()
    writer.write(filled)
    return filled.getvalue()


def first_page(data: bytes) -> str:
    return reader.read(data).text.partition("\f")[0]


def test_a_value_stands_where_its_field_is_drawn() -> None:
    text = first_page(form())
    assert text.index("Signed by") < text.index("Ada Alpha") < text.index("on behalf of the lessor")
    assert text.count("Ada Alpha") == 1


def test_every_value_is_read_and_what_is_not_checked_is_not() -> None:
    text = first_page(form({"signatory": "Bea Beta"}))
    for words in ("Signed by Bea Beta", "Norway", "Oslo Bergen (Oslo)", "☒ Yes"):
        assert text.count(words) == 1
    assert "Off" not in text


def field(entries: bytes, *others: bytes) -> str:
    """The text of a PDF with this field on its only page; `others` are the objects from 7 on."""
    widget = b"<< /Type /Annot /Subtype /Widget /Rect [10 10 90 30] %s >>" % entries
    catalog = b"/AcroForm << /Fields [6 0 R] >>"
    return reader.read(
        pdfs.pdf(pdfs.one_page(b"Page", widget, *others, catalog=catalog, entries=b"/Annots [6 0 R]"))
    ).text


@cases(
    ("entries", "others", "expected"),
    [
        (b"/FT /Tx /T (a) /V (not drawn)", (), "Page\nnot drawn\n"),
        (b"/FT /Tx /T (a) /V (Page)", (), "Page\nPage\n"),
        (b"/FT /Tx /T (a)", (), "Page\n"),
        (b"/Parent 7 0 R", (b"<< /FT /Tx /T (a) /V (inherited) /Kids [6 0 R] >>",), "Page\ninherited\n"),
        (b"/FT /Ch /T (a) /Opt [(one) (two) (six)] /V [(one) (six)]", (), "Page\none\nsix\n"),
        (b"/FT /Ch /T (a) /Opt [(one) (two)]", (), "Page\none\ntwo\n"),
        (b"/FT /Btn /T (a) /V /Yes /AS /Yes", (), "Page\n☒ Yes\n"),
        (b"/FT /Btn /T (a) /V /Off /AS /Off", (), "Page\n"),
        (b"/FT /Tx /T (a) /V (Drawn) /AP << /N 7 0 R >>", (b"draw",), "Page\nDrawn\n"),
        (b"/FT /Btn /T (a) /Ff 65536 /AP << /N 7 0 R >>", (b"draw",), "Page\nDrawn\n"),
        (b"/FT /Ch /T (a) /V (D) /AP << /N 7 0 R >>", (b"draw",), "Page\nDrawn (D)\n"),
        (b"/FT /Tx /T (a) /V (Dra w n) /AP << /N 7 0 R >>", (b"draw",), "Page\nDra w n\n"),
    ],
)
def test_a_value_is_found_wherever_it_stands(entries: bytes, others: tuple[bytes, ...], expected: str) -> None:
    looks = pdfs.stream(
        b"BT /F1 9 Tf 2 5 Td (Drawn) Tj ET",
        b"/Type /XObject /Subtype /Form /BBox [0 0 80 20] /Resources << /Font << /F1 5 0 R >> >>",
    )
    assert field(entries, *(looks if other == b"draw" else other for other in others)) == expected


def test_notes_are_read_once_and_those_that_copy_the_page_not_again(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), A4)
    canvas.drawString(72, 700, "The rent is due on the first of each month.")
    canvas.save()
    corners = ArrayObject(FloatObject(number) for number in (72, 710, 200, 710, 72, 690, 200, 690))
    writer = PdfWriter(clone_from=tmp_path / "a.pdf")
    writer.add_annotation(0, Text(rect=(50, 550, 200, 650), text="The rent", open=True))
    writer.add_annotation(0, FreeText(text="Stamped 2024", rect=(50, 350, 200, 450)))
    copied = Highlight(rect=(72, 690, 200, 710), quad_points=corners)
    copied[NameObject("/Contents")] = writer.add_annotation(0, Text(rect=(0, 0, 1, 1), text="x"))["/Contents"]
    writer.add_annotation(0, copied)
    writer.write(tmp_path / "b.pdf")
    lines = reader.read(tmp_path / "b.pdf").text.split("\n")
    assert lines.count("The rent is due on the first of each month.") == 1
    assert lines.count("The rent") == 1
    assert lines.count("Stamped 2024") == 1


def test_a_note_that_repeats_what_it_marks_is_left_out() -> None:
    objects = pdfs.one_page(
        b"The rent is due on the first of each month.",
        b"<< /Type /Annot /Subtype /Highlight /Rect [72 690 200 710] /Contents (is due on the first of each month) >>",
        b"<< /Type /Annot /Subtype /Highlight /Rect [72 690 200 710] /Contents (due) >>",
        b"<< /Type /Annot /Subtype /Popup /Rect [72 690 200 710] /Contents (popup) >>",
        entries=b"/Annots [6 0 R 7 0 R 8 0 R]",
    )
    assert reader.read(pdfs.pdf(objects)).text == "The rent is due on the first of each month.\ndue\n"


def test_a_page_with_a_million_notes_ends() -> None:
    note = b"<< /Type /Annot /Subtype /Text /Rect [0 0 1 1] /Contents (Note) >>"
    objects = pdfs.one_page(b"Page", note, entries=b"/Annots [%s]" % (b"6 0 R " * 1_000_000))
    assert reader.read(pdfs.pdf(objects)).text.count("Note") == 20_000


ROWS = (("Turnover", "131,785", "118,402"), ("Cost of sales", "88,310", "79,544"), ("Profit", "43,475", "38,858"))


def table_of_fields(*labels: str) -> bytes:
    """A table with a field for each figure, and a grid below it with two fields behind each of these labels."""
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number, (label, *values) in enumerate((("", "2025", "2024"), *ROWS)):
        y = 700 - 24 * number
        canvas.drawString(76, y + 7, label)
        for column, value in enumerate(values):
            if number:
                place = {"x": 252 + 90 * column, "y": y + 2, "width": 86, "height": 18, "borderWidth": 0}
                canvas.acroForm.textfield(name=f"{label} {column}", value=value, **place)
            else:
                canvas.drawString(256 + 90 * column, y + 7, value)
        canvas.grid([72, 250, 340, 430], [y, y + 24])
    for number, label in enumerate(labels):
        y = 500 - 24 * number
        canvas.drawString(76, y + 7, label)
        for x, figure in ((112, "400"), (402, "750")):
            place = {"x": x, "y": y + 2, "width": 40, "height": 18, "borderWidth": 0}
            canvas.acroForm.textfield(name=f"{label} {x}", value=f"{number + 1},{figure}", **place)
        canvas.grid([72, 110, 400, 490], [y, y + 24])
    canvas.save()
    return file.getvalue()


def test_values_in_a_table_of_fields_stand_in_the_rows_of_their_labels() -> None:
    lines = first_page(table_of_fields()).split("\n")
    assert ["\t".join(row) for row in ROWS] == [line for line in lines if "," in line]


def test_values_near_labels_stand_in_their_rows_like_those_far_from_them() -> None:
    lines = first_page(table_of_fields("Staff", "Rent", "Debt")).split("\n")
    assert lines[-4:-1] == ["Staff\t1,400\t1,750", "Rent\t2,400\t2,750", "Debt\t3,400\t3,750"]


def filled_line(*parts: tuple[float, str, float], below: str = "") -> bytes:
    """A page with labels and behind them fields, each given by where the label begins, its words, and the value's x."""
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number, (x, label, at) in enumerate(parts, 1):
        canvas.drawString(x, 700, label)
        place = {"x": at, "y": 699, "width": 80, "height": 18, "borderWidth": 0}
        canvas.acroForm.textfield(name=label, value=f"Value {number}", **place)
    canvas.drawString(72, 680, below)
    canvas.save()
    return file.getvalue()


@cases(
    ("parts", "line"),
    [
        (((72, "Name:", 110), (220, "Post code", 290)), "Name:\tValue 1\tPost code\tValue 2"),
        (((72, "Street ..............................", 112),), "Street\tValue 1"),
        (((72, "Made on", 117), (200, "in London.", 300)), "Made on Value 1 in London.\tValue 2"),
    ],
)
def test_a_value_outside_tables_is_parted_from_its_label_and_not_from_a_sentence(
    parts: tuple[tuple[float, str, float], ...], line: str
) -> None:
    assert first_page(filled_line(*parts)) == f"{line}\n"


@cases(("label", "text"), [("nom:", "nom:\tValue 1\nadresse:\n"), ("nom", "nom Value 1\nadresse:\n")])
def test_a_line_below_in_small_letters_goes_on_with_a_sentence_unless_a_colon_parts_the_value(
    label: str, text: str
) -> None:
    assert first_page(filled_line((72, label, 130), below="adresse:")) == text


def test_a_value_with_two_blanks_keeps_the_others_in_their_rows() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    for y, label, value in ((700, "Terms:", "Net  30"), (640, "Buyer:", "Alpha")):
        canvas.drawString(72, y, label)
        canvas.acroForm.textfield(name=label, value=value, x=140, y=y - 1, width=120, height=18, borderWidth=0)
    canvas.save()
    assert first_page(file.getvalue()) == "Terms:\tNet 30\nBuyer:\tAlpha\n"


def test_lines_of_a_cell_with_values_are_rows_and_a_row_s_other_cells_stay_where_they_are() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number, label in enumerate(("Members", "Employees", "Visitors")):
        y = 700 - 50 * number
        canvas.drawString(76, y + 20, label)
        canvas.drawString(402, y + 20, "persons")
        for part, low in (("Men:", 28), ("Women:", 8)):
            canvas.drawString(180, y + low, part)
            place = {"x": 240, "y": y + low - 3, "width": 60, "height": 16, "borderWidth": 0}
            canvas.acroForm.textfield(name=f"{label} {part}", value=f"No {number}{low}", **place)
        canvas.grid([72, 176, 398, 490], [y, y + 50])
    canvas.save()
    lines = first_page(file.getvalue()).split("\n")
    assert lines[:2] == ["\tMen:\tNo 028", "Members\tWomen: No 08\tpersons"]


def test_a_field_over_a_row_is_no_cell_that_holds_the_row_s_words() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number, row in enumerate(ROWS):
        for x, words in zip((72, 250, 340), row, strict=True):
            canvas.drawString(x, 700 - 20 * number, words)
    for name in ("mark", "mark on screen"):
        place = {"x": 60, "y": 640, "width": 400, "height": 90, "borderWidth": 0}
        canvas.acroForm.textfield(name=name, value="Draft", **place)
    canvas.save()
    text = first_page(file.getvalue())
    assert "Cost of sales\t88,310\t79,544" in text
    assert text.count("Draft") == 1


def test_values_are_read_once_where_the_layout_takes_too_much() -> None:
    limits.begin(second_try=True)
    text = first_page(table_of_fields())
    limits.begin()
    assert "\t" not in text
    assert all(text.count(value) == 1 for _, *values in ROWS for value in values)


def test_values_are_kept_where_there_is_no_memory_to_read_them_in_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(annotations, "set_values", fail)
    text = first_page(table_of_fields())
    assert all(text.count(value) == 1 for _, *values in ROWS for value in values)


@pytest.mark.parametrize("words", ["", "Words of an earlier recognition"])
def test_a_filled_form_that_was_scanned_is_still_a_scan(words: str) -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.drawImage(ImageReader(Image.new("L", (300, 400), 255)), 0, 0, *A4)
    without_ink = canvas.beginText(72, 20)
    without_ink.setTextRenderMode(3)
    without_ink.textOut(words)
    canvas.drawText(without_ink)
    for number in range(20):
        value = f"Answer {number} of the company to the question"
        canvas.acroForm.textfield(name=f"field {number}", value=value, x=72, y=700 - 24 * number, width=300, height=18)
    canvas.save()
    reading = reader.read(file.getvalue())
    (scan,) = scanned_pages(reading)
    assert scan.label == "1"
    assert (reading.text[: scan.start] + reading.text[scan.end :]).count("Answer") == 20
