"""Figures of tables and sentences: right value, unit, period, entity and basis, and nothing that is not sure."""

from decimal import Decimal
from pathlib import Path

import pytest

from tasks.errors import BadRequest
from tasks.figures import from_cells, read_figures
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Findings, plain_label, spellings, taxonomy
from tests.cases import cases
from tests.written import workbook_of


def findings(text: str, name: str = "report.txt") -> Findings:
    return find_figures(LedgerDocument(text, [], name), taxonomy())


def values(text: str, name: str = "report.txt") -> list[tuple[str, str, str, str]]:
    """(concept, value, unit, period) of the figures of the company as a whole."""
    return [
        (figure.concept, f"{figure.value:f}", figure.unit, figure.period)
        for figure in findings(text, name).figures
        if figure.entity is None
    ]


INCOME = "Income statement\nYear ended 31 December\nEUR thousand\tNote\t2024\t2023\nRevenue\t1\t6,300\t3,900\n"


def test_a_row_of_a_statement_gives_a_figure_a_year() -> None:
    assert values(INCOME) == [
        ("revenue", "6300000", "EUR", "2024-01-01/2024-12-31"),
        ("revenue", "3900000", "EUR", "2023-01-01/2023-12-31"),
    ]


def test_a_figure_knows_its_label_and_its_place() -> None:
    figure = findings(INCOME).figures[0]
    assert (figure.label, figure.scale, INCOME[figure.start : figure.end]) == ("Revenue", "thousand", "6,300")
    assert figure.place == "line 4, row “Revenue”, column “2024”"


def test_a_loss_is_negative_and_spending_positive() -> None:
    text = "Cash flows, EUR thousand\t2024\nNet loss\t4,800\nCapital expenditure\t(1,300)\n"
    assert [value for _, value, _, _ in values(text)] == ["-4800000", "1300000"]


def test_rows_of_a_series_take_their_concept_from_the_title() -> None:
    text = "ARR, EUR m\n2023\t4.6\n2024\t9.4\n"
    assert values(text) == [
        ("recurring_revenue", "4600000", "EUR", "2023-12-31"),
        ("recurring_revenue", "9400000", "EUR", "2024-12-31"),
    ]


def test_rows_of_customers_are_entities_and_their_total_is_the_company() -> None:
    text = "Customer\tRevenue 2024\nAlpha AG\t7,070,000.00 €\nBeta AB\t2,050,000.00 €\nTotal\t9,120,000.00 €\n"
    found = {figure.entity: int(figure.value) for figure in findings(text).figures}
    assert found == {"Alpha AG": 7_070_000, "Beta AB": 2_050_000, None: 9_120_000}


def test_columns_of_segments_are_entities() -> None:
    text = "Segments 2022\n\tRetail\tTrade\tTotal\n\t€'000\t€'000\t€'000\nRevenue\t4,136\t40,607\t44,743\n"
    found = {figure.entity: int(figure.value) for figure in findings(text).figures}
    assert found == {"Retail": 4_136_000, "Trade": 40_607_000, None: 44_743_000}


def test_words_of_a_column_give_the_basis() -> None:
    text = "EUR m\t2023\tBudget 2024\nRevenue\t67.9\t105.0\nAdjusted EBITDA\t8.2\t9.0\n"
    assert [(figure.concept, figure.basis) for figure in findings(text).figures] == [
        ("revenue", None),
        ("revenue", "budget"),
        ("ebitda", "adjusted"),
        ("ebitda", "budget"),
    ]


def test_restated_columns_are_both_kept() -> None:
    text = "EUR m\t2023 (restated)\t2023 (as previously reported)\nRevenue\t67.9\t66.1\n"
    assert [figure.label for figure in findings(text).figures] == [
        "Revenue, restated",
        "Revenue, as previously reported",
    ]


def test_a_sentence_gives_the_amount_and_not_the_change() -> None:
    text = "Revenue grew by 22 % to € 9.4 million in the year to 31 March 2025 from € 7.7 million.\n"
    assert values(text) == [("revenue", "9400000", "EUR", "2024-04-01/2025-03-31")]


def test_brackets_behind_give_the_year_before() -> None:
    text = "Annual recurring revenue (ARR) was 7.1 million euros at 31 December 2024 (2023: 4.6 million euros).\n"
    assert values(text) == [
        ("recurring_revenue", "7100000", "EUR", "2024-12-31"),
        ("recurring_revenue", "4600000", "EUR", "2023-12-31"),
    ]


@cases(
    "sentence",
    [
        "Cost of revenue was € 3.1 million in 2024.",
        "Subscription revenue was € 3.1 million in 2024.",
        "Revenue from Vossmann was € 3.1 million in 2024.",
        "If revenue exceeds € 3.1 million in 2024, the earn-out is due.",
        "Licence fees are 3 % of the net sales: EUR 284 thousand in 2024.",
        "Revenue grew by € 3.1 million in 2024.",
        "Revenue: see clause 4.1.2, page 37, of 12 March 2024; call +49 30 1234567.",
    ],
)
def test_what_only_looks_like_a_figure_is_left_out(sentence: str) -> None:
    assert values(f"{sentence}\n") == []


def test_a_table_of_percentages_gives_no_amounts() -> None:
    text = "As a percentage of revenue\n\t2024\t2023\nRevenue\t100.0\t100.0\nGross profit\t42.0\t40.0\n"
    assert values(text) == []


def test_two_rows_of_one_concept_that_differ_are_left_out_and_counted() -> None:
    found = findings("EUR thousand\t2024\nRevenue\t100\nRevenue\t200\n")
    assert not found.figures
    assert found.left_out == {"rows of one concept that differ": 2}


def test_an_amount_whose_currency_nobody_names_has_an_unknown_unit() -> None:
    assert [figure.unit for figure in findings("\t2024\nRevenue\t18,600,000\n").figures] == ["unknown"]


def test_an_amount_of_one_of_two_currencies_is_left_out_and_counted() -> None:
    found = findings("\t2024\nRevenue\t€18,600,000\nNet income\t$1,600,000\nGross profit\t2,000,000\n")
    assert [figure.unit for figure in found.figures] == ["EUR", "USD"]
    assert found.left_out == {"no currency": 1}


def test_a_header_of_two_periods_gives_nothing() -> None:
    assert values("EUR thousand\t2024 2023\nRevenue\t100\n") == []


def test_monthly_columns_are_months() -> None:
    text = "EUR thousand\t2024-01-01\t2024-02-01\t2024-03-01\t2024\nRevenue\t10\t11\t12\t140\n"
    assert [period for _, _, _, period in values(text)] == [
        "2024-01-01/2024-01-31",
        "2024-02-01/2024-02-29",
        "2024-03-01/2024-03-31",
        "2024-01-01/2024-12-31",
    ]


def test_labels_of_other_languages_mean_the_same() -> None:
    labels = ("Umsatzerlöse", "Chiffre d’affaires", "Ingresos", "Ricavi", "Jahresüberschuss", "Bilanzsumme")
    meanings = [taxonomy().meaning(plain_label(label)) for label in labels]
    assert [meaning and meaning.concept.id for meaning in meanings] == [*["revenue"] * 4, "net_income", "total_assets"]


def test_a_users_file_adds_concepts_and_labels(tmp_path: Path) -> None:
    file = tmp_path / "concepts.toml"
    file.write_text('[bookings]\nkind = "duration"\nlabels = ["[total] bookings"]\n[revenue]\nlabels = ["takings"]\n')
    found = taxonomy(file)
    assert [found.meaning(label) is not None for label in ("total bookings", "takings", "revenue")] == [True] * 3


def test_a_written_label_stands_for_all_its_choices_also_within_one_another() -> None:
    written = "[total] {revenue|{net|gross} sales} [net]"
    of_three = ("revenue", "net sales", "gross sales")
    assert sorted(spellings(written)) == sorted(
        f"{front}{what}{behind}" for front in ("total ", "") for what in of_three for behind in (" net", "")
    )
    assert list(spellings("revenue} | sales")) == ["revenue sales"]


def test_a_users_file_may_be_yaml_and_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "concepts.yaml"
    file.write_text("bookings: {kind: duration, labels: [bookings]}\n")
    before = taxonomy(file)
    file.write_text("bookings: {kind: duration, labels: [bookings, order intake]}\n")
    after = taxonomy(file)
    assert [found.meaning("order intake") is not None for found in (before, after)] == [False, True]
    assert len({taxonomy().added, before.added, after.added}) == 3


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("concepts.toml", '[bookings]\nkind = "weekly"\n', r"concepts\.toml, bookings, kind: must be duration"),
        ("concepts.toml", "bookings = 1\n", r"concepts\.toml, bookings: a concept has the fields"),
        ("concepts.toml", '[b]\nkind = ["instant"]\n', r"concepts\.toml, b, kind: must be"),
        ("concepts.toml", '[b]\nkind = "instant"\nunits = [["money"]]\n', r"concepts\.toml, b, units: must list"),
        ("concepts.toml", "[bookings\n", r"concepts\.toml: the file of concepts is no TOML"),
        ("concepts.yaml", "- bookings\n", r"concepts\.yaml: the file of concepts must be a mapping"),
        ("concepts.yaml", "a: {kind: instant\n", r"concepts\.yaml, line 2"),
        ("concepts.toml", None, r"concepts\.toml: the file of concepts cannot be opened \(No such file or directory\)"),
    ],
)
def test_a_users_file_with_a_mistake_says_where(tmp_path: Path, name: str, written: str | None, said: str) -> None:
    if written is not None:
        (tmp_path / name).write_text(written)
    with pytest.raises(BadRequest, match=said) as wrong:
        taxonomy(tmp_path / name)
    assert "\n" not in wrong.value.message


def test_sums_that_do_not_come_out_are_findings() -> None:
    rows = (
        "Balance sheet, EUR thousand\t2024",
        "Total assets\t900",
        "Equity\t500",
        "Total equity and liabilities\t950",
    )
    text = "\n".join(rows)
    assert [(tie.what, tie.stated, tie.computed) for tie in findings(text).ties] == [
        ("total assets are equity and liabilities", Decimal(900), Decimal(950))
    ]


def test_parts_are_held_against_their_total() -> None:
    rows = "Customer\tRevenue 2024\nA\t€2,050\nB\t€3,000\nTotal\t€6,050\n"
    assert [tie.computed for tie in findings(rows).ties] == [5050]
    assert findings(rows.replace("6,050", "5,050")).ties == []


def test_figures_of_a_workbook_name_their_cells(tmp_path: Path) -> None:
    book, _ = workbook_of(["EUR thousand", 2023, 2024], ["Revenue", 3900, 6300], title="P&L")
    book.save(tmp_path / "Management accounts 2024.xlsx")
    newest = read_figures(str(tmp_path / "Management accounts 2024.xlsx"), ".xlsx")[-1]
    assert newest == {
        "concept": "revenue",
        "label": "Revenue",
        "value": "6300000",
        "unit": "EUR",
        "period": "2024-01-01/2024-12-31",
        "entity": None,
        "basis": "management",
        "document_id": None,
        "document_name": "Management accounts 2024.xlsx",
        "place": "sheet P&L, A1:C2, row “Revenue”, column “2024”",
    }


@cases(
    ("name", "text", "basis"),
    [
        ("Budget 2025.txt", "EUR m\t2025\nRevenue\t20.0\n", "budget"),
        ("Business plan.txt", "EUR m\t2025\nRevenue\t20.0\n", "forecast"),
        ("Budget 2025.txt", "EUR m\tActual 2024\nRevenue\t20.0\n", "management"),
        ("Budget review.txt", "EUR m\t2024\nRevenue\t20.0\n", "management"),
        ("2024.txt", "EUR m\t2024\nRevenue\t20.0\nJag har utfört en revision av årsredovisningen.\n", "audited"),
        ("2024.txt", "EUR m\t2024\nRevenue\t20.0\nVi har inte utfört en revision av årsbokslutet.\n", "management"),
    ],
)
def test_a_documents_name_or_its_auditors_words_say_what_its_figures_are(name: str, text: str, basis: str) -> None:
    document = LedgerDocument(text, [], name)
    (figure,) = find_figures(document, taxonomy()).figures
    assert (figure.concept, figure.basis or document.kind.basis) == ("revenue", basis)


def test_a_sheet_of_very_many_numbers_is_looked_at_up_to_a_bound_and_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(from_cells, "MOST_NUMBERS", 10_000)
    months = [f"{year}-{month:02}" for year in (2022, 2023, 2024) for month in range(1, 13)]
    sites = [f"Site {site}\nEUR\t{chr(9).join(months)}\nRevenue\t{chr(9).join(['7000'] * 36)}\n" for site in range(400)]
    found = findings("\n".join(sites), "sites.xlsx")
    assert found.left_out["more numbers than are looked at"] == 400 * 36 - 10_008
    assert len(found.figures) <= 20_000


def test_a_list_of_very_many_rows_is_left_out_and_counted() -> None:
    rows = [f"{name}\t{5000 + name}\n" for name in range(100_000, 100_600)]
    found = findings("Customer\tRevenue 2024\n" + "".join(rows), "accounts.csv")
    assert (found.figures, found.left_out) == ([], {"lists of more than 500 rows": 600})


def test_a_very_long_table_keeps_its_headers_to_its_end() -> None:
    rows = "".join(f"Item {number}\t{number}\n" for number in range(1, 6000))
    assert values(f"EUR thousand\t2024\n{rows}Revenue\t6,300\n") == [
        ("revenue", "6300000", "EUR", "2024-01-01/2024-12-31")
    ]


def test_the_units_over_a_tables_first_heading_hold_under_its_second() -> None:
    text = (
        "(Millions of yen)\n\tYear ended March 31, 2024\tYear ended March 31, 2025\nNet sales\t48,205\t52,911\n"
        "\tAs of March 31, 2024\tAs of March 31, 2025\nTotal assets\t61,330\t64,870\n"
    )
    assert values(text)[2:] == [
        ("total_assets", "61330000000", "JPY", "2024-03-31"),
        ("total_assets", "64870000000", "JPY", "2025-03-31"),
    ]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("(em milhares de reais)\t2024\nReceita líquida\t412.905\nLucro bruto\t201.340\nLucro líquido\t38.744\n", 3),
        ("Bedragen x € 1.000\n\t2024\nNetto-omzet\t63.415\nBedrijfsresultaat\t3.108\nNettoresultaat\t2.204\n", 3),
        ("in migliaia di euro\t2023\nRicavi\t18.940\nRisultato operativo\t1.377\nUtile dell'esercizio\t1.861\n", 3),
    ],
    ids=["portuguese", "dutch", "italian"],
)  # fmt: skip
def test_statements_of_other_languages_are_in_thousands(text: str, figures: int) -> None:
    found = findings(text).figures
    assert len(found) == figures
    assert {figure.scale for figure in found} == {"thousand"}


def test_what_happened_is_no_plan_in_other_languages() -> None:
    found = findings("en k€\tRéalisé 2023/2024\tBudget 2023/2024\nChiffre d'affaires\t41305\t42000\n").figures
    assert [(figure.basis, figure.entity) for figure in found] == [(None, None), ("budget", None)]


def test_labels_with_asides_percent_signs_and_parts() -> None:
    asides = values("KPI\t4Q24\nActive customers (#, end of period)\t57,300\n")
    assert asides == [("customers", "57300", "count", "2024-12-31")]
    assert values("KPI\t31 Dec 2024\nNRR %\t114.0%\n")[0][:3] == ("retention", "114.0", "percent")
    assert values("EUR k\t2024\nEBITDA\t4,100\nEBITDA %\t22\n") == [
        ("ebitda", "4100000", "EUR", "2024-01-01/2024-12-31")
    ]
    of_parts = findings("US$ thousands\tCY24\nNet revenue – Austin\t4,403\nNet revenue – Total\t11,319\n").figures
    assert [(figure.entity, f"{figure.value:f}") for figure in of_parts] == [
        ("Austin", "4403000"),
        (None, "11319000"),
    ]


def test_marks_without_a_width_are_no_part_of_a_number() -> None:
    assert values("€000\t2022\nOperating loss\t(3,331)\u200c\u200c\n") == [
        ("operating_income", "-3331000", "EUR", "2022-01-01/2022-12-31")
    ]


def test_cash_flows_of_another_section_are_no_operating_ones() -> None:
    text = (
        "USD thousand\t2022\nNet cash used in operating activities\t(5,582)\nFinancing activities\n"
        "Net cash provided by continuing operations\t7,720\n"
    )
    assert [value for concept, value, *_ in values(text) if concept == "operating_cash_flow"] == ["-5582000"]


def test_reais_are_no_dollars() -> None:
    assert findings("Caixa: R$ 5, R$ 6, R$ 7\n\t2024\nTotal assets\t905,410\n").figures[0].unit == "BRL"


def test_a_number_of_four_digits_deep_in_a_long_table_is_no_heading() -> None:
    rows = "".join(f"Item {number}\t{number}\n" for number in range(1750, 2100))
    assert values(f"EUR thousand\t2024\n{rows}Revenue\t6,300\n") == [
        ("revenue", "6300000", "EUR", "2024-01-01/2024-12-31")
    ]
