"""A word of a text in three widths: as it is spelled, as a token, and with all words of its family.

spelling   "obligations": what the label of a table repeats to the letter
token      "obligation": without plural and verb endings, what the vocabulary is written in
family     "oblig": with "obliged" and "obliging" (Snowball's English stemmer), as a question may say it
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from tasks.text.tokens import tokens_of_form, word_forms

_ENGLISH = Stemmer.Stemmer("english", 0)  # without a cache of its own


class Word(NamedTuple):
    """One word that counts, as it is spelled and as a token."""

    spelling: str
    token: str

    @property
    def stem(self) -> str:
        """What all words of its family have in common; of a number or a word of another script, itself."""
        return stem(self.spelling)


def words(text: str) -> list[Word]:
    """The words of `text` that count, in order; their tokens are those of `tasks.text.tokens`."""
    return [word for form in word_forms(text) for word in words_of_form(form)]


def words_of_form(form: str) -> Iterator[Word]:
    """The words of one of the `word_forms`: none for a stop word, several where a script has no spaces."""
    for token in tokens_of_form(form):
        yield Word(form if form.isascii() and form.isalpha() else token, token)


@lru_cache(maxsize=100_000)
def stem(spelling: str) -> str:
    """The stem of a spelling, which is no word: "oblig"."""
    return _ENGLISH.stemWord(spelling) if spelling.isascii() and spelling.isalpha() else spelling
