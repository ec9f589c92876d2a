"""A memo is cut into figures, quotations and statements."""

from tasks.memo.claims import StatementKind, split
from tasks.reading.text_writer import HEADING


def kinds(text: str) -> list[tuple[str, str]]:
    return [(str(claim.kind), claim.words) for claim in split(text)]


def test_sentences_with_an_amount_are_figures_and_others_statements() -> None:
    assert kinds("Revenue was EUR 9.4 million in 2024. The founders still run the company.") == [
        ("figure", "Revenue was EUR 9.4 million in 2024."),
        ("statement", "The founders still run the company."),
    ]


def test_a_year_alone_makes_no_figure() -> None:
    assert kinds("The company was founded in Delft in 2011.")[0][0] == "statement"


def test_list_items_lose_their_marks_and_sources() -> None:
    assert kinds(
        "• Customers prepay for one year [3]\n2. Churn was 4 % in 2024 (source: deck, p. 3).\n7.3 The tenant pays."
    ) == [
        ("statement", "Customers prepay for one year"),
        ("figure", "Churn was 4 % in 2024."),
        ("statement", "The tenant pays."),
    ]


def test_a_table_row_is_said_with_its_header() -> None:
    (row,) = split("EUR m\t2023\t2024\nRevenue\t7.7\t9.4\n")
    assert row.kind is StatementKind.FIGURE
    assert row.text == "Revenue 7.7 9.4"
    assert "in 2024" in row.words


def test_a_quotation_stands_for_the_sentence_that_only_says_who_said_it() -> None:
    text = 'The lease says: “Either party may terminate. Notice is six months.” (clause 4)\nHe calls it a "moat".\n'
    claims = split(text)
    assert [(claim.kind, claim.words) for claim in claims] == [
        (StatementKind.QUOTATION, "Either party may terminate. Notice is six months."),
        (StatementKind.STATEMENT, 'He calls it a "moat".'),
    ]
    assert text[claims[0].start : claims[0].end] == claims[0].text


def test_headings_questions_and_announcements_claim_nothing() -> None:
    text = "Terms of the lease\nIs it cheap?\nWhat we saw:\nRent is paid every quarter.\n"
    claims = split(text, [(0, len(text), HEADING, "Terms of the lease")])
    assert [claim.text for claim in claims] == ["Rent is paid every quarter."]


def test_a_sentence_over_two_lines_keeps_its_place() -> None:
    text = "Intro line here is good.\nThe landlord may refuse a sub-\ntenant without reason.\n"
    claim = split(text)[1]
    assert text[claim.start : claim.end].startswith("The landlord")
    assert text[claim.start : claim.end].endswith("reason.")


def test_marks_of_footnotes_are_no_words_of_a_claim() -> None:
    claims = split("Revenue was EUR 9.4 million in 2024.[^1]\n\n[^1]: Churn was 4 % in 2024.\n")
    assert [claim.text for claim in claims] == ["Revenue was EUR 9.4 million in 2024.", "Churn was 4 % in 2024."]
    assert [claim.words for claim in claims] == [claim.text for claim in claims]


def test_a_title_and_a_row_of_periods_claim_nothing() -> None:
    rows = "EUR m\tFY2024\tQ1 2023\nRevenue\t9.4\t7.7\nFounded in Delft, Holland\t1998\n"
    text = f"Acme: notes on the annual report 2024\n{rows}"
    assert [claim.text for claim in split(text)] == ["Revenue 9.4 7.7", "Founded in Delft, Holland 1998"]


def test_a_first_line_with_an_amount_is_a_claim() -> None:
    assert [claim.text for claim in split("Revenue up 12 % to EUR 9 m\n")] == ["Revenue up 12 % to EUR 9 m"]


def test_a_scale_before_a_currency_ends_no_sentence() -> None:
    assert [claim.text for claim in split("Der Umsatz betrug 8,6 Mrd. Euro im Jahr 2024. Er wächst seit Jahren.")] == [
        "Der Umsatz betrug 8,6 Mrd. Euro im Jahr 2024.",
        "Er wächst seit Jahren.",
    ]


def test_the_unit_of_a_row_goes_to_its_values() -> None:
    (row,) = split("\t2023\t2024\nSelling expenses ($ million)\t19,779\t18,537\n")
    assert row.words == "Selling expenses: $19,779 million in 2023, $18,537 million in 2024"
