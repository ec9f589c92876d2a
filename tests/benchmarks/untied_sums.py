"""What a filing states and does not tie: audited filings as they are, and with a digit changed in a total.

`DILIGENCE_BENCH_FILINGS=FOLDER python -m tests.benchmarks untied_sums`; the folder has the pdfs/ of
patronus-ai/financebench. An audited filing ties, so that what is found in one as it is was read wrongly.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from tasks.errors import Unreadable
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.reading import read_document

FILINGS: Final = "DILIGENCE_BENCH_FILINGS"
_TOTALS: Final = re.compile(r"total assets\b|.{0,20}(?:increase|decrease|change).{0,40} in cash\b", re.IGNORECASE)
_FIRST_DIGIT: Final = re.compile(r"(\d)([,.]\d)")


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the filings are there."""
    folder = os.environ.get(FILINGS)
    files = [str(path) for path in sorted(Path(folder).rglob("*_10K.pdf"))] if folder else []
    if not files:
        return
    false, found, read, altered = 0, Counter[str](), 0, 0
    with ProcessPoolExecutor(2) as readers:
        for outcome in filter(None, readers.map(_untied, files)):
            as_it_is, changed, has_totals = outcome
            read += 1
            false += bool(as_it_is)
            altered += has_totals
            found.update(changed)
    yield "annual reports of which a sum is said not to tie", f"{false} of {read}", "0"
    for what, count in sorted(found.items()):
        yield f"a digit changed in its total is found: {what}", f"{count} of {altered}", "–"


def _untied(file: str) -> tuple[set[str], set[str], bool] | None:
    """What does not tie in a filing, and with a digit changed in its totals; whether it has such."""
    try:
        text = read_document(file).text
    except Unreadable:
        return None
    changed = "\n".join(map(_altered, text.split("\n")))
    return _ties(text, file), _ties(changed, file), text != changed


def _ties(text: str, file: str) -> set[str]:
    document = LedgerDocument(text, [], Path(file).name, ".pdf")
    return {tie.what for tie in find_figures(document, taxonomy()).ties}


def _altered(line: str) -> str:
    """The line; of a total the first figure behind its label has another first digit."""
    label, tab, figures = line.partition("\t")
    if not tab or not _TOTALS.match(label):
        return line
    return label + tab + _FIRST_DIGIT.sub(lambda digits: str((int(digits[1]) + 3) % 10) + digits[2], figures, count=1)
