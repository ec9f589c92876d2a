"""Key figures on a company's page and in the workbook: actual ones by period, linked, with what contradicts."""

from io import BytesIO

import openpyxl

from tasks.reports import html, xlsx
from tasks.reports.key_figures import compact, describe_contradiction, figures_across, key_figures, newest_figures
from tasks.reports.models import (
    CompanyReport,
    Report,
    ReportedDerivedFigure,
    ReportedFigure,
    ReportedFigureConflict,
    UntiedSum,
)
from tests.tasks.reports.everything import report_with_everything

ACCOUNTS, DECK = "Accounts <b>.pdf", "Deck.pptx"


def revenue(value: str, year: int, basis: str = "audited", name: str = ACCOUNTS) -> ReportedFigure:
    return ReportedFigure(
        concept="revenue", label="Revenue", value=value, unit="EUR", period=f"{year}-01-01/{year}-12-31", entity=None,
        basis=basis, document_id=name, document_name=name, place="page 4, row “Revenue”",
    )  # fmt: skip


def with_figures() -> tuple[Report, CompanyReport]:
    report = report_with_everything()
    company = report.companies[0]
    company.documents[0].document_id = ACCOUNTS
    company.documents[0].document_url = "https://drive.example/a"
    wrong = revenue("15000000", 2024, "management", DECK)
    company.figures = [
        revenue("9412345", 2022), revenue("10000000", 2023), wrong, revenue("12000000", 2024),
        revenue("30000000", 2025, "budget"),
        revenue("4000000", 2024).model_copy(update={"entity": "Software"}),
    ]  # fmt: skip
    company.figure_conflicts = [
        ReportedFigureConflict(
            concept="revenue",
            period="2024-01-01/2024-12-31",
            counted=company.figures[3],
            others=[wrong],
            rule="basis: audited before deck",
            step="basis",
            kinds=("audited", "deck"),
        )
    ]
    company.derived_figures = [
        ReportedDerivedFigure(
            name="revenue_growth",
            value="20",
            unit="percent",
            period="2024-01-01/2024-12-31",
            formula="revenue ÷ revenue of the year before − 1",
            inputs=[company.figures[3], company.figures[1]],
        )
    ]
    company.untied_sums = [
        UntiedSum(
            what="the rows are the total",
            stated="10",
            computed="9",
            place="page 5",
            document_id=ACCOUNTS,
            document_name=ACCOUNTS,
        )
    ]
    return report, company


def test_the_table_has_the_actual_figures_that_count_by_period() -> None:
    _, company = with_figures()
    table = key_figures(company)
    assert table.periods == ["2022-12-31", "2023-12-31", "2024-12-31"]
    assert [(row.name, row.unit, [value and value.shown for value in row.values]) for row in table.rows] == [
        ("Revenue", "EUR", ["9.41 m", "10 m", "12 m"]),
        ("Revenue growth", "%", [None, None, "20"]),
    ]
    assert [value and value.contradicted for value in table.rows[0].values] == [False, False, True]
    assert table.rows[0].line.count(",") == 3
    assert table.rows[1].line == ""


def test_the_next_plan_has_a_column_of_its_own() -> None:
    report, company = with_figures()
    company.figures += [revenue("99000000", 2032, "forecast"), revenue("1", 2023, "budget")]
    table = key_figures(company)
    assert table.plan == "2025-12-31"
    assert [row.planned and row.planned.shown for row in table.rows] == ["30 m", None]
    page = html.render(report)
    assert '<th scope="col">Plan, 2025-12-31</th>' in page
    assert "99 m" not in page
    company.figures = [figure for figure in company.figures if figure.basis == "audited"]
    assert key_figures(company).plan is None


def test_versions_of_a_plan_are_no_contradiction() -> None:
    report, company = with_figures()
    plans = [revenue("30000000", 2025, "budget"), revenue("28000000", 2025, "budget", "Model v2.xlsx")]
    company.figure_versions = [
        ReportedFigureConflict(
            concept="revenue", period=plans[0].period, counted=plans[0], others=plans[1:], rule="newer"
        )
    ]
    page = html.render(report)
    assert "Versions of a plan: revenue, EUR 30,000,000" in page
    assert "1 contradicted" in page


def test_a_part_is_named_where_it_is_contradicted() -> None:
    _, company = with_figures()
    (conflict,) = company.figure_conflicts
    part = conflict.model_copy(update={"counted": conflict.counted.model_copy(update={"entity": "Software"})})
    assert describe_contradiction(part).startswith("Revenue of Software, 2024-12-31: EUR 12 m counts")


def equity(value: str, day: str) -> ReportedFigure:
    return revenue(value, 2024).model_copy(update={"concept": "equity", "value": value, "period": day})


def test_an_opening_balance_has_a_column_only_where_it_was_changed() -> None:
    _, company = with_figures()
    company.figure_conflicts = []
    same = [equity("23300000", "2023-12-31"), equity("23300000.0", "2024-01-01"), equity("30200000", "2024-12-31")]
    company.figures = same
    assert key_figures(company).periods == ["2023-12-31", "2024-12-31"]
    company.figures = [*same, equity("23900000", "2025-01-01")]
    assert key_figures(company).periods == ["2023-12-31", "2024-12-31", "2025-01-01"]


def test_a_value_is_shown_in_three_digits() -> None:
    values = ["9412345", "-1250000000", "620000", "9999", "22.14", "0.5", "0"]
    assert [compact(value) for value in values] == ["9.41 m", "-1.25 bn", "620 k", "9,999", "22.1", "0.5", "0"]


def test_the_page_links_each_value_and_names_what_is_wrong() -> None:
    report, _ = with_figures()
    page = html.render(report)
    assert 'title="EUR 12,000,000, 2024-01-01 to 2024-12-31, audited, Accounts &lt;b&gt;.pdf, page 4' in page
    assert 'href="https://drive.example/a#page=4"' in page
    assert "Accounts <b>" not in page
    assert "EUR 15,000,000, 2024-01-01 to 2024-12-31 does not" in page
    assert "It counts because an audited source takes precedence over a deck." in page
    assert "Does not tie:</span> the rows are the total: 10 stated, 9 computed" in page


def test_a_page_is_rendered_again_where_a_contradiction_is_decided_otherwise() -> None:
    report, company = with_figures()
    newer = company.figure_conflicts[0].model_copy(update={"step": "newer"})
    other = company.model_copy(update={"figure_conflicts": [newer]})
    pages = html.HtmlReport(report.run, [("Alpha", "alpha.example")])
    assert pages.hash_section(company) == pages.hash_section(company.model_copy(deep=True))
    assert pages.hash_section(company) != pages.hash_section(other)


def test_the_workbook_has_numbers_with_their_units() -> None:
    report, _ = with_figures()
    sheet = openpyxl.load_workbook(BytesIO(xlsx.render(report)))["Figures"]
    rows = [[cell.value for cell in row][1:9] for row in sheet.iter_rows(min_row=2)]
    assert rows[3] == ["revenue", 12000000, "EUR", "2024-01-01", "2024-12-31", None, "audited", "counts"]
    assert rows[2][-1] == "does not count"
    assert rows[-1][:3] == ["revenue growth", 20, "percent"]


def test_the_newest_figures_of_companies_stand_side_by_side() -> None:
    report, company = with_figures()
    older = revenue("700000", 2021).model_copy(update={"unit": "USD"})
    other = company.model_copy(
        update={"name": "Beta", "figures": [older], "figure_conflicts": [], "derived_figures": []}
    )
    without = company.model_copy(update={"name": "Gamma", "figures": [], "derived_figures": []})
    report.companies = [company, other, without]
    across = figures_across([(company.name, newest_figures(company)) for company in report.companies])
    assert across.names == ["Revenue", "Revenue growth"]
    assert [
        (row.company, row.number, [cell and (cell.value.shown, cell.day) for cell in row.cells]) for row in across.rows
    ] == [
        (company.name, 1, [("EUR 12 m", "2024-12-31"), ("20 %", "2024-12-31")]),
        ("Beta", 2, [("USD 700 k", "2021-12-31"), None]),
    ]
    page = html.render(report)
    assert "Newest key figures" in page
    assert '<td data-value="12000000" data-unit="EUR"><a href="https://drive.example/a#page=4"' in page
    report.companies = [company]
    assert "Newest key figures" not in html.render(report)
