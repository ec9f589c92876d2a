"""A word of a text at three levels: as spelled, as a token, and with all words of its family.

spelling   "obligations": what the label of a table repeats to the letter
token      "obligation": without plural and verb endings, what the vocabulary is written in
family     "oblig": with "obliged" and "obliging" (Snowball's stemmers), as a question may say it
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

import Stemmer

from tasks.language.languages import detect_script_language
from tasks.language.tokens import split_form, word_forms


class Word(NamedTuple):
    """A significant word, as spelled and as a token."""

    spelling: str
    token: str


def words(text: str) -> list[Word]:
    """The significant words of `text`, in order; their tokens are those of `tasks.language.tokens`."""
    return [word for form in word_forms(text) for word in split_into_words(form)]


def split_into_words(form: str) -> Iterator[Word]:
    """The words of one of the `word_forms`: none for a stop word, several if a script has no spaces."""
    for token in split_form(form):
        yield Word(form if form.isascii() and form.isalpha() else token, token)


@lru_cache(maxsize=100_000)
def stem(spelling: str, language: str) -> str:
    """The stem of a spelling, which is not a word: "oblig". For numbers, and without a Snowball stemmer, the spelling
    itself.

    `language` (an English name) is for words in Latin letters; other scripts are recognised by their letters.
    """
    if not spelling.isalpha():
        return spelling
    stemmer = _stemmer(detect_script_language(spelling[0]) or language)
    return spelling if stemmer is None else stemmer.stemWord(spelling)


@cache
def _stemmer(language: str) -> Stemmer.Stemmer | None:
    """Snowball's stemmer for a language, without its own cache; None if Snowball has none."""
    name = language.lower()
    return Stemmer.Stemmer(name, 0) if name in Stemmer.algorithms() else None


LANGUAGES: Final = frozenset({"German", "Dutch", "Danish", "Swedish", "Norwegian", "Finnish"})
_SHORTEST = 4  # letters of a part; "er", "ung" and the like are endings
_LINKS = ("", "s", "es", "n", "en", "er")  # letters between two parts: "Umsatz" and "Steuer", "Recht-s" and "Schutz"


class Compounds:
    """The compounds among the words of an index."""

    def __init__(self, words: Iterable[tuple[str, str, int, int]]) -> None:
        """Look at each word in a language that forms compounds.

        Args:
            words: each with its spelling, its language (an English name), the number of its family, and how often it
                stands in the texts.
        """
        kept = [word for word in words if word[1] in LANGUAGES and word[0].isalpha()]
        self._counts: Counter[tuple[str, str]] = Counter()  # of each stem, with its language
        self._families: dict[tuple[str, str], int] = {}
        for spelling, language, family, count in kept:
            part = stem(spelling, language), language
            self._counts[part] += count
            self._families[part] = family
        self._languages = sorted({language for _, language in self._counts})
        related: dict[int, set[int]] = {}
        for spelling, language, family, _count in kept:
            for part_family in self._parts(spelling, language):
                if part_family != family:
                    related.setdefault(family, set()).add(part_family)
                    related.setdefault(part_family, set()).add(family)
        self._related = {family: sorted(others) for family, others in related.items()}

    def find_related(self, family: int) -> Sequence[int]:
        """The families of compounds with this one, and of its own parts."""
        return self._related.get(family, ())

    def parts(self, spelling: str) -> Sequence[int]:
        """The families of the parts of a compound that is not in the texts."""
        return next(filter(None, (self._parts(spelling, language) for language in self._languages)), ())

    def _parts(self, spelling: str, language: str) -> Sequence[int]:
        """The word families of a compound's two parts; none if the word is not a compound.

        If it can be split in several ways, it is split where the rarer part is most common. A part that occurs once may
        be a typing error.
        """
        best = 1
        parts: tuple[int, ...] = ()
        for border in range(_SHORTEST, len(spelling) - _SHORTEST + 1):
            tail = stem(spelling[border:], language), language
            if self._counts[tail] <= best:
                continue
            for link in _LINKS:
                if not spelling[:border].endswith(link) or border - len(link) < _SHORTEST:
                    continue
                head = stem(spelling[: border - len(link)], language), language
                rarer = min(self._counts[head], self._counts[tail])
                if rarer > best:
                    best, parts = rarer, (self._families[head], self._families[tail])
        return parts
