"""Questions about whole rooms of strangers, asked as `ask --room` does without a model: answered, or silent.

DILIGENCE_BENCH_FILINGS names a folder with clones of the repositories in `asked_rooms.txt`, anywhere below it. A
question is answered where a sentence that is shown has its pattern; one without a pattern is right in silence.
`python -m tests.benchmarks.asked_rooms PART` lists what is wrong of a part.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from deployments.rooms import read_place
from tasks.rooms import RoomPassages, ask_room
from tests.benchmarks.document_kinds import read_rows
from tests.benchmarks.single_figures import FILINGS
from tests.homes import make_home

_FILE = "asked_rooms.txt"


def measure(*, tell: str = "") -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the repositories are there; what is wrong of the part `tell` is printed."""
    if not os.environ.get(FILINGS):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DILIGENCE_HOME"] = str(make_home(Path(folder) / "home"))
        rooms = {
            name: _gather(Path(folder) / name, *rest) for part, (name, *rest) in read_rows(_FILE, 3) if part == "rooms"
        }
        passages = {
            name: RoomPassages(read_place(str(room)).texts, [str(room)], by_meaning=True)
            for name, room in rooms.items()
            if room
        }
        for wanted in ("open", "shut", "fresh open", "fresh shut"):
            rows = [row for part, row in read_rows(_FILE, 3) if part == wanted and row[0] in passages]
            right = [
                _is_right(passages[name], name, question, pattern, tell=wanted == tell)
                for name, question, pattern in rows
            ]
            for has_answer, what in ((True, "answered"), (False, "silent")):
                of = [is_right for is_right, row in zip(right, rows, strict=True) if bool(row[2]) is has_answer]
                yield f"questions about rooms without a model, {wanted}: {what}", f"{sum(of)} of {len(of)}", ".85; .90"


def _gather(room: Path, repository: str, paths: str) -> Path | None:
    """A folder with some of a repository's paths; None if there is no clone of it."""
    found = Path(os.environ[FILINGS]).rglob(repository.rsplit("/", 1)[-1])
    clones = [one for one in found if (one / paths.split(maxsplit=1)[0]).exists()]
    for path in paths.split() if clones else ():
        (room / path).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (clones[0] / path).is_dir() else shutil.copy)(clones[0] / path, room / path)
    return room if clones else None


def _is_right(passages: RoomPassages, company: str, question: str, pattern: str, *, tell: bool) -> bool:
    answer = ask_room(question, passages, company)
    is_right = any(re.search(pattern, quote.text) for quote in answer.quotes) if pattern else answer.missing
    if tell and not is_right:
        print(question, [quote.text for quote in answer.quotes[:1]])
    return is_right


if __name__ == "__main__":
    for row in measure(tell=sys.argv[1] if sys.argv[1:] else ""):
        print(*row, sep="  ")
