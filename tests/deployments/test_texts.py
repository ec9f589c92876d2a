"""`diligence text` over folders: all processes busy, the largest first, one failure is one document's."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from zipfile import ZIP_STORED

import pytest

from deployments import texts
from deployments.texts import Skipped, find_documents, print_texts
from tasks.errors import BadRequest
from tasks.reading.pool import pool
from tasks.reading.pool.pool import ExtractionPool
from tasks.reading.pool.process import Read
from tasks.reading.text_writer import Reading
from tests.deployments.readers import together
from tests.tasks.documents.drive.archives.zips import zipped
from tests.tasks.reading.pool.hostile_readers import obedient

Room = Callable[..., str]


@pytest.fixture
def room(home: Path, tmp_path: Path) -> Room:
    """Writes documents into a folder and gives its path: `room(**{"a.txt": "words"})`."""

    def write(**contents: str) -> str:
        for name, content in contents.items():
            file = tmp_path / "room" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return str(tmp_path / "room")

    return write


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "texts"


def read_by(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "ExtractionPool", partial(ExtractionPool, read=read))


@pytest.fixture
def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files in the order in which the pool got them."""
    names: list[str] = []
    submit = ExtractionPool.submit

    def noted(pool: ExtractionPool, path: Path, format: str) -> Future[Reading]:  # noqa: A002 - the field's word
        names.append(path.name)
        return submit(pool, path, format)

    monkeypatch.setattr(ExtractionPool, "submit", noted)
    return names


def test_with_out_the_largest_are_read_first(room: Room, out: Path, handed_out: list[str]) -> None:
    folder = room(**{"a.txt": "x", "b.txt": "x" * 300, "sub/c.txt": "x" * 200})
    assert print_texts([folder], out, 2) == 0
    assert handed_out == ["b.txt", "c.txt", "a.txt"]
    assert {str(path.relative_to(out)): len(path.read_text().strip()) for path in out.rglob("*.txt")} == {
        "a.txt.txt": 1,
        "b.txt.txt": 300,
        "sub/c.txt.txt": 200,
    }


def test_on_stdout_texts_come_in_the_order_given(room: Room, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    names = [f"{number:03}.txt" for number in range(200)]
    folder = room(**{name: f"text {name} " + "x" * (200 - number) for number, name in enumerate(names)})
    assert print_texts([f"{folder}/{names[-1]}", folder], None, 3) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert [line.split()[1] for line in lines] == [names[-1], *names]


def test_all_processes_read_at_the_same_time(room: Room, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(together, monkeypatch)
    assert print_texts([room(**{f"{number}.txt": "3" for number in range(3)})], out, 3) == 0


def test_no_more_is_handed_out_than_there_is_room_for(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "AHEAD", 4)
    folder = room(**{f"{number:02}.txt": "words" for number in range(50)})
    documents = list(find_documents([folder], 1 << 20, Skipped()))
    with ExtractionPool(2) as pool:
        for readings in (texts.in_order, texts.as_read):
            under_way = most = read = 0

            def noted(path: Path, format: str) -> Future[Reading]:  # noqa: A002 - the field's word
                nonlocal under_way, most
                under_way += 1
                most = max(most, under_way)
                return ExtractionPool.submit(pool, path, format)

            monkeypatch.setattr(pool, "submit", noted)
            for _ in readings(texts.DocumentReader(pool, Path(folder), 1 << 20), documents, 2):
                read += 1
                under_way -= 1
            assert (read, most) == (50, 8)


def test_large_documents_go_out_two_for_a_process() -> None:
    assert texts.has_room(1 << 30, 3, 2)
    assert not texts.has_room(1 << 30, 4, 2)


def test_processes_load_no_prefect_though_this_one_has(room: Room, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import prefect  # noqa: F401 - what this test is about

    read_by(obedient, monkeypatch)
    assert print_texts([room(**{"a.txt": "modules"})], out, 1) == 0
    loaded = set((out / "a.txt.txt").read_text().split())
    assert "prefect" in sys.modules
    assert "tasks.reading.text_writer" in loaded
    assert loaded.isdisjoint({"prefect", "sqlalchemy", "pydantic", "typer"})


def test_processes_are_replaced_after_their_share(room: Room, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_by(obedient, monkeypatch)
    monkeypatch.setattr(pool, "DOCUMENTS_A_PROCESS", 5)
    assert print_texts([room(**{f"{number}.txt": "process" for number in range(20)})], out, 2) == 0
    assert len({path.read_text() for path in out.rglob("*.txt")}) >= 4


@pytest.mark.parametrize("to_files", [True, False])
def test_a_folder_without_a_document_is_told(
    room: Room, out: Path, to_files: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = room(**{"picture.xyz": "no reader knows it"})
    assert print_texts([folder], out if to_files else None, 1) == 0
    told = capsys.readouterr()
    assert told.err.splitlines()[1:] == [f"{folder}: no document to read.", "1 skipped."]
    assert told.out == ""


def test_a_name_that_is_no_file_is_taken_for_an_id(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_texts(["nowhere"], out, 1) == 1
    assert capsys.readouterr().err.startswith("nowhere: No file or folder has this path. Taken for a document's id: No")


def test_a_text_that_cannot_be_written_is_its_own_failure(
    room: Room, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / "b.txt.txt").mkdir(parents=True)
    assert print_texts([room(**{"a.txt": "words", "b.txt": "words"})], out, 2) == 1
    assert (out / "a.txt.txt").read_text().strip() == "words"
    assert capsys.readouterr().err == "b.txt: its text cannot be written (Is a directory).\n"


def test_the_longest_names_are_cut_and_their_texts_written(room: Room, out: Path) -> None:
    names = [f"{stem}.txt" for stem in ("n" * 247, "n" * 250 + "1", "n" * 250 + "2", "ü" * 125)]
    assert print_texts([room(**dict(zip(names, "abcd", strict=True)))], out, 2) == 0
    texts_by_name = {path.name: path.read_text().strip() for path in out.iterdir()}
    assert texts_by_name.pop(f"{names[0]}.txt") == "a"
    assert sorted(texts_by_name.values()) == ["b", "c", "d"]
    assert all("~" in name and len(name.encode()) <= 255 for name in texts_by_name)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk")
def test_a_full_disk_leaves_no_half_text(room: Room, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out.mkdir()
    (out / "a.txt.txt").symlink_to("/dev/full")
    assert print_texts([room(**{"a.txt": "words", "b.txt": "words"})], out, 1) == 1
    assert "No space left" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["b.txt.txt"]


def test_two_documents_of_one_name_do_not_overwrite_each_other(
    room: Room, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = room(**{"2023/lease.txt": "the old lease", "2024/lease.txt": "the new lease"})
    assert print_texts([f"{folder}/2023", f"{folder}/2024", f"{folder}/2023"], out, 1) == 1
    assert (out / "lease.txt.txt").read_text().strip() == "the old lease"
    assert "lease.txt: another document has this name" in capsys.readouterr().err


def test_out_that_cannot_be_a_folder_is_said_before_anything_is_read(room: Room, out: Path) -> None:
    out.write_text("a file")
    with pytest.raises(BadRequest, match="--out"):
        print_texts([room(**{"a.txt": "words"})], out, 1)


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_what_is_skipped_in_a_folder_is_told_with_the_reason(
    room: Room, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = room(**{"a.txt": "words", "b.xyz": "?", "no ending": "\0", ".x": "?", ".git/c": "?", "~$d.docx": "?"})
    Path(folder, "link.txt").symlink_to("a.txt")
    Path(folder, "links").symlink_to(".")
    os.mkfifo(Path(folder, "pipe.txt"))
    assert print_texts([folder], out, 1) == 0
    assert [path.name for path in out.rglob("*.txt")] == ["a.txt.txt"]
    *lines, total = told(capsys)
    assert set(lines) == {
        'b.xyz: skipped, no reader for ".xyz".',
        "no ending: skipped, no reader for a name without an extension.",
        ".x: skipped, it is hidden.",
        ".git: skipped, it is hidden, with everything in it.",
        "~$d.docx: skipped, it is hidden.",
        "link.txt: skipped, it is a link.",
        "links: skipped, it is a link.",
        "pipe.txt: skipped, it is neither a file nor a folder.",
    }
    assert total == "8 skipped."


def test_nothing_is_said_where_nothing_is_skipped(room: Room, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_texts([room(**{"a.txt": "words"})], out, 1) == 0
    assert told(capsys) == []


def test_members_of_archives_are_read_like_files_of_folders(
    room: Room, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(room(**{"a.txt": "a"}))
    inner = zipped({"lease.txt": "the lease"})
    archive: dict[str, str | bytes] = {
        "deep/b.txt": "b",
        "in.zip": inner,
        "x.xyz": "?",
        "../../evil.txt": "x",
        ".hidden": "?",
    }
    (folder / "Contracts.zip").write_bytes(zipped(archive))
    (folder / "bad.zip").write_bytes(b"no archive")
    assert print_texts([str(folder)], out, 2) == 0
    assert {str(path.relative_to(out)): path.read_text().strip() for path in out.rglob("*.txt")} == {
        "a.txt.txt": "a",
        "Contracts.zip/deep/b.txt.txt": "b",
        "Contracts.zip/in.zip/lease.txt.txt": "the lease",
    }
    assert sorted(told(capsys)) == [
        "3 skipped.",
        'Contracts.zip/x.xyz: skipped, no reader for ".xyz".',
        "Left out of 'Contracts.zip': '../../evil.txt' (its path leads outside the archive).",
        "bad.zip: skipped, it is damaged, or not a .zip.",
    ]


def test_an_archive_that_is_named_is_read_or_fails(
    room: Room, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(room(**{"a.txt": "a"}))
    Path("good.zip").write_bytes(zipped({"1.txt": "one", "2.txt": "two"}))
    Path("bad.zip").write_bytes(b"no archive")
    assert print_texts(["good.zip"], None, 2) == 0
    assert capfdbinary.readouterr() == (b"one\ntwo\n", b"")
    assert print_texts(["bad.zip", "a.txt"], None, 2) == 1
    assert capfdbinary.readouterr() == (b"a\n", b"bad.zip: it is damaged, or not a .zip.\n")


def test_a_damaged_member_fails_alone(room: Room, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(room(**{"a.txt": "a"}))
    damaged = zipped({"bad.txt": "words and words", "good.txt": "good"}, ZIP_STORED).replace(b"and", b"AND")
    (folder / "x.zip").write_bytes(damaged)
    assert print_texts([str(folder)], out, 1) == 1
    assert sorted(path.name for path in out.rglob("*.txt")) == ["a.txt.txt", "good.txt.txt"]
    (line,) = told(capsys)
    assert line.startswith("x.zip/bad.txt: The document is damaged in its archive")
