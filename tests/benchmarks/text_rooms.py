"""Data rooms of text files for benchmarks of whole runs, and what a run of them costs. Without a model.

Processor time is that of a run with all its processes, readers and the Prefect server that it starts among them;
memory is the most that one of them had.
"""

import ctypes
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.batches import room_of, write_batch

_SUBJECTS: Final = (
    "revenue", "gross margin", "customer retention", "churn", "cash position", "debt", "litigation", "data protection",
    "key personnel", "supplier concentration", "patents", "insurance", "lease", "pension", "tax", "export licence",
    "environment", "security incident", "audit opinion", "board minutes",
)  # fmt: skip
_WORDS: Final = [
    word
    for line in (
        "the company management reported agreed during quarter contract customer period supplier increased decreased",
        "annual statement notice party under which board approved total remains subject to review and between after",
        "delivery service payment renewal obligation material position statement outlook market region team plant",
    )
    for word in line.split()
]


_PR_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2): orphans of this process's descendants become its own, so that it can wait for them."""


class Cost(NamedTuple):
    """Processor time and wall time in seconds, and the most memory that one process had, in MB."""

    processor: float
    wall: float
    memory: float


def write_text_rooms(folder: Path, companies: int, documents: int, criteria: int) -> Path:
    """A batch of data rooms of text files of some 3 KB, the same for the same figures; gives the batch's file."""
    dice = random.Random(7)
    for number in range(companies):
        room = room_of(folder, number)
        for document in range(documents):
            (room / f"{_SUBJECTS[document % len(_SUBJECTS)]} {document}.txt").write_text(_text(dice, number, document))
    return write_batch(folder, "Carry over", companies, [_criterion(number) for number in range(criteria)])


def _criterion(number: int) -> str:
    subject = _SUBJECTS[number % len(_SUBJECTS)]
    if number % 5 == 0:
        return f'id: q{number}, document: "*{subject}*"'
    if number % 5 == 1:
        return f'id: q{number}, figure: revenue, rule: "growth >= 10 %"'
    return f'id: q{number}, ask: "Is the {subject} of the company sound, and who says so?"'


def _text(dice: random.Random, company: int, document: int) -> str:
    subject = _SUBJECTS[document % len(_SUBJECTS)]
    lines = [f"{subject.capitalize()} of company {company}", ""]
    for paragraph in range(12):
        lines.append(" ".join(dice.choices(_WORDS, k=30)).capitalize() + ".")
        if paragraph % 4 == 0:
            lines.append(
                f"Revenue in {2020 + paragraph // 4} was EUR {100 + company + paragraph // 4 * 20} million, "
                f"and the {subject} of company {company} was reviewed in note {document}."
            )
        lines.append("")
    return "\n".join(lines)


def change(rooms: Path, count: int) -> None:
    """Change so many documents, spread over the rooms."""
    paths = sorted(rooms.glob("*/*.txt"))
    for path in paths[:: max(1, len(paths) // max(1, count))][:count]:
        path.write_text(path.read_text() + "\nThe auditor added a note on the going concern.\n")


def run(batch: Path) -> Cost:
    """Run a batch in a home beside it."""
    home = batch.parent / "home"
    environment = os.environ | {"DILIGENCE_HOME": str(home), "PREFECT_HOME": f"{home}/prefect"}
    for name in ("PREFECT_API_URL", "DILIGENCE_AI_MODEL"):
        environment.pop(name, None)
    words = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", str(batch.parent / "report")]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # the readers' fork servers outlive the run by a moment
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=said)
        used = [_wait(process)]
        wall = time.perf_counter() - start
        if process.returncode:
            said.seek(0)
            raise RuntimeError(said.read().decode(errors="replace"))
    with suppress(ChildProcessError):
        while True:
            used.append(os.wait4(-1, 0)[2])
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in used)
    return Cost(seconds, wall, max(usage.ru_maxrss for usage in used) / 1024)


def _wait(process: subprocess.Popen[bytes]) -> resource.struct_rusage:
    """What a process used, with those that it waited for."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used
