"""Word documents that are one XML file: the flat form of a package, and that of Word 2003. Word's reader reads them.

The flat package holds the parts of a .docx as elements ("Flat OPC", https://learn.microsoft.com/openspecs/
office_standards/ms-docx, `http://schemas.microsoft.com/office/2006/xmlPackage`). Word 2003 has the same body under
another namespace.
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
from tasks.reading.docx import reader as docx
from tasks.reading.ooxml.xml import parser
from tasks.reading.text_writer import Reading

_PACKAGE: Final = "http://schemas.microsoft.com/office/2006/xmlPackage"
_OLD: Final = b"http://schemas.microsoft.com/office/word/2003/wordml"
_NEW: Final = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_ROOT: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+<(?:[\w.-]++:)?(package|wordDocument)(?=\s)([^<>]*+)>",
    re.DOTALL,
)
_MAIN: Final = (
    "_rels/.rels",
    (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Type='
        b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        b'Target="word/document.xml"/></Relationships>'
    ),
)


def is_word(data: bytes) -> bool:
    """Whether an XML file is a Word document in one of the two forms."""
    root = _ROOT.match(data)
    return root is not None and (_PACKAGE.encode() if root[1] == b"package" else _OLD) in root[2]


def read(data: bytes) -> Reading:
    """The text of the document.

    Raises:
        Damaged: it is no whole XML, or holds no document.
    """
    try:
        root = etree.fromstring(data, parser(recover=True))
    except etree.XMLSyntaxError as error:
        raise Damaged("The file is damaged: it is no XML. Ask for it again.") from error
    if root is None:
        raise Damaged("The file is damaged: it is no XML. Ask for it again.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, content in _parts(root):
            package.writestr(name, content)
    return docx.read(packed.getvalue())


def _parts(root: etree._Element) -> Iterator[tuple[str, bytes]]:
    if etree.QName(root).localname == "wordDocument":
        document = etree.tostring(root).replace(_OLD, _NEW)
        yield _MAIN
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
