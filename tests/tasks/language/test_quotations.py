"""Quotes: typesetting is forgiven, meaning is not, and no quotation takes long to refuse."""

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.language.quotations import in_sentence, locate, verify
from tests.cases import cases

TEXT = (
    "Revenue grew to EUR 83,700 thousand, i.e. by 13.7 % (2023: 12.9 %).\n"
    "The Company’s loss was (3,700); cash flow: -5.2 m.\n"
    "Non-recurring reve-\nnue of ﬁve “ofﬁces” was $5 million in 2019–2023. We can’t pay.\n"
    "The lease of 3\u00a0700 units was re\u00adnewed on 2024-01-31¹ in the EU_27 (see 7.1).\f"
    "Net profit was not\nmaterial to the group… It fell.\n"
    "Müller GmbH—the largest customer—left; a multi\ufffe\nyear contract of .5 % ended.\n"
)


@cases(
    "quote",
    [
        "Revenue grew to EUR 83,700 thousand",
        "Revenue grew to EUR 83700 thousand",
        "revenue  grew\nto\tEUR\u00a083,700 THOUSAND",
        '"by 13.7 % (2023: 12.9 %)."',
        "13.7%",
        "by 13.7\n%",
        "The Company's loss was (3,700)",
        "the company`s loss was ( 3,700 )",
        "cash flow: −5.2 m",
        "Non-recurring revenue of five 'offices'",
        "Non‑recurring revenue",
        "reve-\nnue of five",
        "rev\u00adenue of ﬁve",
        "was $5 million in 2019-2023",
        "million in 2019 – 2023",
        "$ 5 million",
        "5 million in",
        "We can't pay",
        "3 700 units",
        "3\u202f700 units",
        "was renewed on 2024-01-31",
        "on 2024-01-31 in the EU",
        "Net profit was not material to the group",
        "the group… It fell",
        "Müller GmbH – the largest customer – left",
        "Mu\u0308ller GmbH - the largest",
        "a multi-year contract",
        "a multiyear contract",
        "a multi\x02\r\nyear contract of .5 % ended",
        "**Net profit** was not material",
        "• Net profit was not material",
        "see 7.1",
    ],
)
def test_typesetting_is_forgiven(quote: str) -> None:
    assert verify(quote, TEXT)


@cases(
    "quote",
    [
        "Revenue grew to EUR 83,701 thousand",
        "Revenue fell to EUR 83,700 thousand",
        "Revenue grew to EUR 83.700 thousand",
        "Revenue grew to EUR 8370 thousand",
        "Net profit was material",
        "Net profit was not not material",
        "profit Net was not",
        "by 13,7 %",
        "by 137 %",
        "of 5 % ended",
        "Muller GmbH the largest",
        "was €5 million",
        "in 2019 2023",
    ],
)
def test_a_changed_word_or_figure_is_refused(quote: str) -> None:
    assert not verify(quote, TEXT)


@cases(
    "quote",
    [
        "3,700 thousand",
        "700 thousand, i.e.",
        "grew to EUR 83",
        "Revenue grew to EUR 83,7",
        "3.7 %",
        "by 13",
        "7 % (2023",
        "9 %)",
        "700 units was",
        "lease of 3",
        "renewed on 2024",
        "01-31 in the EU",
        "in 2019",
        "2023. We can't",
        "see 7",
        "1 in the EU",
    ],
)
def test_a_quotation_cut_inside_a_number_is_refused(quote: str) -> None:
    assert not verify(quote, TEXT)


@cases(
    "quote",
    [
        "evenue grew to",
        "Revenue gre",
        "nue of five",
        "recurring revenue of five",
        "newed on",
        "customer lef",
        "We can",
        "year contract",
        "a multi",
    ],
)
def test_a_quotation_cut_inside_a_word_is_refused(quote: str) -> None:
    assert not verify(quote, TEXT)


@cases(
    ("quote", "why"),
    [
        ("loss was 3,700", "accountants' brackets are a minus"),
        ("3,700); cash", "the same, cut at the bracket"),
        ("flow: 5.2 m", "a minus is left out"),
        ("5.2 m", "the same, at the quotation's beginning"),
        ("by 13.7", "the percent sign is cut off"),
        ("by 13.7 (2023", "the percent sign is left out"),
        ("was $5", "the millions are cut off"),
        ("grew to EUR 83,700", "the thousands are cut off"),
        ("churn was 4 %", "the limit is left out"),
        ("4 % a year", "the same, at the quotation's beginning"),
    ],
)
def test_a_figure_without_its_sign_or_unit_is_refused(quote: str, why: str) -> None:
    text = TEXT + "Churn was < 4 % a year.\n"
    assert verify("churn was <4% a year", text)
    assert not verify(quote, text), why


@cases("quote", ["", " ", "…", "...", "a", "12", "“”", "\0", ".*", "%", "- 5", "§ 1"])
def test_too_little_proves_nothing(quote: str) -> None:
    assert not verify(quote, TEXT + " a 12 - 5 § 1")


@pytest.mark.parametrize("quote", ["Revenue.*thousand", "(Revenue|Costs) grew", "Revenue grew[^x]*", "\\w+ grew to"])
def test_signs_of_patterns_mean_nothing(quote: str) -> None:
    assert not verify(quote, TEXT)


def test_a_text_full_of_signs_is_quoted_as_it_stands() -> None:
    assert verify("f(x) = [a-z]+ (see *notes*) \\ 3^2", "where f(x) = [a-z]+ (see *notes*) \\ 3^2 holds")


# --- ellipses


@cases(
    "quote",
    [
        "Revenue grew … by 13.7 %",
        "Revenue grew ... by 13.7 % [...] five offices",
        "Revenue grew (…) cash flow",
        "… Revenue grew to EUR …",
        "Revenue […] 2024-01-31",
    ],
)
def test_parts_may_be_left_out_within_a_page(quote: str) -> None:
    assert verify(quote, TEXT)


@cases(
    "quote",
    [
        "by 13.7 % … Revenue grew",
        "Revenue grew … Net profit",
        "Revenue grew … by 13.8 %",
        "Revenue grew … 3.7 %",
        "Revenue … Revenue grew",
    ],
)
def test_parts_in_another_order_or_on_another_page_are_refused(quote: str) -> None:
    assert not verify(quote, TEXT)


# --- where it stands


def found(quote: str, text: str = TEXT, near: int = 0) -> str | None:
    span = locate(quote, text, near)
    return text[slice(*span)] if span else None


def test_the_span_is_that_of_the_words_in_the_text() -> None:
    assert found("non-recurring revenue of five offices") == "Non-recurring reve-\nnue of ﬁve “ofﬁces"
    assert found('"by 13.7 % (2023: 12.9 %)."') == "by 13.7 % (2023: 12.9 %)."
    assert found("Revenue grew … 13.7 %") == "Revenue grew to EUR 83,700 thousand, i.e. by 13.7 %"
    assert found("$5 million") == "$5 million"


def test_of_several_places_the_first_from_the_given_offset_on_is_taken() -> None:
    text = "Total 3,700\fTotal 3,700\fTotal 3,700"
    assert locate("Total 3,700", text) == (0, 11)
    assert locate("Total 3,700", text, 5) == (12, 23)
    assert locate("Total … 3,700", text, 20) == (24, 35)
    assert locate("Total 3,700", text, 30) == (0, 11)


def test_the_first_place_may_be_a_cut_one() -> None:
    assert found("3,700 units", "83,700 units and 3,700 units") == "3,700 units"
    assert locate("3,700 units", "83,700 units and 3,700 units") == (17, 28)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("収益は前年比で増加した", "当社の収益は前年比で増加した。"),
        ("выручка выросла", "Выручка выросла на 5 %."),
        ("राजस्व बढ़ा", "कंपनी का राजस्व बढ़ा।"),
        ("הכנסות גדלו", "ההכנסות גדלו; הכנסות גדלו"),
    ],
)
def test_other_scripts_are_quoted_too(quote: str, text: str) -> None:
    assert verify(quote, text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.text(max_size=200))
def test_any_quote_and_any_text_give_a_span_of_the_text_or_none(quote: str, text: str) -> None:
    for near in (0, 50, 500):
        span = locate(quote, text, near)
        assert span is None or 0 <= span[0] < span[1] <= len(text)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_words_of_a_text_stand_in_it(data: st.DataObject) -> None:
    words = data.draw(
        st.lists(st.sampled_from(["profit", "3,700", "grew", "by", "Müller", "2.5", "(net)"]), min_size=5)
    )
    start = data.draw(st.integers(0, len(words) - 3))
    between = data.draw(st.sampled_from([" ", "\n", "  ", "\t"]))
    assert verify(between.join(words[start:]), "\n".join(words))


# --- how long it takes


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a" * 5_000_000, "a" * 2000),
        pytest.param("ab " * 1_666_666, "ab" * 999 + "a", marks=pytest.mark.slow),
        pytest.param("a-\n" * 1_666_666, "a" * 1999 + "b", marks=pytest.mark.slow),
        pytest.param("( " * 2_500_000, "abc", marks=pytest.mark.slow),
        pytest.param(" " * 5_000_000, "abc", marks=pytest.mark.slow),
        pytest.param("1" + " " * 4_999_999, "1 … 2 abc", marks=pytest.mark.slow),
        pytest.param("a\u0301" * 2_500_000, "a" * 2000, marks=pytest.mark.slow),
    ],
)
def test_no_text_makes_a_refusal_slow(text: str, quote: str) -> None:
    began = time.process_time()
    assert not verify(quote, text)
    assert time.process_time() - began < 15


@pytest.mark.slow
def test_many_long_quotes_from_five_megabytes_take_the_time_of_one_look() -> None:
    chosen = Random(3)
    words = ["revenue", "of", "the", "company", "3,700", "grew,", "well-\nknown", "by 13.7 %."]
    text = " ".join(chosen.choices(words, k=750_000))[:5_000_000]
    began = time.process_time()
    for at in range(1_000_000, 4_000_000, 200_000):
        quote = text[text.index(" ", at) : text.index(" ", at + 2000)]
        assert not verify(f"{quote} zebra", text)
    assert time.process_time() - began < 15


# --- what belongs together

STATEMENTS = (
    "The company has not received an unqualified opinion. It did not, in 2023, pay dividends. Is it audited? No. "
    "Revenue grew by 5 % unless costs rose. Most clients renewed, except those in Bonn, for five years. They pay\n"
    "within a month of the bill.\n"
    "Total revenue\t1,234\t5,678\nCost of sales\t(400)\t(500)\n"
    "\fNet income was stable in the\fyear of the audit. It fell.\fRevenue rose.\n"
    "Trade debtors\tnote\fof the group were paid."
)


@cases(
    "quote",
    [
        "has not received an unqualified opinion",
        "It did not … pay dividends",
        "audited? No. Revenue grew",
        "clients renewed",
        "pay within a month",  # the next line is a row
        "Total revenue 1,234 5,678",
        "Total revenue\t1234",
        "Total revenue 1,234 5,678 Cost of sales (400) (500)",
        "stable in the year of the audit",
    ],
)
def test_words_that_belong_together_are_quoted(quote: str) -> None:
    assert verify(quote, STATEMENTS)


def test_a_quotation_goes_on_behind_the_running_lines_of_pages_and_behind_no_other_line() -> None:
    pages = ["The lease of the plant was", "renewed for five years. It fell and"]
    text = "\f".join(f"Acme annual report {at}\n{page}\n{at}" for at, page in enumerate(pages, 1))
    assert verify("The lease of the plant was renewed for five years", text)
    assert not verify("It fell and rose again", f"{text}\fRisks of the year\nrose again.\n3")


@cases(
    ("quote", "why"),
    [
        ("received an unqualified opinion", "it begins behind its negation"),
        ("costs rose", "it begins behind its condition"),
        ("The company has … received an unqualified opinion", "the ellipsis leaves out a negation"),
        ("It did ... pay dividends", "the same"),
        ("Revenue grew … costs rose", "the ellipsis leaves out a condition"),
        ("Most clients renewed … for five years", "the ellipsis leaves out an exception"),
        ("No revenue grew by 5 %", "it joins an answer to the next sentence"),
        ("revenue 1,234", "it has a part of a cell and the next"),
        ("5,678 Cost of sales", "it joins two rows"),
        ("It fell. Revenue rose.", "it joins two pages"),
        ("Trade debtors note of the group were paid", "it joins a row to the words of the next page"),
    ],
)
def test_words_that_do_not_belong_together_are_refused(quote: str, why: str) -> None:
    assert not verify(quote, STATEMENTS), why


@cases(
    ("row", "is_whole"),
    [("\t", True), ("2025\t", False), ("–\t", False), ("☐\t\t", False)],
)
def test_only_an_empty_cell_is_left_out_before_a_quotation_of_several_rows(row: str, is_whole: bool) -> None:
    quote = "Services agreement\nThis is made between two parties."
    assert verify(quote, f"{row}{quote}") is is_whole


UNITS = (
    "Rent is ₹5 crore and A$ 3.5 million for 500 m² of space¹; yield 5 ‰, spread 25 bps, up 2 pp, about ~3.7 x, ≈ 4 m, "
    "balance 3,700- at end. Sales of 1234 units, 7 percent, was $5 million in all. | **Revenue** | **1,234** | **5**% |"
)


@cases(
    "quote",
    [
        "Rent is ₹5 crore",
        "A$ 3.5 million for",
        "for 500 m² of space",
        "yield 5 ‰",
        "spread 25 bps",
        "about ~3.7 x",
        "balance 3,700- at end",
        "Sales of 1,234 units",
        "units, 7 % was $5 million",
        "7 per cent",
        "Revenue 1234 5%",
    ],
)
def test_a_figure_may_be_written_in_another_way(quote: str) -> None:
    assert verify(quote, UNITS)


@cases(
    "quote",
    [
        "Rent is $5 crore",
        "Rent is 5 crore",
        "Rent is ₹5",
        "$ 3.5 million for",
        "for 500 m of space",
        "yield 5 %",
        "spread 25",
        "up 2",
        "about 3.7 x",
        "4 m, balance",
        "balance 3,700 at end",
    ],
)
def test_a_figure_keeps_its_sign_currency_scale_and_unit(quote: str) -> None:
    assert not verify(quote, UNITS)


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("unqualified opinion", "The company has not received an unqualified opinion."),
        ("clients renewed", "Most clients renewed, except those in Bonn, for five years."),
        ("1,234", "Total revenue\t1,234\t5,678"),
        ("Revenue rose", "Revenue rose."),
    ],
)
def test_a_quotation_is_grown_to_its_sentence_or_row(quote: str, sentence: str) -> None:
    span = locate(quote, STATEMENTS)
    assert span is not None
    assert STATEMENTS[slice(*in_sentence(STATEMENTS, *span))] == sentence


def test_a_sentence_without_an_end_is_cut_between_words() -> None:
    text = "several " * 100 + "leases end" + " tomorrow" * 100
    span = locate("leases end", text)
    assert span is not None
    begin, end = in_sentence(text, *span)
    assert 1150 < end - begin <= 1210
    assert set(text[begin:end].split()) == {"several", "leases", "end", "tomorrow"}


HARBOUR = (
    "The licence is No. 7714. It lapses in 2031. The crew shall be paid weekly, provided that the ship is in port. "
    "The auditors failed to obtain evidence of the stock. CO₂ fell by 1.5 Mt, and 120 tonnes of grain were lost. "
    "The yard pays as long as the dock is leased. They refused to sign the log."
)


@cases(
    ("torn", "whole"),
    [
        ("The licence is No", "The licence is No. 7714"),
        ("the ship is in port", "provided that the ship is in port"),
        ("the dock is leased", "as long as the dock is leased"),
        ("to obtain evidence of the stock", "failed to obtain evidence of the stock"),
        ("to sign the log", "refused to sign the log"),
        ("fell by 1.5", "fell by 1.5 Mt"),
        ("and 120", "and 120 tonnes of grain"),
    ],
)
def test_a_quotation_has_its_condition_its_refusal_and_its_unit(torn: str, whole: str) -> None:
    assert not verify(torn, HARBOUR)
    assert verify(whole, HARBOUR)
