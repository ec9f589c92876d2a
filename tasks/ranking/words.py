"""A word of a text in three widths: as it is spelled, as a token, and with all words of its family.

spelling   "obligations": what the label of a table repeats to the letter
token      "obligation": without plural and verb endings, what the vocabulary is written in
family     "oblig": with "obliged" and "obliging" (Snowball's stemmers), as a question may say it
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer

from tasks.language.languages import language_of_script
from tasks.language.tokens import tokens_of_form, word_forms


class Word(NamedTuple):
    """One word that counts, as it is spelled and as a token."""

    spelling: str
    token: str


def words(text: str) -> list[Word]:
    """The words of `text` that count, in order; their tokens are those of `tasks.language.tokens`."""
    return [word for form in word_forms(text) for word in words_of_form(form)]


def words_of_form(form: str) -> Iterator[Word]:
    """The words of one of the `word_forms`: none for a stop word, several where a script has no spaces."""
    for token in tokens_of_form(form):
        yield Word(form if form.isascii() and form.isalpha() else token, token)


@lru_cache(maxsize=100_000)
def stem(spelling: str, language: str) -> str:
    """The stem of a spelling, which is no word: "oblig". Of a number, or where Snowball has no stemmer, itself.

    `language` (an English name) is that of a word in Latin letters; of another script the letters say it.
    """
    if not spelling.isalpha():
        return spelling
    stemmer = _stemmer(language_of_script(spelling[0]) or language)
    return spelling if stemmer is None else stemmer.stemWord(spelling)


@cache
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    """Snowball's stemmer, without a cache of its own; None where it has none."""
    name = language.lower()
    return Stemmer.Stemmer(name, 0) if name in Stemmer.algorithms() else None
