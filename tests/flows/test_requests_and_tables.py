"""A batch with a request list and columns: what the report, the files beside it and the commands say."""

import json
from io import BytesIO
from pathlib import Path
from typing import get_args

import openpyxl
import pytest

from deployments.init import Template, init
from deployments.operations import table
from flows.batch import batch
from flows.batch_definition import BatchDefinition
from flows.batch_file import read_batch
from tasks.errors import BadRequest
from tasks.reading import read_document
from tasks.reports.files import render
from tasks.reports.report import build
from tests.flows.conftest import batch_file, write_room

__all__ = ["batch_file"]
CONTRACT = (
    'CUSTOMER AGREEMENT\nThis Agreement is made as of March 1, 2024 (the "Effective Date") by and between\n'
    'Beta Ltd., an English company ("Supplier"), and Koskinen Oy ("Customer").\n\n'
    "This Agreement shall continue in force until December 31, 2026. It renews automatically for successive one\n"
    "(1) year terms unless a party gives sixty (60) days prior written notice.\n\n"
    "Customer may terminate this Agreement upon a change of control of Supplier.\n\n"
    "This Agreement is governed by the laws of Finland.\n"
)
CUSTOMERS = "Customer,Revenue 2024 (EUR)\nKoskinen Oy,1200000\nOthers,3000000\n"


def with_requests(file: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["No.", "Request", "Status", "Data room reference", "Comments"],
        ["1", "Finance"],
        ["1.1", "Audited financial statements 2023 and 2024"],
        ["1.2", "Cap table"],
        ["2", "Commercial"],
        ["2.1", "Customer contracts", "=1+1"],
    ):
        sheet.append(row)
    book.save(file.parent / "list.xlsx")
    file.write_text(file.read_text() + "requests: list.xlsx\n")
    criteria = file.parent / "criteria.yaml"
    criteria.write_text(criteria.read_text() + "table: contracts\n")
    accounts = (
        "AUDITED FINANCIAL STATEMENTS\nfor the year ended 31 December 2024\nIn our opinion, true and fair view.\n"
    )
    write_room(
        file.parent / "rooms" / "beta",
        {"Audited accounts 2024.txt": accounts, "Koskinen contract.txt": CONTRACT, "menu.txt": "Soup and pasta."},
    )


@pytest.mark.usefixtures("without_prefect")
def test_a_run_answers_its_request_list_and_its_columns(batch_file: Path, tmp_path: Path) -> None:
    with_requests(batch_file)
    report = build(batch(batch_file, out=tmp_path / "out"))
    beta = next(company for company in report.companies if company.name == "Beta")
    assert [(row.number, row.status, row.why) for row in beta.requests] == [
        ("1.1", "partly", "without 2023"),
        ("1.2", "missing", None),
        ("2.1", "received", None),
        (None, "unexpected", None),
    ]
    assert {"requests.xlsx", "requests.docx", "requests"} <= {path.name for path in (tmp_path / "out").iterdir()}
    filled = openpyxl.load_workbook(tmp_path / "out" / "requests" / "beta.example.xlsx").worksheets[0]
    assert (filled["C3"].value, filled["E3"].value) == ("Partly", "Without 2023")
    assert "Audited accounts 2024.txt" in filled["D3"].value
    assert filled["C6"].value == "=1+1"  # what is there already stays
    assert "cap table" in read_document(tmp_path / "out" / "requests.docx", ".docx").text.casefold()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Requests: 1 received, 1 partly, 1 missing, 1 unexpected" in page

    (contracts,) = beta.tables
    (row,) = contracts.rows
    values = {name: cell.value for name, cell in row.cells.items() if cell.value is not None}
    assert values == {
        "parties": ["Beta Ltd.", "Koskinen Oy"],
        "agreement_date": "2024-03-01",
        "effective_date": "2024-03-01",
        "expiry": "2026-12-31",
        "renewal": "P1Y",
        "notice": "P60D",
        "governing_law": "Finland",
        "change_of_control": True,
    }
    assert all(cell.quotes and cell.quotes[0].place for cell in row.cells.values() if cell.value is not None)
    assert row.cells["liability_cap"].absence == "silent"
    assert [(entry.day, entry.event) for entry in contracts.calendar] == [
        ("2026-11-01", "notice"),
        ("2026-12-31", "expiry"),
    ]
    assert "2026-11-01" in page
    workbook = openpyxl.load_workbook(BytesIO(render(report, "xlsx")))
    assert {"Requests", "Table Beta", "Cells Beta", "Calendar Beta"} <= set(workbook.sheetnames)


def test_a_deployed_batch_takes_its_list_and_columns_along(batch_file: Path) -> None:
    with_requests(batch_file)
    read = read_batch(batch_file)
    again = BatchDefinition.model_validate_json(BatchDefinition.of(read).model_dump_json()).batch()
    assert again.requests == read.requests
    assert again.criteria.table == read.criteria.table
    assert again.fingerprint("a") == read.fingerprint("a")


def test_mistakes_of_a_request_list_are_told_with_those_of_the_batch(batch_file: Path) -> None:
    batch_file.write_text(batch_file.read_text() + "requests: missing.xlsx\n")
    with pytest.raises(BadRequest, match=r"line \d+, requests: there is no file missing.xlsx"):
        read_batch(batch_file)
    (batch_file.parent / "missing.xlsx").write_text("no workbook")
    with pytest.raises(BadRequest, match=r"missing\.xlsx: the request list cannot be opened as a workbook"):
        read_batch(batch_file)


def test_the_table_command_weighs_clauses_by_the_ledger(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_room(tmp_path / "room", {"Koskinen contract.txt": CONTRACT, "Customer list.csv": CUSTOMERS})
    table(str(tmp_path / "room"), "contracts", "json")
    answer = json.loads(capsys.readouterr().out)
    assert [row["document_name"] for row in answer["rows"]] == ["Koskinen contract.txt"]
    cell = answer["rows"][0]["cells"]["governing_law"]
    assert (cell["value"], cell["by"], cell["quotes"][0]["verified"]) == ("Finland", "text", True)
    assert [(stake["party"], stake["clause"]) for stake in answer["at_stake"]] == [("Koskinen Oy", "change_of_control")]
    table(str(tmp_path / "room"), "contracts", "csv")
    assert "Beta Ltd.; Koskinen Oy" in capsys.readouterr().out
    table(str(tmp_path / "room"), "leases")
    assert "No document is of a kind" in capsys.readouterr().err


@pytest.mark.parametrize("template", get_args(Template))
def test_init_writes_files_that_a_run_can_read(home: Path, tmp_path: Path, template: Template) -> None:
    write_room(tmp_path / "Deal", {"Alpha GmbH/a.txt": "a", "Bëta: no/b.txt": "b", ".git/x": ""})
    init(template, tmp_path / "Deal")
    read = read_batch(tmp_path / "Deal" / "batch.yaml")
    assert [(company.name, company.domain) for company in read.companies] == [
        ("Alpha GmbH", "alpha-gmbh.example"),
        ("Bëta: no", "beta-no.example"),
    ]
    assert len(read.criteria.criteria) > 20
    assert read.requests is not None
    assert len(read.requests.items) > 10
    with pytest.raises(BadRequest, match=r"already has batch.yaml, criteria.yaml, requests.yaml\."):
        init(template, tmp_path / "Deal")


def test_init_takes_a_numbered_room_for_one_company(home: Path, tmp_path: Path) -> None:
    write_room(tmp_path / "Alpha", {"01 Corporate/a.txt": "a", "02 Finance/b.txt": "b"})
    init("venture", tmp_path / "Alpha")
    (company,) = read_batch(tmp_path / "Alpha" / "batch.yaml").companies
    assert (company.name, company.folder) == ("Alpha", ".")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadRequest, match="holds no data room"):
        init("venture", tmp_path / "empty")
