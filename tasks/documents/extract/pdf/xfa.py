"""Forms that a PDF does not draw but describes in XML (XFA): their only page asks the reader to wait."""

import ctypes
from collections.abc import Iterator
from typing import Final

import pypdfium2.raw as pdfium
from lxml import etree

from tasks.documents.extract.pdf.pdfium import Document
from tasks.documents.extract.reading import one_line

_LARGEST: Final = 32 << 20
"""Bytes of a packet that is read."""
_MOST_PACKETS: Final = 100
_HIDDEN: Final = {"hidden", "invisible", "inactive"}


def lines(document: Document) -> Iterator[str]:
    """The form's own words, then the values that were filled in, each after its field's name."""
    roots = [root for packet in _packets(document) if (root := _root(packet)) is not None]
    for element in (element for root in roots for element in root.iter("{*}draw", "{*}caption")):
        if element.get("presence") not in _HIDDEN:
            for words in element.iterfind("{*}value/*"):
                yield one_line(" ".join(map(str, words.itertext())))
    for value in (value for root in roots for data in root.iter("{*}data") for value in data.iter("*")):
        if not len(value) and value.text and value.text.strip():
            yield f"{etree.QName(value).localname}: {one_line(value.text)}"


def _packets(document: Document) -> Iterator[bytes]:
    """The parts of the form's description, some of which are XML by themselves."""
    size = ctypes.c_ulong()
    for index in range(min(_MOST_PACKETS, pdfium.FPDF_GetXFAPacketCount(document.handle))):
        pdfium.FPDF_GetXFAPacketContent(document.handle, index, None, 0, size)
        if 0 < size.value <= _LARGEST:
            buffer = ctypes.create_string_buffer(size.value)
            if pdfium.FPDF_GetXFAPacketContent(document.handle, index, buffer, size.value, size):
                yield buffer.raw


def _root(packet: bytes) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(packet, parser)
    except etree.XMLSyntaxError:
        return None
