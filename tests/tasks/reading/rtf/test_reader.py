"""Rich Text Format as Word shows it."""

import struct

import pytest

from tasks.errors import Damaged
from tasks.reading.rtf import reader
from tasks.reading.text_writer import Reading

FONTS = (
    r"{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fcharset204 Arial{\*\falt Helv};}"
    r"{\f2\fcharset2 Symbol;}{\f3\fcharset128 Gothic;}}"
)
DATE = 5 | 10 << 6 | 1 << 11 | 5 << 16 | (2024 - 1900) << 20
"""1 May 2024, 10:05, as Word writes it."""


def reading_of(body: str, head: str = "") -> Reading:
    return reader.read(rf"{{\rtf1\ansi\ansicpg1252\deff0{FONTS}{head}{body}}}".encode("latin-1"))


def places_of(body: str, head: str = "") -> list[tuple[str, str, str]]:
    reading = reading_of(body, head)
    return [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"caf\'e9 {\f1 \'c4\'ee\'e3} {\f3 \'93\'fa\'96\'7b} {\f2 \'b7}", "café Дог 日本 •"),
        (r"\u8364 ?5 \u8217\'92s {\uc2\u1044 ab\u1086{}}x \u-10179?\u-8704?", "€5 ’s Доx 😀"),
        (r"a\~b\_c\-d \{e\} \\ \emdash\tab f", "a\xa0b‑cd {e} \\ —\tf"),
        ("one\\par two\\line three\\\nfour", "one\ntwo\nthree\nfour"),
        ("wo\nrd {\\b bold}ly", "word boldly"),
        (r"{\*\unknown no{\b no}}{\info{\title no}}{\field{\*\fldinst LINK no}{\fldrslt link}}", "link"),
        (r"on {\field{\*\fldinst LINK no}{\fldrslt \*\cs5\ul{\f0 its site}}} soon", "on its site soon"),
        ("{\r\n\\*\\unknown no}{\\b yes}", "yes"),
        (r"{\shppict{\pict\pngblip 89504e47}}{\nonshppict{\pict no}}\bin4 {}}}x", "x"),
        (r"{\listtext\f0\tab 4.2\tab}Term", "4.2 Term"),
        (r"{\upr{in ANSI {\b no}}{\*\ud{in Unicode}}}, {\upr}", "in Unicode,"),
        (r"{\object{\*\objdata 00}{\result shown}}", "shown"),
        (r"{\mmath{\*\moMath{\mf{\mfPr no}{\mnum{\mr a}}{\mden{\mr b}}}}}", "ab"),
    ],
)
def test_the_words_are_those_that_word_shows(body: str, text: str) -> None:
    assert reading_of(body).text == text + "\n"


def test_rows_of_tables_have_their_cells_split_by_tabs() -> None:
    table = (
        r"\trowd\trhdr\cellx1\cellx2\pard\intbl Item\cell 2023\cell\row"
        r"\trowd\cellx1\cellx2\pard\intbl\cell 5\line 6\cell\row"
        r"\trowd\pard\intbl a\cell x\itap2 n1\nestcell n2\nestcell{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}"
        r"\itap1\cell\row\pard after\par"
    )
    assert reading_of(table).text == "Item\t2023\n\t5 6\na\txn1 n2\nafter\n"
    assert places_of(table)[0][:2] == ("table", "1")


def nested(*rows: tuple[str, ...]) -> str:
    ended = r"{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}"
    return "".join("".join(rf"\pard\intbl\itap2 {cell}\nestcell " for cell in cells) + ended for cells in rows)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (nested(("a", "1"), ("b", "2")), "Fees\tas below\na\t1\nb\t2\n\tor more\tend\nTerm\ta year\n"),
        (nested(("a", "1")), "Fees\tas below a 1 or more\tend\nTerm\ta year\n"),
        (nested(("a",), ("b",)), "Fees\tas below a b or more\tend\nTerm\ta year\n"),
    ],
    ids=["rows", "one row", "one column"],
)
def test_a_table_in_a_cell_keeps_its_rows(inner: str, text: str) -> None:
    first = rf"\pard\intbl Fees\cell as below\par {inner}\pard\intbl or more\cell end\cell\trowd\row"
    body = first + r"\pard\intbl Term\cell a year\cell\trowd\row\pard"
    assert reading_of(body).text == text
    assert len([kind for kind, _, _ in places_of(body) if kind == "table"]) == (3 if "\n\tor" in text else 1)


def test_headings_are_known_by_style_and_level() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s3\b\fs32 \snext0 heading 1;}{\s4 \'dcberschrift 2;}}"
    body = r"\pard\s3 A\par\pard one\par\pard\s4 B\par\pard\outlinelevel2 C\par\pard two"
    assert places_of(body, styles) == [
        ("heading", "A", "A\none\n"),
        ("heading", "B", "B\n"),
        ("heading", "C", "C\ntwo\n"),
    ]


def test_headers_notes_and_boxes_stand_round_and_below_the_text() -> None:
    body = (
        r"{\header Head\par}{\footerr Foot\par}One{\footnote\chftn  a note}{\shp{\*\shpinst{\sp{\sn wzDescription}"
        r"{\sv A chart}}{\shptxt Box\par}}{\shprslt no}} end{\footnote\ftnalt last}\par"
    )
    assert places_of(body) == [
        ("header", "", "Head\n"),
        ("footnote", "", "a note\n"),
        ("alternative_text", "", "A chart\n"),
        ("text_box", "", "Box\n"),
        ("endnote", "", "last\n"),
        ("footer", "", "Foot\n"),
    ]
    assert reading_of(body).text == "Head\nOne end\na note\nA chart\nBox\nlast\nFoot\n"


def test_comments_are_marked_with_author_and_date() -> None:
    body = (
        rf"Fee {{\*\atnid AB}}{{\*\atnauthor Ann B}}\chatn{{\*\annotation{{\*\atndate {DATE}}}Too {{\b high}}?}}10\par"
    )
    mark = "[comment, Ann B, 2024-05-01T10:05:00: Too high?]\n"
    assert reading_of(body).text == "Fee 10\n" + mark
    assert places_of(body) == [("comment", "Ann B, 2024-05-01T10:05:00", mark)]


def test_revisions_are_known_and_deleted_or_hidden_text_stays_out() -> None:
    authors = r"{\*\revtbl{Unknown;}{Ann;}}"
    body = rf"a {{\deleted\revauthdel1\revdttmdel{DATE} gone}}{{\revised\revauth1\revdttm{DATE} new}} {{\v secret}}b"
    assert reading_of(body, authors).text == "a new b\n"
    assert places_of(body, authors) == [("inserted", "Ann, 2024-05-01T10:05:00", "new")]
    assert reading_of(body, authors).warnings == [
        "The document hides text, which was left out (6 characters).",
        "Deleted text was left out (Ann, 2024-05-01T10:05:00).",
    ]


def test_an_embedded_file_is_handed_on() -> None:
    content = b"Thirty days"
    package = b"\2\0terms.txt\0C:\\terms.txt\0" + struct.pack("<II", 3, 4) + b"tmp\0" + struct.pack("<I", len(content))
    package += content
    stream = (
        struct.pack("<II", 0x501, 2) + struct.pack("<I", 8) + b"Package\0" + struct.pack("<III", 0, 0, len(package))
    )
    body = r"{\object\objemb{\*\objdata " + (stream + package).hex() + r"}{\result{\pict 00}}}"
    assert [tuple(attachment) for attachment in reading_of(body).attachments] == [("terms.txt", content)]


def test_what_is_no_rtf_is_damaged() -> None:
    for data in (b"", b"Hello", b"PK\x03\x04"):
        with pytest.raises(Damaged):
            reader.read(data)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (rb"{\rtf1 open {\b group", "open group\n"),
        (rb"{\rtf1 a}b}c", "a\n"),
        (rb"{\rtf1 \b" + b"1" * 100_000 + b" a", "a\n"),
        (rb"{\rtf1 \bin99999999999 a", ""),
        (rb"{\rtf1 \u99999999999 ?a\u ?b\'zz", None),
        (rb"{\rtf1 " + b"{" * 100_000 + b"a" + b"}" * 100_000 + b"b", "ab\n"),
        (rb"{\rtf1\ansicpg99999\f7\'e9", "é\n"),
        (rb"{\rtf1\ftnalt\cell\row\nestrow\itap-5 x\nestcell{\*", None),
    ],
)
def test_broken_files_give_what_they_hold(data: bytes, text: str | None) -> None:
    reading = reader.read(data)
    assert text is None or reading.text == text


def test_groups_that_never_end_lose_no_words() -> None:
    reading = reading_of(r"Body {\v hidden {{{\footnote {\v0 A note{{{\footnote within{{{\*\atnauthor Ann{{")
    assert reading.text == "Body\nA note\nwithin\n"
