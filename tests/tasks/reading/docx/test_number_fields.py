"""Numbers that Word works out in fields and keeps nowhere: LISTNUM within sentences, AUTONUM before paragraphs."""

from pathlib import Path

import pytest

from tasks.reading.docx.reader import read
from tasks.reading.text_writer import Reading
from tests.tasks.reading.ooxml import packages


def field(instruction: str, result: str = "") -> str:
    """A field as Word writes it, with what it shows if that is kept."""
    kept = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>{result}</w:t></w:r>' if result else ""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>{kept}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def words(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*pieces: str, style: str = "", in_list: bool = False) -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    properties += '<w:numPr><w:numId w:val="1"/></w:numPr>' if in_list else ""
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(pieces)}</w:p>"


def reading_of(tmp_path: Path, *paragraphs: str) -> Reading:
    return read(packages.docx(tmp_path / "a.docx", "".join(paragraphs)))


def test_numbers_within_a_sentence_are_those_that_word_shows(tmp_path: Path) -> None:
    text = reading_of(
        tmp_path,
        paragraph(
            words("The tenant pays "), field(r"LISTNUM NumberDefault \l 3 \s 1"), words(" rent, "),
            field("LISTNUM"), words(" rates and "), field("LISTNUM"), words(" insurance."),
        ),
        paragraph(field(r'LISTNUM "LegalDefault" \l 1'), words(" Term")),
        paragraph(field(r"LISTNUM LegalDefault \l 2"), words(" Start")),
        paragraph(field(r"LISTNUM LegalDefault \l 2"), words(" End")),
        paragraph(field(r"LISTNUM &quot;OutlineDefault&quot; \l 2"), words(" Annex")),
    ).text  # fmt: skip
    assert text.splitlines() == [
        "The tenant pays i) rent, ii) rates and iii) insurance.", "1. Term", "1.1. Start", "1.2. End", "A. Annex",
    ]  # fmt: skip


def test_paragraphs_are_counted_below_their_headings(tmp_path: Path) -> None:
    text = reading_of(
        tmp_path,
        paragraph(field("AUTONUMLGL"), words(" Rent"), style="Heading1"),
        paragraph(field("AUTONUMLGL"), words(" Amount"), style="Heading2"),
        paragraph(field("AUTONUMLGL"), words(" It is due monthly.") ),
        paragraph(field("AUTONUMLGL"), words(" It is paid in advance.")),
        paragraph(field(r"AUTONUMLGL \e"), words(" Term"), style="Heading1"),
        paragraph(field("AUTONUM"), words(" First.")),
        paragraph(field("AUTONUM"), words(" Second.")),
    ).text  # fmt: skip
    assert text.splitlines() == [
        "1. Rent", "1.1. Amount", "1.1.1. It is due monthly.", "1.1.2. It is paid in advance.", "2 Term",
        "1. First.", "2. Second.",
    ]  # fmt: skip


def test_what_a_field_shows_is_not_counted_again_where_the_document_keeps_it(tmp_path: Path) -> None:
    found = reading_of(tmp_path, paragraph(field(r"LISTNUM \l 1", "(a)"), words(" Rent")))
    assert (found.text, found.warnings) == ("(a) Rent\n", [])


@pytest.mark.parametrize(
    "paragraphs",
    [
        (paragraph(field(r'LISTNUM "HDRules" \l 4'), words(" Rent")),),
        (paragraph(field("LISTNUM"), words(" Rent"), in_list=True),),
        (paragraph(words("Pay "), field("LISTNUM"), words(" Rent")),),
        (paragraph(field(r"AUTONUM \* OrdText"), words(" Rent")),),
        (paragraph(field(r"LISTNUM \l x"), words(" Rent")),),
    ],
    ids=["a list of the document's own", "the list of its paragraph", "no level", "another form", "no number"],
)
def test_a_number_that_is_not_certain_is_left_out_and_said_to_be(tmp_path: Path, paragraphs: tuple[str, ...]) -> None:
    found = reading_of(tmp_path, *paragraphs)
    assert found.text.split()[-1] == "Rent"
    assert "1" not in found.text
    assert found.warnings == ["Numbers that Word works out in fields (LISTNUM, AUTONUM) are missing: 1."]


def test_a_list_is_not_counted_on_after_a_number_that_is_not_certain(tmp_path: Path) -> None:
    found = reading_of(
        tmp_path,
        paragraph(words("Pay "), field("LISTNUM"), words(" rent")),
        paragraph(field(r"LISTNUM \l 1"), words(" and rates")),
        paragraph(field(r"LISTNUM \l 1 \s 4"), words(" and tax")),
    )
    assert found.text.split("\n") == ["Pay  rent", " and rates", "4) and tax", ""]
    assert found.warnings[0].endswith("are missing: 2.")
