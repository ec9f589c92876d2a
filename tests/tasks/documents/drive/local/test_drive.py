"""What is particular to the local folder: its root, its ids, odd files and names. Its bounds: test_bounds.py."""

import base64
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tasks.documents.drive.local import drive as local
from tasks.documents.drive.local.drive import LocalDrive, hash_content, utc_time
from tasks.errors import NotConfigured, NotFound, TooLarge, Unavailable
from tests.cases import cases
from tests.tasks.documents.drive.local.room import BASE, content, forged, listed, only, write


def test_the_roots_id_is_root(root: Path) -> None:
    drive = LocalDrive(root, BASE)
    assert drive.list_folder("root", recursive=True).folder.id == "root"
    assert [drive.find_folder(given) for given in ("root", ".", str(root), f"{BASE}/folders/root")] == ["root"] * 4


def test_a_documents_url_is_absolute_and_contains_its_id(root: Path) -> None:
    write(root / "a b.pdf")
    document = only(root)
    assert document.url == f"{BASE}/file/d/{document.id}/view"
    drive = LocalDrive(root, "https://dd.example/")
    assert drive.document(document.id).url == f"https://dd.example/file/d/{document.id}/view"


def test_ids_are_safe_in_urls_and_tell_no_path_above_the_root(root: Path) -> None:
    write(root / "Ümsätze/a?b#c%20.pdf")
    document_id = only(root).id
    assert document_id.replace("-", "").replace("_", "").isalnum()
    assert str(root) not in base64.urlsafe_b64decode(document_id[1:] + "==").decode()


def test_entries_of_a_folder_come_in_order_of_name(root: Path) -> None:
    for name in ("b.txt", "Z.txt", "a.txt", "ä.txt", "10.txt", "9.txt"):
        write(root / name)
    assert [document.name for document in listed(root).documents] == [
        "10.txt",
        "9.txt",
        "Z.txt",
        "a.txt",
        "b.txt",
        "ä.txt",
    ]


def test_a_room_that_lies_in_another_folder_is_named(root: Path) -> None:
    write(root / "rooms" / "alpha" / "a.txt")
    write(root / "rooms" / ".beta" / "b.txt")
    write(root.parent / "outside" / "gamma" / "c.txt")
    (root / "link").symlink_to(root.parent / "outside")
    drive = LocalDrive(root, BASE)
    with pytest.raises(NotFound, match=r"Did you mean rooms/alpha\?"):
        drive.find_folder("alpha")
    for name in (".beta", "gamma", "lpha", "../alpha", "*"):
        with pytest.raises(NotFound) as unknown:
            drive.find_folder(name)
        assert "Did you mean" not in str(unknown.value)


def test_what_is_neither_file_nor_folder_is_left_out_with_a_warning(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe.txt")
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.txt")
        (root / "link.txt").symlink_to("pipe.txt")
        listing = listed(root)
    assert not listing.documents
    assert listing.warnings == [
        "Left out: 'pipe.txt' is neither a file nor a folder.",
        "Left out: 'socket.txt' is neither a file nor a folder.",
        "Left out: 'link.txt' is neither a file nor a folder.",
    ]
    with pytest.raises(NotFound):
        LocalDrive(root, BASE).document(forged("pipe.txt"))
    with pytest.raises(NotFound):  # and no waiting for somebody to write
        LocalDrive(root, BASE).open(forged("pipe.txt"))


def test_a_name_that_is_no_text_is_shown_with_marks_and_can_be_read(root: Path) -> None:
    file = os.fsencode(root) + b"/caf\xe9 \xff.txt"
    Path(os.fsdecode(file)).write_bytes(b"words")
    document = only(root)
    assert document.name == "caf\ufffd \ufffd.txt"
    assert content(root, document.id) == b"words"
    assert document.name.encode(), "JSON and databases take it"


def test_two_names_that_look_the_same_are_two_documents(root: Path) -> None:
    for name in (b"\xfe.txt", b"\xff.txt"):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    first, second = listed(root).documents
    assert first.name == second.name
    assert content(root, first.id) != content(root, second.id)


def test_a_tree_deeper_than_a_path_may_be_is_listed_as_far_as_it_goes(root: Path) -> None:
    before = Path.cwd()
    try:
        os.chdir(root)
        for _ in range(30):
            Path("x" * 200).mkdir()
            os.chdir("x" * 200)
    finally:
        os.chdir(before)
    listing = listed(root)
    assert listing.incomplete
    assert len(listing.folders) > 15
    (warning,) = listing.warnings
    assert "cannot be reached" in warning


@cases("moment", [2**38, -(2**37), 2**63])
def test_times_that_no_calendar_has_are_unknown(moment: float) -> None:
    """The year 10680 and one before Christ: few file systems keep them, so that no file can be made for this."""
    assert utc_time(moment) is None


@pytest.mark.parametrize(
    ("name", "mime_type"),
    [
        ("a.PDF", "application/pdf"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.txt", "text/plain"),
        ("a.pdf.gz", "application/gzip"),
        ("data:text%html,x", "text/plain"),
    ],
)
def test_the_type_is_told_by_the_name(root: Path, name: str, mime_type: str) -> None:
    write(root / name)
    assert only(root).mime_type == mime_type


def test_a_root_that_is_missing_or_a_file_is_named_by_its_setting(root: Path) -> None:
    for wrong in (root / "missing", write(root / "file.txt")):
        with pytest.raises(NotConfigured, match="DILIGENCE_DRIVE_ROOT") as raised:
            LocalDrive(wrong, BASE)
        assert str(root) not in raised.value.message


def test_a_root_that_is_a_link_is_the_folder_behind_it(root: Path, tmp_path: Path) -> None:
    write(root / "a.txt")
    (tmp_path / "link").symlink_to(root)
    behind, direct = LocalDrive(tmp_path / "link", BASE), LocalDrive(root, BASE)
    assert behind.name == direct.name
    (document,) = behind.list_folder("root", recursive=True).documents
    assert document == direct.document(document.id)
    assert content(tmp_path / "link", document.id) == b"words"
    assert behind.find_folder(str(tmp_path / "link")) == "root"


def test_a_root_that_goes_away_is_not_found(root: Path) -> None:
    drive = LocalDrive(root, BASE)
    root.rmdir()
    with pytest.raises(NotFound):
        drive.list_folder("root", recursive=True)


def test_other_roots_are_other_drives(root: Path, tmp_path: Path) -> None:
    assert LocalDrive(root, BASE).name != LocalDrive(tmp_path, BASE).name


def test_a_folder_by_its_path(root: Path) -> None:
    write(root / " odd /Ümsätze/a.txt")
    drive = LocalDrive(root, BASE)
    odd = drive.find_folder(" odd ")
    assert drive.list_folder(odd, recursive=False).folder.name == " odd "
    assert drive.find_folder(" odd /Ümsätze") == drive.find_folder(str(root / " odd /Ümsätze/"))
    with pytest.raises(NotFound, match=r"No folder ' odd /Ümsätze/a.txt' .* That is a file\..* DILIGENCE_DRIVE_ROOT"):
        drive.find_folder(" odd /Ümsätze/a.txt")


def test_a_full_spool_is_not_the_documents_fault(root: Path) -> None:
    write(root / "a.txt")
    with pytest.raises(Unavailable, match="DILIGENCE_HOME"):
        LocalDrive(root, BASE).fetch(only(root).id, root / "no such spool", 100)


def test_a_document_that_grows_while_it_is_copied_meets_the_limit_too(root: Path, tmp_path: Path) -> None:
    write(root / "a.txt", b"x" * 200)
    with pytest.raises(TooLarge):
        LocalDrive(root, BASE).fetch(only(root).id, tmp_path, 100)


def test_what_changed_a_moment_ago_is_not_relied_on_yet(root: Path, tmp_path: Path) -> None:
    """The clock of files ticks: a second change at once would look like none."""
    drive = LocalDrive(root, BASE)
    for _ in range(20):  # on a machine that stalls, the moment may be over
        write(root / "a.txt")
        if drive.fetch(only(root).id, tmp_path, 100).version != only(root).version:
            break
    else:
        pytest.fail("it was relied on at once")
    time.sleep(0.06)
    with drive.fetch(only(root).id, tmp_path, 100) as fetched:
        assert fetched.version == only(root).version


def test_what_changes_while_it_is_copied_is_looked_at_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(root / "a.txt")
    time.sleep(0.06)

    def disturbed(*given: Any) -> str:
        hashed = hash_content(*given)
        with file.open("ab") as other:
            other.write(b" and more")
        return hashed

    monkeypatch.setattr(local, "hash_content", disturbed)
    drive = LocalDrive(root, BASE)
    with drive.fetch(only(root).id, tmp_path, 100) as fetched:
        assert fetched.version != only(root).version


def _lying_still(root: Path) -> tuple[Path, str]:
    """A document that nobody wrote lately, and its id."""
    file = write(root / "a.txt", b"one")
    time.sleep(0.06)
    return file, only(root).id


def test_a_document_that_lies_still_is_read_where_it_lies(root: Path, tmp_path: Path) -> None:
    file, document_id = _lying_still(root)
    spool = tmp_path / "spool"
    spool.mkdir()
    with LocalDrive(root, BASE).fetch(document_id, spool, 100) as fetched:
        assert (fetched.path.read_bytes(), list(spool.iterdir()), fetched.is_unchanged()) == (b"one", [], True)
        program = "import sys; sys.stdout.write(open(sys.argv[1]).read())"  # as a reading process does
        words = [sys.executable, "-c", program, str(fetched.path)]
        assert subprocess.run(words, capture_output=True, check=True, text=True).stdout == "one"
    assert file.read_bytes() == b"one"
    assert not fetched.path.exists()


def test_what_is_put_in_its_place_is_not_read_for_it(root: Path, tmp_path: Path) -> None:
    file, document_id = _lying_still(root)
    with LocalDrive(root, BASE).fetch(document_id, tmp_path, 100) as fetched:
        file.unlink()
        file.write_bytes(b"two")
        assert fetched.path.read_bytes() == b"one"
        assert not fetched.is_unchanged()


def test_a_change_while_it_is_read_is_noticed(root: Path, tmp_path: Path) -> None:
    file, document_id = _lying_still(root)
    with LocalDrive(root, BASE).fetch(document_id, tmp_path, 100) as fetched:
        file.write_bytes(b"two")
        assert not fetched.is_unchanged()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("Contract v1.2", b"%PDF-1.4\n", "application/pdf"),
        ("Letter", b"{\\rtf1 Rent}", "application/rtf"),
        ("Page", b"<!DOCTYPE html><p>Rent", "text/html"),
        ("Inbox", b"From a@b.example Mon\nSubject: Rent\n\nRent\n", "application/mbox"),
        ("Note", "Die Miete ist fällig".encode(), "text/plain"),
        ("Note cut off", b"a" * 4095 + "ä".encode(), "text/plain"),
        ("Makefile.am", b"all: test", "application/octet-stream"),
        ("Picture", bytes(range(256)), "application/octet-stream"),
        ("Nothing", b"", "application/octet-stream"),
    ],
)
def test_the_content_tells_what_a_name_without_ending_does_not(
    root: Path, name: str, content: bytes, expected: str
) -> None:
    (root / name).write_bytes(content)
    assert only(root).mime_type == expected
