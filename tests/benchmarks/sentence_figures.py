"""Figures of sentences written by hand: lines that wrap, several years in one, losses, years' ends, ordinary words.

`sentence_figures.txt` has the sentences, each a document of its own. One half by lot was for development, the other was
opened once. A figure of another value, unit, period or part than one of those given is wrong.
`python -m tests.benchmarks.sentence_figures PART` lists what is wrong or missing.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy

TEXTS: Final = Path(__file__).with_name("sentence_figures.txt")


class Case(NamedTuple):
    """A document's text, and its figures as "concept value unit period", with "@part" behind those of a part."""

    kind: str
    text: str
    figures: frozenset[str]


def cases() -> list[Case]:
    """All cases, in the order of the file."""
    lines = [line for line in TEXTS.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    rows = [line.split("|") for line in lines]
    return [Case(kind, text.replace("¶", "\n"), frozenset(figures.split("; ")) - {"-"}) for kind, text, figures in rows]


def parts() -> dict[str, Sequence[Case]]:
    """The halves by their names."""
    mixed = random.Random(33).sample(cases(), len(cases()))
    return {"development": mixed[::2], "shut": mixed[1::2]}


def said(text: str) -> frozenset[str]:
    """The figures of a document, written as in a case."""
    found = find_figures(LedgerDocument(text, [], "Report.txt"), taxonomy()).figures
    return frozenset(
        f"{each.concept} {each.value:f} {each.unit} {each.period}" + (f" @{each.entity}" if each.entity else "")
        for each in found
    )


def measure(*, tell: str = "") -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); what is not right of the part `tell` is printed."""
    for part, chosen in parts().items():
        given = right = wanted = 0
        for case in chosen:
            found = said(case.text)
            given, right, wanted = given + len(found), right + len(found & case.figures), wanted + len(case.figures)
            if part == tell and found != case.figures:
                print(f"{case.kind}: {case.text}\n  wrong {sorted(found - case.figures)}")
                print(f"  missing {sorted(case.figures - found)}")
        yield f"sentences, {part}: precision, recall", f"{right / max(1, given):.3f}, {right / wanted:.3f}", ".98, .85"


if __name__ == "__main__":
    for row in measure(tell=sys.argv[1]):
        if sys.argv[1] in row[0]:
            print(*row)
