"""Chinese, Japanese and Korean whose fonts are not in the file: all of it, in the order in which it is read."""

import pytest

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf import east_asian, pdfs

MAPS = {
    "GB1": ("GB-EUC", "GBpc-EUC", "GBK-EUC", "GBKp-EUC", "GBK2K", "UniGB-UCS2", "UniGB-UTF16", "Identity"),
    "CNS1": ("B5pc", "HKscs-B5", "ETen-B5", "UniCNS-UCS2", "UniCNS-UTF16", "Identity"),
    "Japan1": ("90ms-RKSJ", "90msp-RKSJ", "Add-RKSJ", "EUC", "Ext-RKSJ", "UniJIS-UCS2", "UniJIS-UTF16", "Identity"),
    "Korea1": ("KSC-EUC", "KSCms-UHC", "KSCms-UHC-HW", "UniKS-UCS2", "UniKS-UTF16", "Identity"),
}
ENCODINGS = [
    (collection, f"{name}-{mode}") for collection, names in MAPS.items() for name in names for mode in ("H", "V")
]


def text_of(data: bytes) -> list[str]:
    return reader.read(data).text.splitlines()


@pytest.mark.parametrize(("collection", "encoding"), ENCODINGS)
@pytest.mark.parametrize("single", [False, True], ids=["lines", "glyphs"])
def test_fonts_that_are_not_in_the_file_are_read(collection: str, encoding: str, single: bool) -> None:
    data = east_asian.pdf(collection, encoding, single=single, invisible=single)
    assert text_of(data) == east_asian.lines(collection, encoding)


def test_rows_before_columns_stand_before_them_and_digits_side_by_side_stay_together() -> None:
    heading = "BT /F2 12 Tf 60 800 Td (Articles of association) Tj ET"
    known = east_asian.codes("Japan1", "UniJIS-UTF16-V")
    year = "\n".join(
        f"BT /F1 {size} Tf {x} {y} Td <{known[character].hex()}> Tj ET"
        for character, size, x, y in (
            ("第", 14, 530, 762),
            ("1", 7, 526, 748),
            ("2", 7, 534, 748),
            ("期", 14, 530, 734),
            ("末", 14, 530, 720),
        )
    )
    footing = "BT /F2 12 Tf 280 40 Td (Page 1) Tj ET"
    data = east_asian.pdf("Japan1", "UniJIS-UTF16-V", more=f"{heading}\n{year}\n{footing}", text=("定款", "目的"))
    assert text_of(data) == ["Articles of association", "第12期末", "定款", "目的", "Page 1"]


def test_a_word_right_below_a_column_stays_in_one_piece() -> None:
    known = east_asian.codes("Japan1", "UniJIS-UTF16-V")
    column = "".join(known[character].hex() for character in "第一条目的")
    drawn = f"BT /F1 14 Tf 500 762 Td <{column}> Tj ET BT /F2 12 Tf 496 678 Td (World) Tj ET"
    data = east_asian.pdf("Japan1", "UniJIS-UTF16-V", more=drawn, text=("",))
    assert text_of(data) == ["第一条目的", "World"]


def test_columns_above_others_are_read_before_them() -> None:
    known = east_asian.codes("Japan1", "UniJIS-UTF16-V")
    below = "\n".join(
        f"BT /F1 14 Tf {x} 400 Td <{''.join(known[character].hex() for character in column)}> Tj ET"
        for x, column in ((500, "三段目の文"), (470, "四段目の文"))
    )
    data = east_asian.pdf("Japan1", "UniJIS-UTF16-V", more=below, text=("一段目の文", "二段目の文"))
    assert text_of(data) == ["一段目の文", "二段目の文", "三段目の文", "四段目の文"]


def test_marks_of_vertical_writing_become_the_ordinary_ones() -> None:
    characters = b"".join(b"<%04x> <%04x>\n" % (code, ord(mark)) for code, mark in enumerate("契約﹁三年﹂︒", 1))
    names = pdfs.stream(
        b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 7 beginbfchar\n%sendbfchar endcmap"
        % characters
    )
    codes = "".join(f"{code:04x}" for code in range(1, 8))
    data = east_asian.pdf(
        "Japan1",
        "Identity-V",
        text=("",),
        more=f"BT /F1 14 Tf 500 760 Td <{codes}> Tj ET",
        entries=b"/ToUnicode 9 0 R",
        others=(names,),
    )
    assert text_of(data) == ["契約「三年」。"]


def test_rows_of_a_page_that_lies_on_its_side_come_in_order() -> None:
    rows = "\n".join(f"BT /F2 12 Tf 60 {700 - 20 * row} Td (Row {row} of the page) Tj ET" for row in range(4))
    data = east_asian.pdf("GB1", "GBK-EUC-H", more=rows, text=("",), rotation=90)
    assert text_of(data) == [f"Row {row} of the page" for row in range(4)]


@pytest.mark.parametrize("rotation", [90, 180, 270])
@pytest.mark.parametrize("single", [False, True], ids=["lines", "glyphs"])
@pytest.mark.parametrize("encoding", ["KSCms-UHC-H", "KSCms-UHC-V"])
def test_pages_on_their_side_and_upside_down_are_read_as_if_they_were_turned(
    encoding: str, single: bool, rotation: int
) -> None:
    data = east_asian.pdf("Korea1", encoding, rotation=rotation, single=single)
    assert text_of(data) == east_asian.lines("Korea1", encoding)
