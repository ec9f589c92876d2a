"""The newest report of a company: found among what it filed, read with its tables, and not fetched twice."""

from typing import Any

import pytest

from tasks.companies.sources import sec as sec_source
from tasks.companies.sources.sec import Registrant, newest_filing, newest_report
from tasks.companies.web.client import FetchLimits
from tasks.errors import NotConfigured, SourceFailed
from tests.cases import cases
from tests.companies_servers.sec import filing, filing_path, sec, submission
from tests.web.behaviours import page
from tests.web.server import LoopbackServer, Reply

CIK = "0000000001"
REPORT = filing(
    "Item 1. Business",
    "Alpha&#8217;s largest customer accounted for <ix:nonFraction name='us-gaap:Risk' scale='-2'>11</ix:nonFraction>% "
    "of net sales in 2025.",
    rows=[("(In millions)", "2025", "2024"), ("Net sales", "$", "4,235", "$", "(3,933", ")"), ("Growth", "8", "%")],
)


@pytest.fixture
def server(edgar: LoopbackServer) -> LoopbackServer:
    sec_source.fetch_report.cache_clear()
    return edgar


def _registrant(**more: Any) -> Registrant:
    return Registrant("0000000001", "https://data.sec.gov/x", submission("1", "ALPHA INC", **more))


@pytest.mark.parametrize(
    ("forms", "taken"),
    [
        (("4", "10-Q", "10-K", "10-K"), "10-K of 2025-11-03 (ALPHA INC)"),
        (("10-K/A", "8-K", "20-F", "10-Q"), "20-F of 2025-11-03 (ALPHA INC)"),
        (("10-Q", "8-K", "40-F", "10-K"), "40-F of 2025-11-03 (ALPHA INC)"),
        (("8-K", "10-Q", "10-Q", "4"), "10-Q of 2026-01-30 (ALPHA INC)"),
        (("8-K", "4", "DEF 14A", "S-1"), None),
    ],
)
def test_an_annual_report_is_taken_before_a_quarterly_one_and_the_newer_first(
    forms: tuple[str, ...], taken: str | None
) -> None:
    found = newest_filing(_registrant(forms=forms, filed=("2026-02-01", "2026-01-30", "2025-11-03", "2024-11-02")))

    assert (found.title if found else None) == taken


@cases(
    ("column", "value"),
    [
        ("primaryDocument", "../../../evil.htm"),
        ("primaryDocument", "//evil.example/x.htm"),
        ("primaryDocument", "a.htm?x=1"),
        ("primaryDocument", ""),
        ("primaryDocument", None),
        ("accessionNumber", "0000320193/../x"),
        ("accessionNumber", 17),
        ("filingDate", "today"),
    ],
)
def test_a_filing_whose_address_is_none_is_passed_over(column: str, value: object) -> None:
    registrant = _registrant(filed=("2026-02-01", "2025-02-01"))
    registrant.submissions["filings"]["recent"][column][0] = value

    found = newest_filing(registrant)

    assert found is not None
    assert found.day == "2025-02-01"


@pytest.mark.parametrize("told", [None, [], {"recent": None}, {"recent": {"form": ["10-K"]}}])
def test_submissions_of_another_shape_have_no_report(told: object) -> None:
    registrant = _registrant()
    registrant.submissions["filings"] = told

    assert newest_filing(registrant) is None


def test_a_report_is_all_of_its_text_with_its_tables(server: LoopbackServer) -> None:
    path = filing_path("1", "2026-02-03")
    server.pages = sec(submission("1", "ALPHA INC", filed=["2026-02-03"]), filings={path: REPORT})

    found = newest_report([CIK])

    assert found is not None
    assert found.title == "10-K of 2026-02-03 (ALPHA INC)"
    assert found.url == server.url + path
    assert found.paragraphs == [
        "Item 1. Business",
        "Alpha’s largest customer accounted for 11% of net sales in 2025.",
        "(In millions)\t2025\t2024\nNet sales\t$4,235\t$(3,933)\nGrowth\t8%",
    ]


def test_what_was_filed_is_fetched_once(server: LoopbackServer) -> None:
    path = filing_path("1", "2026-02-03")
    server.pages = sec(submission("1", "ALPHA INC", filed=["2026-02-03"]), filings={path: REPORT})

    assert newest_report([CIK]) == newest_report([CIK])
    assert server.paths().count(path) == 1


def test_the_report_of_the_listed_company_is_taken(server: LoopbackServer) -> None:
    mine, other = filing_path("1", "2026-02-03"), filing_path("2", "2026-03-03")
    server.pages = sec(
        submission("2", "ALPHA TRUST", filed=["2026-03-03"]),
        submission("1", "ALPHA INC", filed=["2026-02-03"], tickers=["ALPH"]),
        filings={mine: REPORT, other: page("<p>other</p>")},
    )

    found = newest_report(["0000000002", CIK])

    assert found is not None
    assert found.url == server.url + mine


def test_an_old_filing_in_plain_text_is_read(server: LoopbackServer) -> None:
    text = Reply(b"ANNUAL REPORT\n\nNet sales were 7 million.\n", headers={"Content-Type": "text/plain"})
    server.pages = sec(
        submission("1", "ALPHA INC", filed=["2001-02-03"]), filings={filing_path("1", "2001-02-03"): text}
    )

    found = newest_report([CIK])

    assert found is not None
    assert found.paragraphs == ["ANNUAL REPORT", "Net sales were 7 million."]


def test_who_files_nothing_has_no_report(server: LoopbackServer) -> None:
    server.pages = sec(submission("1", "ALPHA INC", filed=["2026-02-03"], forms=["8-K"]))

    assert newest_report([CIK]) is None
    assert newest_report(["0000000009"]) is None
    assert newest_report([]) is None


def test_without_a_contact_the_sec_is_not_asked(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_CONTACT")
    server.pages = sec(submission("1", "ALPHA INC"))

    with pytest.raises(SourceFailed, match="DILIGENCE_CONTACT"):  # a server of one's own is asked, and refuses
        newest_report([CIK])
    monkeypatch.delenv("DILIGENCE_SEC_DATA_URL")
    with pytest.raises(NotConfigured, match="DILIGENCE_CONTACT"):
        newest_report([CIK])


def test_a_report_that_is_too_large_is_read_as_far_as_it_may_be(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sec_source, "REPORT_LIMITS", FetchLimits(packed=40_000, unpacked=40_000, cut=True))
    long = filing("The first words.", *(f"Paragraph {number} of a long report." for number in range(2000)))
    server.pages = sec(
        submission("1", "ALPHA INC", filed=["2026-02-03"]), filings={filing_path("1", "2026-02-03"): long}
    )

    found = newest_report([CIK])

    assert found is not None
    assert found.paragraphs[0] == "The first words."
    assert 10 < len(found.paragraphs) < 2000


def test_a_refusal_of_the_filing_is_told(server: LoopbackServer) -> None:
    path = filing_path("1", "2026-02-03")
    server.pages = sec(submission("1", "ALPHA INC", filed=["2026-02-03"]), filings={path: Reply(b"no", 403)})

    with pytest.raises(SourceFailed, match="HTTP 403"):
        newest_report([CIK])
