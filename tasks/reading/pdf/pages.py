"""The text of a PDF's page as PDFium lays it out, with its tables in rows and its defects corrected.

Besides hyphens and spaces, these are letters that PDFium loses: a ligature whose glyph is named after its letters
("f_i") comes as a control character.

Pages that are pictures, or whose glyphs do not say which characters they are, are found here and not read. A page is a
scan if it has hardly any text and is covered by pictures, or by so many shapes that they may be letters. Values of a
form's fields are no text of its page.
"""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain, pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.language.normalise import clean
from tasks.reading.pdf import defects, document
from tasks.reading.pdf.annotations import Remark, find_drawn_values
from tasks.reading.pdf.columns import TABLE, TABLE_END, Edit
from tasks.reading.pdf.document import PageText, page_text
from tasks.reading.pdf.layout import layout_edits
from tasks.reading.pdf.repair import find_packed
from tasks.reading.pdf.words import NONE_KNOWN, KnownCells
from tasks.reading.text_writer import DOUBTFUL_SCAN, HIDDEN_SCAN, Writer, page_numbers

_NOT_OURS: Final = re.compile(f"[\t{TABLE}{TABLE_END}]")
"""What marks cells and tables, and is white space or nothing where a page has it."""

_TABLE: Final = re.compile(f"{TABLE}([^{TABLE}{TABLE_END}]*+){TABLE_END}")
_HYPHEN: Final = re.compile("[\x02\ufffe]\n?")
_LINKS: Final = "of|the|to|and|by|over|up|les|sur|sous|aux|et"
_IN_CHAIN: Final = re.compile(rf"(?:{_LINKS})-\w", re.IGNORECASE)
_BEHIND_CHAIN: Final = re.compile(rf"\w-(?:{_LINKS})\Z", re.IGNORECASE)
"""Words within compounds of three: `state-of-the-art`, `Loèche-les-Bains`."""
_NON: Final = ("on\x02", "on\ufffe", "ON\x02", "ON\ufffe")
_BEHIND_NON: Final = re.compile(r"on(?<=\b[Nn]on)([a-z]{3,})")
_WORD: Final = re.compile(r"\w+")
_LONGEST_WORD: Final = 40
_MOST_HYPHENS: Final = 20_000
"""Hyphens of a document that are looked at; each takes 1 µs."""
_COMMA: Final = re.compile(r",(?=[^\W\d_])")
"""Behind what a space may be missing: `cash,and`."""
_GLUED: Final = re.compile(r"[0-9A-Z](?<=[a-z]{2}.)(?:(?<=[0-9])(?<=[a-z]{3}.)|(?<=[A-Z])(?=[a-z]))")
"""Before what a space may be missing: `in2017`, `inFebruary`. There are fewer of these than of small letters."""
_BREAK: Final = re.compile(
    r"\r\n(?:(?=[ ,.;:)\]}%’”»!?*+–−])|(?<=[(\[]\r\n)(?=\w)|(?<=[\w)]\r\n)(?=(?:\d\d?|st|nd|rd|th)\b(?![.,]\d)))"
)
_BULLETS: Final = "•●▪■◦○►▸❖➢✓◆\uf0b7\uf0a7"
_SYMBOLS: Final = "\uf0b7\uf06c\uf06e\uf076\uf077\uf09f\uf0a7\uf0d8\uf0e8"
_SYMBOL: Final = re.compile(rf"{_SYMBOLS[0]}|^[{_SYMBOLS}](?=\s)", re.MULTILINE)
"""Bullets of fonts for symbols, as PDFium gives them. Those of a form's boxes stay what they are: some are checked."""
_BULLET: Final = re.compile(f"[{_BULLETS}](?<=\\S .)")
_ITEMS: Final = (
    re.compile(r"\. (?=[A-Z](?<=[\d ]\. .)|\d{1,2}(?:\.\d{1,2})*\.? [A-Z])"),
    re.compile(r"__ (?=\S)"),
    re.compile(r" (?=Item \d)"),
    re.compile(r" (?=\((?:[a-z]{1,3}|\d\d?)\) )"),
)
"""Spaces in whose place PDFium may leave a line break out: before an item, a heading behind a figure, behind a line to
write on. Each pattern begins with what it looks for first: one of all takes four times as long."""
_MOST_SPOTS: Final = 1_000
"""Places in a page's text that are looked at; each takes 1.5 µs."""

_SPACE: Final = 0.07
"""The gap after a comma that is a space, as a share of the line's height: in formulas it is 0.09."""

_WORDS: Final = 0.12
"""The gap that is a space between two words, as a share of the line's height."""

_NEAR: Final = (200.0, 12.0)
"""How far, in points to the side and up or down, the line may be beside which a remark is to be read."""

_JOINED: Final = 0.4
"""The gap or overlap up to which characters stand side by side."""

_NEXT_LINE: Final = 0.7
"""How much higher or lower a character stands that is on another line, as a share of the line's height."""

LOST: Final = re.compile("[\x1c-\x1f]")
"""What stands for lost letters: fonts number them downwards from 31."""
_DIFFERENCES: Final = re.compile(rb"/Differences\s*+\[([^\[\]]{1,20000}+)\]")
_ENTRY: Final = re.compile(rb"(\d{1,3})(?=[\s/])|/([^\s/\[\]<>()]+)")
_LETTERS: Final = re.compile(rb"[A-Za-z](?:_[A-Za-z]){1,3}")


class PageReading(NamedTuple):
    """What a page says: its text, and the remarks that have no spot in it."""

    text: str
    remarks: Sequence[Remark] = ()
    unknown: int = 0
    """How many of its characters are not known."""
    unseen: str = ""
    """Words that the page does not show."""
    is_out_of_order: bool = False
    """Whether its lines may be in a wrong order."""
    is_hidden: bool = False
    """Whether its text is drawn without ink."""
    complete: bool = True
    """Whether all its notes and form values were read."""
    lost: bool = False
    """Whether PDFium loses some of its glyphs."""
    is_plain: bool = False
    """Whether its words are in drawing order, and its tables have no rows."""
    labelled: Sequence[Remark] = ()
    """The values of fields whose author says what they are."""


def read_page(
    page: Any,
    remarks: Sequence[Remark] = (),
    has_layers_off: bool = False,
    *,
    known: KnownCells = NONE_KNOWN,
    is_plain: bool = False,
) -> PageReading:
    """The text of an open page as PDFium gives it, corrected by the positions of its characters.

    Remarks that have a spot are put into it, at the end of the line next to it. Where it `has_layers_off`, what gives
    no ink is not seen. With `is_plain` its words are in drawing order, and its tables have no rows.
    """
    textpage = pdfium.FPDFText_LoadPage(page)
    if not textpage:
        return PageReading("", remarks)
    page_content = page_text(textpage)
    if not page_content.characters:  # blank: there may be a hundred thousand of them
        pdfium.FPDFText_ClosePage(textpage)
        return PageReading("", remarks)
    page_content = defects.with_left_out(textpage, page_content)
    page_content = defects.with_ligatures(textpage, page_content)
    page_content = defects.with_raised_marks(textpage, page_content)
    lines = defects.line_beginnings(textpage, page_content)
    is_hidden = defects.is_hidden(textpage, lines)
    page_content, unseen = defects.part_unseen(page, textpage, page_content, lines, has_layers_off)
    text = page_content.text
    unknown = defects.count_in(textpage, page_content.characters)
    unknown = max(unknown, text.count(defects.UNKNOWN))
    if _NOT_OURS.search(text):
        text = _NOT_OURS.sub(" ", text)
        page_content = page_content._replace(text=text)
    is_out_of_order = defects.has_wrong_order(page, textpage, text)
    unplaced: list[Remark] = []
    if not is_plain:
        known = find_drawn_values(page, textpage, page_content, known)
    edits = [] if is_plain else layout_edits(page, textpage, page_content, known)
    spots = [] if is_plain else _doubtful(text)
    if remarks or edits or spots:
        layout = _Layout(textpage, page_content, edits)
        unplaced = layout.place(remarks)
        layout.mend(spots)
        text = layout.text()
    pdfium.FPDFText_ClosePage(textpage)
    if unseen:
        text = defects.without_blanks(text)
    return PageReading(text, unplaced, unknown, unseen, is_out_of_order, is_hidden)


def mend_text(
    text: str, lost: Mapping[str, str] = MappingProxyType({}), compounds: frozenset[str] = frozenset()
) -> str:
    r"""`text` with `\n` line ends, and with words that a hyphen splits at a line's end joined.

    `lost` maps characters that stand for others, `compounds` are those of the whole document.

    PDFium marks such a hyphen with U+FFFE or U+0002. It stays, as a hyphen, in a compound that occurs elsewhere in the
    document (`age-adjusted`), as one of several (`state-of-the-art`), after `non` in a document that writes it so,
    before a digit, and before a capital after a lower-case letter (`Anglo-American`).
    """
    text = text.replace("\r\n", "\n").replace(" \n", "\n").rstrip()
    if any(symbol in text for symbol in _SYMBOLS):
        text = _SYMBOL.sub("•", text)
    for character, lost_letters in lost.items():
        text = text.replace(character, lost_letters)
    if "\xad" in text:
        text = text.replace("\xad", "")
    if "\ufffe" not in text and "\x02" not in text:
        return text
    mend: list[str] = []
    for piece in _HYPHEN.split(text):
        if mend:
            halves = _halves(mend[-1], piece)
            if halves and (
                _is_compound(*halves, compounds) or _keeps_hyphen(*halves, text) or _is_in_chain(mend[-1], piece)
            ):
                mend.append("-")
        mend.append(piece)
    return "".join(mend)


def find_compounds(texts: Sequence[str]) -> frozenset[str]:
    """The hyphenated words inside the lines of a document's pages; empty if no line ends in a hyphen.

    If one ends in `non-`, also words that begin with `non` and have no hyphen.
    """
    if not any("\ufffe" in text or "\x02" in text for text in texts):
        return frozenset()
    compounds: set[str] = set()
    if any(split in text for text in texts for split in _NON):
        compounds.update(f"non{word}" for text in texts for word in _BEHIND_NON.findall(text))
    room = _MOST_HYPHENS
    for text in texts:
        pieces = text.split("-", room)
        room -= len(pieces) - 1
        compounds.update("-".join(halves) for pair in pairwise(pieces) if (halves := _halves(*pair)))
    return frozenset(compounds)


def split_parts(text: str) -> Iterator[tuple[str, bool]]:
    """The tables of a page's text and the text between them, in order, and whether each is a table."""
    for index, part in enumerate(_TABLE.split(text)):
        yield part, index % 2 == 1


def find_lost_letters(data: bytes) -> dict[str, str]:
    """What the control characters in a PDF's text stand for, according to the glyph names in its fonts.

    Those that stand for different letters in different fonts are left out.
    """
    letters: dict[str, set[str]] = {}
    contents = [data, *(item.content for item in find_packed(data))]
    for differences in (match.group(1) for content in contents for match in _DIFFERENCES.finditer(content)):
        code = 0
        for number, name in _ENTRY.findall(differences):
            if number:
                code = int(number)
                continue
            if code < 0x20 and _LETTERS.fullmatch(name):
                letters.setdefault(chr(code), set()).add(name.decode().replace("_", ""))
            code += 1
    return {character: choice.pop() for character, choice in letters.items() if len(choice) == 1}


def _halves(before: str, behind: str) -> tuple[str, str] | None:
    """The last word of a text and the first word of the next; None if either is missing."""
    left, right = _WORD.match(before[:-_LONGEST_WORD:-1]), _WORD.match(behind)
    return (left.group()[::-1], right.group()) if left and right else None


def _is_compound(left: str, right: str, compounds: frozenset[str]) -> bool:
    """Whether the document writes these two words, or other words after `non`, with a hyphen."""
    word = f"{left}-{right}"
    if word in compounds or word.lower() in compounds:
        return True
    if left.lower() != "non" or f"non{right.lower()}" in compounds:
        return False
    return any(compound[:4].lower() == "non-" for compound in compounds)


def _is_in_chain(before: str, behind: str) -> bool:
    """Whether a hyphen between two texts is one of several in a word."""
    return _IN_CHAIN.match(behind) is not None or _BEHIND_CHAIN.search(before, max(0, len(before) - 8)) is not None


def _keeps_hyphen(left: str, right: str, text: str) -> bool:
    return right[0].isdigit() or (right[0].isupper() and left[-1].islower()) or f"{left}-{right}" in text


def _doubtful(text: str) -> list[tuple[int, int]]:
    """Where a space may be missing, by the character before it, spaces that may be breaks, and false breaks."""
    spots = [(match.end() - 1, match.end()) for pattern in _ITEMS for match in pattern.finditer(text)]
    if any(bullet in text for bullet in _BULLETS):
        spots += ((match.start() - 1, match.start()) for match in _BULLET.finditer(text))
    spots += [match.span() for match in chain(_COMMA.finditer(text), _BREAK.finditer(text))]
    spots += ((match.start() - 1, match.start()) for match in _GLUED.finditer(text))
    return sorted(spots)[:_MOST_SPOTS]


class _Layout:
    """The text of a page, and the changes to it that the positions of its characters require."""

    def __init__(self, textpage: Any, page_content: PageText, edits: Sequence[Edit] = ()) -> None:
        self._textpage = textpage
        self._text = page_content.text
        self._wide = len(page_content.text) != page_content.units  # some characters are two units
        self._in_step = (
            page_content.units == page_content.characters
        )  # each of PDFium's characters is one unit, as on most pages
        self._edits = list(edits)
        self._replaced = sorted((start, end) for start, end, _ in edits)

    def place(self, remarks: Sequence[Remark]) -> list[Remark]:
        """Put remarks at the ends of the lines next to their spots; returns those without a line."""
        left: list[Remark] = []
        for remark in remarks:
            line = None if remark.spot is None else self._line_at(*remark.spot)
            if line is None and remark.field:
                line = self._line_at(remark.field[0], remark.field[3])  # a box of several lines below its label
            if line is None:
                left.append(remark)
            else:
                words = remark.text.strip()
                self._edits.append((line, line, ("\n" if "\n" in words else " ") + words))
        return left

    def mend(self, spots: Iterable[tuple[int, int]]) -> None:
        """Add spaces after commas and between words if the gap shows them, and remove breaks beside raised text.

        PDFium misses such spaces, and begins a line after `km²`. Before a bullet it may begin none.
        """
        doubts: list[tuple[int, int]] = []
        between: list[int] = []
        done = units = 0
        for start, end in spots:
            units += len(self._text[done:end].encode("utf-16-le")) // 2 if self._wide else end - done
            done = end
            if not self._is_replaced(start):
                doubts.append((start, end))
                before = 3 if end - start == 2 else 2 if self._text[start] == " " else 1
                between += units - before, units
        if not self._in_step:
            between = [document.character_at(self._textpage, unit) for unit in between]
        boxes = document.character_boxes(self._textpage, between)
        for (start, end), one, other in zip(doubts, boxes, boxes, strict=True):
            edit = self._mended(start, end, one, other)
            if edit is not None:
                self._edits.append(edit)

    def _mended(self, start: int, end: int, one: document.Box, other: document.Box) -> Edit | None:
        """The change at a spot between two characters, given their boxes; None if there is none."""
        (_, top, right, bottom), (left, next_top, _, next_bottom) = one, other
        height, lower = min(top - bottom, next_top - next_bottom), abs(bottom - next_bottom)
        if self._text[start] == " ":
            return (start, end, "\r\n") if lower > _NEXT_LINE * height > 0 and left < right else None
        if height <= 0 or bottom >= next_top or next_bottom >= top:
            return None
        gap = (left - right) / height
        if end - start > 1:
            return (start, end, "") if abs(gap) < _JOINED else None
        if self._text[start] != "," and (lower > 0.05 * height or gap < _WORDS):
            return None
        return (end, end, " ") if gap > _SPACE else None

    def text(self) -> str:
        """The text with all changes made."""
        pieces: list[str] = []
        done = 0
        for start, end, instead in sorted(self._edits, key=itemgetter(0)):
            pieces += self._text[done:start], instead
            done = max(done, end)
        return "".join((*pieces, self._text[done:]))

    def _is_replaced(self, at: int) -> bool:
        """Whether the character at `at` is one that the edits move or change."""
        index = bisect(self._replaced, (at, len(self._text))) - 1
        return index >= 0 and at < self._replaced[index][1]

    def _line_at(self, x: float, y: float) -> int | None:
        """The end of the line of the character next to a spot; None if there is none nearby."""
        near = pdfium.FPDFText_GetCharIndexAtPos(self._textpage, x, y, *_NEAR)
        unit = pdfium.FPDFText_GetTextIndexFromCharIndex(self._textpage, near) if near >= 0 else -1
        if unit < 0:
            return None
        at = len(self._text.encode("utf-16-le")[: 2 * unit].decode("utf-16-le", "ignore")) if self._wide else unit
        end = self._text.find("\r\n", at - 1 if self._text[at : at + 1] == "\n" else at)
        return len(self._text) if end < 0 else end


_STAMP: Final = 100
"""Characters that a scan may have as text: a running number or an envelope's name is stamped on many."""

_COVERED: Final = 0.7
"""The share of a stamped page that pictures cover if it is a scan."""

_OUTLINES: Final = 100
"""A page without text that has so many shapes may have its letters drawn."""

_LETTER: Final = (2.5, 16.0)
"""The heights in points between which a shape may be a letter, or a word, beside text."""

_CORNERS: Final = 8
"""Segments of such a shape at least: those of rules, bars, boxes and dots are fewer."""

_GLYPHS: Final = 20
"""Sizes of such shapes at least: icons and marks of charts are alike."""

_OF_SHAPES: Final = 2
"""How many of them there are at least for each character of the text."""

_MOST_OBJECTS: Final = 1_000
"""Objects of a page, and of each group of them, that are looked at."""

UNKNOWN: Final = "Characters that their fonts do not name are missing or may be wrong: {}."


class Scans:
    """Which pages need recognition: those that are pictures, and those that do not say what they draw."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._pictures: set[int] = set()
        self._kinds: dict[int, str] = {}
        self._unknown: list[int] = []

    def add(self, index: int, page: Any, text: str, values: str = "") -> None:
        """Record an open page if it is a scan; `text` is its text, in which some are the values of its fields."""
        characters = len("".join(clean(text).split())) - len("".join(values.split()))
        covered = _measure_pictures(page) if characters <= _STAMP else 0.0
        shapes = document.list_objects(page, (pdfium.FPDF_PAGEOBJ_PATH,), 0 if covered >= _COVERED else _MOST_OBJECTS)
        is_picture = covered >= _COVERED if characters else covered or len(shapes) >= _OUTLINES
        if is_picture or _are_letters(shapes, characters):
            self._pictures.add(index)

    def add_doubtful(self, index: int) -> None:
        """Record a page most of whose characters are unknown: what is recognised replaces them."""
        self._kinds[index] = DOUBTFUL_SCAN

    def is_doubtful(self, index: int) -> bool:
        """Whether most characters of a page are unknown."""
        return self._kinds.get(index) == DOUBTFUL_SCAN

    def add_hidden(self, index: int, page: Any) -> None:
        """Record an open page with hidden text if pictures cover it: some are compared with what is recognised."""
        if index not in self._pictures and _measure_pictures(page) >= _COVERED:
            self._kinds[index] = HIDDEN_SCAN

    def add_unknown(self, index: int) -> None:
        """Warn about a page with some unknown characters."""
        self._unknown.append(index + 1)

    @contextmanager
    def around(self, index: int) -> Iterator[None]:
        """What is written in the block is the page's text."""
        kind = self._kinds.get(index)
        with self._writer.place(kind, str(index + 1)) if kind else nullcontext():
            yield
        if index in self._pictures:
            self._writer.picture(index + 1)

    def warn(self) -> None:
        """Warn about the pages with some unknown characters."""
        if self._unknown:
            self._writer.warn(UNKNOWN.format(page_numbers(self._unknown)))


def _are_letters(shapes: Sequence[tuple[Any, document.Box]], characters: int) -> bool:
    """Whether many of a page's shapes may be its letters, drawn as outlines or by hand, beside so much text."""
    least = max(_OUTLINES, _OF_SHAPES * characters)
    low, high = _LETTER
    sizes = [
        (round(right - left, 1), round(top - bottom, 1))
        for path, (left, top, right, bottom) in (shapes if len(shapes) >= least else ())
        if low < top - bottom < high and document.count_segments(path) >= _CORNERS
    ]
    return len(sizes) >= least and len(set(sizes)) >= _GLYPHS


def _measure_pictures(page: Any) -> float:
    """The share of the page that pictures cover."""
    kinds = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM)
    covered = 0.0
    for item, (left, top, right, bottom) in document.list_objects(page, kinds, _MOST_OBJECTS):
        if _is_picture(item):
            covered += (right - left) * (top - bottom)
    return covered / (pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page) or 1)


def _is_picture(item: Any, deepest: int = 4) -> bool:
    """Whether an object is a picture, or a form with one, directly or in forms within it, down to `deepest` levels."""
    kind = document.object_kind(item)
    if kind == pdfium.FPDF_PAGEOBJ_FORM and deepest:
        return any(_is_picture(inner, deepest - 1) for inner in document.objects_in_form(item, _MOST_OBJECTS))
    return bool(kind == pdfium.FPDF_PAGEOBJ_IMAGE)
