"""PDFs written by hand, for what no library writes."""

import zlib
from collections.abc import Sequence

HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(data: bytes, entries: bytes = b"", *, packed: bool = False) -> bytes:
    """A stream with these entries in its dictionary, compressed if `packed`."""
    if packed:
        data, entries = zlib.compress(data), entries + b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def shown(text: bytes) -> bytes:
    """A page's content: this text at the top, in font F1."""
    return stream(b"BT /F1 12 Tf 72 700 Td (%s) Tj ET" % text)


def page(content: int, font: int, entries: bytes = b"", parent: int = 2) -> bytes:
    """A page whose content and font F1 are these objects."""
    return (
        b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
        b"/Resources << /Font << /F1 %d 0 R >> >> %s >>" % (parent, content, font, entries)
    )


def one_page(
    text: bytes, *others: bytes, catalog: bytes = b"", entries: bytes = b"", font: bytes = HELVETICA
) -> list[bytes]:
    """The objects of a PDF of one page: catalog, tree, page, content, font, and `others` from 6 on."""
    return [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        page(4, 5, entries),
        shown(text),
        font,
        *others,
    ]


def body(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1, without table or trailer."""
    return b"%PDF-1.5\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(objects, 1))


def pdf(objects: Sequence[bytes]) -> bytes:
    """A whole PDF of these objects, numbered from 1, of which the first is its catalog."""
    data = bytearray(b"%PDF-1.5\n")
    rows = [b"0000000000 65535 f \n"]
    for number, content in enumerate(objects, 1):
        rows.append(b"%010d 00000 n \n" % len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(rows), len(data))
    return bytes(data) + b"xref\n0 %d\n%s%s" % (len(rows), b"".join(rows), trailer)
