"""What a PDF's page has besides its content: notes, the values of a form's fields, attached files.

The words of an annotation's appearance are read from the stream that draws it, without drawing it. Files that are
embedded in the document or pinned to a page are passed on unread.

Values that fields hold are set as type in their boxes, so that they are read in the rows of their labels. A program
that flattens a form draws each of its fields as a form of its own (ISO 32000-1, 8.10) over the finished page: its
values come after all other words, far from their labels.
"""

import ctypes
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.language.normalise import one_line
from tasks.reading.pdf import document as document_module
from tasks.reading.pdf.document import PageText, PdfDocument, count_written, string
from tasks.reading.pdf.repair import holds_bomb
from tasks.reading.pdf.words import MARK, TO_WRITE_ON, KnownCells
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

_NUMBER: Final = re.compile(r"\s?\[\d{1,4}\]\Z|_Row_\d{1,4}\Z")
"""What Acrobat puts behind the name of a field to tell it from others of that name."""
_OF_PROGRAM: Final = re.compile(
    r"(?:text[ -]?(?:field|box)?|(?:(?:date)?(?:time)?|numeric|combo|list|check|drop ?down)[ -]?(?:field|box|list)"
    r"|fill|dropdown|undefined|untitled|unbenannt|textfeld|(?:champ|zone) de texte|campo de texto"
    r"|(?:casella|campo) di testo|caixa de texto|tekst(?:veld|felt)|text(?:ruta|fält)|pole tekstowe)?"
    r"[ _]?(?:\d{1,4}[a-z]?)?(?: ?\[\d{1,4}\])?"
    r"|\w+\[\d+\](?:\.#?\w+(?:\[\d+\])?)+",
    re.IGNORECASE,
)
"""Names that programs give to fields, and the paths of fields in forms of XFA."""

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
        files.add(pdfium.FPDFAnnot_GetFileAttachment(ctypes.cast(annotation, pdfium.FPDF_ANNOTATION)))
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
        holds_words = document_module.string_value(annotation, b"FT", None, 0) == _FILLED_IN  # some programs write both
        return "" if state == "Off" else state if holds_words else f"{MARK} {state}", True
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
        label = string(document_module.string_value, annotation, b"TU")
    else:
        label = string(document_module.field_label, document.forms, annotation)
    label = one_line(label)
    return "" if _OF_PROGRAM.fullmatch(label) else label


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
    # three searches take a tenth of the time of a pattern
    operators = len(_OPERATORS.findall(stream)) if any(map(stream.__contains__, ("Tj", "TJ", "Do"))) else 0
    if not operators:
        return Appearance("", show_words=False, readable=True)
    strings = _SHOWN.finditer(stream)
    shown = [match[1] or "".join(_WORDS.findall(match[3])) for match in strings if match[2] or match[3]]
    texts = ("".join(_ESCAPED.sub(_character, one[1:-1]) for one in _WORDS.findall(strings)) for strings in shown)
    return Appearance(" ".join(texts), show_words=True, readable=len(shown) >= operators)


def _character(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped, 8)) if escaped[0] in "01234567" else _CHARACTERS.get(escaped, escaped)


_TYPE: Final = (4.0, 8.0)
"""The smallest and the largest size in points in which values are set; that of most forms is between them."""

_LINE: Final = 2.5
"""The height of a field of one line at most, in sizes."""
_MOST_SET: Final = 500
_CAN_BE_SET: Final = re.compile(
    r"[^\x00-\x1f\x7f-\x9f\u0590-\u08ff\ud800-\udfff\ufb1d-\ufefc\U00010000-\U0010ffff]{1,200}"
)
"""One line, none that is written from the right: PDFium would read that the other way round."""
_IN_HELVETICA: Final = re.compile(r"[ -~\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]*")
_WIDE: Final = 1.6
"""Boxes of single characters between two of which one is empty."""
_MOST_DRAWN: Final = 10_000
"""Characters of a page that are looked at for values, and objects of a form."""
_FEWEST: Final = 3
"""Values from which forms that are drawn last are the fields of a flattened form, and no stamp or footer."""
_MOST: Final = 0.75
"""The share of a page's text that they are at most."""
_LINES: Final = 1.8
"""Heights of a character from which a value has several lines."""

_LONGEST: Final = 200
"""Characters of a label, and of a value, that are written once more."""
_SHARED: Final = 2
"""Fields of a page that may be called the same: what more are called ("cent") does not tell them apart."""
_STATED: Final = re.compile(r"[$€£¥%]|\d[.,/]\d|\d{4}")
"""Amounts, days and years: names of fields often have them from an earlier year's form."""
_SAYS: Final = re.compile(
    r"[.?;]\s*$|\b(?:is|are|was|were|has|have|had|does|do|did|will|not?|if|please|enter|write|leave|example|e\.g|bitte|geben"
    r"|ist|sind|hat|haben|kein\w*|wenn|est|sont|ont|pas|si|saisir|indiquer|è|sono|non|se|indicare|inserire)\b",
    re.IGNORECASE,
)
"""A sentence or an instruction: with the value behind it, it would say something that nobody has said."""
_WORD: Final = re.compile(r"[^\W_]{3,}")

Field = tuple[tuple[float, float, float, float], str]
"""The left, bottom, right and top of a field, in points, and its value."""


def find_drawn_values(page: Any, textpage: Any, page_text: PageText, known: KnownCells) -> KnownCells:
    """What is known of a page's cells, with the values of a flattened form, each of one line in a form drawn last.

    A field is empty below its value: forms that lie over words are stamps, initials or a watermark.
    """
    pieces = _number_last_forms(page, behind=len(known.fields))
    text = page_text.text
    if not pieces or not page_text.is_in_step:
        return known
    drawn = [index for index in range(max(0, len(text) - _MOST_DRAWN), len(text)) if not text[index].isspace()]
    objects = dict(zip(drawn, document_module.text_objects(textpage, drawn), strict=True))
    parts = [(piece, list(held)) for piece, held in groupby(drawn, lambda index: pieces.get(objects[index] or 0, 0))]
    printed = [index for piece, indices in parts if not piece for index in indices]
    middles = _find_middles(textpage, [index for index in printed if not TO_WRITE_ON.fullmatch(text[index])])
    found: list[Field] = []
    spaces: list[int] = []
    for _, indices in (part for part in parts if part[0]):
        field = _read_value(textpage, text, indices, objects)
        if field is not None and not _lies_over(field[0], middles):
            found.append(field)
            spaces += indices[:1] if text[indices[0] - 1].strip() and indices[0] else []
    if len(found) < _FEWEST or sum(len(value) for _, value in found) > _MOST * len(text):
        return known
    return known._replace(fields=[*known.fields, *found], spaces=spaces)


def _number_last_forms(page: Any, *, behind: int) -> dict[int, int]:
    """The number of its form by the address of each text object in forms drawn last; none if all objects are forms.

    `behind`: how many values were set after these.
    """
    last = pdfium.FPDFPage_CountObjects(page) - 1 - behind
    pieces: dict[int, int] = {}
    left = [_MOST_DRAWN]
    while last >= 0:
        item = pdfium.FPDFPage_GetObject(page, last)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_FORM:
            return pieces
        for texts in _leaves(item, left):
            pieces.update(dict.fromkeys(texts, len(pieces) + 1))
        last -= 1
        if left[0] <= 0:
            break
    return {}


def _read_value(textpage: Any, text: str, indices: Sequence[int], objects: Mapping[int, int | None]) -> Field | None:
    """The box and the value of the characters of one form; None if it has several lines."""
    lefts, tops, rights, bottoms = document_module.box_sides(textpage, indices)
    if max(tops) - min(bottoms) >= _LINES * max(top - bottom for top, bottom in zip(tops, bottoms, strict=True)):
        return None
    value = " ".join(text[indices[0] : indices[-1] + 1].split())
    steps = [after - before for before, after in pairwise(lefts)]
    if steps and len({objects[index] for index in indices}) == len(indices):  # each in a box of its own
        wide = _WIDE * min(steps)
        blanks = ["" if step < wide else " " for step in [0.0, *steps]]
        value = "".join(blank + text[index] for blank, index in zip(blanks, indices, strict=True))
    return (min(lefts), min(bottoms), max(rights), max(tops)), value


def _find_middles(textpage: Any, indices: Sequence[int]) -> list[tuple[float, float]]:
    """The middles of characters, each its height on the page and its distance from the left, from the bottom."""
    lefts, tops, rights, bottoms = document_module.box_sides(textpage, indices)
    sides = zip(lefts, tops, rights, bottoms, strict=True)
    return sorted(((top + bottom) / 2, (left + right) / 2) for left, top, right, bottom in sides)


def _lies_over(box: tuple[float, float, float, float], middles: Sequence[tuple[float, float]]) -> bool:
    """Whether the middle of a printed character is in a box."""
    left, bottom, right, top = box
    return any(left < x < right for _, x in middles[bisect(middles, (bottom,)) : bisect(middles, (top,))])


def _leaves(form: Any, left: list[int], deepest: int = 2) -> Iterator[list[int]]:
    """The addresses of the text objects of each form within a form, or of itself; `left`: objects to look at."""
    texts: list[int] = []
    items = document_module.objects_in_form(form, left[0])
    left[0] -= len(items) + 1
    for item in items:
        kind = document_module.object_kind(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            texts.append(item.value)
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and deepest:
            yield from _leaves(item, left, deepest - 1)
    if texts:
        yield texts


def set_values(document: PdfDocument, page: Any, remarks: Sequence[Remark]) -> list[Remark]:
    """Set the values of fields as type in their boxes, so that they are read in the rows of their labels.

    Returns those that were set. Helvetica, which every program for PDFs has, knows the characters of Windows-1252
    (ISO 32000-1, annex D.2).
    """
    if pdfium.FPDFPage_GetRotation(page):
        return []
    values = [remark for remark in remarks[:_MOST_SET] if remark.field and _CAN_BE_SET.fullmatch(remark.text)]
    places = dict.fromkeys((remark.field, remark.text) for remark in values if remark.field)  # some are drawn twice
    for field, text in places:
        left, bottom, right, top = field
        smallest, largest = _TYPE
        size = min(largest, max(smallest, 0.7 * (top - bottom)))
        if _IN_HELVETICA.fullmatch(text):
            item = pdfium.FPDFPageObj_NewTextObj(document.handle, b"Helvetica", size)
        else:
            item = document_module.new_text(document.handle, text, size)
        pdfium.FPDFText_SetText(item, (ctypes.c_ushort * (len(text) + 1))(*map(ord, text)))
        sides = [ctypes.c_float() for _ in range(4)]
        pdfium.FPDFPageObj_GetBounds(item, *sides)
        squeezed = min(1.0, (right - left) / max(1.0, sides[2].value - sides[0].value + size))
        left += squeezed * size / 2  # so that it is not glued to a currency's sign before it
        bottom = max(bottom, top - _LINE * largest)  # a field of several lines is filled from its top
        pdfium.FPDFPageObj_Transform(item, squeezed, 0, 0, 1, left, (bottom + top - 0.7 * size) / 2)
        pdfium.FPDFPage_InsertObject(page, item)
    return values


def list_labelled(remarks: Sequence[Remark], text: str) -> Iterator[str]:
    """The values of fields behind what their author calls them, where no line of a page's text says it so."""
    lines = [one_line(line) for line in text.splitlines()] if remarks else []
    shared = Counter(remark.label for remark in remarks)
    for remark in remarks:
        value = one_line(remark.text)
        if not value or shared[remark.label] > _SHARED or max(len(remark.label), len(value)) > _LONGEST:
            continue
        if _STATED.search(remark.label) or _SAYS.search(remark.label):
            continue
        label = _NUMBER.sub("", remark.label)
        words = {word.casefold() for word in _WORD.findall(label)}
        apart = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
        before = (line[: found.start()] for line in lines if (found := apart.search(line)))
        said = [{word.casefold() for word in _WORD.findall(part)} for part in before]
        is_figure = any(map(str.isdecimal, value))  # what stands before it on the page says what it is
        if not any(held if is_figure else 2 * len(words & held) >= len(words) for held in said):
            yield f"{label.rstrip(' :.')}: {value}"
