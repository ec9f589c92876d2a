"""PDF: each page's text by PDFium, then its notes and form values; the outline's titles stand at the end.

PDFium is not safe to call from several threads: the pool gives it a process.
"""

import re
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from tasks.documents.extract import second
from tasks.documents.extract.annotations import drawn_over, outline_titles, page_remarks
from tasks.documents.extract.reading import Reading, Source, Writer, one_line
from tasks.errors import Damaged, PasswordProtected

VERSION: Final = "pdf-1"

SCAN: Final = "This PDF seems to be a scan without text: no text was found. Run text recognition (OCR) on it."
_HYPHEN: Final = re.compile("[\x02\ufffe](?:\r\n|\n)?")
_CATALOG: Final = re.compile(rb"(\d+)\s+(\d+)\s+obj\b(?:(?!endobj).){0,2000}?/Type\s*/Catalog\b", re.DOTALL)
_MOST_LOST_PAGES: Final = 100
"""After so many pages in a row that cannot be opened the count of pages is held for made up."""


def read(source: Source) -> Reading:
    """The text of the PDF in `source`, by page.

    Raises:
        Damaged, PasswordProtected: it cannot be read.
    """
    if (len(source) if isinstance(source, bytes) else source.stat().st_size) == 0:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    return second.asked_after(_read, second.pdf, source)


def _read(source: Source) -> Reading:
    writer = Writer()
    document = _open(source, writer)
    try:
        _init_forms(document)
        _write_pages(document, writer)
        titles = [one_line(title) for title in outline_titles(document)]
        for title in titles:
            writer.text(title)
    finally:
        document.close()
    return writer.reading()


def _open(source: Source, writer: Writer) -> pypdfium2.PdfDocument:
    """The document, repaired when its end is lost; one with an empty password opens silently."""
    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise PasswordProtected("The PDF opens with a password only. Save it without one.") from error
    data = source if isinstance(source, bytes) else source.read_bytes()
    catalogs = list(_CATALOG.finditer(data))
    if catalogs:
        number, generation = (int(group) for group in catalogs[-1].groups())
        trailer = b"\ntrailer\n<< /Root %d %d R >>\nstartxref\n0\n%%%%EOF\n" % (number, generation)
        try:
            document = pypdfium2.PdfDocument(data + trailer)
        except pypdfium2.PdfiumError:
            pass
        else:
            writer.warn("The file is damaged: its table of contents was rebuilt, and pages may be missing.")
            return document
    raise Damaged("The file is not a whole PDF: it cannot be opened. Ask for it again.")


def _init_forms(document: pypdfium2.PdfDocument) -> None:
    """Form values that stand with a field's parent are found through the form's environment only."""
    try:
        document.init_forms()
    except pypdfium2.PdfiumError:
        return


def _write_pages(document: pypdfium2.PdfDocument, writer: Writer) -> None:
    count = len(document)
    lost: list[int] = []
    bare: list[int] = []
    for index in range(count):
        with writer.part("page", str(index + 1)):
            try:
                text, scanned = _write_page(document, index, writer)
            except pypdfium2.PdfiumError:
                lost.append(index + 1)
            else:
                if not text and scanned:
                    bare.append(index + 1)
        if lost[-_MOST_LOST_PAGES:] == list(range(index + 2 - _MOST_LOST_PAGES, index + 2)):
            lost.extend(range(index + 2, count + 1))
            break
    if len(lost) == count:
        raise Damaged("No page of the PDF can be opened. Ask for it again.")
    if lost:
        writer.warn(f"The file is damaged: {_named(lost)} could not be read.")
    if not writer.written:
        writer.warn(SCAN)
    elif bare:
        writer.warn(f"Without text, perhaps scans: {_named(bare)}. Run text recognition (OCR) on the PDF.")


def _write_page(document: pypdfium2.PdfDocument, index: int, writer: Writer) -> tuple[bool, bool]:
    """Write a page; gives whether it has a text layer, and if not whether there is a picture on it."""
    page = document[index]
    remarks = [remark for remark in page_remarks(document, page) if remark.strip()]
    if drawn_over(page):
        page.close()
        page = document[index]
    textpage = page.get_textpage()
    text = mended(textpage.get_text_range())
    textpage.close()
    writer.text(text)
    plain = one_line(text) if remarks else ""
    for remark in remarks:
        if one_line(remark) not in plain:
            writer.text(remark)
    scanned = not text.strip() and _has_images(page)
    page.close()
    return bool(text.strip()), scanned


def mended(text: str) -> str:
    """`text` with words that a hyphen splits at a line's end in one piece.

    PDFium marks such a hyphen with U+FFFE or U+0002.
    """
    return _HYPHEN.sub("", text) if "\ufffe" in text or "\x02" in text else text


def _has_images(page: pypdfium2.PdfPage) -> bool:
    return next(iter(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3)), None) is not None


def _named(numbers: list[int]) -> str:
    """Page numbers as a person writes them: `pages 2, 5–7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in spans)
    return f"{'page' if len(numbers) == 1 else 'pages'} {words}"
