"""A room with a scan in it, that of the sample batch: what a run reports with text recognition and without."""

import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from sqlmodel import select

from flows.batch import batch
from storage import database
from storage.texts import StoredPage
from tasks.reading.configuration import recognised
from tasks.reading.ocr.page import RecognisedPage, ScanState
from tasks.reading.ocr.recognise import Engines
from tasks.reports.models import CompanyReport
from tasks.reports.report import build

SAMPLE = Path(__file__).parents[2] / "deployments" / "sample"
SCAN = "Bank facility letter 2023 (scan).pdf"

pytestmark = pytest.mark.usefixtures("without_prefect")


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


def fail(_: object, engines: Engines) -> RecognisedPage:
    return RecognisedPage(ScanState.FAILED, engines.names[0])


def unread(run: str) -> int:
    """How many pages of the scan were not read."""
    (scan,) = [row for company in build(run).companies for row in company.documents if row.document_name == SCAN]
    return (scan.pages or 0) - (scan.pages_read or 0)


def quoted_page(company: CompanyReport) -> str:
    """What is quoted from the scan's second page."""
    return next(text for (_, place), text in quotes(company).items() if (place or "").startswith("page 2 (OCR, 9"))


def test_what_a_scan_says_is_quoted_as_recognised(fjordvarm: Path, tmp_path: Path) -> None:
    (company,) = build(batch(fjordvarm, out=tmp_path / "out")).companies
    status, warning = status_and_warning(company)
    assert status == "read"
    assert "OCR" in warning
    assert "the bank may call the whole loan" in quoted_page(company)
    assert "page 2 (OCR, 9" in (tmp_path / "out" / "report.html").read_text()


def test_a_run_reads_as_many_pages_as_it_may_and_the_next_goes_on(
    fjordvarm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_PAGES", "1")
    (company,) = build(batch(fjordvarm)).companies
    (scan,) = [document for document in company.documents if document.document_name == SCAN]
    assert (scan.status, scan.pages, scan.pages_read) == ("read", 2, 1)
    assert "1 of 2 pages were read" in (scan.warning or "")
    assert "DILIGENCE_OCR_PAGES" in (scan.warning or "")
    missing = [criterion for criterion in company.criteria if criterion.status == "missing"]
    assert {criterion.absence for criterion in missing} == {"unread"}
    assert all(f"{SCAN} (1 of 2 pages)" in criterion.reason for criterion in missing)
    (company,) = build(batch(fjordvarm)).companies
    (scan,) = [document for document in company.documents if document.document_name == SCAN]
    assert (scan.status, scan.pages_read) == ("read", 2)
    with database.reading() as session:
        assert len(session.exec(select(StoredPage)).all()) == 2, "the first page was not read again"


def test_pages_that_failed_are_read_again_when_asked_for(fjordvarm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.documents.texts.recognised", fail)
    assert unread(batch(fjordvarm)) == 2
    monkeypatch.setattr("tasks.documents.texts.recognised", recognised)
    assert unread(batch(fjordvarm)) == 2, "what fails is not tried each time"
    assert unread(batch(fjordvarm, retry_failed=True)) == 0


def test_a_scan_is_read_in_the_run_after_recognition_came(fjordvarm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    (company,) = build(batch(fjordvarm)).companies
    status, warning = status_and_warning(company)
    assert status == "empty"
    assert "DILIGENCE_OCR is off" in warning
    assert quotes(company) == {}
    monkeypatch.delenv("DILIGENCE_OCR")
    (company,) = build(batch(fjordvarm)).companies
    others = {document.status for document in company.documents if document.document_name != SCAN}
    assert (status_and_warning(company)[0], others) == ("read", {"unchanged"})
    assert quoted_page(company)
