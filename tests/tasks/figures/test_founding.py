"""Founding years as rooms say them, and years that found something else."""

from tasks.figures.document import LedgerDocument
from tasks.figures.from_sentences import find_founding_years
from tests.cases import cases


def years(text: str) -> list[int]:
    return [int(figure.value) for figure in find_founding_years(LedgerDocument(text, [], "profile.txt"))]


@cases(
    "text",
    [
        "Nordwind was founded in 2009 by two engineers.",
        "The company, established 2009, employs 46 people.",
        "Incorporated on 3 May 2009 in England and Wales.",
        "Incorporated in Delaware on May 3, 2009.",
        "Die Gesellschaft wurde 2009 in Kiel gegründet.",
        "Im Jahr 2009 von zwei Ingenieuren gegründet.",
        "Gegründet im Jahr 2009",
        "La société a été fondée en 2009.",
        "La empresa fue fundada en 2009.",
        "Founded\t2009",
        "Year founded: 2009",
        "Gründungsjahr: 2009",
    ],
)
def test_a_room_says_it_in_many_words(text: str) -> None:
    assert years(text) == [2009]


@cases(
    "text",
    [
        "Our largest competitor was founded in 2005.",
        "The audit committee was established in 2015.",
        "The pension plan was established on 1 January 2012.",
        "A subsidiary in Spain was incorporated in 2018.",
        "Impairments founded on estimates were 2,009 in all.",
        "Revenue in 2009 was EUR 4 million.",
    ],
)
def test_what_else_was_founded_is_not_the_company(text: str) -> None:
    assert years(text) == []


def test_its_place_is_told() -> None:
    text = "About us\nNordwind was founded in 2009."
    (figure,) = find_founding_years(LedgerDocument(text, [], "profile.txt"))
    assert (figure.place, text[figure.start : figure.end], figure.unit) == ("line 2", "2009", "year")
