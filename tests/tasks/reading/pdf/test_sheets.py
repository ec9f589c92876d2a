"""Sheets that Excel or LibreOffice Calc printed: each cell is drawn by itself."""

from collections.abc import Sequence
from io import BytesIO

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.pdf import reader
from tests.cases import cases

ROWS = (
    ("Management accounts of the northern branch", "", "", ""),
    ("", "2024", "2025", "Note"),
    ("Net sales", "1,204", "1,310", "as audited"),
    ("Cost", "", "(922)", "of sales"),
    ("Margin", "298", "388", ""),
)


Row = tuple[str, ...]


def printed(creator: str, rows: Sequence[Row] = ROWS, *, by_words: bool = False) -> str:
    """The text of a sheet whose figures end right before the notes; `by_words` draws each word by itself."""
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.setCreator(creator)
    canvas.setFont("Helvetica", 10)
    for number, row in enumerate(rows):
        for x, words in zip((72, 170, 210, 212), row, strict=True):
            begin = x - canvas.stringWidth(words) if x in {170, 210} else x
            for word in words.split() if by_words else [words]:
                canvas.drawString(begin, 700 - 12 * number, word)
                begin += canvas.stringWidth(f"{word} ")
    canvas.save()
    return reader.read(file.getvalue()).text


@cases("creator", ["Calc", "Microsoft® Excel® for Microsoft 365", "Acrobat PDFMaker 11 for Excel"])
def test_cells_of_a_sheet_that_touch_are_parted(creator: str) -> None:
    assert printed(creator).split("\n")[:-1] == [ROWS[0][0], *map("\t".join, ROWS[1:])]


def test_debit_and_credit_that_no_row_has_both_of_are_two_columns() -> None:
    rows = [("Rent of May", "1,200", "", "paid"), ("Sale of a van", "", "8,400", "open"), ("Fees", "310", "", "paid")]
    assert printed("Calc", rows).split("\n")[:-1] == ["\t".join(row) for row in rows]


def test_a_cell_that_is_cut_off_where_the_next_one_begins_is_parted_from_it() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.setCreator("Calc")
    for number, name in enumerate(("Rent of May", "Sale of a van", "Fees", "Administratio", "Post")):
        if name == "Administratio":
            canvas.drawRightString(200, 700 - 14 * number, name)
        else:
            canvas.drawString(118, 700 - 14 * number, name)
        canvas.drawString(200, 700 - 14 * number, f"Code{number}")
    canvas.save()
    assert "Administratio\tCode3\nPost\tCode4\n" in reader.read(file.getvalue()).text


def test_raised_marks_and_bold_parts_of_words_belong_to_their_cells() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.setCreator("Calc")
    for number in range(1, 6):
        y = 700 - 14 * number
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(72, y, "Rev")
        begin = 72 + canvas.stringWidth("Rev")
        canvas.setFont("Helvetica", 10)
        canvas.drawString(begin, y, f"enue {number}")
        canvas.drawRightString(200, y, f"1,{number}80")
        canvas.setFont("Helvetica", 6)
        canvas.drawString(200, y + 4, "2")
        canvas.setFont("Helvetica", 10)
        canvas.drawRightString(280, y, f"{number}00")
    canvas.save()
    assert reader.read(file.getvalue()).text.split("\n")[1] == "Revenue 2\t1,280²\t200"


@cases("header", ["FY2024", "2024", "31.12.2024"])
def test_a_header_at_the_left_of_its_cell_is_that_of_the_figures_behind_it(header: str) -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.setCreator("Calc")
    for x, words in (72, "EUR thousand"), (204, header), (304, header):
        canvas.drawString(x, 700, words)
    for number in range(1, 6):
        canvas.drawString(72, 700 - 14 * number, f"Line {number}")
        for x, figure in (200, f"{number + 3}"), (300, f"{1500 - 200 * number:,}"), (400, f"{number}10"):
            canvas.drawRightString(x, 700 - 14 * number, figure)
    canvas.save()
    rows = reader.read(file.getvalue()).text.split("\n")
    assert rows[:2] == [f"EUR thousand\t\t{header}\t{header}", "Line 1\t4\t1,300\t110"]


def test_a_sheet_with_a_column_for_each_row_is_not_written_out_with_its_empty_cells() -> None:
    file = BytesIO()
    canvas = Canvas(file, (14_000, 14_000))
    canvas.setCreator("Calc")
    for rows in (500, 800):
        canvas.setFont("Helvetica", 1.5)
        for number in range(rows):
            canvas.drawString(10, 13_990 - 4 * number, "Row")
            canvas.drawString(40 + 4 * number, 13_990 - 4 * number, f"{number % 90 + 10}")
        canvas.showPage()
    canvas.save()
    assert len(reader.read(file.getvalue()).text) < 12_000


@pytest.mark.parametrize(("creator", "by_words"), [("Writer", False), ("Microsoft Excel", True)])
def test_words_that_nothing_says_to_be_cells_stay_together(creator: str, by_words: bool) -> None:
    text = printed(creator, by_words=by_words)
    assert "Net sales" in text
    assert "as audited" in text
