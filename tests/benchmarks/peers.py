"""Our readers beside other extractors: they take turns on each document, so that a noisy machine hurts all alike.

The documents are those of the tests and the sample, or of the folder that DILIGENCE_BENCH_DOCUMENTS names;
recall and precision are given where DILIGENCE_BENCH_TRUTH names the folder of their ground truth.
The others are installed into `.peers` by `make bench`; those that are not there are left out.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from tests.benchmarks.truth import Score, score

_PROJECT: Final = Path(__file__).parents[2]
_PEERS: Final = {
    ".docx": ("office_oxide", "xberg", "anydoc"),
    ".pptx": ("office_oxide", "xberg", "anydoc"),
    ".xlsx": ("office_oxide", "calamine", "xberg", "anydoc"),
    ".pdf": ("pypdfium2", "xberg", "anydoc"),
    ".txt": ("charset_normalizer", "xberg"),
}
_TARGETS: Final = {
    ("office_oxide", ".docx"): "0.75 ×",
    ("xberg", ".pptx"): "1.2 ×",
    ("office_oxide", ".xlsx"): "1.5 ×",
    ("pypdfium2", ".pdf"): "1.2 ×",
    ("charset_normalizer", ".txt"): "1.0 ×",
}
"""Our processor time by theirs, at most; by sum over the documents that both read."""
_OURS: Final = ("ours", "pdf_reader")
_ROUNDS: Final = 3
_PATIENCE: Final = 60.0


class Turn:
    """An extractor, by its name in `turns.py`, that waits for its turn; `there`: it could be started."""

    def __init__(self, name: str) -> None:
        is_ours = name in _OURS
        installed = shutil.which(_PROJECT / ".peers" / "bin" / "python") or "false"  # which answers nothing
        python = sys.executable if is_ours else installed
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("turns.py")), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=_PROJECT,
            env=os.environ | {"PYTHONPATH": str(_PROJECT) if is_ours else ""},
        )
        self.there = self._answer() is not None

    def take(self, document: Path) -> dict[str, Any] | None:
        """Read the document; None when the extractor is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(str(document)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        return self._answer()

    def _answer(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def end(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.communicate()


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    folders = [Path(given)] if given else [_PROJECT / "deployments/sample/rooms", _PROJECT / "tests/documents"]
    for extension, peers in _PEERS.items():
        documents = sorted(path for folder in folders for path in folder.rglob(f"*{extension}"))
        if documents:
            yield from _beside(extension, documents, ["ours", *peers])


def _beside(extension: str, documents: list[Path], names: list[str]) -> Iterator[tuple[str, str, str]]:
    seconds: dict[str, dict[Path, float]] = defaultdict(dict)
    scores: dict[str, list[Score]] = defaultdict(list)
    turns = {name: Turn(name) for name in names}
    for name in [name for name in names if not turns[name].there]:
        turns.pop(name).end()
    for document in documents:
        for round_ in range(_ROUNDS):
            for name, turn in list(turns.items()):
                answer = turn.take(document)
                if answer is None:  # it crashed on this document
                    turn.end()
                    turns[name] = Turn(name)
                    answer = {"error": "crash"}
                if "error" not in answer:
                    seconds[name][document] = min(answer["seconds"], seconds[name].get(document, _PATIENCE))
                if round_ == 0:
                    _count(document, answer.get("text", ""), scores[name])
    for turn in turns.values():
        turn.end()
    for name in turns:
        yield _row(extension, name, seconds, scores[name], len(documents))


def _count(document: Path, text: str, scores: list[Score]) -> None:
    truth = os.environ.get("DILIGENCE_BENCH_TRUTH")
    result = score(Path(truth, document.name + ".json"), text) if truth else None
    if result is not None:
        scores.append(result)


def _row(
    extension: str, name: str, seconds: dict[str, dict[Path, float]], scores: list[Score], documents: int
) -> tuple[str, str, str]:
    both = [document for document in seconds["ours"] if document in seconds[name]]
    ours, theirs = (sum(seconds[engine][document] for document in both) for engine in ("ours", name))
    figures = [f"{len(seconds[name])} of {documents} read", f"{len(both) / theirs:.0f} documents/s" if both else "–"]
    if name != "ours" and both:
        ratio = median(seconds["ours"][document] / seconds[name][document] for document in both)
        figures.insert(0, f"ours takes {ours / theirs:.2f} × its time (median document {ratio:.2f} ×)")
    figures.extend(_recall(scores))
    return f"{extension} by {name}", "; ".join(figures), _TARGETS.get((name, extension), "–")


def _recall(scores: list[Score]) -> Iterator[str]:
    scored = [result for result in scores if result.wanted]
    if scored:
        macro = mean(result.found / result.wanted for result in scored)
        micro = sum(result.found for result in scored) / sum(result.wanted for result in scored)
        precision = sum(result.right for result in scored) / max(1, sum(result.given for result in scored))
        yield f"recall {macro:.4f} macro, {micro:.4f} micro, precision {precision:.4f}"
    unspaced: Counter[str] = Counter()
    words_wanted: Counter[str] = Counter()
    for result in scores:
        unspaced.update({name: found for name, (found, _) in result.apart.items()})
        words_wanted.update({name: all_ for name, (_, all_) in result.apart.items()})
    yield from (f"{name} {unspaced[name] / words_wanted[name]:.3f}" for name in words_wanted if words_wanted[name])
