"""The table of a room in the service: values with their words, five kinds of no, and decisions on cells that last."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

from api.problems import render
from storage import database
from storage.documents import company_documents
from storage.logins import Role
from storage.runs import run_companies
from storage.scores import DecisionKind
from tasks.reports.html import css_name
from tasks.reports.live_rooms import show_row, show_table
from tasks.reports.models import ProgramCell, ReportedCell, ReportedTable
from tasks.reports.report import build
from tasks.reports.wording import ABSENCES
from tests.api.pages.conftest import AGREEMENT, PAGE, TABLED, TERMS, LogIn, add_person, field
from tests.tasks.reports.cited import write_cited_run


def table(run: str = "r1") -> ReportedTable:
    (shown,) = build(run).companies[0].tables
    return shown


def cell(column: str, run: str = "r1") -> ReportedCell:
    (row,) = table(run).rows
    return row.cells[column]


Decide = Callable[..., httpx.Response]


@pytest.fixture
def opener(browser: Callable[[], httpx.Client]) -> Callable[[], Decide]:
    """Opens the page of the agreement in a browser of its own; a decision is posted with what the page named."""

    def load() -> Decide:
        opened = browser()
        address = f"/runs/r1/table/alpha.example/{table().rows[0].document_id}"
        page = opened.get(address).text

        def post(kind: str, column: str, **fields: str) -> httpx.Response:
            shown = page[page.index(f'id="cell-{css_name(column)}"') :]
            named = {name: field(shown, name) for name in ("token", "follows", "saw")}
            return opened.post(address, data={**named, "criterion_id": column, "kind": kind, **fields})

        return post

    return load


def test_the_table_leads_to_each_document_and_its_words(service: httpx.Client, beta: Path) -> None:
    page = service.get("/runs/r1/table", headers=PAGE).text
    assert "Service agreement &lt;Beta&gt;.txt" in page
    assert "Note.txt" not in page
    assert "3 months" in page
    assert "2099-12-31" in page
    assert "last day for notice" in page  # the calendar
    assert "2099-09-30" in page
    row = page[page.index("/runs/r1/table/") :].split('"', 1)[0].replace("&amp;", "&")
    cells = service.get(row, headers=PAGE).text
    assert "three months&#39; prior written notice" in cells
    quotation = cells[cells.index("/runs/r1/documents/") :].split('"', 1)[0]
    assert service.get(quotation).status_code == 200
    assert "not stated" in cells
    for columns, words in (("employment", "No document of this room"), ("none", "no set of columns")):
        assert words in service.get("/runs/r1/table", params={"columns": columns}, headers=PAGE).text


def test_a_first_look_waits_for_no_text_that_is_still_to_be_read(beta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.reports.live_rooms._AT_FIRST", -1.0)
    first, again = (show_table("r1", "", "", "", 1, goes_on=goes_on) for goes_on in (False, True))
    assert (first.left, again.left, first.count, again.count) == (2, 0, 1, 1), "its name tells its kind"
    pages = [
        render("table.html", shown=shown, q="", absences=ABSENCES, viewer=None).content for shown in (first, again)
    ]
    assert ["3 months" in page for page in pages] == [False, True]
    assert ["2 documents are still to be read" in page for page in pages] == [True, False]
    assert "&amp;more=true" in pages[0]


def test_each_look_reads_one_text_and_a_row_its_own(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := room / "alpha").mkdir()
    (folder / next(iter(TERMS))).write_text(AGREEMENT.format(more=""))
    (folder / "Zeta.txt").write_text(
        AGREEMENT.format(more="Zeta.").split("\n", 1)[1].replace("Service Agreement", "paper")
    )
    (folder / "Zz.txt").write_text("Lunch is at noon.\n")
    write_cited_run("alpha", TERMS, criteria=TABLED)
    for name in ("_AT_FIRST", "_GOING_ON"):
        monkeypatch.setattr(f"tasks.reports.live_rooms.{name}", 1e-9)
    with database.reading() as session:
        (company,) = run_companies(session, "r1")
        zeta = next(row for row in company_documents(session, company.id or 0) if row.name == "Zeta.txt")
    assert show_row("r1", "alpha.example", zeta.document_id, "").row.document_name == "Zeta.txt"
    assert [show_table("r1", "", "", "", 1, goes_on=True).left for _ in range(3)] == [1, 0, 0]


def test_a_person_approves_corrects_rejects_and_undoes(service: httpx.Client, beta: Path, opener: Any) -> None:
    assert opener()("sign_off", "governing_law").status_code == 303
    assert opener()("override", "notice", value="90 days", reason="<b>§ 4").status_code == 303
    assert opener()("override/rejected", "expiry").status_code == 303
    assert opener()("override", "liability_cap", absence="elsewhere").status_code == 303
    assert (cell("notice").value, cell("notice").by) == ("P90D", "person")
    assert cell("notice").program == ProgramCell(value="P3M", absence=None)
    assert (cell("expiry").value, cell("expiry").absence) == (None, None)
    assert cell("liability_cap").absence == "elsewhere"
    assert table().calendar == []  # the day that was rejected is in no calendar
    approved = cell("governing_law")
    assert [(one.kind, one.is_open) for one in approved.decisions] == [("sign_off", False)]
    page = service.get("/runs/r1/table", headers=PAGE).text
    assert "Germany <b>✓</b>" in page
    assert "90 days <b>*</b>" in page
    assert "<b>§ 4" not in service.get(f"/runs/r1/table/alpha.example/{table().rows[0].document_id}", headers=PAGE).text
    assert opener()(f"undo/{cell('notice').decisions[0].id}", "notice").status_code == 303
    assert (cell("notice").value, cell("notice").by, cell("notice").decisions) == ("P3M", "text", [])


def test_the_second_of_two_is_told_and_wrong_values_are_refused(service: httpx.Client, beta: Path, opener: Any) -> None:
    first, second = opener(), opener()
    assert first("override", "notice", value="two weeks").status_code == 303
    refused = second("override", "notice", value="1 year")
    assert (refused.status_code, "Somebody else decided" in refused.text) == (409, True)
    for kind, column, fields, words in (
        ("override", "expiry", {"value": "soon"}, "a day such as"),
        ("override", "assignment", {"value": "maybe"}, "free, consent, forbidden"),
        ("override", "expiry", {"absence": "perhaps"}, "not a reason"),
        ("quote/accepted/1", "expiry", {}, "Reject the value"),
        ("undo/99", "expiry", {}, "no such decision"),
        ("flag", "expiry", {"saw": "other"}, "other evidence"),
        ("flag", "expiry", {"token": "0" * 64}, "too old"),
        ("flag", "expiry", {"criterion_id": "colour"}, "no such column"),
    ):
        answer = opener()(kind, column, **fields)
        assert 400 <= answer.status_code < 500
        assert words in answer.text
    assert cell("expiry").decisions == []


def test_decisions_are_in_the_next_table_and_open_again_where_the_document_says_something_else(
    service: httpx.Client, beta: Path, opener: Any
) -> None:
    assert opener()("sign_off", "governing_law").status_code == 303
    assert opener()("sign_off", "expiry").status_code == 303
    assert opener()("override", "notice", value="P6M").status_code == 303
    changed = AGREEMENT.format(more="Extras.").replace("2099", "2098").replace("three months'", "four months'")
    (beta / next(iter(TERMS))).write_text(changed)
    write_cited_run("alpha", TERMS, "r2", days=1, criteria=TABLED)
    assert [one.is_open for one in cell("governing_law", "r2").decisions] == [False]
    assert [one.is_open for one in cell("expiry", "r2").decisions] == [True]
    notice = cell("notice", "r2")
    assert (notice.value, notice.program and notice.program.value) == ("P6M", "P4M")
    assert [one.is_open for one in notice.decisions] == [True]
    assert '<b class="flag">!</b>' in service.get("/runs/r2/table", headers=PAGE).text
    log = service.get("/runs/r2/decisions.json").json()
    assert [(row["kind"], row["criterion_id"], bool(row["document_id"])) for row in log] == [
        (DecisionKind.SIGN_OFF, "governing_law", True),
        (DecisionKind.SIGN_OFF, "expiry", True),
        (DecisionKind.OVERRIDE, "notice", True),
    ]


def test_the_table_is_a_workbook_and_json_too(service: httpx.Client, beta: Path, opener: Any) -> None:
    opener()("override", "notice", value="P6M", reason="side letter")
    book = openpyxl.load_workbook(io.BytesIO(service.get("/runs/r1/table.xlsx").content))
    cells = list(book["Cells"].values)
    assert any(row[1] == "Notice" and row[2] == "6 months" and "side letter" in str(row[6]) for row in cells)
    shown = service.get("/runs/r1/table.json", params={"columns": "contracts"}).json()
    assert shown["rows"][0]["cells"]["notice"]["by"] == "person"
    assert shown["rows"][0]["cells"]["expiry"]["quotes"][0]["verified"]
    assert "decisions" not in shown["rows"][0]["cells"]["expiry"]


def test_a_reader_looks_and_decides_nothing(service: httpx.Client, beta: Path, log_in: LogIn) -> None:
    add_person("rita", Role.READER)
    add_person("vera")
    address = f"/runs/r1/table/alpha.example/{table().rows[0].document_id}"
    assert service.get(address, headers=PAGE).status_code == 303
    reader = log_in("rita")
    page = reader.get(address)
    assert (page.status_code, "Approve" in page.text) == (200, False)
    sent = {"token": field(page.text, "token"), "criterion_id": "notice", "kind": "flag", "follows": "0"}
    assert reader.post(address, data=sent).status_code == 403
    assert cell("notice").decisions == []
