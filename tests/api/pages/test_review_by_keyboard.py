"""A whole review by the keyboard alone, from the login to the exported log, in a real browser; axe on every page."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from storage.logins import Role
from tasks.reports.html import css_name
from tests.api.pages.conftest import PASSWORD, add_person
from tests.web.chromium import CHROMIUM, open_chromium

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.xdist_group("report in a browser"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with open_chromium() as browser:
        yield browser.new_page()


def press(page: Page, name: str, *, most: int = 120) -> None:
    """Go by Tab to what has that name, and press Enter."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
        if page.evaluate(focused).startswith(name):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab does not come to {name}")


def write(page: Page, label: str, text: str) -> None:
    """Go by Tab to the field of that label, and write."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.labels?.[0]?.textContent.trim() ?? ''").startswith(label):
            page.keyboard.type(text)
            return
    raise AssertionError(f"Tab does not come to {label}")


def test_a_whole_review_from_login_to_exported_log_by_keyboard_alone(
    service: httpx.Client, alpha: Path, page: Page
) -> None:
    add_person("Änne <b>", Role.REVIEWER)
    errors: list[str] = []
    page.set_default_timeout(120_000)
    page.on("console", lambda one: errors.append(f"{one.location}: {one.text}") if one.type == "error" else None)
    page.goto(f"{service.base_url}/")
    page.wait_for_selector("[name=name]:focus")
    page.keyboard.type("Änne <b>")
    write(page, "Password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#runs")
    press(page, "Review")
    page.wait_for_selector("h1:has-text('Review of')")
    press(page, "Alpha")
    page.wait_for_selector("#cell-recurring")
    press(page, "Decide on recurring")
    write(page, "Score", "2")
    write(page, "Reason", "the list says so")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cell-recurring [data-focus]:has-text('Your score counts now')")
    page.wait_for_selector("#cell-recurring [data-focus]:focus")  # a moment later; from there Tab goes on
    press(page, "Undo: Score set")
    page.wait_for_selector("#cell-recurring [data-focus]:has-text('Undone')")
    press(page, "Sign off recurring")
    page.wait_for_selector("#cell-recurring .verified:has-text('signed off')")
    press(page, "Decide on audited")
    write(page, "Score", "9")
    write(page, "Reason", "out of range")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told:has-text('from 0 to 5')")
    press(page, "Review")
    page.wait_for_selector("h1:has-text('Review of')")
    assert "1 of 3" in page.inner_text("main")
    press(page, "as JSON")
    page.wait_for_load_state()
    log = json.loads(page.inner_text("body"))
    assert [row["kind"] for row in log] == ["override", "undo", "sign_off"]
    assert {row["by"] for row in log} == {"Änne <b>"}
    expected = "400", "favicon.ico"  # what was refused above; an address that shows JSON has no icon
    assert [error for error in errors if not any(words in error for words in expected)] == []


def test_a_table_is_read_and_decided_on_by_keyboard_alone(service: httpx.Client, beta: Path, page: Page) -> None:
    page.set_default_timeout(120_000)
    page.goto(f"{service.base_url}/runs/r1/table")
    press(page, "Service agreement <Beta>.txt")
    page.wait_for_selector("#cell-notice")
    press(page, "Approve Notice")
    page.wait_for_selector("#cell-notice .verified:has-text('approved')")
    press(page, "Correct or comment on Governing law")
    write(page, "Value", "Austria")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-focus]:has-text('Your decision counts now')")
    assert "Austria" in page.inner_text(f"#cell-{css_name('governing_law')} .value")
    press(page, "Correct or comment on Expires on")
    write(page, "Value", "soon")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told:has-text('a day such as')")
    press(page, "Back to the table")
    page.wait_for_selector(".grid")
    page.click(".grid tbody td:has-text('Austria')")  # a value leads to its words
    page.wait_for_url("**#cell-governing_5flaw")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_and_a_phone_has_room(service: httpx.Client, alpha: Path, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 390, "height": 844})
    of_run = (
        "table?columns=leases",
        "review",
        "review/alpha.example",
        "search?q=notice",
        "search",
        "ask?q=notice+lease",
    )
    for path in ("/", "/login/password", *(f"/runs/r1/{name}" for name in of_run)):
        page.goto(f"{service.base_url}{path}")
        found = Axe().run(page).response["violations"]
        assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
