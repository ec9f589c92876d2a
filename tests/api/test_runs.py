"""The report of a run in the service: every link holds, whatever the root is, and what is gone is said to be gone."""

import re
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin

import httpx
import pytest
from docx import Document as WordDocument
from openpyxl import Workbook

from storage import database, documents, runs
from storage.documents import save_contents
from tasks.documents.drive.registry import open_drive
from tasks.figures.ledger import build_ledger
from tests.api.test_problems import fields, problem
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reports.cited import draw, write_cited_run
from tests.tasks.reports.rows import company
from tests.web.html_page import Page

NOTICE = "Either party may end the lease by a notice of six months."
RECURRING = "Recurring revenue was 83 % of all revenue."
HOSTILE = "<img src=x onerror=alert(1)>&amp;" + "ü" * 108 + ".docx"
PAGE = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def alpha(room: Path) -> Path:
    """A room with a PDF and a Word document of a hostile name as long as can be, and the run that quotes both."""
    folder = room / "alpha"
    folder.mkdir()
    objects = pdfs.one_page(b"")
    objects[3] = content((72, 700, RECURRING), (72, 660, "Costs fell."))
    (folder / "Accounts.pdf").write_bytes(pdfs.pdf(objects))
    assert len(HOSTILE.replace("/", "_").encode()) <= 255
    word = WordDocument()
    word.add_heading("Lease", 1)
    word.add_paragraph(NOTICE)
    word.save(str(folder / HOSTILE))
    write_cited_run("alpha", {"Accounts.pdf": (RECURRING, "page 1"), HOSTILE: (NOTICE, "under “Lease”, line 2")})
    assert draw() == []
    return folder


def dead_links(service: httpx.Client, start: str) -> tuple[list[str], dict[str, httpx.Response]]:
    """The links that lead nowhere from a page and all that it leads to, and every answer by path."""
    dead: list[str] = []
    answers: dict[str, httpx.Response] = {}
    waiting = [start]
    while waiting:
        address, anchor = urldefrag(waiting.pop())
        if address not in answers:
            answers[address] = answer = service.get(address, headers=PAGE)
            if answer.headers["content-type"].startswith("text/html"):
                waiting += [urljoin(address, link) for link in Page(answer.text).links]
        answer = answers[address]
        if answer.status_code != 200 or (anchor and anchor not in Page(answer.text).ids):
            dead.append(f"{address}#{anchor}")
    return dead, answers


def address_of(service: httpx.Client, words: str) -> str:
    """The path of the evidence page that shows these words, with their anchor."""
    report = Page(service.get("/runs/r1/report.html").text)
    for link in report.links:
        if link.startswith("evidence/") and words in service.get(f"/runs/r1/{link.partition('#')[0]}").text:
            return f"/runs/r1/{link}"
    raise AssertionError(words)


def document_id(name: str) -> str:
    with database.reading() as session:
        company_id = runs.run_companies(session, "r1")[0].id
        assert company_id is not None
        return next(row.document_id for row in documents.company_documents(session, company_id) if row.name == name)


def test_every_link_of_a_report_leads_somewhere(service: httpx.Client, alpha: Path) -> None:
    dead, answers = dead_links(service, "/runs/r1/report.html")
    assert dead == []
    kinds = [answer.headers["content-type"].partition(";")[0] for answer in answers.values()]
    assert kinds.count("image/png") >= 2  # in the evidence, and the whole page
    assert kinds.count("application/pdf") == 1
    assert any(path.endswith(f"{quote(document_id(HOSTILE))}/original") for path in answers)
    assert not any("file:" in answer.text for answer in answers.values() if "html" in answer.headers["content-type"])


def test_figures_lead_to_their_documents_too(service: httpx.Client, alpha: Path) -> None:
    (alpha / "Accounts 2024.txt").write_text(
        "Alpha Ltd\nAudited accounts for the year ended 31 December 2024\n\nEUR thousand\t2024\nRevenue\t12,000\n"
    )
    write_cited_run("alpha", {"Accounts.pdf": (RECURRING, "page 1")}, "r2")
    with database.reading() as session:
        (row,) = runs.run_companies(session, "r2")
    assert row.id is not None
    build_ledger(row.id)
    dead, answers = dead_links(service, "/runs/r2/report.html")
    assert dead == []
    (own,) = [path for path in answers if "/r2/companies/" in path]
    (figure,) = re.findall(r'<a href="([^"]*)"[^>]*>12 m</a>', answers[own].text)
    assert "Revenue" in answers[urldefrag(urljoin(own, figure))[0]].text


def test_each_company_has_a_page_of_its_own_that_leads_back(service: httpx.Client, alpha: Path) -> None:
    with database.writing() as session:
        session.add_all(company(f"More{number}", number, run_id="r1") for number in range(1, 21))
    dead, answers = dead_links(service, "/runs/r1/report.html")
    assert dead == []
    pages = {path: answer.text for path, answer in answers.items() if "/companies/" in path}
    assert len(pages) == 21
    assert RECURRING not in answers["/runs/r1/report.html"].text
    (own,) = [path for path, page in pages.items() if RECURRING in page]
    evidence = next(urljoin(own, link) for link in Page(pages[own]).links if "/evidence/" in link)
    shown = service.get(evidence).text
    assert any(urldefrag(urljoin(evidence, link))[0] == own for link in Page(shown).links)
    assert "Everyone who may use this service can see it." in shown
    problem(service.get("/runs/r1/companies/0123456789ab.html"), 404, "not-found")


def test_links_hold_whatever_the_services_root_is(
    service: httpx.Client, alpha: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "elsewhere"))
    assert dead_links(service, "/runs/r1/report.html")[0] == []
    accounts = document_id("Accounts.pdf")
    assert service.get(f"/file/d/{accounts}/view").content == (alpha / "Accounts.pdf").read_bytes()
    assert RECURRING in service.post("/v1/drive/document-text", json={"document_id": accounts}).json()["text"]


def test_the_latest_run_is_found_by_its_name_too(service: httpx.Client, alpha: Path) -> None:
    for name in ("latest", "Autumn%20screen", "r1"):
        answer = service.get(f"/runs/{name}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs/r1/report.html")


def test_the_quote_is_boxed_and_the_whole_text_is_a_click_away(service: httpx.Client, alpha: Path) -> None:
    address, anchor = urldefrag(address_of(service, RECURRING))
    page = service.get(address)
    assert f'<rect id="{anchor}"' in page.text
    whole = next(link for link in Page(page.text).links if "?start=" in link)
    answer = service.get(urljoin(address, whole))
    assert f'<mark id="{anchor}">{RECURRING}</mark>' in answer.text
    assert "<h2><bdi>Page 1</bdi></h2>" in answer.text


def test_names_and_words_are_no_markup(service: httpx.Client, alpha: Path) -> None:
    _, answers = dead_links(service, "/runs/r1/report.html")
    pages = [answer.text for answer in answers.values() if answer.headers["content-type"].startswith("text/html")]
    assert len(pages) > 4
    assert not any("<img src=x" in page for page in pages)


def test_pages_run_nothing_and_are_framed_by_nobody(service: httpx.Client, alpha: Path) -> None:
    _, answers = dead_links(service, "/runs/r1/report.html")
    of_runs = {path: answer for path, answer in answers.items() if path.startswith("/runs/")}
    assert len(of_runs) > 8
    for path, answer in of_runs.items():
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        if answer.headers["content-type"].startswith("text/html"):
            assert "'unsafe-inline'" not in policy, path
        assert answer.headers["cache-control"] == "no-store"


def test_what_was_deleted_since_is_said_and_not_shown(service: httpx.Client, alpha: Path) -> None:
    address = urldefrag(address_of(service, RECURRING))[0]
    picture = next(urljoin(address, link) for link in re.findall(r'href="([^"]+\.png)"', service.get(address).text))
    (alpha / "Accounts.pdf").unlink()
    accounts = f"/runs/r1/documents/{document_id('Accounts.pdf')}"
    for path in (address, accounts, f"{accounts}/original", f"{accounts}/pages/1", picture):
        answer = service.get(path, headers=PAGE)
        assert answer.status_code == 404, path
        assert RECURRING not in answer.text
        problem(service.get(path), 404, "not-found")
    assert "was deleted since the run" in service.get(address, headers=PAGE).text
    assert service.get("/runs/r1/report.html").status_code == 200


def test_what_was_changed_since_is_said(service: httpx.Client, alpha: Path) -> None:
    address = address_of(service, RECURRING)
    assert "was changed after" not in service.get(address).text
    with (alpha / "Accounts.pdf").open("ab") as file:
        file.write(b"\n% changed")
    with database.writing() as session:  # as after another run, whenever this one read the file
        save_contents(session, open_drive().name, {document_id("Accounts.pdf"): ("another version", "another hash")})
    assert "was changed after" in service.get(address).text
    problem(service.get(f"/runs/r1/documents/{document_id('Accounts.pdf')}/pages/2"), 404, "not-found")


@pytest.mark.parametrize(
    "path",
    [
        "/runs/nope",
        "/runs/nope/report.html",
        "/runs/r1/evidence/0123.html",
        "/runs/r1/evidence/0123456789abcdef01234567-1.webp",
        "/runs/r1/documents/LLi4vLi4vZXRjL3Bhc3N3ZA",
        "/runs/r1/documents/LLi4vLi4vZXRjL3Bhc3N3ZA/original",
    ],
)
def test_what_no_run_has_is_not_found(service: httpx.Client, alpha: Path, path: str) -> None:
    problem(service.get(path), 404, "not-found")
    page = service.get(path, headers=PAGE)
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (404, "text/html")


@pytest.mark.parametrize(
    ("path", "ways"),
    [
        ("/runs/nope/report.html", ["/"]),  # no way back to what is not there
        ("/runs/r1/evidence/0123.html", ["/runs/r1/report.html", "/"]),
        ("/no/such/page", ["/"]),
    ],
)
def test_a_page_that_is_not_there_leads_on(service: httpx.Client, alpha: Path, path: str, ways: list[str]) -> None:
    answer = service.get(path, headers=PAGE)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (404, "text/html")
    links = Page(answer.text[answer.text.index('class="ways"') :]).links
    assert links == ways
    assert all(service.get(link, headers=PAGE).status_code == 200 for link in links)


def test_an_operation_that_is_not_there_is_a_problem_to_browsers_too(service: httpx.Client) -> None:
    problem(service.get("/v1/nothing", headers=PAGE), 404, "not-found")


def test_a_document_beside_the_run_is_not_shown_by_it(service: httpx.Client, alpha: Path, room: Path) -> None:
    (room / "private.txt").write_text("secret")
    index = service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}).json()
    (private,) = [entry["document_id"] for entry in index["document_index"][0]["documents"]]
    problem(service.get(f"/runs/r1/documents/{private}"), 404, "not-found")
    problem(service.get(f"/runs/r1/documents/{private}/original"), 404, "not-found")


def test_a_run_of_another_drive_is_not_shown(service: httpx.Client, alpha: Path) -> None:
    with database.writing() as session:
        runs.get_run(session, "r1").drive = {"drive": "google"}
    assert "another drive" in problem(service.get("/runs/r1/report.html"), 404, "not-found")["detail"]


def test_a_large_sheet_is_shown_part_by_part(service: httpx.Client, room: Path) -> None:
    (room / "beta").mkdir()
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Ledger")
    for number in range(20_000):
        sheet.append([number, f"customer {number}", "paid" if number != 9_000 else "dunned three times"])
    book.save(room / "beta" / "ledger.xlsx")
    write_cited_run("beta", {"ledger.xlsx": ("dunned three times", "sheet Ledger, C9001")})
    page = service.get(urldefrag(address_of(service, "dunned three times"))[0])
    assert len(page.text) < 60_000
    assert "customer 8999" in page.text
    whole = urljoin(str(page.url.path), next(link for link in Page(page.text).links if "?start=" in link))
    part = service.get(whole)
    assert len(part.text) < 400_000
    assert ">dunned three times</mark>" in part.text
    assert "Sheet Ledger, continued" in part.text
    ways = [link for link in Page(part.text).links if link.startswith("?part=")]
    assert all(service.get(urljoin(whole, way)).status_code == 200 for way in ways)
    document = urldefrag(whole)[0].partition("?")[0]
    problem(service.get(f"{document}?part=9999"), 404, "not-found")
    assert fields(service.get(f"{document}?part=two&start=-1&end=3")) == {
        "part": "Input should be a whole number",
        "start": "Input should be a whole number of at least 0",
    }
