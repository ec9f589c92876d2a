"""The words around a figure in a sentence: what they say of it, and which of them speak of something else."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from tasks.figures.concepts import SHORT_NAMES, Concept, Taxonomy, spellings
from tasks.figures.vocabulary import DATA, either, pattern, whole_words, words_in


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
RESPECTIVELY: Final = pattern("said_respectively")
LIGHT: Final = pattern("said_light")
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
        for match in self._pattern.finditer(lower.replace("’", "'")):
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
CHANGE: Final = pattern("said_change")
BOUND: Final = pattern("said_bound")
RELATED: Final = pattern("related")
SET_ASIDE: Final = pattern("set_aside")
ASIDE: Final = pattern("said_aside")
BESIDE_IT: Final = pattern("beside_concept")
LEFT_OUT: Final = pattern("said_left_out")
NET: Final = pattern("said_net")
DRAWN: Final = pattern("said_drawn")
RANGE: Final = pattern("said_range", re.NOFLAG)
REMAINDER: Final = pattern("said_remainder")
OF_ANOTHER: Final = pattern("share_or_change_before")
OF_OTHERS: Final = pattern("said_of_others")
OF_OTHERS_BEHIND: Final = pattern("said_of_others_behind")
OF_MORE: Final = pattern("of_more", re.NOFLAG)
OF_A_PART: Final = pattern("behind_amount_of_a_part")
PLAN: Final = pattern("said_plan")
CLAUSE: Final = pattern("said_clause", re.NOFLAG)
PLANNED: Final = pattern("said_planned")
PERIOD_LEAD: Final = pattern("said_period_lead")
NEGATIVE: Final = pattern("said_negative")
NEGATIVE_BEHIND: Final = pattern("said_negative_behind")
LOSS_BEHIND: Final = pattern("said_loss_behind")
ABOUT: Final = pattern("said_about")
BEFORE_MENTION: Final = pattern("said_before_mention", re.NOFLAG)
HEADED: Final = pattern("said_headed", re.NOFLAG)
CURRENCY_LAST: Final = pattern("said_currency_last", re.NOFLAG)
SHORT_LEAD: Final = 30
PAID: Final = pattern("cash_paid")
MADE: Final = pattern("said_made")
OF_OR_IN: Final = pattern("said_of_or_in", re.NOFLAG)
CASH: Final = frozenset({"cash", "cash and cash equivalents"})
OF_THE_CONCEPT: Final = pattern("said_of_the_concept")
PAID_IN: Final = pattern("said_paid_in")
LOSS: Final = pattern("said_loss")
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
