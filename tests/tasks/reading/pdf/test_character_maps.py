"""Character maps whose ranges PDFium leaves out, since the first byte of a code changes within one of them."""

import re
import time
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

from pypdf import PdfReader, PdfWriter

from tasks.evidence.page import open_pdf
from tasks.reading.pdf import reader, repair
from tests.cases import cases
from tests.tasks.reading.pdf import pdfs

WORDS = "Invoice no 2509: Total £23.99"
FIRST = 0x1C0
"""The code of the blank; the other characters of Latin-1 follow."""
HEAD = b"/CIDInit /ProcSet findresource begin\n12 dict begin\n\nbegincmap\n/CIDSystemInfo\n<< /Registry (Adobe)\n"
CODES = b"/Ordering (UCS)\n>> def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n\n"
END = b"\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
CROSSING = b"1 beginbfrange\n<01C0> <029F> <0020>\nendbfrange"
PARTED = b"2 beginbfrange\n<01C0> <01FF> <0020>\n<0200> <029F> <0060>\nendbfrange"
SOME = b"3 beginbfrange\n<0003> <0003> <0020>\n<01C0> <0210> <0020>\n<0211> <029F> <0071>\nendbfrange"
ONLY_A_PART = b"1 beginbfrange\n<01C0> <02FF> <0020>\nendbfrange"
"""PDFium takes it up to <01FF>."""


def draw(ranges: bytes) -> bytes:
    """A page with the words in a font whose map has these ranges."""
    shown = "".join(f"{FIRST + ord(letter) - 0x20:04X}" for letter in WORDS).encode()
    font = b"/Type /Font /BaseFont /Rubik "
    return pdfs.pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            pdfs.page(4, 5),
            pdfs.stream(b"BT /F1 12 Tf 72 700 Td <%s> Tj ET" % shown),
            b"<< %s /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>" % font,
            b"<< %s /Subtype /CIDFontType2 /DW 500 /CIDSystemInfo "
            b"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>" % font,
            pdfs.stream(HEAD + CODES + ranges + END, packed=True),
        ]
    )


def read(data: bytes) -> str:
    return reader.read(data).text.strip()


@cases("ranges", [CROSSING, PARTED, SOME, ONLY_A_PART, CROSSING.replace(b"\n<", b" <").replace(b"> <", b"><")])
def test_letters_are_read_by_their_fonts_map(ranges: bytes) -> None:
    assert read(draw(ranges)) == WORDS


def test_letters_of_several_characters_are_read() -> None:
    ranges = b"1 beginbfrange\n<01C0> <02DF> <00660020>\nendbfrange"
    assert read(draw(ranges)).replace("f", "") == WORDS


@cases(
    "ranges",
    [
        PARTED,
        b"1 beginbfrange\n<0000> <FFFF> <0000>\nendbfrange",  # of recognised scans: it says nothing
        b"1 beginbfrange\n<01F0> <0210> [<0041> <0042>]\nendbfrange",
        CROSSING.replace(b"1 begin", b"2 begin"),
        CROSSING.replace(b"endbfrange", b""),
        CROSSING.replace(b"<0020>", b"<00020>"),
        b"1 beginbfrange\n<0210> <01F0> <0041>\nendbfrange",
        b"1 beginbfchar\n<01C0> <0020>\nendbfchar",
        b"1 beginbfrange\n<01C0> <029F> <0020>\n<0001> <0001> <0041>\nendbfrange",
        b"2 beginbfrange\n" + 2 * b"<0001> <FFFF> <0002>\n" + b"endbfrange",
        CROSSING + b"<0001> <0001>" * 200_000,  # of more than is looked at
    ],
)
def test_other_maps_stay_as_they_are(ranges: bytes) -> None:
    data = draw(ranges)
    assert repair.with_parted_ranges(data) is data


def test_a_map_without_room_stays_as_it_is() -> None:
    data = draw(b"1 beginbfrange\n<0001> <FFFF> <0002>\nendbfrange")
    assert repair.with_parted_ranges(data) is data


def test_a_map_is_mended_in_its_place() -> None:
    data = draw(CROSSING)
    mended = repair.with_parted_ranges(data)
    assert isinstance(mended, bytes)
    assert len(mended) == len(data)
    changed = [at for at, (old, new) in enumerate(zip(data, mended, strict=True)) if old != new]
    assert data.rindex(b"stream\nx") < changed[0] <= changed[-1] < data.rindex(b"endstream")
    assert repair.with_parted_ranges(mended) is mended


def test_pages_of_evidence_have_the_same_letters(tmp_path: Path) -> None:
    path = tmp_path / "invoice.pdf"
    path.write_bytes(draw(CROSSING))
    with open_pdf(path) as document:
        page = document.page(0)
        assert page.get_textpage().get_text_bounded().strip() == WORDS


def test_a_pdf_without_table_and_trailer_is_mended_too() -> None:
    data = draw(CROSSING)
    damaged = data[: data.rindex(b"xref\n0")].replace(b"/Type /Catalog", b"/Type /Katalog")
    reading = reader.read(damaged)
    assert (reading.text.strip(), reading.warnings) == (WORDS, [repair.REBUILT])


def test_of_a_map_that_was_replaced_the_last_counts() -> None:
    for ranges in (CROSSING, PARTED):
        writer = PdfWriter(BytesIO(draw(CROSSING)), incremental=True)
        font: Any = writer.pages[0]["/Resources"]
        characters = font["/Font"]["/F1"]["/ToUnicode"].get_object()
        characters.set_data(HEAD + CODES + ranges.replace(b"> <00", b"> <04") + END)
        out = BytesIO()
        writer.write(out)
        assert read(out.getvalue()) == "".join(chr(ord(letter) + 0x400) for letter in WORDS)


def test_fonts_in_object_streams_are_mended() -> None:
    data = draw(CROSSING)
    font = re.search(rb"5 0 obj\n(.*?)\nendobj\n", data, re.DOTALL)
    assert font is not None
    packed = pdfs.stream(zlib.compress(b"5 0 " + font[1]), b"/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode")
    body = data[: data.rindex(b"xref\n0")].replace(font[0], b"8 0 obj\n%s\nendobj\n" % packed)
    rows = [body.find(b"\n%d 0 obj" % number) + 1 for number in range(10)]
    entries = [b"\1" + row.to_bytes(4) + b"\0" for row in rows]
    entries[0], entries[5] = bytes(6), b"\2" + (8).to_bytes(4) + b"\0"
    entries[9] = b"\1" + len(body).to_bytes(4) + b"\0"
    table = pdfs.stream(b"".join(entries), b"/Type /XRef /Size 10 /W [1 4 1] /Root 1 0 R")
    whole = body + b"9 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (table, len(body))
    assert b"/ToUnicode" not in whole
    assert read(whole) == WORDS


def test_an_encrypted_pdf_is_read_as_pdfium_reads_it() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(draw(PARTED))))
    writer.encrypt("", "owner", algorithm="AES-128")
    out = BytesIO()
    writer.write(out)
    assert repair.with_parted_ranges(out.getvalue()) == out.getvalue()
    assert read(out.getvalue()) == WORDS


@cases(
    "data",
    [
        draw(CROSSING + b"\n" + b"<0001> <0001> " * 700_000),
        draw(b"1 beginbfrange\n<0000> <FFFF> <0001>\nendbfrange\n" * 20_000),
        draw(b"1 " * 500_000 + b"1 beginbfrange " * 60_000),
        draw(CROSSING) * 4_000,
        b"stream\nx\x9c" * 900_000,
        b"stream\n" + zlib.compress(HEAD) * 2 + b"stream\n" * 100_000,
        b"".join(b"stream\n%s" % zlib.compress(HEAD + CODES)[:100] for _ in range(70_000)),
    ],
)
def test_hostile_files_take_no_long_time(data: bytes) -> None:
    begin = time.process_time()
    repair.with_parted_ranges(data)
    assert time.process_time() - begin < 5


def test_letters_of_other_scripts_stay_as_they_are() -> None:
    ranges = PARTED.replace(b"<0020>", b"<0420>").replace(b"<0060>", b"<0460>")
    assert read(draw(ranges)) == "".join(chr(ord(letter) + 0x400) for letter in WORDS)
