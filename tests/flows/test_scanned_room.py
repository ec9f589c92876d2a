"""A room with a scan in it, that of the sample batch: what a run reports with text recognition and without."""

import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from flows.batch import batch
from tasks.reports.models import CompanyReport
from tasks.reports.report import build
from tests.tasks.reading.ocr.scans import needs_tesseract

SAMPLE = Path(__file__).parents[2] / "deployments" / "sample"
SCAN = "Bank facility letter 2023 (scan).pdf"

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def fjordvarm(home: Path, tmp_path: Path) -> Path:
    """A batch of the sample's company that has the scan among its contracts."""
    contracts = Path("rooms", "fjordvarm", "03 Contracts")
    shutil.copytree(SAMPLE / contracts, tmp_path / contracts)
    shutil.copytree(SAMPLE / "facts", tmp_path / "facts")
    for file in ("criteria.yaml", "concepts.toml"):
        shutil.copy(SAMPLE / file, tmp_path)
    (tmp_path / "batch.yaml").write_text(
        dedent("""
            name: Scan
            criteria: criteria.yaml
            fact_sources: [files]
            figure_concepts: concepts.toml
            drive_root: .
            companies:
              - {name: Fjordvarm, domain: fjordvarm.example, folder: rooms/fjordvarm}
        """)
    )
    return tmp_path / "batch.yaml"


def quotes(company: CompanyReport) -> dict[tuple[str, str | None], str]:
    """What is quoted from the scan, by criterion and place."""
    return {
        (criterion.id, quote.place): " ".join(quote.text.split())
        for criterion in company.criteria
        for quote in criterion.quotes
        if quote.document_name == SCAN
    }


def status_and_warning(company: CompanyReport) -> tuple[str, str]:
    (scan,) = [document for document in company.documents if document.document_name == SCAN]
    return scan.status, scan.warning or ""


@needs_tesseract
def test_what_a_scan_says_is_quoted_as_recognised(fjordvarm: Path, tmp_path: Path) -> None:
    (company,) = build(batch(fjordvarm, out=tmp_path / "out")).companies
    status, warning = status_and_warning(company)
    assert status == "read"
    assert "OCR" in warning
    assert "the bank may call the whole loan" in quotes(company)["change_of_control", "page 2 (OCR)"]
    assert "page 2 (OCR)" in (tmp_path / "out" / "report.html").read_text()


def test_a_scan_that_is_not_recognised_is_empty_and_told(fjordvarm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    (company,) = build(batch(fjordvarm)).companies
    status, warning = status_and_warning(company)
    assert status == "empty"
    assert "tesseract-ocr" in warning
    assert quotes(company) == {}


@needs_tesseract
def test_a_scan_is_read_in_the_run_after_recognition_came(fjordvarm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    batch(fjordvarm)
    monkeypatch.delenv("DILIGENCE_OCR")
    (company,) = build(batch(fjordvarm)).companies
    others = {document.status for document in company.documents if document.document_name != SCAN}
    assert (status_and_warning(company)[0], others) == ("read", {"unchanged"})
    assert ("change_of_control", "page 2 (OCR)") in quotes(company)
