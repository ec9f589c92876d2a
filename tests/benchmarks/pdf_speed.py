"""Processor time of reading PDFs beside pypdfium2's, apart for those with tables and those without.

The two take turns on each document of DILIGENCE_BENCH_DOCUMENTS; the best of five counts, and the sums are compared.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tasks.errors import DiligenceError
from tasks.reading import text_writer
from tasks.reading.pdf import reader
from tests.benchmarks.peers import Turn

_PROJECT: Final = Path(__file__).parents[2]
_ROUNDS: Final = 5
_TARGETS: Final = {"with tables": "2 ×", "without tables": "1.2 ×"}


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    turns = [Turn("pdf_reader"), Turn("pypdfium2")]
    seconds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for document in sorted(Path(given or _PROJECT / "tests/documents").rglob("*.pdf")):
        best = _least(turns, document) if all(turn.there for turn in turns) else None
        if best is not None:
            seconds["with tables" if _has_table(document) else "without tables"].append(best)
    for turn in turns:
        turn.end()
    for kind, target in _TARGETS.items():
        ours, theirs = (sum(side) for side in zip(*seconds[kind], strict=True)) if seconds[kind] else (0.0, 0.0)
        figure = f"{ours / theirs:.2f} × pypdfium2 ({1000 * ours:.0f} of {1000 * theirs:.0f} ms)" if theirs else "–"
        yield f"time of {len(seconds[kind])} PDFs {kind}", figure, target


def _least(turns: Sequence[Turn], document: Path) -> tuple[float, float] | None:
    """The least time that each of two extractors takes; None where one of them does not read the document."""
    rounds = [[turn.take(document) or {"error": "crash"} for turn in turns] for _ in range(_ROUNDS)]
    if any("error" in answer for answers in rounds for answer in answers):
        return None
    ours, theirs = (min(answer["seconds"] for answer in side) for side in zip(*rounds, strict=True))
    return ours, theirs


def _has_table(document: Path) -> bool:
    try:
        return any(place.kind == text_writer.TABLE for place in reader.read(document).places)
    except DiligenceError:
        return False
