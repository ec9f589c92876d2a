"""Documents of runs that were made under another root than the drive has now."""

import shutil
from pathlib import Path

import pytest

from tasks.documents.drive.registry import drive_to_open_again, open_drive
from tasks.documents.texts import document_text
from tasks.errors import NotFound
from tests.tasks.documents.drive.archives.zips import zipped
from tests.tasks.reports.rows import company, document, write_company, write_run

TERM = "The lease runs until 2031.\n"


@pytest.fixture
def rooms(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with two documents, one in an archive; the drive has another root."""
    (tmp_path / "rooms" / "alpha").mkdir(parents=True)
    (tmp_path / "rooms" / "alpha" / "lease.txt").write_text(TERM)
    (tmp_path / "rooms" / "alpha" / "old.zip").write_bytes(zipped({"annex.txt": "An annex.\n"}))
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(tmp_path / "here"))
    return tmp_path / "rooms"


def run_under(root: Path, *left_out: str) -> dict[str, str]:
    """Keep a run of the documents under a root; gives their ids by name."""
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("DILIGENCE_DRIVE_ROOT", str(root))
        ids = {found.name: found.id for found in open_drive().list_folder("root", recursive=True).documents}
        write_run("r1", [company("Alpha")], drive=drive_to_open_again())
    listed = [document(ids[name], name=name) for name in ids if name not in left_out]
    write_company("r1", "alpha.example", documents=listed)
    return ids


def test_a_document_of_a_run_is_found_under_the_root_of_the_run(rooms: Path) -> None:
    ids = run_under(rooms)
    for reference in (ids["lease.txt"], open_drive().document(ids["lease.txt"]).url):
        assert document_text(reference).text == TERM
    assert document_text(ids["annex.txt"]).text == "An annex.\n"
    assert open_drive().local_path(ids["annex.txt"]) == rooms / "alpha" / "old.zip"


def test_a_root_opens_nothing_but_what_a_run_listed(rooms: Path) -> None:
    ids = run_under(rooms, "lease.txt")
    with pytest.raises(NotFound):
        open_drive().document(ids["lease.txt"])
    assert open_drive().document(ids["annex.txt"]).name == "annex.txt"


def test_what_lies_under_the_drives_own_root_comes_first(rooms: Path, tmp_path: Path) -> None:
    ids = run_under(rooms)
    (tmp_path / "here" / "alpha").mkdir()
    (tmp_path / "here" / "alpha" / "lease.txt").write_text("Another one.\n")
    assert document_text(ids["lease.txt"]).text == "Another one.\n"


def test_a_root_that_is_gone_holds_nothing(rooms: Path) -> None:
    ids = run_under(rooms)
    shutil.rmtree(rooms)
    with pytest.raises(NotFound):
        open_drive().document(ids["lease.txt"])
