"""What the service's account may not open: named, and the rest goes on."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.documents.drive.local.drive import LocalDrive
from tasks.errors import NotConfigured, NotFound
from tests.tasks.documents.drive.conftest import unprivileged
from tests.tasks.documents.drive.local.room import BASE, listed, only, write


@pytest.fixture
def open_root() -> Iterator[Path]:
    """A root that every account may enter, as pytest's own folder may not be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


def test_a_folder_that_may_not_be_opened_makes_the_index_incomplete(home: Path, open_root: Path) -> None:
    write(open_root / "a.txt")
    write(open_root / "closed/b.txt")
    (open_root / "closed").chmod(0)
    with unprivileged():
        listing = listed(open_root)
    assert [document.name for document in listing.documents] == ["a.txt"]
    assert [folder.name for folder in listing.folders] == ["closed"]
    assert listing.incomplete
    assert listing.warnings == ["The folder 'closed' cannot be opened: its contents are left out."]


def test_a_file_that_may_not_be_read_is_listed_and_not_found(home: Path, open_root: Path, tmp_path: Path) -> None:
    write(open_root / "a.txt").chmod(0)
    document = only(open_root)
    with unprivileged(), pytest.raises(NotFound):
        LocalDrive(open_root, BASE).fetch(document.id, tmp_path, 100)


def test_a_file_in_a_folder_that_is_closed_later_is_not_found(home: Path, open_root: Path) -> None:
    write(open_root / "sub/a.txt")
    document = only(open_root)
    (open_root / "sub").chmod(0)
    with unprivileged(), pytest.raises(NotFound):
        LocalDrive(open_root, BASE).document(document.id)


def test_a_root_behind_a_closed_folder_is_named_by_its_setting(home: Path, open_root: Path) -> None:
    (open_root / "closed/root").mkdir(parents=True)
    (open_root / "closed").chmod(0)
    with unprivileged(), pytest.raises(NotConfigured, match="DILIGENCE_DRIVE_ROOT"):
        LocalDrive(open_root / "closed/root", BASE)
