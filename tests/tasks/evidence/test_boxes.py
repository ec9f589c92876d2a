"""The boxes of quotations, on pages whose lines stand where the test has put them."""

from collections.abc import Sequence

import pytest

from tasks.evidence.boxes import Box, Glyphs, PageBoxes, fold_character
from tasks.evidence.page import PdfPage
from tasks.reading.pdf import reader
from tasks.reading.pdf.document import PdfDocument
from tests.tasks.reading.pdf import pdfs

HEIGHT = 792


def content(*lines: tuple[int, int, str]) -> bytes:
    """Lines of 10 points at x, y from the lower left corner."""
    return pdfs.stream(
        b"".join(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, words.encode("cp1252")) for x, y, words in lines)
    )


def page_of(*lines: tuple[int, int, str], entries: bytes = b"") -> tuple[Glyphs, str]:
    """A page with these lines: its glyphs and its text as the reader gives it."""
    objects = pdfs.one_page(b"", entries=entries)
    objects[3] = content(*lines)
    data = pdfs.pdf(objects)
    with PdfDocument(data) as document, PdfPage(document, 1) as page:
        return page.glyphs, reader.read(data).text


def find(page: tuple[Glyphs, str], quotation: str, occurrence: int = 0) -> list[Box]:
    glyphs, text = page
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(quotation, start + 1)
    return PageBoxes(glyphs).of(text, start, start + len(quotation))


def under(page: tuple[Glyphs, str], boxes: Sequence[Box]) -> str:
    """The characters whose middle lies in one of the boxes."""
    glyphs = page[0]
    return "".join(
        text for index, text in enumerate(glyphs.texts) if any(box.holds(glyphs.box(index)) for box in boxes)
    )


def test_a_line_has_one_box_where_it_stands() -> None:
    page = page_of((72, 700, "Revenue was 40 million euros, all of it recurring."), (72, 680, "Costs fell."))
    (box,) = find(page, "Revenue was 40 million euros, all of it recurring.")
    assert box.left == pytest.approx(72, abs=2)
    assert box.bottom == pytest.approx(HEIGHT - 700, abs=4)
    assert box.top == pytest.approx(HEIGHT - 708, abs=4)
    assert under(page, [box]) == "Revenuewas40millioneuros,allofitrecurring."


def test_words_that_go_on_in_the_next_line_have_a_box_a_line() -> None:
    page = page_of((72, 700, "The lease ends when either"), (72, 688, "party gives notice in writing."))
    first, second = find(page, "ends when either\nparty gives")
    assert first.bottom <= second.top + 3
    assert under(page, [first, second]) == "endswheneitherpartygives"


def test_words_that_stand_twice_are_boxed_where_they_were_quoted() -> None:
    page = page_of(
        (72, 700, "Alpha: no debt. Beta goes on."), (72, 600, "Gamma says otherwise: no debt. Delta goes on.")
    )
    (first,), (second,) = find(page, "no debt."), find(page, "no debt.", 1)
    assert first.top == pytest.approx(HEIGHT - 708, abs=4)
    assert second.top == pytest.approx(HEIGHT - 608, abs=4)


def test_a_figure_within_a_longer_one_is_not_it() -> None:
    page = page_of((72, 700, "In all 1500 units and 500 more."))
    (box,) = find(page, "500 more")
    assert under(page, [box]) == "500more"


def test_a_quotation_that_ends_within_a_word_is_boxed_up_to_there() -> None:
    page = page_of((72, 700, "Audited financial statements of 2024"))
    (box,) = find(page, "Audited financial s")
    assert under(page, [box]) == "Auditedfinancials"


def test_a_row_of_a_table_is_found_across_its_cells() -> None:
    rows = [("Revenue", "100", "80"), ("Costs", "60", "50"), ("Result", "40", "30")]
    lines = [(x, 700 - 20 * row, words[at]) for at, x in enumerate((72, 250, 350)) for row, words in enumerate(rows)]
    glyphs, _ = page_of(*lines)  # drawn column by column
    page = glyphs, "\n".join("\t".join(row) for row in rows)
    boxes = find(page, "Costs\t60\t50")
    assert under(page, boxes) == "Costs6050"
    assert {round(box.top) for box in boxes} == {round(boxes[0].top)}


def test_cells_of_several_lines_are_found_word_by_word() -> None:
    lines = [
        (72, 700, "Active substance"),
        (250, 700, "Sales value"),
        (72, 688, "in billions of pounds"),
        (250, 688, "in billions of dollars"),
        (72, 660, "Imports"),
        (250, 660, "2.2"),
    ]
    glyphs, _ = page_of(*lines)
    page = glyphs, "Active substance in billions of pounds\tSales value in billions of dollars\nImports\t2.2"
    boxes = find(page, "pounds\tSales value in billions of dollars\nImports")
    assert sorted(under(page, [box]) for box in boxes) == ["Imports", "Salesvalue", "inbillionsofdollars", "pounds"]


def test_whole_lines_are_found_however_far_apart_a_chart_puts_them() -> None:
    glyphs, _ = page_of((72, 200, "Revenue was 100 million euros."), (72, 450, "2022 2023"), (72, 700, "Good years"))
    page = glyphs, "Good years\nRevenue was 100 million euros.\n2022 2023"
    assert under(page, find(page, "Good years\nRevenue was 100")) == "Revenuewas100Goodyears"


def test_words_that_stand_on_a_page_but_not_together_are_not_boxed() -> None:
    glyphs, _ = page_of((72, 700, "The lender shall give notice."), (72, 200, "Interest ends."))
    page = glyphs, "The lender shall give notice.\nInterest ends.\nA note: lender interest notice ends"
    assert find(page, "lender interest notice ends") == []


def test_letters_that_stand_too_often_are_not_boxed() -> None:
    glyphs, text = page_of(*((40 + 20 * column, 780 - 14 * row, "no") for column in range(25) for row in range(52)))
    assert PageBoxes(glyphs).of(text, 3, 5) == []


def test_words_printed_twice_to_look_bold_count_once() -> None:
    row = "Costs 60 The result of the year was 40 and came from the sale of land Revenue 100"
    once, _ = page_of((72, 700, row))
    over = [(left + 0.2, top, right + 0.2, bottom) for left, top, right, bottom in once.boxes]
    glyphs = Glyphs([*once.texts] * 2, [*once.boxes, *over], [*once.begins] * 2)
    assert glyphs.once == list(range(len(once)))
    (box,) = PageBoxes(glyphs).of(row, 9, row.index(" Revenue"))
    assert under((glyphs, row), [box]) == "Theresultoftheyearwas40andcamefromthesaleofland" * 2


def test_a_turned_page_is_boxed_as_it_is_shown() -> None:
    page = page_of((72, 700, "Words on a page that lies on its side."), entries=b"/Rotate 90")
    (box,) = find(page, "Words on a page")
    assert box.left == pytest.approx(700, abs=12)
    assert box.top == pytest.approx(72, abs=4)
    assert box.bottom - box.top > 3 * (box.right - box.left)  # the line runs downwards


def test_a_cropped_page_is_measured_from_its_shown_corner() -> None:
    page = page_of((172, 600, "Inside of the crop box."), entries=b"/CropBox [100 100 512 692]")
    (box,) = find(page, "Inside")
    assert box.left == pytest.approx(72, abs=2)
    assert box.bottom == pytest.approx(92, abs=4)


def test_where_the_words_are_not_on_the_page_nothing_is_boxed() -> None:
    glyphs, text = page_of((72, 700, "Some words."))
    assert PageBoxes(glyphs).of(text + " A remark beside the page.", len(text) + 1, len(text) + 9) == []
    assert PageBoxes(glyphs).of("— …", 0, 3) == []


def test_two_places_that_cannot_be_told_apart_are_not_boxed() -> None:
    glyphs, _ = page_of((72, 700, "Same."), (72, 600, "Same."))
    assert PageBoxes(glyphs).of("Same.", 0, 5) == []


def test_forms_of_letters_compare_alike() -> None:
    assert [fold_character(sign) for sign in ("ﬁ", "Ａ", "ß", "²", "-", "é")] == ["fi", "a", "ss", "2", "", "é"]
