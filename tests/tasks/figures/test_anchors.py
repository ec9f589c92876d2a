"""Patterns tried only where a match may begin: what a search of the whole text finds."""

import re

from tasks.figures.figure import count_words, lower_text, matches, spots


def test_matches_at_spots_are_those_of_a_search() -> None:
    text = "Amounts in thousands. ALL AMOUNTS IN MILLIONS of euros, amounts in amounts in thousands"
    pattern = re.compile(r"\bamounts\b[^.]{0,12} in (?:thousands|millions)", re.IGNORECASE)
    found = matches(pattern, text, spots(lower_text(text), ["amounts"]))
    assert [match.span() for match in found] == [match.span() for match in pattern.finditer(text)]


def test_spots_are_in_order_whatever_the_order_of_the_words() -> None:
    assert spots("b a b", ["b", "a"]) == [0, 2, 4]
    assert spots("to 31 to 30", [" to"], before=1) == [4]


def test_small_letters_keep_the_offsets() -> None:
    assert lower_text("İSTANBUL 2024") == "istanbul 2024"


def test_words_within_others_are_not_counted() -> None:
    assert count_words("aud audit xaud (aud) aud_ aud", "aud") == 3
    assert count_words("us$ 5, a$ 7, usa$", "a$") == 1
