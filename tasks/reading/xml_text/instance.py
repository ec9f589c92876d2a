"""XBRL instances (.xbrl, .xml): accounts consisting only of tags, written as one line for each fact.

The file is read as events according to the XBRL 2.1 specification: nothing is downloaded, no entity is expanded.
"""

import re
from typing import Final

from lxml import etree

from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.ooxml import xml
from tasks.reading.places import TAGGED
from tasks.reading.tags import RESOURCES, Fact, Tags, local
from tasks.reading.text_writer import Reading, Writer
from tasks.reading.txt.reader import TOO_LONG

_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?xbrl[\s>]")
_NAMESPACE: Final = b"http://www.xbrl.org/2003/instance"
_HEAD: Final = 8192
_CHUNK: Final = 1 << 16
_MARKUP: Final = re.compile(r"<[^<>]*>|&\w+;")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def is_instance(data: bytes) -> bool:
    """Whether this is the beginning of an XBRL instance."""
    return _NAMESPACE in data[:_HEAD] and _ROOT.search(data[:_HEAD]) is not None


def read(data: bytes, *, complete: bool = True) -> Reading:
    """The facts of the instance, each with its name, period, unit and value; `complete`: this is the whole file."""
    writer = Writer()
    if not complete:
        writer.warn(TOO_LONG)
    instance = _Instance()
    parser = xml.parser(recover=True, target=instance)
    try:
        for at in range(0, len(data), _CHUNK):
            if limits.is_near():
                writer.warn(TOO_LONG)
                break
            parser.feed(data[at : at + _CHUNK])
        parser.close()
    except etree.XMLSyntaxError:
        writer.warn("The file is damaged: only its beginning was read.")
    for fact in instance.facts:
        words = one_line(_MARKUP.sub(" ", "".join(fact.words)))
        tag = instance.tags.tag(fact) if "unitref" in fact.attributes else None
        named = _HUMP.sub(" ", fact.name)
        of_when = f", {tag.period.replace('/', ' to ')}: {tag.unit} " if tag is not None and tag.period else ": "
        if words:
            start = writer.position + len(named) + len(of_when)
            writer.line(named + of_when + words)
            if tag is not None:
                writer.mark(start, start + len(words), TAGGED, tag.label)
    return writer.reading()


class _Instance:
    """The target to which the parser reports its events."""

    def __init__(self) -> None:
        self.tags = Tags()
        self.facts: list[Fact] = []
        self._open: Fact | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle the beginning of an element."""
        name = local(tag)
        plain = {key.lower(): value for key, value in attributes.items()}
        if name.lower() in RESOURCES and "contextref" not in plain:
            self.tags.resource(name.lower(), plain)
        elif "contextref" in plain:
            self._open = Fact(name, plain)
            self.facts.append(self._open)

    def data(self, text: str) -> None:
        """Handle characters."""
        self.tags.words(text)
        if self._open is not None:
            self._open.words.append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if (name := local(tag).lower()) in RESOURCES:
            self.tags.end_resource(name)
        elif self._open is not None and local(tag) == self._open.name:
            self._open = None

    def close(self) -> None:
        """Handle the end of the file."""
