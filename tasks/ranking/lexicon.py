"""The words of an index: the order of their positions in it, and where those of each word begin and end.

Each word has a language: that of most texts that contain it. A text's language is recognised by its commonest words. It
decides which endings a word can have (`words.stem`), and whether it may be a compound (`compounds`). Rooms have filings
in one language and their attachments in another.

A word of a text is known at three levels:

spelling   "obligations": what the label of a table repeats to the letter
token      "obligation": without plural and verb endings, what the vocabulary is written in
family     "oblig": with "obliged" and "obliging" (Snowball's stemmers), as a question may say it
"""

import os
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from tempfile import TemporaryFile
from typing import IO, Any, Final, NamedTuple, TypeVar

import numpy as np
import Stemmer
from numpy.typing import NDArray

from storage import database
from tasks.errors import Unavailable
from tasks.language.words import COMMON_WORDS, detect_script_language, split_form, word_forms


class Word(NamedTuple):
    """A significant word, as spelled and as a token."""

    spelling: str
    token: str


def words(text: str) -> list[Word]:
    """The significant words of `text`, in order; their tokens are those of `tasks.language.words`."""
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


COMPOUNDING: Final = frozenset({"German", "Dutch", "Danish", "Swedish", "Norwegian", "Finnish"})
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
        kept = [word for word in words if word[1] in COMPOUNDING and word[0].isalpha()]
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


Number = TypeVar("Number", np.int32, np.uint8)

IN_MEMORY: Final = 100_000_000
"""Bytes of a row: 25 million words, those of some 250,000 passages of 1,000 characters."""


class GrowingRow:
    """A row of numbers of one type that is appended to; `row` returns it when it is complete."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._bytes = bytearray()
        self._file: IO[bytes] | None = None
        self._written = 0

    def append(self, numbers: NDArray[Any]) -> None:
        """Append numbers.

        Raises:
            Unavailable: the disk has no room for them.
        """
        self._bytes += numbers.tobytes()
        if self._file is None and len(self._bytes) > self._in_memory:
            self._file = _nameless()
        if self._file is not None:
            self._written += len(self._bytes)
            _take(self._file, self._written)
            self._file.write(self._bytes)
            self._bytes.clear()

    def row(self, number: type[Number]) -> NDArray[Number]:
        """All numbers, in the type in which they were appended. They may be changed, but no more may be appended."""
        if self._file is None:
            return np.frombuffer(self._bytes, number)
        self._file.flush()
        return _map_file(self._file, number)


def empty_row(count: int, number: type[Number], in_memory: int = IN_MEMORY) -> NDArray[Number]:
    """A row of `count` numbers that have yet to be set.

    Raises:
        Unavailable: the disk has no room for it.
    """
    size = count * np.dtype(number).itemsize
    if size <= in_memory:
        return np.empty(count, number)
    file = _nameless()
    _take(file, size)
    return _map_file(file, number)


def _nameless() -> IO[bytes]:
    try:
        return TemporaryFile(dir=database.home())
    except OSError as error:
        raise _no_room(error) from error


def _take(file: IO[bytes], size: int) -> None:
    """Reserve disk space for the file up to a size in bytes."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:  # macOS
            file.truncate(size)
    except OSError as error:
        file.close()
        raise _no_room(error, size) from error


def _map_file(file: IO[bytes], number: type[Number]) -> NDArray[Number]:
    with file:  # what is mapped stays so
        mapped = np.memmap(file, number, "r+")
    return mapped.view(np.ndarray)  # the same memory, without what a memmap does at each slice


def _no_room(error: OSError, size: int = 0) -> Unavailable:
    return Unavailable(
        f"The index of a large data room needs {size // 1_000_000 + 1} MB in DILIGENCE_HOME ({error.strerror}). Make "
        "room there, or set DILIGENCE_HOME to a folder on a larger disk, and run again."
    )


Ints = NDArray[np.int64]
Span = tuple[int, int]
"""Where positions stand in an index: from one number to another."""

_NOWHERE: Span = 0, 0
_MOST_LANGUAGES = 3  # of an index whose endings are taken off a word that it does not have


class Lexicon:
    """The words of an index, sorted by family, token and spelling, so that the positions of each are adjacent.

    All spellings of a token belong to one family, that of the shortest: words that only look alike in some forms
    ("hoped" and "hops" are one token) stay together.

    Attributes:
        ranks: for each word, by its number, its place in that order.
        figures: which words of that order are numbers.
        starts: where the positions of each word of that order begin, and behind the last one, where they end.
    """

    def __init__(self, words: Sequence[Word], counts: Ints, languages: Sequence[str]) -> None:
        """Sort the words; `counts` says how often each occurs in the texts."""
        shortest: dict[str, tuple[int, str, str]] = {}
        for word, language in zip(words, languages, strict=True):
            one = len(word.spelling), word.spelling, language
            shortest[word.token] = min(shortest.get(word.token, one), one)
        families = {token: stem(spelling, language) for token, (_, spelling, language) in shortest.items()}
        self._languages = [language for language, _ in Counter(languages).most_common(_MOST_LANGUAGES)]
        order = sorted(
            range(len(words)), key=lambda number: (families[words[number].token], words[number].token, words[number])
        )
        self.ranks = np.empty(len(words), np.int32)
        self.ranks[order] = np.arange(len(words), dtype=np.int32)
        self.figures = np.fromiter((words[number].token[0].isdigit() for number in order), np.bool_, len(words))
        self.starts: Ints = np.zeros(len(words) + 1, np.int64)
        np.cumsum(counts[order], out=self.starts[1:])
        self._spellings = [words[number].spelling for number in order]
        self._stems: list[str] = []
        self._tokens: dict[str, int] = {}
        self._token_ranks, self._family_ranks, self._family_of_token = array("i"), array("i"), array("i")
        for rank, number in enumerate(order):
            token = words[number].token
            if token not in self._tokens:
                self._tokens[token] = len(self._tokens)
                self._token_ranks.append(rank)
                if not self._stems or self._stems[-1] != families[token]:
                    self._stems.append(families[token])
                    self._family_ranks.append(rank)
                self._family_of_token.append(len(self._stems) - 1)
        for ranks in (self._token_ranks, self._family_ranks):
            ranks.append(len(words))
        self._compounds = Compounds(
            (word.spelling, language, self._family_of_token[self._tokens[word.token]], int(count))
            for word, language, count in zip(words, languages, counts, strict=True)
        )

    def token(self, token: str) -> Span:
        """The span with the positions of a token, one spelling after the other."""
        number = self._tokens.get(token)
        return _NOWHERE if number is None else self._span(self._token_ranks, number)

    def spelling(self, word: Word) -> Span:
        """The span with the positions of words spelled like this one."""
        number = self._tokens.get(word.token)
        if number is None:
            return _NOWHERE
        first, last = self._token_ranks[number], self._token_ranks[number + 1]
        rank = bisect_left(self._spellings, word.spelling, first, last)
        if rank == last or self._spellings[rank] != word.spelling:
            return _NOWHERE
        return int(self.starts[rank]), int(self.starts[rank + 1])

    def family(self, word: Word) -> Span:
        """The span with the positions of all words in this one's family, one spelling after the other."""
        number = self._family_number(word)
        return _NOWHERE if number is None else self._span(self._family_ranks, number)

    def _family_number(self, word: Word) -> int | None:
        token = self._tokens.get(word.token)
        if token is not None:
            return self._family_of_token[token]
        for language in self._languages:
            ending_off = stem(word.spelling, language)
            number = bisect_left(self._stems, ending_off)
            if number < len(self._stems) and self._stems[number] == ending_off:
                return number
        return None

    def find_related(self, word: Word) -> list[Span]:
        """The spans with the positions of families that form compounds with this one's, and of its parts."""
        number = self._family_number(word)
        related = self._compounds.parts(word.spelling) if number is None else self._compounds.find_related(number)
        return [self._span(self._family_ranks, other) for other in related]

    def _span(self, ranks: "array[int]", number: int) -> Span:
        return int(self.starts[ranks[number]]), int(self.starts[ranks[number + 1]])


LANGUAGES: Final = tuple(COMMON_WORDS)
_MASKS: Final[dict[str, int]] = {}
for _number, _words in enumerate(COMMON_WORDS.values()):
    for _word in _words:
        _MASKS[_word] = _MASKS.get(_word, 0) | 1 << _number
_LEAST_WORDS = 4  # common words of a language that a text must have to be in it
_LEAST_SHARE = 1 / 12  # of its words


def find_language_mask(form: str) -> int:
    """The languages, one bit each, in which a form is one of the commonest words."""
    return _MASKS.get(form, 0)


class WordLanguages:
    """How often each word occurs in texts of each language; texts are added in order, in batches."""

    def __init__(self) -> None:
        self._counts: dict[int, Ints] = {}

    def add(self, masks: NDArray[np.int32], ends: Ints, words: NDArray[np.int32], before: Ints) -> None:
        """Add texts.

        Args:
            masks: the `find_language_mask` each form of the texts.
            ends: where each text ends among these.
            words: the texts' words by their numbers.
            before: how many of them stand before each form and behind the last.
        """
        lengths = np.diff(ends, prepend=0)
        counts = np.zeros((len(LANGUAGES), len(ends)), np.int64)
        for number in range(len(LANGUAGES)):
            sums = np.concatenate([[0], np.cumsum(masks >> number & 1)])
            counts[number] = np.diff(sums[ends], prepend=0)
        best = counts.argmax(axis=0)
        tells = counts.max(axis=0) >= np.maximum(_LEAST_WORDS, lengths * _LEAST_SHARE)
        of_words = np.repeat(np.where(tells, best, -1), np.diff(before[ends], prepend=0))
        for number in np.unique(best[tells]):
            added = np.bincount(words[of_words == number])
            known = self._counts.get(int(number), np.zeros(0, np.int64))
            longer, shorter = (added, known) if len(added) > len(known) else (known, added)
            longer[: len(shorter)] += shorter
            self._counts[int(number)] = longer

    def of_words(self, count: int) -> tuple[str, ...]:
        """The language of each word up to that number; for words in no text of a known language, that of most texts."""
        order = sorted(self._counts, key=lambda number: -int(self._counts[number].sum())) or [0]
        table = np.zeros((len(order), count), np.int64)
        for row, number in enumerate(order):
            if number in self._counts:
                table[row, : len(self._counts[number])] = self._counts[number]
        return tuple(LANGUAGES[order[row]] for row in table.argmax(axis=0))
