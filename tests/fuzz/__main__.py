"""`make fuzz`: mutated documents through the real pool; every crash, hang or breach of a promise is kept as a test.

python -m tests.fuzz [--seconds 600] [--cases 10000] [--seed N] [--formats docx,pdf] [--documents DIR] [--findings DIR]

Ends with status 1 if anything was found. The same seed and documents give the same cases again; `--case N`
writes one of them to the working directory and reads nothing.
"""

import argparse
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Final

from tasks.reading.pool.pool import ExtractionPool, Limits
from tasks.reading.text_writer import Reading
from tests.fuzz import findings, watched
from tests.fuzz.mutations import Case, case
from tests.fuzz.reducer import reduced
from tests.fuzz.seeds import Seeds
from tests.fuzz.verdict import Verdict, judge

_IN_FLIGHT: Final = 16
_REDUCING_SECONDS: Final = 60


def main() -> int:
    """Run the cases, keep what is found, print the counts. Returns the exit status."""
    wanted = _arguments()
    seeds = Seeds(wanted.documents, tuple(f".{name}" for name in wanted.formats.split(",") if name))
    if not seeds.formats:
        _say("There is no document to begin with.")
        return 2
    if wanted.case is not None:
        chosen = case(seeds, wanted.seed, wanted.case)
        Path(f"case-{wanted.seed}-{wanted.case}{chosen.extension}").write_bytes(chosen.data)
        return 0
    logging.disable(logging.WARNING)  # the pool's own words on each failure; the verdicts say the same
    began = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str], tuple[Case, Verdict, int]] = {}
    slowest, largest = Verdict("", "", 0, 0), Verdict("", "", 0, 0)
    with tempfile.TemporaryDirectory() as folder, ExtractionPool(limits=_limits(), read=watched.read) as pool:
        for each, verdict in _verdicts(pool, Path(folder), seeds, wanted.seed, wanted.cases, began + wanted.seconds):
            counts[each.extension, verdict.outcome] += 1
            slowest = max(slowest, verdict, key=lambda one: one.seconds)
            largest = max(largest, verdict, key=lambda one: one.peak_mb)
            if not verdict.fine:
                first, _, times = found.get((each.extension, verdict.kind), (each, verdict, 0))
                found[each.extension, verdict.kind] = (first, verdict, times + 1)
        seconds = time.monotonic() - began
        for first, verdict, times in found.values():
            _say(f"case {first.number}, {times} ×: {_kept(pool, Path(folder), first, verdict, wanted.findings)}")
    for (extension, outcome), count in sorted(counts.items()):
        _say(f"{extension:6}{outcome:20}{count:7,}")
    _say(
        f"{counts.total():,} cases in {seconds:.0f} s, {counts.total() / seconds:.1f} a second; seed {wanted.seed}; "
        f"the slowest took {slowest.seconds:.1f} s, the largest {largest.peak_mb:.0f} MB"
    )
    return int(any(verdict.outcome != "contained" for _, verdict, _ in found.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=600, help="start no case after so long")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", default="", help="docx,pdf: those alone")
    parser.add_argument("--documents", type=Path, help="a folder of documents to mutate instead of the sample's")
    parser.add_argument("--findings", type=Path, default=findings.FOLDER, help="where to keep what is found")
    parser.add_argument("--case", type=int, help="write this case to the working directory and stop")
    return parser.parse_args()


def _limits() -> Limits:
    return Limits(seconds=watched.LIMIT_SECONDS, memory_mb=watched.LIMIT_MB)


def _verdicts(
    pool: ExtractionPool, folder: Path, seeds: Seeds, seed: int, cases: int, end: float
) -> Iterator[tuple[Case, Verdict]]:
    """Each case with its verdict, as they come; a few are always on their way."""
    waiting: dict[Future[Reading], tuple[Case, Path]] = {}
    number = 0
    while True:
        while number < cases and len(waiting) < _IN_FLIGHT and time.monotonic() < end:
            each = case(seeds, seed, number)
            path = _written(folder, each.data, f"{number}{each.extension}")
            waiting[pool.submit(path, each.extension)] = each, path
            number += 1
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            each, path = waiting.pop(future)
            yield each, judge(path, each.extension, future)
            _forget(path)


def _kept(pool: ExtractionPool, folder: Path, first: Case, verdict: Verdict, keeping: Path) -> str:
    """The line on a finding, which is made small and kept if it comes again."""

    def judged(data: bytes) -> Verdict:
        path = _written(folder, data, f"again{first.extension}")
        try:
            return judge(path, first.extension, pool.submit(path, first.extension))
        finally:
            _forget(path)

    if judged(first.data).kind != verdict.kind:
        return f"{first.extension} {verdict.kind}, which did not come again"
    slow = verdict.outcome == "hung"
    small = (
        first.data if slow else reduced(first.data, lambda data: judged(data).kind == verdict.kind, _REDUCING_SECONDS)
    )
    return findings.keep(small, first.extension, verdict, keeping)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _written(folder: Path, data: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _forget(path: Path) -> None:
    path.unlink()
    watched.record_of(path).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
