"""Figures of accounts, workbooks, models and updates of private companies, against values labelled by hand.

DILIGENCE_BENCH_FILINGS names a folder with clones of the repositories that `private_accounts.txt` lists, anywhere below
it, in folders named by them. A value is found where a figure of the whole company has its concept, amount, unit and
period (within three days), and is a forecast where the label is one; a figure is wrong where it has the concept and the
period of labels and none of their amounts, unless it says that it is an adjusted one, and where it is no forecast in a
file that states nothing but plans ("none"). `python -m tests.benchmarks.private_accounts PART` lists what is wrong or
missing.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures import read_figures
from tests.benchmarks.single_figures import FILINGS

LABELS: Final = Path(__file__).with_name("private_accounts.txt")
_PLANNED: Final = frozenset({"budget", "forecast", "pro_forma"})
_DAYS: Final = 3
_NONE: Final = "none"
_ROUNDING: Final = Decimal("0.0006")


class Label(NamedTuple):
    """A value on a page; `unit` is "?" where none is printed, `kind` "forecast", "either" or empty."""

    concept: str
    value: Decimal
    unit: str
    period: str
    kind: str


def parts() -> Mapping[str, Mapping[str, list[Label] | None]]:
    """The labels by part, repository and file; None for a file without actual figures."""
    found: dict[str, dict[str, list[Label] | None]] = {}
    for line in LABELS.read_text("utf-8").splitlines():
        if line.startswith("["):
            files = found[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            repository, file, rows = line.split("|")
            split = [[*row.split(), ""] for row in rows.split(";") if row and rows != _NONE]
            labels = [Label(row[0], Decimal(row[1]), row[2], row[3], row[4]) for row in split]
            files[f"{repository.partition('/')[2]}/{file}"] = None if rows == _NONE else labels
    return found


def measure(*, tell: str = "") -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the files are there; what is not right of the part `tell` is printed."""
    for part, files in parts().items() if os.environ.get(FILINGS) else ():
        right = wrong = found = wanted = 0
        for name, labels in files.items():
            file = next(Path(os.environ[FILINGS]).rglob(f"*{name}"), None)
            if file is None or labels == []:
                continue
            rows = [row for row in read_figures(str(file)) if not row["entity"]]
            if labels is None:
                actual = [row for row in rows if row["basis"] not in _PLANNED]
                wrong += len(actual)
                if part == tell and actual:
                    print(name, *actual, sep="\n  ")
                continue
            told = [(row, [label for label in labels if _is_of(label, row)]) for row in rows]
            told = [(row, of) for row, of in told if row["basis"] != "adjusted"]
            hits = [(row, any(_agrees(label, row) for label in of)) for row, of in told if of]
            right, wrong = right + sum(hit for _, hit in hits), wrong + sum(not hit for _, hit in hits)
            missing = [label for label in labels if not any(_is_of(label, row) and _agrees(label, row) for row in rows)]
            found, wanted = found + len(labels) - len(missing), wanted + len(labels)
            if part == tell:
                print(name, *missing, *(row for row, hit in hits if not hit), sep="\n  ")
        if wanted:
            figure = f"{right / max(1, right + wrong):.3f} ({wrong} wrong), {found / wanted:.3f} of {wanted}"
            yield f"private accounts, {part}: precision, recall", figure, ".98, .85"


def _is_of(label: Label, row: Mapping[str, str | None]) -> bool:
    """Whether a figure has the label's concept and period."""
    days, own = label.period.split("/"), (row["period"] or "").split("/")
    if label.concept != row["concept"] or len(days) != len(own):
        return False
    apart = (date.fromisoformat(one) - date.fromisoformat(other) for one, other in zip(days, own, strict=True))
    return all(abs(each.days) <= _DAYS for each in apart)


def _agrees(label: Label, row: Mapping[str, str | None]) -> bool:
    """Whether a figure has the label's amount, unit and kind."""
    is_near = abs(Decimal(row["value"] or 0) - label.value) <= max(Decimal("0.006"), abs(label.value) * _ROUNDING)
    kind = "forecast" if row["basis"] in _PLANNED else ""
    return is_near and label.unit in {"?", row["unit"]} and label.kind in {"either", kind}


if __name__ == "__main__":
    for row in measure(tell=sys.argv[1]):
        print(*row)
