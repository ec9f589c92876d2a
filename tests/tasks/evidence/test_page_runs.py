"""The boxes of words that stand in one stretch: those that a look at each glyph gives, and none where one is needed."""

from itertools import product

import pytest

from tasks.evidence.boxes import PageBoxes
from tasks.evidence.glyphs import Box
from tasks.evidence.pdf_page import PdfPage
from tasks.reading.pdf import reader
from tasks.reading.pdf.document import PdfDocument
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.pdf import pdfs

PROSE = (
    (72, 700, "Revenue was 40 million euros (2023: 35), all of it recurring; the largest"),
    (72, 688, "customer's share fell to 9 %, and costs of 3.5 million were written off."),
    (72, 660, "No claim is pending."),
)


def page(stream: bytes) -> bytes:
    objects = pdfs.one_page(b"")
    objects[3] = pdfs.stream(stream)
    return pdfs.pdf(objects)


def both(data: bytes, quotation: str) -> tuple[list[Box], list[Box]]:
    """The boxes of a quotation as a page gives them, and as a look at each glyph gives them."""
    text = reader.read(data).text
    start = text.index(quotation)
    with PdfDocument(data) as pdf, PdfPage(pdf, 1) as opened:
        span = text, start, start + len(quotation)
        return opened.boxes(*span), PageBoxes(opened.glyphs).of(*span)


def rounded(boxes: list[Box]) -> list[list[float]]:
    return [[round(side, 1) for side in box] for box in boxes]


def laid_out(*lines: tuple[int, int, str]) -> bytes:
    objects = pdfs.one_page(b"")
    objects[3] = content(*lines)
    return pdfs.pdf(objects)


WORDS = " ".join(line for _, _, line in PROSE).split(" ")


@pytest.mark.parametrize(("first", "count"), list(product(range(0, len(WORDS) - 12, 3), (2, 5, 12))))
def test_prose_has_the_boxes_that_each_of_its_glyphs_gives(first: int, count: int) -> None:
    data = laid_out(*PROSE)
    text = reader.read(data).text
    words = text.split()
    start = len(text) - len(text.lstrip())
    for word in words[:first]:
        start = text.index(word, start) + len(word)
    end = start
    for word in words[first : first + count]:
        end = text.index(word, end) + len(word)
    ours, by_glyphs = both(data, text[start:end].strip())
    assert by_glyphs
    assert rounded(ours) == rounded(by_glyphs)


def test_a_heading_in_larger_print_is_boxed_with_what_follows() -> None:
    large = b"BT /F1 16 Tf 72 720 Td (4. On recurring revenue) Tj ET\nBT /F1 10 Tf 72 700 Td (It was high.) Tj ET\n"
    ours, by_glyphs = both(page(large), "On recurring revenue\nIt was high")
    assert len(ours) == 2
    assert rounded(ours) == rounded(by_glyphs)


def test_a_figure_three_lines_high_takes_in_no_line_beside_its_own() -> None:
    beside = [(120, 704, "of revenue recurs"), (120, 718, "above it other words"), (120, 690, "below it other words")]
    lines = b"".join(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, t.encode()) for x, y, t in beside)
    data = page(b"BT /F1 40 Tf 72 694 Td (45) Tj ET\n" + lines)
    text = "45 of revenue recurs"
    with PdfDocument(data) as pdf, PdfPage(pdf, 1) as opened:
        held = [index for box in opened.boxes(text, 0, len(text)) for index in opened.glyphs.held_by(box)]
        under = "".join(opened.glyphs.texts[index] for index in held)
    assert sorted(under) == sorted("45ofrevenuerecurs")


def test_words_of_another_column_between_two_pieces_of_one_run_are_not_boxed() -> None:
    data = page(
        b"BT /F1 10 Tf 72 700 Td [(The lease) -16000 (ends in May)] TJ ET\nBT /F1 10 Tf 150 700 Td (Other) Tj ET\n"
    )
    text = "The lease ends in May"
    with PdfDocument(data) as pdf, PdfPage(pdf, 1) as opened:
        held = [index for box in opened.boxes(text, 0, len(text)) for index in opened.glyphs.held_by(box)]
        assert "O" not in [opened.glyphs.texts[index] for index in held]


def test_words_that_stand_twice_are_told_apart_by_what_is_around_them() -> None:
    data = laid_out((72, 700, "First: the loan is repaid early."), (72, 600, "Second: the loan is repaid late."))
    text = reader.read(data).text
    start = text.index("the loan is repaid", text.index("Second"))
    with PdfDocument(data) as pdf, PdfPage(pdf, 1) as opened:
        (box,) = opened.boxes(text, start, start + len("the loan is repaid"))
    assert box.top > 150


def test_letters_within_another_word_are_not_the_words_quoted() -> None:
    data = laid_out((72, 700, "Apartments are let."))
    with PdfDocument(data) as pdf, PdfPage(pdf, 1) as opened:
        assert opened.boxes("part", 0, 4) == []
