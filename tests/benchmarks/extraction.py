"""`extract_all`, Prefect and storage included, beside the same readers in a bare process pool.

The documents are the sample's, or those of the folder that DILIGENCE_BENCH_DOCUMENTS names, each many times and
no two of the same content. Those that give no text are left out, and scans are not recognised: the bare pool
has no limits, and would not read them.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Final

from tasks.errors import DiligenceError
from tasks.reading import formats
from tasks.reading.pool.pool import ExtractionPool
from tasks.reading.text_writer import Reading

SAMPLE: Final = Path(__file__).parents[2] / "deployments" / "sample" / "rooms"
DOCUMENTS: Final = 2000
ROUNDS: Final = 3

_BARE = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tasks.reading.embedded import read_with_embedded

if __name__ == "__main__":
    files = sorted(each for each in Path(sys.argv[1]).rglob("*") if each.is_file())
    start = time.perf_counter()
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        readings = pool.map(read_with_embedded, files, [file.suffix for file in files])
        characters = sum(len(reading.text) for reading in readings)
        print(time.perf_counter() - start)
"""

_OURS = """
import sys, time
from pathlib import Path
from tasks.reading.pool.pool import ExtractionPool

if __name__ == "__main__":
    files = sorted(each for each in Path(sys.argv[1]).rglob("*") if each.is_file())
    start = time.perf_counter()
    with ExtractionPool() as pool:
        characters = sum(len(each.result().text) for each in [pool.submit(each, each.suffix) for each in files])
        print(time.perf_counter() - start)
"""

_FLOW = """
import json, resource, sys, time
from flows import prefect_server

if __name__ == "__main__":
    with prefect_server.server():
        from flows.due_diligence import extract_all
        from flows.due_diligence import index_folder

        room = index_folder(sys.argv[1])
        start = time.perf_counter()
        counts = extract_all(sys.argv[1], room_id=room)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        again = extract_all(sys.argv[1], room_id=room)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([seconds, peak, counts, time.perf_counter() - start, again]))
"""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    bare: list[float] = []
    ours: list[float] = []
    flow: list[float] = []
    peaks: list[float] = []
    repeated: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder, "room")
        fill(room)
        for turn in range(ROUNDS):
            home = Path(folder, str(turn))
            bare.append(float(_run(_BARE, str(room), home, room)))
            seconds, peak, counts, again, unchanged = json.loads(_run(_FLOW, "room", home, room))
            ours.append(float(_run(_OURS, str(room), home, room)))
            assert counts == {"read": DOCUMENTS}, counts
            assert unchanged == {"unchanged": DOCUMENTS}, unchanged
            flow.append(seconds)
            peaks.append(peak)
            repeated.append(again)
    what = f"{DOCUMENTS:,} documents through `extract_all`"
    for beside, others, target in (("ProcessPoolExecutor", bare, "1.25 ×"), ("our pool, bare", ours, "–")):
        ratio = median(one / other for one, other in zip(flow, others, strict=True))
        seconds = f"{median(flow):.1f} s : {median(others):.1f} s"
        yield f"{what} : {beside}, median of {ROUNDS} pairs", f"{ratio:.2f} × ({seconds})", target
    yield "the same again, unchanged", f"{median(repeated):.1f} s", "–"
    yield "peak memory of the parent", f"{max(peaks):.0f} MB", "400 MB"


def fill(room: Path) -> None:
    """Copies of the documents, no two of the same content."""
    originals = cycle(_originals(Path(os.environ.get("DILIGENCE_BENCH_DOCUMENTS", SAMPLE))))
    for number in range(DOCUMENTS):
        original = next(originals)
        copy = room / f"{number % 40:02}" / f"{number}{original.suffix}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        _copy(original, copy, number)


def _originals(folder: Path) -> list[Path]:
    """The documents that give a text, also when they are changed."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in formats.list_supported())
    with tempfile.TemporaryDirectory() as changed, ExtractionPool() as pool:
        readings = []
        for number, original in enumerate(found):
            copy = Path(changed, f"{number}{original.suffix}")
            try:
                _copy(original, copy, number)
            except (zipfile.BadZipFile, ValueError):
                continue
            readings.append((original, pool.submit(copy, copy.suffix)))
        return [original for original, reading in readings if _gives_text(reading)]


def _gives_text(reading: "Future[Reading]") -> bool:
    try:
        return bool(reading.result().text)
    except DiligenceError:
        return False


def _copy(original: Path, copy: Path, number: int) -> None:
    """The document with the number in it, where no reader looks; a text has it at its end.

    Raises:
        BadZipFile, ValueError: its form does not allow that.
    """
    content = original.read_bytes()
    if original.suffix == ".txt" and b"\0" in content:
        raise ValueError("its characters are wider than a byte")
    copy.write_bytes(content)
    if original.suffix in {".pdf", ".txt"}:
        with copy.open("ab") as file:
            file.write(b"\n%% %d" % number)
    else:
        with zipfile.ZipFile(copy, "a") as package:
            package.comment = b"%d" % number


def _run(program: str, given: str, home: Path, room: Path) -> str:
    environment = os.environ | {
        "DILIGENCE_HOME": f"{home}/home",
        "PREFECT_HOME": f"{home}/home/prefect",
        "DILIGENCE_DRIVE_ROOT": str(room.parent),
        "DILIGENCE_OCR": "off",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    environment.pop("PREFECT_API_URL", None)
    script = home / "program.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(program)
    words = [sys.executable, str(script), given]
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout
