"""Reports of many companies: each has a page of its own beside the report, and every link leads somewhere."""

import re
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

import pytest

from storage.scores import ScoreStatus
from tasks.reports.files import render, write_report
from tasks.reports.html import render_overview
from tasks.reports.report import build
from tests.tasks.reports.of_any_size import pages_of, report_of, write_places
from tests.tasks.reports.rows import company, outcome, write_company, write_run


def dead_links(folder: Path) -> list[str]:
    """Links to pages and places that are not there."""
    pages = {path.resolve(): path.read_text("utf-8") for path in folder.rglob("*.html")}
    ids = {path: set(re.findall(r'\bid="?([^\s">]+)', text)) for path, text in pages.items()}
    dead = []
    for path, text in pages.items():
        for href in re.findall(r'href="?([^\s">]+)', text):
            if re.match(r"(https?|data|file):", href):
                continue
            place, _, anchor = href.partition("#")
            target = (path.parent / unquote(place)).resolve() if place else path
            if target not in pages or (anchor and anchor not in ids[target]):
                dead.append(f"{path.name}: {href}")
    return dead


def write_many(run_id: str, count: int, *, days: int = 0) -> None:
    rows = [company(f"C{n}", n, domain=f"c{n}.example", total=n / 30, coverage=0.5, rank=30 - n) for n in range(count)]
    write_run(run_id, rows, days=days)
    for n in range(count):
        scored = outcome("recurring", n % 6, ScoreStatus.SCORED)
        missing = outcome("audited", None, ScoreStatus.MISSING, missing="audited accounts")
        write_company(run_id, f"c{n}.example", outcomes=[(scored, []), (missing, [])])


def test_twenty_companies_stand_in_the_report_and_more_on_pages_of_their_own(tmp_path: Path) -> None:
    write_many("twenty", 20)
    write_report(build("twenty"), "html", tmp_path / "twenty")
    assert not (tmp_path / "twenty" / "companies").exists()
    write_many("more", 21, days=1)
    write_report(build("more"), "html", tmp_path / "more")
    assert len(list((tmp_path / "more" / "companies").iterdir())) == 21
    assert dead_links(tmp_path / "twenty") == dead_links(tmp_path / "more") == []
    with ZipFile(tmp_path / "more" / "report.zip") as archive:
        assert sum(name.startswith("report/companies/") for name in archive.namelist()) == 21


def test_pages_of_an_earlier_report_are_taken_away_and_other_files_stay(tmp_path: Path) -> None:
    write_many("more", 21)
    write_report(build("more"), "html", tmp_path)
    own = tmp_path / "companies" / "notes.html"
    own.write_text("mine")
    write_many("few", 2, days=1)
    write_report(build("few"), "html", tmp_path)
    assert list((tmp_path / "companies").iterdir()) == [own]
    with ZipFile(tmp_path / "report.zip") as archive:
        assert not any("companies" in name for name in archive.namelist())


def test_unchanged_report_is_not_written_again(tmp_path: Path) -> None:
    write_many("more", 21)
    write_report(build("more"), "html", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "companies").iterdir()}
    write_report(build("more"), "html", tmp_path)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "companies").iterdir()} == before


def test_report_to_stdout_is_whole_however_many_companies() -> None:
    write_many("more", 21)
    page = render(build("more"), "html").decode()
    assert page.count('<details class="company"') == 21
    assert "companies/" not in page


@pytest.mark.parametrize(("companies", "criteria"), [(30, 5), (4, 12), (1, 1)])
def test_report_of_any_size_has_no_dead_link(tmp_path: Path, companies: int, criteria: int) -> None:
    (tmp_path / "companies").mkdir()
    report = report_of(companies, criteria)
    for path, page in pages_of(report):
        (tmp_path / path).write_text(page, "utf-8")
    write_places(tmp_path, report)
    assert dead_links(tmp_path) == []


def test_score_of_many_companies_opens_the_place_that_it_rests_on_and_others_the_criterion() -> None:
    report = report_of(30, 9)
    matrix = render_overview(report).partition("<tbody>")[2].partition("</tbody>")[0]
    cells = re.findall(r"<td><a class=(\S+) href=([^\s>]+)", matrix)
    criteria = [criterion for company in report.companies for criterion in company.criteria]
    assert len(cells) == len(criteria)
    for (_, href), criterion in zip(cells, criteria, strict=True):
        assert href == criterion.quotes[0].evidence_url
    for criterion in criteria:
        criterion.quotes = [quote.model_copy(update={"verified": False}) for quote in criterion.quotes]
    page = render_overview(report)
    assert "evidence/" not in page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "href=companies/" in page


@pytest.mark.slow
def test_two_hundred_companies_by_sixty_criteria_are_two_megabytes_at_most() -> None:
    assert len(render_overview(report_of(200, 60)).encode()) <= 2_000_000


def test_very_many_companies_come_in_parts_in_the_service() -> None:
    report = report_of(40, 60)
    shown = []
    for page in (1, 2, 3):
        text = render_overview(report, most_in_one_page=0, page=page)
        shown += re.findall(r'<tr data-company="(\d+)"', text)
        assert len(text.encode()) <= 300_000
        assert "Change weights" not in text.partition("<script>")[0]  # ranks are among all companies
    assert shown == [str(number) for number in range(1, 41)]
    whole = render_overview(report, most_in_one_page=0)
    assert whole.count("<tr data-company=") == 40
    assert "Change weights" in whole.partition("<script>")[0]
