"""From a cell of the matrix to the boxed place, at 200 companies × 40 criteria: in a browser from the disk, and live.

The run is kept as a batch keeps it: two PDFs a company, forty criteria that each quote a line of theirs. The texts are
read and the pages drawn before; writing the folder is measured, and what a second time writes.
"""

import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from reportlab.pdfgen.canvas import Canvas

from storage import database, documents, runs, texts
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.documents.drive.registry import drive_to_open_again, open_drive
from tasks.documents.texts import document_text
from tasks.evidence.company import draw_evidence
from tasks.reports.files import write_reports
from tests.api.conftest import serving
from tests.homes import make_home
from tests.tasks.reports.rows import company, document, write_company, write_run

_COMPANIES: Final = int(os.environ.get("DILIGENCE_BENCH_COMPANIES", "200"))
_CRITERIA: Final = 40
_PDFS: Final = 2
_PAGES: Final = 5
_CLICKS: Final = 100
_TOPICS: Final = (
    "recurring revenue",
    "the largest customer",
    "a claim for damages",
    "patents",
    "the lease of the plant",
)


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as settings:
        root, out = Path(folder, "rooms"), Path(folder, "out")
        settings.setenv("DILIGENCE_HOME", str(make_home(Path(folder, "home"))))
        settings.setenv("DILIGENCE_DRIVE_ROOT", str(root))
        _write_run(root)
        size = f"{_COMPANIES} companies × {_CRITERIA} criteria"
        first = _processor_time(lambda: write_reports("r1", out))
        files = list((out / "evidence").iterdir())
        before = {path: path.stat().st_mtime_ns for path in files}
        again = _processor_time(lambda: write_reports("r1", out))
        rewritten = sum(path.stat().st_mtime_ns != before[path] for path in (out / "evidence").iterdir())
        total = sum(path.stat().st_size for path in files)
        yield f"evidence folder, {size}", f"{len(files):,} files, {total / 1e6:.0f} MB", "–"
        yield "writing report, evidence and archive, processor time", f"{first:.1f} s", "–"
        yield "the same again, unchanged: files of evidence written", f"{rewritten} ({again:.1f} s)", "0"
        passed, worked = _in_a_browser(out)
        yield "from a cell to the boxed place, from the disk, median, 95th percentile", passed, "300 ms"
        yield "of that the work of the page's main thread, as the browser counts it", worked, "–"
        yield "an evidence page from the service, median, 95th percentile", _live(out), "300 ms"
        database.close()


def _write_run(root: Path) -> None:
    chance = random.Random(1)
    names = [f"Company {number:03}" for number in range(_COMPANIES)]
    listed = {"scale": [0, 5], "criteria": [_criterion(number) for number in range(_CRITERIA)]}
    for name in names:
        (root / name).mkdir(parents=True)
        for number in range(_PDFS):
            _write_pdf(root / name / f"Document {number}.pdf", name, chance)
    rows = [
        company(name, ordinal, domain=f"c{ordinal}.example", total=0.5, coverage=1.0, rank=ordinal + 1)
        for ordinal, name in enumerate(names)
    ]
    write_run("r1", rows, criteria=listed, drive=drive_to_open_again())
    for ordinal, name in enumerate(names):
        _write_company(ordinal, name, chance)
    with database.reading() as session:
        ids = [row.id for row in runs.run_companies(session, "r1")]
    for company_id in ids:
        assert company_id is not None
        assert draw_evidence(company_id) == []


def _criterion(number: int) -> dict[str, Any]:
    return {"id": f"criterion_{number}", "kind": "judged", "weight": 1, "ask": f"What is said of matter {number}?"}


def _write_pdf(path: Path, name: str, chance: random.Random) -> None:
    canvas = Canvas(str(path))
    for page in range(_PAGES):
        canvas.setFont("Helvetica", 10)
        for line in range(45):
            words = f"{chance.choice(_TOPICS)} came to {chance.randint(1, 9999)} thousand euros."
            canvas.drawString(72, 770 - 15 * line, f"{name}, line {page}.{line}: {words}")
        canvas.showPage()
    canvas.save()


def _write_company(ordinal: int, name: str, chance: random.Random) -> None:
    drive = open_drive()
    listed, quotes = [], []
    for found in drive.list_folder(drive.find_folder(name), recursive=True).documents:
        text = document_text(found.id).text
        with database.reading() as session:
            content = documents.find_contents(session, drive.name, [found.id])[found.id]
            text_id = next(iter(texts.find_summaries(session, [content.content_hash]).values())).id
        about = {"name": found.name, "path": "", "url": found.url, "text_id": text_id}
        listed.append(document(found.id, content.content_hash, **about))
        for _ in range(_CRITERIA // _PDFS):
            page, line = chance.randrange(_PAGES), chance.randrange(45)
            start = text.index(f"{name}, line {page}.{line}: ")
            end = text.index("\n", start) if "\n" in text[start:] else len(text)
            quotes.append(
                Quote(
                    outcome_id=0,
                    ordinal=0,
                    text=text[start:end],
                    verified=True,
                    document_id=found.id,
                    document_name=found.name,
                    document_url=found.url,
                    place=f"page {page + 1}",
                    text_id=text_id,
                    start=start,
                    end=end,
                )
            )
    scores = [
        CriterionOutcome(
            company_id=0,
            ordinal=number,
            criterion_id=f"criterion_{number}",
            kind="judged",
            weight=1,
            score=number % 6,
            status=ScoreStatus.SCORED,
            reason="It is said.",
            evidence="e",
        )
        for number in range(_CRITERIA)
    ]
    outcomes = [(scored, [cited]) for scored, cited in zip(scores, quotes, strict=True)]
    write_company("r1", f"c{ordinal}.example", documents=listed, outcomes=outcomes)


def _processor_time(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _in_a_browser(out: Path) -> tuple[str, str]:
    """Click a cell until the box of its first quote is in view: the time of the pages' loading, and what they worked.

    The second says more on a busy machine: it is the time of the tasks of the page's own thread.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "Playwright is not installed", "–"
    browser_path = shutil.which("chromium")
    chance, times, worked = random.Random(2), [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        metrics = page.context.new_cdp_session(page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
        for _ in range(_CLICKS + 3):
            page.goto((out / "report.html").as_uri())
            cell = page.locator(".matrix tbody tr").nth(chance.randrange(_COMPANIES)).locator("td a[href]")
            chosen = cell.nth(chance.randrange(_CRITERIA))
            chosen.scroll_into_view_if_needed()
            before = _worked(metrics)
            chosen.evaluate("cell => cell.click()")
            page.wait_for_selector("rect:target", state="visible")
            times.append(_loaded(page))
            after = _worked(metrics)
            worked.append(after - before if after > before else after)  # it begins anew in another process
        browser.close()
    return _cuts(times[3:]), _cuts(worked[3:])


def _worked(metrics: Any) -> float:
    """Seconds that the tasks of the page's main thread have taken so far."""
    counted = metrics.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in counted if metric["name"] == "TaskDuration")


def _loaded(page: Any) -> float:
    """Seconds from the click to the page with its picture, as the browser timed it."""
    page.wait_for_load_state("load")
    page.wait_for_function("() => performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
    return float(page.evaluate("performance.getEntriesByType('navigation')[0].duration")) / 1e3


def _live(out: Path) -> str:
    """Pages by chance, each asked for once, of a service in this process."""
    names = sorted(path.name for path in (out / "evidence").glob("*.html"))
    chance, times = random.Random(3), []
    with ExitStack() as stack:
        client: httpx.Client = stack.enter_context(serving())
        for _ in range(_CLICKS + 3):
            start = time.perf_counter()
            answer = client.get(f"/runs/r1/evidence/{chance.choice(names)}")
            times.append(time.perf_counter() - start)
            assert answer.status_code == 200
    return _cuts(times[3:])


def _cuts(times: list[float]) -> str:
    cuts = statistics.quantiles(times, n=20)
    return f"{1e3 * statistics.median(times):.0f}, {1e3 * cuts[18]:.0f} ms"
