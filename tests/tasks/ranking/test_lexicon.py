"""Words that are put together from others.

Endings of other languages than English, in rooms of one language and of several.
"""

import pytest

from tasks.ranking import rank
from tasks.ranking.index import WordPositions
from tasks.ranking.lexicon import Compounds, stem, words
from tests.cases import cases

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


GERMAN = "Die Zahlung der Rechnungen ist von dem Käufer und nicht von der Bank zu veranlassen, es sei denn: {}"
ENGLISH = "The payment of the invoices is to be made by the buyer and not by the bank, unless it is said: {}"
QUESTIONS = [
    ("die verspäteten Lieferungen sind vereinbart", "Was gilt bei verspäteter Lieferung?"),
    ("les livraisons tardives sont prévues dans une clause, et le retard est payé par le vendeur", "livraison tardive"),
    ("поставка товара была задержана продавцом", "задержанные поставки"),
    ("las entregas tardías que se han previsto en la cláusula de los contratos", "entrega tardía"),
]


@cases(("text", "question"), QUESTIONS)
def test_a_word_is_found_with_other_endings(text: str, question: str) -> None:
    room = [ENGLISH.format("nothing"), GERMAN.format("nichts"), text, ENGLISH.format("again")]
    assert [position for position, _ in rank(room, question, 1)] == [2]


def test_each_word_has_the_endings_of_the_texts_in_which_it_stands() -> None:
    positions = WordPositions([ENGLISH.format("obligations"), GERMAN.format("Kündigungen"), ENGLISH.format("obliged")])
    for known, asked in (("Kündigungen", "Kündigung"), ("obligations", "obliged")):
        (word,), (other,) = words(known), words(asked)
        assert positions.family(other) == positions.family(word) != (0, 0)


def test_in_an_english_room_a_word_keeps_its_english_family() -> None:
    texts = [ENGLISH.format("obliged"), ENGLISH.format("obligation"), GERMAN.format("nichts"), ENGLISH.format("paid")]
    assert {position for position, _ in rank(texts, "obliging", 5)} == {0, 1}


def test_numbers_and_scripts_without_a_stemmer_keep_their_spelling() -> None:
    assert [stem(spelling, "German") for spelling in ("2024", "ข้อตกลง", "売上")] == ["2024", "ข้อตกลง", "売上"]
