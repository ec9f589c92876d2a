"""Months and currencies are those of the Unicode CLDR."""

from tasks.language.locales import (
    currency_codes,
    currency_marks,
    currency_names,
    month_names,
    months,
)
from tests.cases import cases


@cases(("name", "number"), [("march", 3), ("maerz", 3), ("fevrier", 2), ("déc", 12), ("augustus", 8), ("jänner", 1)])
def test_a_month_is_known_in_every_language(name: str, number: int) -> None:
    assert months()[name] == number


def test_a_word_that_is_a_short_month_elsewhere_is_none() -> None:
    assert not {"set", "out", "des", "marco"} & months().keys()


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
