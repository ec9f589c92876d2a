"""The concepts that sentences name, and the words around a name that make it another one or say its amount."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from tasks.figures.figure import DATA, SHORT_NAMES, Concept, Taxonomy, either, spellings, words_in
from tasks.language.locales import spell_out


def _more(kind: str, concept: Concept) -> Iterator[str]:
    """Further words for a concept in sentences, in all languages."""
    for words in DATA[kind].get(concept.id, {}).values():
        yield from words


CLAUSES: Final = frozenset(
    spelling
    for by_language in DATA["clauses"].values()
    for written in chain.from_iterable(by_language.values())
    for spelling in spellings(written)
)
"""Mentions with who does it in them, before which any word may stand: "we owed the bank"."""
PART_STEMS: Final = words_in("part_stems")


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
            for written in (*concept.mentions, *_more("mentions", concept), *_more("clauses", concept)):
                for spelling in spellings(written):
                    for words in {spelling, spelling.replace(" and ", " & ")}:
                        self._by_words.setdefault(words.lower(), concept)
        self._pattern = re.compile(rf"(?<![\w-]){spell_out(self._by_words)}(?![\w-])")

    def find(self, lower: str, sentence: str) -> Iterator[tuple[Concept, re.Match[str]]]:
        """The concepts that a sentence names, and where; `lower` is the sentence in lower case."""
        for match in self._pattern.finditer(lower.replace("’", "'")):
            # a short name is one in capitals alone
            if match.group() not in self._short or sentence[match.start() : match.start() + 2].isupper():
                yield self._by_words[match.group()], match


Mention = tuple[Concept, re.Match[str]]


@lru_cache(maxsize=4)
def find_mentions(taxonomy: Taxonomy, language: str) -> Mentions:
    """Finds mentions in texts of a language; shared by the texts of a room."""
    return Mentions(taxonomy, SHORT_NAMES.get(language, {}))


BEFORE: Final = frozenset(" ".join(DATA["before"].values()).split())
"""Words that may stand right before a concept without making it another."""
SHORT_LEAD: Final = 30
CASH: Final = frozenset({"cash", "cash and cash equivalents"})
STATED_ALONE: Final = frozenset({"equity", "debt", "sales", "ventas", "ventes", "vendite", "vendas"})
"""Names of concepts that are parts of many others: what they are called alone is stated in so many words."""
STATED: Final = re.compile(
    r"\s*(?:,? ?(?:at|as at|as of|on|in|for|per|au|al?|el|en|nel|em) (?=[^.;:,]{0,40}\d)(?:the )?[^.;:,]{3,45}?,? ?)?"
    rf"(?:(?:had|have|has) )?(?:{either('stated')}|:|=)?\s*(?:(?:(?:just|only) )?(?:{either('about')} )?)?",
    re.IGNORECASE,
)
"""All that stands between such a name and its amount: "Equity at 31 May 2024 was", "debt of"; not "debt service of"."""
STATED_AMOUNT: Final = re.compile(rf"{STATED.pattern}(?:[A-Z]{{1,3}}|Rs\.?)? ?[$€£¥₹]? ?\d", re.IGNORECASE)
"""The same up to the amount: without it the name is not looked at."""
