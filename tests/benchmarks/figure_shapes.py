"""What finding figures costs on texts of one shape, at n and at 4n, in processor seconds.

`python -m tests.benchmarks.figure_shapes` prints the table; `tests/tasks/figures/test_linear_time.py` holds it.
"""

import gc
import re
import tempfile
import time
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.reading.text_writer import HEADING, Place
from tests.benchmarks.text_rooms import write_text_rooms

_ROWS: Final = ("Cash", "Receipts", "Payroll", "Suppliers", "Rent", "Tax", "Debt", "Revenue", "EBITDA", "Other")


class Shape(NamedTuple):
    """A text by its size: the test's n, how it is written, and the file's name."""

    size: int
    write: Callable[[int], str]
    name: str = "shape.csv"


def _columns(count: int, head: Callable[[int], str]) -> str:
    lines = ["EUR\t" + "\t".join(map(head, range(count)))]
    lines += [f"{row}\t" + "\t".join(str(10_000 + 7919 * at % 9973) for at in range(count)) for row in _ROWS]
    return "\n".join(lines)


def _rows(count: int, name: Callable[[int], str]) -> str:
    lines = ["EUR thousand\t" + "\t".join(f"FY{10 + at}" for at in range(12))]
    lines += [f"{name(row)}\t" + "\t".join(str(row * 37 % 9973 + at) for at in range(12)) for row in range(count)]
    return "\n".join(lines)


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _sentences(count: int, write: Callable[[int], str]) -> str:
    return "# Acme\n\n" + "".join(f"{write(at)}\n\n" for at in range(count))


def _find_headings(text: str) -> list[Place]:
    """The headings of a Markdown text, each up to the next."""
    lines = list(re.finditer("^#+ (.+)", text, re.MULTILINE))
    ends = [line.start() for line in lines[1:]] + [len(text)] * bool(lines)
    return [Place(line.start(), end, HEADING, line[1]) for line, end in zip(lines, ends, strict=True)]


def _day(at: int) -> str:
    return (date(1990, 1, 1) + timedelta(days=at)).isoformat()


SHAPES: Final[dict[str, Shape]] = {
    "days in columns": Shape(250, lambda size: _columns(size, _day)),
    "names in columns": Shape(250, lambda size: _columns(size, lambda at: f"Segment {at}")),
    "measures in columns": Shape(150, lambda size: _columns(size, lambda at: f"Revenue {2000 + at % 60} EUR m")),
    "words among numbers": Shape(250, lambda size: "\n".join(["\t".join(["Cash", "12,345"] * size)] * 4)),
    "rows": Shape(500, lambda size: _rows(size, lambda at: f"{_ROWS[at % 10]} {at}")),
    "rows of days": Shape(500, lambda size: "EUR\tCash\n" + "\n".join(f"{_day(at)}\t{at}.5" for at in range(size))),
    "headers in one table": Shape(12_000, _repeated("Item\tEUR thousand\tof\nRevenue\t12\t13\n")),
    "pages that go on": Shape(
        8_000, lambda size: "\t2023\t2024\nRevenue\t1\t2\n" + _repeated("\fTitle\nCash\t2\t4\n")(size)
    ),
    "a label of years": Shape(30_000, lambda size: "Item\tRevenue\n" + "2024, " * (size // 6) + "\t12\n"),
    "headings under one": Shape(
        1500,
        lambda size: _sentences(size, lambda at: f"## Part {at}\n\n- Revenue in {1990 + at % 30}: $5 million"),
        "a.md",
    ),
    "values of one time": Shape(
        1000, lambda size: _sentences(size, lambda at: f"Revenue was ${at}.3 million in 2024.")
    ),
    "sentences in one paragraph": Shape(12_000, _repeated("Revenue was EUR 9.4 million in 2024. ")),
    "a line of cells": Shape(60_000, _repeated("12\t")),
    "a line of numbers": Shape(500_000, _repeated("1,234.5 ")),
    "a line of words": Shape(500_000, _repeated("revenue grew and cash was held by the company in ")),
    **{f"a run of {mark!r}": Shape(500_000, _repeated(mark)) for mark in ".0 ([,-$%a"},
}


def seconds(shape: Shape, times: int) -> float:
    """Processor seconds for the figures of a text of so many times the shape's size."""
    text = shape.write(shape.size * times)
    document = LedgerDocument(text, _find_headings(text), shape.name)
    concepts = taxonomy()
    gc.collect()  # what other tests left is not this text's
    before = time.process_time()
    find_figures(document, concepts)
    return time.process_time() - before


def seconds_of_rooms(companies: int) -> float:
    """Processor seconds for the figures of rooms of 20 texts of 3 KB each, as whole runs are measured with."""
    with tempfile.TemporaryDirectory() as folder:
        write_text_rooms(Path(folder), companies, 20, 20)
        texts = [(file.read_text(), file.name) for file in Path(folder).glob("rooms/*/*.txt")]
    before = time.process_time()
    for text, name in texts:
        find_figures(LedgerDocument(text, [], name), taxonomy())
    return time.process_time() - before


if __name__ == "__main__":
    find_figures(LedgerDocument("Revenue was EUR 9.4 million in 2024.", []), taxonomy())
    for name, measured in SHAPES.items():
        once, four = (min(seconds(measured, times) for _ in range(2)) for times in (1, 4))
        print(f"| {name} | {measured.size:,} | {once:.2f} | {four:.2f} | {four / max(once, 0.005):.1f} |")
    print(f"100 rooms of 20 texts: {seconds_of_rooms(100):.1f} s")
