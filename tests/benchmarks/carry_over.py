"""What a batch costs that was run before: unchanged, and with one document in a hundred changed.

python -m tests.benchmarks.carry_over [COMPANIES DOCUMENTS CRITERIA]

Without a model. The rooms are those of `tests.benchmarks.text_rooms`.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks.text_rooms import Cost, change, run, write_text_rooms

SIZES: Final = ((100, 20, 20), (100, 200, 20))
_TARGETS: Final = {(100, 20, 20): (80, 20, 25), (100, 200, 20): (None, 30, 45)}
_RUNS: Final = ("first run", "unchanged", "1 % changed")


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
        batch = write_text_rooms(Path(folder), companies, documents, criteria)
        first, same = run(batch), run(batch)
        change(batch.parent / "rooms", companies * documents // 100)
        return first, same, run(batch)


def main(words: list[str]) -> None:
    sizes = tuple(map(int, words)) or SIZES[0]
    for name, cost in zip(_RUNS, costs(*sizes), strict=True):
        print(name, cost, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
