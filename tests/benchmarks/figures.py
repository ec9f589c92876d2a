"""Figures: right values of the main lines of annual reports, and what finding them costs.

DILIGENCE_BENCH_FILINGS names a folder with clones of dgunning/edgartools (`tests/fixtures`, web pages) and
trustbit/enterprise-rag-challenge (PDFs), anywhere below it; files are found by their names. `filing_figures.txt` has
the labels: a development part, and two that were opened once. `python -m tests.benchmarks.figures PART` lists what
is wrong.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import ACTUAL, Figure, taxonomy
from tasks.language.periods import count_months, last_day
from tasks.reading import read_document
from tests.benchmarks import extraction

LABELS: Final = Path(__file__).with_name("filing_figures.txt")
FILINGS: Final = "DILIGENCE_BENCH_FILINGS"


_ROOM: Final = """
import json, resource, sys, time
from pathlib import Path
from tasks.reading.embedded import read_with_embedded
from tasks.figures.figure import taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures

read = ledger = 0.0
for file in sorted(each for each in Path(sys.argv[1]).rglob("*") if each.is_file()):
    begun = time.process_time()
    reading = read_with_embedded(str(file), file.suffix)
    read += time.process_time() - begun
    begun = time.process_time()
    document = LedgerDocument(reading.text, [place for place in reading.places if place.kind != "cell"], file.name)
    find_figures(document, taxonomy())
    ledger += time.process_time() - begun
print(json.dumps([read, ledger, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


class Filing(NamedTuple):
    """A filing and its labels: values in base units by concept and last day."""

    name: str
    scale: Decimal
    values: dict[tuple[str, str], Decimal]


class Outcome(NamedTuple):
    """Of some filings: labels found, labels, figures given for a label that are right, all given; processor seconds."""

    found: int
    wanted: int
    right: int
    given: int
    read_seconds: float
    ledger_seconds: float


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); filings only where they are there."""
    folder = Path(os.environ.get(FILINGS, ""))
    for part, filings in labels().items() if os.environ.get(FILINGS) else ():
        outcome = compare(folder, filings)
        if outcome.wanted:
            precision = outcome.right / max(1, outcome.given)
            figure = f"precision {precision:.3f}, recall {outcome.found / outcome.wanted:.3f} ({outcome.wanted} labels)"
            yield f"main lines of filings, {part}", figure, "0.98, 0.90"
            share = 1 + outcome.ledger_seconds / outcome.read_seconds
            yield f"processor time with the ledger, {part}", f"{share:.2f} × reading", "1.3 ×"
    yield from _room()


def _room() -> Iterator[tuple[str, str, str]]:
    """Many documents of mixed formats (see `extraction`), read and looked through in one process."""
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder, "room")
        extraction.fill(room)
        words = [sys.executable, "-c", _ROOM, str(room)]
        environment = os.environ | {"DILIGENCE_OCR": "off"}
        read, ledger, peak = json.loads(subprocess.run(words, env=environment, check=True, capture_output=True).stdout)
    what = f"{extraction.DOCUMENTS:,} documents of mixed formats"
    yield f"processor time with the ledger, {what}", f"{1 + ledger / read:.2f} × reading", "1.3 ×"
    yield f"peak memory of reading and ledger, {what}", f"{peak:.0f} MB", "300 MB"


def labels() -> dict[str, list[Filing]]:
    """The labelled filings by part."""
    parts: dict[str, list[Filing]] = defaultdict(list)
    part = ""
    for line in LABELS.read_text("utf-8").splitlines():
        if line.startswith("["):
            part = line.strip("[]")
        elif line and not line.startswith("#"):
            name, scale, ends, rows = line.split("|")
            values = {
                (concept, end): Decimal(value) * Decimal(scale)
                for concept, *written in map(str.split, rows.split(";"))
                for end, value in zip(ends.split(), written, strict=True)
            }
            parts[part].append(Filing(name, Decimal(scale), values))
    return parts


def compare(folder: Path, filings: list[Filing], *, tell: bool = False) -> Outcome:
    """The figures of the filings that are there beside their labels; with `tell` what is wrong is printed."""
    files = {file.name: file for file in folder.rglob("*") if file.suffix in {".pdf", ".html"}}
    found = wanted = right = given = 0
    read_seconds = ledger_seconds = 0.0
    for filing in filings:
        if filing.name not in files:
            continue
        begun = time.process_time()
        reading = read_document(str(files[filing.name]))
        places = [place for place in reading.places if place.kind != "cell"]
        read_seconds += time.process_time() - begun
        begun = time.process_time()
        document = LedgerDocument(reading.text, places, filing.name)
        figures = find_figures(document, taxonomy()).figures
        ledger_seconds += time.process_time() - begun
        answers = _answers(figures)
        for key, value in filing.values.items():
            wanted += 1
            said = answers[key]
            fitting = [figure for figure in said.values() if _fits(figure, value, filing.scale)]
            found += bool(fitting)
            right += len(fitting)
            given += len(said)
            if tell and (not fitting or len(fitting) < len(said)):
                print(filing.name, *key, value, *(figure.value for figure in said.values()))
    return Outcome(found, wanted, right, given, read_seconds, ledger_seconds)


def _answers(figures: list[Figure]) -> dict[tuple[str, str], dict[Decimal, Figure]]:
    """The different values by concept and last day: actual ones of the whole company, of a year or a day."""
    answers: dict[tuple[str, str], dict[Decimal, Figure]] = defaultdict(dict)
    for figure in figures:
        is_year = "/" not in figure.period or 11 <= count_months(figure.period) <= 13
        if figure.entity is None and figure.basis in {None, *ACTUAL} and not figure.variant and is_year:
            answers[figure.concept, last_day(figure.period)].setdefault(figure.value, figure)
    return answers


def _fits(figure: Figure, value: Decimal, scale: Decimal) -> bool:
    return abs(figure.value - value) <= figure.step / 2 + scale / 2


if __name__ == "__main__":
    print(compare(Path(os.environ[FILINGS]), labels()[sys.argv[1]], tell=True))
