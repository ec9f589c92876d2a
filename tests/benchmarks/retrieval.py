"""Retrieval: `tasks.ranking` beside plain BM25 (bm25s) in the same run, on annual reports, on contracts, and at size.

The reports are PDFs in the folder that DILIGENCE_BENCH_QUESTIONS names, anywhere under `enterprise-rag-challenge`:

*.pdf
    annual reports, as the repository trustbit/enterprise-rag-challenge has them (named by their SHA-1).
round2/answers.json
    its own questions, with the pages that hold the answer, proofread by people.

`annual_reports.json` has questions of ours on those reports, with their pages counted from 1. `development` and `shut`
are questions of 34 kinds, no kind and no report in both, each kind once in textbook terms and twice plainly, as an
analyst says it. Their pages were found by what must stand on them (figures, titles, line items). `single_pages` were
each written for one page that was drawn by lot.

What is ranked are the pages of one report. `contracts.py` has the contracts, `passages.py` filings and regulations.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from tasks.reading.embedded import read_with_embedded
from tests.benchmarks import contracts, passages
from tests.benchmarks.contracts import FOLDER
from tests.benchmarks.questions import PARTS, Question, compared, plans

QUESTIONS: Final = Path(__file__).with_name("annual_reports.json")
REPORTS: Final = "enterprise-rag-challenge"
PASSAGES: Final = 100_000
WORDINGS: Final = {"in_terms": ("in terms", "0.80"), "plainly": ("plainly", "plain BM25 + 0.05")}

_AT_SIZE = """
import json, random, resource, sys, time
from tests.benchmarks.questions import plain
from tasks.ranking import WordIndex

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


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); only those whose documents are there."""
    folder = Path(os.environ.get(FOLDER, "")) / REPORTS
    reports = Reports(folder)
    for name, questions, target in (*own(reports), ("asked by people", people(reports, folder), "0.60")):
        yield from compared(f"annual reports, {name}", questions, 5, target)
    yield from contracts.measure()
    yield from passages.measure()
    yield from at_size()


class Reports:
    """The reports in a folder that are what the questions were written on, told by the beginning of their names."""

    def __init__(self, folder: Path) -> None:
        listed: dict[str, str] = json.loads(QUESTIONS.read_text("utf-8"))["documents"]
        files = {file.stem: file for file in sorted(folder.rglob("*.pdf"))} if folder.is_dir() else {}
        self._files = {
            name[:8]: file
            for name, file in files.items()
            if name not in listed or hashlib.sha256(file.read_bytes()).hexdigest() == listed[name]
        }

    def questions(self, report: str, text: str, pages: list[int], plan: tuple[str, ...] = ()) -> list[Question]:
        """The question that pages, counted from 1, answer; none where the report is not there."""
        file = self._files.get(report[:8])
        return [Question(text, _pages(file), frozenset(page - 1 for page in pages), plan)] if file else []


@cache
def _pages(file: Path) -> list[str]:
    return read_with_embedded(str(file)).text.split("\f")


def own(reports: Reports) -> Iterator[tuple[str, list[Question], str]]:
    """The questions of `annual_reports.json` by set, each with its target."""
    content: dict[str, Any] = json.loads(QUESTIONS.read_text("utf-8"))
    for part in PARTS:
        for wording, (called, target) in WORDINGS.items():
            questions = [
                question
                for report, pages, kind in content[part]
                for text in content["kinds"][kind][wording]
                for question in reports.questions(
                    report, text.format(company=content["companies"][report]), pages, plans().get(text, ())
                )
            ]
            yield f"{called}, {part}", questions, target
    rows = content["single_pages"]
    yield (
        "written for single pages",
        [question for report, pages, text in rows for question in reports.questions(report, text, pages)],
        "0.60",
    )


def people(reports: Reports, folder: Path) -> list[Question]:
    """The challenge's own questions that one report answers, with pages counted from 0."""
    file = next(iter(sorted(folder.rglob("round2/answers.json"))), None) if folder.is_dir() else None
    questions: list[Question] = []
    for text, answer in json.loads(file.read_text("utf-8")).items() if file else ():
        pages: dict[str, list[int]] = defaultdict(list)
        for reference in (reference for pool in answer["reference_pools"] for reference in pool):
            report, page = reference.split(":")
            pages[report].append(int(page) + 1)
        if len(pages) == 1:
            questions.extend(
                question for report, numbers in pages.items() for question in reports.questions(report, text, numbers)
            )
    return questions


def at_size() -> Iterator[tuple[str, str, str]]:
    """Time and memory for many passages of drawn words, each ranker in a process of its own."""
    content: dict[str, Any] = json.loads(QUESTIONS.read_text("utf-8"))
    questions = json.dumps([text for kind in content["kinds"].values() for text in kind["in_terms"]])
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
