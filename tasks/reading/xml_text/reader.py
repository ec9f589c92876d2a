"""XML (.xml) as text: its lines stay as they are in the file, unless it is a document of a kind that is known.

A workbook in XML is read as a workbook, a Word document in XML as a document, an XBRL instance as its facts. Other XML
is not parsed: nothing is expanded, nothing is downloaded, and it need not be well formed.
"""

import base64
import contextlib
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Final

from lxml import etree

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.docx import reader as docx
from tasks.reading.ooxml import xml
from tasks.reading.places import TAGGED
from tasks.reading.tags import RESOURCES, Fact, Tags, local
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.txt import reader as plain_text
from tasks.reading.xml_text import spreadsheet

_DECLARATION: Final = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']""")


def read(source: Source) -> Reading:
    """The text of the file in `source`, in its declared encoding; of a file above 64 MB the first 64 MB.

    A declaration that the bytes contradict is ignored.
    """
    data, complete = plain_text.read_beginning(source)
    if spreadsheet.is_spreadsheet(data):
        return spreadsheet.read(data, complete=complete)
    if complete and _is_word(data):
        return _read_word(data)
    if _XBRL in data[:_HEAD] and _INSTANCE_ROOT.search(data[:_HEAD]):
        return _read_instance(data, complete=complete)
    return plain_text.read(data if complete else source, _read_declaration)


def _read_declaration(data: bytes) -> str | None:
    match = _DECLARATION.match(data[:1000])
    return match[1].decode() if match else None


# Word documents in one XML file: the flat form of a package, which holds the parts of a .docx as elements ("Flat OPC",
# https://learn.microsoft.com/openspecs/office_standards/ms-docx), and Word 2003, which has the same body under another
# namespace.
_PACKAGE: Final = "http://schemas.microsoft.com/office/2006/xmlPackage"
_OLD: Final = b"http://schemas.microsoft.com/office/word/2003/wordml"
_NEW: Final = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+<(?:[\w.-]++:)?(package|wordDocument)(?=\s)([^<>]*+)>",
    re.DOTALL,
)
_WORD_MAIN: Final = (
    "_rels/.rels",
    (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Type='
        b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        b'Target="word/document.xml"/></Relationships>'
    ),
)


def _is_word(data: bytes) -> bool:
    """Whether an XML file is a Word document in one of the two forms."""
    root = _WORD_ROOT.match(data)
    return root is not None and (_PACKAGE.encode() if root[1] == b"package" else _OLD) in root[2]


def _read_word(data: bytes) -> Reading:
    """The text of the document.

    Raises:
        Damaged: it is no whole XML, or holds no document.
    """
    try:
        root = etree.fromstring(data, xml.parser(recover=True))
    except etree.XMLSyntaxError as error:
        raise Damaged("The file is damaged: it is not valid XML. Ask for it again.") from error
    if root is None:
        raise Damaged("The file is damaged: it is not valid XML. Ask for it again.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in _parts(root):
            package.writestr(name, content)
    return docx.read(packed.getvalue())


def _parts(root: etree._Element) -> Iterator[tuple[str, bytes]]:
    if etree.QName(root).localname == "wordDocument":
        document = etree.tostring(root).replace(_OLD, _NEW)
        yield _WORD_MAIN
        yield "word/document.xml", document.replace(b":wordDocument", b":document")
        return
    for part in root.iterfind(f"{{{_PACKAGE}}}part"):
        name = part.get(f"{{{_PACKAGE}}}name", "").lstrip("/")
        for content in part:
            kind = etree.QName(content).localname
            if kind == "xmlData" and len(content):
                yield name, etree.tostring(content[0])
            elif kind == "binaryData":
                with contextlib.suppress(ValueError):  # binascii.Error: a part that is damaged
                    yield name, base64.b64decode(content.text or "")


# XBRL instances (.xbrl, .xml): accounts of tags alone, read as events by the XBRL 2.1 specification; a line for a fact.
_INSTANCE_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?xbrl[\s>]")
_XBRL: Final = b"http://www.xbrl.org/2003/instance"
_HEAD: Final = 8192
_CHUNK: Final = 1 << 16
_MARKUP: Final = re.compile(r"<[^<>]*>|&\w+;")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _read_instance(data: bytes, *, complete: bool) -> Reading:
    """The facts of the instance, each with its name, period, unit and value; `complete`: this is the whole file."""
    writer = Writer()
    if not complete:
        writer.warn(plain_text.TOO_LONG)
    instance = _Instance()
    parser = xml.parser(recover=True, target=instance)
    try:
        for at in range(0, len(data), _CHUNK):
            if limits.is_near():
                writer.warn(plain_text.TOO_LONG)
                break
            parser.feed(data[at : at + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:
        writer.warn("The file is damaged: only its beginning was read.")
    for fact in instance.facts:
        words = one_line(_MARKUP.sub(" ", "".join(fact.words)))
        tag = instance.tags.tag(fact) if "unitref" in fact.attributes else None
        named = _HUMP.sub(" ", fact.name)
        of_when = f", {tag.period.replace('/', ' to ')}: {tag.unit} " if tag is not None and tag.period else ": "
        if words:
            start = writer.position + len(named) + len(of_when)
            writer.line(named + of_when + words)
            if tag is not None:
                writer.mark(start, start + len(words), TAGGED, tag.label)
    return writer.reading()


class _Instance:
    """The target to which the parser reports its events."""

    def __init__(self) -> None:
        self.tags = Tags()
        self.facts: list[Fact] = []
        self._open: Fact | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the beginning of an element."""
        name = local(tag)
        plain = {key.lower(): value for key, value in attributes.items()}
        if name.lower() in RESOURCES and "contextref" not in plain:
            self.tags.resource(name.lower(), plain)
        elif "contextref" in plain:
            self._open = Fact(name, plain)
            self.facts.append(self._open)

    def data(self, text: str) -> None:
        """Handle characters."""
        self.tags.words(text)
        if self._open is not None:
            self._open.words.append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if (name := local(tag).lower()) in RESOURCES:
            self.tags.end_resource(name)
        elif self._open is not None and local(tag) == self._open.name:
            self._open = None

    def close(self) -> None:
        """Handle the end of the file."""
