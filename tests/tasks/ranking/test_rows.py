"""Indexes too long for memory lie on the disk: the same ranking, nothing left behind, a sentence where it is full."""

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tasks.language.words import tokens
from tasks.ranking import WordIndex
from tasks.ranking.index import WordPositions
from tasks.ranking.lexicon import GrowingRow, empty_row

_WORDS = (
    "lease",
    "leases",
    "rent",
    "the",
    "may",
    "from",
    "shall",
    "2027",
    "1,234",
    "obliged",
    "Zürich",
    "売上高",
    "who",
)


def _texts(count: int) -> list[str]:
    draw = Random(7)
    return [" ".join(draw.choices(_WORDS, k=draw.randrange(30))) for _ in range(count)]


@pytest.mark.usefixtures("home")
def test_an_index_on_the_disk_is_the_one_in_memory() -> None:
    texts = _texts(2500)
    in_memory, on_disk = WordPositions(texts), WordPositions(texts, words_at_once=1000, in_memory=0)
    assert np.array_equal(in_memory.bounds, on_disk.bounds)
    assert np.array_equal(in_memory.numbers, on_disk.numbers)
    for token in {"#", *tokens(" ".join(_WORDS))}:
        assert np.array_equal(in_memory.of(token), on_disk.of(token))
        assert len(in_memory.of(token))
    for word in ("may", "from", "who"):
        in_texts, counts = in_memory.function_words.counts(word)
        in_texts_too, counts_too = on_disk.function_words.counts(word)
        assert len(in_texts)
        assert np.array_equal(in_texts, in_texts_too)
        assert np.array_equal(counts, counts_too)


def test_function_words_are_counted_in_each_of_many_texts() -> None:
    texts = _texts(2500)
    function_words = WordPositions(texts).function_words
    for word in ("may", "from", "who"):
        having, counts = function_words.counts(word)
        assert {int(text): int(count) for text, count in zip(having, counts, strict=True)} == {
            number: text.split().count(word) for number, text in enumerate(texts) if word in text.split()
        }


@pytest.mark.usefixtures("home")
def test_ranking_is_the_same_from_the_disk() -> None:
    texts = _texts(2500)
    in_memory, on_disk = WordIndex(texts), WordIndex(texts, in_memory=0)
    for question in ("may the tenant pay rent from 2027?", "Who is obliged?", "売上高"):
        assert in_memory.rank(question, 50) == on_disk.rank(question, 50) != []
    assert in_memory.texts_with_words("rent 1,234", 50) == on_disk.texts_with_words("rent 1,234", 50)


def test_nothing_lies_in_the_home_while_an_index_is_on_the_disk(home: Path) -> None:
    before = sorted(home.rglob("*"))
    positions = WordPositions(_texts(100), in_memory=0)
    assert len(positions.of(*tokens("lease")))
    assert sorted(home.rglob("*")) == before


@pytest.mark.usefixtures("home")
def test_a_row_goes_on_from_memory_to_the_disk() -> None:
    growing = GrowingRow(in_memory=40)
    for begin in range(0, 100, 5):
        growing.append(np.arange(begin, begin + 5, dtype=np.int32))
    row = growing.row(np.int32)
    assert row.tolist() == list(range(100))
    row[3] = 7
    assert row[3] == 7


@pytest.mark.usefixtures("home")
def test_an_empty_row_may_be_set_on_the_disk() -> None:
    row = empty_row(1000, np.uint8, in_memory=0)
    row[:] = 200
    assert int(row.sum()) == 200_000


_FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))  # as a disk of 10 KB
from tasks.errors import Unavailable
from tasks.ranking.index import WordPositions
try:
    WordPositions(["one lease and another"] * 20_000, in_memory=5_000)
except Unavailable as error:
    print(error.message)
"""


def test_a_full_disk_is_a_sentence(home: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _FULL], capture_output=True, text=True, check=True)
    assert "in DILIGENCE_HOME" in done.stdout
    assert "Make room there" in done.stdout
    assert str(home) not in done.stdout
    assert not done.stderr
