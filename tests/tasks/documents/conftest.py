"""A data room on the local drive, and a pool that counts what it reads."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from tasks.documents import texts
from tasks.documents.drive.registry import open_drive
from tasks.reading.pool.pool import ExtractionPool, Limits
from tasks.reading.text_writer import Reading
from tests.tasks.documents.readers import texts_obeyed


class CountingPool(ExtractionPool):
    """The real pool with a reader that misbehaves where the document says so; `count` documents were handed to it."""

    def __init__(self) -> None:
        super().__init__(workers=2, limits=Limits(seconds=3, memory_mb=512), read=texts_obeyed)
        self.count = 0

    def submit(self, path: Path, format: str) -> "Future[Reading]":  # noqa: A002 - the field's word
        self.count += 1
        return super().submit(path, format)


@pytest.fixture
def drive_root(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The drive's root, empty."""
    folder = tmp_path / "rooms"
    folder.mkdir()
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(folder))
    return folder


@pytest.fixture
def write(drive_root: Path) -> Callable[..., str]:
    """Writes a document into the drive and gives its id: `write("Legal/contract.txt", "words")`."""

    def write(path: str, content: str | bytes = "words\n") -> str:
        file = drive_root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        drive = open_drive()
        folder = drive.find_folder(str(file.parent))
        return next(
            document.id
            for document in drive.list_folder(folder, recursive=False).documents
            if document.name == file.name
        )

    return write


@pytest.fixture(scope="session")
def one_pool() -> Iterator[CountingPool]:
    with CountingPool() as pool:
        yield pool


@pytest.fixture
def pool(one_pool: CountingPool, drive_root: Path, monkeypatch: pytest.MonkeyPatch) -> CountingPool:
    """The pool that documents are read in; nothing is counted yet."""
    one_pool.count = 0
    monkeypatch.setattr(texts, "share_pool", lambda *_: one_pool)
    return one_pool


@pytest.fixture
def forget() -> Callable[[], None]:
    """Empties the memory for texts, as if another process went on."""
    return texts.recent_texts.clear
