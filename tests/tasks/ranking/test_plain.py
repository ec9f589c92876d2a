"""Plain BM25, and how much it decides: everything but the order of things that the vocabulary knows."""

import numpy as np

from tasks.language.words import tokens
from tasks.ranking import WordIndex, index, rank
from tasks.ranking.index import TextSubset, WordPositions
from tasks.ranking.lexicon import words
from tasks.ranking.query import read_query

RULES = [
    "A certificate bought in January may be charged an inactivity fee a year later.",
    "The provider shall disclose the exchange rate, and the provider shall disclose the fees of the provider.",
    "The provider shall disclose the date on which the recipient gets the money.",
    "The provider shall keep records of what it has disclosed for two years.",
]


def scores(texts: list[str], question: str) -> list[float]:
    subset = TextSubset(WordPositions(texts), np.arange(len(texts)))
    return [float(score) for score in index.plain_score(subset, words(question))]


def test_a_word_of_few_texts_counts_more_than_one_of_most() -> None:
    common, rare = scores(RULES, "provider")[2], scores(RULES, "recipient")[2]
    assert rare > common > 0


def test_a_text_without_the_words_has_no_score() -> None:
    assert scores(RULES, "provider")[0] == 0
    assert scores(RULES, "aircraft") == [0, 0, 0, 0]


def test_of_two_texts_with_a_word_the_shorter_counts_more() -> None:
    long, short = scores(["aluminium " + "and other metals of all kinds " * 9, "aluminium"], "aluminium")
    assert short > long


def test_function_words_decide_where_nothing_else_does() -> None:
    texts = ["The tenant shall repaint.", "The tenant may repaint.", "The tenant has repainted."]
    assert rank(texts, "May the tenant repaint?", 1)[0][0] == 1
    assert rank(texts, "Who has to repaint?", 1)[0][0] == 2


def test_where_nothing_else_is_shared_function_words_are_a_guess() -> None:
    index = WordIndex(["The tenant shall repaint.", "The tenant may repaint."])
    assert [position for position, _ in index.rank("May they decorate?", 5)] == [1]
    assert index.rank("May they decorate?", 5, guess=False) == []
    assert rank(["The tenant may repaint."], "May they decorate?", 5) == []


def test_words_that_are_common_here_do_not_decide_though_they_are_rare_at_large() -> None:
    assert rank(RULES, "What must the provider disclose about the recipient?", 1)[0][0] == 2


def test_words_of_the_asking_decide_where_the_vocabulary_knows_nothing() -> None:
    texts = ["Zinc in tonnes, by month.", "Zinc in tonnes, by date of the document.", "Zinc in tonnes, by port."]
    assert rank(texts, "zinc by date of the document", 1)[0][0] == 1


def test_the_vocabulary_knows_what_its_entries_ask() -> None:
    assert read_query("governing law").known == 1
    assert read_query("zinc tonnes").known == 0
    assert 0 < read_query("Would a judge read it by the law of Delaware?").known < 1


def test_a_question_in_everyday_words_brings_the_nearest_entries() -> None:
    phrase = tuple(tokens("construed in accordance with laws"))
    far, near = read_query("Which zinc decides?"), read_query("Which law decides?")
    assert not any(term.phrase == phrase for meaning in far.meanings for term in meaning.terms)
    assert any(term.phrase == phrase for meaning in near.meanings for term in meaning.terms)
    assert near.known < read_query("governing law").known


def test_nearest_entries_give_way_to_those_that_are_meant() -> None:
    assert all(meaning.weight > 1 for meaning in read_query("governing law").meanings)


def test_a_single_word_has_no_nearest_entries() -> None:
    assert read_query("margin").known == 0


def test_words_of_a_family_are_found_and_the_question_s_own_spelling_first() -> None:
    texts = ["An obligated zinc trader.", "", "Obligations of a zinc trader.", "", "A copper trader."]
    assert [position for position, _ in rank(texts, "obligation", 5)] == [2, 0]
    assert scores(texts, "obligations")[2] > scores(texts, "obligation")[2] > 0


def test_words_that_stand_together_count_more_than_the_same_words_apart() -> None:
    apart, together = scores(["steel tube with a rolled edge", "", "tube of edge with rolled steel"], "rolled steel")[
        ::2
    ]
    assert together > apart > 0


def test_a_word_on_the_border_of_two_texts_stands_beside_nothing() -> None:
    across = scores(["tube of rolled", "steel edge", "", "copper"], "rolled steel")
    alone = [scores(["tube of rolled", "", "steel edge", "copper"], "rolled steel")[place] for place in (0, 2)]
    assert across[0] - alone[0] < 0.11 * alone[1]


def test_a_text_between_texts_that_speak_to_the_question_comes_before_its_like_elsewhere() -> None:
    texts = ["Zinc by month.", "", "Zinc and copper.", "Zinc by month.", "Zinc and copper."]
    found = scores(texts, "zinc copper")
    assert found[3] > found[0]
    assert found[1] == 0


def test_texts_that_are_alike_to_the_vocabulary_are_told_apart_by_the_question_s_words() -> None:
    clause = "This Agreement shall be governed by and construed in accordance with the laws of {}."
    places = "Ohio Utah Iowa Guam Maine Texas Nevada Oregon Alaska Hawaii Idaho Kansas".split()  # noqa: SIM905 - as prose
    texts = [clause.format(place) for place in places]
    assert rank(texts, "governing law, construed by the laws of Idaho", 1)[0][0] == places.index("Idaho")


def test_sentences_that_only_say_how_to_answer_do_not_count() -> None:
    asked = "Who supplies zinc?"
    assert read_query(f"{asked} If that is not reported, reply with a number.").words == read_query(asked).words
    assert read_query(f"{asked} Who buys copper?").words != read_query(asked).words
    assert read_query("Please give details.").words != ()
