"""Damaged PDFs made whole again, as far as what is left goes: PDFium finds the objects, this says where to begin.

PDFium rebuilds a lost table of contents by itself, but it needs a trailer that names the catalog, and pages that hang
from it. One or the other is gone in most files that were cut off.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from tasks.documents.extract.pdf.packed import packed, reference

REBUILT: Final = "The file is damaged: its table of contents was rebuilt, and pages may be missing."

LARGEST: Final = 192 << 20
"""Bytes of a file that is repaired: it is held twice."""

_TYPE: Final = re.compile(rb"/Type\s*/(Catalog|Pages|Page)\b")
_OBJECT: Final = re.compile(rb"\d\s+\d{1,5}\s+obj\b")
_BOUND_OR_TYPE: Final = re.compile(rb"(?:(\d{1,7}\s+\d{1,5})\s+|end)obj\b|/Type\s*/(?P<kind>Catalog|Pages|Page)\b")
_HEADER: Final = re.compile(rb"%PDF-\d")
_ENCRYPTED: Final = re.compile(rb"/Encrypt\s+(\d{1,7}\s+\d{1,5}\s+R)\b")
_HANDLER: Final = re.compile(rb"/Filter\s*/Standard\b")
_IDENTITY: Final = re.compile(rb"/ID\s*\[\s*(<[0-9A-Fa-f\s]{0,200}>|\((?:[^()\\]|\\.){0,200}\))", re.DOTALL)

_LATEST_HEADER: Final = 1024
"""Where PDFium looks for the header, in bytes."""
_LONGEST: Final = 1 << 16
"""Bytes of an object that are searched."""
_MOST_ROOTS: Final = 4
_MOST_PAGES: Final = 100_000
_MOST_FOUND: Final = 200_000

_NEW, _NEW_TREE = b"4000000 0 R", b"4000001 0 R"
"""Numbers that no object has: PDFium takes none above 4,194,304."""
_CATALOG: Final = b"4000000 0 obj\n<< /Type /Catalog /Pages %s >>\nendobj\n"
_TREE: Final = b"4000001 0 obj\n<< /Type /Pages /Count %d /Kids [%s] >>\nendobj\n"


class _Found(NamedTuple):
    """An object to begin from."""

    position: int
    kind: bytes
    reference: bytes
    within: bool
    """Whether it hangs from another one."""


def whole(data: bytes) -> Iterator[bytes]:
    """What a damaged PDF may have been, the likeliest first.

    Its bytes from the header on; then with a trailer for each catalog, the last first; with a catalog for each tree of
    pages; with a tree of all pages that are left.
    """
    header = _HEADER.search(data)
    if header is None:
        data = b"%PDF-1.7\n" + data
    elif header.start() > _LATEST_HEADER:
        data = data[header.start() :]
    if not _OBJECT.search(data):
        return
    data = data[: _end(data)]
    if header is None or header.start() > _LATEST_HEADER:
        yield data
    found = sorted(islice(_found(data), _MOST_FOUND), key=lambda item: item.position)
    lock = _lock(data)
    for catalog in _last(item.reference for item in found if item.kind == b"Catalog"):
        yield _closed(data, b"", catalog, lock)
    for root in _last(item.reference for item in found if item.kind == b"Pages" and not item.within):
        yield _closed(data, _CATALOG % root, _NEW, lock)
    pages = list(dict.fromkeys(item.reference for item in found if item.kind == b"Page"))[:_MOST_PAGES]
    if pages:
        yield _closed(data, _CATALOG % _NEW_TREE + _TREE % (len(pages), b" ".join(pages)), _NEW, lock)


def _end(data: bytes) -> int:
    """Where the last whole object ends, or one that is cut off within its stream: its beginning can be read."""
    last = data.rfind(b"obj")
    if data.endswith(b"end", 0, last) or data.find(b"stream", last) >= 0:
        return len(data)
    return max(data.rfind(b"endobj", 0, last) + len(b"endobj"), len(b"%PDF-1.7"))


def _closed(data: bytes, objects: bytes, catalog: bytes, lock: bytes) -> bytes:
    """`data`, which may end in the middle of a stream, with further objects and a trailer."""
    end = b"\nendstream\nendobj\n%strailer\n<< /Root %s%s >>\nstartxref\n0\n%%%%EOF\n"
    return data + end % (objects, catalog, lock)


def _last(references: Iterable[bytes]) -> list[bytes]:
    """The last few, each once, the very last first: what was changed later stands later."""
    return list(dict.fromkeys(reversed(list(references))))[:_MOST_ROOTS]


def _lock(data: bytes) -> bytes:
    """The trailer's entries for what the file is encrypted with, where that is left."""
    named = _ENCRYPTED.findall(data)
    handler = _HANDLER.search(data)
    encryption = named[-1] if named else handler and reference(data, handler.start())
    if not encryption:
        return b""
    identities = _IDENTITY.findall(data)
    return b" /Encrypt %s" % encryption + (b" /ID [%s %s]" % (identities[-1], identities[-1]) if identities else b"")


def _found(data: bytes) -> Iterator[_Found]:
    """The catalogs, trees of pages and pages in the file; those that are packed come last."""
    begin, name, kind = 0, b"", b""
    for match in _BOUND_OR_TYPE.finditer(data):
        if match["kind"]:
            kind = kind or match["kind"]
            continue
        if name and kind:
            yield _Found(begin, kind, name + b" R", b"/Parent" in data[begin : min(match.start(), begin + _LONGEST)])
        begin, name, kind = match.start(), match[1] or b"", b""
    if name and kind:
        yield _Found(begin, kind, name + b" R", b"/Parent" in data[begin : begin + _LONGEST])
    for item in packed(data):
        typed = _TYPE.search(item.content)
        if typed is not None:
            yield _Found(item.position, typed[1], b"%d 0 R" % item.number, b"/Parent" in item.content)
