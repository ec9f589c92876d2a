"""Kinds and states of strangers' documents, and what is answered without a model where they say nothing.

DILIGENCE_BENCH_FILINGS names a folder with clones of the repositories that `document_kinds.txt` lists, anywhere below
it. A kind that is given is right where it is one of the document's labels, a state likewise. A question of
`unanswered.txt` is answered where a sentence that is shown has the pattern. Both were labelled before anything was run,
and parted by a hash. `python -m tests.benchmarks.document_kinds PART` lists what is wrong or missing.
"""

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tasks.ai.answerer import Source
from tasks.ai.extractive import best_sentences
from tasks.documents.extract import read_document
from tasks.documents.kinds.document import DocumentKind, document_kind
from tasks.documents.kinds.signs import read_signs
from tasks.reading.text_writer import Reading
from tests.benchmarks.single_figures import FILINGS

_NAMELESS: Final = "full_contract_txt/"
"""Files whose names say the kind of contract; they are given another."""
_PARTS: Final = (
    *("development", "shut", "second development", "second shut", "third shut", "fourth shut"),
    *("fifth open", "fifth shut", "sixth shut", "seventh shut"),
)


def read_rows(name: str, fields: int = 4) -> Iterator[tuple[str, list[str]]]:
    """The fields of the lines of a file of labels, each with its part."""
    part = ""
    for line in Path(__file__).with_name(name).read_text("utf-8").splitlines():
        if line.startswith("["):
            part = line.strip("[]")
        elif not line.startswith("#"):
            yield part, line.split("|", fields - 1)


@cache
def _find_files() -> dict[str, Path]:
    """The files below the folder by their repositories and paths."""
    wanted = [row[:2] for _, row in read_rows("document_kinds.txt")]
    names = {name.rsplit("/", 1)[-1] for _, name in wanted}
    found = [path for path in Path(os.environ[FILINGS]).rglob("*") if path.name in names]
    return {
        f"{repository}/{name}": path
        for repository, name in wanted
        for path in found
        if str(path).endswith(f"{repository.rsplit('/', 1)[-1]}/{name}")
    }


@cache
def _read(file: str) -> Reading:
    path = _find_files()[file]
    return read_document(path, path.suffix.lower())


def _kind(file: str, name: str) -> DocumentKind:
    reading = _read(file)
    places = [(place.start, place.end, place.kind, place.label) for place in reading.places]
    shown = "exhibit.txt" if name.startswith(_NAMELESS) else name.rsplit("/", 1)[-1]
    return document_kind(shown, "", read_signs(reading.text, places) if reading.text else None)


def measure(*, tell: str = "") -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the files are there; what is not right of the part `tell` is printed."""
    for part in _PARTS if os.environ.get(FILINGS) else ():
        yield from _measure_kinds(part, is_told=part == tell)
        yield from _measure_answers(part, is_told=part == tell)


def _measure_kinds(part: str, *, is_told: bool) -> Iterator[tuple[str, str, str]]:
    given = right = wanted = found = 0
    for of, (repository, name, kinds, _states) in read_rows("document_kinds.txt"):
        file = f"{repository}/{name}"
        if of != part or file not in _find_files():
            continue
        what, labels = _kind(file, name), kinds.split()
        is_right = (what.kind or "-") in labels
        given, right = given + bool(what.kind), right + (is_right and bool(what.kind))
        wanted, found = wanted + ("-" not in labels), found + ("-" not in labels and is_right)
        if is_told and not is_right:
            print(name, what.kind, "instead of", kinds)
    if given:
        figure = f"{right} of {given} right; {found} of {wanted} found"
        yield f"kinds of strangers' documents, {part}", figure, ".95"


def _measure_answers(part: str, *, is_told: bool) -> Iterator[tuple[str, str, str]]:
    answered = asked = silent = open_questions = 0
    for of, (file, question, pattern) in read_rows("unanswered.txt", 3):
        own = file.removeprefix("text:") if file.startswith("text:") else ""
        if of != part or not (own or file in _find_files()):
            continue
        source = Source(1, "contract.txt" if own else file.rsplit("/", 1)[-1], None, own or _read(file).text)
        shown = [sentence for sentence, _ in best_sentences(question, [source]) or ()]
        is_right = any(re.search(pattern, sentence) for sentence in shown) if pattern else not shown
        asked, answered = asked + bool(pattern), answered + (bool(pattern) and is_right)
        open_questions, silent = open_questions + (not pattern), silent + (not pattern and is_right)
        if is_told and not is_right:
            print(question, shown[:1])
    if asked:
        figure = f"{answered} of {asked} answered; silent on {silent} of {open_questions}"
        yield f"questions without a model, {part}: with an answer; without one", figure, "most"


if __name__ == "__main__":
    for row in measure(tell=sys.argv[1] if sys.argv[1:] else ""):
        print(*row, sep="  ")
