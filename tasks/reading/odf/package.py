"""A file of OpenDocument as a package: its content and styles as trees, its encryption, the documents inside it.

Flat files, a single XML document each, are packages too: everything stands in the one tree.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final, Self
from urllib.parse import unquote

from lxml import etree

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.package import CUT_OFF, EMBEDDED_LIMIT, EMBEDDED_TOTAL, MACROS
from tasks.reading.ooxml.recovery import whole_characters
from tasks.reading.ooxml.zip import ZipEntry, ZipMembers
from tasks.reading.text_writer import NO_TEXT, Source, Writer

LARGEST_TREE: Final = 48 << 20
"""The most bytes of a part that becomes a tree, which takes ten times as much; 1,000 pages have 5 MB."""

LARGEST_STREAM: Final = 512 << 20
"""The most bytes of a part that is read piece by piece."""

_LARGEST_MANIFEST: Final = 16 << 20
_MOST_EMBEDDED: Final = 200
_NAMESPACES: Final = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
    "chart": "urn:oasis:names:tc:opendocument:xmlns:chart:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
_ENCRYPTED: Final = re.compile(rb"<(?:\w+:)?encryption-data[\s/>]")
_KINDS: Final = {"text": ".odt", "spreadsheet": ".ods", "presentation": ".odp", "chart": ""}


@cache
def name(qualified: str) -> str:
    """The name of an element or attribute as lxml has it: `name("text:p")`."""
    prefix, _, local = qualified.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{local}"


BODY: Final = name("office:body")
_HREF: Final = name("xlink:href")


class OdfPackage:
    """The parts of a document.

    Raises:
        Damaged: it is no document of OpenDocument, or nothing is left of it.
        PasswordProtected: it is encrypted.
    """

    def __init__(self, source: Source) -> None:
        self._archive: ZipMembers | None = None
        self._flat: etree._Element | None = None
        self._entries: dict[str, ZipEntry] = {}
        self._source = source
        self.damaged = False
        head = source[:64] if isinstance(source, bytes) else _head(source)
        if not head:
            raise Damaged("The file is empty (0 bytes). Ask for it again.")
        if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
            data = source if isinstance(source, bytes) else _whole(source)
            self._flat = self._parsed(data)
            return
        self._archive = ZipMembers(source)
        self._entries = {entry.name: entry for entry in self._archive.entries()}
        self.damaged = self._archive.damaged
        if not self._entries:
            raise Damaged("The file is not an OpenDocument file: it is no zip package. Ask for it again.")
        if _ENCRYPTED.search(self._data("META-INF/manifest.xml", _LARGEST_MANIFEST)):
            raise PasswordProtected("The document opens with a password only. Save it without one.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def content(self) -> etree._Element:
        """The tree of the document's content.

        Raises:
            Damaged: there is none. TooLarge: it is larger than LARGEST_TREE.
        """
        root = self._flat if self._flat is not None else self.tree("content.xml")
        if root is None or root.find(BODY) is None:
            raise Damaged("The file has lost its content: nothing can be read from it. Ask for it again.")
        return root

    def body(self, kind: str, called: str) -> etree._Element:
        """The element of the content that holds the document's body ("office:text").

        Raises:
            Damaged: there is none: the document is no "text document". TooLarge: it is larger than LARGEST_TREE.
        """
        body = self.content().find(f"{BODY}/{name(kind)}")
        if body is None:
            raise Damaged(f"The file holds no {called}. Ask for it again, or give it the ending of its format.")
        return body

    def styles(self) -> etree._Element | None:
        """The tree of the styles and master pages; None where it is lost."""
        return self._flat if self._flat is not None else self.tree("styles.xml")

    def tree(self, part: str) -> etree._Element | None:
        """A part as a tree, as far as it is whole; None when there is no such part, or no XML in it.

        Raises:
            TooLarge: it inflates to more than LARGEST_TREE.
        """
        if part not in self._entries:
            return None
        data = self._data(part, LARGEST_TREE)
        return self._parsed(data) if data else None

    def content_stream(self) -> Iterator[bytes]:
        """The document's content in pieces."""
        if self._archive is None:
            yield from whole_characters([self._source if isinstance(self._source, bytes) else _whole(self._source)])
        elif "content.xml" in self._entries:
            yield from whole_characters(self._archive.inflate(self._entries["content.xml"], LARGEST_STREAM))
            self.damaged |= self._archive.damaged
        else:
            raise Damaged("The file has lost its content: nothing can be read from it. Ask for it again.")

    def finish(self, writer: Writer) -> None:
        """Warn of macros, of damage, and of a document without text, once all is read."""
        if any(entry.startswith(("Basic/", "Scripts/")) for entry in self._entries):
            writer.warn(MACROS)
        if self.damaged or (self._archive is not None and self._archive.damaged):
            writer.warn(CUT_OFF)
        if not writer.written:
            writer.warn(NO_TEXT)

    def attach(self, elements: list[etree._Element], writer: Writer) -> None:
        """Hand the documents inside this one, to which these elements (draw:object, draw:object-ole) lead, to `writer`.

        Charts are none: their words stand where they are.
        """
        left = EMBEDDED_TOTAL
        for part in list(dict.fromkeys(map(part_of, elements)))[:_MOST_EMBEDDED]:
            data = self._embedded(part, min(left, EMBEDDED_LIMIT))
            left -= len(data or b"")
            ending = _kind_of(data) if data else ""
            if part and (data is None or ending is not None):
                writer.attach(posixpath.basename(part) + (ending or ""), data)

    def _embedded(self, part: str, limit: int) -> bytes | None:
        """An object, packed again when it is a folder of this package; None where it is lost or too large."""
        assert self._archive is not None or not part
        inside = [entry for entry in self._entries.values() if entry.name.startswith(f"{part}/")]
        if self._archive is None:
            return None
        try:
            if part in self._entries:
                return self._archive.read(self._entries[part], limit)
            if not inside:
                return None
            packed, size = BytesIO(), 0
            with zipfile.ZipFile(packed, "w") as folder:
                for entry in inside:
                    data = self._archive.read(entry, limit - size)
                    size += len(data)
                    folder.writestr(entry.name[len(part) + 1 :], data)
            return packed.getvalue()
        except TooLarge:
            return None

    def _data(self, part: str, limit: int) -> bytes:
        entry = self._entries.get(part)
        if entry is None or self._archive is None:
            return b""
        data = self._archive.read(entry, limit)
        self.damaged |= self._archive.damaged
        return data

    def _parsed(self, data: bytes) -> etree._Element | None:
        if len(data) > LARGEST_TREE:
            raise TooLarge("The document holds more than can be read at once. Split it.")
        try:
            return etree.fromstring(data, xml.parser())
        except etree.XMLSyntaxError:
            self.damaged = True
        try:
            return etree.fromstring(b"".join(whole_characters([data])), xml.parser(recover=True))
        except etree.XMLSyntaxError:
            return None


def part_of(element: etree._Element) -> str:
    """The name of the part to which an element leads; "" where that is none of this package."""
    target = unquote(element.get(_HREF, "")).partition("#")[0]
    full = posixpath.normpath(target.removeprefix("./")) if target else ""
    return "" if "://" in target or full.startswith(("/", "..")) or full == "." else full


def _kind_of(data: bytes) -> str | None:
    """The ending of a package by what it holds, "" for what is none; None for charts and formulas."""
    if not data.startswith(b"PK"):
        return ""
    with zipfile.ZipFile(BytesIO(data)) as package:
        if "content.xml" not in package.namelist():
            return ""
        with package.open("content.xml") as content:
            start = content.read(1 << 16)
    found = re.search(rb"<office:(text|spreadsheet|presentation|chart)[\s>]", start)
    if found is None:
        return None if b"math" in start else ""
    return _KINDS[found[1].decode()] or None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _whole(path: Path) -> bytes:
    if path.stat().st_size > LARGEST_TREE:
        raise TooLarge("The document holds more than can be read at once. Split it.")
    return path.read_bytes()
