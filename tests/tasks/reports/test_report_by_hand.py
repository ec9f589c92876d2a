"""The report as a person uses it, in Chromium: light, dark, on a phone, on paper, by keyboard, without JavaScript.

The browser is the machine's own; without it these tests are skipped.
"""

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize
from pypdf import PdfReader

from tasks.reports.models import Report
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.of_any_size import pages_of, report_of, write_places
from tests.tasks.reports.test_key_figures import with_figures
from tests.web.chromium import CHROMIUM, open_chromium

Scheme = Literal["light", "dark"]
PHONE: ViewportSize = {"width": 390, "height": 844}

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.xdist_group("report in a browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as browser:
        yield browser


def write(report: Report, folder: Path) -> Path:
    """The pages of a report as files; gives the path of report.html."""
    for path, page in pages_of(report):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(page, "utf-8")
    write_places(folder, report)
    return folder / "report.html"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(report_of(4, 12), tmp_path_factory.mktemp("four"))


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(report_of(30, 20), tmp_path_factory.mktemp("thirty"))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def names(page: Page) -> list[str]:
    return page.locator(".matrix tbody th a").all_inner_texts()


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in found]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_has_no_finding(browser: Browser, scheme: Scheme, thirty: Path, tmp_path: Path) -> None:
    judged, not_judged = write(report_of(2, 4), tmp_path / "judged"), write(report_of(1, 4, judged=False), tmp_path)
    check_with_axe(browser, scheme, judged, not_judged, next((thirty.parent / "companies").iterdir()))


@pytest.mark.slow  # 10 s each: the same parts many times over
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_finding_in_a_large_report(browser: Browser, scheme: Scheme, four: Path, thirty: Path) -> None:
    check_with_axe(browser, scheme, four, thirty)


def check_with_axe(browser: Browser, scheme: Scheme, *paths: Path) -> None:
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        for path in paths:
            page.goto(path.as_uri())
            for button in page.locator('[data-act="weigh"]').all():
                button.click()
            assert violations(page) == [], path.name


@pytest.mark.parametrize("make", [report_with_everything, lambda: with_figures()[0]], ids=["everything", "figures"])
def test_axe_has_no_finding_in_a_report_with(page: Page, tmp_path: Path, make: Callable[[], Report]) -> None:
    page.goto(write(make(), tmp_path).as_uri())
    assert violations(page) == []


def test_page_does_not_scroll_sideways_on_a_phone(browser: Browser, four: Path, thirty: Path) -> None:
    with browser.new_context(viewport=PHONE, is_mobile=True, has_touch=True) as context:
        page = context.new_page()
        for path in (four, thirty, next((thirty.parent / "companies").iterdir())):
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path.name


def test_weights_recalculate_totals_ranks_and_ranges_as_the_run_did(page: Page, four: Path) -> None:
    page.goto(four.as_uri())
    figures = "[...document.querySelectorAll('.matrix td.figure, .standings .span p')].map((part) => part.textContent)"
    before, order = page.evaluate(figures), names(page)
    page.click('[data-act="weigh"]')
    fields = page.locator(".matrix input")
    assert fields.count() == 12
    fields.nth(0).fill("50")
    assert page.evaluate(figures) != before
    page.click('[data-act="reset"]')
    assert [text.strip() for text in page.evaluate(figures)] == [text.strip() for text in before]
    assert names(page) == order


def test_one_criterion_with_all_the_weight_decides_the_ranking(page: Page, four: Path) -> None:
    page.goto(four.as_uri())
    page.click('[data-act="weigh"]')
    for place in range(1, 12):
        page.locator(".matrix input").nth(place).fill("0")
    rows = page.locator(".matrix tbody tr")
    for row in rows.all():
        cells = row.locator("td").all_inner_texts()
        score = re.match(r"[\d.]+(?=!?$)", cells[3].strip())
        assert cells[0] == (f"{round(float(score[0]) * 20)}\u202f%" if score else "0\u202f%")
        assert cells[1] == ("0\u202f%" if score or cells[3].strip() == "○" else "100\u202f%")
    assert names(page) == page.locator(".standings .who a").all_inner_texts()


def test_matrix_is_turned_and_turned_back(page: Page, four: Path) -> None:
    page.goto(four.as_uri())
    table = (
        "[...document.querySelectorAll('.matrix tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"
    )
    upright = page.evaluate(table)
    page.click('[data-act="turn"]')
    turned = page.evaluate(table)
    assert [row[1:] for row in turned[1:]] == [
        list(column) for column in zip(*(row[1:] for row in upright[1:]), strict=True)
    ]
    assert page.locator(".matrix tbody th[scope=row]").count() == len(upright[0]) - 1
    page.click('[data-act="turn"]')
    assert page.evaluate(table) == upright


def test_filters_leave_what_they_name(page: Page, thirty: Path) -> None:
    page.goto(thirty.as_uri())
    page.fill('[data-act="find-company"]', "company-7.example")
    assert names(page) == ["Company 7 Aktiengesellschaft"]
    page.fill('[data-act="find-company"]', "")
    page.fill('[data-act="find-criterion"]', "litigation 2")
    assert page.locator(".matrix thead th[data-weight]").count() == 1
    page.fill('[data-act="find-criterion"]', "")
    page.select_option('[data-act="show"]', "fact")
    assert page.locator(".matrix thead th[data-weight]").count() == 2
    assert page.locator(".said").inner_text() == "30 of 30 companies, 2 of 20 criteria"


def test_head_and_first_column_stay_in_view(page: Page, thirty: Path) -> None:
    page.goto(thirty.as_uri())
    before = page.locator(".matrix thead th").first.bounding_box()
    page.evaluate("document.querySelector('.matrix').scrollTo(400, 400)")
    assert page.evaluate("document.querySelector('.matrix').scrollTop") > 0
    assert page.locator(".matrix thead th").first.bounding_box() == before


def test_keyboard_reaches_and_sorts_the_matrix(page: Page, four: Path) -> None:
    page.goto(four.as_uri())
    page.locator(".matrix thead [role=button]").nth(1).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator('.matrix th[aria-sort="ascending"]').count() == 1
    totals = page.locator(".matrix tbody tr td:nth-child(2)").evaluate_all(
        "cells => cells.map((cell) => +cell.dataset.value)"
    )
    assert totals == sorted(totals)


def test_company_is_reached_from_its_cell_without_javascript(browser: Browser, four: Path, thirty: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        for path in (four, thirty):
            page.goto(path.as_uri())
            assert not page.locator(".controls").is_visible()
            page.locator(".matrix tbody tr:nth-child(2) td:last-child a").click()
            assert page.locator(":target").count() == 1


@pytest.mark.parametrize("judged", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_three_companies_print_to_fifteen_pages_at_most(page: Page, tmp_path: Path, judged: bool) -> None:
    page.goto(write(report_of(3, 16, judged=judged), tmp_path).as_uri())
    pages = PdfReader(BytesIO(page.pdf(prefer_css_page_size=True, print_background=True))).pages
    text = "".join(sheet.extract_text() for sheet in pages)
    assert len(pages) <= 15
    assert text.count("Document 3.pdf") >= 3, "all companies are on paper, open or not"
