"""The workbook: every finding in a row, every text a text."""

import re
import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook

from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.reports import xlsx
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.rows import company, document, outcome, quote, write_company, write_run


def sheets(report: Report) -> dict[str, list[list[Any]]]:
    book = load_workbook(BytesIO(xlsx.render(report)))
    return {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}


def test_each_kind_of_finding_has_its_sheet() -> None:
    found = sheets(report_with_everything())
    assert list(found) == [
        *("Ranking", "Weights", "Criteria", "Quotes", "Contradictions", "To ask for"),
        *("Disagreeing sources", "Changes", "Warnings", "Documents", "Run"),
    ]
    ranking = found["Ranking"]
    assert ranking[0][6:9] == ["recurring", "established", "audited"]
    assert ranking[1][6:9] == ["=Weights!$B$2", "=Weights!$B$3", "=Weights!$B$4"]
    assert ranking[2][1:3] == ["Alpha", "alpha.example"]
    assert ranking[2][6:9] == [4, "unsupported", "missing"]
    assert [row[:3] for row in found["Weights"]] == [
        ["Criterion", "Weight", "Id"],
        ["recurring", 3, "recurring"],
        ["established", 1, "established"],
        ["audited", 2, "audited"],
    ]
    assert [row[1:4] for row in found["Criteria"][1:3]] == [
        ["recurring", "Is most of the revenue recurring?", "judged"],
        ["established", "founding year <= 2018", "fact"],
    ]
    assert found["Quotes"][1][2:8] == [
        *(1, "for", "proven: Words of a document.", "yes", "Words of a document..pdf", "page 14")
    ]
    assert found["Quotes"][2][5] == "no"
    assert found["Contradictions"][1][1:3] == ["about: Words of a document.", "one says: Words of a document."]
    assert found["To ask for"][1][1:] == [
        *("please send: Words of a document.", "one Words of a document. (near: Words of a document.)")
    ]
    assert [row[2] for row in found["Disagreeing sources"][1:]] == ["2014", "2016"]
    assert ["score moved", "recurring went from 3 to 4."] in [row[1:3] for row in found["Changes"]]
    assert [row[3] for row in found["Documents"][1:]] == ["failed", "empty", "read"]
    assert ["Budget", "0.50 USD"] in found["Run"]


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("http://x.example")', "+1", "@SUM(1)", "#N/A", HOSTILE, "a\x00\x0b\ufffe\ud800b"]
)
def test_text_is_never_a_formula_and_never_breaks_the_file(text: str) -> None:
    write_run("r1", [company("Alpha")])
    told = outcome("recurring", None, ScoreStatus.UNSCORED, reason=text)
    write_company("r1", "alpha.example", outcomes=[(told, [])], documents=[document("d", name="=1+1")])
    report = build("r1")
    report.companies[0].criteria[0].reason = text
    report.companies[0].warnings = [text]
    content = xlsx.render(report)
    book = load_workbook(BytesIO(content))
    cell = book["Criteria"]["J2"]
    assert cell.data_type in {"s", "inlineStr"}
    assert cell.value == (text if "\x00" not in text else "ab")
    assert book["Documents"]["B2"].value == "=1+1"
    with ZipFile(BytesIO(content)) as parts:
        sheets_after_the_ranking = [name for name in parts.namelist() if re.match(r"xl/worksheets/sheet(?!1\.)", name)]
        assert not any(b"<f>" in parts.read(name) for name in sheets_after_the_ranking)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_totals_follow_the_weights(tmp_path: Path) -> None:
    write_run("r1", [company("Alpha", total=0.65, coverage=4 / 6, rank=1), company("Beta", 1, domain="beta.example")])
    scored: list[tuple[CriterionOutcome, list[Quote]]] = [
        (outcome("recurring", 4, ScoreStatus.SCORED), []),
        (outcome("established", 1, ScoreStatus.SCORED), []),
        (outcome("audited", None, ScoreStatus.MISSING), []),
    ]
    write_company("r1", "alpha.example", outcomes=scored)
    write_company("r1", "beta.example", outcomes=[(outcome("audited", 5, ScoreStatus.SCORED), [])])
    book = load_workbook(BytesIO(xlsx.render(build("r1"))))

    def calculated() -> list[list[Any]]:
        book.save(tmp_path / "report.xlsx")
        profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        target = ["--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", str(tmp_path / "out")]
        command = ["soffice", profile, "--headless", *target, str(tmp_path / "report.xlsx")]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        sheet = load_workbook(tmp_path / "out" / "report.xlsx", data_only=True)["Ranking"]
        return [[cell.value for cell in row[:5]] for row in sheet.iter_rows(min_row=3)]

    alpha, beta = calculated()
    assert alpha == [2, "Alpha", "alpha.example", pytest.approx((3 * 4 + 1) / 20), pytest.approx(4 / 6)]
    assert beta == [1, "Beta", "beta.example", 1, pytest.approx(2 / 6)]
    book["Weights"]["B3"] = 97
    alpha, beta = calculated()
    assert alpha[3:] == [pytest.approx((3 * 4 + 97) / 500), pytest.approx(100 / 102)]


def test_only_web_addresses_are_links() -> None:
    book = load_workbook(BytesIO(xlsx.render(report_with_everything())))
    quotes = book["Quotes"]
    assert quotes["G2"].hyperlink.target == "http://127.0.0.1:8000/documents/accounts#page=14"
    assert quotes["G3"].hyperlink is None
    assert [row[1].hyperlink is not None for row in book["Documents"].iter_rows(min_row=2)] == [False, True, True]


def test_a_text_longer_than_a_cell_is_cut_and_says_so() -> None:
    write_run("r1", [company("Alpha")])
    scored = outcome("recurring", 4, ScoreStatus.SCORED)
    write_company("r1", "alpha.example", outcomes=[(scored, [quote("x" * 40_000)])])
    (row,) = sheets(build("r1"))["Quotes"][1:]
    assert len(row[4]) == 32_767
    assert row[4].endswith("(cut; the web page has all of it)")


def test_a_full_sheet_goes_on_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MOST_ROWS", 3)
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", documents=[document(f"d{number}") for number in range(5)])
    found = sheets(build("r1"))
    names = [[row[1] for row in found[title]] for title in ("Documents", "Documents 2", "Documents 3")]
    assert names == [["Document", "d0.pdf", "d1.pdf"], ["Document", "d2.pdf", "d3.pdf"], ["Document", "d4.pdf"]]
