"""The order in which readers of PDFs give the words: runs of four words that other readers agree on.

Nobody has written down in what order a page is to be read. Two readers that share no code with PDFium, one that lays
pages out (poppler's pdftotext) and one that gives them as they are drawn (PyMuPDF), say it here: a run counts as often
as both of them give it. The figure is the share of these runs that a reader gives, for ours and pypdfium2, in the same
run; and the same where a run counts that two of the three others give, pypdfium2 being one. Hyphens and line ends
behind them do not count. The documents, those of DILIGENCE_BENCH_DOCUMENTS, fall into two halves by their names: the
worst of the one are looked at, the other stays shut.

    python -m tests.benchmarks.word_order     lists the worst of the development half
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import md5
from pathlib import Path
from statistics import mean
from typing import Final

from tests.benchmarks.peers import Turn
from tests.benchmarks.truth import words

_PROJECT: Final = Path(__file__).parents[2]
_READERS: Final = ("ours", "pypdfium2", "pymupdf")
_RUN: Final = 4
_HYPHEN: Final = re.compile("(?<=\\w)[-\xad\u2010\x02\ufffe] ?\r?\n?(?=\\w)")
_PATIENCE: Final = 90
_TARGET: Final = 0.985

Runs = Counter[tuple[str, ...]]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    read = _read(sorted(Path(given or _PROJECT / "tests/documents").rglob("*.pdf")))
    for half in ("development", "shut"):
        documents = [runs for name, runs in read.items() if _half(name) == half]
        for label, panel in (("poppler and PyMuPDF", ("poppler", "pymupdf")), ("two of three", None)):
            for reader in ("ours", "pypdfium2"):
                shares = [_share(runs, reader, panel) for runs in documents]
                yield f"order of words, {half}, {label}: {reader}", _figure(shares), str(_TARGET)


def _figure(shares: Sequence[tuple[int, int]]) -> str:
    counted = [(found, wanted) for found, wanted in shares if wanted]
    if not counted:
        return "nothing to compare"
    macro = mean(found / wanted for found, wanted in counted)
    found, wanted = (sum(side) for side in zip(*counted, strict=True))
    return f"{macro:.4f} macro, {found / wanted:.4f} micro ({len(counted)} documents, {wanted} runs)"


def _read(documents: Sequence[Path]) -> dict[str, dict[str, Runs]]:
    """The runs of each document by each reader; nothing where one is not installed."""
    turns = {name: Turn(name) for name in _READERS}
    if shutil.which("pdftotext") is None or not all(turn.there for turn in turns.values()):
        documents = []
    read: dict[str, dict[str, Runs]] = {}
    for document in documents:
        read[document.name] = {"poppler": _runs(_by_poppler(document))}
        for name, turn in list(turns.items()):
            answer = turn.take(document)
            if answer is None:  # it crashed on this document
                turns[name] = Turn(name)
            read[document.name][name] = _runs((answer or {}).get("text", ""))
    for turn in turns.values():
        turn.end()
    return read


def _by_poppler(document: Path) -> str:
    command = ["pdftotext", "-enc", "UTF-8", str(document), "-"]
    return subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False).stdout.decode(errors="replace")


def _runs(text: str) -> Runs:
    given = words(_HYPHEN.sub("", text))
    return Counter(tuple(given[at : at + _RUN]) for at in range(len(given) - _RUN + 1))


def _half(name: str) -> str:
    return "shut" if int(md5(name.encode()).hexdigest(), 16) % 2 else "development"


def _share(runs: dict[str, Runs], reader: str, panel: Sequence[str] | None) -> tuple[int, int]:
    """How many of the runs that a panel agrees on a reader gives, and how many there are."""
    wanted = _agreed(runs, panel)
    return (wanted & runs[reader]).total(), wanted.total()


def _agreed(runs: dict[str, Runs], panel: Sequence[str] | None) -> Runs:
    if panel is not None:
        one, other = (runs[name] for name in panel)
        return one & other
    one, other, third = (runs[name] for name in ("poppler", "pymupdf", "pypdfium2"))
    return (one & other) | (one & third) | (other & third)


def main() -> None:
    """List the documents of the development half whose order is the worst."""
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    if given is None:
        sys.exit("Name the folder of the documents in DILIGENCE_BENCH_DOCUMENTS.")
    rows = []
    for name, runs in _read(sorted(Path(given).rglob("*.pdf"))).items():
        found, wanted = _share(runs, "ours", ("poppler", "pymupdf"))
        if wanted and _half(name) == "development":
            rows.append((found / wanted, wanted, name))
    for share, wanted, name in sorted(rows)[:20]:
        print(f"{share:.3f} of {wanted:5} {name}")


if __name__ == "__main__":
    main()
