"""PDF: each page's text by PDFium, then its notes and form values; the outline's titles stand at the end.

PDFium is not safe to call from several threads: the pool gives it a process.
"""

from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract import second, time_limit
from tasks.documents.extract.pdf import annotations, ligatures, outline, pages, repair, xfa
from tasks.documents.extract.pdf.enclosed import Enclosed
from tasks.documents.extract.pdf.pdfium import Document, NotOpened
from tasks.documents.extract.pdf.scans import Scans
from tasks.documents.extract.reading import Reading, Source, Writer, one_line
from tasks.errors import Damaged, PasswordProtected

VERSION: Final = "pdf-2"

_MOST_LOST_PAGES: Final = 100
"""After so many pages in a row that cannot be opened the count of pages is held for made up."""
_LITTLE: Final = 400
"""Characters of a page that may be a scan."""
_MOST_PAGES: Final = 100_000
_MOST_CHARACTERS: Final = 40_000_000
_LEAST_CHARACTERS: Final = 2_000_000
_CHARACTERS_A_BYTE: Final = 30
"""Of the file, beyond the least: more is a trick, such as one page that is shown a million times.

The densest of 94 public PDFs above 5 KB holds 0.9.
"""


class _Taken(NamedTuple):
    """What PDFium gives of a page."""

    text: str
    remarks: list[annotations.Remark]
    whole: bool = True


def read(source: Source) -> Reading:
    """The text of the PDF in `source`, by page.

    Raises:
        Damaged, PasswordProtected: it cannot be read.
    """
    return second.asked_after(_read, second.pdf, source)


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
    for data in repair.whole(source if isinstance(source, bytes) else source.read_bytes()):
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
    with Document(source) as document:
        if document.bombed:
            writer.warn("Parts of the PDF that unpack to very much were left out.")
        _write_pages(document, writer)
        if pdfium.FPDFBookmark_GetFirstChild(document.handle, None):
            for title in outline.titles(document):
                writer.text(title)
        if pdfium.FPDF_GetFormType(document.handle) == pdfium.FORMTYPE_XFA_FULL:
            xfa.write(document, writer)
    return writer.reading()


def _write_pages(document: Document, writer: Writer) -> None:
    """Take the texts of all pages from PDFium, then write them: taking turns costs 4 % of the time, for caches."""
    enclosed, scans = Enclosed(document, writer), Scans(document, writer)
    taken: list[_Taken] = []
    lost: list[int] = []
    room = min(_MOST_CHARACTERS, max(_LEAST_CHARACTERS, _CHARACTERS_A_BYTE * document.size))
    count = pdfium.FPDF_GetPageCount(document.handle)
    for index in range(count):
        page = pdfium.FPDF_LoadPage(document.handle, index)
        if page:
            taken.append(_taken(document, page, index, enclosed, scans))
            room -= sum(map(len, (taken[-1].text, *(remark.text for remark in taken[-1].remarks))))
        else:
            taken.append(_Taken("", []))
            lost.append(index + 1)
            if lost[-_MOST_LOST_PAGES:] == list(range(index + 2 - _MOST_LOST_PAGES, index + 2)):
                del taken[-_MOST_LOST_PAGES:]
                lost.extend(range(index + 2, count + 1))
                break
        late = time_limit.is_near()
        if (late or room < 0 or index + 1 == _MOST_PAGES) and index + 1 < count:
            what = "takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT)" if late else "is too long"
            writer.warn(f"The PDF {what}: it was read up to page {index + 1} of {count}.")
            break
    if len(lost) == count:
        raise NotOpened(pdfium.FPDF_ERR_PAGE)
    letters = ligatures.letters(document.data) if any(ligatures.missing(page.text) for page in taken) else {}
    for index, (text, remarks, _) in enumerate(taken):
        with writer.part("page", str(index + 1)):
            _write_page(pages.mended(text, letters), remarks, writer)
            scans.write(index)
    if lost:
        writer.warn(f"The file is damaged: {pages.named(lost)} could not be read.")
    crowded = [number for number, page in enumerate(taken, 1) if not page.whole]
    if crowded:
        writer.warn(f"Too many notes or form values: not all of those on {pages.named(crowded)} were read.")
    scans.tell()
    enclosed.add_embedded()


def _taken(document: Document, page: Any, index: int, enclosed: Enclosed, scans: Scans) -> _Taken:
    """What an open page says; it is closed."""
    remarks: list[annotations.Remark] = []
    whole = True
    if pdfium.FPDFPage_GetAnnotCount(page):
        remarks, undrawn, whole = annotations.remarks_on(document, page, enclosed)
        if undrawn and whole and annotations.draw(page, remarks):
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document.handle, index)
    text, remarks = pages.text_of(page, remarks)
    if len(text) < _LITTLE:
        scans.take(index, page, text)
    pdfium.FPDF_ClosePage(page)
    return _Taken(text, remarks, whole)


def _write_page(text: str, remarks: list[annotations.Remark], writer: Writer) -> None:
    """Write a page's text, and of its remarks those that are not drawn in it."""
    writer.text(text)
    if remarks:
        plain = one_line(text)
        news = [remark.text for remark in remarks if not remark.copied or one_line(remark.text) not in plain]
        writer.text("\n".join(news))
