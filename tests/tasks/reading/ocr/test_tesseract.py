"""Tesseract is asked what it has, told no more than it needs, and never outlives who started it."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from tasks.reading.image import Picture
from tasks.reading.ocr import tesseract
from tasks.reading.ocr.page import RecognitionTimedOut
from tasks.reading.ocr.recognise import Engines, order_page, recognise_page
from tasks.reading.pool.pool import ExtractionPool, Limits
from tests.tasks.reading.ocr.scans import needs_tesseract, program, scan
from tests.waiting import is_running

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[4])}
PICTURE = Picture(2, 2, b"abcd")


def test_languages_that_are_missing_are_told_from_those_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path)))
    assert tesseract.find_tesseract() == ("9.9", ("eng",))
    assert tesseract.split_languages("deu, eng+chi_sim,eng") == (("eng",), ("deu", "chi_sim"))
    assert tesseract.package_name("chi_sim") == "tesseract-ocr-chi-sim"


@needs_tesseract
def test_the_tesseract_of_this_machine_says_what_it_has() -> None:
    found = tesseract.find_tesseract()
    assert found is not None
    assert re.match(r"v?\d+\.", found.version)
    assert "osd" not in found.languages
    assert found.languages


def test_tesseract_runs_with_one_thread_and_without_our_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    found = program(tmp_path, f'env >"{told}"; echo "$@" >>"{told}"') / "tesseract"
    assert tesseract.Tesseract(str(found), "eng+deu", 20).words(PICTURE) == []
    assert "OMP_THREAD_LIMIT=1" in told.read_text()
    assert "secret" not in told.read_text()
    assert "stdin stdout -l eng+deu" in told.read_text()


def test_a_page_has_its_time_of_the_processor_and_more_by_the_clock(tmp_path: Path) -> None:
    waits = program(tmp_path / "waits", "sleep 1.5") / "tesseract"
    assert tesseract.Tesseract(str(waits), "eng", 0.9).words(PICTURE) == []
    works = program(tmp_path / "works", "while :; do :; done") / "tesseract"
    with pytest.raises(RecognitionTimedOut):
        tesseract.Tesseract(str(works), "eng", 0.9).words(PICTURE)


def test_no_tesseract_uses_more_memory_than_who_started_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    found = program(tmp_path, f'ulimit -v >"{told}"; ulimit -t >>"{told}"') / "tesseract"
    command = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29));"
        "from tasks.reading.ocr.tesseract import Tesseract; from tasks.reading.image import Picture;"
        "Tesseract(sys.argv[1], 'eng', 9.5).words(Picture(1, 1, b'x'))"
    )
    subprocess.run([sys.executable, "-c", command, found], env=ENVIRONMENT, check=True)
    assert told.read_text().split() == [str((1 << 29) // 1024), "10"]


READING = (
    "import sys; from tasks.reading.ocr.tesseract import Tesseract; from tasks.reading.image import Picture;"
    "Tesseract(sys.argv[1], 'eng', 60).words(Picture(1, 1, b'x'))"
)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGALRM])
def test_tesseract_ends_with_the_process_that_started_it(tmp_path: Path, how: signal.Signals) -> None:
    running = tmp_path / "running"
    found = program(tmp_path, f'echo $$ >"{running}"', "exec sleep 60") / "tesseract"
    with subprocess.Popen([sys.executable, "-c", READING, found], env=ENVIRONMENT) as reader:
        child = _pid(running)
        reader.send_signal(how)
    deadline = time.monotonic() + 20
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _pid(file: Path) -> int:
    deadline = time.monotonic() + 20
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(file.read_text())


@needs_tesseract
def test_a_closed_pool_leaves_no_tesseract_behind(tmp_path: Path) -> None:
    noise = scan(tmp_path / "noise.pdf", [Image.effect_noise((1500, 2100), 90)] * 4)
    engines = Engines("eng", rapidocr=False, program=tesseract.program())
    with ExtractionPool(1, Limits(), recognise_page) as pool:
        pool.submit(noise, order_page(".pdf", "1", engines))
        deadline = time.monotonic() + 30
        while not (running := _tesseracts()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    deadline = time.monotonic() + 5
    while any(map(is_running, running)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _tesseracts() -> set[int]:
    """The running programs of that name that descend from this process."""
    parents: dict[int, int] = {}
    named: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        parents[int(stat.parent.name)] = int(parent)
        if name == "tesseract" and state != "Z":
            named.add(int(stat.parent.name))
    return {pid for pid in named if _descends(pid, parents)}


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != os.getpid():
        pid = parents[pid]
    return pid == os.getpid()
