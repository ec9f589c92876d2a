"""The pages of a run's evidence are drawn as the account of runs sees the drive: a run has no caller."""

from pathlib import Path

import pytest

from tasks.documents.drive.drive import Bearer, acting_as
from tests.google.credentials import authorised_user_file
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import point_at
from tests.tasks.evidence.test_boxes import content
from tests.tasks.reading.pdf import pdfs
from tests.tasks.reports.cited import draw, write_cited_run

ADA = "ada@example.com"
RECURRING = "Recurring revenue was 83 % of all revenue."


def test_a_run_on_a_drive_with_accounts_draws_its_pages(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DriveEmulator() as drive:
        room = drive.world.folder("Alpha", drive.world.root(ADA))
        objects = pdfs.one_page(b"")
        objects[3] = content((72, 700, RECURRING))
        drive.world.file("Accounts.pdf", room, pdfs.pdf(objects))
        point_at(drive, monkeypatch)
        monkeypatch.setenv("DILIGENCE_GOOGLE_CREDENTIALS", str(authorised_user_file(drive, tmp_path / "login", ADA)))
        with acting_as(Bearer(drive.token(ADA))):
            write_cited_run(room.id, {"Accounts.pdf": (RECURRING, "page 1")})
        assert draw() == []
    assert len(list((home / "evidence").glob("*/*.png"))) == 1
