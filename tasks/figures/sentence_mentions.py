"""The sentences of a text that stand in no table, and which concepts each names.

Wrapped lines are one sentence, and a line of a list is one of its own. Concepts are named by the taxonomy's mentions
and by a language's short names.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from tasks.figures.abbreviations import SHORT_NAMES
from tasks.figures.concepts import Concept, Taxonomy, spellings
from tasks.language.locales import month_names

_LONGEST: Final = 600
"""Characters of a sentence that is looked at."""

_SENTENCE: Final = re.compile(
    r"(?<=[.;!?])(?<!Mio\.)(?<!Mrd\.)(?<!Tsd\.)(?<!rd\.)(?<!ca\.)(?<!Nr\.)(?<!Rs\.)\s+"
    rf"(?!(?:{'|'.join(month_names('de'))})\b)(?=[A-ZÄÖÜÉ0-9(“\"•–-])|\n(?=[•\-–\d(]|[A-ZÄÖÜ][^\n:(]{{0,60}}(?:\([^\n)]*\)[^\n:(]{{0,20}})?:)|\f|\n\s*\n"
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


class Mentions:
    """Finds the concepts that sentences name."""

    def __init__(self, taxonomy: Taxonomy, short_names: Mapping[str, str]) -> None:
        self._by_words: dict[str, Concept] = {}
        self._short = {}
        for short, name in short_names.items():
            meaning = taxonomy.meaning(name)
            if meaning is not None:
                self._short[short] = self._by_words[short] = meaning.concept
        for concept in taxonomy.concepts.values():
            for written in concept.mentions:
                for spelling in spellings(written):
                    self._by_words.setdefault(spelling.lower(), concept)
        by_letter: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._by_words, key=len, reverse=True):
            by_letter[word[0]].append(re.escape(word[1:]))
        # A branch that begins with its letter lets the search pass by all other letters at once.
        self._pattern = re.compile(
            "|".join(
                rf"{re.escape(letter)}(?<![\w-]{re.escape(letter)})(?:{'|'.join(rest)})(?![\w-])"
                for letter, rest in by_letter.items()
            )
        )

    def find(self, lower: str, sentence: str) -> Iterator[tuple[Concept, re.Match[str]]]:
        """The concepts that a sentence names, and where; `lower` is the sentence in lower case."""
        for match in self._pattern.finditer(lower):
            # a short name is one in capitals alone
            if match.group() not in self._short or sentence[match.start() : match.start() + 2].isupper():
                yield self._by_words[match.group()], match


@lru_cache(maxsize=4)
def mentions_of(taxonomy: Taxonomy, language: str) -> Mentions:
    """What finds mentions in texts of a language; texts of a room have it in common."""
    return Mentions(taxonomy, SHORT_NAMES.get(language, {}))
