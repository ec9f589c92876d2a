"""Rows and headers of tables as quarterly reports, invoices and data sheets print them."""

import itertools

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reading.pdf.test_layout import page, rows_of, text_of

RIGHTS = (300, 380, 460, 540)
FIGURES = ("7,313", "11,404", "24,241", "17,579")


def draw_figures(canvas: Canvas, y: float, figures: tuple[str, ...] = FIGURES) -> None:
    for right, figure in zip(RIGHTS, figures, strict=False):
        canvas.drawRightString(right, y, figure)


def draw_years(canvas: Canvas, y: float) -> None:
    draw_figures(canvas, y, ("2021", "2022", "2021", "2022"))


def test_headings_over_two_columns_part_the_columns_of_a_table_of_two_rows() -> None:
    canvas = page()
    for middle in (330, 490):
        canvas.drawCentredString(middle, 712, "As of the end of the year, reported")
    draw_years(canvas, 700)
    canvas.drawString(72, 688, "Interest rate risk")
    draw_figures(canvas, 688)
    assert rows_of(text_of(canvas))[-2:] == [["", "2021", "2022", "2021", "2022"], ["Interest rate risk", *FIGURES]]


def test_a_heading_in_the_middle_above_several_columns_is_a_row_of_their_table() -> None:
    canvas = page()
    canvas.drawCentredString(412, 712, "Year ended 31 December")
    draw_years(canvas, 700)
    for index, label in enumerate(("Revenue", "Cost of sales", "Gross profit")):
        canvas.drawString(72, 688 - 12 * index, label)
        draw_figures(canvas, 688 - 12 * index)
    assert "Year ended 31 December" in rows_of(text_of(canvas))[0]


def test_headings_of_which_one_is_set_a_little_higher_stand_side_by_side() -> None:
    canvas = page()
    canvas.setFont("Helvetica", 7)
    for middle, heading, raised in ((330, "Three Months Ended", 0), (490, "Nine Months Ended", 3)):
        canvas.drawCentredString(middle, 712 + raised, heading)
        canvas.drawCentredString(middle, 702, "September 30,")
    draw_years(canvas, 690)
    for index, label in enumerate(("Revenue", "Cost of sales", "Gross profit")):
        canvas.drawString(72, 678 - 12 * index, label)
        draw_figures(canvas, 678 - 12 * index)
    header = ["", "Three Months Ended September 30,", "", "Nine Months Ended September 30,", ""]
    assert rows_of(text_of(canvas))[0] == header


def test_a_label_whose_figures_stand_beside_its_last_line_is_one_cell_where_headers_wrap() -> None:
    canvas = page()
    for right, heading in zip(RIGHTS, ("Gross", "Offset", "Net", "Pledged"), strict=True):
        canvas.drawRightString(right, 712, heading)
        canvas.drawRightString(right, 702, "amounts")
    canvas.drawString(72, 680, "Assets:")
    for index, (first, last) in enumerate(
        (("Derivatives subject to", "arrangements"), ("Bonds that are subject to", "netting"))
    ):
        canvas.drawString(72, 664 - 28 * index, first)
        canvas.drawString(72, 654 - 28 * index, last)
        draw_figures(canvas, 654 - 28 * index)
    rows = rows_of(text_of(canvas))
    assert ["Derivatives subject to arrangements", *FIGURES] in rows
    assert ["Bonds that are subject to netting", *FIGURES] in rows


def test_a_label_that_ends_in_a_colon_heads_the_rows_below_it() -> None:
    canvas = page()
    draw_years(canvas, 700)
    canvas.drawString(72, 688, "Shares that were used in computing the earnings:")
    for index, label in enumerate(("Basic", "Diluted")):
        canvas.drawString(72, 676 - 12 * index, label)
        draw_figures(canvas, 676 - 12 * index)
    assert ["Basic", *FIGURES] in rows_of(text_of(canvas))


def test_labels_with_colons_below_each_other_are_rows_where_columns_are_drawn_by_turns() -> None:
    canvas = page()
    for top in (700, 660, 620):
        for x, cell in ((72, "Taylor's Store"), (220, "Number:"), (320, "po_number")):
            canvas.drawString(x, top, cell)
            canvas.drawString(x, top - 12, cell)
    assert rows_of(text_of(canvas)) == 6 * [["Taylor's Store", "Number:", "po_number"]]


def draw_box(canvas: Canvas, xs: tuple[float, ...], top: float, bottom: float) -> None:
    for x in xs:
        canvas.line(x, top, x, bottom)
    for y in (top, bottom):
        canvas.line(xs[0], y, xs[-1], y)


def test_rows_below_the_rules_of_a_header_stand_in_its_columns() -> None:
    canvas = page()
    xs = (60, 260, 340, 420, 500)
    draw_box(canvas, xs, 720, 700)
    draw_box(canvas, (xs[0], xs[-1]), 700, 600)
    for x, name in zip(xs, ("Item", "Number", "Price", "Amount"), strict=False):
        canvas.drawString(x + 4, 706, name)
    rows = [
        ("Notice", "", "", "45.93"),
        ("Copy", "1", "0.75", "0.75"),
        ("Paper", "0", "3.50", "0.00"),
        ("", "", "Total:", "46.68"),
    ]
    for index, row in enumerate(rows):
        for x, cell in zip(xs, row, strict=False):
            canvas.drawString(x + 4, 680 - 20 * index, cell)
    assert rows_of(text_of(canvas)) == [["Item", "Number", "Price", "Amount"], *map(list, rows)]


def test_figures_beside_cells_that_wrap_are_rows_where_no_rules_part_them() -> None:
    canvas = page()
    xs = (60, 120, 300, 380)
    draw_box(canvas, xs, 720, 700)
    draw_box(canvas, xs, 700, 600)
    for x, name in zip(xs, ("Position", "Description", "Net"), strict=False):
        canvas.drawString(x + 4, 706, name)
    for index in range(3):
        canvas.drawString(64, 686 - 24 * index, str(index + 1))
        canvas.drawString(124, 686 - 24 * index, f"Server {index}, which is rented")
        canvas.drawString(124, 676 - 24 * index, "from May to June")
        canvas.drawString(304, 686 - 24 * index, "0.84")
    assert rows_of(text_of(canvas))[1:] == [
        [str(index + 1), f"Server {index}, which is rented from May to June", "0.84"] for index in range(3)
    ]


def test_names_that_a_cell_breaks_at_an_underscore_are_whole() -> None:
    canvas = page()
    xs = (60, 120, 180, 240)
    for top, bottom in ((720, 690), (690, 660)):
        draw_box(canvas, xs, top, bottom)
        for x, (first, last) in zip(xs, (("BUS_SLV", "_NACK"), ("PASS_", "THROUGH"), ("LOST", "ARB")), strict=False):
            canvas.drawString(x + 4, top - 12, first)
            canvas.drawString(x + 4, top - 23, last)
    assert rows_of(text_of(canvas)) == 2 * [["BUS_SLV_NACK", "PASS_THROUGH", "LOST ARB"]]


def test_a_day_does_not_go_on_in_the_day_below_it() -> None:
    for first, last, whole in (
        ("2013-01-01", "2013-12-31", "2013-01-01 2013-12-31"),
        ("31/12/2012", "30/06/2013", "31/12/2012 30/06/2013"),
    ):
        canvas = page()
        xs = (60, 120, 120 + stringWidth(first, "Helvetica", 9) + 5, 240)
        for top, bottom in ((720, 690), (690, 660)):
            draw_box(canvas, xs, top, bottom)
            for x, (upper, lower) in zip(xs, (("Net", "turnover"), (first, last), ("LOST", "ARB")), strict=False):
                canvas.drawString(x + 3, top - 12, upper)
                canvas.drawString(x + 3, top - 23, lower)
        assert rows_of(text_of(canvas)) == 2 * [["Net turnover", whole, "LOST ARB"]]


def test_borders_that_are_drawn_in_short_pieces_make_cells() -> None:
    canvas = page()
    xs = (60, 160, 260, 360)
    for x, right in itertools.pairwise(xs):
        canvas.rect(x + 0.5, 717.5, right - x - 0.5, 1.5, stroke=0, fill=1)
        canvas.rect(x + 0.5, 700, right - x - 0.5, 0.5, stroke=0, fill=1)
        canvas.rect(x + 0.5, 680, right - x - 0.5, 0.5, stroke=0, fill=1)
    for x in xs:
        for top, height in ((717.5, 2.2), (715.3, 15.3), (700, 2.6), (697.4, 17.4)):
            canvas.rect(x, top - height, 0.5, height, stroke=0, fill=1)
    for x, name in zip(xs, ("SALESPERSON", "NUMBER", "TERMS"), strict=False):
        canvas.drawString(x + 4, 705, name)
    canvas.drawString(164, 686, "PO-3333")
    for y in (620, 608, 596):
        draw_figures(canvas, y)
    assert rows_of(text_of(canvas))[:2] == [["SALESPERSON", "NUMBER", "TERMS"], ["", "PO-3333", ""]]


def test_underlines_of_links_do_not_put_a_line_beside_the_next_number() -> None:
    canvas = page()
    y = 700.0
    for index in range(6):
        canvas.drawString(72, y, f"Ex-{31 + index}.1")
        words = f"Restated certificate number {index} of the company (incorporated by reference to its last report"
        for line in (words, "of May)."):
            canvas.drawString(130, y, line)
            canvas.line(130, y - 1.2, 130 + stringWidth(line, "Helvetica", 9), y - 1.2)
            y -= 11
        y -= 6
    rows = rows_of(text_of(canvas))
    assert [row[1].split(" of ")[0] for row in rows if row[0]] == [f"Restated certificate number {n}" for n in range(6)]


def test_a_page_with_an_icon_of_which_half_a_character_comes_has_its_table() -> None:
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <56> <D83DDCDE> endbfchar"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(cmap), font=font)
    cells = [b"BT /F1 10 Tf 72 720 Td (V 555) Tj ET\n"]
    for row in range(4):
        for x, cell in ((72, b"Row %d" % row), (250, b"1%d00" % row), (350, b"2%d00" % row)):
            cells.append(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, 700 - 14 * row, cell))
    objects[3] = pdfs.stream(b"".join(cells))
    rows = rows_of(reader.read(pdfs.pdf(objects)).text)
    assert rows[-4:] == [[f"Row {row}", f"1{row}00", f"2{row}00"] for row in range(4)]


def test_a_header_over_a_column_of_currency_signs_is_the_figures() -> None:
    canvas = page()
    canvas.drawString(300, 700, "2021")
    canvas.drawString(400, 700, "2022")
    for index, (label, first, second) in enumerate((
        ("Revenue", "990", "459"), ("Gross profit", "994", "206"), ("Net loss", "305", "287"),
    )):  # fmt: skip
        canvas.drawString(72, 688 - 12 * index, label)
        for x, figure in ((300, first), (400, second)):
            if not index:
                canvas.drawString(x, 688, "$")
            canvas.drawRightString(x + 50, 688 - 12 * index, figure)
    rows = rows_of(text_of(canvas))
    assert [row for row in rows if row[0] != "Revenue"] == [
        ["", "2021", "2022"], ["Gross profit", "994", "206"], ["Net loss", "305", "287"]
    ]  # fmt: skip


def test_a_header_beside_its_figure_stands_in_its_column_not_in_the_label() -> None:
    canvas = page()
    for y, label, figure, right in (
        (712, "", "", 0),
        (700, "Scheduled vesting of stock", "44.0", 24),
        (688, "Other vesting", "45.0", 24),
    ):
        canvas.drawString(72, y, label)
        for x in (250, 330, 410):
            canvas.drawString(x + right, y, figure or str(2000 + x))
    rows = rows_of(text_of(canvas))
    assert rows == [
        ["", "2250", "2330", "2410"],
        ["Scheduled vesting of stock", *3 * ["44.0"]],
        ["Other vesting", *3 * ["45.0"]],
    ]


def test_a_sentence_that_leads_in_to_the_next_table_ends_the_one_above() -> None:
    canvas = page()
    for index in range(4):
        canvas.drawString(72, 700 - 12 * index, f"Units {index}")
        for right in (420, 540):
            canvas.drawRightString(right, 700 - 12 * index, f"2{index}9.9")
    canvas.drawString(
        72, 646, "The vesting of the stock units that are outstanding at the year's end is as follows (in millions):"
    )
    for index in range(4):
        canvas.drawString(72, 630 - 12 * index, f"Stock {index}")
        for right in (200, 300, 380, 460, 540):
            canvas.drawRightString(right, 630 - 12 * index, f"1{index}.5")
    rows = rows_of(text_of(canvas))
    assert [len(row) for row in rows] == [*4 * [3], *4 * [6]]


def test_figures_far_behind_the_labels_whose_cells_they_share_are_cells_of_their_own() -> None:
    canvas = page()
    rows = {"Net cash used for investing": ("(1,161)", "(2,010)"), "Net change in cash": ("444", "1,646")}
    for index, (label, figures) in enumerate(rows.items()):
        draw_box(canvas, (72, 310, 390), 712 - 12 * index, 700 - 12 * index)
        canvas.drawString(75, 703 - 12 * index, label)
        draw_figures(canvas, 703 - 12 * index, figures)
    assert rows_of(text_of(canvas)) == [[label, *figures] for label, figures in rows.items()]


def test_a_label_that_wraps_behind_its_number_is_one_cell() -> None:
    canvas = page()
    lines = [("10)", "Depreciation", "11,204", "9,870"), ("11)", "Changes in stocks of raw", "", ""),
             ("", "materials and of goods", "5,085", "20,861"), ("12)", "Provisions", "1,300", "1,150"),
             ("13)", "Other costs", "2,411", "2,090")]  # fmt: skip
    for index, (number, label, *figures) in enumerate(lines):
        y = 700 - 12 * index - (4 if index > 2 else 0)
        canvas.drawString(72, y, number)
        canvas.drawString(100, y, label)
        for right, figure in zip(RIGHTS, figures, strict=False):
            canvas.drawRightString(right, y, figure)
    assert ["11)", "Changes in stocks of raw materials and of goods", "5,085", "20,861"] in rows_of(text_of(canvas))


def test_account_numbers_stand_apart_from_names_that_are_drawn_after_them() -> None:
    canvas = page()
    names = ["Share capital", "Retained profit", "Trade debtors", "Cash at bank"]
    rows = [[f"{1100 + 7 * index}", name, f"{index + 4},250"] for index, name in enumerate(names)]
    for y, (number, name, figure) in zip(range(700, 0, -14), rows, strict=False):
        canvas.drawRightString(100, y, number)
        canvas.drawString(102.2, y, name)
        canvas.drawRightString(300, y, figure)
    assert rows_of(text_of(canvas)) == rows


def test_a_number_that_is_typed_before_a_name_stays_beside_it() -> None:
    canvas = page()
    rows = [[f"Level {index} of trade", f"{index + 4},250"] for index in range(1, 5)]
    for y, (name, figure) in zip(range(700, 0, -14), rows, strict=False):
        canvas.drawString(72, y, name)
        canvas.drawRightString(300, y, figure)
    assert rows_of(text_of(canvas)) == rows


def test_lines_of_a_cell_that_stand_far_apart_are_of_its_row() -> None:
    canvas = page()
    wrapped = ("Licences of", "brands, rights", "and similar", "values that last")
    labels = [("Capital",), ("Reserves",), ("Profit",), wrapped, ("Machines",), ("Vehicles",), ("Tools",)]
    y = 740
    for number, lines in enumerate(labels):
        canvas.drawString(72, y, f"{number}000")
        for index, line in enumerate(lines):
            canvas.drawString(130, y - 15 * index, line)
        for right in (300, 380):
            canvas.drawRightString(right, y, f"{number},250")
        y -= 15 * len(lines)
    assert rows_of(text_of(canvas)) == [
        [f"{number}000", " ".join(lines), *[f"{number},250"] * 2] for number, lines in enumerate(labels)
    ]


def test_an_abbreviation_keeps_its_dot_before_dots_that_lead_to_a_figure() -> None:
    canvas = page()
    rows = {"Plot nr.": "1,037", "Fees etc.": "220", "Area": "450"}
    for index, (label, figure) in enumerate(rows.items()):
        canvas.drawString(72, 700 - 14 * index, f"{label} ......................")
        canvas.drawRightString(400, 700 - 14 * index, figure)
    for index, label in enumerate(("Robbery", "Burglary")):
        canvas.drawString(72, 658 - 14 * index, f"{label}. . . . . . . . . . . . . . . .")
        canvas.drawRightString(400, 658 - 14 * index, "12")
    assert rows_of(text_of(canvas)) == [*map(list, rows.items()), ["Robbery", "12"], ["Burglary", "12"]]
