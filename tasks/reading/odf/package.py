"""An OpenDocument file as a package: its content as a tree or in pieces, and whether it is encrypted.

Flat files, which are a single XML document, are packages too: everything is in the one tree.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Final

from lxml import etree

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.language.normalise import one_line
from tasks.reading.docx import reader as docx
from tasks.reading.legacy.libreoffice import FLAT_ODP, FLAT_ODT, ODP, ODT, Conversion, read_through
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.package import CUT_OFF, MACROS
from tasks.reading.ooxml.xml import whole_characters
from tasks.reading.ooxml.zip import ZipEntry, ZipMembers
from tasks.reading.places import BODY, SLIDE, SPEAKER_NOTE, TABLE
from tasks.reading.pptx import reader as pptx
from tasks.reading.raised import raise_text
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer

LARGEST_TREE: Final = 48 << 20
"""The most bytes of a part that becomes a tree, which takes ten times as much; 1,000 pages have 5 MB."""

LARGEST_STREAM: Final = 512 << 20
"""The most bytes of a part that is read piece by piece."""

_LARGEST_MANIFEST: Final = 16 << 20
_NAMESPACES: Final = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "calcext": "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0",
}
_RAISES: Final = re.compile(r"super|[1-9]")
_MOMENTS: Final = ("meta:creation-date", "dc:date")
"""When a document was made and last changed (ODF 1.3 part 3, 4.3.2)."""

_ENCRYPTED: Final = re.compile(rb"<(?:\w+:)?encryption-data[\s/>]")


@cache
def name(qualified: str) -> str:
    """The name of an element or attribute in lxml's form: `name("text:p")`."""
    prefix, _, local = qualified.partition(":")
    return f"{{{_NAMESPACES[prefix]}}}{local}"


OFFICE_BODY: Final = name("office:body")


class OdfPackage(AbstractContextManager["OdfPackage", None]):
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
            self._flat = self._parse(data)
            return
        self._archive = ZipMembers(source)
        self._entries = {entry.name: entry for entry in self._archive.entries()}
        self.damaged = self._archive.damaged
        if not self._entries:
            raise Damaged("The file is not an OpenDocument file: it is not a zip package. Ask for it again.")
        if _ENCRYPTED.search(self._data("META-INF/manifest.xml", _LARGEST_MANIFEST)):
            raise PasswordProtected("The document can only be opened with a password. Save it without one.")

    @property
    def is_flat(self) -> bool:
        """Whether it is one XML document."""
        return self._archive is None

    def __exit__(self, *_: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def content(self) -> etree._Element:
        """The tree of the document's content.

        Raises:
            Damaged: there is none. TooLarge: it is larger than LARGEST_TREE.
        """
        root = self._flat if self._flat is not None else self._tree("content.xml")
        if root is None or root.find(OFFICE_BODY) is None:
            raise Damaged("The file has lost its content: nothing can be read from it. Ask for it again.")
        return root

    def body(self, kind: str, called: str) -> etree._Element:
        """The element with the document's body ("office:text").

        Raises:
            Damaged: there is none: the document is no "text document". TooLarge: it is larger than LARGEST_TREE.
        """
        body = self.content().find(f"{OFFICE_BODY}/{name(kind)}")
        if body is None:
            raise Damaged(f"The file holds no {called}. Ask for it again, or give it the ending of its format.")
        return body

    def _tree(self, part: str) -> etree._Element | None:
        """A part as a tree, as far as it is intact; None if there is no such part, or it contains no XML.

        Raises:
            TooLarge: it inflates to more than LARGEST_TREE.
        """
        if part not in self._entries:
            return None
        data = self._data(part, LARGEST_TREE)
        return self._parse(data) if data else None

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
        """Warn about macros, damage, and a document without text, once everything is read."""
        root = self._flat if self._flat is not None else self._tree("meta.xml")
        if root is not None:
            moments = (root.findtext(f".//{name('office:meta')}/{name(moment)}", "") for moment in _MOMENTS)
            writer.date(*moments)
        if any(entry.startswith(("Basic/", "Scripts/")) for entry in self._entries):
            writer.warn(MACROS)
        if self.damaged or (self._archive is not None and self._archive.damaged):
            writer.warn(CUT_OFF)
        if not writer.written:
            writer.warn(NO_TEXT)

    def _data(self, part: str, limit: int) -> bytes:
        entry = self._entries.get(part)
        if entry is None or self._archive is None:
            return b""
        data = self._archive.read(entry, limit)
        self.damaged |= self._archive.damaged
        return data

    def _parse(self, data: bytes) -> etree._Element | None:
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


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _whole(path: Path) -> bytes:
    if path.stat().st_size > LARGEST_TREE:
        raise TooLarge("The document holds more than can be read at once. Split it.")
    return path.read_bytes()


_HEADING: Final = name("text:h")
_PARAGRAPHS: Final = frozenset((name("text:p"), _HEADING))
_TABLE: Final = name("table:table")
_PAGE: Final = name("draw:page")
_SKIPPED: Final = frozenset(
    map(
        name,
        (
            "text:tracked-changes", "text:note", "text:number", "text:sequence-decls", "text:script",
            "office:annotation", "office:forms", "office:event-listeners", "office:binary-data", "svg:title",
            "svg:desc",
        ),
    )
)  # fmt: skip
"""What is deleted, and what stands beside the words."""


def read_text(source: Source) -> Reading:
    """The text of the text document in `source`, which LibreOffice converts to .docx.

    Where LibreOffice gives nothing, the words alone are read.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return _read_through_office(source, "office:text", "text document", (ODT, FLAT_ODT), docx.read)


def read_presentation(source: Source) -> Reading:
    """The text of the presentation in `source`, which LibreOffice converts to .pptx; otherwise as `read_text`."""
    return _read_through_office(source, "office:presentation", "presentation", (ODP, FLAT_ODP), pptx.read)


def _read_through_office(
    source: Source, kind: str, called: str, conversions: tuple[Conversion, Conversion], read: Callable[[bytes], Reading]
) -> Reading:
    """What `read` makes of the document; `conversions` are that of a package and that of a flat file."""
    with OdfPackage(source) as package:  # LibreOffice would open anything
        package.body(kind, called)
        conversion = conversions[package.is_flat]
    data = source if isinstance(source, bytes) else source.read_bytes()
    return read_through(conversion, data, read, lambda whole: _read_words(whole, kind, called))


def _read_words(source: Source, kind: str, called: str) -> Reading:
    with OdfPackage(source) as package:
        body = package.body(kind, called)
        _raise_marks(body.getroottree().getroot())
        writer = Writer()
        pages = list(body.iterchildren(_PAGE))
        for number, page in enumerate(pages, 1):
            with writer.part(SLIDE, str(number)):
                _write(page, writer)
        if not pages:
            with writer.place(BODY, ""):
                _write(body, writer)
                writer.end_heading()
        package.finish(writer)
        return writer.reading()


def _raise_marks(content: etree._Element) -> None:
    """Mark what a style of the document raises: `style:text-position="super 58%"` (OpenDocument 20.394)."""
    raising = {
        style.get(name("style:name"))
        for style in content.iter(name("style:style"))
        for text in style.iterfind(name("style:text-properties"))
        if _RAISES.match(text.get(name("style:text-position"), ""))
    }
    for span in content.iter(name("text:span")) if raising else ():
        if span.get(name("text:style-name")) in raising and span.text:
            span.text = raise_text(span.text)


def _write(parent: etree._Element, writer: Writer) -> None:
    """Write the contents of an element, in order; parsed trees are at most 256 levels deep."""
    for child in parent:
        if not isinstance(child.tag, str) or child.tag in _SKIPPED:
            continue
        if child.tag == name("presentation:notes"):
            with writer.place(SPEAKER_NOTE, ""):
                _write(child, writer)
        elif child.tag == _TABLE:
            rows = ("\t".join(map(_words, _cells(row))).rstrip() for row in child.iter(name("table:table-row")))
            writer.placed(TABLE, "", "\n".join(rows))
        else:
            if child.tag == _HEADING:
                writer.heading(_words(child))
            if child.tag in _PARAGRAPHS:
                writer.text(_words(child))
            _write(child, writer)


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    return (cell for cell in row if isinstance(cell.tag, str) and cell.tag.endswith("table-cell"))


def _words(element: etree._Element) -> str:
    """The words of a paragraph, without its frames, which are written after it; of a cell, all words."""
    return one_line("".join(_pieces(element, frames=element.tag not in _PARAGRAPHS)))


def _pieces(element: etree._Element, *, frames: bool) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        kind = child.tag
        if kind == name("text:s"):
            yield " "
        elif kind in (name("text:tab"), name("text:line-break")):
            yield "\t"
        elif isinstance(kind, str) and kind not in _SKIPPED:
            if frames or not kind.startswith(name("draw:x")[:-1]) or kind == name("draw:a"):
                yield from _pieces(child, frames=frames)
            if kind in _PARAGRAPHS:
                yield " "
        yield child.tail or ""
