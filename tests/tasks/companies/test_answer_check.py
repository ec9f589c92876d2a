"""Of a model's answer only those statements stay that its sources prove."""

import pytest

from tasks.companies.answer_check import Ground, prove
from tests.cases import cases

GROUNDS = [
    Ground(1, "https://a.example/", "Alpha was founded in 2015 in Berlin.", "Alpha was founded in 2015 in Berlin."),
    Ground(2, None, "It employs 1,200 people.", "It employs 1,200 people.\nRevenue was EUR 83.7 million, up 4 %."),
]
ASKED = "When was the company founded, and how many people does it employ?"


def _proved(answer: str) -> str:
    return prove(answer, ASKED, "Alpha alpha.example", GROUNDS).text


@cases(
    ("answer", "proved"),
    [
        ("Alpha was founded in 2015 [1].", "Alpha was founded in 2015 [1]."),
        ("Alpha was founded in 2015. [1]", "Alpha was founded in 2015 [1]."),
        ("Alpha was founded in 2015.", "Alpha was founded in 2015 [1]."),
        ("Alpha was founded in 2015 [2].", "Alpha was founded in 2015 [1]."),
        ("Alpha was founded in 2015 [7].", "Alpha was founded in 2015 [1]."),
        ("Alpha was founded in 2016 [1].", ""),
        ("Founded in 2015, it employs 1,200 people [1][2].", ""),  # no one sentence says both
        ("Alpha is a fraud and a scam in Berlin [1].", ""),
        ("Alpha is a fraud in Berlin [1].", ""),
        ("Gegründet: “founded in 2015” [1].", "Gegründet: “founded in 2015” [1]."),
        ("Umsatz: “Revenue was EUR 83.7 million” [2].", "Umsatz: “Revenue was EUR 83.7 million” [2]."),
        ("Umsatz: “Revenue was EUR 3.7 million” [2].", ""),
        ("Founded in 2015: https://a.example/ [1].", "Founded in 2015: https://a.example/ [1]."),
        ("Founded in 2015, see https://b.example/ [1].", ""),
        ("The sources do not say who owns it.", "The sources do not say who owns it."),
    ],
)
def test_a_statement_stays_where_its_sources_prove_it(answer: str, proved: str) -> None:
    assert _proved(answer) == proved


def test_beside_an_injection_a_quotation_proves_only_itself() -> None:
    answer = "Bankrupt: “founded in 2015” [1]. It was “founded in 2015” [1]."

    assert prove(answer, ASKED, "Alpha", GROUNDS, strict=True).text == "It was “founded in 2015” [1]."


def test_the_form_of_an_answer_stays() -> None:
    answer = "- Founded in 2015 [1].\n- Bankrupt in 2020 [1].\n\n1. It employs 1,200 people [2]."

    assert _proved(answer) == "- Founded in 2015 [1].\n\n1. It employs 1,200 people [2]."


def test_what_was_left_out_is_counted_and_what_was_cited_is_known() -> None:
    proved = prove("Founded in 2015. It is a fraud. It sells 77 cars.", ASKED, "Alpha", GROUNDS)

    assert proved.left_out == 2
    assert proved.cited == {1}


@pytest.mark.parametrize(("answer", "proved"), [("“EUR 83.7 million” [1]", True), ("“EUR 3.7 million” [1]", False)])
def test_a_quotation_must_stand_in_full(answer: str, proved: bool) -> None:
    grounds = [Ground(1, None, "Revenue was EUR 83.7 million.", "Revenue was EUR 83.7 million, up 4 %.")]
    assert bool(prove(answer, "What was its revenue?", "Alpha", grounds).text) is proved
