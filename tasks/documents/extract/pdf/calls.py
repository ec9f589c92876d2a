"""PDFium's calls with plain prototypes, for those that are made for each annotation and each comma.

pypdfium2 gives each kind of pointer a class of its own: a call takes 0.5 µs through those and 0.2 µs through these.
What is opened here is a number, which only the calls here take.
"""

import ctypes
from typing import Any, Final

import pypdfium2.raw as pdfium


def _plain(function: Any) -> Any:
    """The same function, whose pointers, handed over and returned, are mere addresses."""
    prototype = ctypes.CFUNCTYPE(_plain_type(function.restype), *map(_plain_type, function.argtypes))
    return prototype(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _plain_type(kind: Any) -> Any:
    return ctypes.c_void_p if isinstance(kind, type) and issubclass(kind, ctypes._Pointer) else kind  # noqa: SLF001


open_annotation: Final = _plain(pdfium.FPDFPage_GetAnnot)
close_annotation: Final = _plain(pdfium.FPDFPage_CloseAnnot)
kind_of: Final = _plain(pdfium.FPDFAnnot_GetSubtype)
has_key: Final = _plain(pdfium.FPDFAnnot_HasKey)
string_value: Final = _plain(pdfium.FPDFAnnot_GetStringValue)
appearance: Final = _plain(pdfium.FPDFAnnot_GetAP)
rectangle: Final = _plain(pdfium.FPDFAnnot_GetRect)
set_flags: Final = _plain(pdfium.FPDFAnnot_SetFlags)
field_kind: Final = _plain(pdfium.FPDFAnnot_GetFormFieldType)
field_value: Final = _plain(pdfium.FPDFAnnot_GetFormFieldValue)
count_options: Final = _plain(pdfium.FPDFAnnot_GetOptionCount)
option_label: Final = _plain(pdfium.FPDFAnnot_GetOptionLabel)
option_chosen: Final = _plain(pdfium.FPDFAnnot_IsOptionSelected)

character_at: Final = _plain(pdfium.FPDFText_GetCharIndexFromTextIndex)
character_box: Final = _plain(pdfium.FPDFText_GetLooseCharBox)


def attached_file(annotation: int) -> Any:
    """The file that an annotation pins to the page, as pypdfium2's own prototypes take it."""
    return pdfium.FPDFAnnot_GetFileAttachment(ctypes.cast(annotation, pdfium.FPDF_ANNOTATION))
