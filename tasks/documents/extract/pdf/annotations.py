"""What stands on a PDF's page besides its content: notes, form values, attached files."""

from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf.enclosed import Enclosed
from tasks.documents.extract.pdf.looks import Looks, looks_of
from tasks.documents.extract.pdf.pdfium import Document, string
from tasks.documents.extract.reading import one_line

_WITHOUT_LOOKS: Final = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT}
_FILLED_IN: Final = 6
"""The bytes that PDFium gives for the kind of a field that is typed or chosen: Tx, Ch; those of others are longer."""
_MOST: Final = 20_000
"""Annotations of a page that are read."""
_MOST_OPTIONS: Final = 1_000
_LONG: Final = 20
"""A note of so many characters that the page's text holds too is a copy of what it marks."""


class Remark(NamedTuple):
    """A note or a form value; `number` is its annotation's on the page.

    `spot` is where on the page it is to be read, in points from the left and the bottom; None: after the page's text.
    `copied` is one that the page's text may hold already: it is drawn there, or it copies what it marks.
    """

    number: int
    text: str
    spot: tuple[float, float] | None = None
    copied: bool = False


def remarks_on(document: Document, page: Any, enclosed: Enclosed) -> tuple[list[Remark], bool]:
    """The notes and form values on `page` in the order of the file, and whether words are left that `draw` shows.

    Files that are attached to the page go to `enclosed`.
    """
    remarks: list[Remark] = []
    undrawn = False
    for index in range(min(_MOST, pdfium.FPDFPage_GetAnnotCount(page))):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            text, readable = _field(document, annotation)
            undrawn = undrawn or not readable
            if text:
                remarks.append(Remark(index, text, _spot(annotation) if readable else None, copied=not readable))
        elif kind != pdfium.FPDF_ANNOT_POPUP:  # which repeats the note that it belongs to
            text = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
            if kind == pdfium.FPDF_ANNOT_FREETEXT and text:
                remarks.append(Remark(index, text, _spot(annotation)))
            else:
                shown = kind not in _WITHOUT_LOOKS and looks_of(annotation).show_words
                undrawn = undrawn or shown
                copied = shown or kind == pdfium.FPDF_ANNOT_LINK or len(text) >= _LONG
                if text and not text.isspace():
                    remarks.append(Remark(index, text, copied=copied))
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                enclosed.add(pdfium.FPDFAnnot_GetFileAttachment(annotation))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return remarks, undrawn


def draw(page: Any, remarks: list[Remark]) -> bool:
    """Make what notes, stamps and fields show part of the page's content, but for remarks that have their own spot.

    True: it was done, and the page must be opened again to see it.
    """
    for remark in remarks:
        if remark.spot is not None:
            annotation = pdfium.FPDFPage_GetAnnot(page, remark.number)
            pdfium.FPDFAnnot_SetFlags(annotation, pdfium.FPDF_ANNOT_FLAG_HIDDEN)
            pdfium.FPDFPage_CloseAnnot(annotation)
    return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def _spot(annotation: Any) -> tuple[float, float] | None:
    """The middle of the left edge."""
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, box):
        return None
    return box.left, (box.bottom + box.top) / 2


def _field(document: Document, annotation: Any) -> tuple[str, bool]:
    """What the form field says that `annotation` shows, and whether that can be told without drawing it.

    What stands with the annotation itself is taken from there: PDFium's form reads all fields before it tells of one,
    which takes five milliseconds where there are six hundred.
    """
    if pdfium.FPDFAnnot_HasKey(annotation, b"AS"):  # a box to check
        state = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS")
        return "" if state == "Off" else f"☒ {state}", True
    empty = pdfium.FPDFAnnot_HasKey(annotation, b"T") and not pdfium.FPDFAnnot_HasKey(annotation, b"V")
    if empty and not pdfium.FPDFAnnot_HasKey(annotation, b"Opt"):
        if pdfium.FPDFAnnot_GetStringValue(annotation, b"FT", None, 0) == _FILLED_IN:
            return "", True
        value = ""
    else:
        value = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"V") or _asked_value(document, annotation)
    looks = looks_of(annotation)
    return (_both(looks, value), True) if looks.readable else (value, False)


def _both(looks: Looks, value: str) -> str:
    """A value as it is shown, and as it is kept where that differs: "$1,234.50 (1234.5)", "2 0 2 4 (2024)"."""
    if not looks.words.strip() or one_line(looks.words) == one_line(value):
        return value
    return f"{looks.words} ({value})" if value else looks.words


def _asked_value(document: Document, annotation: Any) -> str:
    """The value by PDFium's form: one that stands with the field's parent, or what is chosen from a list, else all."""
    forms = document.forms
    if forms is None:
        return ""
    kind = pdfium.FPDFAnnot_GetFormFieldType(forms, annotation)
    if kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        options = range(min(_MOST_OPTIONS, pdfium.FPDFAnnot_GetOptionCount(forms, annotation)))
        chosen = [option for option in options if pdfium.FPDFAnnot_IsOptionSelected(forms, annotation, option)]
        labels = (string(pdfium.FPDFAnnot_GetOptionLabel, forms, annotation, option) for option in chosen or options)
        return "\n".join(labels)
    if kind in {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX}:
        return string(pdfium.FPDFAnnot_GetFormFieldValue, forms, annotation)
    return ""
