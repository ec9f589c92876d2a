"""What surrounds the cells of a sheet: comments with authors and dates, text boxes, charts, controls."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple

from tasks.reading.ooxml.drawings import Drawings, alternative_text, paragraphs
from tasks.reading.ooxml.package import EMBEDDED_KINDS, Package
from tasks.reading.ooxml.xml import ATTRIBUTES, TAG_END, attribute
from tasks.reading.places import ALTERNATIVE_TEXT, COMMENT, TEXT_BOX, comment_mark, make_label
from tasks.reading.text_writer import Writer
from tasks.reading.xlsx.rows import named_sheet
from tasks.reading.xlsx.sheet import pieces
from tasks.reading.xlsx.values import characters, rich_text

MOST_COMMENT_TEXT: Final = 16 << 20
"""Characters of comments and controls in a workbook."""

FULL: Final = "The workbook holds more than 16 million characters in comments: the rest of them was left out."
_COMMENT: Final = re.compile(rb"<comment(?=\s)(" + ATTRIBUTES + rb")>")
_THREADED: Final = re.compile(
    rb"<(?:[\w.-]+:)?threadedComment(" + ATTRIBUTES + rb")>\s*+<(?:[\w.-]+:)?text" + TAG_END + rb"([^<]*+)"
)
_AUTHOR: Final = re.compile(rb"<author" + TAG_END + rb"([^<]*+)")
_PERSON: Final = re.compile(rb"<(?:[\w.-]+:)?person(" + ATTRIBUTES + rb")>")
_FRACTION: Final = re.compile(r"\.\d+")
_MOST_AUTHORS: Final = 100_000
_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(" + ATTRIBUTES + rb")>")
_PROPERTIES: Final = re.compile(
    rb"<(?:[\w.-]+:)?cNvPr(" + ATTRIBUTES + rb")>((?:(?<!/>)[^<]*+(?:<(?!/(?:[\w.-]+:)?cNvPr)[^<]*+)*+)?+)"
)
"""The properties of a shape or picture, and what is below them."""

_BOX: Final = re.compile(rb"<v:textbox[\s>]")
_TAG: Final = re.compile(rb"<[^<>]*+>")


class PackedSheet(NamedTuple):
    """A sheet's name, the name of its part ("" when there is none), and whether it is hidden."""

    name: str
    part: str
    hidden: bool


def write_sheets(
    package: Package, writer: Writer, sheets: Iterable[PackedSheet], write: Callable[[PackedSheet], str | None]
) -> None:
    """Write sheets in order, each with its name, hidden ones marked.

    Args:
        package: where their parts are; what is lost is noted there.
        writer: what they are written to.
        sheets: the sheets; a part that several of them name is written once.
        write: writes what is on one; returns the warning that no more can be read, None while more can.
    """
    written: set[str] = set()
    for sheet in sheets:
        full = None
        with named_sheet(writer, sheet.name, hidden=sheet.hidden):
            if sheet.part not in package:
                package.note_damage()
            elif sheet.part not in written:
                written.add(sheet.part)
                full = write(sheet)
        if full:
            writer.warn(full)
            break


class _Comment(NamedTuple):
    cell: str
    author: str
    date: str
    words: str


class SheetObjects:
    """Writes what surrounds the cells of sheets to `writer`.

    `people` are the workbook's parts that name authors of threaded comments; `embedded` are the parts of documents
    embedded in its sheets.
    """

    def __init__(self, package: Package, writer: Writer, people: Iterable[str] = ()) -> None:
        self._package = package
        self._writer = writer
        self._drawings = Drawings(package)
        self._people = people
        self._explained = False
        self._text = MOST_COMMENT_TEXT
        self.embedded: list[str] = []

    def write(self, sheet: str) -> None:
        """Write what the part `sheet` refers to."""
        around = self._package.relationships(sheet)
        if not around:
            return
        parts: dict[str, list[str]] = {}
        for item in around:
            if item.kind in EMBEDDED_KINDS:
                self.embedded.append(item.target)
            elif item.target in self._package:
                parts.setdefault(item.kind, []).append(item.target)
        self._write_comments(parts)
        for part in parts.get("drawing", ()):
            self._write_drawing(part)
        if "drawing" not in parts:  # which would say it again
            for part in parts.get("vmlDrawing", ()):
                for words in self._controls(part):
                    if self._has_room(words):
                        self._writer.text(words)

    def _write_comments(self, parts: dict[str, list[str]]) -> None:
        """Write notes, then threads; last what notes tell older programs, which show them in place of threads."""
        threads: dict[str, list[_Comment]] = {}
        for part in parts.get("threadedComment", ()):
            for comment in self._read_threads(part):
                if self._has_room(comment.words):
                    threads.setdefault(comment.cell, []).append(comment)
        copies: list[tuple[_Comment, str]] = []
        for part in parts.get("comments", ()):
            for comment in self._comments(part):
                thread = threads.get(comment.cell)
                if thread and (comment.author.startswith("tc=") or thread[0].words in comment.words):
                    copies.append((comment, thread[0].words))
                elif self._has_room(comment.words):
                    self._write_comment(comment)
        for thread in threads.values():
            for comment in thread:
                self._write_comment(comment)
        for copy, words in copies:
            self._explain(copy, words)

    def _explain(self, copy: _Comment, words: str) -> None:
        """Write once what Excel says before it repeats a thread in a note: "Your version of Excel …"."""
        before = copy.words[: max(copy.words.find(words), 0)].rstrip()
        if before and not self._explained:
            self._explained = True
            self._write_comment(copy._replace(author="", words=before))

    def _write_comment(self, comment: _Comment) -> None:
        mark = comment_mark(comment.author, comment.date, comment.words)
        self._writer.placed(COMMENT, make_label(comment.author, comment.date), f"{comment.cell}\t{mark}")

    def _has_room(self, words: str) -> bool:
        self._text -= len(words)
        if self._text < 0:
            self._writer.warn(FULL)
        return self._text >= 0

    def _comments(self, part: str) -> Iterator[_Comment]:
        """The notes of a part, each without the author's name that Excel puts at its beginning."""
        authors: list[str] = []
        for number, piece in enumerate(pieces(self._package.chunks(part), b"comment")):
            if not number:
                head = piece[: max(piece.find(b"</authors>"), 0)]
                authors = [characters(name[1]).decode() for name in islice(_AUTHOR.finditer(head), _MOST_AUTHORS)]
            for item in piece.split(b"</comment>"):
                comment = _COMMENT.search(item)
                if comment is None:
                    continue
                words = characters(rich_text(item[comment.end() :])).decode()
                index = attribute(comment[1], b"authorId")
                author = authors[int(index)] if index.isdecimal() and int(index[:9]) < len(authors) else ""
                words = (author and words.removeprefix(author + ":").lstrip()) or words
                if words:
                    yield _Comment(attribute(comment[1], b"ref"), author, "", words)

    def _read_threads(self, part: str) -> Iterator[_Comment]:
        for piece in pieces(self._package.chunks(part), b"threadedComment"):
            for attributes, text in _THREADED.findall(piece):
                reply = "Reply: " if attribute(attributes, b"parentId") else ""
                yield _Comment(
                    attribute(attributes, b"ref"),
                    self._names.get(attribute(attributes, b"personId"), ""),
                    _FRACTION.sub("", attribute(attributes, b"dT")),
                    reply + characters(text).decode(),
                )

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of people by their identifiers."""
        return {
            attribute(person[1], b"id"): attribute(person[1], b"displayName")
            for part in self._people
            for person in islice(_PERSON.finditer(self._package.scan(part)), _MOST_AUTHORS)
        }

    def _controls(self, part: str) -> Iterator[str]:
        """The texts of legacy buttons and boxes."""
        for piece in pieces(self._package.chunks(part), b"v:textbox"):
            for box in piece.split(b"</v:textbox>")[:-1]:
                start = _BOX.search(box)
                if start is not None:
                    yield characters(_TAG.sub(b" ", box[start.start() :])).decode()

    def _write_drawing(self, part: str) -> None:
        data = self._package.scan(part)
        at = 0
        for reference in _REFERENCE.finditer(data):
            self._writer.placed(TEXT_BOX, "", "\n".join(paragraphs(data, at, reference.start())))
            drawn = attribute(reference[1], b"r:id") or attribute(reference[1], b"r:dm")
            self._writer.text("\n".join(self._drawings.lines(part, drawn)))
            at = reference.end()
        self._writer.placed(TEXT_BOX, "", "\n".join(paragraphs(data, at)))
        if data.find(b"descr=") >= 0 or data.find(b"title=") >= 0:
            for properties in _PROPERTIES.finditer(data):
                words = alternative_text(properties[1], properties[2] or b"")
                self._writer.placed(ALTERNATIVE_TEXT, attribute(properties[1], b"name"), words)
