"""Charts of Microsoft Graph, as old presentations hold them: they are named, not read."""

import struct

from tasks.reading import binary_workbooks as reader
from tasks.reading import read_document
from tests.cases import cases


def record(number: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", number, len(data)) + data


CHART = record(0x0809, struct.pack("<HHHHII", 0x0680, 5, 0, 0, 0, 0)) + record(0x000A)


@cases("stream", [CHART, CHART * 2, CHART[:9]])
def test_a_chart_is_named_and_left_out(stream: bytes) -> None:
    for reading in (reader.read_xls(stream), read_document(stream, ".xls")):
        assert reading.text == ""
        assert reading.warnings == [
            "A chart of Microsoft Graph was left out. Ask for its figures, or for the document as PDF."
        ]
