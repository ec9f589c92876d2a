"""PDF: each page's text by PDFium, then its notes and form values; the outline's titles stand at the end.

Pages that are pictures go through text recognition where it is configured; the warnings say what became of them.
Of forms that a PDF describes in XML and does not draw (XFA) the words and values are read from the XML: their only
page asks the reader to wait. Where PDFium cannot open a file, it is repaired, and at last pypdf is tried.

PDFium is not safe to call from several threads: the pool gives it a process.
"""

import contextlib
import ctypes
import logging
from enum import Enum
from typing import Any, Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium
from lxml import etree

from tasks.documents.extract import fallback, limits
from tasks.documents.extract.ocr import recognise
from tasks.documents.extract.pdf import annotations, pages, repair
from tasks.documents.extract.pdf.annotations import AttachedFiles
from tasks.documents.extract.pdf.document import NotOpened, PdfDocument, titles
from tasks.documents.extract.text_writer import Reading, Source, Writer
from tasks.errors import Damaged, PasswordProtected
from tasks.text.normalise import clean, one_line

_STAMP: Final = 100
"""Characters that a scan may have as text: a running number or an envelope's name is stamped on many."""

_COVERED: Final = 0.7
"""The share of a stamped page that pictures cover if it is a scan."""

_OUTLINES: Final = 100
"""A page without text that has so many shapes may have its letters drawn."""

_MOST_OBJECTS: Final = 1_000
"""Objects of a page, and of each group of them, that are looked at."""

_MOST_XFA_BYTES: Final = 8 << 20
"""Of all packets together: as trees they take thirty times as much. Those of public forms take up to 2 MB."""

_MOST_PACKETS: Final = 100
_HIDDEN: Final = {"hidden", "invisible", "inactive"}
_MOST_LOST_PAGES: Final = 100
"""After so many pages in a row that cannot be opened the count of pages is taken to be false."""

_LITTLE: Final = 400
"""Characters of a page that may be a scan."""

_MOST_PAGES: Final = 100_000
_MOST_CHARACTERS: Final = 40_000_000
_LEAST_CHARACTERS: Final = 2_000_000
_CHARACTERS_A_BYTE: Final = 30
"""Of the file, beyond the least: more is a trick, such as one page that is shown a million times.

The densest of 94 public PDFs above 5 KB holds 0.9.
"""


class _PageContent(NamedTuple):
    """What PDFium gives of a page."""

    text: str
    remarks: list[annotations.Remark]
    complete: bool = True


class ScanOutcome(Enum):
    """What became of pages that are pictures, in the words of the warning."""

    RECOGNISED = "Scans, whose text was recognised (OCR) and may be wrong: {}."
    LATE = "Scans that were not recognised (OCR), for the time was up (DILIGENCE_DOCUMENT_TIMEOUT): {}."
    FAILED = "Pictures that text recognition (OCR) failed on: {}."
    EMPTY = "Pictures in which text recognition (OCR) found no text: {}."
    UNREAD = "Without text, perhaps scans: {}. " + recognise.ADVICE


class Scans:
    """Recognises the text of a document's scans, page by page, and warns of what is uncertain or missing."""

    def __init__(self, document: PdfDocument, writer: Writer) -> None:
        self._document = document
        self._writer = writer
        self._pages: dict[ScanOutcome, list[int]] = {}
        self._recognised: dict[int, tuple[str, str]] = {}

    def add(self, index: int, page: Any, text: str) -> None:
        """Recognise an open page, if it is a scan; `text` is what it has as text."""
        squeezed = "".join(clean(text).split())
        if len(squeezed) > _STAMP:
            return
        covered, shapes = _drawn(page)
        if covered >= _COVERED if squeezed else covered or shapes >= _OUTLINES:
            outcome = self._outcome(index, squeezed)
            if outcome is not ScanOutcome.EMPTY or not squeezed:
                self._pages.setdefault(outcome, []).append(index + 1)
            self._writer.note_picture(recognised=outcome not in {ScanOutcome.LATE, ScanOutcome.UNREAD})

    def write_xfa(self, index: int) -> None:
        """Write what was recognised on a page."""
        if index in self._recognised:
            text, languages = self._recognised[index]
            with self._writer.place("ocr", languages):
                self._writer.text(text)

    def warn(self) -> None:
        """Warn of the pages that are scans, once all are written."""
        if ScanOutcome.UNREAD in self._pages and not self._writer.written:
            self._writer.warn(f"This PDF seems to be a scan: no text was found. {recognise.ADVICE}")
            return
        for outcome, numbers in self._pages.items():
            self._writer.warn(outcome.value.format(pages.page_numbers(numbers)))

    def _outcome(self, index: int, known: str) -> ScanOutcome:
        recogniser = recognise.active()
        if recogniser is None:
            return ScanOutcome.UNREAD
        try:
            page = self._document.page(index)
        except pypdfium2.PdfiumError:
            return ScanOutcome.FAILED
        try:
            text = recogniser.page_text(page)
        except recognise.OutOfTime:
            return ScanOutcome.LATE
        except recognise.NotRecognised:
            return ScanOutcome.FAILED
        finally:
            page.close()
        lines = [line for line in text.split("\n") if not line or "".join(line.split()) not in known]
        if not any(lines):
            return ScanOutcome.EMPTY
        self._recognised[index] = "\n".join(lines), recogniser.languages
        return ScanOutcome.RECOGNISED


def _drawn(page: Any) -> tuple[float, int]:
    """The share of the page that pictures cover, and how many shapes there are besides."""
    covered, shapes = 0.0, 0
    for index in range(min(_MOST_OBJECTS, pdfium.FPDFPage_CountObjects(page))):
        item = pdfium.FPDFPage_GetObject(page, index)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            shapes += 1
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE or (kind == pdfium.FPDF_PAGEOBJ_FORM and _holds_picture(item)):
            covered += _size(item)
    if covered:
        covered /= pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page) or 1
    return covered, shapes


def _holds_picture(form: Any, deepest: int = 3) -> bool:
    """Whether a picture is among the objects that are drawn as one, or among those within them, so many levels down."""
    for index in range(min(_MOST_OBJECTS, pdfium.FPDFFormObj_CountObjects(form))):
        item = pdfium.FPDFFormObj_GetObject(form, index)
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            return True
        if kind == pdfium.FPDF_PAGEOBJ_FORM and deepest and _holds_picture(item, deepest - 1):
            return True
    return False


def _size(item: Any) -> float:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return 0.0
    return (right.value - left.value) * (top.value - bottom.value)


def read(source: Source) -> Reading:
    """The text of the PDF in `source`, by page.

    Raises:
        Damaged, PasswordProtected: it cannot be read.
    """
    return fallback.read_or_fall_back(_read, FALLBACK, source)


def _read(source: Source) -> Reading:
    try:
        return _reading(source, Writer())
    except NotOpened as error:
        if error.locked:
            raise PasswordProtected("The PDF opens with a password only. Save it without one.") from error
        failure = error
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if not size:
        raise Damaged("The file is empty (0 bytes). Ask for it again.") from failure
    if size > repair.LARGEST:
        raise Damaged("The file is not a whole PDF, and too large to be repaired. Ask for it again.") from failure
    for data in repair.repaired(source if isinstance(source, bytes) else source.read_bytes()):
        writer = Writer()
        writer.warn(repair.REBUILT)
        try:
            reading = _reading(data, writer)
        except NotOpened as error:
            failure = error
        else:
            if reading.text or reading.recognised is not None:
                return reading
    if failure.locked:
        raise Damaged("The file is damaged, and encrypted besides. Ask for it again, without encryption.") from failure
    raise Damaged("The file is not a whole PDF: it cannot be opened. Ask for it again.") from failure


def _reading(source: Source, writer: Writer) -> Reading:
    """The document as it is.

    Raises:
        NotOpened: PDFium does not open it, or no page of it.
    """
    with PdfDocument(source) as document:
        if document.bombed:
            writer.warn("Parts of the PDF that unpack to very much were left out.")
        _write_pages(document, writer)
        if pdfium.FPDFBookmark_GetFirstChild(document.handle, None):
            for title in titles(document):
                writer.text(title)
        if pdfium.FPDF_GetFormType(document.handle) == pdfium.FORMTYPE_XFA_FULL:
            write_xfa(document, writer)
    return writer.reading()


def _write_pages(document: PdfDocument, writer: Writer) -> None:
    """Take the texts of all pages from PDFium, then write them: taking turns costs 4 % of the time, for caches."""
    files, scans = AttachedFiles(document, writer), Scans(document, writer)
    contents: list[_PageContent] = []
    lost: list[int] = []
    room = min(_MOST_CHARACTERS, max(_LEAST_CHARACTERS, _CHARACTERS_A_BYTE * document.size))
    count = pdfium.FPDF_GetPageCount(document.handle)
    for index in range(count):
        page = pdfium.FPDF_LoadPage(document.handle, index)
        if page:
            contents.append(_content_of(document, page, index, files, scans))
            room -= sum(map(len, (contents[-1].text, *(remark.text for remark in contents[-1].remarks))))
        else:
            contents.append(_PageContent("", []))
            lost.append(index + 1)
            if lost[-_MOST_LOST_PAGES:] == list(range(index + 2 - _MOST_LOST_PAGES, index + 2)):
                del contents[-_MOST_LOST_PAGES:]
                lost.extend(range(index + 2, count + 1))
                break
        late = limits.is_near()
        if (late or room < 0 or index + 1 == _MOST_PAGES) and index + 1 < count:
            what = "takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT)" if late else "is too long"
            writer.warn(f"The PDF {what}: it was read up to page {index + 1} of {count}.")
            break
    if len(lost) == count:
        raise NotOpened(pdfium.FPDF_ERR_PAGE)
    ligatures = pages.lost_letters(document.data) if any(pages.has_lost_letters(page.text) for page in contents) else {}
    for index, (text, remarks, _) in enumerate(contents):
        with writer.part("page", str(index + 1)):
            _write_page(pages.mended(text, ligatures), remarks, writer)
            scans.write_xfa(index)
    if lost:
        writer.warn(f"The file is damaged: {pages.page_numbers(lost)} could not be read.")
    crowded = [number for number, page in enumerate(contents, 1) if not page.complete]
    if crowded:
        writer.warn(f"Too many notes or form values: not all of those on {pages.page_numbers(crowded)} were read.")
    scans.warn()
    files.add_embedded()


def _content_of(document: PdfDocument, page: Any, index: int, files: AttachedFiles, scans: Scans) -> _PageContent:
    """What an open page says; it is closed."""
    remarks: list[annotations.Remark] = []
    complete = True
    if pdfium.FPDFPage_GetAnnotCount(page):
        remarks, undrawn, complete = annotations.remarks_on(document, page, files)
        if undrawn and complete and annotations.draw(page, remarks):
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document.handle, index)
    text, remarks = pages.text_of(page, remarks)
    if len(text) < _LITTLE:
        scans.add(index, page, text)
    pdfium.FPDF_ClosePage(page)
    return _PageContent(text, remarks, complete)


def _write_page(text: str, remarks: list[annotations.Remark], writer: Writer) -> None:
    """Write a page's text, and of its remarks those that are not drawn in it."""
    writer.text(text)
    if remarks:
        plain = one_line(text)
        news = [remark.text for remark in remarks if not remark.copied or one_line(remark.text) not in plain]
        writer.text("\n".join(news))


def write_xfa(document: PdfDocument, writer: Writer) -> None:
    """Write the form's own words, then the values that were filled in, each after its field's name."""
    packets, complete = _xfa_packets(document)
    if not complete:
        writer.warn("The form (XFA) in this PDF is too large: not all of it was read.")
    roots = [root for packet in packets if (root := _xfa_root(packet)) is not None]
    for element in (element for root in roots for element in root.iter("{*}draw", "{*}caption")):
        if element.get("presence") not in _HIDDEN:
            for words in element.iterfind("{*}value/*"):
                writer.text(one_line(" ".join(map(str, words.itertext()))))
    for value in (value for root in roots for data in root.iter("{*}data") for value in data.iter("*")):
        if not len(value) and value.text and value.text.strip():
            writer.text(f"{etree.QName(value).localname}: {one_line(value.text)}")


def _xfa_packets(document: PdfDocument) -> tuple[list[bytes], bool]:
    """The parts of the form's description, some of which are XML by themselves, and whether they are all."""
    packets: list[bytes] = []
    room = _MOST_XFA_BYTES
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


def _xfa_root(packet: bytes) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(packet, parser)
    except etree.XMLSyntaxError:
        return None


def _read_with_pypdf(source: Source) -> Reading:
    """Pages by pypdf, those left out that it cannot read."""
    from pypdf import PdfReader  # noqa: PLC0415 - seldom needed, 0.1 s

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it complains of broken files in their own words
    writer = Writer()
    document = PdfReader(fallback.file_of(source))
    if document.is_encrypted:
        document.decrypt("")
    for number in range(1, len(document.pages) + 1):
        with writer.part("page", str(number)), contextlib.suppress(Exception):
            writer.text(document.pages[number - 1].extract_text())
    return writer.reading()


FALLBACK: Final = fallback.FallbackReader(_read_with_pypdf, library="pypdf", signature=b"obj")
