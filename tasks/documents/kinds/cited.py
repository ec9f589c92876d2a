"""The documents that a text names and does not contain: agreements by kind and date, and annexes."""

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final

from tasks.documents.kinds.catalogue import find_kinds, plain_words, read_file
from tasks.documents.kinds.sketches import fold_words
from tasks.documents.kinds.titles import ANNEXES
from tasks.language.periods import dates

Cited = tuple[str | None, str | None, str, int, int]
"""Its kind and day where it has them, its words, and where they begin and end."""
_LOOKED_AT: Final = 400_000
_CITED_PART: Final = re.compile(
    rf"\b({'|'.join(ANNEXES)})\s+([A-Z](?:-\d{{1,2}})?+|[IVX]+|\d{{1,2}}(?:\.\d{{1,2}})?+)\b(?![’'])"
    r"(?!\s+(?:\([^)]{0,60}\)\s+)?attached\s+to\s+(?:the\s+|that\s+)?(?-i:(?:[A-Z]\w+\s+){1,4})(?:no\.?\s*\d|dated\s))",
    re.IGNORECASE,
)


def find_cited(text: str, title: str | None, days: Collection[str]) -> Iterator[Cited]:
    """The agreements that a text names by kind and date, and annexes that it refers to but does not contain.

    A document of the kind `title` with one of the `days` (ISO 8601) is the text itself, and not a reference.
    """
    present = frozenset(fold_words(text))  # a pattern takes as long as all words
    yield from _find_agreements(text, present, title, days)
    if not present.isdisjoint(ANNEXES):
        yield from _find_annexes(text)


def _find_agreements(text: str, present: frozenset[str], title: str | None, days: Collection[str]) -> Iterator[Cited]:
    known: set[tuple[str, str]] = set()
    pattern, phrases = _date_pattern()
    for match in pattern.finditer(text, 0, _LOOKED_AT) if any(map(present.issuperset, phrases)) else ():
        before = text[max(0, match.start() - 90) : match.start()].split()
        words = plain_words(" ".join(before[-8:]))
        named = find_kinds(words)
        when = next((when for when in dates(text[match.end() : match.end() + 24].partition("\n")[0]) if when.end), None)
        if not named or not named[-1].kind.signed or len(words) - named[-1].end > 12 or when is None or not when.end:
            continue
        key = (named[-1].kind.id, when.end.isoformat())
        if key in known or (key[0] == title and key[1] in days):
            continue
        known.add(key)
        end = match.end() + when.stop
        if len(text[text.rfind("\n", 0, match.start()) + 1 : end].split()) <= 4 and text[end : end + 1] in {"", "\n"}:
            continue  # the heading of a part of this text
        name = words[named[-1].start : named[-1].end]
        written = next(part for at in range(1, 9) if name in plain_words(part := " ".join(before[-at:])))
        yield *key, f"{written} {text[match.start() : end]}", match.start(), end


def _find_annexes(text: str) -> Iterator[Cited]:
    known: set[str] = set()
    annexed = read_file("marks.toml")["text"]["annexed"]
    for match in _CITED_PART.finditer(text, 0, _LOOKED_AT):
        label = f"{match[1].capitalize()} {match[2]}"
        around = text[max(0, match.start() - 60) : match.end() + 40].casefold()
        if label in known or not any(words in around for words in annexed):
            continue
        known.add(label)
        heading = rf"[ \t#*_>|\[(]*{re.escape(match[1])}\s+{re.escape(match[2])}\b[^\n]{{0,100}}$"
        if not any(re.search(f"(?im){begin}{heading}", text) for begin in "^\f"):  # each soon found
            yield None, None, label, match.start(), match.end()


@cache
def _date_pattern() -> tuple[re.Pattern[str], frozenset[frozenset[str]]]:
    """The pattern for the words before a date, and the words that each of its phrases has."""
    phrases = read_file("marks.toml")["text"]["dated"]
    words = "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))
    parts = frozenset(frozenset(fold_words(phrase)) for phrase in phrases)
    return re.compile(rf"\b(?:{words})\s+(?=[^\n]{{0,12}}\d)", re.IGNORECASE), parts
