"""What stands round and over the cells of a sheet: comments, text boxes, charts, diagrams, embedded documents."""

import re
from collections.abc import Iterator
from typing import Final

from tasks.documents.extract.office import attached
from tasks.documents.extract.office.drawings import Drawings, paragraphs
from tasks.documents.extract.office.markup import attribute
from tasks.documents.extract.office.package import Package
from tasks.documents.extract.reading import Writer
from tasks.documents.extract.spreadsheet.cells import characters, rich_text
from tasks.documents.extract.spreadsheet.pieces import pieces

_MOST_TEXT: Final = 16 << 20
"""Characters of comments and controls in a workbook."""

FULL: Final = "The workbook holds more than 16 million characters in comments: the rest of them was left out."

_COMMENT: Final = re.compile(rb"<comment(?=\s)([^<>]*+)>")
_THREADED: Final = re.compile(rb"<(?:[\w.-]+:)?threadedComment(?=\s)([^<>]*+)>\s*+<(?:[\w.-]+:)?text[^<>]*+>([^<]*+)")
_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(?=\s)([^<>]*+)>")
_BOX: Final = re.compile(rb"<v:textbox[\s>]")
_TAG: Final = re.compile(rb"<[^<>]*+>")


class Surroundings:
    """Writes to `writer` what stands round the cells of sheets.

    `enclosed` are the parts of the documents embedded in them.
    """

    def __init__(self, package: Package, writer: Writer) -> None:
        self._package = package
        self._writer = writer
        self._drawings = Drawings(package)
        self._text = _MOST_TEXT
        self.enclosed: list[str] = []

    def write(self, sheet: str) -> None:
        """Write what the part `sheet` refers to."""
        around = self._package.relationships(sheet)
        if not around:
            return
        parts: dict[str, list[str]] = {}
        for item in around:
            if item.kind in attached.KINDS:
                self.enclosed.append(item.target)
            elif item.target in self._package:
                parts.setdefault(item.kind, []).append(item.target)
        said: dict[str, list[str]] = {}
        for part in parts.get("comments", ()):
            for cell, text in self._bounded(self._comments(part)):
                said.setdefault(cell, []).append(text)
                self._writer.text(f"{cell}\t{text}")
        for part in parts.get("threadedComment", ()):
            for cell, text in self._bounded(self._threaded(part)):
                if not any(text in other for other in said.get(cell, ())):  # Excel copies each to the comments
                    self._writer.text(f"{cell}\t{text}")
        for part in parts.get("drawing", ()):
            self._write_drawing(part)
        if "drawing" not in parts:  # which would say it again
            for part in parts.get("vmlDrawing", ()):
                for _, text in self._bounded(self._controls(part)):
                    self._writer.text(text)

    def _bounded(self, found: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for cell, text in found:
            self._text -= len(text)
            if self._text < 0:
                self._writer.warn(FULL)
                return
            yield cell, text

    def _comments(self, part: str) -> Iterator[tuple[str, str]]:
        """The comments of a part with the cells that they are on."""
        for piece in pieces(self._package.chunks(part), b"comment"):
            for item in piece.split(b"</comment>"):
                comment = _COMMENT.search(item)
                text = characters(rich_text(item[comment.end() :])).decode() if comment is not None else ""
                if comment is not None and text:
                    yield attribute(comment[1], b"ref"), text

    def _threaded(self, part: str) -> Iterator[tuple[str, str]]:
        for piece in pieces(self._package.chunks(part), b"threadedComment"):
            for given, text in _THREADED.findall(piece):
                yield attribute(given, b"ref"), characters(text).decode()

    def _controls(self, part: str) -> Iterator[tuple[str, str]]:
        """What buttons and boxes of the old kind say."""
        for piece in pieces(self._package.chunks(part), b"v:textbox"):
            for box in piece.split(b"</v:textbox>")[:-1]:
                start = _BOX.search(box)
                if start is not None:
                    yield "", characters(_TAG.sub(b" ", box[start.start() :])).decode()

    def _write_drawing(self, part: str) -> None:
        data = self._package.scan(part)
        at = 0
        for reference in _REFERENCE.finditer(data):
            drawn = attribute(reference[1], b"r:id") or attribute(reference[1], b"r:dm")
            lines = paragraphs(data, at, reference.start()) + self._drawings.lines(part, drawn)
            self._writer.text("\n".join(lines))
            at = reference.end()
        self._writer.text("\n".join(paragraphs(data, at)))
