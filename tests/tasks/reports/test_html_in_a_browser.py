"""The page in a real browser, served from loopback by a server that writes down what it is asked for."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage.scores import ScoreStatus
from tasks.reports import html
from tasks.reports.company import company_anchor
from tasks.reports.report import build
from tests.tasks.reports.rows import company, document, outcome, quote, write_company, write_run
from tests.tasks.reports.test_key_figures import revenue, with_figures
from tests.web.behaviours import page
from tests.web.chromium import CHROMIUM
from tests.web.server import Behaviour, LoopbackServer

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

FRAME = """<!doctype html><link rel="icon" href="data:,"><iframe src="/report.html#SEVENTH-1"
style="width:390px;height:800px;border:0" onload="setTimeout(() => {
  const page = this.contentDocument;
  document.body.dataset.width = page.documentElement.scrollWidth;
  document.body.dataset.title = page.title;
  document.body.dataset.open = [...page.querySelectorAll('details.company[open]')].map((part) => part.id);
  for (const click of [1, 2]) page.querySelectorAll('.matrix thead [role=button]')[1].click();
  const across = page.querySelectorAll('.across thead [role=button]');
  if (across.length) across[1].click();
  document.body.dataset.across = [...page.querySelectorAll('.across tbody th')].map((head) => head.textContent.trim());
  document.body.dataset.order = [...page.querySelectorAll('.matrix tbody tr')].map((row) => row.dataset.company);
}, 50)"></iframe>""".replace("SEVENTH", company_anchor("c6.example"))

Browse = Callable[[str], tuple[str, list[str]]]


@pytest.fixture
def browse(tmp_path: Path) -> Iterator[Browse]:
    """Opens a page in a frame as wide as a phone; gives what the frame found and the paths asked for."""
    pages: dict[str, Behaviour] = {"/": page(FRAME)}
    with LoopbackServer(pages) as server:

        def open_page(text: str) -> tuple[str, list[str]]:
            pages["/report.html"] = page(text)
            options = (
                "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
                "--disable-component-update --disable-sync --virtual-time-budget=5000 --dump-dom"
            )
            command = [str(CHROMIUM), *options.split(), f"--user-data-dir={tmp_path / 'browser'}"]
            done = subprocess.run(
                [*command, f"{server.url}/"],
                check=True,
                capture_output=True,
                text=True,
                timeout=120,
            )
            return done.stdout, server.paths()

        yield open_page


def test_page_works_on_a_phone_and_asks_the_network_for_nothing(browse: Browse) -> None:
    hostile = "<script>document.title='owned'</script><img src=/leak><link rel=stylesheet href=/leak>"
    totals = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    rows = [
        company(f"C{n} {hostile}", n, domain=f"c{n}.example", total=total, coverage=1.0, rank=n + 1)
        for n, total in enumerate(totals)
    ]
    write_run("r1", [*rows, company("Unranked", 7)])
    for n in range(len(totals)):
        write_company(
            "r1",
            f"c{n}.example",
            documents=[document("a", name=f"{'long' * 40}{hostile}.pdf")],
            outcomes=[(outcome("recurring", n % 6, ScoreStatus.SCORED, reason=hostile), [quote(hostile + "w" * 300)])],
        )
    dom, asked = browse(html.render(build("r1")))
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', dom[dom.index("<body") : dom.index(">", dom.index("<body"))]))
    assert asked == ["/", "/report.html"]
    assert found["title"].startswith("Autumn screen")
    assert int(found["width"]) <= 390, "the page scrolls sideways"
    assert found["open"] == company_anchor("c6.example"), "the section that a link leads to is open, the others are not"
    assert found["order"] == "8,7,6,5,4,3,2,1", "sorted by what is proven, lowest first"


def test_the_newest_figures_are_sorted_by_a_column_each_currency_by_itself(browse: Browse) -> None:
    report, alpha = with_figures()
    others = {"Beta": ("99000000", "EUR"), "Gamma": ("500", "USD"), "Delta": None, "Epsilon": ("7000000", "EUR")}
    report.companies = [alpha]
    for name, figure in others.items():
        one = revenue(figure[0] if figure else "5", 2024).model_copy(
            update={"unit": figure[1]} if figure else {"concept": "headcount", "unit": "count"}
        )
        report.companies.append(
            alpha.model_copy(update={"name": name, "figures": [one], "figure_conflicts": [], "derived_figures": []})
        )
    dom, _ = browse(html.render(report))
    found = dict(re.findall(r'data-(\w+)="([^"]*)"', dom[dom.index("<body") : dom.index(">", dom.index("<body"))]))
    assert [name.split()[0] for name in found["across"].split(",")] == ["Beta", "Alpha", "Epsilon", "Gamma", "Delta"]
