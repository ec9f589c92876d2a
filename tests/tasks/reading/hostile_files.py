"""Builds Office files that mean harm with their zip: bombs, overlapping parts, lies, false names and targets.

Each is small and made in milliseconds; how much is behind it stands in its docstring. MARKER is the word
that has to be read where a document is hostile beside its text.
"""

import re
import struct
from collections.abc import Mapping
from typing import Final

from tests.fuzz.zips import Member, bomb, member, office, pack
from tests.tasks.reading.ooxml.packages import NAMES, OFFICE, SHEET, p, relationships

MARKER: Final = "Zanzibar"
MB: Final = 1 << 20

_P: Final = f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" {NAMES}'
_WORD: Final = f"<w:document {NAMES}><w:body>".encode()
_WORD_END: Final = b"</w:body></w:document>"
_SHEET: Final = f'<worksheet xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheetData>'.encode()
_STRINGS: Final = f'<sst xmlns="{SHEET}">'.encode()

Parts = Mapping[str, str | bytes | Member]


def word(body: str = "", parts: Parts | None = None, *targets: tuple[str, str]) -> bytes:
    """A Word document that says MARKER and then has this body; its relationships lead to the targets."""
    return office(
        "word/document.xml",
        {
            "word/document.xml": _WORD + p(MARKER).encode() + body.encode() + _WORD_END,
            "word/_rels/document.xml.rels": relationships(*targets),
            **(parts or {}),
        },
    )


def word_of(head: bytes, block: bytes, times: int, tail: bytes = b"", size: int | None = None) -> bytes:
    """A Word document whose body is head, `times` the block, and tail."""
    part = bomb("word/document.xml", _WORD + head, block, times, tail + _WORD_END, size)
    return office("word/document.xml", {"word/document.xml": part})


def book(rows: str | Member = "", parts: Parts | None = None, sheets: int = 1, after: str = "") -> bytes:
    """A workbook of one sheet, which `sheets` names lead to; `after` stands after its rows."""
    names = "".join(f'<sheet name="S{number}" sheetId="{number}" r:id="rId1"/>' for number in range(1, sheets + 1))
    sheet = rows if isinstance(rows, Member) else _SHEET + f"{rows}</sheetData>{after}</worksheet>".encode()
    return office(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relationships(
                ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
            ),
            "xl/worksheets/sheet1.xml": sheet,
            **(parts or {}),
        },
    )


def book_of(block: bytes, times: int, parts: Parts | None = None) -> bytes:
    """A workbook whose sheet is `times` the block."""
    return book(bomb("xl/worksheets/sheet1.xml", _SHEET, block, times, b"</sheetData></worksheet>"), parts)


def deck(tree: str, parts: Parts | None = None, slides: int = 1, *targets: tuple[str, str]) -> bytes:
    """A presentation of one slide with this tree, which `slides` entries lead to."""
    ids = "".join(f'<p:sldId id="{256 + number}" r:id="rId1"/>' for number in range(slides))
    head, end = f"<p:sld {_P}><p:cSld><p:spTree>{shape(MARKER)}".encode(), b"</p:spTree></p:cSld></p:sld>"
    return office(
        "ppt/presentation.xml",
        {
            "ppt/presentation.xml": f"<p:presentation {_P}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships(("slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": head + tree.encode() + end,
            "ppt/slides/_rels/slide1.xml.rels": relationships(*targets),
            **(parts or {}),
        },
    )


def shape(text: str, place: str = "<a:off x='1' y='1'/>") -> str:
    """A shape of a slide."""
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='2' name='Box'/></p:nvSpPr><p:spPr><a:xfrm>{place}</a:xfrm></p:spPr>"
        f"<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


# Archives


def huge_part(size: int | None = None) -> bytes:
    """A Word document of 2 GB of paragraphs, which declares so many bytes."""
    return word_of(b"", p("A" * 100).encode() * 8000, 2000, size=size)


def huge_sheet() -> bytes:
    """A workbook of 80 million rows, 2 GB."""
    return book_of(b"<row><c><v>1</v></c></row>" * 10_000, 8000)


def huge_styles() -> bytes:
    """A Word document with 2 GB of styles."""
    part = bomb("word/styles.xml", f"<w:styles {NAMES}>".encode(), b"<w:style/>" * 10_000, 20_000, b"</w:styles>")
    return word("", {"word/styles.xml": part}, ("styles", "styles.xml"))


def huge_relationships() -> bytes:
    """A Word document with 2 GB of white space among its relationships."""
    name = "word/_rels/document.xml.rels"
    return word("", {name: bomb(name, b"<Relationships>", b" " * MB, 2000, b"</Relationships>")})


def huge_slide() -> bytes:
    """A presentation with a slide of 2 GB."""
    name = "ppt/slides/slide1.xml"
    return deck("", {name: bomb(name, b"<p:sld>", shape("w" * 100).encode() * 5000, 1500)})


def many_parts() -> bytes:
    """120 headers of 20 MB that overlap: 2.4 GB of parts, of which none is too large, in 100 KB."""
    part = bomb("header", f"<w:hdr {NAMES}>".encode(), b"<w:p/>" * 10_000, 350, b"</w:hdr>")
    names = [f"header{number}.xml" for number in range(120)]
    references = "".join(f"<w:headerReference r:id='rId{number}'/>" for number in range(1, 121))
    return word(
        f"<w:sectPr>{references}</w:sectPr>",
        {f"word/{name}": part._replace(name=f"word/{name}".encode()) for name in names},
        *(("header", name) for name in names),
    )


def embedded_in_each_other(depth: int = 30) -> bytes:
    """A document in a document, thirty deep."""
    data = word()
    for level in range(depth):
        data = word(p(f"level {level}"), {"word/embeddings/one.docx": data}, ("package", "embeddings/one.docx"))
    return data


def embedded_a_thousand_times() -> bytes:
    """3,000 embedded documents that share their bytes."""
    inner = member("one", word(p("embedded") * 500), level=0)
    names = [f"embeddings/{number}.docx" for number in range(3000)]
    return word(
        "",
        {f"word/{name}": inner._replace(name=f"word/{name}".encode()) for name in names},
        *(("package", name) for name in names),
    )


def embedded_bomb() -> bytes:
    """A document that holds a workbook of 2 GB."""
    return word("", {"word/embeddings/one.xlsx": strings_bomb()}, ("package", "embeddings/one.xlsx"))


def embedded_huge() -> bytes:
    """A document that holds twenty of 150 MB each, as they stand in it."""
    part = bomb("one", b"PK\x03\x04", bytes(MB), 150)
    names = [f"embeddings/{number}.xlsx" for number in range(20)]
    parts = {f"word/{name}": part._replace(name=f"word/{name}".encode()) for name in names}
    return word("", parts, *(("package", name) for name in names))


def strings_bomb() -> bytes:
    """Shared strings of 2 GB, of which one is used."""
    strings = bomb("xl/sharedStrings.xml", _STRINGS, (b"<si><t>" + b"B" * 100 + b"</t></si>") * 8000, 2200, b"</sst>")
    return book("<row r='1'><c r='A1' t='s'><v>0</v></c></row>", {"xl/sharedStrings.xml": strings})


def with_entries(count: int) -> bytes:
    """A document beside so many empty members."""
    empty = member("", b"")
    body = member("word/document.xml", _WORD + p(MARKER).encode() + _WORD_END)
    return pack([body, *(empty._replace(name=b"%d" % number) for number in range(count))])


def headers_lost(count: int = 3000) -> bytes:
    """A document with so many headers, none of which stands where the directory says, behind 30 MB of a picture."""
    names = [f"header{number}.xml" for number in range(count)]
    references = "".join(f"<w:headerReference r:id='rId{number}'/>" for number in range(1, count + 1))
    parts: dict[str, bytes | Member] = {
        "word/media/image1.bin": Member(b"word/media/image1.bin", bytes(30 * MB), 0, 30 * MB, 0)
    }
    parts |= {f"word/{name}": f"<w:hdr {NAMES}>{p('head')}</w:hdr>".encode() for name in names}
    data = word(f"<w:sectPr>{references}</w:sectPr>", parts, *(("header", name) for name in names))
    out = bytearray(data)
    for found in re.finditer(b"PK\x01\x02", data):
        if data[found.start() + 46 : found.start() + 57] == b"word/header":
            out[found.start() + 42 : found.start() + 46] = b"\1\0\0\0"
    return bytes(out)


def headers_alone(count: int = 1_000_000) -> bytes:
    """So many headers of members, and nothing else."""
    return b"".join(
        b"PK\x03\x04" + bytes(4) + b"\x08" + bytes(17) + b"\x04\0\0\0%04x" % (n % 65536) for n in range(count)
    )


def counting(count: int) -> bytes:
    """A sound document whose directory claims so many entries, in the wide form."""
    data = word()
    end = data.rindex(b"PK\x05\x06")
    size, start = struct.unpack_from("<II", data, end + 12)
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, start)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
    return data[:end] + record + locator + data[end : end + 8] + b"\xff\xff\xff\xff" + data[end + 12 :]


def beyond_4_gb() -> bytes:
    """A sound document whose directory, by the records for large archives, has 2^63 entries far behind its end."""
    sound = word()
    end = sound.rindex(b"PK\x05\x06")
    record = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 2**63, 2**63, 2**62, 2**62)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    return sound[:end] + record + locator + sound[end : end + 8] + b"\xff" * 12 + sound[end + 20 :]


def named(*names: str) -> bytes:
    """A document beside members of these names."""
    return word("", dict.fromkeys(names, "<x/>"))


def changed(data: bytes, magic: bytes, at: int, value: bytes) -> bytes:
    """The zip with a field of all records of one kind changed."""
    out = bytearray(data)
    for found in re.finditer(re.escape(magic), data):
        out[found.start() + at : found.start() + at + len(value)] = value
    return bytes(out)


def main_part_twice() -> bytes:
    """Two members of one name that say different things."""
    other = member("word/document.xml", _WORD + p("shadow").encode() + _WORD_END)
    return pack([other, member("word/document.xml", _WORD + p(MARKER).encode() + _WORD_END)])


def led_to(target: str, mode: str = "Internal") -> bytes:
    """A document with a relationship of each kind that is followed, all to one target."""
    kinds = (
        "header",
        "footer",
        "footnotes",
        "endnotes",
        "comments",
        "styles",
        "numbering",
        "chart",
        "diagramData",
        "package",
    )
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}" TargetMode="{mode}"/>'
        for number, kind in enumerate(kinds, 1)
    )
    body = (
        "<w:p><w:r><w:drawing><c:chart r:id='rId8'/><dgm:relIds r:dm='rId9'/></w:drawing></w:r></w:p><w:altChunk "
        "r:id='rId11'/>"
        "<w:sectPr><w:headerReference r:id='rId1'/><w:footerReference r:id='rId2'/></w:sectPr>"
    )
    names = "http://schemas.openxmlformats.org/package/2006/relationships"
    return word(body, {"word/_rels/document.xml.rels": f'<Relationships xmlns="{names}">{rows}</Relationships>'})
