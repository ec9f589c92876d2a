"""Which words say the same or the opposite, words without endings and separators; months and currencies of the CLDR."""

import re
from datetime import date

from tasks.language.periods import dates
from tasks.language.words import (
    are_opposite,
    currency_codes,
    currency_marks,
    currency_names,
    detect_language,
    detect_script_language,
    has_opposite,
    in_one_word,
    is_known,
    look_up,
    month_names,
    months,
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


@cases(("name", "number"), [("march", 3), ("maerz", 3), ("fevrier", 2), ("déc", 12), ("augustus", 8), ("jänner", 1)])
def test_a_month_is_known_in_every_language(name: str, number: int) -> None:
    assert months()[name] == number


def test_a_word_that_is_a_short_month_elsewhere_is_none() -> None:
    assert not {"set", "out", "des", "marco", "led", "lut"} & months().keys()


def test_names_of_months_begin_with_january() -> None:
    assert (month_names()[0], month_names("de")[11], month_names("en", "abbreviated")[8]) == (
        "January",
        "Dezember",
        "Sep",
    )


def test_currencies_have_codes_marks_and_names() -> None:
    assert {"USD", "KES", "TRY"} <= currency_codes()
    assert not {"ALL", "DEM", "XXX"} & currency_codes()
    assert (currency_marks()["zł"], currency_marks()["$"], currency_marks()["R$"]) == ("PLN", "USD", "BRL")
    assert currency_names()["francs suisses"] == currency_names()["swiss francs"] == "CHF"


def test_a_word_is_looked_up_by_every_letter_that_a_pattern_takes_for_another() -> None:
    table = {"januari": 1, "ιούλιος": 7, "sept": 9}
    for word, month in (("JANUARI", 1), ("Januarı", 1), ("JANUARİ", 1), ("ιούλιοσ", 7), ("ſept", 9)):
        assert re.fullmatch("|".join(table), word, re.IGNORECASE)
        assert look_up(table, word) == month
    assert [when.end for when in dates("den 5 Januarı 2024")] == [date(2024, 1, 5)]
