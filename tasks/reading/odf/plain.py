"""Texts and presentations of OpenDocument where LibreOffice does not read them: paragraphs, and rows of tables."""

from collections.abc import Iterator
from typing import Final

from lxml import etree

from tasks.language.normalise import one_line
from tasks.reading.odf.package import OdfPackage, name
from tasks.reading.places import BODY, SLIDE, SPEAKER_NOTE, TABLE
from tasks.reading.text_writer import Reading, Source, Writer

_HEADING: Final = name("text:h")
_PARAGRAPHS: Final = frozenset((name("text:p"), _HEADING))
_TABLE: Final = name("table:table")
_PAGE: Final = name("draw:page")
_SKIPPED: Final = frozenset(
    map(
        name,
        (
            "text:tracked-changes", "text:note", "text:number", "text:sequence-decls", "text:script",
            "office:annotation", "office:forms", "office:event-listeners", "office:binary-data", "svg:title",
            "svg:desc",
        ),
    )
)  # fmt: skip
"""What is deleted, and what stands beside the words."""


def read_words(source: Source, kind: str, called: str) -> Reading:
    """The words of the document's body ("office:text"), which is a "text document".

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:
        body = package.body(kind, called)
        writer = Writer()
        pages = list(body.iterchildren(_PAGE))
        for number, page in enumerate(pages, 1):
            with writer.part(SLIDE, str(number)):
                _write(page, writer)
        if not pages:
            with writer.place(BODY, ""):
                _write(body, writer)
                writer.end_heading()
        package.finish(writer)
        return writer.reading()


def _write(parent: etree._Element, writer: Writer) -> None:
    """Write what stands in an element, in order; parsed trees are 256 levels deep at most."""
    for child in parent:
        if not isinstance(child.tag, str) or child.tag in _SKIPPED:
            continue
        if child.tag == name("presentation:notes"):
            with writer.place(SPEAKER_NOTE, ""):
                _write(child, writer)
        elif child.tag == _TABLE:
            rows = ("\t".join(map(_words, _cells(row))).rstrip() for row in child.iter(name("table:table-row")))
            writer.placed(TABLE, "", "\n".join(rows))
        else:
            if child.tag == _HEADING:
                writer.heading(_words(child))
            if child.tag in _PARAGRAPHS:
                writer.text(_words(child))
            _write(child, writer)


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    return (cell for cell in row if isinstance(cell.tag, str) and cell.tag.endswith("table-cell"))


def _words(element: etree._Element) -> str:
    """The words of a paragraph without those of frames in it, which follow it; of a cell all."""
    return one_line("".join(_pieces(element, frames=element.tag not in _PARAGRAPHS)))


def _pieces(element: etree._Element, *, frames: bool) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        kind = child.tag
        if kind == name("text:s"):
            yield " "
        elif kind in (name("text:tab"), name("text:line-break")):
            yield "\t"
        elif isinstance(kind, str) and kind not in _SKIPPED:
            if frames or not kind.startswith(name("draw:x")[:-1]) or kind == name("draw:a"):
                yield from _pieces(child, frames=frames)
            if kind in _PARAGRAPHS:
                yield " "
        yield child.tail or ""
