"""Builds PDFs that mean harm: streams that inflate without end, trees in circles, depths, amplifications.

They are small, and made in milliseconds; their page says MARKER where it can be read.
"""

import zlib
from collections.abc import Sequence
from typing import Final

from tests.fuzz.zips import repeated
from tests.tasks.reading.hostile_files import MARKER, MB

_FONT: Final = b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
CATALOG: Final = b"<< /Type /Catalog /Pages 2 0 R >>"
_BOX: Final = b"/MediaBox [0 0 612 792]"
PAGE: Final = _BOX + b" " + _FONT


def pdf(objects: Sequence[bytes], trailer: bytes = b"", version: bytes = b"1.7") -> bytes:
    """A PDF of these objects, numbered from 1, of which the first is its catalog."""
    out = bytearray(b"%%PDF-%s\n" % version)
    starts = []
    for number, each in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    return bytes(out) + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, trailer, len(out))
    )


def page(
    content: bytes = b"", more: bytes = b"", catalog: bytes = b"", others: Sequence[bytes] = (), stream: bytes = b""
) -> bytes:
    """A PDF of one page that shows MARKER and then this content.

    `more` are entries of the page (object 3), `catalog` of the catalog, `others` the objects from 5 on;
    `stream` replaces the content stream (object 4).
    """
    shown = b"BT /F1 12 Tf 72 700 Td (%s) Tj ET\n" % MARKER.encode() + content
    return pdf([
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog, b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R %s /Contents 4 0 R %s %s "
        b">>" % (_BOX, b"" if b"/Resources" in more else _FONT, more),
        stream or filled(shown), *others,
    ])  # fmt: skip


def filled(data: bytes, more: bytes = b"") -> bytes:
    """A stream as it stands."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more, data)


def packed(block: bytes, times: int, head: bytes = b"", tail: bytes = b"", layers: int = 1, more: bytes = b"") -> bytes:
    """A stream of head, `times` the block, and tail, deflated so many times over."""
    checksum = zlib.adler32(head)
    for _ in range(times):
        checksum = zlib.adler32(block, checksum)
    data = b"\x78\x9c" + repeated(head, block, times, tail) + zlib.adler32(tail, checksum).to_bytes(4, "big")
    for _ in range(layers - 1):
        data = zlib.compress(data, 9)
    return filled(data, more + b" /Filter [%s]" % (b"/FlateDecode " * layers))


def stream_bombs() -> dict[str, bytes]:
    """Streams that inflate to 600 MB or more, of every kind that is inflated when a page is read."""
    shows = b"(AAAAAAAA) Tj " * 70_000
    runs = zlib.compress(b"\x81A" * (5 * MB) + b"\x80", 9)
    many = b"/Type /ObjStm /N 1 /First 4"
    return {
        "content.pdf": page(stream=packed(shows, 600, b"BT /F1 9 Tf ", b"ET")),
        "content_packed_thrice.pdf": page(stream=packed(shows, 600, b"BT /F1 9 Tf ", b"ET", layers=3)),
        "white_space.pdf": page(stream=packed(b" " * MB, 700)),
        "open_brackets.pdf": page(stream=packed(b"[" * MB, 300)),
        "saved_states.pdf": page(stream=packed(b"q " * 500_000, 100)),
        "runs.pdf": page(stream=filled(runs, b"/Filter [/FlateDecode /RunLengthDecode]")),
        "predictor.pdf": page(stream=packed(
            b"\x00", 1000, more=b"/DecodeParms [<< /Predictor 15 /Columns 2147483647 /Colors 32 >>]")),
        "unicode_map.pdf": page(
            more=b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H "
            b"/ToUnicode 5 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A >>] >> >> >>",
            others=[packed(b"1 beginbfrange <0000> <FFFF> <0041> endbfrange\n" * 10_000, 1200)]),
        "object_stream.pdf": page(others=[packed(b" " * MB, 700, b"9 0 ", more=many)], catalog=b"/Names 9 0 R"),
        "appearance.pdf": page(
            more=b"/Annots [<< /Type /Annot /Subtype /FreeText /Rect [0 0 9 9] /Contents (note) /AP << /N 5 0 R >> >>]",
            others=[packed(shows, 600, b"BT /F1 9 Tf ", b"ET", more=b"/Subtype /Form /BBox [0 0 9 9]")]),
        "attachment.pdf": page(catalog=attached(b"bomb.txt", b"6 0 R"), others=[b"null", packed(b"A" * MB, 2000)]),
        "picture.pdf": page(b"/X0 Do", more=b"/Resources << /XObject << /X0 5 0 R >> >>", others=[packed(
            b"\x00" * MB, 700, more=b"/Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 8")]),
    }  # fmt: skip


def attached(name: bytes, stream: bytes) -> bytes:
    """The catalog's entry for one attachment."""
    file = b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F %s >> >>" % (name, name, stream)
    return b"/Names << /EmbeddedFiles << /Names [(%s) %s] >> >>" % (name, file)


def circles() -> dict[str, bytes]:
    """Trees whose branches lead back."""
    widget = b"<< /FT /Tx /T (f) /V (value) /Subtype /Widget /Rect [0 0 9 9] /Kids [5 0 R] /Parent 5 0 R >>"
    looped = b"<< /Title (Chapter) /Parent 5 0 R /First 6 0 R /Last 6 0 R /Next 6 0 R /Prev 6 0 R /Count 9 >>"
    form = filled(
        b"/X0 Do BT /F1 9 Tf (again) Tj ET", b"/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 5 0 R >> >>"
    )
    laughs = [
        filled(b"/X0 Do " * 10 + b"BT /F1 9 Tf (ha) Tj ET",
               b"/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 %d 0 R >> >>" % number)
        for number in range(6, 16)
    ]  # fmt: skip
    with_form = _FONT.replace(b"/Font", b"/XObject << /X0 5 0 R >> /Font", 1)
    charproc = b"/Resources << /Font << /F1 5 0 R >> >>"
    type3 = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 "
        b"/Widths [9] "
        b"/Encoding << /Differences [65 /A] >> /CharProcs << /A 6 0 R >> /Resources << /Font << /F1 5 0 R >> >> >>"
    )
    note = b"<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (note) /Popup 5 0 R /Parent 5 0 R /IRT 5 0 R >>"
    return {
        "pages.pdf": pdf([CATALOG, b"<< /Type /Pages /Count 1000000 /Kids [2 0 R 2 0 R] >>"]),
        "outline.pdf": page(catalog=b"/Outlines 5 0 R", others=[b"<< /First 6 0 R /Last 6 0 R /Count 9 >>", looped]),
        "fields.pdf": page(more=b"/Annots [5 0 R]", catalog=b"/AcroForm << /Fields [5 0 R] >>", others=[widget]),
        "names.pdf": page(catalog=b"/Names << /EmbeddedFiles 5 0 R >>", others=[b"<< /Kids [5 0 R 5 0 R] >>"]),
        "attachment.pdf": page(catalog=b"/Names << /EmbeddedFiles << /Names [(a) 5 0 R (a) 5 0 R] >> >>", others=[
            b"<< /Type /Filespec /F (a.pdf) /EF << /F 5 0 R >> >>"]),
        "form_in_itself.pdf": page(b"/X0 Do", more=with_form, others=[form]),
        "forms_ten_to_the_tenth.pdf": page(b"/X0 Do", more=with_form, others=[*laughs, filled(b"", b"/Subtype /Form")]),
        "font_in_itself.pdf": page(
            b"BT /F1 9 Tf (AAAA) Tj ET", more=charproc, others=[type3, filled(b"BT /F1 9 Tf (AAAA) Tj ET")]),
        "notes.pdf": page(more=b"/Annots [5 0 R 5 0 R]", others=[note]),
        "annotations.pdf": page(more=b"/Annots 5 0 R", others=[b"[5 0 R 5 0 R]"]),
        "parents.pdf": page(more=b"/Parent 3 0 R"),
        "contents.pdf": page(more=b"/Contents [4 0 R 5 0 R]", others=[b"[5 0 R 4 0 R]"]),
        "length.pdf": page(stream=b"<< /Length 4 0 R >>\nstream\nBT ET\nendstream"),
        "previous_table.pdf": _with_previous(page()),
        "object_streams.pdf": page(others=[filled(b"9 0 null", b"/Type /ObjStm /N 1 /First 4 /Extends 5 0 R")]),
        "encryption.pdf": pdf([CATALOG, b"<< /Type /Pages /Count 0 /Kids [] >>"], b"/Encrypt 1 0 R"),
    }  # fmt: skip


def _with_previous(data: bytes) -> bytes:
    return data.replace(b"/Root", b"/Prev %d /Root" % data.rindex(b"xref\n0"))


def depths() -> dict[str, bytes]:
    """Things within each other, and things by the hundred thousand."""
    deep = 50_000
    chapters = [
        b"<< /Title (Chapter) /Parent %d 0 R /First %d 0 R /Last %d 0 R >>" % (number - 1, number + 1, number + 1)
        for number in range(5, 5 + deep)
    ]
    siblings = [b"<< /Title (Chapter) /Parent 5 0 R /Next %d 0 R >>" % (number + 1) for number in range(6, 6 + deep)]
    kids = [b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (number + 1) for number in range(2, 2 + deep)]
    notes = b"<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (note) >>" * 30_000
    return {
        "arrays.pdf": page(others=[b"[" * deep + b"]" * deep], catalog=b"/Names 5 0 R"),
        "dictionaries.pdf": page(others=[b"<< /A " * deep + b"null" + b">>" * deep], catalog=b"/AcroForm 5 0 R"),
        "arrays_on_the_page.pdf": page(b"[" * deep),
        "strings.pdf": page(b"BT (" + b"(" * deep),
        "outline.pdf": page(catalog=b"/Outlines 5 0 R", others=chapters),
        "outline_wide.pdf": page(catalog=b"/Outlines 5 0 R", others=[b"<< /First 6 0 R >>", *siblings]),
        "pages.pdf": pdf([CATALOG, *kids, b"<< /Type /Page %s >>" % _BOX]),
        "annotations.pdf": page(more=b"/Annots [%s]" % notes),
        "every_second_page_lost.pdf": pdf(
            [
                CATALOG,
                b"<< /Type /Pages /Count 20000 /Kids [%s] >>" % (b"3 0 R 9 0 R " * 10_000),
                b"<< /Type /Page /Parent 2 0 R %s %s /Contents 4 0 R >>" % (_BOX, _FONT),
                filled(b"BT /F1 9 Tf (%s) Tj ET" % MARKER.encode()),
            ]
        ),
        "count_of_pages.pdf": page().replace(b"/Count 1 ", b"/Count 2147483647 "),
        "numbers.pdf": page(more=b"/MediaBox [-1e30 -1e30 1e30 1e30] /UserUnit 1e30 /Rotate 99999999999"),
        "objects.pdf": page().replace(b"/Size 5", b"/Size 2147483647").replace(b"0 5\n", b"0 2147483647\n"),
        "one_line.pdf": page(b"BT /F1 9 Tf " + b"(word )Tj " * 60_000 + b"ET"),
        "one_spot.pdf": page(b"BT /F1 9 Tf " + b"1 0 0 1 72 700 Tm (word)Tj " * 60_000 + b"ET"),
    }


def reaching_out(url: bytes, file: bytes) -> bytes:
    """Asks for everything that a PDF can ask for from outside."""
    actions = [
        b"<< /S /URI /URI (%s) >>" % url,
        b"<< /S /GoToR /F (%s) /D [0 /Fit] >>" % url,
        b"<< /S /Launch /F (%s) >>" % file,
        b"<< /S /SubmitForm /F << /FS /URL /F (%s) >> >>" % url,
        b"<< /S /ImportData /F (%s) >>" % file,
        b"<< /S /JavaScript /JS (app.launchURL\\('%s'\\);) >>" % url,
    ]
    links = b" ".join(b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A %s >>" % action for action in actions)
    external = b"<< /Length 0 /F << /FS /URL /F (%s) >> >>\nstream\n\nendstream" % url
    local = b"<< /Length 0 /F (%s) >>\nstream\n\nendstream" % file
    return page(
        more=b"/Annots [%s] /AA << /O %s >> /Contents [4 0 R 5 0 R 6 0 R]" % (links, actions[-1]),
        catalog=b"/OpenAction %s /AcroForm << /XFA 7 0 R >>" % actions[-1],
        others=[external, local, filled(b'<!DOCTYPE x [<!ENTITY e SYSTEM "%s">]><x>&e;</x>' % url)],
    )
