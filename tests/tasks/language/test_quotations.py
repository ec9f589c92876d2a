"""Quotes: typesetting is forgiven, meaning is not, no quotation takes long to refuse; the words around one."""

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.language.quotations import (
    Mark,
    MarkedWords,
    Stretch,
    blocks,
    in_sentence,
    line_start,
    locate,
    stretches,
    verify,
)
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


TABLE = "Accounts\nRevenue\t100\t80\nCosts\t60\t50\nSigned by the auditor."


def test_a_quotation_is_marked_across_cells_and_its_anchor_set_once() -> None:
    start = TABLE.index("100")
    (stretch,) = stretches(TABLE, 0, len(TABLE), [Mark(start, TABLE.index("60") + 2, "c1")])
    heading, table, end = stretch.blocks
    assert heading.rows == [[[MarkedWords("Accounts")]]]
    assert table.rows == [
        [
            [MarkedWords("Revenue")],
            [MarkedWords("100", marked=True, anchors=("c1",))],
            [MarkedWords("80", marked=True)],
        ],
        [[MarkedWords("Costs", marked=True)], [MarkedWords("60", marked=True)], [MarkedWords("50")]],
    ]
    assert end.rows == [[[MarkedWords("Signed by the auditor.")]]]
    assert (stretch.before, stretch.behind) == (False, False)


def test_lines_within_a_quotation_are_one_block_up_to_where_it_ends() -> None:
    (stretch,) = stretches("One\ntwo\nthree\nfour", 0, 18, [Mark(0, 13, "a")])
    assert [block.rows for block in stretch.blocks] == [
        [[[MarkedWords("One", marked=True, anchors=("a",))]]],
        [[[MarkedWords("two\nthree", marked=True)]]],
        [[[MarkedWords("four")]]],
    ]


def test_blank_lines_are_no_blocks() -> None:
    assert [block.rows[0][0][0].text for block in blocks("One\n   \n\nTwo", 0, 12, [])] == ["One", "Two"]


def test_an_empty_cell_has_no_words() -> None:
    assert [block.rows for block in blocks("a\t\tb", 0, 4, [])] == [[[[MarkedWords("a")], [], [MarkedWords("b")]]]]


def test_a_line_begins_behind_a_break_or_where_the_text_does_unless_that_is_far() -> None:
    assert line_start("\nabc", 3, 0) == 1
    assert line_start("abcdef", 5, 2) == 2
    assert line_start("a" * 100_000, 90_000, 0) == 90_000


def test_marks_that_begin_together_keep_both_anchors() -> None:
    (stretch,) = stretches("One two three", 0, 13, [Mark(0, 3, "a"), Mark(0, 7, "b")])
    (first, second, _rest) = stretch.blocks[0].rows[0][0]
    assert (first, second) == (MarkedWords("One", marked=True, anchors=("a", "b")), MarkedWords(" two", marked=True))


def test_far_quotations_have_stretches_of_their_own_that_tell_that_the_text_goes_on() -> None:
    text = "\n".join(f"Line {number} of a long document." for number in range(1000))
    near, far = text.index("Line 100 "), text.index("Line 900 ")
    first, second = stretches(text, 0, len(text), [Mark(near, near + 8, "a"), Mark(far, far + 8, "b")])
    assert first.before
    assert first.behind
    shown = "\n".join(run.text for block in first.blocks for row in block.rows for cell in row for run in cell)
    assert 1000 < len(shown) < 5000
    assert second.before


def test_a_part_is_not_left() -> None:
    text = "Page one.\fPage two."
    (stretch,) = stretches(text, 10, len(text), [Mark(10, 14, "a")])
    assert [run.text for block in stretch.blocks for row in block.rows for cell in row for run in cell] == [
        "Page",
        " two.",
    ]


def test_a_quotation_of_a_million_characters_is_shown_in_part() -> None:
    text = "word " * 200_000
    (stretch,) = stretches(text, 0, len(text), [Mark(0, len(text), "a")])
    assert stretch.behind
    assert sum(len(run.text) for block in stretch.blocks for row in block.rows for cell in row for run in cell) < 25_000


def shown(stretch: Stretch) -> list[list[str]]:
    """The rows of the tables of a stretch."""
    rows = [row for block in stretch.blocks if block.kind == "table" for row in block.rows]
    return [["".join(run.text for run in cell) for cell in row] for row in rows]


def test_a_row_far_down_a_sheet_stands_below_its_header() -> None:
    rows = [f"Customer {number}\t{number * 7}\t{number * 11}" for number in range(2_000)]
    text = "\n".join(["Customers, EUR thousand", "", "Name\t2023\t2022", *rows])
    start = text.index("9100\t")
    (stretch,) = stretches(text, 0, len(text), [Mark(start, start + 4, "a")])
    header, gap, *others = shown(stretch)
    assert (header, gap) == (["Name", "2023", "2022"], ["…"])
    assert ["Customer 1300", "9100", "14300"] in others
    assert len(others) < 200


def test_a_cell_of_a_wide_sheet_stands_beside_its_label_and_the_cells_around() -> None:
    months = "\t".join(f"M{number}" for number in range(60))
    text = f"\tLine\t{months}\n\tRevenue\t" + "\t".join(str(number * 100) for number in range(60))
    start = text.index("4000")
    (stretch,) = stretches(text, 0, len(text), [Mark(start, start + 4, "a")])
    assert shown(stretch) == [
        ["", "Line", "…", "M37", "M38", "M39", "M40", "M41", "M42", "M43"],
        ["", "Revenue", "…", "3700", "3800", "3900", "4000", "4100", "4200", "4300"],
    ]


def test_a_row_that_is_quoted_whole_is_shown_whole() -> None:
    text = "Line\t" + "\t".join(map(str, range(40)))
    (stretch,) = stretches(text, 0, len(text), [Mark(0, len(text), "a")])
    assert len(shown(stretch)[0]) == 41


def test_each_cell_of_a_very_wide_sheet_stands_under_its_own_header() -> None:
    rows = [["EUR", *(f"Column {n}" for n in range(600))]]
    rows += [[name, *(f"{name[0]}{n}.00000" for n in range(600))] for name in ("Alpha", "Beta", "Gamma")]
    text = "Title\n\n" + "\n".join("\t".join(row) for row in rows) + "\n"
    for name, column in (("Alpha", 400), ("Beta", 2), ("Gamma", 599)):
        cell = f"{name[0]}{column}.00000"
        start = text.index(cell)
        ((block,),) = [each.blocks for each in stretches(text, 0, len(text), [Mark(start, start + len(cell), "a")])]
        shown = [["".join(words.text for words in each) for each in row] for row in block.rows]
        at = shown[0].index(f"Column {column}")
        assert [name, cell] in [[row[0], row[at]] for row in shown if len(row) > at]
        assert all(row[at] in {"", f"Column {column}", f"{row[0][0]}{column}.00000"} for row in shown if len(row) > at)


def test_of_a_very_long_row_the_rows_above_are_not_shown_but_its_headers() -> None:
    rows = [["EUR", *(f"Column {n}" for n in range(3000))]]
    rows += [[f"Row {row}", *(f"{row}.{n}00000" for n in range(3000))] for row in range(20)]
    text = "\n".join("\t".join(row) for row in rows) + "\n"
    start = text.index("19.290000000")
    ((block,),) = [each.blocks for each in stretches(text, 0, len(text), [Mark(start, start + 12, "a")])]
    shown = [["".join(words.text for words in each) for each in row] for row in block.rows]
    assert [row[0] for row in shown] == ["EUR", "…", "Row 19"]
    assert shown[0][shown[2].index("19.290000000")] == "Column 2900"
