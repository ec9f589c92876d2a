"""Charts of Microsoft Graph, as old presentations hold them: their data sheet is read."""

import struct

import pytest

from tasks.documents.extract.ooxml.package import CUT_OFF
from tasks.documents.extract.xls import reader


def record(number: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", number, len(data)) + data


def words(text: str) -> bytes:
    wide = not text.isascii()
    return struct.pack("<BB", len(text), wide) + text.encode("utf-16-le" if wide else "ascii")


def label(row: int, column: int, text: str) -> bytes:
    return record(0x0004, struct.pack("<HHHB", row, column, 0, 0) + words(text))


def number(row: int, column: int, value: float, format_: int = 0) -> bytes:
    return record(0x0003, struct.pack("<HHBHd", row, column, 0, format_, value))


BEGIN = record(0x0809, struct.pack("<HHHHII", 0x0680, 5, 0, 0, 0, 0))
CHART = record(0x0809, struct.pack("<HHHHII", 0x0680, 0x8000, 0, 0, 0, 0))
END = record(0x000A)
SHEET = (
    label(0, 1, "Q1")
    + label(0, 3, "Größe £ 東")
    + label(1, 0, "Revenue")
    + number(1, 1, 0.29, 9)
    + number(1, 3, 1.5)
    + record(0x100D, b"\0\0" + words("Revenue"))
    + record(0x100D, b"\0\0" + words("Our plan"))
)


def test_the_data_sheet_stands_in_rows_and_titles_behind_it() -> None:
    reading = reader.read(BEGIN + END + CHART + SHEET + END)
    assert (reading.text, reading.warnings) == ("\tQ1\t\tGröße £ 東\nRevenue\t29%\t\t1.5\nOur plan\n", [])
    assert [(place.kind, place.label) for place in reading.places] == [("cells", "A1:D2")]


@pytest.mark.parametrize("length", [5, 12])
def test_a_chart_that_is_cut_off_gives_the_cells_before(length: int) -> None:
    cut = BEGIN + END + CHART + SHEET + number(2, 0, 7)[:length]
    reading = reader.read(cut)
    assert reading.text.startswith("\tQ1\t\tGröße £ 東\n")
    assert reading.warnings == [CUT_OFF]
