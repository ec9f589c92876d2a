"""Builds PDFs that mean harm with what stands beside and behind their pages: notes, titles, forms, fonts, tables.

They are small, and made in milliseconds; their page says MARKER.
"""

from typing import Final

from tests.tasks.reading.hostile_files import MARKER, MB
from tests.tasks.reading.hostile_pdfs import CATALOG, PAGE, filled, packed, page, pdf

_LONG: Final = b"(" + b"words and words " * 65_536 + b")"
"""A string of 1 MB; objects that refer to it are small."""
_HELVETICA: Final = b"/Type /Font /Subtype /Type1 /BaseFont /Helvetica"
_SHOWN: Final = b"BT /F1 9 Tf (" + MARKER.encode() + b") Tj ET "
_WIDE: Final = (
    b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /A /Encoding %s /ToUnicode 5 0 R "
    b"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A %s >>] >> >> >>"
)


def one_string_often() -> dict[str, bytes]:
    """Titles, notes and values by the thousand, all of which are the same 1 MB."""
    note = b"<< /Type /Annot /Subtype /%s /Rect [0 0 9 9] /Contents 5 0 R /FT /Tx /T (f) /V 5 0 R >>"
    titles = [b"<< /Title 6 0 R /Parent 5 0 R /Next %d 0 R >>" % (number + 1) for number in range(7, 4000)]
    notes = b"/Annots [%s]" % (b"6 0 R " * 20_000)
    form = b"/AcroForm << /Fields [6 0 R] >>"
    return {
        "titles.pdf": page(catalog=b"/Outlines 5 0 R", others=[b"<< /First 7 0 R >>", _LONG, *titles]),
        "notes.pdf": page(more=notes, others=[_LONG, note % b"Text"]),
        "boxes.pdf": page(more=notes, others=[_LONG, note % b"FreeText"]),
        "values.pdf": page(more=notes, catalog=form, others=[_LONG, note % b"Widget"]),
        "replacement.pdf": page(
            b"BT /F1 9 Tf " + b"/Span /P0 BDC (a) Tj EMC " * 10_000 + b"ET",
            more=b"/Resources << /Font << /F1 << %s >> >> /Properties << /P0 << /ActualText 5 0 R >> >> >>"
            % _HELVETICA,
            others=[_LONG],
        ),
    }


def looks() -> dict[str, bytes]:
    """Notes whose drawing is long, and strings in it that never end, within which others begin."""
    contents = {
        "escaped": b"(" + b"\\(" * 200_000,
        "open": b"(a" * 200_000,
        "nested": b"(" + b"(a)" * 100_000,
        "closed": b"(" + b"\\(" * 200_000 + b") x",
        "arrays": b"[" * 200_000,
        "strings_in_arrays": b"[(a) " * 100_000,
    }
    often = b"/Annots [%s]" % (b"5 0 R " * 20_000)
    return {
        **{f"{name}.pdf": _stamped(b"BT %s Tj ET" % content) for name, content in contents.items()},
        "often.pdf": _stamped(b"BT %s ET" % (b"(a) Tj " * 20_000), often),
    }


def _stamped(content: bytes, annotations: bytes = b"/Annots [5 0 R]") -> bytes:
    stamp = b"<< /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] /Contents (note) /AP << /N 6 0 R >> >>"
    return page(more=annotations, others=[stamp, filled(content, b"/Subtype /Form /BBox [0 0 9 9]")])


def one_page_often() -> dict[str, bytes]:
    """Pages by the ten thousand, all of which are the same: much text, much to draw, many notes, nothing."""
    lines = b"BT /F1 9 Tf 9 TL " + b"(Zanzibar and more words of it) ' " * 2000 + b"ET"
    square = b"<< /Type /Annot /Subtype /Square /Rect [0 0 9 9] >>"
    return {
        "text.pdf": _often(filled(lines)),
        "drawing.pdf": _often(packed(b"0 0 m 9 9 l S " * 1000, 100, _SHOWN)),
        "notes.pdf": _often(filled(_SHOWN), b"/Annots [%s]" % (b"5 0 R " * 20_000), square),
        "nothing.pdf": _often(filled(b""), times=1_000_000),
    }


def _often(content: bytes, more: bytes = b"", *others: bytes, times: int = 20_000) -> bytes:
    kids = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (times, b"3 0 R " * times)
    return pdf(
        [CATALOG, kids, b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R %s >>" % (PAGE, more), content, *others]
    )


def forms() -> dict[str, bytes]:
    """Forms described in XML: many elements, many packets, depths, a bomb."""
    values = packed(b"<data><a>words</a></data>" * 10_000, 10, b"<x>", b"</x>")
    return {
        "elements.pdf": _described(b"5 0 R", packed(b"<a/>" * 100_000, 70, b"<x>", b"</x>")),
        "plain_elements.pdf": _described(b"5 0 R", filled(b"<x>" + b"<a/>" * 1_500_000 + b"</x>")),
        "packets.pdf": _described(b"[%s]" % (b"(a) 5 0 R " * 99), values),
        "bomb.pdf": _described(b"5 0 R", packed(b"<a/>" * 100_000, 2000, b"<x>", b"</x>")),
        "deep.pdf": _described(b"5 0 R", filled(b"<data><a>" * 100_000)),
    }


def _described(packets: bytes, stream: bytes) -> bytes:
    return page(catalog=b"/NeedsRendering true /AcroForm << /Fields [] /XFA %s >>" % packets, others=[stream])


def fonts() -> dict[str, bytes]:
    """Fonts whose tables claim the world."""
    ranges = b"100 beginbfrange " + b"<00000000> <FFFFFFFF> <0041> " * 1000 + b"endbfrange"
    codes = b"begincmap " + b"1 begincidrange <00000000> <FFFFFFFF> 0 endcidrange " * 20_000 + b"endcmap"
    width = b"/W [%s]" % (b"0 2147483647 500 " * 100_000)
    differences = b"/Encoding << /Differences [%s] >>" % (b"/f_i " * 500_000)
    return {
        "unicode_ranges.pdf": page(more=_WIDE % (b"/Identity-H", b""), others=[filled(ranges)]),
        "codes.pdf": page(more=_WIDE % (b"5 0 R", b""), others=[filled(codes, b"/Type /CMap /UseCMap 5 0 R")]),
        "widths.pdf": page(more=_WIDE % (b"/Identity-H", width), others=[filled(b"")]),
        "names.pdf": page(more=b"/Resources << /Font << /F1 << %s %s >> >> >>" % (_HELVETICA, differences)),
    }


def tables() -> dict[str, bytes]:
    """Tables of contents as streams, which lead back to themselves or claim what is not there."""
    sound = _with_table_stream()
    return {
        "sound.pdf": sound,
        "previous.pdf": _with_table_stream(b"/Prev %d" % sound.rindex(b"5 0 obj")),
        "index.pdf": _with_table_stream(b"/Index [0 2147483647]"),
        "wide.pdf": sound.replace(b"/W [1 4 2]", b"/W [1 2147483647 2]"),
        "no_width.pdf": sound.replace(b"/W [1 4 2]", b"/W [0 0 0]"),
        "hybrid.pdf": page().replace(b"/Root", b"/XRefStm %d /Root" % page().rindex(b"xref\n0")),
        "object_stream.pdf": _with_table_stream(
            b"", packed(b" " * MB, 700, b"9 0 ", b"<< /First 9 0 R >>", more=b"/Type /ObjStm /N 1 /First 4")
        ),
    }


def _with_table_stream(more: bytes = b"", objects: bytes = b"") -> bytes:
    """The usual page; a table that is a stream finds its objects. With `objects`, those of that stream too."""
    data = page(catalog=b"/Outlines 9 0 R", others=[objects] if objects else [])
    out = data[: data.rindex(b"xref\n0")]
    count = 6 if objects else 5
    starts = [out.index(b"\n%d 0 obj" % number) + 1 for number in range(1, count)]
    rows = [(0, 0), *((1, start) for start in (*starts, len(out)))]
    if objects:
        rows += [(0, 0)] * 2 + [(2, 5)]
    table = b"".join(bytes([kind]) + place.to_bytes(4, "big") + b"\0\0" for kind, place in rows)
    stream = filled(table, b"/Type /XRef /W [1 4 2] /Root 1 0 R /Size %d %s" % (len(rows), more))
    return out + b"%d 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n" % (count, stream, len(out))


def pictures() -> dict[str, bytes]:
    """Pages without text that keep whoever draws them for minutes: patterns, layers, shadings."""
    marks = b"0 0 m 1 1 l S " * 200
    tile = filled(b"0 0 m 1 1 l S " * 1000, b"/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep .01 "
                  b"/YStep .01 /Resources << >>")  # fmt: skip
    layer = filled(b"0 0 612 792 re f", b"/Subtype /Form /BBox [0 0 612 792] /Group << /S /Transparency /I true >>")
    fax = b"/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 2147483647 /Rows 2147483647 >>"
    size = b"/Subtype /Image /Width 9999 /Height 9999 /BitsPerComponent 1 /ColorSpace /DeviceGray "
    drawn = b"/Resources << /XObject << /X0 5 0 R >> /ExtGState << /G0 << /ca 0.5 /BM /Multiply >> >> >>"
    return {
        "tiles.pdf": page(
            stream=filled(marks + b"/Pattern cs /P0 scn 0 0 612 792 re f"),
            more=b"/Resources << /Pattern << /P0 5 0 R >> >>",
            others=[tile],
        ),
        "layers.pdf": page(stream=filled(marks + b"/G0 gs /X0 Do " * 5000), more=drawn, others=[layer]),
        "fax.pdf": page(
            stream=filled(b"612 0 0 792 0 0 cm /X0 Do"), more=drawn, others=[filled(b"\0" * 1000, size + fax)]
        ),
    }
