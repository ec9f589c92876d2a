"""Every link of a report that lies on the disk, followed in Chromium: none is dead, and what it leads to is in view."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from docx import Document as WordDocument
from openpyxl import Workbook
from playwright.sync_api import Browser, Page

from tasks.reports.files import write_reports
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reports.cited import draw, write_cited_run
from tests.web.chromium import CHROMIUM, open_chromium

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.xdist_group("report in a browser"),
]
QUOTED = {
    "Accounts <b>&amp;%20#1.pdf": ("Recurring revenue was 83 % of all revenue.", "page 1"),
    "Lease.docx": ("Either party may end the lease by a notice of six months.", "line 1"),
    "Ledger.xlsx": ("dunned three times", "sheet Ledger, C90"),
}


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of a run that quotes a PDF, a Word document and a workbook, written to a folder."""
    room = tmp_path / "rooms" / "alpha"
    room.mkdir(parents=True)
    pdf, word, ledger = QUOTED
    objects = pdfs.one_page(b"")
    objects[3] = content((72, 700, QUOTED[pdf][0]), (72, 660, "Costs fell."))
    (room / pdf).write_bytes(pdfs.pdf(objects))
    document = WordDocument()
    document.add_paragraph(QUOTED[word][0])
    document.save(str(room / word))
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Ledger")
    for number in range(200):
        sheet.append([number, f"customer {number}", QUOTED[ledger][0] if number == 89 else "paid"])
    book.save(room / ledger)
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "rooms"))
    write_cited_run("alpha", QUOTED)
    assert draw() == []
    return write_reports("r1", tmp_path / "out")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def test_every_link_of_a_report_on_the_disk_leads_somewhere(report: Path, page: Page) -> None:
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
    ids: dict[str, set[str]] = {}
    waiting, anchors = [report.as_uri()], set()
    while waiting:
        address, anchor = urldefrag(waiting.pop())
        anchors.add((address, anchor))
        if address in ids:
            continue
        assert address.startswith("file:///"), address
        path = Path(unquote(urlsplit(address).path))
        assert path.is_file(), path
        ids[address] = {""}
        if path.suffix == ".html":
            page.goto(address)
            waiting += page.evaluate("[...document.links].map(link => link.href)")
            ids[address] |= set(page.evaluate("[...document.querySelectorAll('[id]')].map(part => part.id)"))
    assert [(address, anchor) for address, anchor in anchors if anchor not in ids[address]] == []
    assert failed == []
    originals = {unquote(address.rpartition("/")[2]) for address in ids if not address.endswith(".html")}
    assert originals == set(QUOTED)


def test_a_quote_is_a_click_away_and_in_view(report: Path, page: Page) -> None:
    page.goto(report.as_uri())
    links = sorted(
        {link for link in page.evaluate("[...document.links].map(link => link.href)") if "/evidence/" in link}
    )
    assert len(links) == 3
    for link in links:
        page.goto(link)
        assert page.evaluate(
            """() => {
                const box = document.querySelector(':target').getBoundingClientRect();
                return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
            }"""
        ), link


def test_axe_has_no_finding_on_a_page_of_evidence_and_it_does_not_scroll_sideways(report: Path, page: Page) -> None:
    pages = sorted((report.parent / "evidence").glob("*.html"))
    assert len(pages) == 3
    for path in pages:
        for scheme, width in (("light", 1280), ("dark", 390)):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(path.as_uri())
            found = Axe().run(page).response["violations"]
            assert [f"{rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in found] == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_a_page_of_evidence_the_claim_is_a_key_away(report: Path, page: Page) -> None:
    page.goto(next(path for path in (report.parent / "evidence").glob("*.html")).as_uri())
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/report.html#*")
    assert page.evaluate("document.querySelector(':target').getBoundingClientRect().height") > 0
