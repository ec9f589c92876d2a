"""Figures that stand apart from their label on the page, and behind one space in the text: cells that were not parted.

`DILIGENCE_BENCH_FILINGS=FOLDER python -m tests.benchmarks glued_figures`; the folder has PDFs. Where words stand,
poppler's `pdftotext -bbox` says. Some of what it finds is no table (a line of an address, an index with its page).
"""

import html
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Final

from tasks.errors import Unreadable
from tasks.reading import read_document

FILINGS: Final = "DILIGENCE_BENCH_FILINGS"
_WORD: Final = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>')
_FIGURE: Final = re.compile(r"[$€(]*-?\d[\d.,]*\)?%?")
_APART: Final = 3.0
"""Heights of a word that part a figure from its label, at least."""
_LEVEL: Final = 2.0
"""Points within which words stand in one line."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where there are PDFs and pdftotext."""
    folder = os.environ.get(FILINGS)
    files = [str(path) for path in sorted(Path(folder).rglob("*.pdf"))] if folder and shutil.which("pdftotext") else []
    if not files:
        return
    with ProcessPoolExecutor(2) as readers:
        counts = list(readers.map(_glued, files))
    glued, apart = (sum(count) for count in zip(*counts, strict=True))
    yield f"figures glued to labels that they stand apart from, {len(files)} PDFs", f"{glued} of {apart}", "–"


def _glued(file: str) -> tuple[int, int]:
    """How many figures stand behind one space, of how many that stand apart."""
    try:
        text = read_document(file).text
    except Unreadable:
        return 0, 0
    drawn = subprocess.run(["pdftotext", "-bbox", file, "-"], capture_output=True, text=True, check=True).stdout
    apart = [words for page in drawn.split("<page ")[1:] for words in _apart(page)]
    return sum(words in text for words in apart), len(apart)


def _apart(page: str) -> Iterator[str]:
    """The last two words of a label, and the figure that stands apart behind them, as one space would join them."""
    lines: dict[int, list[tuple[float, float, float, str]]] = defaultdict(list)
    for match in _WORD.finditer(page):
        left, top, right, bottom = map(float, match.groups()[:4])
        lines[round(bottom / _LEVEL)].append((left, right, bottom - top, html.unescape(match[5])))
    for line in lines.values():
        line.sort()
        for (before, last), (_, (left, _, height, figure)) in pairwise(pairwise(line)):
            if left - last[1] > _APART * height and last[3].isalpha() and _FIGURE.fullmatch(figure) and len(figure) > 1:
                yield f"{before[3]} {last[3]} {figure}"
