"""Revenue and employees from EDGAR's company facts: which of many facts of many filings count."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tasks.companies.sources.sec import RegistrantFacts, open_source
from tests.companies_servers.sec import company_facts, fact, sec, submission
from tests.tasks.companies.sources.conftest import claimed
from tests.web.server import LoopbackServer, Reply


def revenue(units: dict[str, Any], **tags: Any) -> list[tuple[Any, ...]]:
    found = RegistrantFacts("", company_facts("320193", units, **tags)["facts"]).annual_revenue
    return [(year.amount, year.currency, year.start, year.end) for year in found]


def test_a_fiscal_year_counts_as_the_newest_annual_report_has_it() -> None:
    rows = [
        fact(9_100_000, "2024-12-28", "2023-12-31", filed="2025-02-20"),
        fact(9_050_000, "2024-12-28", "2023-12-31", filed="2026-02-20"),  # restated a year later
        fact(2_500_000, "2024-12-28", "2024-09-29", filed="2025-02-20"),  # a quarter
        fact(9_900_000, "2025-12-27", "2024-12-29", filed="2026-02-20"),
        fact(8_000_000, "2025-06-30", "2024-07-01", form="10-Q", fp="Q2"),  # twelve months in a quarterly report
    ]
    assert revenue({"USD": rows}) == [
        (9_900_000, "USD", "2024-12-29", "2025-12-27"),
        (9_050_000, "USD", "2023-12-31", "2024-12-28"),
    ]


def test_the_widest_tag_counts_and_narrower_ones_fill_the_years_that_it_lacks() -> None:
    contracts = [fact(70, "2025-12-31", "2025-01-01"), fact(60, "2024-12-31", "2024-01-01")]
    tags = {"us-gaap_RevenueFromContractWithCustomerExcludingAssessedTax": {"USD": contracts}}
    assert [year[0] for year in revenue({"USD": [fact(75, "2025-12-31", "2025-01-01")]}, **tags)] == [75, 60]


def test_a_foreign_company_reports_in_its_own_currency() -> None:
    tags = {"ifrs-full_Revenue": {"EUR": [fact(4_200, "2025-12-31", "2025-01-01", form="20-F")]}}
    assert revenue({}, **tags) == [(4_200, "EUR", "2025-01-01", "2025-12-31")]


@pytest.mark.parametrize(
    "units", [{}, {"USD": None}, {"USD/shares": [fact(3, "2025-12-31", "2025-01-01")]}, {"USD": ["x", {}]}]
)
def test_what_is_no_amount_of_a_year_is_passed_by(units: dict[str, Any]) -> None:
    found = RegistrantFacts("", {"us-gaap": {"Revenues": {"units": units}}, "dei": []})
    assert (found.annual_revenue, found.employees) == ([], None)


Serve = Callable[..., LoopbackServer]


@pytest.fixture
def serve(facts: object, in_wikidata: Callable[..., None], edgar: LoopbackServer) -> Serve:
    """Lets EDGAR know this company and these facts of it."""

    def serve(given: Sequence[dict[str, Any]] = (), filings: dict[str, Reply] | None = None) -> LoopbackServer:
        in_wikidata("Alpha", P5531=["320193"])
        edgar.pages = sec(submission("320193", "Alpha Inc."), facts=given, filings=filings)
        return edgar

    return serve


def test_the_source_claims_revenue_by_year_and_employees_with_their_own_dates(serve: Serve) -> None:
    employees = {"dei_EntityNumberOfEmployees": {"Employee": [fact(160, "2024-12-31"), fact(181, "2025-12-31")]}}
    years = [fact(9_900_000, "2025-12-31", "2025-01-01"), fact(9_050_000, "2024-12-31", "2024-01-01")]
    server = serve([company_facts("320193", {"USD": years}, **employees)])
    answer = claimed(open_source())
    claims = {claim.field: claim for claim in answer.claims}
    assert [year["amount"] for year in claims["extra.annual_revenue"].value] == [9_900_000, 9_050_000]
    assert (claims["extra.employee_count"].value, claims["extra.employee_count"].as_of) == (181, "2025-12-31")
    assert claims["extra.annual_revenue"].as_of == "2025-12-31"
    assert claims["extra.annual_revenue"].url == f"{server.url}/api/xbrl/companyfacts/CIK0000320193.json"
    assert (claims["name"].as_of, answer.warnings) == ("2026-10-30", [])


def test_without_facts_the_rest_is_claimed_and_a_failure_is_a_warning(serve: Serve) -> None:
    serve()
    answer = claimed(open_source())
    assert "name" in {claim.field for claim in answer.claims}
    assert answer.warnings == []
    serve(filings={"/api/xbrl/companyfacts/CIK0000320193.json": Reply(b'{"cik": 320193}')})
    answer = claimed(open_source())
    assert "name" in {claim.field for claim in answer.claims}
    (warning,) = answer.warnings
    assert warning == "The SEC did not give the company's figures: The SEC's answer is not a company's facts."
