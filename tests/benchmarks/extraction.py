"""`extract_all`, Prefect and storage included, beside the same readers in a bare process pool."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "deployments" / "sample" / "rooms"
DOCUMENTS = 2000
ROUNDS = 3

_BARE = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tasks.documents.extract.formats import read_document

if __name__ == "__main__":
    files = sorted(each for each in Path(sys.argv[1]).rglob("*") if each.is_file())
    start = time.perf_counter()
    with ProcessPoolExecutor(mp_context=get_context("forkserver")) as pool:
        characters = sum(len(each.text) for each in pool.map(read_document, files, [each.suffix for each in files]))
        print(time.perf_counter() - start, characters)
"""

_FLOW = """
import json, resource, sys, time
from flows import embedded

if __name__ == "__main__":
    with embedded.server():
        from flows.extract_all import extract_all
        from flows.index_folder import index_folder

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
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder, "room")
        small_documents(room)
        pairs = [(_run(_BARE, room, folder), _run(_FLOW, room, f"{folder}/{round_}")) for round_ in range(ROUNDS)]
    ratios = []
    for bare, flow in pairs:
        seconds, peak, counts, again, unchanged = json.loads(flow)
        assert counts == {"read": DOCUMENTS}, counts
        assert unchanged == {"unchanged": DOCUMENTS}, unchanged
        ratios.append((seconds / float(bare.split()[0]), float(bare.split()[0]), seconds, peak, again))
    ratio, bare_seconds, seconds, peak, again = sorted(ratios)[ROUNDS // 2]
    yield (
        f"{DOCUMENTS:,} small documents through `extract_all` : bare pool, median of {ROUNDS} pairs",
        f"{ratio:.2f} × ({seconds:.1f} s : {bare_seconds:.1f} s)",
        "1.5 ×",
    )
    yield "the same again, unchanged", f"{again:.1f} s", "–"
    yield "peak memory of the parent", f"{peak:.0f} MB", "400 MB"


def small_documents(room: Path) -> None:
    """The sample's readable documents, each many times, no two of the same content."""
    unreadable = ("scan", "Pensionsgutachten")
    originals = sorted(
        each
        for each in SAMPLE.rglob("*")
        if each.suffix in {".docx", ".pptx", ".xlsx", ".pdf", ".txt"}
        and not any(word in each.name for word in unreadable)
    )
    for number in range(DOCUMENTS):
        original = originals[number % len(originals)]
        copy = room / f"{number % 40:02}" / f"{number}{original.suffix}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(original.read_bytes())
        if original.suffix in {".pdf", ".txt"}:
            with copy.open("ab") as file:
                file.write(b"\n%% %d" % number)
        else:
            with zipfile.ZipFile(copy, "a") as package:
                package.comment = b"%d" % number


def _run(program: str, room: Path, home: str) -> str:
    environment = os.environ | {
        "DILIGENCE_HOME": f"{home}/home",
        "PREFECT_HOME": f"{home}/home/prefect",
        "DILIGENCE_DRIVE_ROOT": str(room.parent),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    environment.pop("PREFECT_API_URL", None)
    script = Path(home, "program.py")
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(program)
    words = [sys.executable, str(script), "room" if program is _FLOW else str(room)]
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout
