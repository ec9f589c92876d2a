"""What a batch costs that was run before: unchanged, and with one document in a hundred changed.

python -m tests.benchmarks.carry_over [COMPANIES DOCUMENTS CRITERIA]

Processor time of the run with all its processes, readers and the Prefect server that it starts included; memory is the
most that one process had. Without a model.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.batches import room_of, write_batch

SIZES: Final = ((100, 20, 20), (100, 200, 20))
_TARGETS: Final = {(100, 20, 20): (80, 20, 25), (100, 200, 20): (None, 30, 45)}
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
_RUNS: Final = ("first run", "unchanged", "1 % changed")


class Cost(NamedTuple):
    """Processor time and wall time in seconds, and the most memory that one process had, in MB."""

    processor: float
    wall: float
    memory: float


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for companies, documents, criteria in SIZES:
        what = f"{companies} companies × {documents} documents × {criteria} criteria"
        targets = _TARGETS[companies, documents, criteria]
        for name, cost, target in zip(_RUNS, costs(companies, documents, criteria), targets, strict=True):
            figure = f"{cost.processor:.0f} s of processor time, {cost.wall:.0f} s, {cost.memory:.0f} MB"
            yield f"{what}, {name}", figure, f"{target} s" if target else ""


def costs(companies: int, documents: int, criteria: int) -> tuple[Cost, Cost, Cost]:
    """What a first run costs, a second one of the unchanged batch, and one with 1 % of the documents changed."""
    with tempfile.TemporaryDirectory() as folder:
        batch = _write_batch(Path(folder), companies, documents, criteria)
        first, same = run(batch), run(batch)
        change(batch.parent / "rooms", companies * documents // 100)
        return first, same, run(batch)


def _write_batch(folder: Path, companies: int, documents: int, criteria: int) -> Path:
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
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(processor, wall, after.ru_maxrss / 1024)


def main(words: list[str]) -> None:
    sizes = tuple(map(int, words)) or SIZES[0]
    for name, cost in zip(_RUNS, costs(*sizes), strict=True):
        print(name, cost, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
