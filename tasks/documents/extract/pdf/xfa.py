"""Forms that a PDF does not draw but describes in XML (XFA): their only page asks the reader to wait."""

import ctypes
from typing import Final

import pypdfium2.raw as pdfium
from lxml import etree

from tasks.documents.extract.pdf.pdfium import Document
from tasks.documents.extract.reading import Writer, one_line

_MOST_BYTES: Final = 8 << 20
"""Of all packets together: as trees they take thirty times as much. Those of public forms take up to 2 MB."""
_MOST_PACKETS: Final = 100
_HIDDEN: Final = {"hidden", "invisible", "inactive"}


def write(document: Document, writer: Writer) -> None:
    """Write the form's own words, then the values that were filled in, each after its field's name."""
    packets, whole = _packets(document)
    if not whole:
        writer.warn("The form (XFA) in this PDF is too large: not all of it was read.")
    roots = [root for packet in packets if (root := _root(packet)) is not None]
    for element in (element for root in roots for element in root.iter("{*}draw", "{*}caption")):
        if element.get("presence") not in _HIDDEN:
            for words in element.iterfind("{*}value/*"):
                writer.text(one_line(" ".join(map(str, words.itertext()))))
    for value in (value for root in roots for data in root.iter("{*}data") for value in data.iter("*")):
        if not len(value) and value.text and value.text.strip():
            writer.text(f"{etree.QName(value).localname}: {one_line(value.text)}")


def _packets(document: Document) -> tuple[list[bytes], bool]:
    """The parts of the form's description, some of which are XML by themselves, and whether they are all."""
    packets: list[bytes] = []
    room = _MOST_BYTES
    size = ctypes.c_ulong()
    for index in range(min(_MOST_PACKETS, pdfium.FPDF_GetXFAPacketCount(document.handle))):
        pdfium.FPDF_GetXFAPacketContent(document.handle, index, None, 0, size)
        room -= size.value
        if room < 0:
            return packets, False
        buffer = ctypes.create_string_buffer(max(1, size.value))
        if pdfium.FPDF_GetXFAPacketContent(document.handle, index, buffer, size.value, size):
            packets.append(buffer.raw[: size.value])
    return packets, True


def _root(packet: bytes) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(packet, parser)
    except etree.XMLSyntaxError:
        return None
