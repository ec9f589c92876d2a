"""PDF: each page's text by PDFium, then its notes and form values; the outline's titles come at the end.

Pages that are pictures are marked for text recognition. For forms that a PDF describes in XML and does not draw (XFA),
words and values are read from the XML: their only page asks the reader to wait. A file that PDFium cannot open is
repaired, and as a last resort read by pypdf. A document that takes too much time or memory is read without its layout
before it is refused.

PDFium is not safe to call from several threads: the pool gives it a process.
"""

import contextlib
import ctypes
import gc
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final

import pypdfium2.raw as pdfium
from lxml import etree

from tasks.errors import Damaged, DiligenceError, PasswordProtected, Unavailable, Unreadable
from tasks.language.normalise import one_line
from tasks.reading import embedded, limits, text_writer
from tasks.reading.pdf import annotations, defects, pages, repair
from tasks.reading.pdf.annotations import AttachedFiles
from tasks.reading.pdf.document import NotOpened, PdfDocument, annotation_kinds, count_written, string
from tasks.reading.pdf.pages import PageReading, Scans
from tasks.reading.pdf.words import MARK, KnownCells
from tasks.reading.text_writer import Reading, Source, Writer, page_numbers

_MOST_XFA_BYTES: Final = 8 << 20
"""Of all packets together: as trees they take thirty times as much. Those of public forms take up to 2 MB."""

_MOST_PACKETS: Final = 100
_MOST_OUTLINE_ITEMS: Final = 20_000
_DEEPEST_OUTLINE: Final = 64
_MOST_OUTLINE_BYTES: Final = 8 << 20
_LONGEST_TITLE: Final = 120
_MOST_COMPARED: Final = 1 << 30
"""Characters that are looked through for long titles: half a second."""
_SHOWS_TEXT: Final = re.compile(rb"T[jJ]|['\"]|Do\b")
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_HIDDEN: Final = {"hidden", "invisible", "inactive"}
_MOST_LOST_PAGES: Final = 100
"""After so many pages in a row that cannot be opened the count of pages is taken to be false."""

_WITH_LESS: Final = 40.0
"""Seconds that the words of a document may take without its layout, before pypdf is tried."""

_LIKE_NUMBERS: Final = re.compile("[\u0100-\u1fff\u2c00-\ud7ff]")  # letters that may be the numbers of glyphs
_FIRST: Final = 20
"""Annotations that tell whether a page has fields."""
_LITTLE: Final = 400
"""Characters of a page that may be a scan."""

_MOST_PAGES: Final = 100_000
_MOST_CHARACTERS: Final = 40_000_000
_LEAST_CHARACTERS: Final = 2_000_000
_CHARACTERS_A_BYTE: Final = 30
"""Of the file, beyond the least: more is a trick, such as one page that is shown a million times.

The densest of 94 public PDFs above 5 KB holds 0.9.
"""


WITHOUT_LAYOUT: Final = (
    "The PDF's layout takes too much time or memory: its words are in drawing order, and its tables have no rows."
)


_WARNINGS: Final[Mapping[str, Callable[[PageReading], bool]]] = {
    "The PDF's layout takes too much time or memory: words are in drawing order, and tables have no rows, on {}.": (
        attrgetter("is_plain")
    ),
    "Too many notes or form values: not all of those on {} were read.": lambda page: not page.complete,
    "Words that a reader cannot see are listed separately, marked as hidden, and are not evidence (they are "
    "white, transparent, too small, cut off, "
    "beyond the page's edge or on a layer that is off): {}.": attrgetter("unseen"),
    "Text that runs from top to bottom, or lies on its side, may be in a wrong order: {}.": (
        attrgetter("is_out_of_order")
    ),
}
"""What is said of the pages for which something holds."""


def read(source: Source) -> Reading:
    """The text of the PDF in `source`, by page.

    Raises:
        Damaged, PasswordProtected: it cannot be read.
        Unreadable: it takes too much time or memory without its layout too.
    """
    if limits.is_second_try():
        return _read_with_less(source)
    return embedded.read_or_fall_back(_read, FALLBACK, source)


def _read_with_less(source: Source) -> Reading:
    """The words of a PDF that exceeded its limits before; each way of reading runs in a separate process."""
    for way in (_WITHOUT_LAYOUT, FALLBACK):
        try:
            reading = embedded.read_in_fork(way, source)
        except (DiligenceError, TimeoutError, ChildProcessError) as error:
            if isinstance(error, (PasswordProtected, Unavailable)):
                raise
            continue
        if reading.text:
            return replace(reading, warnings=list(dict.fromkeys([WITHOUT_LAYOUT, *reading.warnings])))
    raise Unreadable(
        "Reading the document takes more time or memory than it may, even without its layout "
        "(DILIGENCE_DOCUMENT_TIMEOUT, DILIGENCE_DOCUMENT_MEMORY_MB)."
    )


def _read(source: Source) -> Reading:
    try:
        reading = _read_document(source, Writer())
        mended = repair.with_parted_ranges(source) if _LIKE_NUMBERS.search(reading.text) else source
        return reading if mended is source else _read_document(mended, Writer())
    except NotOpened as error:
        if error.locked:
            raise PasswordProtected("The PDF can only be opened with a password. Save it without one.") from error
        failure = error
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if not size:
        raise Damaged("The file is empty (0 bytes). Ask for it again.") from failure
    if size > repair.LARGEST:
        raise Damaged("The file is not a whole PDF, and too large to be repaired. Ask for it again.") from failure
    for data in repair.repair_file(source if isinstance(source, bytes) else source.read_bytes()):
        writer = Writer()
        writer.warn(repair.REBUILT)
        try:
            reading = _read_document(repair.with_parted_ranges(data), writer)
        except NotOpened as error:
            failure = error
        else:
            if reading.text:
                return reading
    if failure.locked:
        raise Damaged("The file is damaged and also encrypted. Ask for it again, without encryption.") from failure
    raise Damaged("The file is not a whole PDF: it cannot be opened. Ask for it again.") from failure


@contextlib.contextmanager
def open_document(source: Source) -> Iterator[PdfDocument]:
    """A PDF opened in the way in which it was read: repaired, if PDFium cannot open it otherwise.

    Raises:
        NotOpened: it cannot be opened.
    """
    with contextlib.ExitStack() as stack:
        try:
            document = stack.enter_context(PdfDocument(source))
        except NotOpened:
            data = next(iter(repair.repair_file(source if isinstance(source, bytes) else source.read_bytes())), b"")
            document = stack.enter_context(PdfDocument(data))
        yield document


def _read_document(source: Source, writer: Writer) -> Reading:
    """Read the whole document normally.

    Raises:
        NotOpened: PDFium does not open it, or no page of it.
    """
    with PdfDocument(source) as document:
        if document.bombed:
            writer.warn("Parts of the PDF that unpack to very much were left out.")
        _write_pages(document, writer)
        writer.date(*(string(pdfium.FPDF_GetMetaText, document.handle, key) for key in (b"CreationDate", b"ModDate")))
        if pdfium.FPDFBookmark_GetFirstChild(document.handle, None):
            _write_outline(document, writer)
        if pdfium.FPDF_GetXFAPacketCount(document.handle) > 0:
            write_xfa(document, writer)
    return writer.reading()


def _write_pages(document: PdfDocument, writer: Writer) -> None:
    """Get the texts of all pages from PDFium, then write them: alternating costs 4 % of the time, because of caches."""
    files, scans = AttachedFiles(document, writer), Scans(writer)
    collects = gc.isenabled()
    gc.disable()  # thousands of words and cells, and no circles among them: it takes a fifth of the time
    try:
        contents, lost = _read_contents(document, files, scans, writer)
    finally:
        if collects:
            gc.enable()
    _doubt(document, contents)
    _add_doubtful(document, contents, scans)
    is_lossy = any(pages.LOST.search(page.text) for page in contents)
    ligatures = pages.find_lost_letters(document.data) if is_lossy else {}
    compounds = pages.find_compounds([page.text for page in contents])
    for index, content in enumerate(contents):
        text = pages.mend_text(content.text, ligatures, compounds)
        if content.unknown or (defects.are_left_in(text) and not scans.is_doubtful(index)):
            scans.add_unknown(index)
        with writer.part("page", str(index + 1)):
            with scans.around(index):
                _write_page(text, writer)
            _write_remarks(content.remarks, text, writer)
            for line in annotations.list_labelled(content.labelled, text):
                writer.placed(text_writer.ALTERNATIVE_TEXT, "", line)
            if content.unseen:
                writer.placed(text_writer.UNSEEN, "", text_writer.unseen_mark(pages.mend_text(content.unseen)))
    if contents and all(page.is_plain for page in contents):
        writer.warn(WITHOUT_LAYOUT)
        contents = [page._replace(is_plain=False) for page in contents]
    if lost:
        writer.warn(f"The file is damaged: {page_numbers(lost)} could not be read.")
    for sentence, is_meant in _WARNINGS.items():
        if numbers := [number for number, page in enumerate(contents, 1) if is_meant(page)]:
            writer.warn(sentence.format(page_numbers(numbers)))
    scans.warn()
    files.add_embedded()


def _read_contents(
    document: PdfDocument, files: AttachedFiles, scans: Scans, writer: Writer
) -> tuple[list[PageReading], list[int]]:
    """What PDFium returns for all pages, as time and size allow, and the numbers of those that it cannot open.

    Raises:
        NotOpened: PDFium opens no page.
    """
    contents: list[PageReading] = []
    lost: list[int] = []
    room = min(_MOST_CHARACTERS, max(_LEAST_CHARACTERS, _CHARACTERS_A_BYTE * document.size))
    count = pdfium.FPDF_GetPageCount(document.handle)
    for index in range(count):
        page = pdfium.FPDF_LoadPage(document.handle, index)
        if page:
            contents.append(_read_content(document, page, index, files, scans))
            room -= sum(map(len, (contents[-1].text, *(remark.text for remark in contents[-1].remarks))))
        else:
            contents.append(PageReading(""))
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
    return contents, lost


def _read_content(document: PdfDocument, page: Any, index: int, files: AttachedFiles, scans: Scans) -> PageReading:
    """The content of an open page, which is then closed."""
    remarks: list[annotations.Remark] = []
    complete = True
    if pdfium.FPDFPage_GetAnnotCount(page):
        remarks, undrawn, complete = annotations.remarks_on(document, page, files)
        if undrawn and complete and annotations.draw(page, remarks):
            pdfium.FPDF_ClosePage(page)
            page = pdfium.FPDF_LoadPage(document.handle, index)
    is_plain = limits.is_second_try() or limits.is_hurried()
    known = KnownCells(is_sheet=document.is_sheet, tags=None if _has_fields(page) else document.tags)
    try:
        reading = pages.read_page(page, remarks, document.has_layers_off, known=known, is_plain=is_plain)
    except MemoryError:
        is_plain = True
        reading = pages.read_page(page, remarks, document.has_layers_off, is_plain=True)
    text = reading.text
    lost = (len(text) < _LITTLE or document.uses_stand_in) and defects.loses_glyphs(page)
    unplaced = {remark.number for remark in reading.remarks}
    values = "".join([remark.text for remark in remarks if remark.number not in unplaced])
    if len(text) - len(values) < _LITTLE and not reading.unknown and not lost:
        scans.add(index, page, text, values)
    if reading.is_hidden:
        scans.add_hidden(index, page)
    if not (is_plain or reading.is_hidden or defects.are_many(reading.unknown, text)):  # those may be replaced
        with contextlib.suppress(MemoryError):
            reading = _set_values(document, page, reading, remarks)
    pdfium.FPDF_ClosePage(page)
    labelled = [remark for remark in remarks if remark.label]
    return reading._replace(complete=complete, lost=lost, is_plain=is_plain, labelled=labelled)


def _has_fields(page: Any) -> bool:
    """Whether a form has fields on a page, of which its first annotations tell."""
    count = min(pdfium.FPDFPage_GetAnnotCount(page), _FIRST)
    return pdfium.FPDF_ANNOT_WIDGET in annotation_kinds(page, count)


def _set_values(
    document: PdfDocument, page: Any, reading: PageReading, remarks: Sequence[annotations.Remark]
) -> PageReading:
    """The reading with the values of fields behind their labels; as it was if one is not found there.

    The values are drawn on the page, which afterwards tells no longer whether it is a scan.
    """
    values = annotations.set_values(document, page, remarks)
    if not values:
        return reading
    numbers = {value.number for value in values}
    others = [remark for remark in remarks if remark.number not in numbers]
    cells = dict.fromkeys((value.field, value.text) for value in values if value.field is not None)
    known = KnownCells(list(cells), document.is_sheet)
    again = pages.read_page(page, others, document.has_layers_off, known=known)
    patterns = (r"\s+".join(map(re.escape, value.text.split())) for value in values if not value.text.startswith(MARK))
    found = (re.search(rf"(?<!\w){pattern}(?!\w)", again.text) for pattern in patterns)
    marks = sum(text.startswith(MARK) for _, text in cells)
    return again if all(found) and again.text.count(MARK) >= marks else reading


def _doubt(document: PdfDocument, contents: list[PageReading]) -> None:
    """Mark the pages of which PDFium loses glyphs, or whose character maps it does not know."""
    uncertain = {index for index, content in enumerate(contents) if content.lost}
    foreign = {index for index, content in enumerate(contents) if defects.is_east_asian(content.text)}
    if (foreign or document.uses_stand_in) and defects.has_unknown_maps(document.data):
        uncertain |= foreign | {index for index, content in enumerate(contents) if len(content.text) < _LITTLE}
    for index in uncertain:
        contents[index] = contents[index]._replace(unknown=max(1, contents[index].unknown))


def _add_doubtful(document: PdfDocument, contents: list[PageReading], scans: Scans) -> None:
    """Note the pages most of whose characters are unknown, and others that are scans after all."""
    for index, content in enumerate(contents):
        if content.unknown and defects.are_many(content.unknown, content.text):
            scans.add_doubtful(index)
            contents[index] = content._replace(unknown=0)
        elif (content.unknown or content.lost) and len(content.text) < _LITTLE:
            page = pdfium.FPDF_LoadPage(document.handle, index)
            if page:
                scans.add(index, page, content.text)
                pdfium.FPDF_ClosePage(page)


def _write_page(text: str, writer: Writer) -> None:
    """Write a page's text."""
    for part, is_table in pages.split_parts(text):
        if is_table:
            with writer.place(text_writer.TABLE, ""):
                writer.text(part)
        else:
            writer.text(part)


def _write_remarks(remarks: Sequence[annotations.Remark], text: str, writer: Writer) -> None:
    """Write the remarks on a page that are not already drawn in its text."""
    if remarks:
        plain = one_line(text)
        news = [remark.text for remark in remarks if not remark.copied or one_line(remark.text) not in plain]
        writer.text("\n".join(news))


def _write_outline(document: PdfDocument, writer: Writer) -> None:
    """Write the titles of the outline, except for whole paragraphs that are also on the pages.

    Word makes a bookmark of everything in a heading style: if the clauses of a contract have one, that is the whole
    text.
    """
    titles = list(_titles(document))
    if any(len(title) > _LONGEST_TITLE for title in titles):
        page_letters = _keep_letters(writer.reading().text)
        room = _MOST_COMPARED // max(1, len(page_letters))
        for index, title in enumerate(titles):
            if len(title) > _LONGEST_TITLE and room > 0:
                room -= 1
                titles[index] = "" if _keep_letters(title) in page_letters else title
    for title in titles:
        writer.text(title)


def _keep_letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)


def _titles(document: PdfDocument) -> Iterator[str]:
    """The titles of the outline, up to 20,000 titles, 8 MB and 64 levels; circular outlines end."""
    end = count_written() + _MOST_OUTLINE_BYTES
    seen: set[int] = set()
    above: list[Any] = []
    bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, None)
    while bookmark or above:
        if not bookmark:
            bookmark = pdfium.FPDFBookmark_GetNextSibling(document.handle, above.pop())
            continue
        address = ctypes.addressof(bookmark.contents)
        if address in seen or len(seen) == _MOST_OUTLINE_ITEMS or count_written() > end:
            bookmark = None
            continue
        seen.add(address)
        yield one_line(string(pdfium.FPDFBookmark_GetTitle, bookmark))
        above.append(bookmark)
        deeper = len(above) <= _DEEPEST_OUTLINE
        bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, bookmark) if deeper else None


def write_xfa(document: PdfDocument, writer: Writer) -> None:
    """Write the form's own words, then the values that were filled in, each after its field's name."""
    packets, complete = _xfa_packets(document)
    if not complete:
        writer.warn("The form (XFA) in this PDF is too large: not all of it was read.")
    roots = [root for packet in packets if (root := _xfa_root(packet)) is not None]
    # A form that is drawn as well has its words and values on its pages already.
    known = one_line(writer.reading().text)
    for element in (element for root in roots for element in root.iter("{*}draw", "{*}caption")):
        if element.get("presence") not in _HIDDEN:
            for words in element.iterfind("{*}value/*"):
                if (text := one_line(" ".join(map(str, words.itertext())))) not in known:
                    writer.text(text)
    for value in (value for root in roots for data in root.iter("{*}data") for value in data.iter("*")):
        if not len(value) and value.text and value.text.strip() and one_line(value.text) not in known:
            writer.text(f"{etree.QName(value).localname}: {one_line(value.text)}")


def _xfa_packets(document: PdfDocument) -> tuple[list[bytes], bool]:
    """The parts of the form's description, some of which are XML on their own, and whether that is all of them."""
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
    """The pages as pypdf reads them, without those that it cannot read."""
    from pypdf import PdfReader  # noqa: PLC0415 - seldom needed, 0.1 s

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it complains of broken files in their own words
    writer = Writer()
    document = PdfReader(embedded.open_source(source))
    if document.is_encrypted:
        document.decrypt("")
    for number in range(1, len(document.pages) + 1):
        with writer.part("page", str(number)), contextlib.suppress(Exception):
            page = document.pages[number - 1]
            _leave_out_drawings(page)
            writer.text(page.extract_text())
    return writer.reading()


def _leave_out_drawings(page: Any) -> None:
    """Make pypdf treat a page's forms (ISO 32000-1, 8.10) that show no text as pictures.

    Maps draw one form thousands of times, and PDFium stores each of its lines every time.
    """
    for name in (page.get("/Resources") or {}).get("/XObject") or {}:
        form = page["/Resources"]["/XObject"][name]
        kind = form.get("/Subtype")  # a name of pypdf's, and so must be what takes its place
        if kind == "/Form" and not _SHOWS_TEXT.search(form.get_data()):
            form[type(kind)("/Subtype")] = type(kind)("/Image")


FALLBACK: Final = embedded.FallbackReader(_read_with_pypdf, library="pypdf", signature=b"obj")
_WITHOUT_LAYOUT: Final = embedded.FallbackReader(_read, library="pypdfium2", signature=b"", seconds=_WITH_LESS)
