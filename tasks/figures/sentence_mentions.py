"""Which concepts a sentence names, and where: by the taxonomy's mentions and by a language's short names."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tasks.figures.abbreviations import SHORT_NAMES
from tasks.figures.concepts import Concept, Taxonomy, spellings


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
