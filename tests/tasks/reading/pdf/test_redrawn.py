"""Pages of which PDFium loses glyphs, or does not know the character maps: read all the same, or a warning."""

import struct
from collections.abc import Iterator
from math import inf

import pytest

from tasks.reading import limits
from tasks.reading.pdf import reader, redrawn
from tests.tasks.reading.pdf import east_asian, pdfs

MISREAD = (
    ("GB1", "UniGB-UTF8"),
    ("GB1", "GB"),
    ("GB1", "GBK2K"),
    ("CNS1", "CNS-EUC"),
    ("CNS1", "HKdla-B5"),
    ("Japan1", "RKSJ"),
    ("Japan1", "78-EUC"),
    ("Japan1", "UniJIS2004-UTF16"),
    ("Korea1", "KSC"),
)
WORDS = "The annual report of 本公司"


def over_a_scan(*, names: bytes = b"", font: bytes = b"", content: str | None = None) -> bytes:
    """A page of these words, each glyph a piece of its own and invisible, in a font that is empty or not there."""
    lines = "".join(f"<{code:04x}> <{ord(character):04x}>\n" for code, character in enumerate(WORDS, 1))
    each = (f"BT 3 Tr /F1 12 Tf {40 + 12 * code} 700 Td <{code:04x}> Tj ET" for code in range(1, 1 + len(WORDS)))
    codes = "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange"
    known = f"{codes} {len(WORDS)} beginbfchar\n{lines}endbfchar endcmap".encode()
    descendant = (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /None /DW 1000 /CIDToGIDMap /Identity "
        b"/FontDescriptor 7 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    descriptor = (
        b"<< /Type /FontDescriptor /FontName /None /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 "
        b"/Ascent 880 /Descent -120 /StemV 58 %s >>" % (b"/FontFile2 8 0 R" if font else b"")
    )
    composite = b"<< /Type /Font /Subtype /Type0 /BaseFont /None /Encoding /Identity-H /DescendantFonts [6 0 R] %s >>"
    return pdfs.pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            pdfs.page(4, 5),
            pdfs.stream((content or "\n".join(each)).encode()),
            composite % b"/ToUnicode 9 0 R",
            descendant,
            descriptor,
            pdfs.stream(font),
            pdfs.stream(names or known),
        ]
    )


def empty_font() -> bytes:
    """A TrueType font of one glyph that draws nothing."""
    tables = {
        b"glyf": b"",
        b"head": struct.pack(">4I2H2Q4h2H3h", 1 << 16, 1 << 16, 0, 0x5F0F3CF5, 0, 1000, *[0] * 7, 8, 2, 0, 0),
        b"hhea": struct.pack(">I3hH11hH", 1 << 16, 880, -120, 0, 1000, *[0] * 11, 1),
        b"hmtx": struct.pack(">Hh", 1000, 0),
        b"loca": bytes(4),
        b"maxp": struct.pack(">I14H", 1 << 16, 1, *[0] * 13),
    }
    directory, content = struct.pack(">I4H", 1 << 16, len(tables), 64, 2, 16 * len(tables) - 64), b""
    start = len(directory) + 16 * len(tables)
    for name, table in tables.items():
        directory += name + struct.pack(">3I", 0, start + len(content), len(table))
        content += table + bytes(-len(table) % 4)
    return directory + content


@pytest.mark.parametrize(("collection", "encoding"), MISREAD)
@pytest.mark.parametrize("mode", ["H", "V"])
@pytest.mark.parametrize("single", [False, True], ids=["lines", "glyphs"])
def test_character_maps_that_are_rare_are_read(collection: str, encoding: str, mode: str, single: bool) -> None:
    data = east_asian.pdf(collection, f"{encoding}-{mode}", single=single, invisible=single)
    assert reader.read(data).text.splitlines() == east_asian.lines(collection, f"{encoding}-{mode}")


@pytest.mark.parametrize("font", [b"", empty_font()], ids=["nowhere", "empty"])
def test_glyphs_without_shapes_are_read_where_each_is_drawn_by_itself(font: bytes) -> None:
    reading = reader.read(over_a_scan(font=font))
    assert (reading.text, reading.warnings) == (f"{WORDS}\n", [])


def test_glyphs_that_are_lost_and_without_a_name_are_a_warning() -> None:
    reading = reader.read(over_a_scan(font=empty_font(), names=b"begincmap endcmap"))
    assert any("page 1" in warning for warning in reading.warnings)


@pytest.fixture
def little_time() -> Iterator[None]:
    limits.configure(3)
    yield
    limits.configure(inf)


@pytest.mark.usefixtures("little_time")
def test_a_map_without_end_ends_and_is_a_warning() -> None:
    names = b"begincmap 1 beginbfrange <00000000> <7fffffff> <0041> endbfrange 1 beginbfchar <0001> <0041> endbfchar"
    reading = reader.read(over_a_scan(font=empty_font(), names=names))
    assert any("page 1" in warning for warning in reading.warnings)


def test_forms_that_draw_each_other_end() -> None:
    looped = over_a_scan(font=empty_font(), content="/X Do " * 50 + "BT /F1 9 Tf <0001> Tj 9 0 Td <0002> Tj ET")
    looped = looped.replace(b"/Font << /F1 5 0 R >>", b"/XObject << /X 8 0 R >> /Font << /F1 5 0 R >>")
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 8 0 R >> >> /Length 11 >>"
    looped = looped.replace(
        b"8 0 obj\n" + pdfs.stream(empty_font()), b"8 0 obj\n" + form + b"\nstream\n/X Do /X Do\nendstream"
    )
    assert redrawn.pages_of(looped, [0]).keys() <= {0}


def test_a_map_named_after_a_file_is_not_opened() -> None:
    name = b"/Encoding /..#2f..#2f..#2f..#2fetc#2fpasswd-H"
    reading = reader.read(east_asian.pdf("GB1", "GBK-EUC-H", single=True).replace(b"/Encoding /GBK-EUC-H", name))
    assert "root" not in reading.text
