"""What a PDF's page has besides its content: notes, form values, attached files.

The words of an annotation's appearance are read from the stream that draws it, without drawing it. Files that are
embedded in the document or pinned to a page are passed on unread.
"""

import ctypes
import re
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.language.normalise import one_line
from tasks.reading.pdf import document as document_module
from tasks.reading.pdf.document import PdfDocument, count_written, string
from tasks.reading.pdf.repair import holds_bomb
from tasks.reading.text_writer import Writer

_MOST_ATTACHMENTS: Final = 1_000
LARGEST_ATTACHMENT: Final = 64 << 20
_ALL_TOGETHER: Final = 128 << 20
"""Bytes that are unpacked; what comes after is named alone."""

_STRING: Final = r"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+(?:\)|\Z)"
_SHOWN: Final = re.compile(rf"({_STRING})(?:\s*+(Tj|['\"]))?|(\[[^\[\]<>]*+\])\s*+TJ", re.DOTALL)
"""A string is passed over even where nothing shows it: a search that goes into it again and again never ends."""

_WORDS: Final = re.compile(_STRING, re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(\r\n|[0-7]{1,3}|.)", re.DOTALL)
_OPERATORS: Final = re.compile(r"T[jJ]\b|\bDo\b")
"""Those that draw text, and the one that draws another stream, which may do so."""

_CHARACTERS: Final = {"n": "\n", "r": "\n", "t": " ", "b": "", "f": "", "\n": "", "\r": "", "\r\n": ""}
_WITHOUT_LOOKS: Final = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT}
_FILLED_IN: Final = 6
"""The bytes that PDFium gives for the kind of a field that is typed or chosen: Tx, Ch; those of others are longer."""

_MOST_ANNOTATIONS: Final = 20_000
_MOST_BYTES: Final = 16 << 20
"""Annotations of a page that are read, and what may be in them and in what draws them."""

_MOST_OPTIONS: Final = 1_000
_LONG: Final = 20
"""A note of so many characters that the page's text holds too is a copy of what it marks."""


class AttachedFiles:
    """Passes the files inside a PDF to `writer`, each once: at most 1,000, of at most 64 MB each
    and 128 MB together.
    """

    def __init__(self, document: PdfDocument, writer: Writer) -> None:
        self._document = document
        self._writer = writer
        self._seen: set[tuple[str, int]] = set()
        self._room: int | None = None

    def add_embedded(self) -> None:
        """Pass on the files in the document's table of embedded files."""
        document = self._document.handle
        for index in range(min(pdfium.FPDFDoc_GetAttachmentCount(document), _MOST_ATTACHMENTS)):
            self.add(pdfium.FPDFDoc_GetAttachment(document, index))

    def add(self, attachment: Any) -> None:
        """Pass on one file; a mere link to a file outside the document is left out."""
        if not attachment or len(self._seen) == _MOST_ATTACHMENTS:
            return
        name = re.split(r"[\\/]", string(pdfium.FPDFAttachment_GetName, attachment).strip())[-1] or "attachment"
        size = ctypes.c_ulong()
        data: bytes | None = None
        if self._room is None:  # PDFium ends the process when it unpacks more than memory holds
            bomb = self._document.bombed or holds_bomb(self._document.data, LARGEST_ATTACHMENT)
            self._room = 0 if bomb else _ALL_TOGETHER
        if self._room > 0:
            if not pdfium.FPDFAttachment_GetFile(attachment, None, 0, size):
                return
            if size.value <= min(LARGEST_ATTACHMENT, self._room):
                buffer = ctypes.create_string_buffer(size.value)
                pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, size)
                data = buffer.raw
            self._room -= max(1, size.value)
        key = name, size.value if data is None else hash(data)
        if key not in self._seen:
            self._seen.add(key)
            self._writer.attach(name, data)


class Remark(NamedTuple):
    """A note or a form value; `number` is its annotation's on the page.

    `spot` is where on the page to read it, in points from the left and the bottom; None means after the page's text.
    `copied`: the page's text may contain it already, because it is drawn there, or copies what it marks. `field` is the
    box of a field that is filled in: left, bottom, right and top; `label` is what its author calls it.
    """

    number: int
    text: str
    spot: tuple[float, float] | None = None
    copied: bool = False
    field: tuple[float, float, float, float] | None = None
    label: str = ""


class Remarks(NamedTuple):
    """The notes and form values on a page in the order of the file.

    `undrawn`: there are more words, which `draw` shows. `complete`: none were left out for being too many or too long.
    """

    listed: list[Remark]
    undrawn: bool
    complete: bool


def remarks_on(document: PdfDocument, page: Any, files: AttachedFiles) -> Remarks:
    """The remarks on `page`; files attached to the page go to `files`."""
    remarks: list[Remark] = []
    undrawn = False
    count = pdfium.FPDFPage_GetAnnotCount(page)
    complete = count <= _MOST_ANNOTATIONS
    end = count_written() + _MOST_BYTES
    for index in range(min(_MOST_ANNOTATIONS, count)):
        if count_written() > end:
            complete = False
            break
        annotation = document_module.open_annotation(page, index)
        if annotation:
            remark, is_undrawn = _read_annotation(document, annotation, index, files)
            undrawn = undrawn or is_undrawn
            if remark is not None:
                remarks.append(remark)
            document_module.close_annotation(annotation)
    return Remarks(remarks, undrawn, complete)


def _read_annotation(
    document: PdfDocument, annotation: int, index: int, files: AttachedFiles
) -> tuple[Remark | None, bool]:
    """What an open annotation says, if anything, and whether its words are only drawn once it is merged into its page.

    A file attached to it is added to `files`.
    """
    kind = document_module.kind_of(annotation)
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        text, readable = _field(document, annotation)
        field = _box(annotation) if text and readable else None
        spot = (field[0], (field[1] + field[3]) / 2) if field else None
        label = _label(document, annotation) if field else ""
        return Remark(index, text, spot, copied=not readable, field=field, label=label) if text else None, not readable
    if kind == pdfium.FPDF_ANNOT_POPUP:  # it repeats the note that it belongs to
        return None, False
    text = string(document_module.string_value, annotation, b"Contents")
    if kind == pdfium.FPDF_ANNOT_FREETEXT and text:
        box = _box(annotation)
        return Remark(index, text, (box[0], (box[1] + box[3]) / 2) if box else None), False
    if kind == pdfium.FPDF_ANNOT_FILEATTACHMENT:
        files.add(document_module.find_attached_file(annotation))
    shown = kind not in _WITHOUT_LOOKS and read_appearance(annotation).show_words
    copied = shown or kind == pdfium.FPDF_ANNOT_LINK or len(text) >= _LONG
    return Remark(index, text, copied=copied) if text and not text.isspace() else None, shown


def draw(page: Any, remarks: list[Remark]) -> bool:
    """Make what notes, stamps and fields show part of the page's content, except remarks that have a spot of their own.

    Returns True if that was done; the page must then be opened again to see it.
    """
    for remark in remarks:
        if remark.spot is not None:
            annotation = document_module.open_annotation(page, remark.number)
            document_module.set_flags(annotation, pdfium.FPDF_ANNOT_FLAG_HIDDEN)
            document_module.close_annotation(annotation)
    return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def _box(annotation: Any) -> tuple[float, float, float, float] | None:
    """Left, bottom, right and top; None if it has no place."""
    box = pdfium.FS_RECTF()
    if not document_module.rectangle(annotation, ctypes.byref(box)):
        return None
    return box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top)


class Appearance(NamedTuple):
    """The words that an annotation shows; not `readable` if only drawing it can tell."""

    words: str
    show_words: bool
    readable: bool


def _field(document: PdfDocument, annotation: Any) -> tuple[str, bool]:
    """What the form field shown by `annotation` says, and whether that is certain without drawing it.

    Values stored with the annotation itself are read from there: PDFium's form reads all fields before it returns one,
    which takes five milliseconds for six hundred fields.
    """
    if document_module.has_key(annotation, b"AS"):  # a box to check
        state = string(document_module.string_value, annotation, b"AS")
        return "" if state == "Off" else f"☒ {state}", True
    empty = not document_module.has_key(annotation, b"V") and document_module.has_key(annotation, b"T")
    if empty and not document_module.has_key(annotation, b"Opt"):
        if document_module.string_value(annotation, b"FT", None, 0) == _FILLED_IN:
            return "", True
        value = ""
    else:
        value = string(document_module.string_value, annotation, b"V") or _form_value(document, annotation)
    appearance = read_appearance(annotation)
    return (_compare_values(appearance, value), True) if appearance.readable else (value, False)


def _label(document: PdfDocument, annotation: Any) -> str:
    """What a field is called for those who do not see the page (TU: ISO 32000-1, table 220), or the one above it."""
    kind = None if document.forms is None else document_module.field_kind(document.forms, annotation)
    if kind == pdfium.FPDF_FORMFIELD_PUSHBUTTON or document_module.has_key(annotation, b"AS"):  # or a box to check
        return ""
    if kind is None or document_module.has_key(annotation, b"T"):
        return one_line(string(document_module.string_value, annotation, b"TU"))
    return one_line(string(document_module.field_label, document.forms, annotation))


def _compare_values(appearance: Appearance, value: str) -> str:
    """A value as shown, followed by the stored value if other letters are in it: "$1,234.50 (1234.5)"."""
    shown = "".join(appearance.words.split())
    if not shown or shown == "".join(value.split()):
        return value
    return f"{appearance.words} ({value})" if value else appearance.words


def _form_value(document: PdfDocument, annotation: Any) -> str:
    """The value from PDFium's form: one stored with the field's parent, or the options chosen in a list, else all."""
    forms = document.forms
    if forms is None:
        return ""
    kind = document_module.field_kind(forms, annotation)
    if kind == pdfium.FPDF_FORMFIELD_LISTBOX:
        options = range(min(_MOST_OPTIONS, document_module.count_options(forms, annotation)))
        chosen = [option for option in options if document_module.option_chosen(forms, annotation, option)]
        labels = (string(document_module.option_label, forms, annotation, option) for option in chosen or options)
        return "\n".join(labels)
    if kind in {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX}:
        return string(document_module.field_value, forms, annotation)
    return ""


def read_appearance(annotation: Any) -> Appearance:
    """The appearance of an open annotation."""
    stream = string(document_module.appearance, annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
    operators = len(_OPERATORS.findall(stream)) if _may_draw_words(stream) else 0
    if not operators:
        return Appearance("", show_words=False, readable=True)
    strings = _SHOWN.finditer(stream)
    shown = [match[1] or "".join(_WORDS.findall(match[3])) for match in strings if match[2] or match[3]]
    return Appearance(" ".join(_unescape(text) for text in shown), show_words=True, readable=len(shown) >= operators)


def _may_draw_words(stream: str) -> bool:
    """Whether a stream may contain an operator that draws text: three searches take a tenth of the
    time of a pattern.
    """
    return "Tj" in stream or "TJ" in stream or "Do" in stream


def _unescape(strings: str) -> str:
    """One or several bracketed strings from a stream, as one text."""
    return "".join(_ESCAPED.sub(_character, string[1:-1]) for string in _WORDS.findall(strings))


def _character(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped, 8)) if escaped[0] in "01234567" else _CHARACTERS.get(escaped, escaped)
