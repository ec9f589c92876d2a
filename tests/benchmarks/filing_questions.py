"""Questions on single figures of filings, answered as a figure criterion is, without a model.

"Which part of revenue was gross profit in 2021?" is asked of the filing alone as `gross margin` of `2021`: right where
the value is that of the page as far as the answer is rounded, wrong where it is another, silent where there is none.
DILIGENCE_BENCH_FILINGS names a folder with clones of the repositories that `filing_questions.txt` names anywhere below
it. `python -m tests.benchmarks.filing_questions PART` lists what is not right.
"""

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures.conflicts import RoomFigure
from tasks.figures.derived import figure_values, read_expression, value_at
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.language.numbers import PERCENT, RATIO
from tasks.reading import read_document

QUESTIONS: Final = Path(__file__).with_name("filing_questions.txt")
FILINGS: Final = "DILIGENCE_BENCH_FILINGS"


class Question(NamedTuple):
    """A question in words, the figure and the time that it asks for, and the answers, any of which is right."""

    words: str
    figure: str
    period: str
    answers: tuple[Decimal, ...]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); nothing where the filings are not there."""
    for part, asked in questions().items() if os.environ.get(FILINGS) else ():
        outcomes = ask(Path(os.environ[FILINGS]), asked)
        if total := outcomes.total():
            shares = f"{outcomes['right'] / total:.3f} right ({outcomes['wrong']} wrong, {outcomes['silent']} silent"
            yield f"questions on figures of filings, {part}", f"{shares} of {total})", "0.80"


def questions() -> dict[str, dict[str, list[Question]]]:
    """The questions of each part, by the filing."""
    parts: dict[str, dict[str, list[Question]]] = {}
    for line in QUESTIONS.read_text().splitlines():
        if line.startswith("["):
            asked = parts.setdefault(line.strip("[]"), defaultdict(list))
        elif line and not line.startswith("#"):
            filing, words, figure, period, answers = line.split("|")
            said = tuple(Decimal(answer.split()[0]) for answer in answers.split("/"))
            asked[filing].append(Question(words, figure, period, said))
    return parts


def ask(folder: Path, asked: dict[str, list[Question]], *, tell: bool = False) -> Counter[str]:
    """How many answers are right, wrong and silent; with `tell` what is not right is printed."""
    files = {file.name if file.suffix == ".pdf" else file.parent.name: file for file in _filings(folder)}
    outcomes: Counter[str] = Counter()
    for filing, its_questions in asked.items():
        if filing not in files:
            continue
        figures = _figures(files[filing])
        for question in its_questions:
            expression = read_expression(question.figure)
            found = value_at(figure_values(expression, figures), question.period, expression)
            outcome = "silent" if found is None else "right" if _fits(found.value, found.unit, question) else "wrong"
            outcomes[outcome] += 1
            if tell and outcome != "right":
                said = f"{found.value} {[row.figure.place for row in found.inputs]}" if found else ""
                print(outcome, filing, question.figure, question.period, *question.answers, "|", said)
    return outcomes


def _filings(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("*.pdf")
    yield from folder.rglob("filing.htm")
    yield from folder.rglob("filing.txt")


def _figures(file: Path) -> list[RoomFigure]:
    reading = read_document(str(file))
    places = [place for place in reading.places if place.kind != "cell"]
    document = LedgerDocument(reading.text, places, file.name)
    return [
        RoomFigure(
            figure, figure.basis or document.kind.basis, file.name, file.name, "", deck=document.kind.deck, dated=None
        )
        for figure in find_figures(document, taxonomy()).figures
    ]


def _fits(value: Decimal, unit: str, question: Question) -> bool:
    """Whether a value is an answer as far as that is rounded; an amount in millions may miss it by half of one."""
    return any(
        abs(value - answer)
        <= Decimal(1).scaleb(int(answer.as_tuple().exponent)) / (1 if unit in {PERCENT, RATIO} else 2)
        or (abs(answer) > 10**7 and abs(value - answer) <= abs(answer) * Decimal("0.001"))
        for answer in question.answers
    )


if __name__ == "__main__":
    print(ask(Path(os.environ[FILINGS]), questions()[sys.argv[1]], tell=True))
