"""Archives of the kind .7z, where py7zr is installed."""

import io
from pathlib import Path

import pytest

from tasks.documents.drive.archives import seven_zip
from tasks.documents.drive.archives.zip import ArchiveNotOpened
from tasks.errors import Damaged
from tests.tasks.documents.drive.archives.test_archive import Open, content, left_out, open_archive, paths
from tests.tasks.documents.drive.archives.zips import zipped

__all__ = ["open_archive"]
py7zr = pytest.importorskip("py7zr")


def packed(members: dict[str, str | bytes], password: str | None = None, *, header: bool = False) -> bytes:
    file = io.BytesIO()
    with py7zr.SevenZipFile(file, "w", password=password, header_encryption=header) as archive:
        for name, words in members.items():
            archive.writestr(words, name)
    return file.getvalue()


def test_members_are_read(open_archive: Open) -> None:
    archive = open_archive(packed({"Legal/lease.txt": "the lease " * 1000, "ü.txt": "u", "empty.txt": ""}), "a.7z")
    assert paths(archive) == ["Legal/lease.txt", "ü.txt", "empty.txt"]
    assert content(archive, "Legal/lease.txt") == b"the lease " * 1000
    assert (content(archive, "ü.txt"), content(archive, "empty.txt")) == (b"u", b"")


def test_one_inside_a_zip_and_a_zip_inside_one(open_archive: Open) -> None:
    archive = open_archive(zipped({"in.7z": packed({"a.txt": "a"})}))
    assert content(archive, "in.7z/a.txt") == b"a"
    archive = open_archive(packed({"in.zip": zipped({"b.txt": "b"})}), "a.7z")
    assert content(archive, "in.zip/b.txt") == b"b"


@pytest.mark.parametrize("header", [False, True])
def test_an_encrypted_one_stays_shut(open_archive: Open, header: bool) -> None:
    with pytest.raises(ArchiveNotOpened, match="encrypted"):
        open_archive(packed({"a.txt": "a"}, "secret", header=header), "a.7z")


def test_links_are_left_out(open_archive: Open, tmp_path: Path) -> None:
    (tmp_path / "target.txt").write_text("words")
    (tmp_path / "link.txt").symlink_to("target.txt")
    with py7zr.SevenZipFile(tmp_path / "x.7z", "w") as archive:
        archive.write(tmp_path / "link.txt", "link.txt")
        archive.write(tmp_path / "target.txt", "target.txt")
    opened = open_archive((tmp_path / "x.7z").read_bytes(), "a.7z")
    assert (paths(opened), left_out(opened)) == (["target.txt"], {"link.txt": "it is a link"})
    assert content(opened, "target.txt") == b"words"


def test_a_damaged_one_says_so(open_archive: Open) -> None:
    data = packed({"a.txt": "words " * 5000})
    with pytest.raises(ArchiveNotOpened, match="damaged"):
        open_archive(data[:-10], "a.7z")
    with pytest.raises(ArchiveNotOpened, match="damaged"):
        open_archive(b"words", "a.7z")
    half = bytearray(data)
    half[34] ^= 0xFF
    with pytest.raises(Damaged):
        content(open_archive(bytes(half), "a.7z"), "a.txt")


def test_without_the_library_the_extra_is_named(open_archive: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seven_zip, "has_py7zr", lambda: False)
    with pytest.raises(ArchiveNotOpened, match=r"pip install -e '\.\[archives\]'") as caught:
        open_archive(packed({"a.txt": "a"}), "a.7z")
    assert not caught.value.lasting
