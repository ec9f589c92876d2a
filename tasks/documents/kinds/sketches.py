"""Small sketches of texts, by which near copies are found."""

import re
import zlib
from functools import lru_cache
from typing import Final

import numpy as np

_WORD: Final = re.compile(r"\w+")
_TOGETHER: Final = 250
"""Shingles that are computed together: the C library maps more than 128 KB anew each time, which takes far longer."""
_CHANCES: Final = np.random.default_rng(20_261_128).integers(1, 2**61, size=(2, 64), dtype=np.uint64) | np.uint64(1)


@lru_cache(maxsize=1)  # its signs are told by them too
def fold_words(text: str) -> list[str]:
    """The words at the beginning of a text, 400,000 characters, in small letters."""
    return _WORD.findall(text[:400_000].casefold())


def sketch(text: str) -> bytes:
    """A small sketch of a text: two sketches share about as large a part of their 64 numbers as the texts share
    shingles.

    MinHash over runs of four words (Broder, On the resemblance and containment of documents, 1997). Empty for fewer
    than twenty words.
    """
    words = fold_words(text)
    if len(words) < 20:
        return b""
    numbers = np.fromiter(map(zlib.crc32, map(str.encode, words)), dtype=np.uint64, count=len(words))
    shingles = numbers[:-3] * 31**3 + numbers[1:-2] * 31**2 + numbers[2:-1] * 31 + numbers[3:]
    shingles *= np.uint64(0x9E3779B97F4A7C15)
    factors, shifts = _CHANCES[:, :, None]
    parts = (shingles[at : at + _TOGETHER] * factors + shifts for at in range(0, len(shingles), _TOGETHER))
    lowest = np.min([part.min(axis=1) for part in parts], axis=0)
    return (np.asarray(lowest, dtype=np.uint64) >> np.uint64(32)).astype("<u4").tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """The approximate share of shingles that two texts have in common, 0 to 1, from their sketches."""
    if not one or not other:
        return 0.0
    return float((np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4")).mean())
