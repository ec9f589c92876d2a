"""What stands on a PDF's page besides its content: notes, form values, attached files."""

import re
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract.enclosed import Enclosed
from tasks.documents.extract.pdfium import Document, string

_WITHOUT_LOOKS: Final = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT}
_SHOWS_WORDS: Final = re.compile(r"T[jJ]|['\"]|\bDo\b")
"""The operators that draw text, and the one that draws another stream, which may do so."""
_FILLED_IN: Final = 6
"""The bytes that PDFium gives for the kind of a field that is typed or chosen: Tx, Ch; those of others are longer."""
_MOST: Final = 20_000
"""Annotations of a page that are read."""
_MOST_OPTIONS: Final = 1_000
_LONG: Final = 20
"""A note of so many characters that the page's text holds too is a copy of what it marks."""


class Remark(NamedTuple):
    """A note or a form value.

    `copied` is one that the page's own text may hold already: it is drawn there.
    """

    text: str
    copied: bool


def remarks_on(document: Document, page: Any, enclosed: Enclosed) -> tuple[list[Remark], bool]:
    """The notes and form values on `page` in the order of the file, and whether the looks of any show words.

    Files that are attached to the page go to `enclosed`.
    """
    remarks: list[Remark] = []
    drawn = False
    for index in range(min(_MOST, pdfium.FPDFPage_GetAnnotCount(page))):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            text, copied = _field(document, annotation)
            drawn = drawn or copied
        elif kind == pdfium.FPDF_ANNOT_POPUP:  # repeats the note that it belongs to
            text, copied = "", False
        else:
            text = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
            shown = kind not in _WITHOUT_LOOKS and _shows_words(annotation)
            drawn = drawn or shown
            copied = shown or kind == pdfium.FPDF_ANNOT_LINK or len(text) >= _LONG
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                enclosed.add(pdfium.FPDFAnnot_GetFileAttachment(annotation))
        pdfium.FPDFPage_CloseAnnot(annotation)
        if text and not text.isspace():
            remarks.append(Remark(text, copied))
    return remarks, drawn


def draw(page: Any) -> bool:
    """Make what notes, stamps and fields show part of the page's content, at its place.

    True: it was done, and the page must be opened again to see it.
    """
    return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def _field(document: Document, annotation: Any) -> tuple[str, bool]:
    """The value of the form field that `annotation` shows, and whether its looks show words.

    What stands with the annotation itself is taken from there: PDFium's form reads all fields before it tells of one,
    which takes five milliseconds where there are six hundred.
    """
    if pdfium.FPDFAnnot_HasKey(annotation, b"AS"):  # a box to check
        state = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"AS")
        return ("", False) if state == "Off" else (f"☒ {state}", _shows_words(annotation))
    empty = pdfium.FPDFAnnot_HasKey(annotation, b"T") and not pdfium.FPDFAnnot_HasKey(annotation, b"V")
    if empty and not pdfium.FPDFAnnot_HasKey(annotation, b"Opt"):
        size = pdfium.FPDFAnnot_GetStringValue(annotation, b"FT", None, 0)
        return "", size != _FILLED_IN and _shows_words(annotation)
    value = string(pdfium.FPDFAnnot_GetStringValue, annotation, b"V") or _asked_value(document, annotation)
    if value and not any(character.isalnum() for character in value):
        return value, False  # a dash or a stroke is not worth opening the page twice
    return value, _shows_words(annotation)


def _asked_value(document: Document, annotation: Any) -> str:
    """The value by PDFium's form: one that stands with the field's parent, or what a list shows as chosen, else all."""
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


def _shows_words(annotation: Any) -> bool:
    looks = string(pdfium.FPDFAnnot_GetAP, annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
    return _SHOWS_WORDS.search(looks) is not None
