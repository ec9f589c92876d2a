"""Questions on single figures of annual reports, answered without a model, as one who checks the ledger would put them.

"What was 3M's operating cash flow in fiscal 2018?" is right where `tasks.figures.read_figures` gives the value for the
concept, the year and the company as a whole and no other; wrong where it gives another; silent where it gives none.
What a report does not say ("N/A") is right where nothing is given. DILIGENCE_BENCH_FILINGS names a folder with
a clone of
patronus-ai/financebench anywhere below it; the answers stand in `single_figures.txt`.
`python -m tests.benchmarks.single_figures PART` lists what is wrong or missing.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures import read_figures
from tasks.figures.figure import ACTUAL
from tasks.language.periods import count_months, last_day

QUESTIONS: Final = Path(__file__).with_name("single_figures.txt")
FILINGS: Final = "DILIGENCE_BENCH_FILINGS"


class Report(NamedTuple):
    """A report's name, the last day of its year, the scale of the answers, and these by concept: none for "N/A"."""

    name: str
    end: str
    scale: Decimal
    answers: Mapping[str, tuple[Decimal, ...]]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the reports are there."""
    for part, reports in questions().items() if os.environ.get(FILINGS) else ():
        outcomes = ask(Path(os.environ[FILINGS]), reports)
        asked = outcomes.total()
        if asked:
            counts = ", ".join(f"{outcomes[kind]} {kind}" for kind in ("wrong", "silent"))
            figure = f"{outcomes['right'] / asked:.3f} right ({counts} of {asked})"
            yield f"questions on single figures, {part}", figure, "0.80"


def questions() -> dict[str, list[Report]]:
    """The reports with their questions by part."""
    parts: dict[str, list[Report]] = {}
    for line in QUESTIONS.read_text("utf-8").splitlines():
        if line.startswith("["):
            reports = parts[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            name, end, scale, rows = line.split("|")
            answers = {}
            for row in rows.split(";"):
                concept, values = row.split()
                answers[concept] = (
                    () if values == "N/A" else tuple(Decimal(value) * int(scale) for value in values.split("/"))
                )
            reports.append(Report(name, end, Decimal(scale), answers))
    return parts


def ask(folder: Path, reports: list[Report], *, tell: bool = False) -> Counter[str]:
    """How many answers are right, wrong and silent; with `tell` what is not right is printed."""
    files = {file.stem: file for file in folder.rglob("*.pdf")}
    outcomes: Counter[str] = Counter()
    for report in reports:
        if report.name not in files:
            continue
        rows = read_figures(str(files[report.name]))
        for concept, values in report.answers.items():
            outcome, said = judged(rows, report, concept, values)
            outcomes[outcome] += 1
            if tell and outcome != "right":
                print(report.name, concept, outcome, *values, "|", *said)
    return outcomes


def judged(
    rows: list[dict[str, str | None]], report: Report, concept: str, values: tuple[Decimal, ...]
) -> tuple[str, list[str]]:
    """Whether the figures of a report answer a question, and what they say."""
    said = [row for row in rows if row["concept"] == concept and _of_the_year(row, report.end)]
    told = [f"{row['value']} {row['place']}" for row in said]
    if not said:
        return ("silent" if values else "right"), told
    fitting = [row for row in said if any(_fits(Decimal(str(row["value"])), value, report.scale) for value in values)]
    return ("right" if len(fitting) == len(said) else "wrong"), told


def _of_the_year(row: Mapping[str, str | None], end: str) -> bool:
    """Whether a figure is the company's own and actual, of the year or the day that is asked for."""
    period, basis = str(row["period"]), row["basis"]
    of_year = "/" not in period or 11 <= count_months(period) <= 13
    return row["entity"] is None and basis in {None, *ACTUAL} and of_year and last_day(period) == end


def _fits(said: Decimal, value: Decimal, scale: Decimal) -> bool:
    """Whether both are the same as far as either is rounded: "$ 2.9 billion" is 2,921 million."""
    digits = f"{abs(said):f}".partition(".")[0]
    rounded = Decimal(1).scaleb(len(digits) - len(digits.rstrip("0")))
    rounding = min(rounded / 2, abs(value) * Decimal("0.05"))
    return abs(said - value) <= max(scale / 2 if abs(value) >= scale else Decimal(1), rounding)


if __name__ == "__main__":
    print(ask(Path(os.environ[FILINGS]), questions()[sys.argv[1]], tell=True))
