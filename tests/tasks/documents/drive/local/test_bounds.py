"""No way out of the local root: links, forged ids, hidden things and the service's own home.

Documents of runs that were made under another root than the drive has now.

What the service's account may not open: named, and the rest goes on.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.documents.drive.local.drive import LocalDrive, Tree
from tasks.documents.drive.registry import drive_to_open_again, open_drive
from tasks.documents.texts import document_text
from tasks.errors import NotConfigured, NotFound
from tests.cases import cases
from tests.tasks.documents.drive.archives.zips import zipped
from tests.tasks.documents.drive.conftest import unprivileged
from tests.tasks.documents.drive.local.room import BASE, forged, listed, only, write
from tests.tasks.reports.rows import company, document, write_company, write_run


@pytest.mark.parametrize("name", [".env", "~$contract.docx", "Thumbs.db", "THUMBS.DB", "desktop.ini", ".git/config"])
def test_hidden_and_lock_files_are_not_there(root: Path, name: str) -> None:
    write(root / name)
    write(root / "sub" / name)
    listing = listed(root)
    assert (list(listing.documents), listing.warnings) == ([], [])
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).document(forged(name))
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).open(forged(f"sub/{name}"))


@cases(
    "path",
    ["..", "../secret.txt", "sub/../../secret.txt", "/etc/passwd", "//etc/passwd", "./a.txt", "sub//a.txt", "sub/",
     "sub/./a.txt", ".", "", "a.txt\0", "\0", "../root/a.txt", "sub/../a.txt"],
)  # fmt: skip
def test_a_forged_id_leads_nowhere(root: Path, path: str, tmp_path: Path) -> None:
    write(tmp_path / "secret.txt")
    write(root / "a.txt")
    write(root / "sub/a.txt")
    drive = LocalDrive(root, BASE)
    for call in (drive.document, drive.open, drive.find_folder):
        with pytest.raises(NotFound):
            call(forged(path))
    with pytest.raises(NotFound):
        drive.list_folder(forged(path), recursive=True)


def test_only_one_spelling_of_an_id_is_taken(root: Path) -> None:
    write(root / "aaa?>.txt")
    good = only(root).id
    drive = LocalDrive(root, BASE)
    assert drive.document(good).name == "aaa?>.txt"
    spellings = {
        good + "=",
        good + "==",
        good[1:],
        good + "A",
        good.lower(),
        f" {good}",
        good.replace("_", "/").replace("-", "+"),
    }
    for other in spellings - {good}:
        with pytest.raises(NotFound):
            drive.document(other)


def test_a_link_that_leaves_the_root_is_left_out_with_a_warning(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret.txt")
    (root / "file.txt").symlink_to(tmp_path / "secret.txt")
    (root / "relative.txt").symlink_to("../secret.txt")
    (root / "folder").symlink_to(tmp_path)
    listing = listed(root)
    assert (list(listing.documents), listing.folders) == ([], [])
    assert len(listing.warnings) == 3
    assert all("leaves the drive's root" in warning for warning in listing.warnings)
    assert str(tmp_path) not in "".join(listing.warnings)
    for name in ("file.txt", "relative.txt", "folder/secret.txt"):
        with pytest.raises(NotFound):
            LocalDrive(root, BASE).open(forged(name))


def test_a_link_to_a_link_counts_by_where_it_ends(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret.txt")
    write(root / "real.txt")
    (root / "step").symlink_to(tmp_path / "secret.txt")
    (root / "out").symlink_to("step")
    (root / "in").symlink_to("in again")
    (root / "in again").symlink_to("real.txt")
    listing = listed(root)
    assert [document.name for document in listing.documents] == ["real.txt"]
    assert len(listing.warnings) == 2


def test_a_link_to_something_hidden_is_left_out_with_a_warning(root: Path) -> None:
    write(root / ".private/notes.txt")
    (root / "notes.txt").symlink_to(".private/notes.txt")
    listing = listed(root)
    assert not listing.documents
    assert listing.warnings == ["Left out: 'notes.txt' is a link to something hidden."]


def test_a_link_to_itself_is_left_out_with_a_warning(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "there").symlink_to("back")
    (root / "back").symlink_to("there")
    listing = listed(root)
    assert not listing.documents
    assert len(listing.warnings) == 3
    assert all("a link to something that is not there" in warning for warning in listing.warnings)
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).document(forged("loop"))


def test_an_id_of_a_link_within_the_root_leads_to_its_target(root: Path) -> None:
    write(root / "real.txt")
    (root / "link.txt").symlink_to("real.txt")
    assert LocalDrive(root, BASE).document(forged("link.txt")).id == forged("real.txt")


def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(root: Path, tmp_path: Path) -> None:
    write(root / "sub/a.txt")
    write(tmp_path / "outside/a.txt", b"secret")
    tree = Tree(str(root))
    real = tree.resolve(forged("sub/a.txt"))
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match=r"."):
        tree.open(real)


def test_the_services_own_home_is_not_part_of_the_drive(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_HOME", str(root / "kept"))
    write(root / "kept/diligence.db")
    write(root / "kept too/a.txt")
    assert [document.path for document in listed(root).documents] == ["kept too"]
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).open(forged("kept/diligence.db"))


@pytest.mark.parametrize("home", [".", ".."])
def test_a_home_around_the_documents_hides_only_what_the_service_keeps(
    root: Path, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_HOME", str(root / home))
    for kept in ("diligence.db", "diligence.db-wal", "diligence.db.0a1b2c3d.lock", "secret.key"):
        write(root / home / kept)
    write(root / home / "spool/1-x/file")
    write(root / home / "evidence/ab/page.webp")
    write(root / "rooms/a.txt")
    assert [document.path for document in listed(root).documents] == ["rooms"]


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
