"""What a plain reader gives: stories, each the words of one place in their order, and the cells of sheets."""

from typing import NamedTuple

from lxml import etree

from tests.fuzz.plain_readers.package import name_of


class Story(NamedTuple):
    """The words of a body, a note, a comment, a shape, a header."""

    kind: str
    words: list[str]


class Cell(NamedTuple):
    """A cell that holds something: `words` are those of a string, None for a number, a date or a truth value.

    What `is_computed` comes from a formula whose value the file does not hold.
    """

    row: int
    column: int
    words: str | None
    is_computed: bool = False


def drawn_lines(element: etree._Element) -> list[str]:
    """The paragraphs of a DrawingML text (part 1, 21.1.2): runs and fields, line breaks as spaces, formulas flat."""
    lines = []
    for paragraph in element.iter():
        if name_of(paragraph) == "a:p":
            pieces = []
            for inner in paragraph.iter():
                if name_of(inner) in ("a:t", "m:t"):
                    pieces.append(inner.text or "")
                elif name_of(inner) == "a:br":
                    pieces.append("\n")
            lines.append("".join(pieces))
    return [line for line in lines if line.strip()]
