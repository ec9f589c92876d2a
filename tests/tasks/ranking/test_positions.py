"""Where words stand in texts."""

import tracemalloc

import numpy as np
import pytest

from tasks.ranking import index as room
from tasks.ranking.index import Positions
from tasks.text.tokens import tokens

TEXTS = ["The lease ends in 2027.", "", "Leases, a lease and 3 leases", "no such word"]


def test_each_word_is_found_where_it_stands() -> None:
    found = Positions(TEXTS)
    row = [word for text in TEXTS for word in tokens(text)]
    for word in set(row):
        assert found.of(word).tolist() == [place for place, each in enumerate(row) if each == word]
    assert found.of("aircraft").tolist() == []


def test_texts_are_spans_of_the_row() -> None:
    found = Positions(TEXTS)
    assert np.diff(found.bounds).tolist() == [len(tokens(text)) for text in TEXTS]
    assert len(found) == 4


def test_counts_are_by_text() -> None:
    found = Positions(TEXTS)
    (word,) = tokens("lease")
    assert [count.tolist() for count in found.counts(word)] == [[0, 2], [1, 3]]
    many = Positions(["lease " * 9, "rent", "lease"])
    assert [count.tolist() for count in many.counts(word)] == [[0, 2], [9, 1]]


def test_places_within_some_texts() -> None:
    found = Positions(TEXTS)
    (word,) = tokens("lease")
    assert found.within(word, np.array([2, 3])).tolist() == found.of(word)[1:].tolist()
    assert found.within(word, np.array([1, 3])).tolist() == []
    assert found.within(word, np.arange(4)).tolist() == found.of(word).tolist()


def test_a_number_of_any_value_is_found_as_number() -> None:
    found = Positions(TEXTS)
    assert found.numbers.tolist() == [1, 0, 1, 0]
    assert len(found.of("#")) == 2


def test_no_texts_at_all() -> None:
    assert len(Positions([])) == 0
    assert Positions(["", "the of"]).of("lease").tolist() == []


def test_places_sorted_in_parts_are_those_sorted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"alpha {number} beta gamma {number % 7} alpha" for number in range(300)]
    whole = Positions(texts)
    monkeypatch.setattr(room, "_WORDS_AT_ONCE", 37)
    parts = Positions(texts)
    for word in ("alpha", "beta", "3", "299"):
        assert parts.of(word).tolist() == whole.of(word).tolist()


def test_the_texts_are_not_kept() -> None:
    texts = ["".join(f"w{number % 97} " for number in range(start, start + 2000)) for start in range(200)]
    tracemalloc.start()
    try:
        found = Positions(texts)
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 200
    assert kept < 5 * 400_000 + 500_000  # 4 bytes for a word
