"""Ranking: which texts speak to a question, and what counts as a word."""

import logging

import pytest

from tasks.language.words import tokens
from tasks.ranking import WordIndex, rank
from tests.cases import cases

TEXTS = [
    "The lease of the office in Leeds ends in March 2027.",
    "Recurring revenue was 83.4 % of all revenue in 2023.",
    "",
    "The board approved the minutes of the last meeting.",
]


def test_the_text_that_speaks_to_the_question_comes_first() -> None:
    assert rank(TEXTS, "What share of revenues recurs?", 2)[0][0] == 1
    assert rank(TEXTS, "When do the leases end?", 2)[0][0] == 0


def test_scores_fall_and_are_positive() -> None:
    scores = [score for _, score in rank(TEXTS, "revenue office lease board 2023", 10)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3
    assert min(scores) > 0


def test_how_documents_would_put_it_finds_what_the_question_does_not_say() -> None:
    question, wordings = "How sticky is the income?", ["recurring revenue", "share of revenue"]
    index = WordIndex(TEXTS)
    assert index.rank(question, 2) == []
    assert [position for position, _ in index.rank(question, 2, wordings)] == [1]


def test_wordings_count_more_than_the_question_and_leave_it_in() -> None:
    order = [position for position, _ in WordIndex(TEXTS).rank("minutes of the meeting", 4, ["lease", "office"])]
    assert order == [0, 3]


@cases("wordings", [["aircraft"], ["the of"], [""]])
def test_wordings_that_no_text_has_change_nothing(wordings: list[str]) -> None:
    index = WordIndex(TEXTS)
    plain = [position for position, _ in index.rank("revenue office lease board 2023", 10)]
    assert [position for position, _ in index.rank("revenue office lease board 2023", 10, wordings)] == plain


def test_texts_that_share_no_word_are_left_out() -> None:
    assert rank(TEXTS, "aircraft", 10) == []


@cases("question", ["", "  ", "the of and", "?!", "\0"])
def test_a_question_without_words_finds_nothing(question: str) -> None:
    assert rank(TEXTS, question, 5) == []


@cases("texts", [[], [""], ["", " ", "the of"], ["—"]])
def test_texts_without_words_are_never_found(texts: list[str]) -> None:
    assert rank(texts, "the revenue", 5) == []


@cases(("k", "found"), [(-1, 0), (0, 0), (1, 1), (99, 2)])
def test_at_most_k_are_given(k: int, found: int) -> None:
    assert len(rank(TEXTS, "revenue lease", k)) == found


def test_equal_texts_keep_their_order() -> None:
    texts = ["gross margin", "other words", "margin margin", "other words"] * 300
    order = [index for index, _ in rank(texts, "margin", 1200)]
    assert order == [*range(2, 1200, 4), *range(0, 1200, 4)]


def test_one_index_answers_many_questions_as_rank_does() -> None:
    index = WordIndex(TEXTS)
    for question in ("lease", "revenue 2023", "minutes of the board"):
        assert index.rank(question, 3) == rank(TEXTS, question, 3)


@cases(
    ("one", "other"),
    [
        ("company", "companies"),
        ("lease", "leases"),
        ("recurs", "recurring"),
        ("address", "addresses"),
        ("price", "pricing"),
        ("Audited", "audit"),
        ("ﬁnancial", "financial"),
        ("STRASSE", "straße"),
        ("caf\u00e9", "cafe\u0301"),
        ("reve\u00adnue", "revenue"),
        ("revenue¹", "revenue"),
        ("company's", "company"),
        ("1,234,567", "1234567"),
        ("1.234.567,8", "1234567.8"),
        ("3,7", "3.7"),
    ],
)
def test_forms_of_one_word_are_one_token(one: str, other: str) -> None:
    assert tokens(one) == tokens(other) != []


@cases(("one", "other"), [("83.4", "834"), ("3.7", "83.7"), ("business", "busy"), ("2023", "2024")])
def test_different_words_stay_different(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


def test_numbers_are_whole() -> None:
    assert tokens("EUR 1,234.5 on 2023 at 7.5 %") == ["eur", "1234.5", "2023", "7.5"]


@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (["Revenue grew."], "revenue"),
        (["当社の売上高は増加した。", "会議の議事録"], "売上高"),
        (["Die Umsatzerlöse stiegen.", "Der Mietvertrag endet."], "Wie hoch sind die Umsatzerlöse?"),
    ],
    ids=["a single text", "no spaces between words", "another language than English"],
)
def test_any_text_is_found(texts: list[str], question: str) -> None:
    assert rank(texts, question, 2)[0][0] == 0


def test_ranking_prints_and_logs_nothing(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        rank(TEXTS * 500, "revenue", 3)
    captured = capfd.readouterr()
    assert (captured.out, captured.err, [record for record in caplog.records if record.name.startswith("tasks")]) == (
        "",
        "",
        [],
    )


def test_where_a_quotation_may_stand_its_rarest_words_decide() -> None:
    assert WordIndex(TEXTS).texts_with_words("the last revenue of the board", 2) == [3, 1]
    assert WordIndex(TEXTS).texts_with_words("aircraft", 5) == []
    assert WordIndex([]).texts_with_words("lease", 5) == []


def test_texts_are_read_one_after_the_other() -> None:
    assert WordIndex(text for text in TEXTS).rank("lease", 3) == WordIndex(TEXTS).rank("lease", 3)
