"""Word documents: body, headers, footers, notes, comments, text boxes, charts, diagrams, formulas.

Notes, comments, text boxes and drawings come after the paragraph (in a table, the row) that they
belong to; headers stand first, footers last.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lxml import etree

from tasks.documents.extract import ooxml, second
from tasks.documents.extract.drawings import related_drawing
from tasks.documents.extract.ooxml import DGM, A, C, M, R, V, W
from tasks.documents.extract.package import CUT_OFF, Package
from tasks.documents.extract.reading import NO_TEXT, Reading, Source, Writer, one_line
from tasks.errors import Damaged

VERSION: Final = "docx-1"

_SKIPPED: Final = {
    W + name
    for name in (
        "pPr",
        "rPr",
        "sdtPr",
        "tblPr",
        "sectPr",
        "rubyPr",
        "tblGrid",
        "instrText",
        "del",
        "delText",
        "moveFrom",
    )
}
_CHARACTERS: Final = {W + "tab": "\t", W + "ptab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-"}
_NOTES: Final = {
    W + "footnoteReference": "footnotes",
    W + "endnoteReference": "endnotes",
    W + "commentReference": "comments",
}

Emit = Callable[[str], None]


def read(source: Source) -> Reading:
    """The text of the document in `source`, by heading.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return second.asked_after(_read, second.docx, source)


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
    """One pass over the parts of a document."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self._package = package
        self._main = package.main_part("word/document.xml")
        self._part = self._main
        self._asides: list[etree._Element] = []
        self._held = 0
        self._notes: dict[tuple[str, str], list[tuple[str, etree._Element]]] = {}
        self._headings: set[str] = set()

    def write(self) -> None:
        root = self._package.xml(self._main)
        if root is None or root.tag != W + "document":
            raise Damaged("The file holds no Word document. Ask for it again, or give it the ending of its format.")
        around: dict[str, list[str]] = {"header": [], "footer": []}
        for relationship in self._package.relationships(self._main):
            if relationship.kind in ("footnotes", "endnotes", "comments"):
                self._collect(relationship.kind, relationship.target)
            elif relationship.kind in around and relationship.target not in around[relationship.kind]:
                around[relationship.kind].append(relationship.target)
            elif relationship.kind == "styles":
                self._collect_headings(relationship.target)
        self._write_parts(around["header"])
        self._blocks(root, self.writer.text, headings=True)
        self.writer.end_heading()
        for kind, name in list(self._notes):
            self._write_notes(kind, name, self.writer.text)
        self._write_parts(around["footer"])

    def _collect(self, kind: str, part: str) -> None:
        """Keep the notes of a part by id, to be written where they are referred to."""
        root = self._package.xml(part)
        for note in root if root is not None else ():
            self._notes.setdefault((kind, note.get(W + "id") or ""), []).append((part, note))

    def _collect_headings(self, part: str) -> None:
        """The ids of the styles that make a paragraph a heading, by themselves or by what they are based on."""
        root = self._package.xml(part)
        bases: dict[str, str] = {}
        for style in root.iter(W + "style") if root is not None else ():
            name = style.get(W + "styleId") or ""
            words = (_value(style, "name") or "").lower()
            level = _value(style, f"pPr/{W}outlineLvl")
            if words.startswith("heading ") or words == "title" or (level or "9") < "9":
                self._headings.add(name)
            bases[name] = _value(style, "basedOn") or ""
        for name in bases:
            base, steps = name, 0
            while base and base not in self._headings and steps < 20:
                base, steps = bases.get(base, ""), steps + 1
            if base:
                self._headings.add(name)

    def _write_parts(self, parts: list[str]) -> None:
        for part in parts:
            root = self._package.xml(part)
            if root is not None:
                with self._within(part):
                    self._blocks(root, self.writer.text)

    def _write_notes(self, kind: str, name: str, emit: Emit) -> None:
        """Write the notes of that id, once; careless programs give one id to several."""
        for part, note in self._notes.pop((kind, name), []):
            with self._within(part):
                self._blocks(note, emit)

    @contextmanager
    def _within(self, part: str) -> Iterator[None]:
        """References in what is written within are those of `part`."""
        outer, self._part = self._part, part
        yield
        self._part = outer

    def _blocks(self, element: etree._Element, emit: Emit, *, headings: bool = False) -> None:
        """Write the paragraphs and tables of an element."""
        for child in element:
            tag = child.tag
            if tag == W + "p" or child.find(W + "r") is not None:  # runs outside a paragraph count too
                text = self._inline(child)
                if headings and text.strip() and self._is_heading(child):
                    self.writer.heading(text)
                emit(text)
                self._write_asides(emit)
            elif tag == W + "tbl":
                self._table(child, emit)
            elif tag == M + "oMathPara":
                emit(ooxml.formula(child))
            elif tag not in _SKIPPED and len(child):
                self._blocks(child, emit, headings=headings)

    def _is_heading(self, paragraph: etree._Element) -> bool:
        properties = paragraph.find(W + "pPr")
        if properties is None:
            return False
        level = _value(properties, "outlineLvl")
        return (level or "9") < "9" or (_value(properties, "pStyle") or "") in self._headings

    def _table(self, element: etree._Element, emit: Emit) -> None:
        for row in _within_wrappers(element, W + "tr"):
            cells: list[list[str]] = []
            self._held += 1
            for cell in _within_wrappers(row, W + "tc"):
                lines: list[str] = []
                self._blocks(cell, lines.append)
                cells.append([line for line in lines if line.strip()])
            filled = [lines for lines in cells if lines]
            if len(filled) == 1 and len(filled[0]) > 1:  # a frame round paragraphs rather than a row
                for line in filled[0]:
                    emit(line)
            elif filled:
                emit("\t".join(one_line(" ".join(lines)) for lines in cells).rstrip("\t"))
            self._held -= 1
            self._write_asides(emit)

    def _inline(self, element: etree._Element) -> str:
        pieces: list[str] = []
        self._collect_inline(element, pieces)
        return "".join(pieces)

    def _collect_inline(self, element: etree._Element, pieces: list[str]) -> None:
        for child in element:
            tag = child.tag
            if tag == W + "t":
                pieces.append(child.text or "")
            elif tag in _SKIPPED:
                continue
            elif tag in _CHARACTERS:
                pieces.append(_CHARACTERS[tag])
            elif tag == W + "sym":
                pieces.append(_symbol(child.get(W + "char") or ""))
            elif tag in _NOTES or tag in (W + "drawing", W + "pict", W + "object"):
                self._asides.append(child)
            elif tag == M + "oMath":
                pieces.append(ooxml.formula(child))
            elif len(child):
                self._collect_inline(child, pieces)

    def _write_asides(self, emit: Emit) -> None:
        """Write what the last paragraph or row refers to or carries, in order; not within a row."""
        while self._asides and not self._held:
            waiting, self._asides = self._asides, []
            for element in waiting:
                kind = _NOTES.get(element.tag)
                if kind is None:
                    self._drawing(element, emit)
                else:
                    self._write_notes(kind, element.get(W + "id") or "", emit)

    def _drawing(self, element: etree._Element, emit: Emit) -> None:
        for child in element:
            tag = child.tag
            if tag == W + "txbxContent":
                self._blocks(child, emit)
            elif tag in (C + "chart", DGM + "relIds") or child.get(R + "dm") or tag.endswith("chartex}chart"):
                for line in related_drawing(self._package, self._part, child):
                    emit(line)
            elif tag == A + "p":
                emit(ooxml.paragraph(child))
            elif tag == V + "textpath":
                emit(child.get("string") or "")
            elif len(child):
                self._drawing(child, emit)


def _within_wrappers(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    """The rows of a table or the cells of a row, also those inside content controls and tracked changes."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in _SKIPPED and child.tag not in (W + "p", W + "tbl", W + "tc"):
            yield from _within_wrappers(child, tag)


def _value(element: etree._Element, path: str) -> str | None:
    found = element.find(W + path)
    return None if found is None else found.get(W + "val")


def _symbol(code: str) -> str:
    """A character of a symbol font; those of the private area (Wingdings' bullets and boxes) mean nothing elsewhere."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= number <= 0xF8FF or number > 0x10FFFF else chr(number)
