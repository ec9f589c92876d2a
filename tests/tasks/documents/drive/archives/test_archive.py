"""What an archive shows, and what is left out of it and why: nothing that it says is believed."""

import io
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tasks.documents.drive.archives import zip as zip_archive
from tasks.documents.drive.archives.archive import Archive
from tasks.documents.drive.archives.zip import ArchiveNotOpened
from tasks.errors import Damaged, TooLarge
from tests.cases import cases
from tests.tasks.documents.drive.archives.zips import made, with_attributes, zipped

MEGABYTE = 1 << 20
Open = Callable[..., Archive]


@pytest.fixture
def open_archive(tmp_path: Path) -> Iterator[Open]:
    """Opens an archive with this content; what it unpacks goes to the folder `spool`."""
    archives: list[Archive] = []
    (tmp_path / "spool").mkdir()

    @contextmanager
    def scratch() -> Iterator[Path]:
        with TemporaryDirectory(dir=tmp_path / "spool") as folder:
            yield Path(folder)

    def opened(content: bytes, name: str = "a.zip", max_bytes: int = MEGABYTE) -> Archive:
        (tmp_path / "archive").write_bytes(content)
        archives.append(Archive((tmp_path / "archive").open("rb"), name, max_bytes, scratch))
        return archives[-1]

    yield opened
    for archive in archives:
        archive.close()
    assert list((tmp_path / "spool").iterdir()) == []


def paths(archive: Archive) -> list[str]:
    return [member.path for member in archive.contents.members]


def left_out(archive: Archive) -> dict[str, str]:
    return dict(archive.contents.left_out)


def content(archive: Archive, path: str, max_bytes: int = MEGABYTE) -> bytes:
    target = io.BytesIO()
    archive.extract(next(one for one in archive.contents.members if one.path == path), target, max_bytes)
    return target.getvalue()


def test_members_folders_and_times(open_archive: Open) -> None:
    archive = open_archive(zipped({"b.txt": "b" * 9000, "Legal/Old/lease.txt": "words", "Empty/": ""}))
    assert paths(archive) == ["b.txt", "Legal/Old/lease.txt"]
    assert list(archive.contents.folders) == ["Legal", "Legal/Old", "Empty"]
    assert content(archive, "b.txt") == b"b" * 9000
    assert archive.contents.members[0].updated == 1714558830.0


@cases(
    ("name", "why"),
    [
        ("../x.txt", "outside"),
        ("a/../../x.txt", "outside"),
        ("..\\x.txt", "outside"),
        ("/etc/passwd", "absolute"),
        ("\\\\server\\x.txt", "absolute"),
        ("C:\\x.txt", "absolute"),
        ("c:x.txt", "absolute"),
        ("n" * 300, "name is too long"),
        ("/".join("n" * 50), "path is too long"),
        ("ä" * 200, "name is too long"),
    ],
)
def test_names_that_are_none_are_left_out_and_named(open_archive: Open, name: str, why: str) -> None:
    archive = open_archive(zipped({name: "words", "good.txt": "words"}))
    assert paths(archive) == ["good.txt"]
    (reason,) = left_out(archive).values()
    assert why in reason
    (warning,) = archive.contents.warnings("Room/a.zip")
    assert "'Room/a.zip'" in warning
    assert len(warning) < 400


def test_a_name_with_a_nul_is_left_out(open_archive: Open) -> None:
    archive = open_archive(made([(b"a.pdf\0.exe", b"x", 0, 0, 0, None)]))
    assert (paths(archive), list(left_out(archive).values())) == ([], ["its name contains a NUL"])


def test_dots_and_doubled_slashes_in_names_mean_nothing(open_archive: Open) -> None:
    assert paths(open_archive(zipped({"./a//b/./c.txt": "words"}))) == ["a/b/c.txt"]


def test_backslashes_are_slashes(open_archive: Open) -> None:
    archive = open_archive(made([(b"Legal\\lease.txt", b"words", 0, 0, 0, None)]))
    assert (paths(archive), list(archive.contents.folders)) == (["Legal/lease.txt"], ["Legal"])


@cases(
    ("mode", "why"),
    [
        (stat.S_IFLNK | 0o777, "it is a link"),
        (stat.S_IFCHR, "neither a file nor a folder"),
        (stat.S_IFBLK, "neither a file nor a folder"),
        (stat.S_IFIFO, "neither a file nor a folder"),
        (stat.S_IFSOCK, "neither a file nor a folder"),
    ],
)
def test_links_and_devices_are_left_out(open_archive: Open, mode: int, why: str) -> None:
    archive = open_archive(with_attributes("x.txt", b"/etc/passwd", mode))
    assert (paths(archive), why in left_out(archive)["x.txt"]) == ([], True)


@pytest.mark.parametrize("flags", [0x1, 0x41, 0x2001])
def test_encrypted_members_are_left_out(open_archive: Open, flags: int) -> None:
    archive = open_archive(with_attributes("x.txt", b"?" * 20, 0, flags=flags))
    assert "encrypted" in left_out(archive)["x.txt"]


@pytest.mark.parametrize(("method", "named"), [(9, "Deflate64"), (12, "bzip2"), (99, "encrypted"), (77, "number 77")])
def test_methods_that_are_not_read_are_named(open_archive: Open, method: int, named: str) -> None:
    assert named in left_out(open_archive(with_attributes("x.txt", b"?", 0, method=method)))["x.txt"]


def test_a_bomb_is_left_out_by_its_ratio(open_archive: Open) -> None:
    archive = open_archive(zipped({"bomb": b"\0" * (40 * MEGABYTE), "good.txt": "words"}), max_bytes=64 * MEGABYTE)
    assert paths(archive) == ["good.txt"]
    assert "400 times" in left_out(archive)["bomb"]


def test_a_member_above_the_limit_is_left_out(open_archive: Open) -> None:
    assert "DILIGENCE_DOCUMENT_MAX_MB" in left_out(open_archive(zipped({"x": bytes(MEGABYTE + 1)})))["x"]


def test_all_members_together_have_a_limit(open_archive: Open) -> None:
    archive = open_archive(zipped({f"{number}.txt": bytes(MEGABYTE) for number in range(20)}))
    assert (len(paths(archive)), len(left_out(archive))) == (8, 12)


def test_more_members_than_there_may_be_are_counted(open_archive: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MOST_MEMBERS", 50)
    archive = open_archive(zipped({f"{number}.txt": "" for number in range(350)}))
    assert len(paths(archive)) == 50
    warnings = list(archive.contents.warnings("a.zip"))
    assert len(warnings) == 201
    assert warnings[-1].endswith("100 more.")


@pytest.mark.parametrize("claimed", [3, 500_000])
def test_a_member_that_lies_about_its_size_is_damaged(open_archive: Open, claimed: int) -> None:
    archive = open_archive(made([(b"x.txt", b"words", 0, 0, 0, claimed)]))
    with pytest.raises(Damaged):
        content(archive, "x.txt")


def test_a_member_with_another_checksum_is_damaged(open_archive: Open) -> None:
    archive = open_archive(zipped({"x.txt": "words and words"}, zipfile.ZIP_STORED).replace(b"and", b"AND"))
    with pytest.raises(Damaged):
        content(archive, "x.txt")


def test_the_limit_of_the_caller_holds(open_archive: Open) -> None:
    with pytest.raises(TooLarge):
        content(open_archive(zipped({"x.txt": "words"})), "x.txt", max_bytes=4)


def test_of_two_members_of_one_name_the_second_is_left_out(open_archive: Open) -> None:
    archive = open_archive(made([(b"x.txt", b"one", 0, 0, 0, None), (b"./x.txt", b"two", 0, 0, 0, None)]))
    assert (content(archive, "x.txt"), left_out(archive)) == (b"one", {"x.txt": "another member has its name"})


def test_clutter_is_left_out_without_a_word(open_archive: Open) -> None:
    names = ["__MACOSX/._a.txt", ".DS_Store", "a/Thumbs.db", "a/~$b.docx", ".git/config", "a/b.txt"]
    archive = open_archive(zipped(dict.fromkeys(names, "words")))
    assert (paths(archive), archive.contents.left_out) == (["a/b.txt"], [])


@cases(
    ("raw", "flags", "name"),
    [
        ("Übersicht.txt".encode(), 0x800, "Übersicht.txt"),
        ("Übersicht.txt".encode(), 0, "Übersicht.txt"),
        ("Übersicht für Käufer.txt".encode("cp437"), 0, "Übersicht für Käufer.txt"),
        ("Größe.txt".encode("cp437"), 0, "Größe.txt"),
        ("Maßnahmen Füße.txt".encode("cp437"), 0, "Maßnahmen Füße.txt"),
        ("Договор_v2 и ПриложенияA.txt".encode("cp866"), 0, "Договор_v2 и ПриложенияA.txt"),
        ("Árbol de ÍNDICES.txt".encode("cp850"), 0, "Árbol de ÍNDICES.txt"),
        ("契約書の写し.txt".encode("cp932"), 0, "契約書の写し.txt"),
        ("Договор аренды.txt".encode("cp866"), 0, "Договор аренды.txt"),
        ("合同文件.txt".encode("gb18030"), 0, "合同文件.txt"),
        ("契約書.pdf".encode("cp932"), 0, "契約書.pdf"),
        ("계약서.pdf".encode("cp949"), 0, "계약서.pdf"),
        ("Årsrapport.pdf".encode("cp850"), 0, "Årsrapport.pdf"),
        ("Comptes arrêtés.pdf".encode("cp1252"), 0, "Comptes arrêtés.pdf"),
    ],
)
def test_names_are_read_in_the_encoding_of_their_maker(open_archive: Open, raw: bytes, flags: int, name: str) -> None:
    assert paths(open_archive(made([(raw, b"words", 0, flags, 0, None)]))) == [name]


def test_large_archives_and_those_with_something_before_them(open_archive: Open) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("x.txt", "w", force_zip64=True) as member:
        member.write(b"words")
    assert content(open_archive(b"MZ a program" + file.getvalue()), "x.txt") == b"words"


def test_sizes_behind_the_data_are_read(open_archive: Open) -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    file = Stream()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.txt", "words " * 900)
    assert content(open_archive(file.getvalue()), "x.txt") == b"words " * 900


def test_an_archive_inside_is_a_folder_and_one_inside_that_stays_shut(open_archive: Open) -> None:
    third = zipped({"deep.txt": "words"})
    second = zipped({"third.zip": third, "lease.txt": "the lease", "../x": "x"})
    archive = open_archive(zipped({"Old/second.zip": second, "a.txt": "a"}))
    assert paths(archive) == ["Old/second.zip/third.zip", "Old/second.zip/lease.txt", "a.txt"]
    assert list(archive.contents.folders) == ["Old", "Old/second.zip"]
    assert content(archive, "Old/second.zip/lease.txt") == b"the lease"
    assert content(archive, "Old/second.zip/third.zip") == third
    shut, outside = archive.contents.warnings("a.zip")
    assert "'Old/second.zip/third.zip' in 'a.zip' is an archive that was not opened: it lies in an archive" in shut
    assert "'Old/second.zip/../x' (its path leads outside the archive)" in outside


def test_a_damaged_archive_inside_stays_a_document_and_harms_nothing_else(open_archive: Open) -> None:
    archive = open_archive(zipped({"bad.zip": "no archive", "a.txt": "a"}))
    assert (paths(archive), archive.contents.shut) == (
        ["bad.zip", "a.txt"],
        [("bad.zip", "it is damaged, or not a .zip")],
    )


def test_an_archive_that_holds_itself_ends(open_archive: Open) -> None:
    inner = zipped({"x.zip": b"PK"})
    for _ in range(30):
        inner = zipped({"x.zip": inner})
    assert paths(open_archive(inner)) == ["x.zip/x.zip"]


def test_a_folder_and_an_archive_of_one_name_do_not_mix(open_archive: Open) -> None:
    archive = open_archive(zipped({"x.zip/a.txt": "the folder's", "x.zip": zipped({"a.txt": "the archive's"})}))
    assert (paths(archive), content(archive, "x.zip/a.txt")) == (["x.zip/a.txt", "x.zip"], b"the folder's")


@cases(
    ("damage", "why"),
    [
        (lambda data: data[:-30], "end is missing"),
        (lambda data: b"", "not a .zip"),
        (lambda data: b"words" * 100, "not a .zip"),
        (lambda data: data.replace(b"PK\x01\x02", b"XXXX"), "list of members is lost"),
        (lambda data: data[:-18] + struct.pack("<HH", 3, 3) + data[-14:], "split"),
    ],
)
def test_a_damaged_archive_says_why(open_archive: Open, damage: Callable[[bytes], bytes], why: str) -> None:
    with pytest.raises(ArchiveNotOpened, match=why):
        open_archive(damage(zipped({"a.txt": "words", "b.txt": "words"})))


def test_an_office_document_under_the_name_of_an_archive_is_none(open_archive: Open) -> None:
    with pytest.raises(ArchiveNotOpened, match="office document"):
        open_archive(zipped({"_rels/.rels": "", "word/document.xml": "", "[Content_Types].xml": ""}))


def test_an_empty_archive_is_an_empty_folder(open_archive: Open) -> None:
    assert paths(open_archive(zipped({}))) == []


@pytest.mark.slow
def test_mutated_archives_raise_nothing_else(open_archive: Open, tmp_path: Path) -> None:
    import random

    good = zipped({"a.txt": "words " * 50, "b/c.zip": zipped({"x": "y"}), "ü.txt": "u"})
    for seed in range(3000):
        dice = random.Random(seed)
        data = bytearray(good)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if seed % 5 == 0:
            del data[dice.randrange(len(data)) :]
        try:
            archive = open_archive(bytes(data))
        except ArchiveNotOpened:
            continue
        for member in archive.contents.members:
            try:
                archive.extract(member, io.BytesIO(), MEGABYTE)
            except (Damaged, TooLarge):
                continue
        archive.close()
