"""Which words say the same, which the opposite, and what a text's words are once endings and separators are gone."""

from tasks.language.words import (
    are_opposite,
    detect_language,
    detect_script_language,
    has_opposite,
    in_one_word,
    is_known,
    say_the_same,
    split_form,
    stem,
    tokens,
    usual_model_tokens,
    write_out,
)
from tests.cases import cases


@cases(
    ("word", "same"),
    [
        ("sold", "sell"),
        ("companies", "company"),
        ("acquisition", "acquired"),
        ("termination", "terminate"),
        ("planned", "plan"),
        ("losses", "loss"),
        ("additional", "addition"),
        ("added", "add"),
        ("obligations", "obligate"),
    ],
)
def test_forms_of_a_word_have_one_stem(word: str, same: str) -> None:
    assert stem(word) == stem(same)


@cases(
    "words",
    [("proceed", "process"), ("only", "one"), ("bus", "bu"), ("supply", "supp"), ("regional", "region"), ("date", "d")],
)
def test_other_words_have_other_stems(words: tuple[str, str]) -> None:
    assert stem(words[0]) != stem(words[1])


@cases("pair", [("profit", "earnings"), ("buy", "purchase"), ("rent", "rent")])
def test_synonyms_say_the_same_and_are_no_opposites(pair: tuple[str, str]) -> None:
    one, other = map(stem, pair)
    assert say_the_same(one, other)
    assert not are_opposite(one, other)


@cases(
    "pair",
    [
        ("rise", "fall"),
        ("fall", "rise"),
        ("buyer", "seller"),
        ("audited", "unaudited"),
        ("unaudited", "audited"),
        ("growth", "drop"),
    ],
)
def test_opposites_say_something_else(pair: tuple[str, str]) -> None:
    one, other = map(stem, pair)
    assert are_opposite(one, other)
    assert not say_the_same(one, other)


def test_words_without_a_relation_are_neither_the_same_nor_opposite() -> None:
    one, other = stem("mill"), stem("lease")
    assert not say_the_same(one, other)
    assert not are_opposite(one, other)
    assert (has_opposite(stem("rise")), has_opposite(stem("mill"))) == (True, False)


@cases(
    ("word", "known"),
    [("profit", True), ("rise", True), ("employ", True), ("fifth", True), ("mostly", True), ("zeal", False)],
)
def test_the_vocabulary_knows_some_words(word: str, known: bool) -> None:
    assert is_known(stem(word)) is known


def test_a_phrase_is_one_word_and_is_written_out_again() -> None:
    text = "It set up 5 per cent of per cent."
    joined = in_one_word(text)
    assert joined == "It set_up 5 percent of percent."
    start = joined.index("percent")
    assert write_out(text, start, start + len("percent")) == "per cent"
    start = joined.rindex("percent")
    assert write_out(text, start, start + len("percent")) == "per cent"
    assert write_out(text, 0, 2) == "It"


@cases(
    ("text", "found"),
    [
        ("The leases were stopped, passing boxes.", ["leas", "stop", "pass", "box"]),
        ("1,234.5 and 1.234.567,50 and 0,5", ["1234.5", "1234567.50", "0.5"]),
        ("1,234 of 31.12.2024", ["1234", "31.12.2024"]),
        ("Übersicht\u00ad en¹", ["übersicht", "en"]),
        ("收入增长", ["收入", "入增", "增长"]),
        ("Duties bus cities ties", ["duty", "bus", "city", "tie"]),
        ("The 2nd string used at 3:45", ["2nd", "string", "used", "3", "45"]),
    ],
)
def test_words_of_a_text(text: str, found: list[str]) -> None:
    assert tokens(text) == found


def test_a_word_that_says_nothing_has_no_token() -> None:
    assert split_form("the") == ()
    assert split_form("収") == ("収",)


@cases(("letter", "language"), [("a", None), ("é", None), ("д", "Russian"), ("收", "Chinese"), ("か", "Japanese")])
def test_a_script_tells_its_language(letter: str, language: str | None) -> None:
    assert detect_script_language(letter) == language


def test_japanese_is_written_with_chinese_letters_too() -> None:
    assert detect_language("収益は前年度に比べて大幅に増加しましたので、配当を増やすことにしました。") == "Japanese"
    assert detect_language("公司的收入比上一年度大幅增加因此董事会决定增加股息并回购股份以回报全体股东") == "Chinese"
    assert detect_language("Приложение к договору аренды нежилого помещения") == "Russian"


def test_tokens_of_a_model_are_estimated_from_bytes() -> None:
    assert usual_model_tokens("a" * 44, "é" * 22) == 20
