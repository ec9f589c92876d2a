"""Chinese, Japanese and Korean whose fonts are not in the file: read, with a warning where something is lost."""

import pytest

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf import east_asian

ENCODINGS = [("GB1", "GBK-EUC"), ("CNS1", "UniCNS-UTF16"), ("Japan1", "90ms-RKSJ"), ("Korea1", "KSCms-UHC")]
OUT_OF_ORDER = "lies on its side, may be in a wrong order, and its tables in no rows: page 1."


@pytest.mark.parametrize(("collection", "name"), ENCODINGS)
def test_lines_in_fonts_that_are_not_in_the_file_are_read(collection: str, name: str) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-H"))
    assert reading.text.splitlines() == east_asian.lines(collection, f"{name}-H")
    assert reading.warnings == []


@pytest.mark.parametrize(("collection", "name"), ENCODINGS)
@pytest.mark.parametrize(("direction", "single"), [("V", False), ("H", True)], ids=["columns", "glyphs"])
def test_what_pdfium_loses_of_them_is_named(collection: str, name: str, direction: str, *, single: bool) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-{direction}", single=single))
    assert "page 1" in reading.warnings[0]


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_page_that_lies_on_its_side_is_named(rotation: int) -> None:
    rows = "\n".join(f"BT /F2 12 Tf 60 {700 - 20 * row} Td (Row {row} of the page) Tj ET" for row in range(4))
    reading = reader.read(east_asian.pdf("GB1", "GBK-EUC-H", more=rows, text=("",), rotation=rotation))
    assert sorted(reading.text.splitlines()) == [f"Row {row} of the page" for row in range(4)]
    assert reading.warnings[0].endswith(OUT_OF_ORDER)
