"""Words that are put together from others."""

import pytest

from tasks.ranking import rank
from tasks.ranking.lexicon import Compounds

FAMILIES = {
    "meldepflicht": 0,
    "melden": 1,
    "pflicht": 2,
    "umsatzsteuer": 3,
    "umsatz": 4,
    "steuer": 5,
    "rechtsschutz": 6,
}
FILLER = (
    "Die Gesellschaft hat den Vertrag mit der Bank und dem Käufer nicht zu der Zeit geschlossen, die im Plan stand."
)


def compounds(*more: tuple[str, str, int, int]) -> Compounds:
    return Compounds([*((word, "German", family, 2) for word, family in FAMILIES.items()), *more])


def test_a_word_belongs_to_the_words_that_hold_it_and_they_to_it() -> None:
    known = compounds()
    assert known.find_related(3) == [4, 5]
    assert known.find_related(5) == [3]
    assert known.find_related(2) == [0]


def test_a_linking_letter_stands_between_two_parts() -> None:
    known = compounds(("recht", "German", 7, 2), ("schutz", "German", 8, 2))
    assert known.find_related(6) == [7, 8]


def test_a_word_that_the_texts_do_not_have_is_parted_too() -> None:
    assert list(compounds().parts("steuerpflicht")) == [5, 2]
    assert list(compounds().parts("umsatzzahlen")) == []


def test_a_part_that_stands_once_is_none() -> None:
    assert compounds(("zahlen", "German", 9, 1)).parts("umsatzzahlen") == ()
    assert list(compounds(("zahlen", "German", 9, 2)).parts("umsatzzahlen")) == [4, 9]


def test_english_words_are_not_parted() -> None:
    english = Compounds([("notebook", "English", 0, 5), ("note", "English", 1, 5), ("book", "English", 2, 5)])
    assert english.find_related(0) == ()
    assert english.parts("bookkeeping") == ()


@pytest.mark.parametrize("question", ["Pflicht", "Steuer"])
def test_a_question_finds_what_a_document_has_in_one_word(question: str) -> None:
    texts = [FILLER, f"{FILLER} Die Umsatzsteuer und die Meldepflicht sind mit dem Amt geklärt.", FILLER]
    parts = ["Der Umsatz und die Steuer.", "Melden ist eine Pflicht.", "Umsatz, Steuer, Pflicht, melden."]
    ranked = [position for position, _ in rank([*texts, *parts], question, 9)]
    assert 1 in ranked
    assert not {0, 2} & set(ranked)


def test_a_question_in_one_word_finds_a_document_that_has_its_parts() -> None:
    texts = [FILLER, f"{FILLER} Eine Pflicht zur Steuer.", f"{FILLER} Die Steuer.", f"{FILLER} Eine Pflicht."]
    assert next(position for position, _ in rank(texts, "Steuerpflicht", 9)) == 1


def test_a_word_of_the_question_counts_more_than_one_that_holds_it() -> None:
    texts = [
        f"{FILLER} Die Umsatzsteuer.",
        f"{FILLER} Die Steuer.",
        f"{FILLER} Der Umsatz.",
        f"{FILLER} Steuer, Umsatz.",
    ]
    ranked = dict(rank(texts, "Steuer", 9))
    assert ranked[1] > ranked[0] > 0
