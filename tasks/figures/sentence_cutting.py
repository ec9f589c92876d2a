"""The sentences of a text that stand in no table: wrapped lines are one, and a line of a list is one of its own."""

import re
from collections.abc import Iterator
from typing import Final

_LONGEST: Final = 600
"""Characters of a sentence that is looked at."""

_SENTENCE: Final = re.compile(
    r"(?<=[.;!?])(?<!Mio\.)(?<!Mrd\.)(?<!Tsd\.)(?<!rd\.)(?<!ca\.)(?<!Nr\.)(?<!Rs\.)\s+"
    r"(?!(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b)(?=[A-ZÄÖÜÉ0-9(“\"•–-])|\n(?=[•\-–\d(]|[A-ZÄÖÜ][^\n:(]{0,60}(?:\([^\n)]*\)[^\n:(]{0,20})?:)|\f|\n\s*\n"
)
_WRAP_END: Final = re.compile(r"[.:;!?]\s*$")
_DIGIT: Final = re.compile(r"\d")


def sentences(text: str, *, wraps: bool = True) -> Iterator[tuple[int, str]]:
    """The sentences with a digit in them that stand in no table, with their offsets.

    Where the format `wraps` its lines, a long one goes on in the next; else a line is a paragraph.
    """
    at = 0
    pending: list[str] = []
    begun = 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if "\t" in line or not line.strip() or "\f" in line:
            if pending:
                yield from _split("\n".join(pending), begun)
                pending = []
            if "\t" not in line and line.strip():
                yield from _split(line, start)
            continue
        if not pending:
            begun = start
        pending.append(line)
        if not wraps or len(line) < 60 or _WRAP_END.search(line) or len(pending) > 40:
            yield from _split("\n".join(pending), begun)
            pending = []
    if pending:
        yield from _split("\n".join(pending), begun)


def _split(paragraph: str, start: int) -> Iterator[tuple[int, str]]:
    if not _DIGIT.search(paragraph):
        return
    at = 0
    for match in _SENTENCE.finditer(paragraph):
        piece = paragraph[at : match.start()]
        if _DIGIT.search(piece):
            yield start + at, piece[:_LONGEST].replace("\n", " ")
        at = match.end()
    piece = paragraph[at:]
    if _DIGIT.search(piece):
        yield start + at, piece[:_LONGEST].replace("\n", " ")
