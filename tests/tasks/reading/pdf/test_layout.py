"""Pages as they are printed: tables in rows and cells, words by the white between them, columns of prose."""

import re
import time
from collections.abc import Iterable, Sequence

from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tasks.reading import text_writer
from tasks.reading.pdf import reader
from tasks.reading.pdf.columns import columns_by_height
from tasks.reading.pdf.grids import find_ruled_tables
from tasks.reading.pdf.lines import build_lines
from tasks.reading.pdf.rules import RuledLine, Rules
from tasks.reading.pdf.table_columns import is_list
from tasks.reading.pdf.words import PageWord
from tests.cases import cases
from tests.tasks.reading.pdf import pdfs

SUBSIDIARIES = (
    ("Name of subsidiary", "Jurisdiction", "Owned"),
    ("Alpha Holdings Limited", "England and Wales", "100 %"),
    ("Beta Services GmbH", "Germany", "100 %"),
    ("Gamma Mining (Pty) Ltd", "South Africa", "74.9 %"),
    ("Delta Software Private Limited", "India", "100 %"),
)
PROSE = (
    "Either party may give notice of six months to the end of a calendar year. Notice must be in writing and must "
    "reach the other party before the third working day of the month. Late notice counts for the year after. "
)


def page() -> Canvas:
    canvas = Canvas("a.pdf", (600, 800), invariant=1)
    canvas.setFont("Helvetica", 9)
    return canvas


def text_of(canvas: Canvas) -> str:
    return reader.read(bytes(canvas.getpdfdata())).text


def rows_of(text: str) -> list[list[str]]:
    """The lines with tabs, as cells."""
    return [line.split("\t") for line in re.split("[\n\f]", text) if "\t" in line]


def draw_rows(canvas: Canvas, rows: Iterable[Sequence[str]], top: float = 700, pitch: float = 14) -> None:
    """Rows whose first cell begins at the left and whose others end at 320, 400, 480; `$` stands by itself."""
    for row in rows:
        canvas.drawString(72, top, row[0])
        for right, cell in zip((320, 400, 480), row[1:], strict=False):
            if cell.startswith("$"):
                canvas.drawString(right - 50, top, "$")
            canvas.drawRightString(right, top, cell.removeprefix("$"))
        top -= pitch


def draw_prose(canvas: Canvas, left: float, width: float, top: float = 700, *, lines: int = 14) -> list[str]:
    split: list[str] = simpleSplit(PROSE * 8, "Helvetica", 9, width)[:lines]
    for index, line in enumerate(split):
        canvas.drawString(left, top - 12 * index, line)
    return split


def test_a_statement_without_rules_reads_as_rows_with_an_empty_note_in_its_place() -> None:
    canvas = page()
    rows = [
        ["", "Note", "2024", "2023"],
        ["Revenue", "4", "$1,204,337", "$998,120"],
        ["Cost of sales", "", "(640,002)", "(512,998)"],
        ["Gross margin", "", "46.9%", "48.6%"],
        ["Finance income", "12", "—", "3,871"],
        ["Profit for the year", "", "$82,115", "$(4,020)"],
    ]
    draw_rows(canvas, rows)
    assert rows_of(text_of(canvas)) == rows


def test_a_label_that_wraps_is_one_cell() -> None:
    canvas = page()
    draw_rows(canvas, [["", "2024", "2023"], ["Revenue", "8,120", "7,430"]])
    canvas.drawString(72, 672, "Change in fair value of contingent consideration")
    canvas.drawString(72, 661, "payable to former shareholders")
    draw_rows(canvas, [["", "(77)", "13"], ["Profit", "1,050", "980"], ["Dividends", "12", "11"]], top=661)
    wrapped = "Change in fair value of contingent consideration payable to former shareholders"
    assert [wrapped, "(77)", "13"] in rows_of(text_of(canvas))


def test_dots_that_lead_to_a_figure_do_not_count() -> None:
    canvas = page()
    draw_rows(canvas, [[f"{name} {'.' * 60}", "8,120", "7,430"] for name in ("Revenue", "Taxes", "Profit")])
    assert rows_of(text_of(canvas))[0] == ["Revenue", "8,120", "7,430"]


def test_a_cell_with_rules_round_it_keeps_its_lines_together_and_an_empty_one_its_place() -> None:
    canvas = page()
    canvas.grid([72, 172, 272, 372], [700, 670, 640, 610])
    for x, y, words in (
        (76, 688, "Supplier"), (176, 688, "Service"), (276, 688, "Since"),
        (76, 658, "Alpha GmbH"), (176, 658, "Hosting, support and"), (176, 647, "maintenance"), (276, 658, "2019"),
        (76, 628, "Beta Ltd"), (276, 628, "2021"),
    ):  # fmt: skip
        canvas.drawString(x, y, words)
    assert rows_of(text_of(canvas)) == [
        ["Supplier", "Service", "Since"],
        ["Alpha GmbH", "Hosting, support and maintenance", "2019"],
        ["Beta Ltd", "", "2021"],
    ]


COSTS = (
    ("Salaries", "1,314", "940"), ("Travel", "26", "12"), ("Subcontracts", "175", ""), ("Office rent", "161", "68"),
)  # fmt: skip


def draw_costs(canvas: Canvas, rows: Iterable[Sequence[str]] = COSTS) -> None:
    """Rows 18 points apart between a header and a total, in three columns of 100 points from 72."""
    for index, row in enumerate([("Cost", "All", "Direct"), *rows, ("Total", "1,676", "1,020")]):
        for x, cell in zip((76, 176, 276), row, strict=True):
            canvas.drawString(x, 688 - 18 * index, cell)


def test_labels_without_rules_between_them_stand_beside_their_figures() -> None:
    canvas = page()
    canvas.grid([172, 272, 372], [700 - 18 * index for index in range(7)])
    for y in (700, 682, 610, 592):
        canvas.line(72, y, 172, y)
    canvas.line(72, 700, 72, 592)
    draw_costs(canvas)
    assert rows_of(text_of(canvas))[1:-1] == [list(row) for row in COSTS]


def test_lines_between_two_rules_are_rows_where_a_cell_of_one_is_empty() -> None:
    canvas = page()
    canvas.grid([72, 172, 272, 372], [700, 682, 610, 592])
    draw_costs(canvas)
    assert rows_of(text_of(canvas)) == [
        ["Cost", "All", "Direct"], *map(list, COSTS), ["Total", "1,676", "1,020"],
    ]  # fmt: skip


def test_lines_of_words_between_two_rules_are_rows_unless_they_wrap() -> None:
    words = [("Alpha", "Berlin", "Payroll"), ("Beta", "Paris", "Hosting"), ("Gamma", "Rome", "Audit")]
    wrapped = [("Alpha Holdings of", "The offices and all", "Payroll of all our"),
               ("the Greater North", "warehouses in the", "staff, abroad too,"),
               ("and Partners Ltd", "harbour of the city", "and their pensions")]  # fmt: skip
    for lines, count in ((words, 3), (wrapped, 1)):
        canvas = page()
        canvas.grid([72, 152, 232, 312], [700, 682, 628])
        for y, row in zip((688, 670, 654, 638), [("Name", "Place", "Task"), *lines], strict=True):
            for x, cell in zip((74, 154, 234), row, strict=True):
                canvas.drawString(x, y, cell)
        rows = [list(row) for row in lines] if count == 3 else [[" ".join(cell) for cell in zip(*lines, strict=True)]]
        assert rows_of(text_of(canvas)) == [["Name", "Place", "Task"], *rows]


def test_the_last_cell_of_a_table_that_wraps_ends_at_the_rule_below_it() -> None:
    canvas = page()
    for y in (700, 680, 660, 616):
        canvas.line(72, y, 440, y)
    rows = [("Supplier", "Since", "Service"), ("Alpha GmbH", "2019", "Hosting"), ("Beta Ltd", "2021", "Payroll for")]
    for y, row in zip((686, 666, 646), rows, strict=True):
        for x, cell in zip((76, 200, 300), row, strict=True):
            canvas.drawString(x, y, cell)
    canvas.drawString(300, 635, "the group and its")
    canvas.drawString(300, 624, "subsidiaries abroad")
    canvas.drawString(300, 604, "Not audited")
    text = text_of(canvas)
    assert rows_of(text)[-1] == ["Beta Ltd", "2021", "Payroll for the group and its subsidiaries abroad"]
    assert text.splitlines()[-1] == "Not audited"


@cases("quarters", [1, 2, 3])
def test_the_rules_of_a_page_that_lies_on_its_side_part_its_rows(quarters: int) -> None:
    canvas = page()
    canvas.setPageRotation(90 * quarters)
    canvas.translate(*((600, 0), (600, 800), (0, 800))[quarters - 1])
    canvas.rotate(90 * quarters)
    canvas.grid([72, 172, 272, 372], [500, 460, 420, 380])
    for x, y, words in (
        (76, 488, "Supplier"), (176, 488, "Service"), (276, 488, "Since"), (176, 450, "Hosting,"),
        (76, 439, "Alpha GmbH"), (176, 439, "support and"), (276, 439, "2019"), (176, 428, "maintenance"),
        (76, 408, "Beta Ltd"), (176, 408, "Audit"), (276, 408, "2021"),
    ):  # fmt: skip
        canvas.drawString(x, y, words)
    assert rows_of(text_of(canvas)) == [
        ["Supplier", "Service", "Since"],
        ["Alpha GmbH", "Hosting, support and maintenance", "2019"],
        ["Beta Ltd", "Audit", "2021"],
    ]


def test_cells_that_wrap_are_told_by_the_order_in_which_they_are_drawn() -> None:
    canvas = page()
    rows = (
        (("Alpha Holdings", "Limited"), ("England", "and Wales"), ("100 %",)),
        (("Beta Services",), ("Germany",), ("100 %",)),
        (("Gamma Mining", "(Pty) Ltd"), ("South", "Africa"), ("74.9 %",)),
    )
    top = 700.0
    for row in rows:
        for x, cell in zip((72, 150, 220), row, strict=True):
            for index, line in enumerate(cell):
                canvas.drawString(x, top - 11 * index, line)
        top -= 11 * max(map(len, row))
    assert rows_of(text_of(canvas)) == [[" ".join(cell) for cell in row] for row in rows]


def test_a_word_that_fills_its_cell_is_not_glued_to_the_next_one() -> None:
    canvas = page()
    canvas.grid([72, 126, 200, 274], [700, 670, 640, 610])
    for x, y, words in (
        (76, 688, "completion"), (76, 677, "date"), (130, 688, "amount"), (204, 688, "currency"),
        (76, 658, "12 Dec"), (130, 658, "902,418"), (204, 658, "USD"),
        (76, 628, "1 Jan"), (130, 628, "214,885"), (204, 628, "GHS"),
    ):  # fmt: skip
        canvas.drawString(x, y, words)
    assert rows_of(text_of(canvas))[0] == ["completion date", "amount", "currency"]


def test_exponents_stand_behind_what_they_were_drawn_behind() -> None:
    canvas = page()
    for index, (name, figure) in enumerate((("Training", "6.988"), ("Family", "5.820"), ("Both", "16.334"))):
        top = 700 - 20 * index
        canvas.drawString(72, top, name)
        for x in (250, 350):
            canvas.drawString(x, top, figure)
            canvas.drawString(x + stringWidth(figure, "Helvetica", 9) + 1, top + 4, "**")
    assert rows_of(text_of(canvas))[0] == ["Training", "6.988**", "6.988**"]


def test_cells_that_reach_up_to_the_next_column_do_not_join_it() -> None:
    canvas = page()
    rows = [
        ("648766", "ALLEGIANT AIR", "7100 TERMINAL DRIVE", "2014"),
        ("509462", "AMERICAN AIRLINES INC LIMITED", "7777 EAST APACHE", "2014"),
        ("402986", "DELTA AIR LINES", "4347 WEST 41ST STREET", "2015"),
        ("600941", "ENDEAVOR", "610 NORTHEAST 50TH", "2015"),
        ("478482", "EXPRESSJET", "387 SOUTH COMMERCIAL", "2016"),
    ]
    edge = 130 + stringWidth("AMERICAN AIRLINES INC LIMITED ", "Helvetica", 9)
    for index, row in enumerate(rows):
        for x, cell in zip((72, 130, edge, 420), row, strict=True):
            canvas.drawString(x, 700 - 14 * index, cell)
    assert rows_of(text_of(canvas)) == [list(row) for row in rows]


def test_figures_a_space_apart_are_cells_of_their_own_below_a_header_of_both() -> None:
    canvas = page()
    canvas.setFont("Courier", 9)
    lines = ["Age            Other             Total", "             Male  Female"]
    for name, *figures in (
        ("1-2", "446,166", "312,164", "758,330"), ("3-5", "581,558", "628,177", "1,209,735"),
        ("6-11", "972,969", "843,937", "1,816,906"), ("12-19", "249,752", "364,492", "614,244"),
        ("20-29", "1,450,445", "148,770", "1,599,215"),
    ):  # fmt: skip
        lines.append(f"{name:8}{figures[0]:>9} {figures[1]:>7}{figures[2]:>13}")
    for index, line in enumerate(lines):
        canvas.drawString(72, 700 - 12 * index, line)
    assert ["12-19", "249,752", "364,492", "614,244"] in rows_of(text_of(canvas))


def test_rows_without_rules_between_their_cells_are_parted_as_the_header_above_them() -> None:
    canvas = page()
    columns = (72, 152, 202, 252, 302, 352)
    for y in (700, 680, 660, 640, 620, 600):
        canvas.line(72, y, 352, y)
    for x in columns:
        canvas.line(x, 700 if x not in (202, 302) else 680, x, 660)
    rows = [
        ["Austria", "109", "0.9", "93", "1.1"],
        ["Spain", "36", "0", "-", "-"],
        ["Total", "537", "0.9", "820", "0.5"],
    ]
    cells = [(80, 686, "Country"), (190, 686, "2007"), (290, 686, "2006")]
    cells += [(x + 8, 666, word) for x, word in zip(columns[1:], ("N", "% Pos", "N", "% Pos"), strict=False)]
    cells += [
        (x + 8, 646 - 20 * index, cell) for index, row in enumerate(rows) for x, cell in zip(columns, row, strict=False)
    ]
    for x, y, words in cells:
        canvas.drawString(x, y, words)
    header = [["Country", "2007", "", "2006", ""], ["", "N", "% Pos", "N", "% Pos"]]
    assert rows_of(text_of(canvas)) == [*header, *rows]


def test_dots_that_lead_to_figures_do_not_count_in_tables_side_by_side_either() -> None:
    canvas = page()
    rows = [["Revenue", "8,120"], ["Taxes", "(77)"], ["Profit", "1,050"], ["Dividends", "12"]]
    for x in (72, 320):
        for index, (name, figure) in enumerate(rows):
            canvas.drawString(x, 700 - 14 * index, name)
            canvas.drawString(x + 50, 700 - 14 * index, ".......... ..........")
            canvas.drawString(x + 140, 700 - 14 * index, figure)
    assert rows_of(text_of(canvas)) == rows + rows


def test_columns_of_signs_that_would_join_each_other_are_read() -> None:
    canvas = page()
    for index in range(5):
        for x, words in ((72, "Revenue"), (200, "8,120"), (300, "$("), (360, ")"), (420, "7,430")):
            canvas.drawString(x, 700 - 14 * index, words)
    assert "7,430" in rows_of(text_of(canvas))[0]


def test_tables_side_by_side_have_rows_of_their_own() -> None:
    canvas = page()
    left = [("Name:", "Premier Group"), ("Contact:", "M. Chen"), ("Terms:", "Net 30"), ("Type:", "Package")]
    right = [("Cinema:", "Multiplex"), ("Region:", "North"), ("Screen:", "SCR-1"), ("Days:", "Daily")]
    for x, rows in ((72, left), (320, right)):
        for index, (name, value) in enumerate(rows):
            canvas.drawString(x, 700 - 14 * index, name)
            canvas.drawString(x + 80, 700 - 14 * index, value)
    assert rows_of(text_of(canvas)) == [list(row) for row in (*left, *right)]


def test_a_table_is_a_place() -> None:
    canvas = page()
    canvas.drawString(72, 760, "Subsidiaries of the company")
    draw_rows(canvas, SUBSIDIARIES)
    canvas.drawString(72, 600, "As of the end of the year.")
    reading = reader.read(bytes(canvas.getpdfdata()))
    table = next(place for place in reading.places if place.kind == text_writer.TABLE)
    assert reading.text[table.start : table.end] == "".join("\t".join(row) + "\n" for row in SUBSIDIARIES)


def test_prose_in_two_columns_is_no_table() -> None:
    canvas = page()
    left = draw_prose(canvas, 72, 210)
    right = draw_prose(canvas, 310, 210)
    assert text_of(canvas).splitlines() == [*left, *right]


def test_stretched_lines_of_prose_in_two_short_columns_are_no_table() -> None:
    canvas = page()
    prose = simpleSplit(PROSE.lower() * 4, "Helvetica", 9, 150)
    for left, lines in ((72.0, prose[:9]), (330.0, prose[9:18])):
        for index, line in enumerate(lines):
            words = line.split()
            width = stringWidth("".join(words), "Helvetica", 9)
            step = ((200 if index < 5 else 150) - width) / (len(words) - 1)
            x = left
            for word in words:
                canvas.drawString(x, 700 - 12 * index, word)
                x += stringWidth(word, "Helvetica", 9) + step
    assert text_of(canvas).splitlines() == prose[:18]


def test_notes_below_a_table_are_no_rows_of_it() -> None:
    canvas = page()
    draw_rows(canvas, [["", "2024", "2023", "2022"], ["Revenue", "8,120", "7,430", "6,910"], ["Tax", "77", "13", "9"],
                       ["Profit", "1,050", "980", "860"]])  # fmt: skip
    for index, (name, note) in enumerate(
        ((":", "not available to the company"), ("Source:", "Eurostat, " + PROSE[:60]))
    ):
        canvas.drawString(72, 644 - 14 * index, name)
        canvas.drawString(150, 644 - 14 * index, note)
    assert [row[0] for row in rows_of(text_of(canvas))] == ["", "Revenue", "Tax", "Profit"]


def test_a_numbered_list_beside_the_legend_of_a_chart_is_a_list() -> None:
    rows = (
        ((72, "1."), (100, "Be a stable owner of the companies in the group.")),
        ((300, "Total 229"), (480, "Venture Capital")),
        ((72, "2."), (100, "Let the company invest for a positive impact.")),
    )
    words = [
        PageWord(
            text, left + 5 * at, left + 5 * (at + len(text)), 14 * row, 9, 100 * row + left + at, 100 * row + left + at
        )
        for row, cells in enumerate(rows)
        for left, cell in cells
        for text, at in ((match.group(), match.start()) for match in re.finditer(r"\S+", cell))
    ]
    assert is_list(build_lines(words))
    assert not is_list(build_lines(word for word in words if word.base != 28))


def test_columns_of_prose_that_are_drawn_line_by_line_across_are_read_one_after_the_other() -> None:
    canvas = page()
    columns = [simpleSplit(PROSE * 4, "Helvetica", 9, 140)[:14] for _ in range(3)]
    for index, lines in enumerate(zip(*columns, strict=True)):
        for x, line in zip((72, 228, 384), lines, strict=True):
            canvas.drawString(x, 700 - 12 * index, line)
    assert text_of(canvas).splitlines() == [line for column in columns for line in column]


def test_columns_that_are_drawn_by_the_heights_of_their_lines_are_read_one_after_the_other() -> None:
    canvas = page()
    lines = simpleSplit(PROSE * 3, "Helvetica", 9, 230)[:14]
    drawn = [(700 - 12 * row, 60, words) for row, words in enumerate(lines)]
    drawn += [(694 - 13 * row, 320, words) for row, words in enumerate(lines)]
    canvas.drawCentredString(300, 740, "A heading of the agreement that runs across both of its columns of prose")
    for y, x, words in sorted(drawn, reverse=True):
        canvas.drawString(x, y, words)
    canvas.drawCentredString(300, 480, "What both have signed runs across the page too, below the columns")
    text = text_of(canvas)
    assert "\t" not in text
    joined = "\n".join(lines)
    assert re.sub(r" *\n", "\n", text).count(joined) == 2
    assert text.startswith("A heading of the agreement")
    assert text.rstrip().endswith("below the columns")


def draw_form(canvas: Canvas) -> tuple[list[str], list[str]]:
    """Two columns whose lines are not level, drawn by turns, with a rule between them: an item and its boxes."""
    columns: tuple[list[str], list[str]] = [], []
    canvas.line(300, 720, 300, 400)
    for number in range(12):
        for column, left, offset in zip(columns, (72, 320), (0, 5), strict=True):
            top = 700 - 24 * number - offset
            column.extend((f"{number + 1} Did you file a return for {2000 + number}?", "Attach it to this form here"))
            canvas.drawString(left, top, column[-2])
            canvas.drawString(left, top - 11, column[-1])
    return columns


def test_columns_with_a_rule_between_them_are_read_one_after_the_other() -> None:
    canvas = page()
    canvas.drawString(72, 740, "Other information")
    canvas.drawString(320, 740, "Page 5")
    left, right = draw_form(canvas)
    assert text_of(canvas).splitlines() == ["Other information Page 5", *left, *right]


def test_what_is_turned_beside_such_columns_is_read_after_them() -> None:
    canvas = page()
    draw_form(canvas)
    canvas.rotate(90)
    canvas.drawString(500, -40, "Attach Forms W-2 here")
    assert text_of(canvas).splitlines()[-1] == "Attach Forms W-2 here"


def test_a_rule_down_the_middle_of_rows_leaves_them_rows() -> None:
    canvas = page()
    canvas.line(200, 720, 200, 500)
    rows = [[f"Item {number}", f"{number},{number}00", f"{number},{number}50"] for number in range(1, 16)]
    draw_rows(canvas, rows)
    assert rows_of(text_of(canvas)) == rows


def test_a_caption_at_the_side_of_a_table_is_no_column_of_it() -> None:
    canvas = page()
    rows = [["Change in %", "25/30", "31/46"], ["Fights", "60/51", "44/20"], ["Tired", "81/76", "90/65"]] * 3
    for index, (label, *cells) in enumerate(rows):
        canvas.drawString(180, 700 - 12 * index, label)
        for right, cell in zip((400, 480), cells, strict=True):
            canvas.drawRightString(right, 700 - 12 * index, cell)
    caption = ["Table IV.", "Frequencies and", "changes before", "and after the", "interventions"]
    for index, line in enumerate(caption):
        canvas.drawString(72, 652 - 12 * index, line)
    text = text_of(canvas)
    assert rows_of(text) == rows
    assert text.splitlines()[-len(caption) :] == caption


def test_a_caption_beside_a_table_whose_labels_stand_in_few_lines_is_no_column_of_it() -> None:
    canvas = page()
    rows = [["Effects", "Multivariate", "Univariate"]]
    for effect in ("Training", "Family", "Both"):
        rows += [[effect, "6.988", "23.112"], ["", "df = 1", "df = 2"], ["", "p < .01", "p < .05"]]
    for index, (label, *cells) in enumerate(rows):
        canvas.drawString(220, 700 - 20 * index, label)
        for left, cell in zip((340, 440), cells, strict=True):
            canvas.drawString(left, 700 - 20 * index, cell)
    caption = ["Table I.", "Effect of", "training and", "of families", "on conflict"]
    for index, line in enumerate(caption):
        canvas.drawString(72, 650 - 20 * index, line)
    text = text_of(canvas)
    assert rows_of(text) == rows
    assert text.splitlines()[-len(caption) :] == caption


def test_headers_with_a_space_between_them_stand_in_columns_of_their_own() -> None:
    canvas = page()
    for top, *words in ((700, "Under 18", "18 years"), (689, "years", "and over")):
        for middle, header in zip((306, 346), words, strict=True):
            canvas.drawCentredString(middle, float(top), header)
    rows = [["Total", "15.0", "96.2"], ["Robbery", "6.1", "39.8"], ["Arson", "4.3", "5.5"], ["Fraud", "5.1", "168.5"]]
    for index, (label, *figures) in enumerate(rows):
        canvas.drawString(72, 670 - 12 * index, label)
        for right, figure in zip((320, 360), figures, strict=True):
            canvas.drawRightString(right, 670 - 12 * index, figure)
    assert rows_of(text_of(canvas)) == [["", "Under 18 years", "18 years and over"], *rows]


def test_white_that_runs_down_stretched_lines_by_chance_parts_no_cells() -> None:
    canvas = page()
    rows = [
        ("Current status and", 200.0, 203.3, "date of entry", "12"),
        ("Date of first", 198.8, 205.6, "entry to the country", "34"),
        ("Did you give your", 197.6, 204.45, "permanent residence up", "56"),
    ]
    for index, (before, end, begin, behind, figure) in enumerate(rows):
        canvas.drawRightString(end, 700 - 14 * index, before)
        canvas.drawString(begin, 700 - 14 * index, behind)
        canvas.drawRightString(480, 700 - 14 * index, figure)
    assert rows_of(text_of(canvas)) == [[f"{before} {behind}", figure] for before, _, _, behind, figure in rows]


def test_a_numbered_list_is_no_table() -> None:
    canvas = page()
    for index in range(8):
        canvas.drawString(72, 700 - 14 * index, f"{index + 1}.")
        canvas.drawString(100, 700 - 14 * index, "The lessee keeps the premises in repair.")
    assert "\t" not in text_of(canvas)


def test_a_list_whose_marks_stand_by_themselves_is_no_table() -> None:
    canvas = page()
    for index, mark in enumerate(("¢", "I.", "XIV.", "(iii)", "\u203a", "a)", "1.2.3", "A.")):
        canvas.drawString(72, 700 - 14 * index, mark)
        canvas.drawString(110, 700 - 14 * index, f"Clause {index} of the lease.")
    assert "\t" not in text_of(canvas)


@cases(("rotation", "turned_page"), [(0, False), (90, False), (90, True)])
def test_a_page_drawn_glyph_by_glyph_reads_as_words(rotation: int, *, turned_page: bool) -> None:
    canvas = page()
    if turned_page:
        canvas.setPageRotation(90)
    if rotation:
        canvas.translate(600, 0)
        canvas.rotate(rotation)
    top = 500.0
    for row in SUBSIDIARIES:
        for x, cell in zip((72, 250, 380), row, strict=True):
            for character in cell:
                if character != " ":
                    canvas.drawString(x, top, character)
                x += stringWidth(character, "Helvetica", 9)  # noqa: PLW2901 - the pen moves on
        top -= 18
    assert rows_of(text_of(canvas)) == [list(row) for row in SUBSIDIARIES]


def test_lines_of_letters_that_are_written_to_the_left_are_lines() -> None:
    codes = b"1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <61> <06440627> <62> <05d0> endbfchar"
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(b"begincmap " + codes + b" endcmap"), font=font)
    objects[3] = pdfs.stream(b"BT /F1 40 Tf 72 300 Td (a) Tj ET BT /F1 40 Tf 72 550 Td (b) Tj ET")
    assert sorted(map(len, reader.read(pdfs.pdf(objects)).text.splitlines())) == [1, 2]


ARABIC = (
    b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 4 beginbfchar "
    b"<61> <06440627> <62> <062E> <63> <0644> <64> <0648> endbfchar endcmap"
)
"""`a` is lam-alef, one glyph; `b`, `c` and `d` are khah, lam and waw."""


def arabic(content: bytes) -> bytes:
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(ARABIC), font=font)
    objects[3] = pdfs.stream(content)
    return pdfs.pdf(objects)


def test_the_letters_of_a_ligature_that_is_written_to_the_left_stand_in_their_order() -> None:
    drawn = b"BT /F1 20 Tf 300 500 Td (dcbdb) Tj ET BT /F1 20 Tf 300 470 Td (cabdb) Tj ET"
    assert reader.read(arabic(drawn)).text.splitlines() == ["خوخلو", "خوخلال"]


def test_a_table_that_is_written_to_the_left_begins_with_its_right_column() -> None:
    rules = b" ".join(b"100 %d m 400 %d l S" % (y, y) for y in range(400, 540, 20))
    rules += b" " + b" ".join(b"%d 400 m %d 520 l S" % (x, x) for x in (100, 200, 300, 400))
    rows = b" ".join(
        b"BT /F1 10 Tf %d %d Td (%s) Tj ET" % (x, 405 + 20 * row, word)
        for row in reversed(range(6))
        for x, word in ((350, b"bdb"), (250, b"cdb"), (150, b"ddb"))
    )
    assert rows_of(reader.read(arabic(rules + b" " + rows)).text) == [["خوخ", "خول", "خوو"]] * 6


def test_a_page_of_figures_with_letters_of_formulas_is_read_as_it_is() -> None:
    codes = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <61> <D835DC49> endbfchar"
    font = b"<< /Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(b"begincmap " + codes + b" endcmap"), font=font)
    objects[3] = pdfs.stream(b"BT /F1 12 Tf 14 TL 72 700 Td (10 20 30) Tj T* (40 50 60) Tj T* (a) Tj ET")
    reading = reader.read(pdfs.pdf(objects))
    assert not reading.warnings
    assert reading.text.split()[-1] == "\U0001d449"


@cases("shift", [0.0, 0.4, 0.9])
def test_a_page_whose_words_are_printed_twice_gives_them_once(shift: float) -> None:
    canvas = page()
    for index, row in enumerate(SUBSIDIARIES):
        for x, cell in zip((72, 250, 380), row, strict=True):
            canvas.drawString(x, 700 - 18 * index, cell)
            for start in range(0, len(cell), 2):
                place = x + shift + stringWidth(cell[:start], "Helvetica", 9)
                canvas.drawString(place, 700 - 18 * index, cell[start : start + 2])
    assert rows_of(text_of(canvas)) == [list(row) for row in SUBSIDIARIES]


def test_titles_that_run_over_the_gutters_of_a_table_leave_its_columns_apart() -> None:
    rows = [("Opening", "5,664", "749", "12,017"), ("Profit", "269", "12", "81"), ("Closing", "5,933", "761", "12,098"),
            ("Restated", "17", "3", "20"), ("Adjusted", "5,950", "764", "12,118")]  # fmt: skip
    canvas = page()
    canvas.drawString(72, 714, "Changes in equity of the group for the year to March")
    canvas.drawString(302, 714, "in millions of yen")
    draw_rows(canvas, [(row[0],) for row in rows])
    for index, row in enumerate(rows):
        for right, cell in zip((200, 270, 340), row[1:], strict=True):
            canvas.drawRightString(right, 700 - 14 * index, cell)
    assert rows_of(text_of(canvas))[-5:] == [list(row) for row in rows]


def test_a_title_that_is_printed_twice_to_be_bold_reads_once() -> None:
    canvas = page()
    title = "ANNUAL REPORT OF ALPHA HOLDINGS"
    canvas.drawString(72, 700, title)
    for start in range(0, len(title), 2):
        canvas.drawString(72.4 + stringWidth(title[:start], "Helvetica", 9), 700, title[start : start + 2])
    for index, line in enumerate(("Registered in England", "Audited by Beta", "Printed in May")):
        canvas.drawString(72, 660 - 20 * index, line)
    assert text_of(canvas).split("\n")[0] == "ANNUAL REPORT OF ALPHA HOLDINGS"
    assert text_of(canvas).count("HOLDINGS") == 1


def test_rows_whose_first_column_holds_marks_alone_stay_rows() -> None:
    rows = [("RR", "Roundup Ready", "Ac", "Acceleron"), ("LL", "LibertyLink", "D", "Dynasty"),
            ("HX", "Herculex I", "Es", "Escalate"), ("OI", "Optimum", "G", "Gaucho")]  # fmt: skip
    canvas = page()
    canvas.drawString(60, 700, "Traits")
    canvas.drawString(300, 700, "Treatments")
    for index, row in enumerate(rows):
        for x, cell in zip((110, 150, 300, 340), row, strict=True):
            canvas.drawString(x, 688 - 12 * index, cell)
    for index in range(2):
        canvas.drawString(60, 640 - 12 * index, "o")
        canvas.drawString(110, 640 - 12 * index, "is a trademark of its owner")
    read = [[cell for cell in row if cell] for row in rows_of(text_of(canvas))]
    assert [row for row in read if len(row) == 4] == [list(row) for row in rows]


def test_words_that_narrow_white_parts_are_not_glued() -> None:
    canvas = page()
    canvas.setFont("Helvetica", 10)
    top = 700
    for line in simpleSplit(PROSE, "Helvetica", 10, 420):
        x = 72.0
        for word in line.split():
            canvas.drawString(x, top, word)
            x += stringWidth(word, "Helvetica", 10) + 1.9
        top -= 14
    assert text_of(canvas).split() == PROSE.split()


def test_a_page_with_characters_beyond_sixteen_bits_and_figures_is_read_as_it_is_drawn() -> None:
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <56> <D835DC49> endbfchar"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    objects = pdfs.one_page(b"", pdfs.stream(cmap), font=font)
    rows = [b"BT /F1 10 Tf 72 %d Td (V at row %d: 100 200) Tj ET\n" % (700 - 20 * row, row) for row in range(3)]
    objects[3] = pdfs.stream(b"".join(rows))
    reading = reader.read(pdfs.pdf(objects))
    assert reading.text.splitlines()[0] == "\U0001d449 at row 0: 100 200"
    assert reading.warnings == []


def test_a_page_without_words_has_no_columns() -> None:
    assert columns_by_height([], []) == []


def test_grids_beside_each_other_are_tables_of_their_own() -> None:
    canvas = page()
    for left, names in ((72, ("Spain", "Italy", "Malta")), (320, ("Latvia", "Cyprus", "France"))):
        canvas.grid([left, left + 100, left + 160], [700, 680, 660, 640])
        for index, name in enumerate(names):
            canvas.drawString(left + 4, 686 - 20 * index, name)
            canvas.drawString(left + 104, 686 - 20 * index, str(40 + index))
    assert [row for row in rows_of(text_of(canvas)) if row[0] in {"Spain", "Latvia"}] == [
        ["Spain", "40"],
        ["Latvia", "40"],
    ]


def test_very_many_grids_beside_each_other_are_read_in_bounded_time() -> None:
    rules, words = Rules([], []), []
    for left in map(float, range(0, 4_000, 40)):
        rules.horizontal += (RuledLine(y, left, left + 30) for y in range(0, 160, 10))
        rules.vertical += (RuledLine(left + x, 0, 150) for x in (0, 15, 30))
        words += [PageWord("5", left + x, left + x + 6, 9 + 10 * y, 8, 0, 1) for y in range(15) for x in (2, 17)]
    start = time.process_time()
    assert len(find_ruled_tables(rules, words)) == 100
    assert time.process_time() - start < 3


def test_figures_that_no_rules_part_stand_in_the_columns_of_the_rows_below() -> None:
    canvas = page()
    canvas.grid([72, 200, 260, 320], [680, 660, 640])
    canvas.grid([72, 320], [700, 680])
    for y, cells in (
        (686, ("At 1 January", "18,832", "48,691")),
        (666, ("Profit", "65", "71")),
        (646, ("Tax", "9", "7")),
    ):
        canvas.drawString(76, y, cells[0])
        canvas.drawRightString(256, y, cells[1])
        canvas.drawRightString(316, y, cells[2])
    assert rows_of(text_of(canvas))[0] == ["At 1 January", "18,832", "48,691"]


def test_labels_and_figures_that_are_drawn_in_one_piece_are_a_table_of_two_columns() -> None:
    canvas = page()
    rows = [["Kingfisher", "29%"], ["Osprey", "20%"], ["Mink", "35%"], ["Otter", "38%"]]
    for index, (name, share) in enumerate(rows):
        piece = canvas.beginText(72, 700 - 14 * index)
        piece.textOut(name + " " * (40 - len(name)) + share)
        canvas.drawText(piece)
    assert rows_of(text_of(canvas)) == rows


STATEMENT = (
    ("Revenue", "4", "204,337", "198,120"),
    ("Cost of sales", "", "(64,002)", "(51,998)"),
    ("Profit", "", "82,115", "4,020"),
)


def test_a_heading_that_is_drawn_behind_its_table_stands_before_it() -> None:
    canvas = page()
    canvas.drawString(280, 40, "17")
    draw_rows(canvas, [["", "Note", "2024", "2023"], *STATEMENT], top=600)
    canvas.drawString(72, 500, "See the notes.")
    canvas.drawString(72, 700, "ACME LIMITED")
    canvas.drawString(72, 680, "in thousands of euros")
    lines = text_of(canvas).strip().split("\n")
    assert lines[:4] == ["17", "ACME LIMITED", "in thousands of euros", "\tNote\t2024\t2023"]
    assert lines[-1] == "See the notes."


def test_blocks_beside_each_other_that_are_drawn_behind_a_table_keep_their_lines_together() -> None:
    canvas = page()
    draw_rows(canvas, [["", "Note", "2024", "2023"], *STATEMENT], top=500)
    for left, top, block in ((72, 700, ("Bill to", "Beta GmbH")), (380, 693, ("Invoice number", "12345"))):
        for at, words in enumerate(block):
            canvas.drawString(left, top - 14 * at, words)
    lines = text_of(canvas).strip().split("\n")
    assert lines.index("Beta GmbH") == lines.index("Bill to") + 1
    assert lines.index("12345") == lines.index("Invoice number") + 1


def test_a_header_that_is_drawn_by_column_heads_its_table() -> None:
    canvas = page()
    canvas.drawRightString(320, 600, "Note")
    for right, year in ((400, "2024"), (480, "2023")):
        for line, words in enumerate(("Year ended", f"31 March {year}", "EUR")):
            canvas.drawRightString(right, 622 - 11 * line, words)
    draw_rows(canvas, STATEMENT, top=580)
    head = rows_of(text_of(canvas))[: -len(STATEMENT)]
    columns = [" ".join(filter(None, column)) for column in zip(*head, strict=True)]
    assert columns == ["", "Note", "Year ended 31 March 2024 EUR", "Year ended 31 March 2023 EUR"]


def test_a_heading_stays_behind_a_table_with_prose_beside_it() -> None:
    canvas = page()
    rows = [("Revenue", "204,337", "198,120"), ("Cost of sales", "(64,002)", "(51,998)"), ("Profit", "82,115", "4,020")]
    for at, (label, one, other) in enumerate(rows):
        canvas.drawString(40, 600 - 14 * at, label)
        canvas.drawRightString(190, 600 - 14 * at, one)
        canvas.drawRightString(260, 600 - 14 * at, other)
    draw_prose(canvas, 320, 240, 620, lines=30)
    canvas.drawString(40, 700, "What the directors think")
    assert "What the directors think\nRevenue" not in text_of(canvas)
