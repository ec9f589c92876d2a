"""No way out of the local root: links, forged ids, hidden things and the service's own home."""

from pathlib import Path

import pytest

from tasks.documents.drive.local.drive import LocalDrive, Tree
from tasks.errors import NotFound
from tests.tasks.documents.drive.local.room import BASE, forged, listed, only, write


@pytest.mark.parametrize("name", [".env", "~$contract.docx", "Thumbs.db", "THUMBS.DB", "desktop.ini", ".git/config"])
def test_hidden_and_lock_files_are_not_there(root: Path, name: str) -> None:
    write(root / name)
    write(root / "sub" / name)
    listing = listed(root)
    assert (listing.documents, listing.warnings) == ([], [])
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).document(forged(name))
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).open(forged(f"sub/{name}"))


@pytest.mark.parametrize(
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
    assert (listing.documents, listing.folders) == ([], [])
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
    assert listing.documents == []
    assert listing.warnings == ["Left out: 'notes.txt' is a link to something hidden."]


def test_a_link_to_itself_is_left_out_with_a_warning(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "there").symlink_to("back")
    (root / "back").symlink_to("there")
    listing = listed(root)
    assert listing.documents == []
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
