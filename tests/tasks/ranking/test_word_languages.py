"""Endings of other languages than English, in rooms of one language and of several."""

import pytest

from tasks.ranking import rank
from tasks.ranking.index import WordPositions
from tasks.ranking.lexicon import stem, words

GERMAN = "Die Zahlung der Rechnungen ist von dem Käufer und nicht von der Bank zu veranlassen, es sei denn: {}"
ENGLISH = "The payment of the invoices is to be made by the buyer and not by the bank, unless it is said: {}"
QUESTIONS = [
    ("die verspäteten Lieferungen sind vereinbart", "Was gilt bei verspäteter Lieferung?"),
    ("les livraisons tardives sont prévues dans une clause, et le retard est payé par le vendeur", "livraison tardive"),
    ("поставка товара была задержана продавцом", "задержанные поставки"),
    ("las entregas tardías que se han previsto en la cláusula de los contratos", "entrega tardía"),
]


@pytest.mark.parametrize(("text", "question"), QUESTIONS)
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
