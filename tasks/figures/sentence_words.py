"""The words around a figure in a sentence: what they say of it, and which of them speak of something else."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from tasks.figures.concepts import SHORT_NAMES, Concept, Taxonomy, spellings
from tasks.figures.vocabulary import DATA, either, pattern, whole_words, words_in
from tasks.language.numbers import CURRENCY


def _more(kind: str, concept: Concept) -> Iterator[str]:
    """What sentences in any language call a concept besides."""
    for words in DATA[kind].get(concept.id, {}).values():
        yield from words


CLAUSES: Final = frozenset(
    spelling
    for by_language in DATA["clauses"].values()
    for written in chain.from_iterable(by_language.values())
    for spelling in spellings(written)
)
"""Mentions with who does it in them, before which any word may stand: "we owed the bank"."""

AND: Final = re.compile(rf"(?<!\w){either('and')}(?!\w)|/", re.IGNORECASE)
BREAK: Final = re.compile(rf"[,;]|{AND.pattern}", re.IGNORECASE)
"""Between an amount and a time: they need not go together."""

LISTED: Final = pattern("between_listed")

RESPECTIVELY: Final = re.compile(rf",?\s*\b{either('respectively')}(?!\w),?", re.IGNORECASE)
LIGHT: Final = re.compile(
    rf"[\s,;()]|(?<!\w)(?:{either('and')}|{either('respectively')}|{either('light')})(?!\w)|l['’]", re.IGNORECASE
)
"""What goes from an amount or a time to the next of its list."""


PART_STEMS: Final = words_in("part_stems")
SEGMENT: Final = pattern("named_part")

OF_ALL: Final = whole_words("of_the_group")


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


Mention = tuple[Concept, re.Match[str]]


@lru_cache(maxsize=4)
def find_mentions(taxonomy: Taxonomy, language: str) -> Mentions:
    """What finds mentions in texts of a language; texts of a room have it in common."""
    return Mentions(taxonomy, SHORT_NAMES.get(language, {}))


BEFORE: Final = frozenset(" ".join(DATA["before"].values()).split())
"""Words that may stand right before a concept without making it another."""

NOT_BEHIND: Final = pattern("no_concept_before", re.NOFLAG)
LINK: Final = pattern("before_amount")
CHANGE: Final = re.compile(rf"\b{either('change')}\s*(?:{either('about')} )?$", re.IGNORECASE)
BOUND: Final = re.compile(rf"\b{either('bound')}\s*(?:of |the )?(?:about )?$", re.IGNORECASE)
RELATED: Final = pattern("related")

SET_ASIDE: Final = pattern("set_aside")

ASIDE: Final = pattern("said_aside")

BESIDE_IT: Final = pattern("beside_concept")

LEFT_OUT: Final = re.compile(r"\bexcluding\b[^,]{0,60}\bof\s*$", re.IGNORECASE)
"""Between a concept and an amount: the amount is of what was left out."""

NET: Final = re.compile(r"\bnet\s*$", re.IGNORECASE)
DRAWN: Final = re.compile(r"\s*(?:on|under|from|to|during|against)\b", re.IGNORECASE)
"""Behind "borrowings of" an amount: what was borrowed in a time, and not what is owed."""

RANGE: Final = re.compile(r"(?: to | bis |[-–—])(?:[A-Z]{3} |[$€£] ?)?\d")
"""Behind an amount: it goes from there to another."""

REMAINDER: Final = re.compile(r"\b(?:remainder|rest|balance) of\b", re.IGNORECASE)
"""Between a concept and an amount: of what is left of a time."""

OF_ANOTHER: Final = pattern("share_or_change_before")

OF_OTHERS: Final = re.compile(rf"(?<!\w){either('of_another')}[^;:\d]*$", re.IGNORECASE)
OF_OTHERS_BEHIND: Final = re.compile(rf"\s*{either('of_others_behind')}(?!\w)", re.IGNORECASE)
"""Before and behind a concept: it is another company's, or an effect on it."""

OF_MORE: Final = pattern("of_more", re.NOFLAG)

OF_A_PART: Final = pattern("behind_amount_of_a_part")
PLAN: Final = re.compile(rf"\b{either('plan')}\b", re.IGNORECASE)
CLAUSE: Final = re.compile(r"\d[^,;]{0,30}[,;] (?:and |while |und )?")
"""Where an amount ends what is said before a concept: "pro forma revenue was € 5 m, reported revenue …"."""

PLANNED: Final = re.compile(rf"\s*(?:(?:is|are|was|were|wird|werden) )?{either('planned')}\b", re.IGNORECASE)
"""Right behind an amount."""

PERIOD_LEAD: Final = re.compile(rf"\s+{either('period_lead')}$", re.IGNORECASE)
NEGATIVE: Final = re.compile(rf"\b{either('negative_before')}\s*$", re.IGNORECASE)
NEGATIVE_BEHIND: Final = re.compile(rf"\s*{either('negative_behind')}(?!\w)", re.IGNORECASE)
LOSS_BEHIND: Final = re.compile(r"[\s-]*(?:loss(?:es)?|deficit|verlust|fehlbetrag)\b", re.IGNORECASE)
"""Right behind a concept that may be below zero: "the EBITDA loss"."""

ABOUT: Final = re.compile(rf"\b{either('about')}\s*$", re.IGNORECASE)
BEFORE_MENTION: Final = re.compile(r"^[•\-–—*\s]*$")
HEADED: Final = re.compile(r"^[•\-–—*\s]*[A-ZÀ-Ý](?:[^:.;\d]|\b(?:19|20)\d\d\b|(?<=FY)\d\d\b){2,30}:\s*")
"""A line's own heading before its amount: "Headline run rate: $18.4M ARR"."""

CURRENCY_LAST: Final = re.compile(rf"(?:[A-Z]{{3}}|{CURRENCY})\s*$")
SHORT_LEAD: Final = 30
PAID: Final = pattern("cash_paid")

MADE: Final = re.compile(rf"\b{either('made')}(?: (?:[^.;:]|\.\d){{0,50}}(?:,| and))? *$", re.IGNORECASE)
"""Before an amount that has its concept behind it: "we did $ 9.9M in net sales", also as the second of two."""

OF_OR_IN: Final = re.compile(r"\s*(?:(?:of|in)(?: (?:total|net|annual|gross))?)?\s*")
CASH: Final = frozenset({"cash", "cash and cash equivalents"})
OF_THE_CONCEPT: Final = re.compile(r"(?<=\s)(?:net|total|annual|gross)\s+$", re.IGNORECASE)
"""A word that goes with the concept: in "segment net operating income" the one before it says of what."""

PAID_IN: Final = re.compile(r"\b(?:in|for|of|by|non|restricted|surplus|excess)[ -]+$", re.IGNORECASE)
LOSS: Final = re.compile(rf"\b{either('loss')}\b", re.IGNORECASE)
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
