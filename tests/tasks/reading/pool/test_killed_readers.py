"""A reader that is ended from outside, or that the machine fails, says nothing of its document; others do."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from storage.texts import Outcome
from tasks.documents.texts import new_text
from tasks.errors import Damaged, TookTooLong, Unavailable, Unreadable
from tasks.reading.embedded import FallbackReader, read_or_fall_back, with_embedded
from tasks.reading.limits import machine_failure
from tasks.reading.pool.pool import ExtractionPool, Limits
from tasks.reading.text_writer import Attachment, Reading, Source
from tests.tasks.reading.pool.hostile_readers import killed_by, obedient

ROOT = Path(__file__).parents[4]
Document = Callable[..., Path]


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """Writes a document whose reader is sent these signals, one each time that it begins to read it."""

    def write(*signals: int, words: str = "words") -> Path:
        path = tmp_path / "document.txt"
        path.write_text(" ".join(str(int(number)) for number in signals) + "\n" + words)
        return path

    return write


def test_a_document_whose_reader_is_killed_once_is_read_all_the_same(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=20), killed_by) as pool:
        assert pool.read(document(signal.SIGKILL), ".txt").text == "words"


def test_an_interrupt_at_the_terminal_reaches_no_reader_not_even_one_that_has_just_begun(tmp_path: Path) -> None:
    path = tmp_path / "document.txt"
    path.write_text("blocked")
    with ExtractionPool(1, Limits(seconds=20), obedient) as pool:
        assert pool.read(path, ".txt").text == "SIGINT"


def test_one_whose_reader_is_killed_again_is_neither_damaged_nor_stored(document: Document, home: Path) -> None:
    with ExtractionPool(1, Limits(seconds=20), killed_by) as pool:
        path = document(signal.SIGKILL, signal.SIGKILL)
        with pytest.raises(Unavailable, match="ended from outside, twice"):
            new_text("hash", ".txt", partial(pool.read, path, ".txt"))
        assert pool.read(path, ".txt").text == "words"  # another try succeeds


@pytest.mark.parametrize("words", ["disk", "disk-as-damage"])
def test_a_disk_that_fails_is_no_verdict_on_the_document(tmp_path: Path, home: Path, words: str) -> None:
    path = tmp_path / "document.txt"
    path.write_text(words)
    with ExtractionPool(1, Limits(seconds=20), obedient) as pool:
        with pytest.raises(Unavailable, match=r"this machine failed \((Input/output error|No space left on device)\)"):
            new_text("hash", ".txt", partial(pool.read, path, ".txt"))
        path.write_text("words")
        assert pool.read(path, ".txt").text.strip() == "words"  # another try succeeds


def test_one_whose_reader_crashes_once_is_read_all_the_same(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=20), killed_by) as pool:
        assert pool.read(document(signal.SIGSEGV), ".txt").text == "words"


def test_a_crash_after_a_crash_is_a_verdict_that_is_stored(document: Document, home: Path) -> None:
    with ExtractionPool(1, Limits(seconds=20), killed_by) as pool:
        path = document(signal.SIGSEGV, signal.SIGSEGV)
        text = new_text("hash", ".txt", partial(pool.read, path, ".txt"))
    assert (text.outcome, text.problem) == (Outcome.FAILED, "unreadable")
    assert "the reader crashed on it" in (text.detail or "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_of_operators_count_as_well(document: Document, number: signal.Signals) -> None:
    with ExtractionPool(2, Limits(seconds=20), killed_by) as pool:
        assert pool.read(document(number), ".txt").text == "words"
        with pytest.raises(Unavailable):
            pool.read(document(number, number), ".txt")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGSEGV])
def test_signals_of_crashes_are_the_documents(document: Document, number: signal.Signals) -> None:
    with ExtractionPool(2, Limits(seconds=20), killed_by) as pool, pytest.raises(Unreadable, match="crashed"):
        pool.read(document(number, number, number), ".txt")


@pytest.mark.slow
def test_a_kill_does_not_count_as_one_of_two_crashes(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=20), killed_by) as pool:
        assert pool.read(document(signal.SIGKILL, signal.SIGSEGV), ".txt").text == "words"
        with pytest.raises(Unreadable, match="crashed"):
            pool.read(document(signal.SIGKILL, signal.SIGSEGV, signal.SIGSEGV), ".txt")


@pytest.mark.slow
def test_a_kill_and_then_no_end_is_a_time_out(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=1), killed_by) as pool, pytest.raises(TookTooLong):
        pool.read(document(signal.SIGKILL, signal.SIGSTOP), ".txt")


@pytest.mark.slow
def test_documents_beside_one_whose_reader_is_killed_are_read(document: Document, tmp_path: Path) -> None:
    others = [tmp_path / f"{number}.txt" for number in range(50)]
    for other in others:
        other.write_text("\nothers")
    with ExtractionPool(2, Limits(seconds=20), killed_by) as pool:
        readings = [pool.submit(path, ".txt") for path in others]
        with pytest.raises(Unavailable):
            pool.read(document(signal.SIGKILL, signal.SIGKILL), ".txt")
        assert {reading.result().text for reading in readings} == {"others"}


def test_a_second_reader_that_is_killed_is_no_verdict_of_damage() -> None:
    def damaged(_: Source) -> Reading:
        raise Damaged("It is damaged.")

    def killed(_: Source) -> Reading:
        os.kill(os.getpid(), signal.SIGKILL)
        return Reading("never")

    with pytest.raises(Unavailable, match="ended from outside"):
        read_or_fall_back(damaged, FallbackReader(killed, "json", b"PK"), b"PK")


def test_a_disk_that_fails_the_first_reader_is_no_damage_that_the_second_one_mends() -> None:
    def failed(_: Source) -> Reading:
        raise Damaged("It is damaged.") from OSError(errno.EIO, os.strerror(errno.EIO))

    second = FallbackReader(lambda _: Reading("half"), "json", b"PK")
    with pytest.raises(Damaged) as caught:
        read_or_fall_back(failed, second, b"PK")
    assert machine_failure(caught.value)


def test_a_disk_that_fails_within_an_attachment_is_no_verdict_on_it() -> None:
    def failed(_data: bytes, _extension: str) -> Reading:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    outer = Reading("outer\n", attachments=[Attachment("inner.txt", b"words")])
    with pytest.raises(OSError, match="No space left"):
        with_embedded(outer, failed, {".txt"})


IN_A_FORK = """
import os, signal, sys, time
from multiprocessing import util
from pathlib import Path
from tasks.errors import Unavailable
from tasks.reading.pool.pool import ExtractionPool
from tests.waiting import is_running

def read():
    with ExtractionPool(1) as pool:
        return pool.read(Path(sys.argv[1]), ".txt").text.strip()

def fail(*arguments):
    raise OSError(28, "No space left on device")

read()
if fork := os.fork():
    if sys.argv[2] == "waits":
        while os.wait()[1] == signal.SIGKILL:  # the server, then the fork
            pass
    else:
        os.waitpid(fork, 0)
    sys.exit()
print(read())
children = Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read_text().split()
said = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
(server,) = (child for child in children if b"multiprocessing.forkserver" in said[child])
os.kill(int(server), signal.SIGKILL)
while is_running(int(server)):
    time.sleep(0.01)
start, util.spawnv_passfds = util.spawnv_passfds, fail
try:
    read()
except Unavailable as error:
    print(error.message)
util.spawnv_passfds = start
print(read())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("parent", ["waits", "does not wait"])
def test_a_fork_uses_the_server_of_its_parent_and_starts_its_own_where_that_has_ended(
    document: Document, parent: str
) -> None:
    path = document(words="words")
    script = path.with_name("parent.py")
    script.write_text(IN_A_FORK)
    command, environment = [sys.executable, str(script), str(path), parent], {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.splitlines() == ["words", "The readers do not work. Try again.", "words"], ended.stderr
