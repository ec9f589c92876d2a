"""Rich Text Format: by LibreOffice where it is installed, else its body by striprtf."""

from pathlib import Path

import pytest

from tasks.errors import Damaged
from tasks.reading import formats
from tasks.reading import libreoffice as reader
from tasks.reading.text_writer import Reading
from tests.cases import cases

DOCUMENTS = Path(__file__).parents[3] / "documents"
FONTS = (
    r"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fcharset204 Arial{\*\falt Helv};}"
    r"{\f2\fcharset2 Symbol;}{\f3\fcharset128 Gothic;}}"
)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """LibreOffice is not installed."""
    monkeypatch.setenv("PATH", "")


def reading_of(body: str) -> Reading:
    return reader.read_rtf(rf"{{\rtf1\ansi\ansicpg1252\deff0{FONTS}{body}}}".encode("latin-1"))


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"caf\'e9 {\f1 \'c4\'ee\'e3} {\f3 \'93\'fa\'96\'7b}", "café Дог 日本"),
        ("na\xefve", "naïve"),
        (r"\u8364 ?5 \u8217\'92s {\uc2\u1044 ab\u1086{}}x \u-10179?\u-8704?", "€5 ’s Доx 😀"),
        ("one\\par two\\line three", "one\ntwo\nthree"),
        ("wo\nrd {\\b bold}ly", "word boldly"),
        (r"{\*\unknown no{\b no}}{\info{\title no}}{\field{\*\fldinst LINK no}{\fldrslt link}}", "link"),
        (r"{\field{\*\fldinst HYPERLINK " + '"https://a.example"' + r"}{\fldrslt our site}} soon", "our site soon"),
        (r"Notice: {\deleted\revauthdel1 three}{\revised six} months{\v hidden}.", "Notice: six months."),
        (r"kept {\v hidden\v0  shown}", "kept hidden shown"),  # silence would be worse
        (r"{\listtext\f0 4.2\tab}Term", "4.2\tTerm"),
    ],
)
def test_the_words_of_the_body_are_read_without_libreoffice(body: str, text: str) -> None:
    reading = reading_of(body)
    assert reading.text == text + "\n"
    assert "package libreoffice-writer" in reading.warnings[0]


@pytest.mark.usefixtures("alone")
def test_rows_of_tables_have_their_cells_split_by_tabs() -> None:
    reading = reading_of(
        r"before\par\trowd\trhdr\cellx1\cellx2\pard\intbl Item\cell 2023\cell\row"
        r"\trowd\cellx1\cellx2\pard\intbl\cell 5\line 6\cell\row\pard after\par"
    )
    assert reading.text == "before\nItem\t2023\n\t5 6\nafter\n"
    (table,) = [place for place in reading.places if place.kind == "table"]
    assert reading.text[table.start : table.end] == "Item\t2023\n\t5 6\n"


@cases("data", [b"", b"plain text", b"<html>", b"\\rtf1"])
def test_what_is_no_rtf_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        reader.read_rtf(data)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "body", [r"\uc x", r"\u99999999 ?", r"{\pict\bin x}", "}}}", "{" * 1000, r"\ansicpg99999 \'e9"]
)
def test_what_is_broken_gives_its_words_or_says_so(body: str) -> None:
    try:
        text = reading_of(r"Before\par " + body).text
    except Damaged:
        return
    assert "Before" in text


@pytest.mark.usefixtures("alone")
def test_a_text_is_read_again_once_libreoffice_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = formats.version(".rtf")
    for name in ("soffice", "soffice.bin", "libswlo.so"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert without == f"{formats.version('.rtf')} without LibreOffice"


@pytest.mark.skipif(formats.program("libswlo.so") is None, reason="needs LibreOffice (libreoffice-writer)")
def test_libreoffice_reads_notes_and_comments_too() -> None:
    reading = reading_of(
        r"Rent{\footnote\pard Without tax.} is due{\*\atnid AB}{\*\atnauthor Ann Berg}\chatn"
        r"{\*\annotation\pard Agreed?\par}.\par"
    )
    assert reading.warnings == []
    assert [place.kind for place in reading.places if place.kind in ("footnote", "comment")] == ["footnote", "comment"]
    assert "Without tax." in reading.text
