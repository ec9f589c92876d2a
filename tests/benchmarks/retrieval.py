"""Retrieval: `tasks.ranking` beside plain BM25 (bm25s) in the same run, on annual reports, on contracts, and at size.

The reports are PDFs in the folder that DILIGENCE_BENCH_QUESTIONS names, anywhere under `enterprise-rag-challenge`:

*.pdf
    annual reports, as the repository trustbit/enterprise-rag-challenge has them (named by their SHA-1).
round2/answers.json
    its own questions, with the pages that hold the answer, proofread by people.

`annual_reports.json` has questions of ours on those reports, with their pages counted from 1: `chosen_on` and
`held_out` are an analyst's questions of 35 kinds, no kind and no report in both, whose pages were found by what must
stand on them (figures, titles, line items); `single_pages` were each written for one page that was drawn by lot.
What fails was looked at in `chosen_on` alone; the figures of all sets were seen while constants were chosen.

What is ranked are the pages of one report. `contracts.py` has the contracts.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

from tasks.documents.extract.embedded import read_with_embedded
from tasks.ranking import Index
from tests.benchmarks import contracts
from tests.benchmarks.contracts import FOLDER, Ranker

QUESTIONS: Final = Path(__file__).with_name("annual_reports.json")
REPORTS: Final = "enterprise-rag-challenge"
PASSAGES: Final = 100_000
DEEP: Final = 100  # a page behind these counts as not found

_AT_SIZE = """
import json, random, resource, sys, time
from tests.benchmarks.contracts import plain
from tasks.ranking import Index

words = sorted(set(open(sys.argv[2], encoding="utf-8").read().split()))
draw = random.Random(1)
weights = [1 / (rank + 5) for rank in range(len(words))]
texts = [" ".join(draw.choices(words, weights, k=100)) for _ in range(int(sys.argv[3]))]
build = Index if sys.argv[1] == "ours" else plain
memory = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = memory(), time.perf_counter()
index = build(texts)
built = time.perf_counter() - start
rank = index.rank if sys.argv[1] == "ours" else index
rank("governing law", 30)
seconds = []
for question in json.loads(sys.argv[4]):
    start = time.perf_counter()
    rank(question, 30)
    seconds.append(time.perf_counter() - start)
print(json.dumps([built, max(seconds), before, memory(), sum(map(len, texts)) / len(texts)]))
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on a report: the report's name, the pages that answer it, counted from 0."""

    report: str
    question: str
    pages: frozenset[int]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); those on reports and contracts only where they are."""
    folder = Path(os.environ.get(FOLDER, "")) / REPORTS
    files = unchanged(folder)
    pages: dict[str, list[str]] = {}
    for name, listed in (own() | people(folder)).items():
        asked = [each for each in listed if each.report in files]
        if not asked:
            continue
        for report in sorted({each.report for each in asked} - pages.keys()):
            pages[report] = read_with_embedded(str(files[report])).text.split("\f")
        ours, baseline = places(asked, pages, lambda texts: Index(texts).rank), places(asked, pages, contracts.plain)
        what = f"annual reports, {name.replace('_', ' ')} ({len(asked)} questions)"
        for first, target in ((5, "0.60"), (10, "0.75")):
            yield (
                f"{what}: a page within the first {first}",
                f"{within(ours, first):.3f} (plain BM25 {within(baseline, first):.3f})",
                target,
            )
        yield f"{what}: mean reciprocal rank", f"{reciprocal(ours):.3f} (plain BM25 {reciprocal(baseline):.3f})", "–"
    yield from contracts.measure()
    yield from at_size()


def own() -> dict[str, list[Asked]]:
    """The questions of `annual_reports.json`, by set. A report is told by the beginning of its name."""
    content: dict[str, Any] = json.loads(QUESTIONS.read_text("utf-8"))
    named = {name[:8]: name for name in content.pop("documents")}
    return {
        name: [
            Asked(named[report], question, frozenset(page - 1 for page in pages)) for report, pages, question in listed
        ]
        for name, listed in content.items()
    }


def people(folder: Path) -> dict[str, list[Asked]]:
    """The challenge's own questions that one report answers."""
    file = next(iter(sorted(folder.rglob("round2/answers.json"))), None) if folder.is_dir() else None
    found: list[Asked] = []
    for question, answer in json.loads(file.read_text("utf-8")).items() if file else ():
        pages: dict[str, set[int]] = defaultdict(set)
        for reference in (each for pool in answer["reference_pools"] for each in pool):
            report, page = reference.split(":")
            pages[report].add(int(page))
        if len(pages) == 1:
            found.extend(Asked(report, question, frozenset(numbers)) for report, numbers in pages.items())
    return {"asked by people": found}


def places(
    asked: Sequence[Asked], pages: dict[str, list[str]], index: Callable[[list[str]], Ranker]
) -> list[int | None]:
    """For each question the rank of the first page that answers it, from 1; None behind `DEEP`."""
    rankers = {report: index(pages[report]) for report in {each.report for each in asked}}
    found: list[int | None] = []
    for each in asked:
        order = [position for position, _score in rankers[each.report](each.question, DEEP)]
        found.append(min((order.index(page) + 1 for page in each.pages if page in order), default=None))
    return found


def within(found: Sequence[int | None], first: int) -> float:
    return mean(rank is not None and rank <= first for rank in found)


def reciprocal(found: Sequence[int | None]) -> float:
    return mean(1 / rank if rank else 0.0 for rank in found)


def at_size() -> Iterator[tuple[str, str, str]]:
    """Time and memory for many passages of drawn words, each ranker in a process of its own."""
    questions = json.dumps([each.question for each in own()["held_out"][::8]])
    vocabulary = Path(__file__).parents[2] / "tasks" / "ranking" / "vocabulary" / "contracts.toml"
    measured = {}
    for name in ("ours", "plain"):
        command = [sys.executable, "-c", _AT_SIZE, name, str(vocabulary), str(PASSAGES), questions]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        measured[name] = json.loads(done.stdout)
    (built, slowest, before, peak, characters), theirs = measured["ours"], measured["plain"]
    what = f"{PASSAGES:,} passages of {characters:.0f} characters"
    yield f"{what}: building the index", f"{built:.1f} s (plain BM25 {theirs[0]:.1f} s)", "30 s"
    yield f"{what}: slowest question", f"{1000 * slowest:.0f} ms (plain BM25 {1000 * theirs[1]:.0f} ms)", "300 ms"
    yield (
        f"{what}: peak memory of the process, passages included",
        f"{peak:.0f} MB, {peak - before:.0f} of them by the index (plain BM25 {theirs[3]:.0f} MB)",
        "500 MB",
    )


def unchanged(folder: Path) -> dict[str, Path]:
    """The reports in a folder by name, but for those that are not what the questions were written on."""
    listed: dict[str, str] = json.loads(QUESTIONS.read_text("utf-8"))["documents"]
    files = {file.stem: file for file in sorted(folder.rglob("*.pdf"))} if folder.is_dir() else {}
    return {
        name: file
        for name, file in files.items()
        if name not in listed or hashlib.sha256(file.read_bytes()).hexdigest() == listed[name]
    }
