"""The comments on slides: those of before 2021 (`p:cm`, ECMA-376 part 1, 19.4), and threads (`p188:cm`, MS-PPTX 2.6).

Scanned as bytes, in the form that `canonical` gives. The authors stand in parts of their own, which the presentation
leads to.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from tasks.language.normalise import one_line
from tasks.reading.ooxml import drawings, xml
from tasks.reading.ooxml.package import Package

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
    """A remark on a slide; author and date are "" where the file does not tell them."""

    author: str
    date: str
    words: str


class _Open:
    """A comment or reply whose end was not yet found: its words stand behind the replies to it."""

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
        """The comments of a part that has words, in order, the replies after the comment that they answer."""
        data = self._package.scan(part)
        opened: list[_Open] = []
        at = 0
        while (event := _EVENT.search(data, at)) is not None:
            words, name, attributes, closes = event.groups()
            at = event.end()
            if closes:
                if opened:
                    yield from self._closed(opened)
            elif name == b"txBody":
                end = _BODY_END.search(data, at)
                stop = end.start() if end is not None else len(data)
                if opened:
                    opened[-1].words += drawings.paragraphs(data, at, stop)
                at = stop
            elif words is not None:
                if opened:
                    opened[-1].words.append(xml.unescaped(words.decode("utf-8", "replace")))
            elif not attributes.rstrip().endswith(b"/>") and len(opened) < _DEEPEST:
                opened.append(_Open(attributes))
        while opened:
            yield from self._closed(opened)

    def _closed(self, opened: list[_Open]) -> Iterator[Comment]:
        """The innermost open comment with the replies to it; a reply goes to the comment that it answers."""
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
        """The names of the authors by their numbers."""
        names: dict[str, str] = {}
        for item in self._package.relationships(self._main):
            if item.kind in _AUTHOR_KINDS:
                for author in _AUTHOR.finditer(self._package.scan(item.target)):
                    name = xml.attribute(author[1], b"name") or xml.attribute(author[1], b"initials")
                    names.setdefault(xml.attribute(author[1], b"id"), name)
                    if len(names) >= _MOST_AUTHORS:
                        return names
        return names
