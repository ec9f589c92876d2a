"""Where words stand in texts.

What lifts a text above others: windows, phrases, statements, clauses; and scores that compare.

Plain BM25, and how much it decides: everything but the order of things that the vocabulary knows.

Indexes too long for memory lie on the disk: the same ranking, nothing left behind, a sentence where it is full.
"""

import subprocess
import sys
import tracemalloc
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tasks.language.words import tokens
from tasks.ranking import WordIndex, index, rank
from tasks.ranking.index import TextSubset, WordPositions
from tasks.ranking.lexicon import GrowingRow, empty_row, stem, words
from tasks.ranking.query import read_query

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


FILLER = "The committee met several times during the period and considered the usual matters in good order. "

BALANCE = """CONSOLIDATED BALANCE SHEETS (in thousands) December 31, 2022 2021
Cash and cash equivalents 1,200 1,100 Accounts receivable, net 300 280 Inventories 500 450
Total current assets 2,000 1,830 Property and equipment, net 900 870 Total assets 2,900 2,700
Accounts payable 400 380 Total current liabilities 600 590 Long-term debt 700 720 Total liabilities 1,300 1,310
Additional paid-in capital 100 100 Retained earnings 1,500 1,290 Total stockholders' equity 1,600 1,390"""
CASH_FLOWS = """CONSOLIDATED STATEMENTS OF CASH FLOWS (in thousands) 2022 2021
Net income 210 190 Adjustments to reconcile net income: Depreciation and amortization 90 80
Net cash provided by operating activities 310 280 Purchases of property and equipment (120) (100)
Net cash used in investing activities (120) (100) Net cash used in financing activities (90) (70)
Net increase in cash 100 110 Beginning of year 1,100 990 End of year 1,200 1,100"""
TALK = (
    "The quick ratio is a ratio that analysts use. We consider our quick ratio and our capital expenditure at "
    "times. " + FILLER * 4
)


def test_the_statement_stands_before_the_page_that_talks_of_it() -> None:
    pages = [TALK, FILLER * 5, CASH_FLOWS, FILLER * 3, BALANCE]
    assert rank(pages, "What is the FY2022 quick ratio?", 1)[0][0] == 4
    assert rank(pages, "What is the FY2022 capital expenditure amount in USD millions?", 1)[0][0] == 2


def test_a_long_text_counts_by_its_best_window() -> None:
    scattered = "aluminium " + FILLER * 6 + "supplier " + FILLER * 6 + "insolvency " + FILLER * 2
    together = FILLER * 8 + "insolvency of the aluminium supplier " + FILLER * 6
    assert rank([scattered, together], "insolvency of the aluminium supplier", 2)[0][0] == 1


def test_words_of_a_phrase_count_more_side_by_side() -> None:
    apart = "The house is white. Its neighbour is the old one."
    side = "The white house. Its neighbour is the old one."
    assert rank([apart, side], "white house", 2)[0][0] == 1


def test_a_phrase_does_not_reach_into_the_next_text() -> None:
    texts = ["All rests with governing", "law of Delaware", "The governing law is that of Delaware."]
    assert rank(texts, "governing law", 1)[0][0] == 2


def test_a_clause_is_found_in_other_words_than_those_of_the_question() -> None:
    clauses = [
        "The term of this Agreement is three years.",
        "This Agreement shall be construed in accordance with the laws of the State of Delaware.",
        "Neither party may disclose the terms.",
    ]
    assert rank(clauses, "Governing law", 1)[0][0] == 1


def test_the_best_score_tells_which_contract_has_the_clause() -> None:
    question = "Most Favored Nation: must the best terms given to another be offered?"
    have = [
        FILLER,
        "If Supplier grants any customer more favorable terms or lower prices, Buyer shall receive them too.",
    ]
    lack = [FILLER, "Buyer shall pay each invoice within thirty days.", "Notices shall be in writing."] * 7
    best = [rank(texts, question, 1) for texts in (have, lack)]
    assert best[0][0][1] > (best[1][0][1] if best[1] else 0.0)


def test_scores_of_a_clause_hardly_depend_on_the_other_texts() -> None:
    clause = "This Agreement shall be governed by the laws of the State of New York."
    alone = rank([clause, FILLER], "governing law", 1)[0][1]
    among = rank([clause, *[f"{FILLER} governing law {number}" for number in range(30)]], "governing law", 31)
    assert abs(dict(among)[0] - alone) < 0.25 * alone


def test_of_many_texts_the_same_are_found_as_of_few() -> None:
    many = [f"{FILLER} Number {number} of the notes." for number in range(2500)]
    many[1700] = "The insolvency of an aluminium supplier is a risk."
    many[2400] = "An aluminium supplier was insolvent."
    found = WordIndex(many).rank("insolvency of the aluminium supplier", 3)
    assert [position for position, _score in found[:2]] == [1700, 2400]


def test_equal_texts_keep_their_order_where_only_some_are_looked_at() -> None:
    texts = ["gross margin", "other words", "margin margin"] * 1000
    order = [position for position, _score in WordIndex(texts).rank("margin", 5)]
    assert order == [2, 5, 8, 11, 14]


def test_as_many_as_asked_for_are_given_of_many() -> None:
    texts = ["gross margin", "other words"] * 3000
    assert len(WordIndex(texts).rank("margin", 2900)) == 2900


def test_equal_input_gives_equal_output() -> None:
    pages = [TALK, CASH_FLOWS, BALANCE] * 50
    assert WordIndex(pages).rank("quick ratio", 20) == WordIndex(pages).rank("quick ratio", 20)


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
