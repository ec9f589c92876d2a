"""Presentations: slides in order, hidden ones too; on each its shapes from top to bottom, then notes and comments."""

from collections.abc import Iterator
from typing import Final

from lxml import etree

from tasks.documents.extract import ooxml, second
from tasks.documents.extract.drawings import related_drawing
from tasks.documents.extract.ooxml import DGM, A, C, P, R
from tasks.documents.extract.package import CUT_OFF, Package
from tasks.documents.extract.reading import NO_TEXT, Reading, Source, Writer
from tasks.errors import Damaged

VERSION: Final = "pptx-1"

_ROW: Final = 228_600
"""Shapes whose tops lie within a quarter of an inch (in EMU) stand in one row and are read from the left."""

Offset = tuple[int, int]


def read(source: Source) -> Reading:
    """The text of the presentation in `source`, by slide.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return second.asked_after(_read, second.pptx, source)


def _read(source: Source) -> Reading:
    with Package(source) as package:
        presentation = _Presentation(package)
        presentation.write()
        if package.damaged:
            presentation.writer.warn(CUT_OFF)
        if not presentation.writer.written:
            presentation.writer.warn(NO_TEXT)
        return presentation.writer.reading()


class _Presentation:
    """One pass over the slides."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self._package = package
        self._layouts: dict[str, dict[tuple[str, str], Offset]] = {}

    def write(self) -> None:
        for number, slide in enumerate(self._slides(), 1):
            with self.writer.part("slide", str(number)):
                self._write_slide(slide)

    def _slides(self) -> list[str]:
        """The names of the slides' parts in the order of the show."""
        main = self._package.main_part("ppt/presentation.xml")
        root = self._package.xml(main)
        if root is None or root.tag != P + "presentation":
            raise Damaged("The file holds no presentation. Ask for it again, or give it the ending of its format.")
        targets = {relationship.id: relationship.target for relationship in self._package.relationships(main)}
        named = [targets.get(slide.get(R + "id") or "", "") for slide in root.iter(P + "sldId")]
        return [name for name in dict.fromkeys(named) if name]

    def _write_slide(self, part: str) -> None:
        root = self._package.xml(part)
        if root is None:
            if part not in self._package:
                self._package.note_damage()
            return
        around = self._package.relationships(part)
        layout = next((item.target for item in around if item.kind == "slideLayout"), "")
        tree = root.find(f"{P}cSld/{P}spTree")
        if tree is not None:
            self._shapes(part, tree, self._placeholders(layout))
        for relationship in around:
            if relationship.kind == "notesSlide":
                self._write_notes(relationship.target)
            elif relationship.kind == "comments":
                self._write_comments(relationship.target)

    def _write_notes(self, part: str) -> None:
        """Speaker notes, without the number of the slide."""
        root = self._package.xml(part)
        tree = root.find(f"{P}cSld/{P}spTree") if root is not None else None
        if tree is None:
            return
        for shape in list(tree.iterchildren(P + "sp")):
            if ("type", "sldNum") in _placeholder(shape) and "".join(ooxml.paragraphs(shape)).strip().isdecimal():
                tree.remove(shape)
        self._shapes(part, tree, {})

    def _write_comments(self, part: str) -> None:
        """Comments, of the older kind (`p:text`) and of the newer one (paragraphs)."""
        root = self._package.xml(part)
        if root is not None:
            for text in root.iter(P + "text"):
                self.writer.text(text.text or "")
            for line in ooxml.paragraphs(root):
                self.writer.text(line)

    def _shapes(self, part: str, tree: etree._Element, placeholders: dict[tuple[str, str], Offset]) -> None:
        """Write the shapes of a tree or a group, the upper ones first and those of one row from the left."""
        shapes = list(_shapes_of(tree))
        shapes.sort(key=lambda shape: _order(_offset(shape, placeholders)))
        for shape in shapes:
            if shape.tag == P + "grpSp":
                self._shapes(part, shape, placeholders)
            elif shape.tag == P + "graphicFrame":
                self._frame(part, shape)
            else:
                for line in ooxml.paragraphs(shape):
                    self.writer.text(line)

    def _frame(self, part: str, frame: etree._Element) -> None:
        """Write a table, a chart or a diagram."""
        for element in frame.iter(A + "tbl", C + "chart", DGM + "relIds", "{*}chart"):
            if element.tag == A + "tbl":
                for line in ooxml.table(element):
                    self.writer.text(line)
            else:
                for line in related_drawing(self._package, part, element):
                    self.writer.text(line)

    def _placeholders(self, layout: str) -> dict[tuple[str, str], Offset]:
        """Where a layout, or the master behind it, puts the placeholders that a slide does not place itself."""
        if layout not in self._layouts:
            found: dict[tuple[str, str], Offset] = {}
            masters = [item.target for item in self._package.relationships(layout) if item.kind == "slideMaster"]
            for part in [*masters[:1], layout]:
                root = self._package.xml(part)
                for shape in root.iter(P + "sp") if root is not None else ():
                    keys = _placeholder(shape)
                    place = _offset(shape, found) if keys else None
                    if place is not None:
                        found.update(dict.fromkeys(keys, place))
            self._layouts[layout] = found
        return self._layouts[layout]


def _shapes_of(tree: etree._Element) -> Iterator[etree._Element]:
    for child in tree:
        if child.tag in (P + "sp", P + "grpSp", P + "graphicFrame", P + "cxnSp", P + "pic"):
            yield child
        elif child.tag.endswith(("AlternateContent", "Choice", "Fallback")):
            yield from _shapes_of(child)


def _order(offset: Offset | None) -> tuple[int, int]:
    left, top = offset or (0, 0)
    return top // _ROW, left


def _offset(shape: etree._Element, placeholders: dict[tuple[str, str], Offset]) -> Offset | None:
    """A shape's left and top in EMU, its own or those of the placeholder that it fills."""
    for path in (f"{P}spPr/{A}xfrm/{A}off", f"{P}grpSpPr/{A}xfrm/{A}off", f"{P}xfrm/{A}off"):
        found = shape.find(path)
        if found is not None:
            return _whole(found.get("x")), _whole(found.get("y"))
    return next((placeholders[key] for key in _placeholder(shape) if key in placeholders), None)


def _placeholder(shape: etree._Element) -> list[tuple[str, str]]:
    """What a placeholder is found by: its number, which is the surer one, and its type."""
    holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if holder is None:
        return []
    kind = holder.get("type") or "obj"
    keys = [("type", "title" if kind == "ctrTitle" else kind)]
    return [("idx", holder.get("idx") or ""), *keys] if holder.get("idx") else keys


def _whole(number: str | None) -> int:
    try:
        return int(number or 0)
    except ValueError:
        return 0
