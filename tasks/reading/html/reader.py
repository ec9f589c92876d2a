"""HTML pages (.html, .htm, .xhtml), as they would be printed: all words that they show, in the order of the file.

A page's title comes first, unless its first heading says the same. Text that the page hides (`display: none` and the
like) is left out, with a warning; so is deleted text (`<del>`). Pictures, scripts and anything else outside the file
are not fetched. `aria-hidden` hides nothing from people who see, so such text stays.
"""

import re
from collections.abc import Mapping
from math import inf
from typing import Any, Final, cast

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.html.grid import Block, HtmlLine, HtmlMark, HtmlTable
from tasks.reading.html.page import HtmlPage, TooManyCells
from tasks.reading.text_writer import HEADING, NO_TEXT, TABLE, TAGGED, Reading, Source, Writer
from tasks.reading.txt import SLOW_CODECS, UNSURE, decode_text, read_beginning
from tasks.reading.xbrl import RESOURCES, Fact, Tags, local

_PIECE: Final = 1 << 16
_DEEP: Final = 1_000
"""Open elements from which on the parser is started anew: the time of an end tag grows with their number."""

_TIDY: Final = bytes.maketrans(bytes([*range(9), 11, *range(14, 32), 127]), b" " * 29)
"""Controls become spaces: the parser ends at some of them."""

_ASCII: Final = bytes(range(128))
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_WRONG: Final = 10
"""Where so large a part (a tenth) of what is beyond ASCII makes no sense, the declaration is wrong."""

_PROLOG: Final = re.compile(r"\s*<\?xml\b")


def read(source: Source) -> Reading:
    """The text of the page in `source`, with headings and tables as places; an empty file gives an empty text.

    Of a page above 64 MB, the first 64 MB are read, with a warning.
    """
    data, complete = read_beginning(source)
    writer = Writer()
    page, whole = _page(data, writer, tagged=True)
    if not (complete and whole):
        writer.warn("The page is too long: only its beginning was read.")
    if page.hidden:
        writer.warn(f"The page hides text from its readers, which was left out ({page.hidden:,} characters).")
    if page.deleted:
        names = "; ".join(filter(None, page.deleted))
        writer.warn(f"Deleted text was left out{f' ({names})' if names else ''}.")
    _write(page, writer)
    if data and not writer.written:
        writer.warn(NO_TEXT)
    return writer.reading()


def read_lines(data: bytes) -> list[str]:
    """The lines that the page in `data` shows, for documents that hold pages: one line for each table row, no title."""
    return [line for lines in blocks_in(data) for line in lines]


def blocks_in(data: bytes, most: float = inf) -> list[list[str]]:
    """The lines of each paragraph that the page in `data` shows, except its title, and the rows of each table.

    If the page has more than `most` characters of text, about the first `most`.
    """
    page, _ = _page(data, Writer(), most=most)
    return [lines for block in page.blocks if (lines := _lines(block))]


def _lines(block: Block) -> list[str]:
    rows = block.rows if isinstance(block, HtmlTable) else [block]
    return [part for row in rows for part in row.text.split("\n") if part.strip()]


# Pages with tagged numbers (inline XBRL): while the page is assembled, each number is preceded by characters that no
# text has (Unicode noncharacters) and that identify it: so its place is known whatever happens to the lines around it.
_INLINE_XBRL: Final = re.compile(r"http://www\.xbrl\.org/20\d\d/inlineXBRL")
_FIRST: Final = 0xFDD0
_BASE: Final = 16
_DIGITS: Final = 5
_BEGINNING: Final = "\ufdef"
_MARK: Final = re.compile(_BEGINNING + f"([\ufdd0-\ufddf]{{{_DIGITS}}})")
_NONCHARACTERS: Final = re.compile("[\ufdd0-\ufdef]")
_HEAD: Final = 100_000


def _without_marks(text: str) -> str:
    """A page without the characters that will identify its numbers."""
    return _NONCHARACTERS.sub("", text)


class _TaggedPage(HtmlPage):
    def __init__(self) -> None:
        super().__init__()
        self._tags = Tags()
        self._facts: list[Fact] = []
        self._open: list[Fact] = []
        self._waiting = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        name = tag.rpartition(":")[2]
        if name in RESOURCES:
            self._tags.resource(name, attributes)
        elif name == "nonfraction":
            self._waiting += _number_start(len(self._facts))
            self._open.append(Fact(local(attributes.get("name", "")), attributes))
            self._facts.append(self._open[-1])
        super().start(tag, attributes)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        name = tag.rpartition(":")[2]
        if name in RESOURCES:
            self._tags.end_resource(name)
        elif name == "nonfraction" and self._open:
            self._open.pop()
            self._waiting = ""
        super().end(tag)

    def data(self, text: str) -> None:
        """Handle words, and white space between tags."""
        self._tags.words(text)
        for fact in self._open:
            fact.words.append(text)
        if self._waiting and not self._skipped and (words := text.lstrip()):
            text = text[: len(text) - len(words)] + self._waiting + words
            self._waiting = ""
        super().data(text)

    def placed(self, text: str) -> tuple[str, list[HtmlMark]]:
        """A line without the characters before its numbers, and the places of these numbers."""
        pieces, marks, at, length = [], [], 0, 0
        for mark in _MARK.finditer(text):
            pieces.append(text[at : mark.start()])
            length += mark.start() - at
            at = mark.end()
            fact = self._facts[_number(mark[1])]
            tag = self._tags.tag(fact)
            words = one_line("".join(fact.words))
            if tag is not None and words:
                marks.append(HtmlMark(length, length + len(words), TAGGED, tag.label))
        return "".join([*pieces, text[at:]]), marks


def _number_start(number: int) -> str:
    digits = [chr(_FIRST + number // _BASE**power % _BASE) for power in reversed(range(_DIGITS))]
    return _BEGINNING + "".join(digits)


def _number(digits: str) -> int:
    return sum((ord(digit) - _FIRST) * _BASE**power for power, digit in enumerate(reversed(digits)))


def _page(data: bytes, writer: Writer, *, tagged: bool = False, most: float = inf) -> tuple[HtmlPage, bool]:
    """The page's content, with the tags of its numbers if requested, and whether all of it was read in time."""
    text, sure = decode_page(data)
    if not sure:
        writer.warn(UNSURE)
    page = HtmlPage()
    if tagged and _INLINE_XBRL.search(text, 0, _HEAD):
        page, text = _TaggedPage(), _without_marks(text)
    raw = _as_html(text).encode("utf-8", "replace").translate(_TIDY)
    whole = True
    parser = _parser(page)
    blocks = page.blocks  # not those of a cell that is being read
    at = counted = 0
    try:
        while at < len(raw) and most > 0:
            end = at + _PIECE
            if end < len(raw):  # not within a tag or a character
                end = max(raw.rfind(b"<", at + 1, end), at) if b"<" in raw[at + 1 : end] else _boundary(raw, end)
            parser.feed(raw[at:end])
            at = end
            if page.depth > _DEEP:
                parser.close()
                page.depth = 0
                parser = _parser(page)
            if most < inf:
                most -= sum(len(line) for block in blocks[counted:] for line in _lines(block))
                counted = len(blocks)
            if limits.is_near():
                whole = False
                break
        parser.close()
    except TooManyCells:
        whole = False
    except etree.XMLSyntaxError:  # there is no element in what is left
        pass
    page.finish()
    return page, whole


def decode_page(data: bytes, content_type: str = "") -> tuple[str, bool]:
    """The text of the page in `data`, sent by a server with that Content-Type, and whether its encoding is certain.

    A byte order mark decides, then the Content-Type, then the page's own declaration unless that makes no sense.
    """
    if not data.startswith(_MARKS):
        declared = http_content_type_encoding(content_type) or html_body_declared_encoding(data)
        if declared is not None and declared not in SLOW_CODECS:
            try:
                text = data.decode(declared, "replace")
            except (UnicodeError, LookupError):
                text = None
            if text is not None and text.count("\ufffd") * _WRONG <= len(data.translate(None, _ASCII)):
                return text, True
    return decode_text(data)


def _as_html(text: str) -> str:
    """`text` with XHTML's CDATA sections as ordinary characters; HTML has none and is left alone."""
    if "<![CDATA[" not in text or not _PROLOG.match(text[:1000]):
        return text
    pieces = text.split("<![CDATA[")
    for position, piece in enumerate(pieces[1:], 1):
        inside, end, rest = piece.partition("]]>")
        if end:
            escaped = inside.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            pieces[position] = escaped + rest
    return "".join(pieces)


def _parser(page: HtmlPage) -> etree.HTMLParser:
    return etree.HTMLParser(target=cast("Any", page), encoding="utf-8", no_network=True, huge_tree=False)


def _boundary(raw: bytes, at: int) -> int:
    """The position of the first character that begins at `at` or after it."""
    while at < len(raw) and raw[at] & 0xC0 == 0x80:
        at += 1
    return at


def _write(page: HtmlPage, writer: Writer) -> None:
    heading = next((block.text for block in page.blocks if isinstance(block, HtmlLine) and block.kind == HEADING), "")
    if page.title and page.title != " ".join(heading.split()):
        writer.text(page.title)
    for block in page.blocks:
        if isinstance(block, HtmlTable):
            with writer.place(TABLE, str(block.header_rows or "")):
                for row in block.rows:
                    _write_line(row, writer, page)
        else:
            if block.kind == HEADING:
                writer.heading(_without_marks(block.text))
            _write_line(block, writer, page)


def _write_line(line: HtmlLine, writer: Writer, page: HtmlPage) -> None:
    start = writer.position
    text, tagged = page.placed(line.text) if isinstance(page, _TaggedPage) else (line.text, [])
    if line.kind not in ("", HEADING):
        writer.placed(line.kind, "", text)
    else:
        writer.line(text)
    for mark in (*line.marks, *tagged):
        writer.mark(start + mark.start, min(start + mark.end, writer.position), mark.kind, mark.label)
