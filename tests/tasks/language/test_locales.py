"""Months and currencies are those of the Unicode CLDR."""

import re
from datetime import date

from tasks.language.periods import dates
from tasks.language.words import currency_codes, currency_marks, currency_names, look_up, month_names, months
from tests.cases import cases


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
