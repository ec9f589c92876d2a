"""The web page: all of the report in it, nothing of it at work."""

import re
from pathlib import Path

import pytest

from storage.runs import RunStatus
from storage.scores import ScoreStatus
from tasks.reports import html
from tasks.reports.findings import heat
from tasks.reports.models import ReportedQuote
from tasks.reports.report import build
from tasks.reports.wording import number, percent, place_link, plain, weblink
from tests.cases import cases
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.rows import company, document, write_company, write_run
from tests.web.html_page import Page


def test_page_shows_all_that_the_report_holds() -> None:
    page = Page(html.render(report_with_everything()))
    for expected in (
        "Autumn screen",
        "27 November 2025, 21:04 UTC",
        "the run of 20 November 2025",
        "38\u202f% proven, 50\u202f% open",
        "Is most of the revenue recurring?",
        "because: Words of a document.",
        "proven: Words of a document.",
        "✓ verified",
        "✗ not verified",
        "page 14",
        "please send: Words of a document.",
        "warned: Words of a document.",
        "failed: Words of a document.",
        "no text: Words of a document.",
        "founding year",
        "2016",
        "went from 3 to 4.",
        "1 more quote",
        "1 failed",
        "1 without text",
    ):
        assert expected in page.text


def test_page_needs_nothing_beside_it() -> None:
    text = html.render(report_with_everything())
    page = Page(text)
    assert [link["href"] for link in page.all("link")] == ["data:,"]
    assert not any("src" in attributes for _, attributes in page.elements)
    assert "@import" not in text
    assert "url(" not in text


def test_words_from_documents_stay_words() -> None:
    page = Page(html.render(report_with_everything(HOSTILE)))
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert page.text.count("{{ 7*7 }}") > 8


def test_links_lead_to_web_addresses_only() -> None:
    page = Page(html.render(report_with_everything(HOSTILE)))
    targets = [link["href"] or "" for link in page.all("a")]
    assert all(target.startswith(("#", "http://127.0.0.1:8000/")) for target in targets)
    assert "http://127.0.0.1:8000/documents/accounts#page=14" in targets


def test_every_cell_of_the_matrix_leads_to_a_place_on_the_page() -> None:
    page = Page(html.render(report_with_everything()))
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    targets = {(link["href"] or "")[1:] for link in page.all("a") if (link["href"] or "").startswith("#")}
    assert targets
    assert targets <= ids


def test_policy_allows_the_two_inline_parts_and_nothing_else() -> None:
    page = Page(html.render(report_with_everything()))
    policy = next(meta["content"] or "" for meta in page.all("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not any("style" in attributes for _, attributes in page.elements)


def test_matrix_says_status_in_words_and_names_its_rows_and_columns() -> None:
    page = Page(html.render(report_with_everything()))
    marks = {link["aria-label"] for link in page.all("a") if "aria-label" in link}
    assert marks >= {"unsupported, 2 does not count", "missing: not found"}
    assert all(head.get("scope") in ("col", "row") for head in page.all("th"))


def test_what_could_not_be_read_stands_first_among_the_documents() -> None:
    text = html.render(report_with_everything())
    table = text[text.index("Documents of Alpha") :]
    assert table.index("bad Words") < table.index("scan.pdf") < table.index("fine.pdf")


def test_long_lists_are_cut_and_say_so() -> None:
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", documents=[document(f"d{number:03}") for number in range(502)])
    text = html.render(build("r1"))
    assert "d499.pdf" in text
    assert "d500.pdf" not in text
    assert "2 more are in the report’s workbook and JSON." in text


def test_few_companies_stand_open_and_many_start_closed() -> None:
    few = build(write_run("few", [company(f"C{n}", n) for n in range(5)]))
    many = build(write_run("many", [company(f"C{n}", n) for n in range(6)], days=1))
    assert html.render(few).count('class="company" id=') == html.render(few).count(" open data-name=") == 5
    assert " open data-name=" not in html.render(many)


def test_run_without_companies_is_still_a_page() -> None:
    assert "This run has no companies." in html.render(build(write_run("r1", [], status=RunStatus.RUNNING)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_heat_scale_is_legible_and_falls_evenly_in_lightness(scheme: str) -> None:
    style = (Path(html.__file__).parent / "templates" / "report.css").read_text("utf-8")
    colours = style.split("@media screen and (prefers-color-scheme: dark)")[scheme == "dark"]
    light = [_luminance(re.findall(rf"--heat-{step}: (#\w+)", colours)[0]) for step in range(11)]
    on = [_luminance(re.findall(rf"--on-{step}: (#\w+)", colours)[0]) for step in range(11)]
    assert light == sorted(light, reverse=scheme == "light")
    assert min((max(pair) + 0.05) / (min(pair) + 0.05) for pair in zip(light, on, strict=True)) >= 4.5


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@cases(
    ("score", "scale", "step"),
    [
        (0, (0, 5), 0),
        (5, (0, 5), 10),
        (2.5, (0, 5), 5),
        (1, (1, 10), 0),
        (9, (0, 5), 10),
        (-1, (0, 5), 0),
        (3, (3, 3), 10),
    ],
)
def test_heat_follows_the_scale(score: float, scale: tuple[float, float], step: int) -> None:
    assert heat(score, scale) == step


@cases(
    "address", [None, "", "javascript:alert(1)", "data:text/html,x", "//host/x", "http:x", "file:///x", "http://[bad"]
)
def test_address_that_is_no_web_address_is_no_link(address: str | None) -> None:
    assert weblink(address) is None


@cases(
    ("name", "place", "link"),
    [
        ("a.PDF", "page 3", "https://d.example/a#page=3"),
        ("a.pdf", "page 3 (OCR)", "https://d.example/a#page=3"),
        ("a.pdf", "page 3, row “Revenue”, column “2023”", "https://d.example/a#page=3"),
        ("a.pdf", "in “b.pdf”, page 3", "https://d.example/a"),
        ("a.docx", "page 3", "https://d.example/a"),
        ("a.pdf", None, "https://d.example/a"),
    ],
)
def test_quote_of_a_pdf_opens_its_page(name: str, place: str | None, link: str) -> None:
    found = ReportedQuote(
        text="x", verified=True, document_id="a", document_name=name, document_url="https://d.example/a", place=place
    )
    assert place_link(found) == link


def test_figures_are_written_for_readers() -> None:
    assert [number(4.0), number(3.5), number(2.254)] == ["4", "3.5", "2.25"]
    assert percent(0.666) == "67\u202f%"
    assert [percent(share) for share in (0.996, 0.9999, 1 - 1e-12, 1)] == ["99\u202f%"] * 2 + ["100\u202f%"] * 2
    assert [plain(None), plain(value=True), plain([10, 50])] == ["nothing", "yes", "[10, 50]"]
    assert [plain(2014), plain(12_500_000)] == ["2014", "12\u202f500\u202f000"]


def test_what_is_missing_is_named_once_by_its_title_and_the_gravest_first() -> None:
    report = report_with_everything()
    alpha = report.companies[0]
    first, second = (
        one.model_copy(update={"score": None, "status": ScoreStatus.MISSING}) for one in alpha.criteria[:2]
    )
    first.title, first.missing, first.severity = "Licences", "a licence", "low"
    second.title, second.missing, second.severity = "Lease", "the lease of the office", "high"
    alpha.criteria = [first, second]
    report.companies = [alpha]
    text = re.sub(r"\s+", " ", html.render(report))
    assert text.count("Missing:") == 1
    assert "<b>Missing:</b> Lease; Licences" in text
    first.title, first.label = None, "operating licence"
    assert "<b>Missing:</b> Lease; operating licence" in html.render(report)


def test_no_headline_says_100_percent_where_weight_is_unscored() -> None:
    report = report_with_everything()
    one = report.companies[0]
    one.total, one.coverage, one.rank = 1.0, 0.5, 1
    one.standing.proven = one.standing.low = 0.5
    one.standing.high = 1
    report.companies.append(one.model_copy(update={"name": "Beta", "domain": "beta.example", "total": 0.5, "rank": 2}))
    page = html.render(report)
    headlines = re.findall(
        r'class="lead".*?</p>|data-show="standing".*?</span>|class="headline".*?</summary>', page, re.DOTALL
    )
    assert len(headlines) == 7
    assert not any(re.search("100\u202f%(</b>)? proven", headline) for headline in headlines)
    assert "50\u202f% proven, 50\u202f% open" in headlines[1]
