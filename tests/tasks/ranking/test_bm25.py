"""What lifts a text above others: windows, phrases, statements, clauses; and scores that compare."""

from tasks.ranking import WordIndex, rank

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
