"""The zip beneath: directories lost, wide, shifted or lying."""

import zipfile
from pathlib import Path

import pytest

from tasks.errors import TooLarge
from tasks.reading.ooxml.package import ZipMembers


def members(path: Path) -> tuple[dict[str, bytes], bool]:
    archive = ZipMembers(path)
    found = {entry.name: b"".join(archive.inflate(entry, 1 << 20)) for entry in archive.entries()}
    archive.close()
    return found, archive.damaged


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("deflated.xml", b"words " * 1000, zipfile.ZIP_DEFLATED)
        archive.writestr("stored/ümlaut.xml", b"as it is")
        archive.writestr("empty", b"")
    return tmp_path / "a.zip"


WHOLE = {"deflated.xml": b"words " * 1000, "stored/ümlaut.xml": b"as it is", "empty": b""}


def test_a_sound_archive_is_read_whole(path: Path) -> None:
    assert members(path) == (WHOLE, False)


def test_something_before_the_archive_does_not_matter(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert members(path) == (WHOLE, False)


def test_wide_sizes_are_understood(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive, archive.open("wide.xml", "w", force_zip64=True) as member:
        member.write(b"wide")
    assert members(path) == ({"wide.xml": b"wide"}, False)


def test_a_lost_directory_is_rebuilt(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"PK\x01\x02")])
    assert members(path) == (WHOLE, True)


def test_a_member_of_unknown_size_is_found_by_its_end(tmp_path: Path) -> None:
    path = tmp_path / "stream.zip"
    with path.open("wb") as file, zipfile.ZipFile(_Unseekable(file), "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        archive.writestr("one", b"1" * 500)
        archive.writestr("two", b"2" * 500)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"PK\x01\x02")])
    assert members(path) == ({"one": b"1" * 500, "two": b"2" * 500}, True)


def test_a_wrong_byte_is_noticed(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(b"as it is")] ^= 1
    path.write_bytes(data)
    found, damaged = members(path)
    assert damaged
    assert found["deflated.xml"] == WHOLE["deflated.xml"]


def test_a_member_may_not_inflate_beyond_the_limit_whatever_it_declares(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(30 << 20))
    data = path.read_bytes().replace((30 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(data)
    with pytest.raises(TooLarge):
        members(path)


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04", b"PK\x05\x06" + b"\xff" * 18, b"PK\x01\x02" * 20, b"PK\x03\x04" + b"\xff" * 60]
)
def test_fragments_give_nothing_and_end(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    assert members(path)[0] == {}


class _Unseekable:
    """A file that cannot go back, as a pipe: the sizes stand after the data."""

    def __init__(self, file: object) -> None:
        self.write = file.write  # type: ignore[attr-defined]
        self.flush = file.flush  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [(1 << 20) * 3, (1 << 20) * 3 + 1, 50_000_001])
def test_a_member_that_inflates_to_many_pieces_comes_whole(tmp_path: Path, size: int) -> None:
    data = (b"a lot of the same words " * (size // 24 + 1))[:size]
    with zipfile.ZipFile(tmp_path / "long.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("long.xml", data)
    archive = ZipMembers(tmp_path / "long.zip")

    assert b"".join(archive.inflate(archive.entries()[0], 1 << 30)) == data
    assert not archive.damaged
