"""What stands on a PDF's page besides its content: notes, form values, attached files."""

import ctypes
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf import calls
from tasks.documents.extract.pdf.enclosed import Enclosed
from tasks.documents.extract.pdf.looks import Looks, looks_of
from tasks.documents.extract.pdf.pdfium import Document, string, written
from tasks.documents.extract.reading import one_line

_WITHOUT_LOOKS: Final = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT}
_FILLED_IN: Final = 6
"""The bytes that PDFium gives for the kind of a field that is typed or chosen: Tx, Ch; those of others are longer."""
_MOST: Final = 20_000
_MOST_BYTES: Final = 16 << 20
"""Annotations of a page that are read, and what may be in them and in what draws them."""
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


class Remarks(NamedTuple):
    """The notes and form values on a page in the order of the file.

    `undrawn`: words are left that `draw` shows. `whole`: none were left out for being too many or too long.
    """

    listed: list[Remark]
    undrawn: bool
    whole: bool


def remarks_on(document: Document, page: Any, enclosed: Enclosed) -> Remarks:
    """What is on `page`; files that are attached to it go to `enclosed`."""
    remarks: list[Remark] = []
    undrawn = False
    count = pdfium.FPDFPage_GetAnnotCount(page)
    whole = count <= _MOST
    end = written() + _MOST_BYTES
    for index in range(min(_MOST, count)):
        if written() > end:
            whole = False
            break
        annotation = calls.open_annotation(page, index)
        if not annotation:
            continue
        kind = calls.kind_of(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            text, readable = _field(document, annotation)
            undrawn = undrawn or not readable
            if text:
                remarks.append(Remark(index, text, _spot(annotation) if readable else None, copied=not readable))
        elif kind != pdfium.FPDF_ANNOT_POPUP:  # which repeats the note that it belongs to
            text = string(calls.string_value, annotation, b"Contents")
            if kind == pdfium.FPDF_ANNOT_FREETEXT and text:
                remarks.append(Remark(index, text, _spot(annotation)))
            else:
                shown = kind not in _WITHOUT_LOOKS and looks_of(annotation).show_words
                undrawn = undrawn or shown
                copied = shown or kind == pdfium.FPDF_ANNOT_LINK or len(text) >= _LONG
                if text and not text.isspace():
                    remarks.append(Remark(index, text, copied=copied))
            if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                enclosed.add(calls.attached_file(annotation))
        calls.close_annotation(annotation)
    return Remarks(remarks, undrawn, whole)


def draw(page: Any, remarks: list[Remark]) -> bool:
    """Make what notes, stamps and fields show part of the page's content, but for remarks that have their own spot.

    True: it was done, and the page must be opened again to see it.
    """
    for remark in remarks:
        if remark.spot is not None:
            annotation = calls.open_annotation(page, remark.number)
            calls.set_flags(annotation, pdfium.FPDF_ANNOT_FLAG_HIDDEN)
            calls.close_annotation(annotation)
    return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def _spot(annotation: Any) -> tuple[float, float] | None:
    """The middle of the left edge."""
    box = pdfium.FS_RECTF()
    if not calls.rectangle(annotation, ctypes.byref(box)):
        return None
    return box.left, (box.bottom + box.top) / 2


def _field(document: Document, annotation: Any) -> tuple[str, bool]:
    """What the form field says that `annotation` shows, and whether that can be told without drawing it.

    What stands with the annotation itself is taken from there: PDFium's form reads all fields before it tells of one,
    which takes five milliseconds where there are six hundred.
    """
    if calls.has_key(annotation, b"AS"):  # a box to check
        state = string(calls.string_value, annotation, b"AS")
        return "" if state == "Off" else f"☒ {state}", True
    empty = not calls.has_key(annotation, b"V") and calls.has_key(annotation, b"T")
    if empty and not calls.has_key(annotation, b"Opt"):
        if calls.string_value(annotation, b"FT", None, 0) == _FILLED_IN:
            return "", True
        value = ""
    else:
        value = string(calls.string_value, annotation, b"V") or _asked_value(document, annotation)
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
    kind = calls.field_kind(forms, annotation)
    if kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        options = range(min(_MOST_OPTIONS, calls.count_options(forms, annotation)))
        chosen = [option for option in options if calls.option_chosen(forms, annotation, option)]
        labels = (string(calls.option_label, forms, annotation, option) for option in chosen or options)
        return "\n".join(labels)
    if kind in {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX}:
        return string(calls.field_value, forms, annotation)
    return ""
