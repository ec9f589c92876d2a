"""Forms: rules round several rows, codes beside labels, columns that are drawn one after the other."""

import itertools
from collections.abc import Callable, Sequence

from reportlab.pdfgen.canvas import Canvas

from tests.cases import cases
from tests.tasks.reading.pdf.test_layout import draw_rows, page, rows_of, text_of

ASSETS = (
    ("FIXED ASSETS", "", ""),
    ("Development costs", "3 217", "3 217"),
    ("Goodwill", "", ""),
    ("Land", "1 000", "1 000"),
    ("Buildings", "", ""),
    ("TOTAL FIXED ASSETS", "4 217", "4 217"),
)
LINES = (
    ("Issued capital", "DA", "100 000", "100 000"),
    ("Share premium", "DB", "", ""),
    ("Legal reserve", "DD", "", ""),
    ("Other reserves", "DG", "", ""),
    ("Retained earnings", "DH", "-64 377", ""),
    ("Profit or loss", "DI", "-96 675", "-64 377"),
    ("Grants", "DJ", "", ""),
    ("TOTAL (I)", "DL", "-61 052", "35 623"),
)
NUMBERED = (
    ("1 Enter what you earned abroad and paid . . . .", "1", "98", "", ""),
    ("2 Carryover . . . . . . . . . . . . . . . .", "2", "99", "", ""),
    ("3 Add what lines 1 and 2 say to the total of . .", "3", "197", "", ""),
    ("4 Take line 3 from what you owe at home . . . .", "", "", "4", "803"),
)
CODED = (
    ("Fixed assets", "21/28", "7.252.006", "4.952.175"),
    ("Current assets", "29/58", "2.021.674", "3.978.991"),
    ("Cash", "54/58", "267.793", "242.699"),
    ("Total of the assets", "20/58", "9.273.680", "8.931.167"),
)
RIGHT = (300, 400, 500)


def _cells(canvas: Canvas, row: Sequence[str], y: float, lower: float = 0.0) -> None:
    canvas.drawString(72, y, row[0])
    for right, cell in zip(RIGHT, row[1:], strict=False):
        canvas.drawRightString(right, y - lower, cell)


def _box(canvas: Canvas, *, grounds: bool) -> None:
    """One box of rules round all rows; with `grounds` each cell has a white rectangle under it."""
    canvas.setFillColorRGB(1, 1, 1)
    for index in range(len(ASSETS) if grounds else 0):
        for left, right in ((70, 250), (250, 310), (310, 410)):
            canvas.rect(left, 696 - 14 * index, right - left, 14, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.grid([70, 250, 310, 410], [710, 710 - 14 * len(ASSETS)])
    for index, row in enumerate(ASSETS):
        _cells(canvas, row, 700 - 14 * index)


def _form(canvas: Canvas) -> None:
    """A field for each cell, most of them empty, and one heading over the codes and figures of a year."""
    ys = [710 - 16 * index for index in range(len(LINES) + 2)]
    canvas.grid([70, 280, 310, 410, 510], ys[1:])
    canvas.grid([70, 280, 410, 510], ys[:2])
    canvas.drawCentredString(360, ys[0] - 11, "Year N")
    canvas.drawCentredString(460, ys[0] - 11, "Year N-1")
    for index, row in enumerate(LINES):
        _cells(canvas, row, ys[index + 1] - 11)


def _at_the_side(canvas: Canvas) -> None:
    """Rules round the numbers and figures alone; labels of two lines, and figures of a total behind the others."""
    ys = [710 - 24 * index for index in range(len(NUMBERED) + 1)]
    for y in (ys[0], ys[-1]):
        canvas.line(70, y, 510, y)
    canvas.grid([350, 370, 420], ys[:-1])
    canvas.grid([420, 440, 510], [ys[0], ys[-1]])
    for y, (label, *cells) in zip(ys, NUMBERED, strict=False):
        words, half = label.split(" "), label.find(" . ") > 24
        lines = [" ".join(words[:5]), " ".join(words[5:])] if half else [label]
        for line, below in zip(lines[::-1], (20, 10), strict=False):
            canvas.drawString(72, y - below, line)
        for right, cell in zip((366, 416, 436, 506), cells, strict=True):
            canvas.drawRightString(right, y - 20, cell)


def _lowered(canvas: Canvas) -> None:
    for index, row in enumerate(CODED):
        canvas.drawString(72, 700 - 16 * index, row[0])
        canvas.setFont("Helvetica", 6)
        canvas.drawString(280, 697 - 16 * index, row[1])
        canvas.setFont("Helvetica", 9)
        for right, cell in zip(RIGHT[1:], row[2:], strict=True):
            canvas.drawRightString(right, 699 - 16 * index, cell)


def _by_columns(canvas: Canvas) -> None:
    for column in range(4):
        for index, row in enumerate(CODED):
            y = 700 - 16 * index
            canvas.drawString(72, y, row[0]) if not column else canvas.drawRightString(
                RIGHT[column - 1], y - 1.2, row[column]
            )


@cases(
    ("draw", "rows"),
    [
        (lambda canvas: _box(canvas, grounds=True), ASSETS),
        (lambda canvas: _box(canvas, grounds=False), ASSETS),
        (_form, (("", "", "Year N", "Year N-1"), *LINES)),
        (_at_the_side, NUMBERED),
        (_lowered, CODED),
        (_by_columns, CODED),
    ],
)
def test_each_line_of_a_form_is_a_row(draw: Callable[[Canvas], None], rows: Sequence[Sequence[str]]) -> None:
    canvas = page()
    draw(canvas)
    assert rows_of(text_of(canvas)) == list(map(list, rows))


def test_a_form_keeps_its_rows_where_few_fields_are_filled_in() -> None:
    canvas = page()
    rows = [[f"Account {number}", "", ""] for number in range(20)]
    rows += [["Cash", "3 217", "3 217"], ["TOTAL", "3 217", "3 217"]]
    xs, ys = (70, 250, 310, 360, 410, 460), [710 - 14 * index for index in range(len(rows) + 1)]
    canvas.setFillColorRGB(1, 1, 1)
    for y in ys[1:]:
        for left, right in itertools.pairwise(xs):
            canvas.rect(left, y, right - left, 14, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.grid(list(xs), [ys[0], ys[-1]])
    for y, row in zip(ys, rows, strict=False):
        canvas.drawString(72, y - 10, row[0])
        canvas.drawRightString(306, y - 10, row[1])
        canvas.drawRightString(406, y - 10, row[2])
    assert rows_of(text_of(canvas)) == rows


def test_what_a_cell_says_in_several_lines_stays_one_cell() -> None:
    canvas = page()
    canvas.grid([72, 272, 372, 472], [500, 440, 420])
    for y, words in ((489, "Server rent, Berlin"), (478, "Contract of 1 May"), (467, "Paid in advance")):
        canvas.drawString(76, y, words)
    canvas.drawString(276, 489, "12")
    canvas.drawString(376, 489, "1,204.00")
    for x, words in ((76, "Audit"), (276, "1"), (376, "640.00")):
        canvas.drawString(x, 427, words)
    assert rows_of(text_of(canvas)) == [
        ["Server rent, Berlin Contract of 1 May Paid in advance", "12", "1,204.00"],
        ["Audit", "1", "640.00"],
    ]


def _labels_below_header(*labels: str) -> list[list[str]]:
    """The rows of a table whose cell of labels reaches into its header, without a rule between them."""
    canvas = page()
    canvas.grid([250, 350, 450], [700, 680, 580])
    canvas.line(72, 700, 250, 700)
    canvas.line(72, 580, 250, 580)
    canvas.line(72, 580, 72, 700)
    canvas.drawString(76, 686, "Particulars")
    for x, year in ((280, "2024"), (380, "2023")):
        canvas.drawString(x, 686, year)
    for number, label in enumerate(labels):
        y = 666 - 24 * number
        canvas.drawString(76, y, label)
        canvas.drawRightString(345, y, f"{number + 1},200")
        canvas.drawRightString(445, y, f"{number + 1},100")
    return rows_of(text_of(canvas))


def test_labels_in_a_cell_that_reaches_into_the_header_stand_beside_their_figures() -> None:
    rows = _labels_below_header("Public shareholding", "Promoters and their group", "Pledged", "Encumbered")
    assert rows[0] == ["Particulars", "2024", "2023"]
    assert rows[2] == ["Promoters and their group", "2,200", "2,100"]


def test_lines_of_a_label_that_wraps_beside_figures_are_no_labels_of_theirs() -> None:
    rows = _labels_below_header(
        "Shares of the public that", "are neither pledged nor", "encumbered in favour of", "a bank"
    )
    assert not any(row[0] and any(row[1:]) for row in rows[1:])


def test_a_heading_in_larger_letters_is_no_part_of_the_header_below_it() -> None:
    canvas = page()
    draw_rows(canvas, [("Memo", "", "8 March")], top=740)
    canvas.setFontSize(13)
    canvas.drawString(72, 713, "8. Scorecard")
    canvas.setFontSize(10)
    draw_rows(canvas, [("Component", "Weight", "Score"), ("Strength", "30%", "75.0"), ("Market", "20%", "55.0")])
    assert ["Component", "Weight", "Score"] in rows_of(text_of(canvas))


def test_statements_with_columns_of_their_own_below_a_heading_are_two_tables() -> None:
    canvas = page()
    profit = [["", "2025", "2024"], ["Revenue", "2 812 300", "2 105 700"], ["Net profit", "148 900", "109 400"]]
    assets = [["", "2025", "2024"], ["Total assets", "2 310 400", "2 204 900"], ["Equity", "1 020 300", "871 400"]]
    for left, top, rows in ((240, 700, profit), (278, 640, assets)):
        for index, (label, *cells) in enumerate(rows):
            canvas.drawString(72, top - 16 * index, label)
            for column, cell in enumerate(cells):
                canvas.drawString(left + 62 * column, top - 16 * index, cell)
    canvas.drawString(72, 656, "Balance sheet")
    assert rows_of(text_of(canvas)) == [*profit, *assets]


def test_columns_of_prose_below_a_title_across_are_read_one_after_the_other() -> None:
    canvas = page()
    canvas.drawString(72, 720, "A title that runs over both of the columns of this page from the left to the right")
    left, right = "The tenant shall pay the rent each month.", "The owner shall keep the roof in good order."
    for index in range(10):
        canvas.drawString(72, 700 - 12 * index, left)
        canvas.drawString(320, 700 - 12 * index, right)
    assert text_of(canvas).splitlines()[1:] == [left] * 10 + [right] * 10


def test_a_statement_keeps_its_columns_beside_short_labels() -> None:
    canvas = page()
    rows = [["", "2024", "2023"], ["Sales", "4", "5"], ["Costs", "3", "3"], ["Profit", "1", "2"]]
    draw_rows(canvas, rows)
    assert rows_of(text_of(canvas)) == rows


def test_thousands_with_a_blank_as_wide_as_a_digit_stay_one_figure_beside_a_rule() -> None:
    canvas = page()
    rows = [["Goods", "1 399", "030", "652"], ["Shares", "8 485", "042", "12 300"], ["Total", "9 884", "048", "12 952"]]
    for index, (label, *figures) in enumerate(rows):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, 700 - 14 * index, label)
        canvas.drawString(304.4, 700 - 14 * index, figures[1])
        canvas.setFont("Courier", 10)
        for right, figure in zip((298, 400), figures[::2], strict=True):
            canvas.drawRightString(right, 700 - 14 * index, figure)
    canvas.line(301, 660, 301, 712)
    assert rows_of(text_of(canvas)) == rows
