"""Conflicts in small rooms by hand: parts that the ledger was mended on, and parts that were opened once.

Each room has one to three planted conflicts in two to four documents, and decoys: another period, part, currency or
basis, rounding, net against gross, ARR against revenue, an average against the year's end. Printed pages
need LibreOffice.
`python -m tests.benchmarks.finance_rooms PART` lists what was missed and what is false.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tasks.figures.conflicts import FigureConflict, RoomFigure, find_company, find_conflicts, name_other_companies
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.figures.ledger import by_the_rooms_year
from tasks.language.periods import count_months, last_day
from tasks.reading import read_document
from tests.benchmarks import (
    finance_rooms_development,
    finance_rooms_fifth,
    finance_rooms_fifth_languages,
    finance_rooms_fifth_trades,
)

Room = Callable[[Path], set[tuple[str, str, str]]]
_WRITTEN: Final = [
    *finance_rooms_fifth.ROOMS,
    *finance_rooms_fifth_trades.ROOMS,
    *finance_rooms_fifth_languages.ROOMS,
]
_FIFTH: Final = random.Random(30).sample(_WRITTEN, len(_WRITTEN))
"""In an order by lot: the first half is for development, the other is shut."""
PARTS: Final[dict[str, Sequence[Room]]] = {
    "development": finance_rooms_development.ROOMS,
    "fifth development": _FIFTH[: len(_FIFTH) // 2],
    "fifth shut": _FIFTH[len(_FIFTH) // 2 :],
}


class Outcome(NamedTuple):
    """Of one room: the planted conflicts found and missed, and those that are none."""

    found: set[tuple[str, str, str]]
    missed: set[tuple[str, str, str]]
    false: set[tuple[str, str, str]]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for part, rooms in PARTS.items():
        outcomes = [outcome(room) for room in rooms]
        found = sum(len(each.found) for each in outcomes)
        planted = found + sum(len(each.missed) for each in outcomes)
        false = sum(len(each.false) for each in outcomes)
        yield f"conflicts in rooms by hand, {part}", f"{found / planted:.3f} ({found} of {planted})", "0.90"
        yield f"false conflicts a room, {part}", f"{false / len(rooms):.2f}", "1"


def outcome(room: Room, *, tell: bool = False) -> Outcome:
    """What the ledger says of a room; with `tell` the conflicts that are missed and false are printed."""
    with tempfile.TemporaryDirectory() as name:
        planted = room(Path(name))
        conflicts = {
            (conflict.concept, _said(conflict.period), conflict.counted.figure.entity or ""): conflict
            for conflict in conflicts_of(Path(name))
        }
    said = set(conflicts)
    if tell:
        print(room.__name__, *sorted(planted - said))
        for key in sorted(said - planted):
            conflict = conflicts[key]
            for row in (conflict.counted, *conflict.others):
                print("   false", key, row.document_name, row.figure.value, row.figure.period, row.figure.place)
    return Outcome(said & planted, planted - said, said - planted)


def conflicts_of(folder: Path) -> list[FigureConflict]:
    """The conflicts among the documents of a folder."""
    rows: list[RoomFigure] = []
    texts: list[str] = []
    companies: dict[int, str] = {}
    for file in sorted(folder.iterdir()):
        reading = read_document(str(file))
        places = [place for place in reading.places if place.kind != "cell"]
        document = LedgerDocument(reading.text, places, file.name)
        rows.extend(
            RoomFigure(
                figure,
                figure.basis or document.kind.basis,
                file.name,
                file.name,
                "",
                deck=document.kind.deck,
                dated=document.calendar.dated.isoformat() if document.calendar.dated else None,
                text_id=len(texts),
            )
            for figure in find_figures(document, taxonomy()).figures
        )
        companies[len(texts)] = find_company(reading.text, file.name, recognised=bool(document.recognised))
        texts.append(reading.text)
    own = name_other_companies(rows, companies, texts.__getitem__)
    return find_conflicts(by_the_rooms_year(own, texts.__getitem__))


def _said(period: str) -> str:
    """A day and a part of a year as they are, a year by its last day."""
    return last_day(period) if "/" in period and 11 <= count_months(period) <= 13 else period


if __name__ == "__main__":
    for each in PARTS[sys.argv[1]]:
        outcome(each, tell=True)
