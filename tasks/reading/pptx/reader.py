"""Presentations: slides in order, hidden ones too; on each its shapes in reading order, then notes and comments.

White words with nothing coloured behind them are words that nobody sees. They are enclosed as `xml.UNSEEN_WORDS`.
Where it is not certain what stands behind words (in groups and tables, or where a picture, a filled shape or a
background may be), they count as seen.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Final, NamedTuple

from tasks.errors import Damaged, TooLarge
from tasks.language.normalise import one_line
from tasks.reading.ooxml import drawings, xml
from tasks.reading.ooxml.drawings import Drawings
from tasks.reading.ooxml.package import EMBEDDED_KINDS, Package, Relationship, attach_embedded, read_package
from tasks.reading.pptx.slides import Box, PlaceholderKey, Shape, box_in, key_in, shapes
from tasks.reading.text_writer import (
    ALTERNATIVE_TEXT,
    COMMENT,
    HIDDEN_SLIDE,
    HIDDEN_SLIDE_MARK,
    SHAPE,
    SLIDE,
    SPEAKER_NOTE,
    TABLE,
    UNSEEN,
    Reading,
    Source,
    Writer,
    comment_mark,
    make_label,
    unseen_mark,
)

_WHITE: Final = rb"""a:(?:srgbClr\s++val="(?:[Ff][A-Fa-f]){3}"|schemeClr\s++val="(?:bg1|lt1)")\s*+/>"""
_RUN: Final = re.compile(
    rb"""(<a:rPr(?:\s[^<>]*+)?>\s*+<a:solidFill>\s*+<%b\s*+</a:solidFill>"""
    rb"""(?:<(?!/?a:(?:rPr|highlight|t|r)[\s/>])[^<>]*+>\s*+)*+</a:rPr>\s*+<a:t(?:\s[^<>]*+)?>)([^<]++)""" % _WHITE
)
_BACKGROUND: Final = re.compile(rb"<p:bg[\s>]")
_WHITE_BACKGROUND: Final = re.compile(rb"""<p:bg>\s*+<p:bg(?:Pr>\s*+<a:solidFill|Ref\s++idx="1001")>\s*+<%b""" % _WHITE)
_LIGHT: Final = re.compile(rb"""<a:lt1>\s*+<a:\w++\s[^<>]*?(?:val|lastClr)="FFFFFF\"""")
"""Of a theme: its light colour is white. A master says by `bg1="lt1"` that its slides stand on that."""

_OTHER_COLOURS: Final = b"<a:overrideClrMapping"
"""In slides and layouts whose light colour may be another than the master's (ISO/IEC 29500-1, 20.1.6.8)."""

_SHAPE: Final = re.compile(rb"<(/?)p:(sp|pic|graphicFrame|cxnSp|grpSp)>")
_LINE: Final = re.compile(rb"<a:ln(?=[\s>])[^<>]*+>.{0,600}?</a:ln>", re.DOTALL)
_FILL: Final = re.compile(rb"""<a:(?:solid|grad|blip|patt|grp)Fill[\s/>]|<a:fillRef\s++idx="[1-9]""")
_HOLDER: Final = re.compile(rb"<p:ph(?=[\s/>])([^<]*+)")
_MOST_COMPARED: Final = 1_000_000
"""Pairs of a shape with white words and a coloured one: a quarter of a second."""


class _PlaceholderPlace(NamedTuple):
    kind: str
    box: Box | None


_Places = dict[tuple[str, str], _PlaceholderPlace]
"""The placeholders of a layout or a master by number (`"idx", "1"`) and by type (`"type", "title"`)."""
_OF_MASTERS: Final = {
    "ctrTitle": "title",
    **dict.fromkeys(("subTitle", "obj", "chart", "tbl", "clipArt", "dgm", "media", "pic"), "body"),
}
"""The type of a master's placeholder from which one of another type takes its place."""


class Placeholders:
    """The positions of the placeholders on the layouts of one presentation."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._parents: dict[str, str] = {}
        self._parts: dict[str, _Places] = {}

    def box(self, slide: str, placeholder: PlaceholderKey) -> Box | None:
        """The position of a placeholder in the part `slide` that has none of its own; None if nothing gives it one.

        The index identifies its counterpart more reliably than the type.
        """
        layout = self.above(slide, "slideLayout")
        on_layout = self._places(layout)
        match = next((on_layout[key] for key in _keys(placeholder) if key in on_layout), None)
        if match is not None and match.box is not None:
            return match.box
        kind = (match or placeholder).kind
        master = self._places(self.above(layout, "slideMaster"))
        match = master.get(("type", _OF_MASTERS.get(kind, kind)))
        return None if match is None else match.box

    def above(self, part: str, kind: str) -> str:
        """The layout or master of that kind that a part is based on; "" if it has none."""
        if part not in self._parents:
            around = self._package.relationships(part) if part else []
            self._parents[part] = next((item.target for item in around if item.kind == kind), "")
        return self._parents[part]

    def _places(self, part: str) -> _Places:
        if part not in self._parts:
            self._parts[part] = _scan(self._package.scan(part))
        return self._parts[part]


def _scan(data: bytes) -> _Places:
    """The placeholders of a layout or a master, with the positions that it gives them itself."""
    places: _Places = {}
    at = 0
    while (tag := _HOLDER.search(data, at)) is not None:
        end = data.find(b"</p:sp>", tag.end())
        at = end if end >= 0 else len(data)
        key, box = key_in(tag[1]), box_in(data, tag.end(), at)
        for known_by in _keys(key):
            if box is None:
                places.setdefault(known_by, _PlaceholderPlace(key.kind, None))
            else:
                places[known_by] = _PlaceholderPlace(key.kind, box)
    return places


def _keys(placeholder: PlaceholderKey) -> list[tuple[str, str]]:
    by_type = ("type", "title" if placeholder.kind == "ctrTitle" else placeholder.kind)
    return [("idx", placeholder.number), by_type] if placeholder.number else [by_type]


class _Drawn(NamedTuple):
    """A shape, and where its content lies in its part; no box if that is not known."""

    start: int
    end: int
    box: Box | None
    is_coloured: bool
    is_placeholder: bool


class UnseenText:
    """Finds such words on the slides of one presentation."""

    def __init__(self, package: Package, placeholders: Placeholders) -> None:
        self._package = package
        self._placeholders = placeholders
        self._scan, self._drawn = cache(package.scan), cache(_drawn)  # many slides share a layout, a master and a theme

    def mark(self, slide: str, data: bytes) -> bytes:
        """The part of a slide with its unseen words enclosed; itself if it has none."""
        if _RUN.search(data) is None:
            return data
        parts = [(slide, data)]
        for kind in ("slideLayout", "slideMaster"):
            above = self._placeholders.above(parts[-1][0], kind)
            parts.append((above, self._scan(above)))
        if not self._stands_on_white([content for _, content in parts], parts[-1][0]):
            return data
        around = [shape for _, content in parts[1:] for shape in self._drawn(content) if shape.is_coloured]
        if any(shape.is_placeholder for shape in around):  # its shapes on slides look the same
            return data
        shapes = _drawn(data)
        around += (shape for shape in shapes if shape.is_coloured)
        white = [shape for shape in shapes if not shape.is_coloured and _RUN.search(data, shape.start, shape.end)]
        if len(white) * len(around) > _MOST_COMPARED:
            return data
        pieces: list[bytes] = []
        done = 0
        for shape in white:
            holder = _HOLDER.search(data, shape.start, shape.end)
            box = shape.box or (self._placeholders.box(slide, key_in(holder[1])) if holder else None)
            if box is not None and not _is_over(box, around):
                pieces += data[done : shape.start], _RUN.sub(xml.MARK_UNSEEN, data[shape.start : shape.end])
                done = shape.end
        return b"".join((*pieces, data[done:]))

    def _stands_on_white(self, parts: Sequence[bytes], master: str) -> bool:
        """Whether a slide's background is white; `parts` are the slide, its layout and its master."""
        if not parts[-1] or b'bg1="lt1"' not in parts[-1] or any(_OTHER_COLOURS in part for part in parts[:-1]):
            return False
        themes = [item.target for item in self._package.relationships(master) if item.kind == "theme"]
        if not themes or not _LIGHT.search(self._scan(themes[0])):
            return False
        background = next((part for part in parts if _BACKGROUND.search(part)), None)
        return background is None or _WHITE_BACKGROUND.search(background) is not None


def _drawn(data: bytes) -> list[_Drawn]:
    """The shapes of a part that are not in groups, and all that are coloured."""
    shapes: list[_Drawn] = []
    depth = 0
    tags = [*_SHAPE.finditer(data)]
    starts = [*(tag.start() for tag in tags), len(data)]
    for tag, end in zip(tags, starts[1:], strict=True):
        closes, kind = tag.groups()
        if kind == b"grpSp":
            depth += -1 if closes else 1
        elif not closes:
            words = data.find(b"<p:txBody", tag.end(), end)
            head = _LINE.sub(b"", data[tag.end() : words if words >= 0 else end])
            is_coloured = kind != b"sp" or _FILL.search(head) is not None
            is_placeholder = _HOLDER.search(head) is not None
            box = None if depth else box_in(head)
            if is_coloured or not depth:
                shapes.append(_Drawn(tag.end(), end, box, is_coloured, is_placeholder))
    return shapes


def _is_over(box: Box, others: Sequence[_Drawn]) -> bool:
    """Whether a box may lie over one of these shapes."""
    left, top, width, height = box
    return any(
        other.box is None
        or (
            left < other.box[0] + other.box[2]
            and other.box[0] < left + width
            and top < other.box[1] + other.box[3]
            and other.box[1] < top + height
        )
        for other in others
    )


_AUTHOR: Final = re.compile(rb"<(?:[\w.-]++:)?(?:cmAuthor|author)(?=\s)([^<]*+)")
_EVENT: Final = re.compile(
    rb"<(?:p:text%b(?<!/)>([^<]++)|(?:[\w.-]++:)?(cm|reply|txBody)(?=[\s/>])([^<]*+)|(/)(?:[\w.-]++:)?(?:cm|reply)\s*+>)"
    % xml.ATTRIBUTES
)
_BODY_END: Final = re.compile(rb"</(?:[\w.-]++:)?txBody\s*+>")
_AUTHOR_KINDS: Final = ("commentAuthors", "authors")
_MOST_AUTHORS: Final = 10_000
_DEEPEST: Final = 100


class Comment(NamedTuple):
    """A comment on a slide; author and date are "" if the file does not give them."""

    author: str
    date: str
    words: str


class _Open:
    """A comment or reply whose end was not found yet: its words come after the replies to it."""

    def __init__(self, attributes: bytes) -> None:
        self.attributes = attributes
        self.words: list[str] = []
        self.replies: list[Comment] = []


class Comments:
    """The comments of one presentation, whose main part is `main`."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._main = main

    def of(self, part: str) -> Iterator[Comment]:
        """The comments of a part that have words, in order, with replies after the comment that they answer."""
        data = self._package.scan(part)
        opened: list[_Open] = []
        at = 0
        while (event := _EVENT.search(data, at)) is not None:
            words, name, attributes, closes = event.groups()
            at = event.end()
            if closes:
                if opened:
                    yield from self._close(opened)
            elif name == b"txBody":
                end = _BODY_END.search(data, at)
                stop = end.start() if end is not None else len(data)
                if opened:
                    opened[-1].words += drawings.paragraphs(data, at, stop)
                at = stop
            elif words is not None:
                if opened:
                    opened[-1].words.append(xml.unescape(words.decode("utf-8", "replace")))
            elif not attributes.rstrip().endswith(b"/>") and len(opened) < _DEEPEST:
                opened.append(_Open(attributes))
        while opened:
            yield from self._close(opened)

    def _close(self, opened: list[_Open]) -> Iterator[Comment]:
        """The innermost open comment with its replies; a reply is attached to the comment that it answers."""
        closed = opened.pop()
        date = xml.attribute(closed.attributes, b"dt") or xml.attribute(closed.attributes, b"created")
        author = self._authors.get(xml.attribute(closed.attributes, b"authorId"), "")
        words = one_line(" ".join(closed.words))
        comments = [Comment(author, date, words)] if words else []
        comments += closed.replies
        if opened:
            opened[-1].replies += comments
        else:
            yield from comments

    @cached_property
    def _authors(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for item in self._package.relationships(self._main):
            if item.kind in _AUTHOR_KINDS:
                for author in _AUTHOR.finditer(self._package.scan(item.target)):
                    name = xml.attribute(author[1], b"name") or xml.attribute(author[1], b"initials")
                    names.setdefault(xml.attribute(author[1], b"id"), name)
                    if len(names) >= _MOST_AUTHORS:
                        return names
        return names


_ROOT: Final = re.compile(rb"<p:presentation(?=[\s>])")
_SLIDE: Final = re.compile(rb"<p:sldId(?=\s)([^<]*+)")
_HIDDEN: Final = re.compile(rb"""<p:sld(?=\s)[^<]*?\sshow\s*+=\s*+["'](?:0|false|off)["']""")
_NUMBER_FIELD: Final = re.compile(
    rb"""<a:fld(?=\s)[^<]*?\stype\s*+=\s*+["']slidenum["'][^<]*+(?:<(?!a:t[\s>]|/a:fld)[^<]*+){0,60}+<a:t[^<]*?>([0-9]++)<"""
)
_AROUND: Final = ("notesSlide", "comments")
_MOST_PIECES: Final = 500_000
_MOST_TEXT: Final = 64 << 20
"""The most shapes and comments, and characters of text, that a presentation may hold."""


def read(source: Source) -> Reading:
    """The text of the presentation in `source`, by slide and shape.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return read_package(_Presentation, source)


class _Presentation:
    """One pass over the slides."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self._package = package
        self._main = package.main_part("ppt/presentation.xml")
        self._drawings = Drawings(package)
        self._placeholders = Placeholders(package)
        self._unseen = UnseenText(package, self._placeholders)
        self._comments = Comments(package, self._main)
        self._written: set[str] = set()
        self._pieces_left = _MOST_PIECES
        self._text_left = _MOST_TEXT

    def write(self) -> None:
        slides = self._slides()
        for number, slide in enumerate(slides, 1):
            with self.writer.part(SLIDE, str(number)):
                self._write_slide(slide, str(number))
        around = (item for slide in slides for item in self._package.relationships(slide))
        attach_embedded(self._package, (item.target for item in around if item.kind in EMBEDDED_KINDS), self.writer)

    def _slides(self) -> list[str]:
        """The names of the slides' parts, in the order of the slide show."""
        data = self._package.scan(self._main)
        if _ROOT.match(data) is None:
            raise Damaged("The file holds no presentation. Ask for it again, or give it the ending of its format.")
        targets = {related.id: related.target for related in self._package.relationships(self._main)}
        named = (targets.get(xml.attribute(slide, b"r:id"), "") for slide in _SLIDE.findall(data))
        return [name for name in dict.fromkeys(named) if name]

    def _write_slide(self, part: str, number: str) -> None:
        data = self._package.scan(part)
        if not data:
            if part not in self._package:
                self._package.note_damage()
            return
        data = self._unseen.mark(part, data)
        found = shapes(data, partial(self._drawings.lines, part), partial(self._placeholders.box, part))
        if _HIDDEN.match(data) is None:
            self._write_slide_parts(part, found)
            return
        written = [*found]
        if written or any(item.kind in _AROUND for item in self._package.relationships(part)):
            with self.writer.place(HIDDEN_SLIDE, number):
                self.writer.line(HIDDEN_SLIDE_MARK)
                self._write_slide_parts(part, written)

    def _write_slide_parts(self, part: str, found: Iterable[Shape]) -> None:
        self._write_shapes(found)
        around = self._package.relationships(part)
        for notes in self._unwritten(around, "notesSlide"):
            self._write_notes(notes)
        for comments in self._unwritten(around, "comments"):
            for author, date, words in self._comments.of(comments):
                self._place(COMMENT, make_label(author, date), comment_mark(author, date, words))

    def _unwritten(self, around: list[Relationship], kind: str) -> list[str]:
        """The parts of that kind that were not written yet: a hostile file uses one for many slides."""
        named = dict.fromkeys(item.target for item in around if item.kind == kind)
        names = [name for name in named if name not in self._written]
        self._written.update(names)
        return names

    def _write_shapes(self, found: Iterable[Shape]) -> None:
        described: set[str] = set()  # the same logo may stand on a slide many times
        for count, shape in enumerate(found, 1):
            name, alternative = shape.name or str(count), shape.alternative
            hidden = [shape.text, alternative] if shape.is_hidden else xml.UNSEEN_WORDS.findall(shape.text)
            if hidden:
                self.writer.warn(
                    "Hidden shapes and white words of slides are listed separately, marked as hidden, "
                    "and are not evidence."
                )
                self._place(UNSEEN, "", unseen_mark(" ".join(hidden)))
                shape.text = xml.UNSEEN_WORDS.sub("", shape.text)
                if shape.is_hidden or not (shape.text.strip() or alternative):
                    continue
            if alternative in described:
                alternative = ""
            if not alternative and shape.header_rows is None:
                self._place(SHAPE, name, shape.text)
                continue
            with self.writer.place(SHAPE, name):
                if shape.header_rows is not None:
                    self._place(TABLE, shape.header_rows, shape.text)
                else:
                    self._write(shape.text)
                if alternative:
                    described.add(alternative)
                    self._place(ALTERNATIVE_TEXT, "", alternative)

    def _write_notes(self, part: str) -> None:
        """Write the speaker's notes, without the shape that only holds the slide's number."""
        data = self._package.scan(part)
        numbers = frozenset(_NUMBER_FIELD.findall(data))
        for shape in shapes(data, partial(self._drawings.lines, part), _nowhere):
            if not _is_slide_number(shape, numbers):
                self._place(SPEAKER_NOTE, shape.name, shape.text)

    def _place(self, kind: str, label: str, text: str) -> None:
        self._spend(text)
        self.writer.placed(kind, label, text)

    def _write(self, text: str) -> None:
        self._spend(text)
        self.writer.text(text)

    def _spend(self, text: str) -> None:
        self._pieces_left -= 1
        self._text_left -= len(text)
        if self._pieces_left < 0 or self._text_left < 0:
            raise TooLarge("The presentation holds more text than can be read. Split it.")


def _is_slide_number(shape: Shape, fields: frozenset[bytes]) -> bool:
    """Whether a shape in the notes contains only the slide's number.

    Old programs write no placeholder for it; `fields` are the slide numbers in these notes.
    """
    words = shape.text.strip()
    key = shape.placeholder
    if not words.isdecimal():
        return False
    return key.kind == "sldNum" if key is not None else words.encode() in fields


def _nowhere(_: object) -> None:
    """None: placeholders in notes have only positions of their own; the others are read in file order."""
