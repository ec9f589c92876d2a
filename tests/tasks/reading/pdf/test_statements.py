"""Tables as annual reports and invoices print them: changes in equity, labels that wrap, totals, rows far apart."""

from collections.abc import Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.tasks.reading.pdf.test_layout import page, rows_of, text_of

RIGHTS = (300, 380, 460, 540)
LABELS = ("Revenue", "Cost of sales", "Gross profit")


def draw_row(canvas: Canvas, y: float, label: str, cells: Sequence[str], rights: Sequence[float] = RIGHTS) -> None:
    """A label at the left and cells that end at the places given; none where a cell is empty."""
    canvas.drawString(72, y, label)
    for right, cell in zip(rights, cells, strict=False):
        canvas.drawRightString(right, y, cell)


def test_changes_in_equity_are_a_table_though_most_cells_hold_a_dash() -> None:
    canvas = page()
    rows = [
        ["Net income", "-", "-", "34,240", "34,240"],
        ["Shares issued", "-", "3,200", "-", "3,200"],
        ["Dividends", "-", "-", "-", "-"],
        ["Options exercised", "-", "287", "-", "287"],
        ["Other income", "-", "-", "-", "1,333"],
    ]
    for index, (label, *cells) in enumerate(rows):
        draw_row(canvas, 700 - 12 * index, label, cells)
    assert rows_of(text_of(canvas)) == rows


def test_prose_that_is_set_apart_to_fill_its_lines_is_no_table() -> None:
    canvas = page()
    line = "notice of termination may be given by either party at any time in writing"
    for index in range(6):
        words = line.split()
        left = 72.0
        for number, word in enumerate(words):
            canvas.drawString(left, 700 - 12 * index, word)
            left += canvas.stringWidth(word) + (12 if (number + index) % 4 == 3 else 4)
    assert rows_of(text_of(canvas)) == []


def test_a_total_whose_label_runs_over_columns_leaves_them_apart() -> None:
    canvas = page()
    draw_row(canvas, 700, "Service", ("Quantity", "Unit price", "Total"), (300, 370, 440))
    draw_row(canvas, 686, "Design", ("1", "197.28", "197.28"), (300, 370, 440))
    canvas.drawRightString(370, 672, "Total without tax and without fees")
    canvas.drawRightString(440, 672, "197.28")
    canvas.drawRightString(370, 658, "Value added tax of all that is listed above")
    canvas.drawRightString(440, 658, "37.48")
    rows = rows_of(text_of(canvas))
    assert rows[:2] == [["Service", "Quantity", "Unit price", "Total"], ["Design", "1", "197.28", "197.28"]]
    assert "Total without tax and without fees" in rows[2]
    assert rows[2][-1] == "197.28"


def test_figures_in_the_middle_of_a_label_of_two_lines_are_of_its_row() -> None:
    canvas = page()
    for index, label in enumerate(LABELS):
        draw_row(canvas, 700 - 12 * index, label, ("31,995", "92,302"))
    canvas.drawString(72, 664, "Share of the profit of joint ventures and of")
    draw_row(canvas, 658, "", ("(99)", "(113)"))
    canvas.drawString(72, 652, "associated companies")
    draw_row(canvas, 640, "Income taxes", ("13,937", "4,859"))
    label = "Share of the profit of joint ventures and of associated companies"
    assert rows_of(text_of(canvas))[-2:] == [[label, "(99)", "(113)"], ["Income taxes", "13,937", "4,859"]]


def test_figures_a_little_below_the_last_line_of_a_label_are_of_its_row() -> None:
    canvas = page()
    for index, label in enumerate(LABELS):
        draw_row(canvas, 700 - 12 * index, label, ("31,995", "92,302"))
    canvas.drawString(72, 660, "Cash dividends")
    draw_row(canvas, 654, "", ("(99)", "(113)"))
    draw_row(canvas, 640, "Income taxes", ("13,937", "4,859"))
    assert rows_of(text_of(canvas))[-2] == ["Cash dividends", "(99)", "(113)"]


def test_headers_that_end_at_one_level_are_one_row() -> None:
    canvas = page()
    draw_row(canvas, 722, "", ("", "Available"))
    draw_row(canvas, 712, "", ("Credit", "credit", "Date of"))
    draw_row(canvas, 702, "In millions", ("facility", "facility", "expiry"))
    for index, label in enumerate(LABELS):
        draw_row(canvas, 688 - 12 * index, label, ("31,995", "92,302", "15"))
    header = ["In millions", "Credit facility", "Available credit facility", "Date of expiry"]
    assert rows_of(text_of(canvas))[0] == header


def test_headers_with_a_rule_between_them_are_two_rows() -> None:
    canvas = page()
    draw_row(canvas, 712, "", ("Parent", "Group"))
    canvas.line(250, 710, 380, 710)
    draw_row(canvas, 700, "In thousands", ("2022", "2022"))
    for index, label in enumerate(LABELS):
        draw_row(canvas, 686 - 12 * index, label, ("31,995", "92,302"))
    assert rows_of(text_of(canvas))[:2] == [["", "Parent", "Group"], ["In thousands", "2022", "2022"]]


def test_a_date_in_two_lines_above_a_column_is_one_header() -> None:
    canvas = page()
    draw_row(canvas, 712, "", ("October 29,", "October 30,"))
    draw_row(canvas, 702, "In millions", ("2022", "2021"))
    for index, label in enumerate(LABELS):
        draw_row(canvas, 688 - 12 * index, label, ("31,995", "92,302"))
    assert rows_of(text_of(canvas))[0] == ["In millions", "October 29, 2022", "October 30, 2021"]


def draw_payments(canvas: Canvas) -> None:
    for top in (700, 600):
        for y, cells in ((top, ("Method", "Date", "Total")), (top - 20, ("Paid with card", "4 March 2023", "208.13"))):
            for left, cell in zip((72, 250, 450), cells, strict=True):
                canvas.drawString(left, y, cell)


def test_a_row_below_a_rule_and_its_headers_are_a_table() -> None:
    canvas = page()
    draw_payments(canvas)
    assert rows_of(text_of(canvas)) == []
    canvas = page()
    draw_payments(canvas)
    canvas.line(72, 694, 480, 694)
    table = [["Method", "Date", "Total"], ["Paid with card", "4 March 2023", "208.13"]]
    assert rows_of(text_of(canvas)) == table


def test_rows_far_apart_are_a_table_where_rules_run_between_them() -> None:
    canvas = page()
    rows = [["Item", "Rate", "Amount"], ["Room charges", "1 night", "1,939"], ["Breakfast", "1 day", "120"]]
    for index, (label, *cells) in enumerate(rows):
        draw_row(canvas, 700 - 40 * index, label, cells)
        canvas.line(72, 680 - 40 * index, 380, 680 - 40 * index)
    assert rows_of(text_of(canvas)) == rows


def test_what_an_invoice_says_of_an_item_is_in_its_cell() -> None:
    canvas = page()
    items = [("1", "Business plan", "3,89"), ("2", "Enterprise plan", "5,39"), ("3", "Support", "7,00")]
    for index, (number, name, price) in enumerate(items):
        y = 700 - 60 * index
        canvas.drawString(72, y, number)
        canvas.drawString(100, y, name)
        canvas.drawRightString(400, y, price)
        for line, text in enumerate(
            ("basic fee for each unit", "service of the first of May", "contract 28", "monthly")
        ):
            canvas.drawString(100, y - 11 * (line + 1), text)
    said = "basic fee for each unit service of the first of May contract 28 monthly"
    assert rows_of(text_of(canvas)) == [[number, f"{name} {said}", price] for number, name, price in items]


def test_a_heading_with_its_number_above_a_table_is_no_row_of_it() -> None:
    canvas = page()
    canvas.drawString(50, 736, "3.")
    canvas.drawString(72, 736, "INVENTORY")
    canvas.drawString(72, 716, "Inventories of the company consisted of the following:")
    for index, label in enumerate(LABELS):
        draw_row(canvas, 696 - 12 * index, label, ("31,995", "92,302"))
    assert rows_of(text_of(canvas)) == [[label, "31,995", "92,302"] for label in LABELS]


def test_units_in_the_middle_below_headers_end_no_table() -> None:
    canvas = page()
    draw_row(canvas, 712, "", ("Preferred", "Common", "Retained", "Total"))
    canvas.drawCentredString(380, 700, "(in thousands, except for figures of a single share)")
    rows = [[label, "1,995", "9,302", "4,120", "15,417"] for label in LABELS]
    for index, (label, *cells) in enumerate(rows):
        draw_row(canvas, 688 - 12 * index, label, cells)
    found = rows_of(text_of(canvas))
    assert (found[0], found[-3:]) == (["", "Preferred", "Common", "Retained", "Total"], rows)


def test_columns_without_rules_beside_one_that_has_them_are_columns() -> None:
    canvas = page()
    canvas.setFont("Helvetica", 9)
    rows = [[label, "26,390", "19,943", "32.3", "100,999"] for label in (*LABELS, "Net income")]
    for index, (label, *cells) in enumerate(rows):
        draw_row(canvas, 700 - 14 * index, label, cells)
        canvas.line(72, 696 - 14 * index, 545, 696 - 14 * index)
    canvas.line(72, 710, 545, 710)
    canvas.line(255, 654, 255, 710)
    canvas.line(320, 654, 320, 710)
    assert rows_of(text_of(canvas)) == rows


def test_a_heading_in_the_ruled_cell_of_the_label_below_it_is_a_row() -> None:
    canvas = page()
    canvas.drawString(72, 714, "Revenue and earnings")
    rows = [[label, "26,390", "19,943"] for label in LABELS]
    for index, (label, *cells) in enumerate(rows):
        draw_row(canvas, 700 - 14 * index, label, cells)
    for y in (726, 696, 682, 668):
        canvas.line(70, y, 385, y)
    for x in (70, 240, 310, 385):
        canvas.line(x, 668, x, 726)
    assert rows_of(text_of(canvas)) == [["Revenue and earnings", "", ""], *rows]


def test_two_pages_on_one_sheet_have_tables_of_their_own() -> None:
    canvas = Canvas("a.pdf", (1200, 800), invariant=1)
    canvas.setFont("Helvetica", 9)
    for index in range(16):
        for left, count in ((0, 12), (600, 16)):
            y = 700 - 12 * index - (left / 100)
            if index < count:
                figures = [str(100 * number + index) for number in (1, 2, 3)]
                canvas.drawString(left + 72, y, f"Line {index} of the costs")
                for right, figure in zip((300, 380, 520), figures, strict=True):
                    canvas.drawRightString(left + right, y, figure)
    for left, number in ((50, "55"), (1140, "56")):
        canvas.drawString(left, 60, number)
    rows = rows_of(text_of(canvas))
    assert ["Line 11 of the costs", "111", "211", "311"] in rows
    assert {len(row) for row in rows} == {4}


def test_headers_a_space_apart_stand_over_their_figures() -> None:
    canvas = page()
    canvas.drawString(72, 700, "Article")
    canvas.drawString(300, 700, "Price")
    canvas.drawString(360, 700, "Tax Price with tax")
    for index, name in enumerate(("Tablet", "Cover", "Game", "Adapter")):
        y = 686 - 12 * index
        canvas.drawString(72, y, name)
        canvas.drawString(300, y, "399,00")
        canvas.drawString(360, y, "9%")
        canvas.drawRightString(360 + canvas.stringWidth("Tax Price with tax") + 3, y, "399,00")
    assert rows_of(text_of(canvas))[0] == ["Article", "Price", "Tax", "Price with tax"]


@pytest.mark.parametrize(
    ("first", "second", "indent"),
    [
        ("Reserve of the pension plan,", "Net of deferred tax", 12),
        ("Change in stocks of raw", "materials and goods", 0),
    ],
)
def test_a_label_that_its_comma_or_small_letter_carries_on_is_one(first: str, second: str, indent: float) -> None:
    canvas = page()
    draw_row(canvas, 700, "Receivables", ("31,995", "92,302"))
    canvas.drawString(72, 688, first)
    draw_row(canvas, 676, "", ("(99)", "(113)"))
    canvas.drawString(72 + indent, 676, second)
    draw_row(canvas, 664, "Income taxes and other taxes of all years", ("13,937", "4,859"))
    assert rows_of(text_of(canvas))[1] == [f"{first} {second}", "(99)", "(113)"]


def test_totals_in_a_box_below_a_table_are_a_row_of_it() -> None:
    canvas = page()
    rows = [
        ["Account", "Name", "Debit", "Credit"],
        ["101", "Capital", "37.00", "0.00"],
        ["512", "Bank", "8.20", "1.40"],
    ]
    lefts = (72, 132, 300, 400)
    canvas.grid([68, 128, 296, 396, 496], [700, 680, 660, 640])
    canvas.rect(68, 606, 428, 20)
    for index, row in enumerate([*rows, ["Totals", "", "45.20", "1.40"]]):
        for left, cell in zip(lefts, row, strict=True):
            canvas.drawString(left, 687 - 20 * index - 14 * (index > 2), cell)
    assert rows_of(text_of(canvas)) == [*rows, ["Totals", "", "45.20", "1.40"]]


def test_a_page_of_headings_above_figures_that_share_cells_is_read() -> None:
    canvas = page()
    for index in range(24):
        draw_row(canvas, 760 - 28 * index, f"Area {index}", ("1,893 27", "54,263", "22.00"))
        canvas.drawString(72, 748 - 28 * index, "Part")
    assert rows_of(text_of(canvas))


def test_signs_in_cells_of_their_own_are_those_of_their_figures() -> None:
    canvas = page()
    canvas.grid([68, 200, 220, 300, 320, 400], [700, 684, 668, 652])
    rows = [["", "", "2024", "", "2023"], ["Revenue", "$", "910", "€", "840"], ["Net income", "(", "50)", "(", "40)"]]
    for index, row in enumerate(rows):
        for left, cell in zip((71, 203, 223, 303, 323), row, strict=True):
            canvas.drawString(left, 688 - 16 * index, cell)
    assert rows_of(text_of(canvas)) == [
        ["", "2024", "2023"],
        ["Revenue", "$910", "€840"],
        ["Net income", "(50)", "(40)"],
    ]


def test_a_rule_between_figures_that_nearly_touch_parts_them() -> None:
    canvas = page()
    rows = [
        ["", "2024", "2023"],
        ["Revenue", "1,250", "1,180"],
        ["Costs", "1,200", "1,140"],
        ["Net income", "50", "40"],
    ]
    for index, (label, left, right) in enumerate(rows):
        draw_row(canvas, 690 - 14 * index, label, [left])
        canvas.drawString(RIGHTS[0] + 4, 690 - 14 * index, right)
    canvas.line(RIGHTS[0] + 2, 640, RIGHTS[0] + 2, 705)
    assert rows_of(text_of(canvas)) == rows
