"""What a PDF says outside its pages' text: notes on a page, values in form fields, titles of the outline."""

import ctypes
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

_WITHOUT_LOOKS: Final = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT}
_FIELDS_WITH_WORDS: Final = {
    pdfium.FPDF_FORMFIELD_TEXTFIELD,
    pdfium.FPDF_FORMFIELD_COMBOBOX,
    pdfium.FPDF_FORMFIELD_LISTBOX,
}
_MOST_OUTLINE_TITLES: Final = 20_000


def page_remarks(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[str]:
    """The notes and the form values on a page, in the order of the file."""
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                yield _field_value(document, annotation)
            elif kind != pdfium.FPDF_ANNOT_POPUP:  # repeats the note that it belongs to
                yield _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def drawn_over(page: pypdfium2.PdfPage) -> bool:
    """Make what notes, stamps and form fields show part of the page's content, at its place; tells whether any do.

    The page must be opened again to see it.
    """
    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if annotation:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            pdfium.FPDFPage_CloseAnnot(annotation)
            if kind not in _WITHOUT_LOOKS:
                return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)
    return False


def outline_titles(document: pypdfium2.PdfDocument) -> Iterator[str]:
    """The titles of the outline (bookmarks) in order; one that leads into a circle ends."""
    for number, bookmark in enumerate(document.get_toc()):
        if number == _MOST_OUTLINE_TITLES:
            return
        yield _string(pdfium.FPDFBookmark_GetTitle, bookmark)


def _field_value(document: pypdfium2.PdfDocument, annotation: Any) -> str:
    if document.formenv is None:
        return _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"V")
    if pdfium.FPDFAnnot_GetFormFieldType(document.formenv, annotation) not in _FIELDS_WITH_WORDS:
        return ""
    return _string(pdfium.FPDFAnnot_GetFormFieldValue, document.formenv, annotation)


def _string(function: Any, *arguments: Any) -> str:
    """A string that PDFium writes as UTF-16 into a buffer, after it was asked for the size in bytes."""
    size = function(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, function.argtypes[-2]), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "ignore")
