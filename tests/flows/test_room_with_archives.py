"""A data room whose documents come in archives, from the index to the report and back to the document."""

import json
from pathlib import Path

import pytest

from flows.batch import batch
from flows.extract_all import extract_all
from tasks.documents.index import document_index
from tasks.documents.texts import document_text
from tasks.reports.report import build
from tests.flows.conftest import batch_file, write_room
from tests.tasks.documents.drive.archives.zips import zipped

__all__ = ["batch_file"]
pytestmark = pytest.mark.usefixtures("without_prefect")

LEASE = "The lease runs until 2031.\n"
RECURRING = "Ninety-five percent of the revenue of Beta is recurring, under contracts of three years.\n"


def test_members_of_archives_are_read_scored_and_quoted(
    batch_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = batch_file.parent / "rooms" / "beta"
    inner = zipped({"revenue.txt": RECURRING})
    (room / "Contracts.zip").write_bytes(zipped({"Lease.txt": LEASE, "2024/inner.zip": inner, "../evil.txt": "x"}))
    report = build(batch(batch_file, out=tmp_path / "out"))
    beta = next(company for company in report.companies if company.name == "Beta")
    assert {(document.document_name, document.status) for document in beta.documents} >= {
        ("Lease.txt", "read"),
        ("revenue.txt", "read"),
    }
    assert "'../evil.txt'" in " ".join(beta.warnings)
    recurring = next(criterion for criterion in beta.criteria if criterion.id == "recurring")
    (quote,) = {quote.document_id: quote for quote in recurring.quotes if quote.document_name == "revenue.txt"}.values()
    assert quote.text in RECURRING
    assert quote.document_id
    assert quote.document_url
    assert quote.document_id in quote.document_url
    assert "Contracts.zip/2024/inner.zip" in (tmp_path / "out" / "report.html").read_text()

    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(batch_file.parent))
    for reference in (quote.document_id, quote.document_url):
        assert document_text(reference).text == RECURRING
    again = build(batch(batch_file, out=tmp_path / "again"))
    beta = next(company for company in again.companies if company.name == "Beta")
    assert {document.status for document in beta.documents if document.document_name != "notes.pdf"} == {"unchanged"}


def test_an_archive_is_a_category_and_a_room(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "rooms"))
    write_room(tmp_path / "rooms", {"notes.txt": "words"})
    (tmp_path / "rooms" / "Alpha.zip").write_bytes(
        zipped({"b.txt": "b", "a.txt": "a", "Legal/lease.txt": LEASE, "Legal/Old/lease.txt": LEASE + "old"})
    )
    answer = document_index("root").answer()
    json.dumps(answer)
    own, alpha = answer["document_index"]
    assert [document["document_name"] for document in own["documents"]] == ["notes.txt"]
    assert (alpha["category"], [document["document_name"] for document in alpha["documents"]]) == (
        "Alpha.zip",
        ["a.txt", "b.txt"],
    )
    assert [folder["path"] for folder in alpha["subfolders"]] == ["Legal", "Legal/Old"]
    assert alpha["documents"][0]["document_url"].endswith(f"/file/d/{alpha['documents'][0]['document_id']}/view")
    assert extract_all("Alpha.zip") == {"read": 4}
    by_id = document_index(alpha["folder_id"]).answer()
    assert by_id["folder_name"] == "Alpha.zip"
    legal = by_id["document_index"][1]
    assert [document["document_name"] for document in legal["documents"]] == ["lease.txt"]
