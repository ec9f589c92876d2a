"""Which figures are shown to be actual: by the names of tables and documents, and by when they were written.

A period that ends after the file was last changed was not over, whatever the table says. In anything called a
projection or model, and on sheets whose columns run beyond that day, only periods that were over when the file was made
are actual: saving or opening the file again makes nothing in it true.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, cast

from tasks.figures.document import LedgerDocument
from tasks.figures.figure import ACTUAL, Basis, Figure, Findings
from tasks.figures.vocabulary import WORDS
from tasks.language.periods import last_day
from tasks.reading.file_dates import today
from tasks.reading.places import SHEET

_LONGEST_NAME: Final = 80
_A_MONTH: Final = 31
_PARTED: Final = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Ý])|[\W_]+")
_NAMES: Final = Path(__file__).with_name("plan_names.toml")
Named = Basis | Literal["except"]
_IN_TABLE: Final = "row “"
ALWAYS: Final = frozenset({"budget", "pro_forma"})
"""What figures of these names are, also when their period is over."""

_SILENT: Final = frozenset({None, *ACTUAL})


_SAYS: Final = {
    basis: re.compile("|".join(rf"\b{word.replace('*', '[^ ]*')}\b" for word in words))
    for basis, words in tomllib.loads(_NAMES.read_text(encoding="utf-8")).items()
}


@lru_cache(maxsize=4096)
def find_named_basis(name: str) -> Named | None:
    """What a name says figures are; `except` if it also mentions others, None if it says nothing."""
    words = " ".join(_PARTED.sub(" ", name[:_LONGEST_NAME]).lower().split())
    return next((cast("Named", basis) for basis, says in _SAYS.items() if says.search(words)), None)


def show_actual(document: LedgerDocument, figures: Iterable[Figure], findings: Findings) -> list[Figure]:
    """The figures of a document, with the basis that its names and its file's dates give to those without another.

    Where the file's date cannot be and nothing else says what was over, they are left out, counted in `findings`.
    """
    figures = list(figures)
    run_on = {
        part
        for figure in figures
        if (part := document.part(figure.start)) and part.kind == SHEET and _is_ahead(document, figure)
    }
    settled = []
    for figure in figures:
        basis = figure.basis
        if basis in _SILENT:
            part = document.part(figure.start)
            heading = document.heading(figure.start) if _IN_TABLE in figure.place else ""  # sentences say it themselves
            names = [heading, part.label if part and part.kind == SHEET else "", document.title]
            named = next(filter(None, map(find_named_basis, names)), None)
            happened = WORDS.actual_heading.search(figure.place) is not None
            if named in ALWAYS and not happened:
                basis = cast("Basis", named)
            elif _is_ahead(document, figure) or (
                not happened and _is_planned(document, figure, of_plan=named == "forecast" or part in run_on)
            ):
                basis = "forecast"
            elif document.is_doubted and not happened:
                findings.leave_out("files whose date cannot be")
                continue
        settled.append(figure if basis == figure.basis else replace(figure, basis=basis))
    return settled


def _is_ahead(document: LedgerDocument, figure: Figure) -> bool:
    """Whether a figure's period ended after its file was last changed, or has not ended yet."""
    return last_day(figure.period) > (document.file_dates(figure.start)[1] or today().isoformat())


def _is_planned(document: LedgerDocument, figure: Figure, *, of_plan: bool) -> bool:
    """Whether a period ended more than a month after the day that its document states, or, in a plan, was not over."""
    dated = document.calendar.dated
    if dated is not None and (date.fromisoformat(last_day(figure.period)) - dated).days > _A_MONTH:
        return True
    return of_plan and not _was_over(document, figure)


def _was_over(document: LedgerDocument, figure: Figure) -> bool:
    """Whether a figure's period was over on the earliest known day of its document."""
    stated = document.calendar.dated
    days = [day for day in (*document.file_dates(figure.start), stated.isoformat() if stated else None) if day]
    return bool(days) and last_day(figure.period) <= min(days)
