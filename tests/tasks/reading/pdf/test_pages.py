"""The text of a page: hyphens at line ends, ligatures, spaces and line breaks that only places tell."""

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from tasks.reading.pdf import pages, reader
from tests.cases import cases
from tests.tasks.reading.pdf import pdfs


def drawn(*pieces: tuple[str, float, float, float]) -> bytes:
    """A page of these pieces side by side: each its text, its size, how high it is set, the gap before it."""
    canvas = Canvas("a.pdf", (600, 800))
    x = 72.0
    for text, size, rise, gap in pieces:
        canvas.setFont("Times-Roman", size)
        canvas.drawString(x + gap, 700 + rise, text)
        x += gap + stringWidth(text, "Times-Roman", size)
    return bytes(canvas.getpdfdata())


@cases(
    ("text", "expected"),
    [
        ("indemni\ufffefication", "indemnification"),
        ("indemni\ufffe\r\nfication and war\x02ranty", "indemnification and warranty"),
        ("the age\ufffeadjusted rate, the age-adjusted figures", "the age-adjusted rate, the age-adjusted figures"),
        ("Anglo\ufffeAmerican, 2020\ufffe2021, COVID\ufffe19", "Anglo-American, 2020-2021, COVID-19"),
        ("AGREE\ufffeMENT", "AGREEMENT"),
        ("a soft\xadhyphen", "a softhyphen"),
        ("words \r\nand more  ", "words\nand more"),
        ("Loèche\ufffeles-Bains, state-of\x02the-art", "Loèche-les-Bains, state-of-the-art"),
        ("a day-to\ufffeday task", "a day-to-day task"),
        ("to\ufffegether", "together"),
        ("NON\ufffeINFRINGEMENT", "NONINFRINGEMENT"),
    ],
)
def test_a_word_split_at_a_line_s_end_is_mended(text: str, expected: str) -> None:
    assert pages.mend_text(text) == expected


def test_non_keeps_its_hyphen_where_the_document_writes_so() -> None:
    page = "NON\ufffeINFRINGEMENT, Non\ufffecontrolling interests"
    compounds = pages.find_compounds(["a non-exclusive license", "noncontrolling interests", page])
    assert pages.mend_text(page, compounds=compounds) == "NON-INFRINGEMENT, Noncontrolling interests"


def test_bullets_of_fonts_for_symbols_are_bullets() -> None:
    assert pages.mend_text("\uf0b7 one\n\uf0a7 two\nthree \uf0a8 four") == "• one\n• two\nthree \uf0a8 four"


def test_a_compound_that_another_page_has_keeps_its_hyphen_at_a_line_s_end() -> None:
    canvas = Canvas("a.pdf", (600, 800))
    for lines in (
        ("A brand-name drug, and generic ones.",),
        ("They cost less than brand-", "name drugs, by agree-", "ment."),
    ):
        for number, line in enumerate(lines):
            canvas.drawString(72, 700 - 14 * number, line)
        canvas.showPage()
    text = reader.read(bytes(canvas.getpdfdata())).text
    assert text == "A brand-name drug, and generic ones.\n\fThey cost less than brand-name drugs, by agreement.\n"


def test_a_line_goes_on_after_what_is_set_higher_or_lower() -> None:
    text = reader.read(
        drawn(("338 000 km", 10, 0, 0), ("2", 6, 4, 0), (", of which 20 m", 10, 0, 0), ("3", 6, 4, 0))
    ).text
    assert text == "338 000 km², of which 20 m³\n"


def test_the_number_of_a_footnote_that_is_set_higher_stays_in_its_brackets() -> None:
    text = reader.read(drawn(("(", 9, 0, 0), ("4", 6, 4.5, 0.2), (") The annual accounts", 9, 0, 0.2))).text
    assert text == "(4) The annual accounts\n"


def test_a_line_that_ends_in_a_bracket_ends_there() -> None:
    canvas = Canvas("a.pdf", (600, 800))
    canvas.drawString(72, 700, "The lessor (")
    canvas.drawString(72, 680, "see below) agrees")
    assert reader.read(bytes(canvas.getpdfdata())).text == "The lessor (\nsee below) agrees\n"


@cases(
    ("pieces", "expected"),
    [
        (
            [(72, 156, "water for the territories;"), (36, 181, "*"), (72, 181, "the use"), (36, 206, "(b) the price")],
            "water for the territories;\n* the use\n(b) the price\n",
        ),
        ([(72, 156, "sold in 2018"), (172, 156, "."), (36, 181, "Employees")], "sold in 2018 .\nEmployees\n"),
        ([(72, 156, "see Note 7."), (142, 156, "It says")], "see Note 7. It says\n"),
        ([(72, 156, "______"), (36, 181, "Signed by")], "______\nSigned by\n"),
    ],
)
def test_an_item_or_a_heading_begins_a_line_where_text_is_drawn_large_and_shrunk(
    pieces: list[tuple[int, int, str]], expected: str
) -> None:
    """PDFium then gives one line: `water for the territories; • the use`."""
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <2a> <2022> endbfchar"
    objects = pdfs.one_page(
        b"", pdfs.stream(cmap), font=b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    )
    objects[3] = pdfs.stream(
        b"".join(
            b"q 0.03125 0 0 0.03125 0 0 cm q 1 0 0 -1 %d %d cm BT /F1 416 Tf (%s) Tj ET Q Q "
            % (32 * x, 32 * y, words.encode())
            for x, y, words in pieces
        )
    )
    assert reader.read(pdfs.pdf(objects)).text == expected.replace("*", "•")


def test_what_is_set_higher_or_lower_stands_behind_its_word() -> None:
    pieces = [("from O(", 10.0, 0.0, 0.0), ("n", 10, 0, 0), ("2", 6, 3.6, 0), (") in the", 10, 0, 0)]
    text = reader.read(drawn(*pieces, ("1", 10, 0, 2.5), ("st", 6, 3.6, 0.2), ("row of", 10, 0, 2))).text
    assert text == "from O(n2) in the 1st row of\n"


def test_a_narrow_space_after_a_comma_is_a_space() -> None:
    assert reader.read(drawn(("V,", 10, 0, 0), ("k and W,", 10, 0, 1.0), ("m", 10, 0, 0))).text == "V, k and W,m\n"


def test_lines_that_begin_with_a_sign_stay_lines() -> None:
    canvas = Canvas("a.pdf", (600, 800))
    canvas.drawString(72, 700, "The parties are")
    canvas.drawString(72, 680, "– the lessor")
    canvas.drawString(72, 660, "– the lessee")
    assert reader.read(bytes(canvas.getpdfdata())).text == "The parties are\n– the lessor\n– the lessee\n"


@pytest.mark.parametrize("in_a_stream", [False, True])
def test_a_ligature_that_has_no_letters_but_in_its_name_is_read(*, in_a_stream: bool) -> None:
    font = (
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding /Differences "
        b"[30 /f_l /f_i 36 /dollar] >> >>"
    )
    objects = pdfs.one_page(rb"Con\037rmed by the of\037ce on the \036oor", font=font)
    if in_a_stream:
        head = b"5 0 "
        objects[4] = b"null"
        packed = pdfs.stream(head + font, b"/Type /ObjStm /N 1 /First %d" % len(head), packed=True)
        data = pdfs.body([*objects, packed]).replace(b"5 0 obj\nnull\nendobj\n", b"")
        data += b"trailer\n<< /Root 1 0 R >>\n%%EOF"
    else:
        data = pdfs.pdf(objects)
    assert reader.read(data).text == "Confirmed by the office on the floor\n"
