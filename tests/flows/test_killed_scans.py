"""A run that is killed among the scanned pages of a room goes on where it stopped; no page is read twice."""

import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest
from sqlmodel import select

from storage import database
from storage.runs import Run
from storage.texts import StoredPage
from tasks.reports.report import build
from tests.tasks.reading.ocr.scans import needs_tesseract, picture, scan

PAGES = 12


def pages() -> dict[tuple[str, str], datetime]:
    """When each page was read."""
    with database.reading() as session:
        return {(page.content_hash, page.page): page.created_at for page in session.exec(select(StoredPage))}


@needs_tesseract
@pytest.mark.slow
@pytest.mark.nightly  # a minute and more
@pytest.mark.timeout(900)
def test_a_run_killed_twice_among_its_scans_is_finished(home: Path, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    drawn = [picture(f"Page {number} says that revenue was EUR {number},400,000.\n" * 12) for number in range(PAGES)]
    scan(room / "long.pdf", drawn[4:])
    for number, page in enumerate(drawn[:4]):
        scan(room / f"{number}.pdf", [page])
    (tmp_path / "criteria.yaml").write_text("scale: [0, 5]\ncriteria: [{id: lease, document: lease agreement}]\n")
    (tmp_path / "batch.yaml").write_text(
        "name: Scans\ncriteria: criteria.yaml\nfact_sources: [files]\ndrive_root: .\n"
        "companies: [{name: A, domain: a.example, folder: room}]\n"
    )
    command = [
        str(Path(sys.executable).with_name("diligence")),
        "run",
        str(tmp_path / "batch.yaml"),
        "--out",
        str(tmp_path),
    ]
    environment = os.environ | {"DILIGENCE_OCR_ENGINE": "tesseract", "PYTHONPATH": str(Path(__file__).parents[2])}
    before: dict[tuple[str, str], datetime] = {}
    for _ in range(2):
        with subprocess.Popen(command, env=environment, start_new_session=True) as run:
            deadline = time.monotonic() + 300
            while len(pages()) < len(before) + 3:
                assert run.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.2)
            os.killpg(run.pid, signal.SIGKILL)
        now = pages()
        assert before.items() <= now.items(), "what was read is kept as it was"
        before = now
    assert len(before) < PAGES
    subprocess.run(command, env=environment, check=True, timeout=500)
    assert before.items() <= pages().items(), "and not read again"
    assert len(pages()) == PAGES
    with database.reading() as session:
        (run_id,) = session.exec(select(Run.id)).all()
    (company,) = build(run_id).companies
    assert {(document.pages, document.pages_read) for document in company.documents} == {(1, 1), (8, 8)}
