"""Numbers that Word works out in fields and keeps nowhere (LISTNUM, AUTONUM): a warning counts them."""

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


def reading_of(tmp_path: Path, *pieces: str) -> Reading:
    return read(packages.docx(tmp_path / "a.docx", f"<w:p>{''.join(pieces)}</w:p>"))


@pytest.mark.parametrize("instruction", ["LISTNUM", r"LISTNUM NumberDefault \l 3 \s 1", "AUTONUM", r"AUTONUMLGL \e"])
def test_numbers_that_the_file_does_not_hold_are_counted(tmp_path: Path, instruction: str) -> None:
    reading = reading_of(tmp_path, words("The tenant pays "), field(instruction), words("rent."))
    assert reading.text == "The tenant pays rent.\n"
    assert reading.warnings == ["Numbers that Word works out in fields (LISTNUM, AUTONUM) are missing: 1."]


def test_numbers_that_the_file_holds_are_read(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, words("Pay "), field("LISTNUM", "a) "), words("rent."))
    assert reading.text == "Pay a) rent.\n"
    assert reading.warnings == []


def test_other_fields_are_no_numbers(tmp_path: Path) -> None:
    assert reading_of(tmp_path, words("Page "), field("PAGE"), words("LISTNUM ")).warnings == []
