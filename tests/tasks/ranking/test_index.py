"""Where words stand in texts."""

import tracemalloc

import numpy as np

from tasks.language.words import tokens
from tasks.ranking.index import WordPositions
from tasks.ranking.lexicon import stem, words

TEXTS = ["The lease ends in 2027.", "", "Leases, a lease and 3 leases", "no such word"]


def test_each_word_is_found_where_it_stands() -> None:
    positions = WordPositions(TEXTS)
    row = [word for text in TEXTS for word in tokens(text)]
    for word in set(row):
        assert positions.of(word).tolist() == [position for position, other in enumerate(row) if other == word]
    assert positions.of("aircraft").tolist() == []


def test_a_word_is_found_by_spelling_token_and_family() -> None:
    texts = ["Obligations and an obligation", "obliged, obliging", "the obligation of one who hopes and hoped"]
    positions, (word,) = WordPositions(texts), words("obligation")
    assert positions.at(positions.spelling(word)).tolist() == [1, 4]
    assert positions.of(word.token).tolist() == [0, 1, 4]
    assert positions.at(positions.family(word)).tolist() == [0, 1, 2, 3, 4]
    (unknown,) = words("obligating")
    assert positions.at(positions.spelling(unknown)).tolist() == []
    assert positions.at(positions.family(unknown)).tolist() == [0, 1, 2, 3, 4]
    (stranger,) = words("aircraft")
    assert positions.at(positions.family(stranger)).tolist() == []


def test_spellings_of_one_token_are_one_family_whatever_their_stems() -> None:
    positions, (hops, hoped) = WordPositions(["hops", "hoped", "hop"]), words("hops hoped")
    assert hops.token == hoped.token
    assert stem(hops.spelling, "English") != stem(hoped.spelling, "English")
    assert positions.family(hops) == positions.family(hoped)


def test_a_word_of_a_script_without_endings_is_its_own_family() -> None:
    positions, (one, other) = WordPositions(["売上高 Café 1,234", "1234"]), words("1234 café")
    assert positions.at(positions.family(one)).tolist() == positions.of("1234").tolist() != []
    assert positions.at(positions.spelling(other)).tolist() == positions.of("café").tolist() != []


def test_texts_are_spans_of_the_row() -> None:
    positions = WordPositions(TEXTS)
    assert np.diff(positions.bounds).tolist() == [len(tokens(text)) for text in TEXTS]
    assert len(positions) == 4


def test_counts_are_by_text() -> None:
    positions = WordPositions(TEXTS)
    (word,) = tokens("lease")
    assert [count.tolist() for count in positions.counts(positions.of(word))] == [[0, 2], [1, 3]]
    many = WordPositions(["lease " * 9, "rent", "lease"])
    assert [count.tolist() for count in many.counts(many.of(word))] == [[0, 2], [9, 1]]


def test_places_within_some_texts() -> None:
    positions = WordPositions(TEXTS)
    (word,) = tokens("lease")
    assert positions.within(positions.of(word), np.array([2, 3])).tolist() == positions.of(word)[1:].tolist()
    assert positions.within(positions.of(word), np.array([1, 3])).tolist() == []
    assert positions.within(positions.of(word), np.arange(4)).tolist() == positions.of(word).tolist()


def test_a_number_of_any_value_is_found_as_number() -> None:
    positions = WordPositions(TEXTS)
    assert positions.numbers.tolist() == [1, 0, 1, 0]
    assert len(positions.of("#")) == 2


def test_no_texts_at_all() -> None:
    assert len(WordPositions([])) == 0
    assert WordPositions(["", "the of"]).of("lease").tolist() == []


def test_places_sorted_in_parts_are_those_sorted_at_once() -> None:
    texts = [f"alpha {number} beta gamma {number % 7} alpha" for number in range(300)]
    whole = WordPositions(texts)
    parts = WordPositions(texts, words_at_once=37)
    for word in ("alpha", "beta", "3", "299"):
        assert parts.of(word).tolist() == whole.of(word).tolist()


def test_the_texts_are_not_kept() -> None:
    texts = ["".join(f"w{number % 97} " for number in range(start, start + 2000)) for start in range(200)]
    tracemalloc.start()
    try:
        positions = WordPositions(texts)
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(positions) == 200
    assert kept < 5 * 400_000 + 500_000  # 4 bytes for a word
