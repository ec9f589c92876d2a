"""Word documents: body, headers, footers, notes, comments, text boxes, charts, diagrams, formulas.

Notes, comments, text boxes and drawings come after the paragraph (in a table, the row) that they belong to; headers
stand first, footers last. Paragraphs are headings by their style.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from tasks.documents.extract import fallback
from tasks.documents.extract.docx.scan import Scan
from tasks.documents.extract.ooxml import xml
from tasks.documents.extract.ooxml.drawings import Drawings
from tasks.documents.extract.ooxml.package import CUT_OFF, EMBEDDED_KINDS, Package, attach_embedded
from tasks.documents.extract.ooxml.xml import ATTRIBUTES
from tasks.documents.extract.text_writer import NO_TEXT, Reading, Source, Writer
from tasks.errors import Damaged
from tasks.text.normalise import one_line

_HEADINGS: Final = re.compile(rb"Heading[1-9]|Title")
_OTHERS: Final = re.compile(rb"Normal|NormalWeb|NoSpacing|ListParagraph|Header|Footer|TOC[1-9]")
"""Word's own styles: with what is known of them, 18 of 142 public documents need to have their styles inflated."""

_STYLE: Final = re.compile(rb"""<w:style(?=\s)[^<]*?\sw:styleId\s*=\s*["']([^"'<]*+)""")

_FACT: Final = re.compile(rb"""<(?:w:(name|basedOn|outlineLvl)\s++w:val\s*+=\s*+["']([^"'<]*+)|/w:style\s*+>)""")

_MOST_BASES: Final = 20
"""Styles may be based on each other in a circle."""

_ROOT: Final = re.compile(rb"<w:document(?=[\s/>])")
_NOTE: Final = re.compile(rb"<w:(?:footnote|endnote|comment)(?=[\s>])(%b)(?<!/)>" % ATTRIBUTES)
_DEEPEST_NOTE: Final = 8
"""Notes may refer to notes, in hostile files endlessly; what lies deeper is written at the end."""

_NOTES: Final = ("footnotes", "endnotes", "comments")


def read(source: Source) -> Reading:
    """The text of the document in `source`, by heading.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return fallback.read_or_fall_back(_read, FALLBACK, source)


def _read(source: Source) -> Reading:
    with Package(source) as package:
        document = _Document(package)
        document.write()
        if package.damaged:
            document.writer.warn(CUT_OFF)
        if not document.writer.written:
            document.writer.warn(NO_TEXT)
        return document.writer.reading()


class _Document:
    """One pass over the parts of a document; for its scans, what stands round them."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self._package = package
        self._drawings = Drawings(package)
        self._headings = HeadingStyles(self._styles)
        self._parts: defaultdict[str, dict[str, None]] = defaultdict(dict)  # by kind, each once and in order
        self._notes: dict[tuple[str, str], list[tuple[bytes, str, int, int]]] = {}
        self._note_depth = 0
        self._embedded: list[str] = []

    def write(self) -> None:
        main = self._package.main_part("word/document.xml")
        data = self._package.scan(main)
        if _ROOT.match(data) is None:
            raise Damaged("The file holds no Word document. Ask for it again, or give it the ending of its format.")
        for related in self._package.relationships(main):
            self._parts[related.kind][related.target] = None
            if related.kind in EMBEDDED_KINDS:
                self._embedded.append(related.target)
        for kind in [kind for kind in self._parts if kind in _NOTES]:
            for part in self._parts[kind]:
                self._collect(kind, part)
        self._write_parts("header")
        layout = Scan(data, main, self, headings=True).run()
        start = 0
        for heading in layout.headings:
            self._write(layout.lines[start:heading])
            self.writer.heading(layout.lines[heading])
            start = heading
        self._write(layout.lines[start:])
        self.writer.end_heading()
        for kind, name in list(self._notes):
            self._write(self.note(kind, name))
        self._write_parts("footer")
        attach_embedded(self._package, self._embedded, self.writer)

    def note(self, kind: str, name: str) -> list[str]:
        """The lines of the notes of that id, the first time; careless programs give one id to several."""
        if (kind, name) not in self._notes or self._note_depth >= _DEEPEST_NOTE:
            return []
        self._note_depth += 1
        lines: list[str] = []
        for data, part, start, end in self._notes.pop((kind, name)):
            lines += Scan(data, part, self).run(start, end).lines
        self._note_depth -= 1
        return lines

    def drawing(self, part: str, name: str) -> list[str]:
        """The lines of the chart or diagram to which `part` refers by that id."""
        return self._drawings.lines(part, name)

    def is_heading(self, style: bytes) -> bool:
        """Whether paragraphs of that style are headings."""
        return style in self._headings

    def _styles(self) -> bytes:
        return b"".join(map(self._package.scan, self._parts["styles"]))

    def _collect(self, kind: str, part: str) -> None:
        """Keep the notes of a part by id, to be written where they are referred to."""
        data = self._scan(part)
        notes = list(_NOTE.finditer(data))
        ends = [note.start() for note in notes[1:]] + [len(data)]
        for note, end in zip(notes, ends, strict=False):
            if b"eparator" in note[1] and data.find(b"<w:t", note.end(), end) < 0:  # the line above the notes
                continue
            key = kind, xml.attribute(note[1], b"w:id")
            self._notes.setdefault(key, []).append((data, part, note.end(), end))

    def _write_parts(self, kind: str) -> None:
        for part in self._parts[kind]:
            self._write(Scan(self._scan(part), part, self).run().lines)

    def _scan(self, part: str) -> bytes:
        """A part other than the main one, after a look for documents inside it."""
        data = self._package.scan(part)
        if b" r:id=" in data:
            related = self._package.relationships(part)
            self._embedded += [item.target for item in related if item.kind in EMBEDDED_KINDS]
        return data

    def _write(self, lines: list[str]) -> None:
        if lines:
            self.writer.line("\n".join(lines))


class HeadingStyles:
    """The styles of a document, which `load` gives as scanners take them, once somebody asks for one."""

    def __init__(self, load: Callable[[], bytes]) -> None:
        self._load = load
        self._data: bytes | None = None
        self._starts: dict[bytes, int] = {}
        self._known: dict[bytes, bool] = {}

    def __contains__(self, style: bytes) -> bool:
        """Whether the style of that id makes a heading, by its name or level or by those of what it is based on."""
        heading = self._known.get(style)
        if heading is None:
            heading = _HEADINGS.fullmatch(style) is not None or (
                _OTHERS.fullmatch(style) is None and self._by_definition(style)
            )
            self._known[style] = heading
        return heading

    def _by_definition(self, style: bytes) -> bool:
        if self._data is None:
            self._data = self._load()
            self._starts = {style_tag[1]: style_tag.end() for style_tag in _STYLE.finditer(self._data)}
        chain: list[bytes] = []
        heading = False
        while style in self._starts and not heading and len(chain) <= _MOST_BASES:
            if style in self._known:
                heading = self._known[style]
                break
            chain.append(style)
            heading, style = self._facts(self._data, self._starts[style])
        self._known.update(dict.fromkeys(chain, heading))
        return heading

    def _facts(self, data: bytes, at: int) -> tuple[bool, bytes]:
        """Whether the style that stands at `at` makes a heading by itself, and the id of the one it is based on."""
        heading, base = False, b""
        for fact in _FACT.finditer(data, at):
            kind, value = fact[1], fact[2]
            if kind is None:
                break
            if kind == b"basedOn":
                base = value
            elif kind == b"outlineLvl":
                heading |= b"0" <= value < b"9"
            else:
                heading |= value.lower().startswith(b"heading ") or value.lower() == b"title"
        return heading, base


def _read_with_python_docx(source: Source) -> Reading:
    """Paragraphs and tables by python-docx."""
    from docx import Document  # noqa: PLC0415 - seldom needed, 0.1 s
    from docx.table import Table  # noqa: PLC0415 - seldom needed, 0.1 s

    writer = Writer()
    for block in Document(fallback.file_of(source)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                writer.text("\t".join(one_line(cell.text) for cell in row.cells))
        else:
            writer.text(block.text)
    return writer.reading()


FALLBACK: Final = fallback.FallbackReader(_read_with_python_docx, library="docx", signature=fallback.ZIP)
