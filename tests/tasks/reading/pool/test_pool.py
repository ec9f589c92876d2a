"""A document that hangs, crashes or swells costs that document only."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tasks.errors import Damaged, NotFound, TookTooLong, TooLarge, Unavailable, Unreadable, UnsupportedFormat
from tasks.reading.pool.pool import ExtractionPool, Limits
from tests.tasks.reading.pool.hostile_readers import after_loading, load_slowly, obedient
from tests.waiting import is_running

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    with ExtractionPool(2, Limits(seconds=1.5, memory_mb=512, max_mb=1), obedient) as pool:
        yield pool


@pytest.fixture
def document(tmp_path: Path) -> Callable[[str], Path]:
    def write(words: str) -> Path:
        path = tmp_path / f"{words}.txt"
        path.write_text(words)
        return path

    return write


Document = Callable[[str], Path]


def test_a_document_is_read_with_its_places(pool: ExtractionPool, document: Document) -> None:
    assert pool.read(document("some words"), ".txt").text == "some words"


@pytest.mark.parametrize("words", ["hang", "hang-in-native-code", "hang-without-signals"])
def test_a_document_that_hangs_is_given_up(pool: ExtractionPool, document: Document, words: str) -> None:
    started = time.monotonic()
    with pytest.raises(TookTooLong, match="DILIGENCE_DOCUMENT_TIMEOUT"):
        pool.read(document(words), ".txt")
    assert time.monotonic() - started < 30
    assert pool.read(document("next"), ".txt").text == "next"


@pytest.mark.parametrize("words", ["hang-once", "swell-once"])
def test_a_document_of_a_format_that_can_be_read_with_less_is_tried_again(
    pool: ExtractionPool, document: Document, words: str
) -> None:
    assert pool.read(document(words), ".doc").text == words
    with pytest.raises((TookTooLong, Unreadable)):
        pool.read(document(words), ".txt")


@pytest.mark.parametrize("words", ["crash", "abort"])
def test_a_document_that_crashes_its_reader_fails_alone(pool: ExtractionPool, document: Document, words: str) -> None:
    others = [pool.submit(document(f"other {number}"), ".txt") for number in range(20)]
    with pytest.raises(Unreadable, match="the reader crashed on it"):
        pool.read(document(words), ".txt")
    assert [other.result().text for other in others] == [f"other {number}" for number in range(20)]


def test_what_other_work_has_in_place_of_a_format_is_in_no_log(
    pool: ExtractionPool, document: Document, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(Unreadable):
        pool.read(document("crash"), '[[1, "the secret words of a page"]]')
    assert "secret" not in caplog.text
    assert "A reader of a document ended" in caplog.text


def test_a_document_that_swells_meets_the_limit(pool: ExtractionPool, document: Document) -> None:
    with pytest.raises(Unreadable, match=r"512 MB of memory \(DILIGENCE_DOCUMENT_MEMORY_MB\)"):
        pool.read(document("swell"), ".txt")
    assert pool.read(document("next"), ".txt").text == "next"


@pytest.mark.parametrize("words", ["stumble", "unpicklable"])
def test_an_unforeseen_exception_is_damage_and_logged_without_its_words(
    pool: ExtractionPool, document: Document, caplog: pytest.LogCaptureFixture, words: str
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(Damaged) as caught:
        pool.read(document(words), ".txt")
    assert "secret" not in caplog.text + str(caught.value)
    assert ("ValueError" if words == "stumble" else "Unpicklable") in caplog.text


def test_the_reader_s_own_error_comes_through(pool: ExtractionPool, document: Document) -> None:
    with pytest.raises(Damaged, match="The file is damaged"):
        pool.read(document("damaged"), ".txt")
    with pytest.raises(UnsupportedFormat):
        pool.read(document("anything"), ".dwg")


def test_a_file_above_the_limit_is_not_opened(pool: ExtractionPool, document: Document) -> None:
    with pytest.raises(TooLarge, match="DILIGENCE_DOCUMENT_MAX_MB"):
        pool.read(_large(document("large")), ".txt")
    with pytest.raises(NotFound):
        pool.read(document("gone").with_name("no"), ".txt")


def _large(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate((1 << 20) + 1)
    return path


def test_many_threads_share_the_pool(pool: ExtractionPool, document: Document) -> None:
    paths = [document(f"document {number}") for number in range(200)]
    with ThreadPoolExecutor(16) as threads:
        texts = [reading.text for reading in threads.map(lambda path: pool.read(path, ".txt"), paths)]
    assert texts == [f"document {number}" for number in range(200)]


def test_a_cancelled_reading_frees_its_process(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=60), obedient) as pool:
        hanging = pool.submit(document("hang"), ".txt")
        time.sleep(0.5)
        assert hanging.cancel()
        started = time.monotonic()
        assert pool.read(document("next"), ".txt").text == "next"
        assert time.monotonic() - started < 30
    with pytest.raises(CancelledError):
        hanging.result()


def test_noise_of_libraries_stays_off_the_user_s_screen(
    pool: ExtractionPool, document: Document, capfd: pytest.CaptureFixture[str]
) -> None:
    pool.read(document("print"), ".txt")
    assert capfd.readouterr() == ("", "")


def test_a_process_loads_neither_prefect_nor_tables_nor_settings(pool: ExtractionPool, document: Document) -> None:
    loaded = set(pool.read(document("modules"), ".txt").text.split())
    assert loaded.isdisjoint({"prefect", "sqlmodel", "sqlalchemy", "litestar", "pydantic_settings", "pytest", "openai"})


def test_a_process_collects_garbage_though_it_was_loaded_without(pool: ExtractionPool, document: Document) -> None:
    assert pool.read(document("garbage"), ".txt").text == "True"


def test_a_process_that_dies_between_documents_is_replaced(pool: ExtractionPool, document: Document) -> None:
    for _ in range(3):
        os.kill(int(pool.read(document("process"), ".txt").text), signal.SIGKILL)
        assert pool.read(document("next"), ".txt").text == "next"


def test_a_process_is_replaced_after_its_share_of_documents(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.reading.pool.pool.DOCUMENTS_A_PROCESS", 5)
    asking = document("process")
    with ExtractionPool(1, Limits(), obedient) as pool:
        processes = [pool.read(asking, ".txt").text for _ in range(20)]
    assert [processes.count(process) for process in dict.fromkeys(processes)] == [5, 5, 5, 5]


def test_a_document_waits_for_a_process_that_is_slow_to_go_on(document: Document) -> None:
    with ExtractionPool(1, Limits(), obedient) as pool:
        assert len(pool.read(document("slow-to-go-on"), ".txt").text) == 1 << 20
        assert pool.submit(document("words"), ".txt").result(20).text == "words"


def test_a_closed_pool_says_so(document: Document) -> None:
    pool = ExtractionPool(1, Limits(seconds=60), obedient)
    hanging = pool.submit(document("hang"), ".txt")
    time.sleep(0.5)
    started = time.monotonic()
    pool.close()
    assert time.monotonic() - started < 30
    with pytest.raises(Unavailable):
        hanging.result(1)
    with pytest.raises(Unavailable):
        pool.read(document("after"), ".txt")


AT_THE_END = """
import atexit, multiprocessing.util, sys
from pathlib import Path

def go_on():  # after our own end, and before multiprocessing's
    try:
        print(pool.ExtractionPool(1).read(Path(sys.argv[1]), ".txt").text)
    except Unavailable as error:
        print(error)

atexit.register(go_on)
from tasks.errors import Unavailable
from tasks.reading.pool import pool
print(pool.ExtractionPool(1).read(Path(sys.argv[1]), ".txt").text)
"""


def test_a_thread_that_goes_on_while_the_program_ends_starts_no_reader(document: Document) -> None:
    command = [sys.executable, "-c", AT_THE_END, str(document("words"))]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.splitlines() == ["words", "The readers were shut down. Try again."]
    assert ended.stderr == ""


PARENT = """
    import sys, threading, time
    from pathlib import Path
    from tasks.reading.pool.pool import ExtractionPool, Limits
    from tests.tasks.reading.pool.hostile_readers import after_loading, load_slowly, obedient

    if __name__ == "__main__":
        folder = Path(sys.argv[1])
        pool = ExtractionPool(3, Limits(seconds=60), obedient)
        print(pool.read(folder / "process.txt", ".txt").text, flush=True)
        busy = pool.submit(folder / (sys.argv[2] + ".txt"), ".txt")
        time.sleep(0.7)
        print("ready", flush=True)
        if sys.argv[3] == "stay":
            time.sleep(60)
"""


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(task.parent.name)
            found |= {child, *_children(child)}
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("words", ["hang", "hang-in-native-code", "idle"])
def test_the_processes_end_with_a_killed_parent(tmp_path: Path, document: Document, words: str) -> None:
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT))
    document("process"), document(words)
    with (
        TemporaryDirectory() as sockets,  # a socket's path has 107 characters at most: not below `tmp_path`
        subprocess.Popen(
            [sys.executable, script, tmp_path, words, "stay"],
            stdout=subprocess.PIPE,
            text=True,
            env=_environment() | {"TMPDIR": sockets},
        ) as parent,
    ):
        assert parent.stdout is not None
        while parent.stdout.readline().strip() != "ready":
            assert parent.poll() is None
        children = _children(parent.pid)
        assert len(children) >= 4  # three readers and their server
        parent.kill()
        deadline = time.monotonic() + 20
        while alive := {child for child in children if is_running(child)}:
            assert time.monotonic() < deadline, alive
            time.sleep(0.05)
        assert list(Path(sockets).iterdir()) == []  # the fork server took the folder of its socket along


def test_an_open_pool_does_not_keep_the_program_from_ending(tmp_path: Path, document: Document) -> None:
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT))
    document("process"), document("hang")
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, script, tmp_path, "hang", "end"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=_environment(),
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert time.monotonic() - started < 45


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_with_patience_a_document_has_its_time_of_the_processor(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=0.5, patience=20), obedient) as pool:
        started = time.monotonic()
        assert pool.read(document("slow"), ".txt")
        with pytest.raises(TookTooLong):
            pool.read(document("work"), ".txt")
        assert time.monotonic() - started < 9


def test_what_a_process_loads_first_is_on_no_documents_time(document: Document) -> None:
    with ExtractionPool(1, Limits(seconds=0.5), after_loading, load_slowly) as pool:
        assert pool.read(document("a"), ".txt").text == "loaded"
