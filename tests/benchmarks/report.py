"""The report in Chromium at 200 companies × 60 criteria: size, time to write it, first paint; and pages on paper."""

import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfReader

from tasks.reports.html import render_overview
from tests.tasks.reports.of_any_size import pages_of, report_of

_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def measure() -> Iterator[tuple[str, str, str]]:
    chromium = shutil.which("chromium")
    if chromium is None:
        yield "the report in a browser", "no Chromium is installed", "–"
        return
    large = report_of(200, 60)
    page = render_overview(large)
    yield "report.html, 200 companies × 60 criteria", f"{len(page.encode()) / 1e6:.2f} MB", "2 MB"
    began = process_time()
    count = sum(1 for _ in pages_of(large))
    yield f"the same and its {count - 1} pages of companies, processor time", f"{process_time() - began:.1f} s", "–"
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        path = Path(folder) / "report.html"
        path.write_text(page, "utf-8")
        paints = [_first_paint(browser, path) for _ in range(5)]
        yield "its first paint, median of 5", f"{median(paints):.2f} s", "1 s"
        for judged in (True, False):
            path.write_text(render_overview(report_of(3, 16, judged=judged)), "utf-8")
            opened = browser.new_page()
            opened.goto(path.as_uri())
            paper = opened.pdf(prefer_css_page_size=True, print_background=True)
            what = "3 companies × 16 criteria on paper, " + ("judged" if judged else "without a model")
            yield what, f"{len(PdfReader(BytesIO(paper)).pages)} pages", "15 pages"
        browser.close()


def _first_paint(browser: Browser, path: Path) -> float:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    seconds = float(page.evaluate(_PAINT)) / 1000
    page.close()
    return seconds
