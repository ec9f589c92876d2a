"""Elements of OpenDocument one by one: what they are, their children, and the line that a paragraph becomes."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree

from tasks.language.normalise import clean, one_line
from tasks.reading.odf.package import name

DEEPEST: Final = 40
"""Levels of elements within each other that are followed; what lies deeper is written as flat words."""

TEXT, DRAW, TABLE = (name(f"{prefix}:x")[:-1] for prefix in ("text", "draw", "table"))
SKIPPED: Final = frozenset(
    map(
        name,
        (
            "text:tracked-changes", "text:note-citation", "text:script", "text:number", "text:sequence-decls",
            "text:variable-decls", "text:user-field-decls", "text:dde-connection-decls",
            "text:alphabetical-index-auto-mark-file",
            "text:table-of-content-source", "text:alphabetical-index-source", "text:illustration-index-source",
            "text:table-index-source", "text:object-index-source", "text:user-index-source", "text:bibliography-source",
            "office:forms", "office:annotation-end", "office:event-listeners", "office:binary-data", "svg:title",
            "svg:desc", "presentation:notes", "table:table-source", "table:shapes",
        ),
    )
)  # fmt: skip


def local_name(element: etree._Element) -> str:
    """The name of an element without its namespace; of damaged parts, whose names lxml's `QName` refuses, too."""
    return str(element.tag).rpartition("}")[2]


class OdfLine:
    """A paragraph as it is put together: its words, what is to be written after it, and where changes begin and end."""

    def __init__(self, label: str = "", heading: bool = False) -> None:
        self.heading = heading
        self.asides: list[etree._Element] = []
        self.changes: list[tuple[int, str, str]] = []
        self._label = label
        self._pieces = [f"{label} "] if label else []
        self._length = len(label) + 1 if label else 0
        self._words = False

    def add(self, text: str) -> None:
        text = clean(text)
        self._words = self._words or not text.isspace()
        self._pieces.append(text)
        self._length += len(text)

    def change(self, kind: str, id_: str) -> None:
        self.changes.append((self._length, kind, id_))

    def text(self) -> str:
        """The words behind their label; without words the label alone if it counts, as office programs show it."""
        if not self._words:
            return "" if self._is_bullet() else self._label
        return "".join(self._pieces).rstrip()

    def without_bullet(self) -> str:
        """The same, for a cell, whose figure must not stand behind a bullet; numbers stay."""
        return self.text()[len(self._label) + 1 :] if self._label and self._is_bullet() else self.text()

    def _is_bullet(self) -> bool:
        return not any(map(str.isalnum, self._label))


def repeats(element: etree._Element, attribute: str, most: int) -> int:
    """A count that an attribute gives: 1 where it says nothing, never more than `most`."""
    value = element.get(attribute)
    if value is None:
        return 1
    return min(max(1, int(value)), most) if value.isascii() and value.isdecimal() and len(value) < 12 else 1


def start_value(item: etree._Element) -> int | None:
    value = item.get(name("text:start-value"))
    return int(value) if value is not None and value.isascii() and value.isdecimal() and len(value) < 8 else None


def elements(parent: etree._Element) -> Iterator[etree._Element]:
    return (child for child in parent if isinstance(child.tag, str))


def rows(table: etree._Element, depth: int) -> Iterator[etree._Element]:
    """The rows of a table, those of groups and headers too."""
    for child in elements(table):
        if child.tag == name("table:table-row"):
            yield child
        elif child.tag.startswith(TABLE + "table-") and child.tag.endswith(("rows", "group")) and depth < DEEPEST:
            yield from rows(child, depth + 1)


def is_shape(element: etree._Element) -> bool:
    return element.tag.startswith(DRAW) and element.tag not in _NO_SHAPES


_NO_SHAPES: Final = frozenset(
    map(
        name,
        ("draw:a", "draw:text-box", "draw:image", "draw:glue-point", "draw:enhanced-geometry", "draw:page-thumbnail"),
    )
)


def flat(element: etree._Element) -> str:
    return " ".join(str(text) for text in element.itertext())


def formula(math: etree._Element) -> str:
    """The words of a formula, without what a program keeps for itself."""
    words = (text for text in math.itertext() if text.strip())
    return one_line(" ".join(str(text) for text in words if not _is_annotation(text)))


def _is_annotation(text: object) -> bool:
    parent = text.getparent() if hasattr(text, "getparent") else None
    return parent is not None and str(parent.tag).endswith("}annotation")


def has_rows(table: etree._Element) -> bool:
    """Whether a table in a cell has several rows of several cells: else its words are those of the cell."""
    found = list(islice(table.iter(name("table:table-row")), 2))
    return len(found) > 1 and any(len(row.findall(name("table:table-cell"))) > 1 for row in found)
