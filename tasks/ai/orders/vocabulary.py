"""The words that are watched for, as bits: what each stretch of a text says in them, from one cheap pass over it."""

import re
from collections import defaultdict
from functools import reduce
from itertools import count
from operator import or_
from typing import Final

from tasks.ai.orders.needs import Words

STRETCH: Final = 320
"""Characters that are heard together. Matches are shorter, so that all their words stand in three of them."""
LONGEST: Final = 16
"""Letters of the longest word; a stretch reaches that far into the next, so that it has its words whole."""
_MOST_KNOWN: Final = 100_000
_APART: Final = bytes(code if chr(code).isalpha() else 32 for code in range(128)) + b" " * 128


class Vocabulary(dict[bytes, int]):
    """By each word met so far, the number of its bits among all bits that words have.

    Numbers are small, and so gathered faster than the bits. All that is listened for is told by `bit` at first.
    """

    def __init__(self) -> None:
        self._bits: dict[Words, int] = {}
        self._whole: defaultdict[bytes, int] = defaultdict(int)
        self._begun: defaultdict[bytes, list[tuple[bytes, int]]] = defaultdict(list)
        self._within: dict[bytes, int] = {}
        self._inside = re.compile(rb"(?!)")
        self._numbers: dict[int, int] = {}
        self._by_number: dict[int, int] = {}
        self._count = count()

    def bit(self, words: Words) -> int:
        """The bit for any of these words: whole (`ai`), as they begin (`ignor-`) or wherever they are (`-reti-`)."""
        if words not in self._bits:
            bit = self._bits[words] = 1 << len(self._bits)
            for word in words:
                letters = word.strip("-").encode()
                if word.startswith("-"):
                    self._within[letters] = self._within.get(letters, 0) | bit
                    self._inside = re.compile(b"|".join(self._within))
                elif word.endswith("-"):
                    self._begun[letters[:3]].append((letters, bit))
                else:
                    self._whole[letters] |= bit
            self.clear()
        return self._bits[words]

    def heard(self, bare: bytes) -> list[int]:
        """What each stretch of a text says, given in small ASCII letters; all but letters parts words."""
        apart = bare.translate(_APART)
        return [self._bits_of(apart[at : at + STRETCH + LONGEST]) for at in range(0, len(apart), STRETCH)]

    def _bits_of(self, words: bytes) -> int:
        numbers = set(map(self.__getitem__, words.split()))
        return reduce(or_, map(self._by_number.__getitem__, numbers), 0)

    def __missing__(self, word: bytes) -> int:
        bits = self._whole.get(word, 0)
        for letters, bit in (*self._begun.get(word[:2], ()), *self._begun.get(word[:3], ())):
            if word.startswith(letters):
                bits |= bit
        for letters in self._inside.findall(word):
            bits |= self._within[letters]
        number = self._numbers.setdefault(bits, next(self._count))  # alike in each of several threads
        self._by_number[number] = bits
        if len(self) > _MOST_KNOWN:
            self.clear()
        if len(word) <= LONGEST:
            self[word] = number
        return number


VOCABULARY: Final = Vocabulary()
