"""What the pages of the service cost over a large room: processor time of the service and of a browser, and size.

`python -m tests.benchmarks.room_pages [DOCUMENTS [AGREEMENTS]]` writes a run of one company with 10,000 documents, of
which 500 are agreements, and asks for each page twice: the second time is what somebody waits for who works there.
Where Chromium is installed it then opens each page, and counts as its developer tools do
(https://chromedevtools.github.io/devtools-protocol/tot/Performance/).
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

from storage import database, texts
from storage.database import writing
from storage.documents import DocumentStatus, RunDocument
from storage.scores import ScoreStatus
from storage.texts import Outcome, StoredText
from tasks.documents.drive.registry import drive_to_open_again, open_drive
from tests.api.conftest import serving
from tests.api.pages.conftest import AGREEMENT, PAGE, TABLED, field
from tests.homes import make_home
from tests.tasks.reports.rows import company, outcome, quote, write_company, write_run

_DOCUMENTS, _AGREEMENTS = 10_000, 500


def write_large_run(count: int, agreements: int) -> None:
    """A run with so many documents, of which the first are agreements, as if it had read them."""
    folder_id = open_drive().find_folder("alpha")
    alpha = company("Alpha", total=0.5, coverage=1.0, rank=1, folder_id=folder_id)
    write_run("r1", [alpha], drive=drive_to_open_again(), criteria=TABLED)
    stored = [
        StoredText(content_hash=f"h{number}", reader="test-1", outcome=Outcome.READ, text=text, characters=len(text))
        for number in range(count)
        for text in [_text(number, number < agreements)]
    ]
    with writing() as session:
        kept = texts.save_texts(session, stored)
    ids = {content: summary.id for (content, _), summary in kept.items()}
    documents = [
        RunDocument(
            company_id=0,
            document_id=f"d{number}",
            name=f"{'Service agreement' if number < agreements else 'Note'} {number}.txt",
            path=f"Folder {number % 40}",
            url="http://127.0.0.1/",
            status=DocumentStatus.READ,
            content_hash=one.content_hash,
            text_id=ids[one.content_hash],
            characters=one.characters,
        )
        for number, one in enumerate(stored)
    ]
    scored = outcome("recurring", 4, ScoreStatus.SCORED, given=["d0"])
    write_company("r1", "alpha.example", documents=documents, outcomes=[(scored, [quote(document_id="d0")])])


def _text(number: int, is_agreement: bool) -> str:
    if is_agreement:
        return AGREEMENT.format(more=f"The fee is EUR {number + 1:,} a month.").replace(
            "Beta Ltd", f"Beta {number} Ltd"
        )
    return (
        f"Note {number}\nThe meeting number {number} spoke of deliveries, prices and the budget of unit {number % 97}."
    )


def _spent() -> float:
    """The processor time of this process and of all that come from it and still run."""
    stats: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(stat.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while more := {process for process, (parent, _) in stats.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks for process, (_, ticks) in stats.items() if process in ours) / os.sysconf("SC_CLK_TCK")


ROW = "/runs/r1/table/alpha.example/d7"


def measure(service: httpx.Client) -> dict[str, str]:
    """Print the pages' figures; gives their addresses by name."""
    own = re.search(r"companies/\w+\.html", service.get("/runs/r1/report.html").text)
    assert own is not None
    pages = {
        "home": "/",
        "review": "/runs/r1/review",
        "review of the company": "/runs/r1/review/alpha.example",
        "report": "/runs/r1/report.html",
        "the company's page": f"/runs/r1/{own[0]}",
        "table": "/runs/r1/table",
        "a row of the table": ROW,
        "documents": "/runs/r1/search",
        "search": "/runs/r1/search?q=deliveries+budget",
        "ask": "/runs/r1/ask?q=Which+law+governs+the+agreement",
    }
    print(f"{'page':24} {'first, s':>9} {'again, s':>9} {'KB':>6} elements")
    for name, address in pages.items():
        spent = []
        for _ in range(2):
            before = _spent()
            answer = service.get(address, headers=PAGE)
            spent.append(_spent() - before)
            assert answer.status_code == 200, (address, answer.text[:500])
        elements = len(re.findall(r"<[a-z]", answer.text))
        print(f"{name:24} {spent[0]:9.3f} {spent[1]:9.3f} {len(answer.content) / 1000:6.0f} {elements}")
    for place in (ROW, "/runs/r1/review/alpha.example"):
        page = service.get(place, headers=PAGE).text
        cell = page[page.index('id="cell-') :]
        fields = {name: field(cell, name) for name in ("token", "criterion_id", "follows", "saw")}
        spent = []
        for kind in ("sign_off", "flag"):
            before = _spent()
            answer = service.post(place, data={**fields, "kind": kind}, headers={"HX-Request": "true"})
            spent.append(_spent() - before)
            fields["follows"] = field(answer.text, "follows")
        print(f"{'an act on ' + place[-13:]:24} {spent[0]:9.3f} {spent[1]:9.3f}")
    return pages


_COUNTED = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "Nodes")


def measure_browser(address: str, pages: dict[str, str]) -> None:
    """Print what each page costs a browser to show, in processor seconds of its main thread; an act too."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])

        def show(name: str, path: str) -> tuple[Page, Callable[[], list[float]]]:
            tab = browser.new_page()
            tools = tab.context.new_cdp_session(tab)
            tools.send("Performance.enable", {"timeDomain": "threadTicks"})

            def counts() -> list[float]:
                metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
                return [metrics[name] for name in _COUNTED]

            tab.goto(f"{address}{path}")
            tab.wait_for_timeout(500)
            print(f"{name:24} " + " ".join(f"{value:11.3f}" for value in counts()))
            return tab, counts

        print(f"{'in a browser':24} " + " ".join(f"{name.removesuffix('Duration'):>11}" for name in _COUNTED))
        for name, path in pages.items():
            show(name, path)[0].close()
        tab, counts = show("the row again", ROW)
        before = counts()
        tab.click("#cell-notice button.first")
        tab.wait_for_selector("#cell-notice [data-focus]")
        spent = [after - then for after, then in zip(counts(), before, strict=True)]
        print(f"{'an act on it':24} " + " ".join(f"{value:11.3f}" for value in spent))
        browser.close()


def main() -> None:
    """Write the run, and measure."""
    count, agreements = [*map(int, sys.argv[1:]), *(_DOCUMENTS, _AGREEMENTS)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory(prefix="room-pages-") as folder:
        root = Path(folder)
        (root / "room" / "alpha").mkdir(parents=True)
        os.environ |= {
            "DILIGENCE_HOME": str(make_home(root / "home")),
            "DILIGENCE_DRIVE_ROOT": str(root / "room"),
            "DILIGENCE_EMBEDDINGS": "off",
        }
        write_large_run(count, agreements)
        with serving() as service:
            service.timeout = 600  # the machine may be busy: processor time is what counts
            measure_browser(str(service.base_url), measure(service))
        database.close()


if __name__ == "__main__":
    main()
