"""Streams that inflate to very much are seen, and broken where PDFium would inflate them."""

import random
import zlib
from collections.abc import Callable

import pytest

from tasks.reading.pdf import reader
from tasks.reading.pdf.repair import looks_like_bomb, without_bombs
from tests.tasks.reading.pdf import pdfs

_MB = 1 << 20


def deflated(content: bytes, more: bytes = b"") -> bytes:
    return pdfs.stream(zlib.compress(content, 9), more + b" /Filter /FlateDecode")


def with_stream(stream: bytes) -> bytes:
    return pdfs.pdf(pdfs.one_page(b"Words", stream))


@pytest.mark.parametrize(
    "make",
    [
        lambda: deflated(b"(AAAAAAAA) Tj " * 4_000_000),
        lambda: deflated(bytes(64 * _MB)),
        lambda: pdfs.stream(zlib.compress(zlib.compress(bytes(64 * _MB), 9)), b"/Filter [/FlateDecode /FlateDecode]"),
    ],
    ids=["words", "zeros", "twice"],
)
def test_a_bomb_is_left_out_and_what_is_beside_it_read(make: Callable[[], bytes]) -> None:
    data = with_stream(make())
    assert looks_like_bomb(data)
    harmless = without_bombs(data)
    assert harmless is not None
    assert len(harmless) == len(data)
    reading = reader.read(data)
    assert reading.text == "Words\n"
    assert reading.warnings == ["Parts of the PDF that unpack to very much were left out."]


def test_a_blank_scan_and_a_monotonous_attachment_stay() -> None:
    for kind in (b"/Subtype /Image", b"/Type /EmbeddedFile"):
        data = with_stream(deflated(b"\xff" * (64 * _MB), kind))
        assert looks_like_bomb(data)
        assert without_bombs(data) is None
        assert reader.read(data).warnings == []


def test_usual_streams_do_not_look_like_bombs() -> None:
    noise = random.Random(1).randbytes(_MB)
    text = b"".join(b"(word %d of many) Tj " % number for number in range(200_000))
    assert not looks_like_bomb(with_stream(pdfs.stream(noise)))
    assert not looks_like_bomb(with_stream(deflated(text)))
    assert not looks_like_bomb(b"")
