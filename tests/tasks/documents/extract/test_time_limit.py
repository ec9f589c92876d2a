"""The time that a document may take."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import pytest

from tasks.documents.extract import embedded, limits
from tasks.documents.extract.pdf import reader
from tasks.documents.extract.text_writer import Attachment, Reading
from tests.tasks.documents.extract import hostile_pdfs


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Documents may take so long, within."""
    limits.configure(seconds)
    try:
        yield
    finally:
        limits.configure(inf)


def test_it_is_near_only_where_there_is_one_and_begins_with_each_document() -> None:
    assert not limits.is_near()
    with limited(0.001):
        while not limits.is_near():
            pass
        limits.begin()
        limits.configure(60)
        assert not limits.is_near()


def test_a_pdf_keeps_the_pages_that_were_read_in_time() -> None:
    kids = b"<< /Type /Pages /Count 2 /Kids [3 0 R 3 0 R] >>"
    leaf = b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R %s >>" % hostile_pdfs.PAGE
    content = hostile_pdfs.filled(b"BT /F1 9 Tf (Words) Tj ET")
    data = hostile_pdfs.pdf([hostile_pdfs.CATALOG, kids, leaf, content])
    assert reader.read(data).text == "Words\n\fWords\n"
    with limited(0):
        reading = reader.read(data)
    assert reading.text == "Words\n"
    assert reading.warnings == [
        "The PDF takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT): it was read up to page 1 of 2."
    ]


@pytest.mark.parametrize(("seconds", "outcome"), [(60, "read after the text"), (0, "not read after so much else")])
def test_what_is_embedded_is_left_where_the_time_is_up(seconds: float, outcome: str) -> None:
    host = Reading("Host\n", attachments=[Attachment("a.txt", b"Inside")])
    with limited(seconds):
        reading = embedded.with_embedded(host, lambda data, _: Reading(data.decode()), [".txt"])
    assert outcome in reading.warnings[0]
