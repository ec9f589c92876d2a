"""The words of WordprocessingML, scanned as bytes: one pattern over the tags that matter, no tree.

Expects the form that `canonical` returns. Only formulas, which are rare and structured, are cut out and passed to lxml.
Time is linear in the bytes, whatever the document does: each byte is looked at a bounded number of times, and nothing
recurses.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final, Protocol

from tasks.reading import text_writer
from tasks.reading.docx.layout import CLOSING, PARAGRAPH, Layout, Marks
from tasks.reading.docx.numbering import ListCounter, ParagraphNumbers
from tasks.reading.docx.styles import (
    DELETED_WORDS,
    FORMULA_END,
    LEFT_OUT,
    TAGS,
    StyleFacts,
    chosen_entry,
    has_header_row,
    hexadecimal,
    is_on,
    is_ticked,
    symbol,
)
from tasks.reading.ooxml import drawings, xml
from tasks.reading.ooxml.drawings import alternative_text, alternative_words, is_decorative

_CHARACTERS: Final = {
    "paragraph_end": PARAGRAPH,
    "paragraph": PARAGRAPH,  # before one there may be runs outside any
    "tab": b"\t",
    "ptab": b"\t",
    "br": b"\n",
    "cr": b"\n",
    "hyphen": b"-",
    "drawn_br": b"\n",
}
_EMPTY_END: Final = re.compile(rb"</w:(?:ins|moveTo)\s*+>")
_EMPTY_DELETION: Final = re.compile(rb"\s*+</w:(?:del|moveFrom)\s*+>")
_END_OF_ROW_PROPERTIES: Final = re.compile(rb"\s*+(?:</w:del\s*+>\s*+)?+<(?:/w:trPr\s*+>|w:trPrChange[\s>])")
_END_OF_PARAGRAPH: Final = re.compile(
    rb"(?:(?!</?w:(?:p|r|pPr)[\s/>]).)*?</w:rPr\s*+>(?:(?!<w:[pr][\s/>]).)*?</w:pPr\s*+>", re.DOTALL
)
"""What stands behind the mark, among the properties of a paragraph, that its end was deleted."""
_PARAGRAPH_END: Final = re.compile(rb"</w:p\s*+>")
_LONGEST_PROPERTIES: Final = 4_000
_WINDOW: Final = 1 << 20  # bytes whose words are held before they become lines; it ends where a paragraph begins
_MOST_FORMULAS: Final = 100_000  # that are read with their shape, at 20 µs each; of others come the words alone


class PartContext(Protocol):
    """What surrounds a part: the scan asks for it where the part refers to it."""

    @property
    def marks(self) -> Marks:
        """The places of the document."""

    @property
    def styles(self) -> Mapping[bytes, StyleFacts | None]:
        """The facts about styles, by id."""

    def note(self, kind: str, name: str) -> list[str]:
        """The lines of a note (kind: `footnotes`, `endnotes`, `comments`) by its id; empty the second time."""

    def drawing(self, part: str, name: str) -> Iterable[str]:
        """The lines of the chart or diagram that `part` refers to by the relationship with that id."""

    def chunk(self, part: str, name: str) -> list[str]:
        """The lines of a document that is shown as part of this one, by the id of its relationship."""

    def note_deletion(self, rest: bytes) -> None:
        """Record that words were left out which somebody deleted with tracked changes; `rest` is
        the rest of the tag.
        """


class Scan:
    """One pass over a part, for which `context` provides what the part refers to.

    With `headings` it also looks for these; with `counter` it writes the numbers of lists.
    """

    def __init__(
        self,
        data: bytes,
        part: str,
        context: PartContext,
        *,
        headings: bool = False,
        counter: ListCounter | None = None,
    ) -> None:
        self._data = data
        self._end = len(data)
        self._part = part
        self._context = context
        self._headings = headings
        self._counter = counter
        self._numbers: ParagraphNumbers | None = None
        self._styles = context.styles if headings or counter is not None else None
        self._layout = Layout(context.marks)
        self._formulas = 0
        self._insertions = 0
        self._description = ""

    def run(self, start: int = 0, end: int | None = None) -> Layout:
        """The lines between the bytes `start` and `end` (default: of the whole part)."""
        if end is not None:
            self._end = end
        if self._counter is not None:
            self._numbers = ParagraphNumbers(self._data, self._end, self._counter)
        at, stop = start, start
        while at < self._end:
            if at >= stop:
                if stop > start:
                    self._layout.flush()
                stop = self._window_end(at)
            at = self._run(at, stop)
        self._layout.finish()
        return self._layout

    def _window_end(self, at: int) -> int:
        at += _WINDOW
        if at >= self._end:
            return self._end
        for beginning in (b"<w:p ", b"<w:p>", b"<"):
            end = self._data.find(beginning, at, min(at + _WINDOW, self._end))
            if end >= 0:
                return end
        return self._end

    def _run(self, start: int, stop: int) -> int:
        """Read from `start` up to `stop`, or to something that is left out. Returns where that ends."""
        layout = self._layout
        words = layout.words
        styles = self._styles
        for tag in TAGS.finditer(self._data, start, stop):
            kind = tag.lastgroup
            if kind == "text":
                words.append(tag[1])
            elif kind == "last":
                words.append(tag[1])
                words.append(PARAGRAPH)
            elif kind in _CHARACTERS:
                words.append(_CHARACTERS[kind])
            elif kind == "style":
                if styles is not None:
                    facts = styles[tag["style"]]
                    if facts is not None:
                        self._style(facts, tag)
            else:
                assert kind is not None, "each branch ends in a group"
                behind = self._HANDLERS[kind](self, kind, tag)
                if behind is not None:
                    return behind
                words = layout.words
        return stop

    def _style(self, facts: StyleFacts, tag: re.Match[bytes]) -> None:
        if facts.heading and self._headings:
            self._layout.mark_heading()
        if facts.number is not None and self._numbers is not None:
            number = self._numbers.by_style(facts.number, tag.end())
            if number is not None:
                self._layout.number(number)

    def _number(self, _: str, tag: re.Match[bytes]) -> None:
        if self._numbers is not None:
            number = self._numbers.own(tag["number"], tag.end())
            if number is not None:
                self._layout.number(number)
            elif self._numbers.is_full:
                self._numbers = None

    def _starts(self, kind: str, tag: re.Match[bytes]) -> None:
        closed = not self._data.startswith(b">", tag.end()) and self._rest(tag).endswith(b"/>")
        self._layout.start(kind, closed=closed)

    def _ends(self, kind: str, _: re.Match[bytes]) -> None:
        self._layout.end(kind)

    def _table(self, _: str, tag: re.Match[bytes]) -> None:
        if not self._rest(tag).endswith(b"/>"):
            self._layout.start_table(header_row=has_header_row(self._data, tag.end(), self._context.styles))

    def _table_end(self, _: str, __: re.Match[bytes]) -> None:
        self._layout.end_table()

    def _repeat(self, _: str, tag: re.Match[bytes]) -> None:
        if is_on(xml.attribute(self._rest(tag), b"w:val")):
            self._layout.repeat_row()

    def _level(self, _: str, tag: re.Match[bytes]) -> None:
        if self._headings and "0" <= xml.attribute(self._rest(tag), b"w:val") < "9":
            self._layout.mark_heading()

    def _columns(self, _: str, tag: re.Match[bytes]) -> None:
        columns = xml.attribute(self._rest(tag), b"w:val")
        if columns.isdecimal() and len(columns) < 4:
            self._layout.leave_columns(int(columns))

    def _symbol(self, _: str, tag: re.Match[bytes]) -> None:
        rest = self._rest(tag)
        character = symbol(xml.attribute(rest, b"w:font"), hexadecimal(xml.attribute(rest, b"w:char")))
        self._layout.words.append(xml.escape(character))

    def _checkbox(self, _: str, tag: re.Match[bytes]) -> None:
        self._layout.words.append("☒".encode() if is_ticked(self._data, tag.end()) else "☐".encode())

    def _choice(self, _: str, tag: re.Match[bytes]) -> None:
        self._layout.words.append(chosen_entry(self._data, tag.end(), self._end))

    def _note(self, kind: str, tag: re.Match[bytes]) -> None:
        lines = self._context.note(kind, xml.attribute(self._rest(tag), b"w:id"))
        if lines:
            self._layout.below(lines)

    def _drawing(self, kind: str, tag: re.Match[bytes]) -> None:
        name = xml.attribute(self._rest(tag), b"r:dm" if kind == "diagram" else b"r:id")
        self._layout.below(self._context.drawing(self._part, name))

    def _chunk(self, _: str, tag: re.Match[bytes]) -> None:
        self._layout.here(self._context.chunk(self._part, xml.attribute(self._rest(tag), b"r:id")))

    def _textpath(self, _: str, tag: re.Match[bytes]) -> None:
        self._layout.below([xml.attribute(self._rest(tag), b"string")])

    def _picture(self, _: str, tag: re.Match[bytes]) -> None:
        """Take the alternative text of a drawing, unless its properties mark it as decorative."""
        rest = self._rest(tag)
        self._description = alternative_text(rest)
        if self._description:
            end = self._data.find(b"</wp:docPr>", tag.end(), tag.end() + _LONGEST_PROPERTIES)
            below = self._data[tag.end() : max(tag.end(), end)]
            if rest.endswith(b"/>") or not is_decorative(below):
                self._describe(self._description)

    def _inner_picture(self, _: str, tag: re.Match[bytes]) -> None:
        """Take the alternative text of a picture in a drawing, unless it repeats the drawing's, as it usually does."""
        rest = self._rest(tag)
        if b"descr" in rest and (words := alternative_text(rest)) != self._description:
            self._describe(words)

    def _shape(self, _: str, tag: re.Match[bytes]) -> None:
        rest = self._rest(tag)
        if b"alt" in rest:
            self._describe(alternative_words(xml.attribute(rest, b"alt")))

    def _describe(self, words: str) -> None:
        if words:
            self._layout.below(self._context.marks.around(text_writer.ALTERNATIVE_TEXT, "", [words]))

    def _insert(self, _: str, tag: re.Match[bytes]) -> int | None:
        rest = self._rest(tag)
        if rest.endswith(b"/>"):  # the end of a paragraph was inserted, or a row
            return None
        empty = _EMPTY_END.match(self._data, tag.end() + len(rest))
        if empty is not None:  # the same, written at length
            return empty.end()
        opening = self._context.marks.opening(text_writer.INSERTED, text_writer.make_label(*signature(rest)))
        if opening:
            self._insertions += 1
            self._layout.mark(opening)
        return None

    def _end_insert(self, _: str, __: re.Match[bytes]) -> None:
        if self._insertions:
            self._insertions -= 1
            self._layout.mark(CLOSING)

    def _leave_out(self, kind: str, tag: re.Match[bytes]) -> int | None:
        """Leave out what was deleted or moved away, and earlier states."""
        rest = self._rest(tag)
        if kind == "del" and _END_OF_ROW_PROPERTIES.match(self._data, tag.end() + len(rest)) is not None:
            self._delete_row(rest, tag.end())
        if rest.endswith(b"/>"):
            self._delete_end(tag.end())
            return None
        if (empty := _EMPTY_DELETION.match(self._data, tag.end() + len(rest))) is not None:
            self._delete_end(empty.end())
            return empty.end()
        depth, behind = 0, self._end
        for other in LEFT_OUT[kind].finditer(self._data, tag.start(), self._end):
            depth += -1 if other[1] else 0 if other[2].endswith(b"/") else 1
            if depth <= 0:
                behind = other.end()
                break
        if kind in ("del", "moveFrom") and DELETED_WORDS.search(self._data, tag.end(), behind):
            self._context.note_deletion(rest)
        return behind

    def _delete_end(self, at: int) -> None:
        """Note the deletion of a paragraph's end; the mark in the paragraph's properties ends before `at`."""
        properties = _END_OF_PARAGRAPH.match(self._data, at, min(at + _LONGEST_PROPERTIES, self._end))
        end = _PARAGRAPH_END.search(self._data, properties.end(), self._end) if properties is not None else None
        if end is not None:
            self._layout.delete_end(parted=not self._data.startswith(b"<w:p", end.end()))

    def _delete_row(self, rest: bytes, at: int) -> None:
        """Note the deletion of the row whose properties end here, even if its words are not marked as deleted."""
        self._layout.delete_row()
        end = self._data.find(b"</w:tr>", at, self._end)
        if DELETED_WORDS.search(self._data, at, end if end >= 0 else self._end):
            self._context.note_deletion(rest)

    def _draw(self, _: str, tag: re.Match[bytes]) -> None:
        self._layout.words.append(tag["drawn"])

    def _formula(self, _: str, tag: re.Match[bytes]) -> int | None:
        rest = self._rest(tag)
        if rest.endswith(b"/>"):
            return None
        end = FORMULA_END.search(self._data, tag.end(), self._end)
        behind = self._end if end is None else end.end()
        self._formulas += 1
        words_of = drawings.formula_words if self._formulas < _MOST_FORMULAS else drawings.flat_formula_words
        self._layout.words += words_of(self._data, tag.start(), behind)
        return behind

    def _rest(self, tag: re.Match[bytes]) -> bytes:
        return xml.read_tag_rest(self._data, tag.end())

    _HANDLERS: ClassVar[dict[str, Callable[["Scan", str, re.Match[bytes]], int | None]]] = {
        **dict.fromkeys(("row", "cell", "box", "drawn_paragraph"), _starts),
        **dict.fromkeys(("row_end", "cell_end", "box_end", "drawn_end"), _ends),
        **dict.fromkeys(("footnotes", "endnotes", "comments"), _note),
        **dict.fromkeys(("chart", "diagram"), _drawing),
        **dict.fromkeys(("ins", "moveTo"), _insert),
        **dict.fromkeys(LEFT_OUT, _leave_out),
        **dict.fromkeys(("ins_end", "moveTo_end"), _end_insert),
        "picture": _picture,
        "inner_picture": _inner_picture,
        "shape": _shape,
        "number": _number,
        "table": _table,
        "table_end": _table_end,
        "repeated": _repeat,
        "level": _level,
        "columns": _columns,
        "symbol": _symbol,
        "checkbox": _checkbox,
        "choice": _choice,
        "chunk": _chunk,
        "textpath": _textpath,
        "formula": _formula,
        "drawn": _draw,
    }


def signature(rest: bytes) -> tuple[str, str]:
    """Author and date of a change."""
    return xml.attribute(rest, b"w:author"), xml.attribute(rest, b"w:date")
