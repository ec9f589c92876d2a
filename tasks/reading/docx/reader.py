"""Word documents: body, headers, footers, notes, comments, text boxes, charts, diagrams, formulas.

Notes, comments, text boxes, drawings and alternative texts follow the paragraph (in a table, the row) that they belong
to; headers come first, footers last. Headings are recognised by their style, and the numbers of lists are put in front,
as Word shows them. Deleted text is left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import chain
from typing import Final

from tasks.errors import Damaged
from tasks.language.normalise import one_line
from tasks.reading import text_writer
from tasks.reading.docx.layout import Marks, drop_marks
from tasks.reading.docx.numbering import ListCounter, Numbering
from tasks.reading.docx.scan import Scan, signature
from tasks.reading.docx.styles import SIGNS_IN_STYLES, Styles, UnseenWords, may_lie_behind, with_raised_marks
from tasks.reading.html.reader import read_lines
from tasks.reading.mail.eml import page_in
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.drawings import Drawings
from tasks.reading.ooxml.package import EMBEDDED_KINDS, EMBEDDED_LIMIT, Package, attach_embedded, read_package
from tasks.reading.text_writer import Reading, Source, Writer

_ROOT: Final = re.compile(rb"<w:document(?=[\s/>])")
_NUMBER_FIELD: Final = re.compile(
    rb"<w:instrText(?:\s[^<>]*+)?>\s*+(?:LISTNUM|AUTONUM(?:LGL|OUT)?+)(?=[\s<\"&\\])[^<]*+</w:instrText\s*+>"
)
"""Word keeps what such a field shows nowhere (ISO/IEC 29500-1, 17.16.5); some programs do."""

_LONGEST_FIELD: Final = 1 << 16
_Note = tuple[str, bytes, bytes]
"""The part that it stands in, the rest of its tag, and its content."""

_NOTE_TAG: Final = re.compile(
    rb"""<w:(?:footnote|endnote|comment)(?=[\s>])(?:(?=\sw:id=["']([^"'<&]*+)["'])|)(%b)(?<!/)>""" % xml.ATTRIBUTES
)
_MOST_KEPT: Final = 500_000
"""Of one part; the last one holds the words of all that follow. Each takes 300 bytes besides its words."""

_DEEPEST_NOTE: Final = 8
"""Notes may refer to notes, in hostile files endlessly; what lies deeper is written at the end."""

_KINDS_OF_NOTES: Final = {
    "footnotes": text_writer.FOOTNOTE,
    "endnotes": text_writer.ENDNOTE,
    "comments": text_writer.COMMENT,
}
_MOST_NAMED: Final = 10
"""So many of those who deleted something are named."""

_MOST_DELETIONS: Final = 10_000


def read(source: Source) -> Reading:
    """The text of the document in `source`, with its headings as places.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return read_package(_Document, source)


def _number_fields(data: bytes) -> int:
    """The number of fields in a part that show a number without storing it; most parts have no fields at all."""
    if not xml.holds(data, b"<w:instrText") or not (xml.holds(data, b"LISTNUM") or xml.holds(data, b"AUTONUM")):
        return 0
    missing = 0
    for field in _NUMBER_FIELD.finditer(data):
        end = data.find(b'fldCharType="end"', field.end(), field.end() + _LONGEST_FIELD)
        missing += data.find(b'fldCharType="separate"', field.end(), max(end, field.end())) < 0
    return missing


_PROMPT: Final = re.compile(
    rb"""(<w:showingPlcHdr\s*+(?:w:val="(?:1|true|on)"\s*+)?/>(?:(?!<w:sdt[\s>]|<w:sdtContent[\s/>]).){0,4000}?<w:sdtContent>)"""
    rb"((?:(?!</?w:sdt[\s>]|</w:sdtContent>).)*+)",
    re.DOTALL,
)
_PLAIN_WORDS: Final = re.compile(rb"(<w:t(?:\s[^<>]*+)?>)([^<]*+)(?=</w:t>)")


def _without_prompts(data: bytes) -> bytes:
    """A part without the words of fields that only show their prompt (`w:showingPlcHdr`, ISO/IEC
    29500-1, 17.5.2.39).
    """
    if not xml.holds(data, b"<w:showingPlcHdr"):
        return data
    return _PROMPT.sub(lambda match: match[1] + _PLAIN_WORDS.sub(rb"\1", match[2]), data)


class _Document:
    """One pass over the parts of a document; gives its scans the surrounding data that they need."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self.marks = Marks()
        self._package = package
        self._drawings = Drawings(package)
        self._parts: defaultdict[str, dict[str, None]] = defaultdict(dict)  # by kind, each once and in order
        self._notes = _Notes()
        self._note_depth = 0
        self._note_counters: dict[str, ListCounter | None] = {}
        self._embedded: list[str] = []
        self._has_hidden = False
        self._deletions: dict[str, None] = {}
        load = partial(
            _scan_parts, package, self._parts
        )  # which does not refer to this, so that memory is free at once
        self._numbering = Numbering(partial(load, "numbering"))
        self.styles = Styles(partial(load, "styles"))
        self._unseen = UnseenWords(self.styles, partial(_has_background, package, self._parts))

    def write(self) -> None:
        main = self._package.main_part("word/document.xml")
        data = self._package.scan(main)
        if _ROOT.match(data) is None:
            raise Damaged("The file holds no Word document. Ask for it again, or give it the ending of its format.")
        for related in self._package.relationships(main):
            self._parts[related.kind][related.target] = None
            if related.kind in EMBEDDED_KINDS:
                self._embedded.append(related.target)
        data = self._read_visible(data)
        if "numbering" in self._parts:
            self.styles.in_lists = self._numbering.names_style
        for kind in [kind for kind in self._parts if kind in _KINDS_OF_NOTES]:
            for part in self._parts[kind]:
                self._notes.collect(kind, part, self._scan(part))
        self._write_parts("header", text_writer.HEADER)
        self._write_body(data, main)
        self._write([line for kind, notes in self._notes.left() for line in self._write_notes(kind, notes)])
        self._write_parts("footer", text_writer.FOOTER)
        self._warn_about_deletions()
        attach_embedded(self._package, self._embedded, self.writer)

    def note(self, kind: str, name: str) -> list[str]:
        """The lines of the notes with that id, on the first call; careless programs use one id for several."""
        if self._note_depth >= _DEEPEST_NOTE:
            return []
        return self._write_notes(kind, self._notes.take(kind, name))

    def _write_notes(self, kind: str, notes: Iterable[_Note]) -> list[str]:
        lines: list[str] = []
        for note in notes:
            own = self._write_note(kind, note)
            if kind == "comments":
                words = one_line(drop_marks(" ".join(own)))
                if words:
                    author, date = signature(note[1])
                    mark = text_writer.comment_mark(author, date, words)
                    lines += self.marks.around(text_writer.COMMENT, text_writer.make_label(author, date), [mark])
            else:
                lines += self.marks.around(_KINDS_OF_NOTES[kind], "", own)
        return lines

    def _write_note(self, kind: str, note: _Note) -> list[str]:
        part, _, content = note
        if kind not in self._note_counters:
            self._note_counters[kind] = self._counter()
        counter = self._note_counters[kind]
        self._note_depth += 1
        lines = Scan(content, part, self, counter=counter).run().lines
        self._note_depth -= 1
        return lines

    def drawing(self, part: str, name: str) -> list[str]:
        """The lines of the chart or diagram to which `part` refers by that id."""
        return self._drawings.lines(part, name)

    def chunk(self, part: str, name: str) -> list[str]:
        """The lines of the HTML page to which `part` refers by that id; other documents are left for others to read."""
        target = next((item.target for item in self._package.relationships(part) if item.id == name), "")
        data = self._package.attachment(target, EMBEDDED_LIMIT) if target in self._embedded else None
        if data is None:
            return []
        page = page_in(target, data)
        if page is None:
            return []
        self._embedded = [embedded for embedded in self._embedded if embedded != target]
        return read_lines(page)

    def note_deletion(self, rest: bytes) -> None:
        """Note that words deleted with tracked changes are left out; the rest of the tag says by whom and when."""
        if len(self._deletions) < _MOST_DELETIONS:
            self._deletions[text_writer.make_label(*signature(rest))] = None

    def _write_body(self, data: bytes, main: str) -> None:
        if missing := _number_fields(data):
            self.writer.warn(f"Numbers that Word works out in fields (LISTNUM, AUTONUM) are missing: {missing}.")
        layout = Scan(data, main, self, headings=True, counter=self._counter()).run()
        with self.writer.place(text_writer.BODY, ""):
            start = 0
            for heading in layout.headings:
                self._write(layout.lines[start:heading])
                self.writer.heading(drop_marks(xml.UNSEEN_WORDS.sub("", layout.lines[heading])))
                start = heading
            self._write(layout.lines[start:])
            self.writer.end_heading()

    def _counter(self) -> ListCounter | None:
        """A counter for one story; None if the document has no lists."""
        return ListCounter(self._numbering, self.styles) if "numbering" in self._parts else None

    def _warn_about_deletions(self) -> None:
        named = [label for label in self._deletions if label]
        names = "; ".join(named[:_MOST_NAMED])
        if len(named) > _MOST_NAMED:
            names += f"; and {len(named) - _MOST_NAMED} more"
        if self._deletions:
            self.writer.warn(f"Deleted text was left out{f' ({names})' if names else ''}.")

    def _write_parts(self, kind: str, place: str) -> None:
        for part in self._parts[kind]:
            with self.writer.place(place, ""):
                self._write(Scan(self._scan(part), part, self, counter=self._counter()).run().lines)

    def _scan(self, part: str) -> bytes:
        """A part other than the main one; also notes the documents embedded in it."""
        data = self._read_visible(self._package.scan(part))
        if b" r:id=" in data:
            related = self._package.relationships(part)
            self._embedded += [item.target for item in related if item.kind in EMBEDDED_KINDS]
        return data

    def _read_visible(self, part: bytes) -> bytes:
        """A part without prompts, with its raised marks told apart and its hidden words marked."""
        part = with_raised_marks(_without_prompts(part), self.styles)
        told_apart = self._unseen.mark(part, self._hiding_styles)
        self._has_hidden = self._has_hidden or told_apart != part
        return told_apart

    @cached_property
    def _hiding_styles(self) -> list[bytes]:
        """The styles that hide their words; few documents have any, and the others need not be scanned for them."""
        parts = [self._package.attachment(part, EMBEDDED_LIMIT) or b"" for part in self._parts["styles"]]
        return self.styles.hiding if any(xml.holds(part, sign) for part in parts for sign in SIGNS_IN_STYLES) else []

    def _write(self, lines: list[str]) -> None:
        if self._has_hidden:
            lines = list(chain.from_iterable(map(self._with_hidden_below, lines)))
        if lines:
            self.marks.write("\n".join(lines), self.writer)

    def _with_hidden_below(self, line: str) -> Iterator[str]:
        """A line, followed by those of its words that are hidden."""
        hidden = one_line("".join(xml.UNSEEN_WORDS.findall(line)))
        shown = xml.UNSEEN_WORDS.sub("", line)
        if not hidden or drop_marks(shown).strip():
            yield shown
        if hidden:
            self.writer.warn(
                "Hidden words of the document are listed separately, marked as hidden, and are not evidence."
            )
            yield from self.marks.around(text_writer.UNSEEN, "", [text_writer.unseen_mark(hidden)])


class _Notes:
    """The notes of one document by their ids, each kept until it is referred to.

    There may be hundreds of thousands: a part is split in one go, into objects that the garbage collector soon stops
    tracking.
    """

    def __init__(self) -> None:
        self._first: dict[str, dict[str, _Note]] = {}  # by kind and id
        self._namesakes: defaultdict[tuple[str, str], list[_Note]] = defaultdict(list)  # of an id that others have

    def collect(self, kind: str, part: str, data: bytes) -> None:
        """Store the notes of a part."""
        pieces = _NOTE_TAG.split(data, _MOST_KEPT)
        kept = self._first.setdefault(kind, {})
        has_separators = xml.holds(data, b"eparator")
        for quick_name, tag, content in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            if has_separators and b"eparator" in tag and b"<w:t" not in content:  # the line above the notes
                continue
            name = xml.attribute(tag, b"w:id") if quick_name is None else quick_name.decode("utf-8", "replace")
            note = part, tag, content
            if kept.setdefault(name, note) is not note:  # careless programs give one id to several
                self._namesakes[kind, name].append(note)

    def take(self, kind: str, name: str) -> list[_Note]:
        """The notes with that id, on the first call."""
        first = self._first[kind].pop(name, None) if kind in self._first else None
        if first is None:
            return []
        return [first, *self._namesakes.pop((kind, name))] if (kind, name) in self._namesakes else [first]

    def left(self) -> Iterator[tuple[str, list[_Note]]]:
        """The notes of each id that was not taken, with their kind; others may be taken meanwhile."""
        for kind, notes in self._first.items():
            for name in list(notes):
                yield kind, self.take(kind, name)


def _scan_parts(package: Package, parts: Mapping[str, Iterable[str]], kind: str) -> bytes:
    return b"".join(package.scan(part) for part in parts[kind])


def _has_background(package: Package, parts: Mapping[str, Iterable[str]]) -> bool:
    """Whether pictures or a colour may lie behind the words of all pages."""
    around = [package.main_part("word/document.xml"), *parts["header"]]
    return any(may_lie_behind(package.attachment(part, EMBEDDED_LIMIT) or b"") for part in around)
