"""Presentations: slides in order, hidden ones too; on each its shapes from top to bottom, then notes and comments."""

import re
from functools import partial
from typing import Final

from tasks.documents.extract import fallback
from tasks.documents.extract.ooxml import drawings, xml
from tasks.documents.extract.ooxml.drawings import Drawings
from tasks.documents.extract.ooxml.package import CUT_OFF, EMBEDDED_KINDS, Package, Relationship, attach_embedded
from tasks.documents.extract.pptx.slides import Place, PlaceholderKey, Placeholders, shapes
from tasks.documents.extract.text_writer import NO_TEXT, Reading, Source, Writer
from tasks.errors import Damaged, TooLarge
from tasks.text.normalise import one_line

_ROOT: Final = re.compile(rb"<p:presentation(?=[\s>])")
_SLIDE: Final = re.compile(rb"<p:sldId(?=\s)([^<]*+)")
_COMMENT: Final = re.compile(rb"<p:text(?:\s[^<>]*+)?>([^<]*+)")
_MOST_PIECES: Final = 500_000
_MOST_TEXT: Final = 64 << 20
"""The most shapes and comments, and characters of text, that a presentation may hold."""


def read(source: Source) -> Reading:
    """The text of the presentation in `source`, by slide and shape.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return fallback.read_or_fall_back(_read, FALLBACK, source)


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
        self._drawings = Drawings(package)
        self._placeholders = Placeholders(package)
        self._written: set[str] = set()
        self._pieces_left = _MOST_PIECES
        self._text_left = _MOST_TEXT

    def write(self) -> None:
        slides = self._slides()
        for number, slide in enumerate(slides, 1):
            with self.writer.part("slide", str(number)):
                self._write_slide(slide)
        around = (item for slide in slides for item in self._package.relationships(slide))
        attach_embedded(self._package, (item.target for item in around if item.kind in EMBEDDED_KINDS), self.writer)

    def _slides(self) -> list[str]:
        """The names of the slides' parts in the order of the show."""
        main = self._package.main_part("ppt/presentation.xml")
        data = self._package.scan(main)
        if _ROOT.match(data) is None:
            raise Damaged("The file holds no presentation. Ask for it again, or give it the ending of its format.")
        targets = {related.id: related.target for related in self._package.relationships(main)}
        named = (targets.get(xml.attribute(slide, b"r:id"), "") for slide in _SLIDE.findall(data))
        return [name for name in dict.fromkeys(named) if name]

    def _write_slide(self, part: str) -> None:
        data = self._package.scan(part)
        if not data:
            if part not in self._package:
                self._package.note_damage()
            return
        self._write_shapes(part, data, partial(self._placeholders.offset, part))
        around = self._package.relationships(part)
        for notes in self._unwritten(around, "notesSlide"):
            self._write_shapes(notes, self._package.scan(notes), _nowhere, number=b"sldNum")
        for comments in self._unwritten(around, "comments"):
            self._write_comments(self._package.scan(comments))

    def _unwritten(self, around: list[Relationship], kind: str) -> list[str]:
        """The parts of that kind which were not written yet: a hostile file has one for many slides."""
        named = dict.fromkeys(item.target for item in around if item.kind == kind)
        names = [name for name in named if name not in self._written]
        self._written.update(names)
        return names

    def _write_shapes(self, part: str, data: bytes, place: Place, number: bytes = b"") -> None:
        """Write the shapes of a slide or its notes, without that of the kind `number` that holds a mere number."""
        for count, shape in enumerate(shapes(data, partial(self._drawings.lines, part), place), 1):
            text = "\n".join(shape.lines)
            if (
                number
                and text.strip().isdecimal()
                and shape.placeholder is not None
                and shape.placeholder.kind == number
            ):
                continue
            self._count(text)
            self.writer.placed("shape", shape.name or str(count), text)

    def _write_comments(self, data: bytes) -> None:
        """Comments, of the older kind (`p:text`) and of the newer one (paragraphs)."""
        for words in _COMMENT.findall(data):
            self._write(xml.unescaped(words.decode("utf-8", "replace")))
        for line in drawings.paragraphs(data):
            self._write(line)

    def _write(self, text: str) -> None:
        self._count(text)
        self.writer.text(text)

    def _count(self, text: str) -> None:
        self._pieces_left -= 1
        self._text_left -= len(text)
        if self._pieces_left < 0 or self._text_left < 0:
            raise TooLarge("The presentation holds more text than can be read. Split it.")


def _nowhere(_: PlaceholderKey) -> None:
    """Placeholders of notes have no places but their own; the rest are read as they stand."""


def _read_with_python_pptx(source: Source) -> Reading:
    """Text frames and tables, slide by slide, by python-pptx."""
    from pptx import Presentation  # noqa: PLC0415 - seldom needed, 0.2 s

    writer = Writer()
    for number, slide in enumerate(Presentation(fallback.file_of(source)).slides, 1):
        with writer.part("slide", str(number)):
            for shape in slide.shapes:
                if shape.has_text_frame:
                    writer.text(shape.text_frame.text)
                elif shape.has_table:
                    for row in shape.table.rows:
                        writer.text("\t".join(one_line(cell.text) for cell in row.cells))
    return writer.reading()


FALLBACK: Final = fallback.FallbackReader(_read_with_python_pptx, library="pptx", signature=fallback.ZIP)
