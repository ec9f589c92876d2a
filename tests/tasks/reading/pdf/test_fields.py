"""Values of flattened forms, what a form's author calls its fields, and tables that tags name where the page agrees."""

import time
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.reading import text_writer
from tasks.reading.pdf import reader
from tasks.reading.pdf.document import PdfDocument, TagBudget
from tests.cases import cases
from tests.tasks.reading.pdf.pdfs import HELVETICA, page, pdf, stream

LABELS = ("Name", "Street", "Town", "Country")
NOTE = "Signed in the presence of a notary"
CLAUSES = [f"Clause {number} says that the tenant pays the rent of EUR {number}00." for number in range(6)]
VALUES = ("Ada Alpha", "Long Lane 5", "Oslo", "Norway")


def form(values: Sequence[str], *, below: float = 0.0, tooltip: str = "", most: int = 0) -> bytes:
    """A form with a field behind each label, or above it by `below` points."""
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number, (label, value) in enumerate(zip(LABELS, values, strict=False)):
        y = 700 - 60 * number
        canvas.drawString(72, y - below, label)
        comb = {"maxlen": most, "fieldFlags": "comb"} if most else {}
        canvas.acroForm.textfield(
            name=f"f{number}", value=value, tooltip=tooltip and f"{tooltip} {label}",
            x=72 if below else 140, y=y - 4, width=160, height=16, borderWidth=0, **comb,
        )  # fmt: skip
    canvas.drawString(72, 300, NOTE)
    canvas.save()
    return file.getvalue()


def stamped(places: Sequence[tuple[str, float, float]]) -> bytes:
    """A page of prose on which a signing service has drawn words, each as a form of its own."""
    file = BytesIO()
    canvas = Canvas(file, A4)
    for number in range(6):
        canvas.drawString(
            72, 700 - 30 * number, f"Clause {number} says that the tenant pays the rent of EUR {number}00."
        )
    for number, (words, x, y) in enumerate(places):
        canvas.beginForm(f"s{number}")
        canvas.drawString(x, y, words)
        canvas.endForm()
        canvas.doForm(f"s{number}")
    canvas.save()
    return file.getvalue()


def flatten(data: bytes) -> bytes:
    document = pypdfium2.PdfDocument(data)
    document.init_forms()
    page = document[0]
    pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_PRINT)
    page.close()
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def test_values_of_a_flattened_form_stand_behind_their_labels() -> None:
    lines = reader.read(flatten(form(VALUES))).text.splitlines()
    assert [tuple(line.split("\t")) for line in lines[:4]] == list(zip(LABELS, VALUES, strict=True))


@pytest.mark.parametrize("draw", [bytes, flatten])
def test_values_stay_behind_labels_whose_lines_stand_closer_than_lines_of_a_cell(
    draw: Callable[[bytes], bytes],
) -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    for left, bottom, width, height in (
        (60, 600, 340, 120),
        (400, 600, 100, 120),
        (60, 560, 340, 40),
        (400, 560, 100, 40),
    ):
        canvas.rect(left, bottom, width, height)
    for x, y, label in ((70, 690, "State:"), (150, 690, "Zip:"), (260, 684, "Case number:"), (70, 672, "Phone:")):
        canvas.drawString(x, y, label)
    for x, y, words in ((410, 690, "Court"), (70, 570, "Clerk"), (410, 570, "Date")):
        canvas.drawString(x, y, words)
    for x, y, value in ((104, 688, "14"), (172, 688, "1185"), (110, 670, "555")):
        canvas.acroForm.textfield(name=value, value=value, x=x, y=y, width=40, height=12, fontSize=9, borderWidth=0)
    canvas.save()
    assert "State: 14 Zip: 1185 Case number: Phone: 555\tCourt" in reader.read(draw(file.getvalue())).text


def test_a_stamp_or_a_footer_that_is_drawn_last_moves_nothing() -> None:
    lines = reader.read(flatten(form(VALUES[:2]))).text.splitlines()
    assert lines[:3] == ["Name", "Street", NOTE]


def test_stamps_over_printed_words_are_no_values() -> None:
    data = stamped([("COPY", 200, 640), ("AB", 360, 550), ("Acme", 72, 40), ("3", 300, 40)])
    assert reader.read(data).text.splitlines()[: len(CLAUSES)] == CLAUSES


def test_characters_in_boxes_of_their_own_are_one_value() -> None:
    assert "Town\tOslo 12" in reader.read(flatten(form(("1040", "5", "Oslo 12", "N 0"), most=10))).text


def test_a_value_far_from_its_label_is_written_behind_what_its_field_is_called() -> None:
    reading = reader.read(form(VALUES, below=14, tooltip="Tenant's"))
    marked = [place for place in reading.places if place.kind == text_writer.ALTERNATIVE_TEXT]
    assert [reading.text[place.start : place.end].strip() for place in marked] == [
        f"Tenant's {label}: {value}" for label, value in zip(LABELS, VALUES, strict=True)
    ]


def test_values_stand_behind_the_labels_over_their_fields_and_not_at_the_end() -> None:
    lines = reader.read(form(VALUES, below=-18)).text.splitlines()
    assert lines == [*map(" ".join, zip(LABELS, VALUES, strict=True)), NOTE]


def test_several_values_below_one_line_stand_as_on_the_page() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.drawString(72, 700, "Describe the business:")
    canvas.drawString(72, 500, NOTE)
    answer = ("We sell zinc roofs.", "Most customers are in Norway.", "All sales are in euros.")
    for number, value in enumerate(answer):
        canvas.acroForm.textfield(name=f"f{number}", value=value, x=72, y=670 - 20 * number, width=300, height=16)
    canvas.save()
    for data in file.getvalue(), flatten(file.getvalue()):
        assert reader.read(data).text.splitlines() == ["Describe the business:", *answer, NOTE]


def test_a_value_stands_below_no_label_of_another_column() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    for x, y, values in (72, 752, ("Zeta Ltd", "York")), (330, 744, ("Alpha Ltd", "Bonn")):
        for number, (label, value) in enumerate(zip(LABELS[1:], values, strict=False)):
            canvas.drawString(x, y - 50 * number, label)
            canvas.acroForm.textfield(
                name=f"{x}{number}", value=value, x=x, y=y - 50 * number - 24, width=160, height=16
            )
    canvas.save()
    for data in file.getvalue(), flatten(file.getvalue()):
        lines = reader.read(data).text.strip().replace("\t", " ").split("\n")
        assert lines == ["Street Zeta Ltd", "Town York", "Street Alpha Ltd", "Town Bonn"]


def test_a_value_behind_its_label_is_written_once() -> None:
    assert reader.read(form(VALUES, tooltip="Enter")).text.count("Ada Alpha") == 1


@cases(
    "called",
    ["Multiply by $2,375", "In the year 2023", "As of 30/6", "It has no debts", "Write No if none; sum"],
)
def test_what_a_field_is_called_states_no_amount_no_time_and_nothing_else(called: str) -> None:
    assert called not in reader.read(form(VALUES, below=14, tooltip=called)).text


def test_a_figure_behind_words_is_called_nothing_else() -> None:
    text = reader.read(form(("EUR 900,000", "42", "zinc", "7"), tooltip="Net profit, average staff")).text
    assert [line for line in text.splitlines() if "Net profit" in line] == ["Net profit, average staff Town: zinc"]


def test_what_several_fields_are_called_tells_nothing() -> None:
    data = form(VALUES, below=14, tooltip="Cents")
    for label in LABELS:
        data = data.replace(f"(Cents {label})".encode(), b"(Cents)" + b" " * (len(label) + 1))
    assert "Cents:" not in reader.read(data).text


@cases(
    ("called", "written"),
    [
        *((name, "") for name in ("TextField [3]", "Text1 ", "undefined_2", "Champ de texte 2", "f[0].#p[0].F1[0]")),
        ("Tenant [2]", "Tenant: Oslo"),
        ("Date", "Date: Oslo"),
    ],
)
def test_names_and_numbers_that_a_program_gives_to_fields_are_not_written(called: str, written: str) -> None:
    data = form(VALUES, below=14, tooltip="What it is called")
    data = data.replace(b"(What it is called Town)", f"({called})".encode().ljust(24))
    lines = reader.read(data).text.splitlines()
    assert [line for line in lines if line.endswith(": Oslo")] == ([written] if written else [])


def test_a_value_takes_no_place_under_the_head_of_another_column() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    xs = [72, 200, 260, 320, 380, 440, 500]
    canvas.grid(xs, [700, 680, 660, 640])
    heads = ("Company", "Shares", "Cost", "Unit", "Total", "Tax")
    for y, row in ((685, heads), (665, ("a)",)), (645, ("b)", "17", "19"))):
        for x, words in zip(xs, row, strict=False):
            canvas.drawString(x + 4, y, words)
    canvas.acroForm.textfield(name="a", value="1,185", x=110, y=662, width=80, height=16, borderWidth=0)
    canvas.save()
    line = next(line for line in reader.read(file.getvalue()).text.splitlines() if "1,185" in line)
    assert line.split("\t") == ["a) 1,185", "", "", "", "", ""]


@pytest.mark.parametrize("words", ["of which 50 % is due", "of which is due"])
def test_values_on_dots_stand_in_their_lines_beside_percentages(words: str) -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    canvas.drawString(72, 700, "The tenant Mr ................................")
    canvas.drawString(330, 700, words)
    canvas.acroForm.textfield(name="tenant", value="Ada Alpha", x=160, y=697, width=150, height=14, borderWidth=0)
    canvas.save()
    reading = reader.read(file.getvalue())
    assert f"The tenant Mr Ada Alpha {words}" in reading.text.replace("\t", " ")
    assert not reading.warnings


@cases("change", [bytes, flatten])
@cases("dots", ["." * 30, "_" * 20, "…" * 12])
def test_values_on_dots_that_touch_words_stand_between_these(change: Callable[[bytes], bytes], dots: str) -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    end = 72.0
    for number, word in enumerate(("The tenant Mr", "born in", "on")):
        canvas.drawString(end, 700, f"{word}{dots}")
        begin = end + canvas.stringWidth(word)
        end = begin + canvas.stringWidth(dots)
        value = ("Ada Alpha", "Oslo", "1 May 1980")[number]
        canvas.acroForm.textfield(name=word, value=value, x=begin, y=697, width=end - begin, height=14, borderWidth=0)
    canvas.save()
    text = " ".join(reader.read(change(file.getvalue())).text.split())
    assert text == "The tenant Mr Ada Alpha born in Oslo on 1 May 1980"


def draw_form(labels: Sequence[tuple[str, float, float]], fields: Sequence[tuple[str, float, float]]) -> Canvas:
    """A canvas with words, and fields of a width of 120 points that hold their values."""
    canvas = Canvas(BytesIO(), A4)
    for label, x, y in labels:
        canvas.drawString(x, y, label)
    for value, x, y in fields:
        canvas.acroForm.textfield(name=value, value=value, x=x, y=y, width=120, height=14, borderWidth=0)
    return canvas


def read_lines(canvas: Canvas, change: Callable[[bytes], bytes]) -> list[str]:
    return [" ".join(line.split()) for line in reader.read(change(canvas.getpdfdata())).text.splitlines()]


@pytest.mark.parametrize("change", [bytes, flatten])
def test_values_in_cells_stand_behind_the_labels_above_them(change: Callable[[bytes], bytes]) -> None:
    places = [(72, 700), (300, 700), (72, 660), (300, 660)]
    labels = [(label, x + 2, y + 16) for label, (x, y) in zip(LABELS, places, strict=True)]
    canvas = draw_form(labels, [(value, x + 2, y + 1) for value, (x, y) in zip(VALUES, places, strict=True)])
    for y in (660, 700, 740):
        canvas.line(72, y - 10, 520, y - 10)
    for x in (72, 300, 520):
        canvas.line(x, 650, x, 730)
    lines = read_lines(canvas, change)
    assert lines == ["Name Ada Alpha Street Long Lane 5", "Town Oslo Country Norway"]


@cases("change", [bytes, flatten])
@cases("first", ["", "Ada Alpha"])
@cases("step", [30, 34, 40])
def test_values_on_lines_stand_behind_no_label_of_the_next_line(
    step: int, first: str, change: Callable[[bytes], bytes]
) -> None:
    labels = [(label, 72, 700 - step * row) for row, label in enumerate(LABELS)]
    values = [first, *VALUES[1:]]
    canvas = draw_form(labels, [(value, 72, 714 - step * (row + 1)) for row, value in enumerate(values)])
    for row in range(1, 5):
        canvas.line(72, 713 - step * row, 300, 713 - step * row)
    canvas.line(72, 771, 300, 771)
    canvas.drawString(72, 760, "Application form")
    canvas.drawString(72, 700 - step * 4, "Please sign overleaf")
    assert not {" ".join(pair) for pair in zip([*LABELS[1:], "Please sign overleaf"], values, strict=True)} & set(
        read_lines(canvas, change)
    )


@cases("change", [bytes, flatten])
@cases("row_label", ["", "Revenue"])
def test_heads_of_columns_are_no_labels_of_the_values_below_them(
    row_label: str, change: Callable[[bytes], bytes]
) -> None:
    words = [("FY 2024", 176, 716), ("FY 2023", 306, 716), *([(row_label, 76, 700)] if row_label else [])]
    values = [
        ("5,000", 176, 698),
        ("4,000", 306, 698),
        *([] if row_label else [("3,000", 176, 678), ("2,000", 306, 678)]),
    ]
    canvas = draw_form(words, values)
    for y in (730, 694, 674):
        canvas.line(72, y, 432, y)
    for x in (172, 302, 432):
        canvas.line(x, 674, x, 730)
    assert read_lines(canvas, change)[0] == "FY 2024 FY 2023"


def test_values_that_follow_words_stand_behind_no_heading_of_their_cell() -> None:
    canvas = draw_form([("Employer", 76, 716), ("Name:", 76, 702)], [("Ada Alpha", 140, 700)])
    canvas.rect(72, 694, 300, 36)
    canvas.line(136, 699, 300, 699)
    assert read_lines(canvas, bytes) == ["Employer", "Name: Ada Alpha"]


def test_one_label_above_a_column_of_values_is_the_label_of_none() -> None:
    canvas = draw_form([("Name", 76, 716)], [("Ada Alpha", 76, 698), ("Bo Beta", 76, 684)])
    canvas.rect(72, 680, 300, 50)
    assert read_lines(canvas, bytes) == ["Name", "Ada Alpha", "Bo Beta"]


FIGURES = [("5,000", 172, 700), ("4,000", 302, 700), ("3,000", 172, 684), ("2,000", 302, 684)]


def draw_small_form(
    labels: Sequence[tuple[str, float, float]],
    fields: Sequence[tuple[str, float, float]],
    width: float = 120,
    size: float = 9,
) -> Canvas:
    """A form without rules whose fields are 14 points high, and hold values as large as its labels."""
    canvas = Canvas(BytesIO(), A4)
    canvas.setFont("Helvetica", size)
    for label, x, y in labels:
        canvas.drawString(x, y, label)
    for value, x, y in fields:
        canvas.acroForm.textfield(name=value, value=value, x=x, y=y, width=width, height=14, borderWidth=0, fontSize=9)
    return canvas


@cases(
    ("labels", "fields", "line"),
    [
        ([("IBAN", 72, 716)], [("DE12", 72, 698)], "IBAN DE12"),
        ([("IBAN", 76, 716), ("BIC", 72, 690)], [("DE12", 72, 700), ("DEUT", 72, 674)], "BIC DEUT"),
        ([("Town", 72, 716), ("Day", 300, 716)], [("Oslo", 72, 700), ("1 May", 296, 700)], "Town Oslo Day 1 May"),
        (
            [("Full name of the second of the tenants", 72, 716)],
            [("Ada", 72, 700)],
            "Full name of the second of the tenants Ada",
        ),
    ],
)
def test_labels_over_fields_that_nothing_encloses_stand_before_their_values(
    labels: Sequence[tuple[str, float, float]], fields: Sequence[tuple[str, float, float]], line: str
) -> None:
    assert line in read_lines(draw_small_form(labels, fields), bytes)


@cases(
    ("labels", "fields"),
    [
        ([("FY 2024", 172, 716), ("FY 2023", 302, 716)], FIGURES),
        ([("FY 2024", 172, 716), ("FY 2023", 302, 716), ("Revenue", 72, 703)], [("500", 172, 700), ("400", 302, 700)]),
        ([("Born on", 72, 716)], [("12", 72, 700), ("May", 202, 700), ("1980", 332, 700)]),
        ([("First", 72, 716), ("Last", 120, 716)], [("Ada Alpha", 72, 700)]),
        ([("Name", 72, 703), ("Spouse", 72, 690)], [("Ada", 100, 700), ("Bo", 200, 676)]),
        ([("Address", 72, 730)], [("Oslo", 72, 700)]),
        ([("Town", 72, 716)], [("Oslo", 72, 700), ("1 May", 300, 700)]),
        ([("Town", 52, 716)], [("Oslo", 72, 700)]),
        ([("Name", 72, 716), ("Title", 202, 716), ("Mail", 332, 716), ("Pay", 462, 716)], [("None", 72, 700)]),
        ([("2024", 72, 716)], [("Oslo", 72, 700)]),
        ([("Signed in", 72, 716), ("(town)", 72, 693)], [("Oslo", 72, 700)]),
        ([("Answer", 72, 716), ("yes", 40, 703)], [("Oslo", 72, 700)]),
        ([("Name", 72, 716)], [("Ada", 100, 714), ("Bo", 72, 698)]),
        ([("The names of both of the tenants of the house", 72, 716)], [("Bo", 202, 700), ("Ada", 72, 698)]),
        ([("Owner:", 130, 716), ("Value:", 302, 716), ("A", 110, 703)], [("Ada", 130, 700), ("2,517", 302, 698)]),
    ],
)
def test_other_words_over_fields_are_not_their_labels(
    labels: Sequence[tuple[str, float, float]], fields: Sequence[tuple[str, float, float]]
) -> None:
    lines = read_lines(draw_small_form(labels, fields), bytes)
    words, last = labels[0][0], fields[-1][0]
    assert not [line for line in lines if words in line and last in line]


def test_a_heading_over_a_field_is_not_its_label() -> None:
    canvas = draw_small_form([("Tenant", 72, 716)], [("Ada", 72, 698)], size=14)
    assert read_lines(canvas, bytes) == ["Tenant", "Ada"]


def test_a_rule_parts_the_labels_over_two_fields() -> None:
    canvas = draw_small_form([("Phone", 72, 716), ("Mail", 102, 716)], [("555", 72, 698)], width=26)
    canvas.line(100, 690, 100, 730)
    assert not [line for line in read_lines(canvas, bytes) if "Mail" in line and "555" in line]


def test_captions_of_other_rows_tell_that_words_between_fields_are_captions() -> None:
    labels = [("Town", 72, 693), ("Day", 72, 668), ("Name", 72, 643)]
    fields = [("Oslo", 72, 702), ("1 May", 72, 677), ("Ada", 72, 652)]
    lines = read_lines(draw_small_form(labels, fields), bytes)
    assert not {"Town 1 May", "Day Ada"} & set(lines)


def test_a_currency_sign_stays_in_the_column_of_its_value() -> None:
    file = BytesIO()
    canvas = Canvas(file, A4)
    xs = [72, 200, 280, 360, 440]
    canvas.grid(xs, [700, 680, 660, 640])
    for y, row in ((685, ("Item", "Amount", "Form", "Line")), (665, ("Interest", "$")), (645, ("Royalties", "$"))):
        for x, words in zip(xs, row, strict=False):
            canvas.drawString(x + 4, y, words)
    for value, x, y in (("1,629", 220, 662), ("1,703", 364, 662), ("1,740", 220, 642), ("1,777", 284, 642)):
        canvas.acroForm.textfield(name=value, value=value, x=x, y=y, width=50, height=16, borderWidth=0)
    canvas.save()
    lines = reader.read(file.getvalue()).text.splitlines()
    assert [line.split("\t") for line in lines[1:3]] == [
        ["Interest", "$ 1,629", "", "1,703"],
        ["Royalties", "$ 1,740", "1,777", ""],
    ]


Cell = Sequence[tuple[float, float, str]]
"""The lines of a cell: where they stand, from the left and the bottom of the page, and their words."""


def _tagged(rows: Sequence[Sequence[Cell]], others: Cell = (), untagged: Cell = ()) -> bytes:
    """A page of one table with these cells, other words that are a paragraph of its structure, and words of none."""
    cells = [cell for row in rows for cell in row]
    content = b"".join(_content(cell, mark) for mark, cell in enumerate([*cells, others])) + _shown(untagged)
    first = 9 + len(rows)  # the number of the first cell
    elements: list[bytes] = []
    behind = first
    for row in rows:
        kids = b" ".join(b"%d 0 R" % number for number in range(behind, behind + len(row)))
        elements.append(b"<< /Type /StructElem /S /TR /P 8 0 R /K [%s] >>" % kids)
        behind += len(row)
    parents = [9 + number for number, row in enumerate(rows) for _ in row]
    elements += (
        b"<< /Type /StructElem /S /TD /P %d 0 R /Pg 3 0 R /K %d >>" % (parent, mark)
        for mark, parent in enumerate(parents)
    )
    elements.append(b"<< /Type /StructElem /S /P /P 7 0 R /Pg 3 0 R /K %d >>" % len(cells))
    marked = b" ".join(b"%d 0 R" % (first + mark) for mark in range(len(cells) + 1))
    row_numbers = b" ".join(b"%d 0 R" % (9 + number) for number in range(len(rows)))
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot 6 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            page(4, 5, b"/StructParents 0"),
            stream(content),
            HELVETICA,
            b"<< /Type /StructTreeRoot /K 7 0 R /ParentTree << /Nums [0 [%s]] >> >>" % marked,
            b"<< /Type /StructElem /S /Document /P 6 0 R /K [8 0 R %d 0 R] >>" % behind,
            b"<< /Type /StructElem /S /Table /P 7 0 R /K [%s] >>" % row_numbers,
            *elements,
        ]
    )


def _content(lines: Cell, mark: int) -> bytes:
    return b"/P << /MCID %d >> BDC\n%sEMC\n" % (mark, _shown(lines))


def _shown(lines: Cell) -> bytes:
    return b"".join(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in lines)


def _lines(tmp_path: Path, document: bytes) -> list[str]:
    path = tmp_path / "tagged.pdf"
    path.write_bytes(document)
    return reader.read(path).text.splitlines()


_LABELS = ("Lease of the", "Sale of the", "Option on the")


def _wrapped(second: Sequence[str] = ("offices in Lyon", "site in Turin", "depot in Graz")) -> list[list[Cell]]:
    """Rows whose labels wrap with room for the next word, as far apart as the rows: the page does not tell rows."""
    rows: list[list[Cell]] = [[[(72, 700, "Contract")], [(300, 700, "Party")], [(450, 700, "Value")]]]
    for number, (first, other) in enumerate(zip(_LABELS, second, strict=True)):
        y = 680 - 40 * number
        rows.append(
            [
                [(72, y, first), (72, y - 20, other)],
                [(300, y, "Borel"), (300, y - 20, "Holding")],
                [(450, y - 20, f"{number + 2},500")],
            ]
        )
    return rows


@pytest.mark.parametrize("others", [[(200, 660, "Note 7")], [(500, 640, "see page 9")]], ids=["between", "beside"])
def test_tags_do_not_count_where_other_words_stand_among_the_rows(tmp_path: Path, others: Cell) -> None:
    assert "Option on the depot in Graz\tBorel Holding\t4,500" not in _lines(tmp_path, _tagged(_wrapped(), others))


def test_tags_do_not_count_where_rows_stand_in_another_order(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1], rows[2] = [rows[1][0], *rows[2][1:]], [rows[2][0], *rows[1][1:]]
    lines = _lines(tmp_path, _tagged(rows))
    assert not any(line.startswith("Lease of the offices in Lyon") and line.endswith("3,500") for line in lines)


def test_rows_and_figures_that_wrap_are_those_of_the_tags(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1][2] = [(450, 680, "35,000,0"), (450, 660, "00")]
    document = _tagged(rows)
    told = [
        "Contract\tParty\tValue",
        "Lease of the offices in Lyon\tBorel Holding\t35,000,000",
        "Sale of the site in Turin\tBorel Holding\t3,500",
        "Option on the depot in Graz\tBorel Holding\t4,500",
    ]
    assert _lines(tmp_path, document) == told
    assert _lines(tmp_path, document.replace(b"/S /Table", b"/S /Secti")) != told  # the page alone does not say so


_LOOKS = 44
"""Children that are looked at in the structure of a sheet with one row of its own."""


def _row(y: float, *texts: str) -> list[Cell]:
    return [[(x, y, text)] for x, text in zip((72, 300, 400), texts, strict=True)]


def _sheet(*rows: Sequence[Cell]) -> list[Sequence[Cell]]:
    """A balance sheet with these rows, which stand 20 points apart from 680 to 660."""
    total = _row(640, "Total assets", "900,000", "800,000")
    return [_row(700, "EUR", "2024", "2023"), *rows, total, _row(620, "Total debt", "700,000", "600,000")]


@pytest.mark.parametrize(
    ("second", "third"),
    [
        ([(300, 580, "500,000"), (300, 560, "80,000")], [(400, 580, "-"), (400, 560, "40,000")]),
        ([(300, 580, "500,000")], [(400, 580, "-"), (400, 560, "40,000")]),
    ],
    ids=["two figures", "a dash and a figure"],
)
def test_a_tagged_row_that_holds_two_rows_of_figures_stays_two(tmp_path: Path, second: Cell, third: Cell) -> None:
    labels = [(72, 580, "Revenue"), (72, 560, "Net income")]
    rows = [*_sheet(), _row(600, "Cash", "70,000", "60,000"), [labels, second, third]]
    lines = _lines(tmp_path, _tagged(rows))
    assert [line.split("\t")[0] for line in lines[-2:]] == ["Revenue", "Net income"]


@pytest.mark.parametrize(
    ("untagged", "row"),
    [
        ([(292, 660, "-")], "Equity\t- 90,000\t80,000"),
        ([(500, 700, "2022"), (500, 680, "60,000"), (500, 660, "70,000")], "Equity\t90,000\t80,000\t70,000"),
    ],
    ids=["a sign", "a column"],
)
def test_what_tags_leave_out_of_a_row_stays_in_it(tmp_path: Path, untagged: Cell, row: str) -> None:
    rows = _sheet(_row(680, "Loans", "50,000", "40,000"), _row(660, "Equity", "90,000", "80,000"))
    assert row in _lines(tmp_path, _tagged(rows, untagged=untagged))


def test_the_number_of_a_box_is_no_amount(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [
        [
            [(72, y, f"Profit {y}")],
            [(250, y, "335")],
            [(300, y, "£")],
            [(400, y, "340")],
            [(450, y, "345")],
            [(500, y, "£ p")],
        ]
        for y in (700, 680, 660, 640)
    ]
    assert "£340" not in "".join(_lines(tmp_path, _tagged(rows)))


def test_a_structure_that_contains_itself_ends(tmp_path: Path) -> None:
    document = _tagged(_wrapped()).replace(b"/S /TR /P 8 0 R /K [13 0 R", b"/S /TR /P 8 0 R /K [ 8 0 R")
    assert "Contract" in " ".join(_lines(tmp_path, document))


def test_a_cell_that_is_named_often_is_looked_at_once(tmp_path: Path) -> None:
    kids, marks = b"/K [13 0 R 14 0 R 15 0 R]", b"/Pg 3 0 R /K 0 >>"
    document = _tagged(_wrapped())
    assert kids in document
    assert marks in document
    document = document.replace(kids, b"/K [%s]" % b" ".join([b"13 0 R"] * 2_000))
    document = document.replace(marks, b"/Pg 3 0 R /K [%s] >>" % b" ".join([b"0"] * 20_000))
    begin = time.process_time()
    assert "Contract" in " ".join(_lines(tmp_path, document))
    assert time.process_time() - begin < 2


def test_a_page_s_structure_is_not_looked_at_once_a_document_s_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = [(72, 680, "Leases"), (72, 660, "Offices in Lyon")]
    document = _tagged(_sheet([label, [(300, 660, "500,000")], [(400, 660, "40,000")]]))
    for children, is_one_row in ((_LOOKS, False), (_LOOKS + 1, True)):
        monkeypatch.setattr(PdfDocument, "tags", TagBudget(children))
        assert ("Leases Offices in Lyon\t500,000\t40,000" in _lines(tmp_path, document)) is is_one_row
