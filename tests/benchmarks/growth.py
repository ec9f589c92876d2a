"""How the cost of a run grows with its documents, its companies and its criteria. Without a model.

python -m tests.benchmarks.growth documents|companies|criteria [SIZE ...]

Each axis is measured at growing sizes, the others held: processor time of a first run, and of the same run again
unchanged, memory, and the bytes that both databases take on the disk. What is compared is the cost of one more
document, company or criterion: that of the last step beside that of the first. What a run costs before it begins
(imports, Prefect's server) falls out of both.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.benchmarks.text_rooms import Cost, run, write_text_rooms

_WIDTH: Final = 40  # characters of the longest bar


@dataclass(frozen=True, slots=True)
class Axis:
    """What grows. `batch` gives companies, documents a company, and criteria for a size; `target` is of the ratio."""

    batch: Callable[[int], tuple[int, int, int]]
    sizes: Sequence[int]
    target: float | None
    shape: str


AXES: Final = {
    "documents": Axis(lambda size: (10, size // 10, 20), (100, 1000, 4000, 20_000), 1.15, "10 companies, 20 criteria"),
    "companies": Axis(lambda size: (size, 20, 20), (10, 100, 1000), 1.1, "20 documents each, 20 criteria"),
    "criteria": Axis(lambda size: (20, 20, size), (5, 15, 30, 60), None, "20 companies of 20 documents"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """A size, what a first run of it costs, and an unchanged second one, and bytes of ours and Prefect's database."""

    size: int
    first: Cost
    again: Cost
    stored: tuple[int, int]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), at sizes that take some minutes."""
    yield from rows("documents", (100, 500, 2000))
    yield from rows("companies", (10, 30, 100))
    yield from rows("criteria", (5, 20, 60))


def rows(axis: str, sizes: Sequence[int]) -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target): a point each, then how the cost of one more has grown."""
    grows = AXES[axis]
    points = []
    for size in sizes:
        points.append(_point(axis, size))
        yield f"{size:,} {axis} ({grows.shape})", _in_words(points[-1], grows), ""
    if len(points) > 2:
        target = f"{grows.target} ×" if grows.target else ""
        yield f"{axis}, one more of the last step : of the first", f"{_growth(points):.2f} ×", target
    yield from ((f"{axis}, {label}", bar, "") for label, bar in chart(points))


def _point(axis: str, size: int) -> Point:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        batch = write_text_rooms(folder, *AXES[axis].batch(size))
        first = run(batch)
        stored = _stored(folder / "home")
        return Point(size, first, run(batch), stored)


def _stored(home: Path) -> tuple[int, int]:
    ours = sum(file.stat().st_size for file in home.glob("diligence.db*"))
    return ours, sum(file.stat().st_size for file in (home / "prefect").rglob("*.db*"))


def _in_words(point: Point, grows: Axis) -> str:
    companies, each, _ = grows.batch(point.size)
    ours, prefect = (size / (companies * each) / 1000 for size in point.stored)
    return (
        f"{point.first.processor:.1f} s, {point.first.memory:.0f} MB; unchanged {point.again.processor:.1f} s, "
        f"{point.again.memory:.0f} MB; database {ours:.1f} KB a document, Prefect's {prefect:.1f}"
    )


def _growth(points: Sequence[Point]) -> float:
    """The cost of one more in the last step, as a multiple of that in the first."""
    steps = _steps(points)
    return steps[-1] / steps[0]


def _steps(points: Sequence[Point]) -> list[float]:
    """The processor time of one more in each step, in milliseconds."""
    return [
        1000 * (later.first.processor - earlier.first.processor) / (later.size - earlier.size)
        for earlier, later in pairwise(points)
    ]


def chart(points: Sequence[Point]) -> Iterator[tuple[str, str]]:
    """A bar a step, as long as what one more costs in it."""
    steps = _steps(points)
    for earlier, later, cost in zip(points, points[1:], steps, strict=False):
        bar = "█" * max(1, round(_WIDTH * cost / max(steps)))
        yield f"{earlier.size:,} → {later.size:,}", f"{bar} {cost:.1f} ms"


def main(words: list[str]) -> None:
    """Measure one axis, or all of them, at these sizes or the largest ones."""
    for axis in words[:1] or AXES:
        for what, figure, _ in rows(axis, [int(word) for word in words[1:]] or AXES[axis].sizes):
            print(what, figure, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
