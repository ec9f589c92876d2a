"""What annual reports write beside their own statements, and how their pages cut tables."""

import pytest

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Figure, taxonomy
from tasks.figures.fiscal_calendar import learn_calendar
from tasks.language.numbers import cell_amount
from tests.cases import cases


def whole(text: str, concept: str) -> list[tuple[str, str]]:
    """(value, period) of a concept's figures of the company as a whole."""
    found = find_figures(LedgerDocument(text, [], "annual report.txt"), taxonomy()).figures
    return [(f"{each.value:f}", each.period) for each in found if each.concept == concept and each.entity is None]


def test_a_table_that_goes_on_after_a_page_break_has_the_heading_of_its_beginning() -> None:
    text = (
        "Consolidated balance sheet\n(in thousands of CHF)\t2024\t2023\nCash\t1,200\t900\nReceivables\t300\t310\n"
        "Annual Report 2024\t\t\n\fANNUAL REPORT 60\nTotal assets\t9,400\t8,100\nTrade payables\t120\t150\n"
    ).replace("Annual Report 2024\t\t\n", "59\n")
    assert whole(text, "total_assets") == [("9400000", "2024-12-31"), ("8100000", "2023-12-31")]


def test_the_heading_at_a_page_s_foot_holds_for_the_rows_on_the_next() -> None:
    text = "Income statement, EUR million\n\t2024\t2023\n\fRevenue\t310\t280\nCost of sales\t200\t190\n"
    assert [value for value, _ in whole(text, "revenue")] == ["310000000", "280000000"]


@cases(
    "next_page",
    [
        "31 December 2020\nTotal assets\t4,000\t3,000\n",  # a date of its own
        "\t2020\t2019\nTotal assets\t4,000\t3,000\n",  # a header of its own
        "Total assets\t4,000\t3,000\t2,000\n",  # another number of columns
        "Sites\tShares\nTotal assets\t4,000\t3,000\n",  # a header that names no time
        "\fTotal assets\t4,000\t3,000\n",  # not the next page
    ],
)
def test_another_table_on_the_next_page_does_not(next_page: str) -> None:
    text = "Balance sheet (EUR thousand)\t2024\t2023\nCash\t1,200\t900\n\f" + next_page
    assert ("4000000", "2024-12-31") not in whole(text, "total_assets")


def test_percentages_beside_amounts_are_no_amounts() -> None:
    text = (
        "Amounts in USD millions\n\t2024\t\t2023\t\nProduct sales\t$2,110\t30%\t$2,196\t33%\n"
        "Total net revenues\t7,017\t100\t6,608\t100\n"
    )
    assert "100000000" not in [value for value, _ in whole(text, "revenue")]


def test_a_date_cut_into_cells_heads_the_rows_below_it() -> None:
    text = (
        "(Amounts in USD millions)\tStores\tOnline\tConsolidated\nFiscal year ended January 31, 2024\t\t\t\n"
        "Net sales\t300\t120\t420\nFiscal Year Ended January\t31,\t2023\nNet sales\t290\t110\t400\n"
    )
    assert whole(text, "revenue") == [("420000000", "2023-02-01/2024-01-31"), ("400000000", "2022-02-01/2023-01-31")]


def test_assets_held_for_sale_are_not_those_of_the_company() -> None:
    text = (
        "The following table summarizes assets held for sale in the accompanying consolidated balance sheet as of\n"
        "December 31, 2024.\nDecember\n31,\n2024\n\t(In thousands)\nCash\t$13\nTotal assets\t356,692\n"
    )
    assert whole(text, "total_assets") == []


@cases(
    "sentence",
    [
        "In 2024 we acquired Alder for approximately $16.1 billion in cash ($15.7 billion, net of cash acquired).",
        "Our net cash used in investing activities was $4.7 billion in 2024.",
        "Cash capital expenditures were $6.7 billion in 2024.",
        "Our cash, cash equivalents, and marketable securities were $26.0 billion as of December 31, 2024.",
        "Cash received from option exercises for the year ended December 31, 2024 was $125 million.",
    ],
)
def test_cash_that_was_paid_is_no_balance(sentence: str) -> None:
    assert whole(sentence, "cash") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "At December 31, 2024, we had net operating loss carryforwards of $271.3 million.",
        "In 2024 income of our unconsolidated entity included in office segment net operating income was $164,000.",
    ],
)
def test_losses_carried_forward_and_segments_are_no_operating_income(sentence: str) -> None:
    assert whole(sentence, "operating_income") == []


def test_capital_expenditure_of_a_part_and_revenue_from_a_customer_are_left_out() -> None:
    assert (
        whole("Capital expenditures related to discontinued operations were $4 million in 2024.", "capital_expenditure")
        == []
    )
    assert whole("In 2024, revenue of $1,482,138 was derived from a single customer.", "revenue") == []


def test_notes_in_euros_make_no_report_in_euros() -> None:
    text = (
        "Our Senior Notes are denominated in euros.\n"
        + "Costs were $5 here.\n" * 60
        + "\t2024\nRevenue (thousands)\t900\n"
    )
    assert LedgerDocument(text, [], "").currency.usual == "USD"


def test_a_year_ends_when_years_are_said_to_end_and_begins_on_the_first() -> None:
    text = "for the year ended December 31, 2024\n" * 2 + "as of January 30, 2001\n" * 9
    opening = "Balance at 1 July 2023\n" * 5 + "for the year ended 30 June 2024\n" * 2 + "30 June 2023\n"
    assert learn_calendar(text).month == 12
    assert learn_calendar(opening).year_end(2023).isoformat() == "2023-06-30"


def test_a_number_of_forty_digits_is_read_or_left_out_and_nothing_fails() -> None:
    amount = cell_amount("1,000,000,000,000,000,000,000,000,000,000")
    assert amount is None or amount.value == 10**30


def test_a_sheet_is_no_page_on_which_a_table_goes_on() -> None:
    text = "Balance sheet (EUR thousand)\t2024\t2023\nCash\t1,200\t900\n\fTotal assets\t4,000\t3,000\n"
    cut = text.index("\f")
    sheets = [(0, cut, "sheet", "One"), (cut + 1, len(text), "sheet", "Two")]
    found = find_figures(LedgerDocument(text, sheets, "book.xlsx"), taxonomy()).figures
    assert {figure.concept for figure in found} == {"cash"}


def test_quarters_under_the_year_they_are_of() -> None:
    text = (
        "Quarterly Financial Data, USD millions\nQuarter Ended\n\tMarch 31\tJune 30\tSeptember 30\tDecember 31\n"
        "2024\t\t\t\t\n"
        "Net revenues\t2,217\t2,328\t2,409\t2,613\n"
    )
    assert whole(text, "revenue")[-1] == ("2613000000", "2024-10-01/2024-12-31")


def found(text: str) -> list[Figure]:
    return find_figures(LedgerDocument(text, [], "report.txt"), taxonomy()).figures


def test_dates_on_lines_of_their_own_over_a_table_without_a_header() -> None:
    text = (
        "Consolidated Balance Sheets\n(1)\nDecember 29,\n2018\nDecember 30,\n2017\n"
        "(In millions, except par value amounts)\n"
        "ASSETS\nCurrent assets:\nCash and cash equivalents\t$1,078\t$1,185\nTotal assets\t$4,556\t$3,552\n"
    )
    assert [(row.concept, f"{row.value:f}", row.period) for row in found(text)] == [
        ("cash", "1078000000", "2018-12-29"),
        ("cash", "1185000000", "2017-12-30"),
        ("total_assets", "4556000000", "2018-12-29"),
        ("total_assets", "3552000000", "2017-12-30"),
    ]


def test_units_beside_a_year_do_not_take_its_column_away() -> None:
    text = (
        "Year ended December 31,\n\t2018 (In millions, except per share amounts)\t2017\nNet revenue\t$6,475\t$5,253\n"
    )
    assert [f"{row.value:f}" for row in found(text)] == ["6475000000", "5253000000"]


def test_rows_that_leave_out_the_columns_of_signs_keep_their_years() -> None:
    text = (
        "STATEMENTS OF OPERATIONS\n(USD in millions)\nFor the Years Ended December 31,\n"
        "\t2019\t\t2018\t\t2017\t\n"
        "Costs and expenses\t\t\t\t\t\t\n"
        "Total net revenues\t\t6,489\t\t7,500\t\t7,017\nOperating income\t1,607\t1,988\t1,309\n"
    )
    assert [(f"{row.value:f}"[:4], row.period[:4]) for row in found(text) if row.concept == "operating_income"] == [
        ("1607", "2019"),
        ("1988", "2018"),
        ("1309", "2017"),
    ]


def test_a_row_whose_first_number_sticks_to_its_label() -> None:
    text = (
        "Results of operations (in millions):\n2021 2020 2019\n"
        "Net sales $ 67,044\t$ 65,398\t$ 59,812\nGross profit 9,061\t8,654\t8,367\n"
    )
    assert [f"{row.value:f}" for row in found(text)][::3] == ["67044000000", "9061000000"]


def test_dates_three_months_apart_are_quarters() -> None:
    text = (
        "2017 (in millions)\nQuarter\tDecember 31\tSeptember 30\tJune 30\tMarch 31\n"
        "Operating income\t$429\t$955\t$795\t$777\n"
    )
    assert [row.period for row in found(text)][:2] == ["2017-10-01/2017-12-31", "2017-07-01/2017-09-30"]


def test_a_year_that_ends_on_new_years_day_is_the_year_before() -> None:
    text = "Fiscal year ended January 1, 2023\n\nUSD million\t2022\t2021\nNet sales\t94,943\t93,775\n"
    assert found(text)[0].period.endswith("2023-01-01")


def test_below_all_of_revenue_stand_percentages_whether_each_says_so_or_not() -> None:
    text = (
        "Statements of earnings, in millions of dollars\n\t2024\t2023\nNet sales\t100.00%\t100.00%\n"
        "Gross margin\t33.66\t33.24\nOperating income\t15.57\t15.39\nNet earnings\t10.71%\t10.89%\n"
    )
    assert whole(text, "gross_profit") == whole(text, "operating_income") == []


def test_figures_of_those_who_stand_in_for_bonds_are_not_the_groups() -> None:
    rows = "Year ended December 31\t2024\nRevenue\t{}\nOperating costs\t10\nNet earnings\t5\n"
    text = (
        "In millions of dollars\n" + rows.format("42,272") + "\nThe notes are guaranteed by some subsidiaries.\n"
        "The information presents the parent and guarantors (the obligor group) on a combined basis.\n"
        "STATEMENT OF EARNINGS\nIn millions of dollars\n" + rows.format("16,276")
    )
    assert [value for value, _ in whole(text, "revenue")] == ["42272000000"]


def test_a_heading_of_many_words_on_lines_of_their_own_is_one_title() -> None:
    words = "Example Holding CONSOLIDATED STATEMENTS OF INCOME (in millions, except per share amounts) "
    words += "Year ended December 31,"
    heading = words.replace(" ", "\n")
    text = f"{heading}\n\t2024\t2023\nTotal revenues\t$17,135\t$16,833\nNet income\t$1,660\t$888\n"
    assert [value for value, _ in whole(text, "revenue")] == ["17135000000", "16833000000"]
    parents = f"{text}\nExample\nHolding\nCONDENSED\nFINANCIAL\nINFORMATION\nOF\nPARENT\n".replace("\n\n", "\n\f")
    parents += words.replace("CONSOLIDATED ", "").replace(" ", "\n") + "\n\t2024\t2023\nNet income\t$900\t$700\n"
    assert [value for value, _ in whole(parents, "net_income")] == ["1660000000", "888000000"]


def test_days_held_together_by_no_break_spaces_name_the_year_of_weeks() -> None:
    text = (
        "Annual report for the fiscal year ended February\xa03, 2024\n"
        "Fiscal year 2023 consisted of the 53\xa0weeks ended on February\xa03, 2024. Fiscal year 2022 consisted of the "
        "52\xa0weeks ended on January\xa028, 2023.\nIn millions of dollars\n"
        "\tFiscal 2023\tFiscal 2022\nNet sales\t5,272\t5,927\n"
    )
    assert whole(text, "revenue") == [
        ("5272000000", "2023-01-29/2024-02-03"),
        ("5927000000", "2022-01-29/2023-01-28"),
    ]


@cases(
    ("label", "concept"),
    [
        ("Total net sales and revenue", "revenue"),
        ("Expenditures for property", "capital_expenditure"),
        ("Total Example Shareholders’ Investment", "equity"),
        ("Shareholders’ equity attributable to Example", "equity"),
        ("Total Eigenkapital", "equity"),
        ("Nettoerlöse aus Lieferungen und Leistungen", "revenue"),
        ("Profit after tax (PAT)", "net_income"),
        ("PAT", "net_income"),
    ],
)
def test_labels_of_filings_mean_what_they_say(label: str, concept: str) -> None:
    assert whole(f"In millions of dollars\n\t2024\n{label}\t171,842\n", concept)[0][0] == "171842000000"


LONG = "The company makes machine tools. " * 2500
"""What makes a report long enough to have notes on other companies."""

STATEMENT = (
    "\n\nConsolidated statements of income (in thousands of dollars), year ended December 31,\n\t2023\t2022\n"
    "Cost of sales\t171,639\t186,336\nGross profit\t56,168\t64,478\nInterest expense\t282\t27\n"
    "Income taxes\t2,365\t3,652\nDepreciation\t400\t390\nAdministrative expenses\t900\t800\nNet income\t4,389\t8,226\n"
)
NOTE = (
    "\n\nSummary financial information for Halden (in thousands of dollars):\n\t2023\t2022\n"
    "Net sales\t13,025\t14,171\n{}Net income\t2,007\t2,528\n\n"
)


def test_a_note_that_contradicts_the_statements_is_of_another_company() -> None:
    text = "Annual report for the year ended December 31, 2023\n" + STATEMENT + LONG + NOTE.format("")
    assert whole(text, "revenue") == []
    same = text.replace("2,007\t2,528", "4,389\t8,226")
    assert [value for value, _ in whole(same, "revenue")] == ["13025000", "14171000"]


def test_a_note_to_the_table_before_gives_the_next_no_scale() -> None:
    text = (
        "(in millions of dollars)\n\t2023\t2022\nNet sales\t23,453\t21,971\n(a)In billions.\n\n"
        "Return on invested capital\n\t2023\t2022\nInterest expense\t1,437,000\t1,119,000\n"
    )
    assert "1437000000000000" not in [value for value, _ in whole(text, "interest_expense")]


def test_a_header_that_ends_in_the_words_of_its_scale_is_of_no_share() -> None:
    text = (
        "As of October 31,\n\t2023\t2022\n(In thousands of dollars, except share\nASSETS\tand per share data)\t\n"
        "Current assets:\t\t\nInventories, net\t157,952\t156,207\nTotal assets\t290,589\t306,237\n"
    )
    assert [value for value, _ in whole(text, "total_assets")] == ["290589000", "306237000"]


def test_the_change_of_inventories_is_no_inventory() -> None:
    text = (
        "Cash flows, USD millions\n\t2023\t2022\nNet income\t90\t80\nInventories\t(582)\t(1,142)\n"
        "Net cash provided by operating activities\t900\t800\n"
    )
    assert whole(text, "inventories") == []


def test_a_day_on_the_line_below_its_month_is_of_the_heading() -> None:
    text = (
        "For the Trailing Twelve Months Ending April\n30,\n(Amounts in millions of dollars)\t2023\t2022\n"
        "Consolidated net income\t11,085\t13,232\n"
    )
    assert [period for _, period in whole(text, "net_income")] == ["2022-05-01/2023-04-30", "2021-05-01/2022-04-30"]


def test_what_changed_the_equity_of_a_column_is_no_income_of_the_company() -> None:
    text = (
        "Statement of changes for the year ended December 31, 2023 (USD millions)\n"
        "\tCommon stock\tTotal shareholders' equity\tNoncontrolling interest\n"
        "Balance at December 31, 2022\t10\t800\t40\nNet income\t—\t90\t7\nBalance at December 31, 2023\t10\t890\t47\n"
    )
    assert whole(text, "net_income") == []
    assert [value for value, _ in whole(text, "equity")] == ["800000000", "890000000"]


def test_lines_that_count_shares_part_no_balance_sheet() -> None:
    text = (
        "Consolidated balance sheet (Dollars in millions)\n\tAt June 30, 2025\tAt December 31, 2024\n"
        "Total liabilities\t120,998\t109,783\nCommon stock\t62,392\t61,380\nShares issued: 2025 - 2,284,546,988\n"
        "2024 - 2,279,164,313\nRetained earnings\t151,367\t151,163\nTotal stockholders’ equity\t27,509\t27,307\n"
    )
    assert [value for value, _ in whole(text, "equity")] == ["27509000000", "27307000000"]


def test_columns_that_begin_over_the_labels_are_not_read_one_too_far() -> None:
    text = (
        "Statement of equity (USD millions)\nCommon stock\tOther losses\tTotal shareholders' equity\n"
        "Balance at December 31, 2020\t$279\t$(16,121)\t$6,015\n"
    )
    assert whole(text, "equity") == []


PROSE = "The directors review the performance of each of the regions of the group every month of the year.\n\n" * 620
"""What makes a document a long one."""


@cases(
    "heading, rows",
    [
        ("The key figures of our associate Nordlicht GmbH were:", "Total assets\t700\t650\nEquity\t400\t340\n"),
        ("Subsidiaries with material non-controlling interests", "Assets\t500\t450\nEquity\t200\t140\n"),
        ("Asset allocation", "Equity\t1,400\t1,300\nFixed income\t500\t450\nTotal\t1,900\t1,750\n"),
        ("Sources of funding of the wind park", "Equity\t400\t300\nBank loans\t500\t450\nTotal\t900\t750\n"),
        ("Deferred tax recognised in", "Profit or loss\t40\t30\nEquity\t50\t45\n"),
        ("Financial assets", "Debt securities\t40\t30\nEquity\t50\t45\n"),
        ("The fair values acquired with Birke AB:", "Cash\t50\t\nReceivables\t60\t\nNet assets\t70\t\n"),
    ],
)
def test_equity_in_a_note_of_a_long_report_may_be_that_of_a_part(heading: str, rows: str) -> None:
    accounts = "Consolidated income statement\nEUR thousand\t2024\t2023\nRevenue\t310\t280\n"
    assert whole(f"{PROSE}{accounts}\n{heading}\n\nEUR thousand\t2024\t2023\n{rows}", "equity") == []


@pytest.mark.parametrize("times", [2, 4])
def test_the_statements_of_a_utility_are_not_those_of_its_group(times: int) -> None:
    def statement(company: str, revenue: str) -> str:
        rows = f"Revenues\t{revenue}\nCost of sales\t3,000\t2,800\nNet income\t1,000\t700\n\n"
        return f"{company}\nConsolidated Statements of Income\nUSD million\t2024\t2023\n{rows}"

    text = PROSE + statement("Pacific Electric Company", "4,000\t3,500") + PROSE
    text += statement("Pacific Holdings, Inc.", "9,000\t8,500") + PROSE
    text += "Selected data\n\nUSD million\t2024\t2023\nRevenues\t9,000\t8,500\nOther income\t20\t17\n\n" * times
    assert {value for value, _ in whole(text, "revenue")} == {"9000000000", "8500000000"}
