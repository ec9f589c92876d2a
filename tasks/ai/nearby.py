"""Selects the parts of a very long text that concern given statements, for a check that would hold all sentences.

A check needs some fifty bytes for each character of a source, and takes seconds for a megabyte. From a source above
`LONGEST` it gets the parts that share most with each statement, each with the part before it, which may contain a
table's header.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from tasks import cancellation
from tasks.ranking import WordIndex, rank

LONGEST: Final = 500_000
"""Characters of a source that is checked whole."""
_PART: Final = 4_000
"""Characters of a part, at most; it ends with a line, where there is one."""
_AT_ONCE: Final = 500
"""Parts that are ranked together."""
_MOST: Final = 20
"""Parts for each statement; a check looks at eight sentences."""

Span = tuple[int, int]


def nearby(statements: Sequence[str], text: str) -> str:
    """The text or, if it is longer than `LONGEST`, the parts close to one of the statements, in order."""
    if len(text) <= LONGEST:
        return text
    spans = list(_spans(text))
    candidates: dict[str, list[int]] = {statement: [] for statement in statements}
    for first in range(0, len(spans), _AT_ONCE):
        cancellation.check()
        index = WordIndex([text[start:end] for start, end in spans[first : first + _AT_ONCE]])
        for statement, found in candidates.items():
            found += [first + place for place, _ in index.rank(statement, _MOST)]
    kept: set[int] = set()
    for statement, found in candidates.items():
        for place, _ in rank([text[slice(*spans[number])] for number in found], statement, _MOST):
            kept |= {found[place], max(found[place] - 1, 0)}
    return "\n".join(text[slice(*spans[number])] for number in sorted(kept))


def _spans(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        middle, end = start + _PART // 2, start + _PART
        if end < len(text):
            end = text.rfind("\n", middle, end) + 1 or text.rfind(" ", middle, end) + 1 or end
        yield start, min(end, len(text))
        start = end
