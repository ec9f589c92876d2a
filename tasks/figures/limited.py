"""Finds the figures of texts in a reading process, under the limits for a document.

Such a process runs `look_through`. It gets texts in a file that we wrote, and returns what it found as JSON in place
of a reading's text; no document is read here.
"""

import json
import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

from tasks.errors import Damaged, DiligenceError, TookTooLong, TooLarge, Unreadable
from tasks.figures.conflicts import decimal_text, find_company
from tasks.figures.document import LedgerDocument, Places
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Figure, read_taxonomy
from tasks.figures.fiscal_calendar import Calendar
from tasks.reading.configuration import ReadingSettings, make_reading_limits
from tasks.reading.pool.pool import ExtractionPool, Limits, processors
from tasks.reading.pool.process import list_study_modules
from tasks.reading.text_writer import Reading

_MOST_PROCESSES: Final = 2
COLUMNS: Final = tuple(column.name for column in fields(Figure))
_KIND: Final = "stored text"
"""What the log calls what a process fails on."""


class WrittenText(NamedTuple):
    """A text to look through, its document's name, and the user's file of concepts.

    `calendar` is the calendar for the years it mentions, if its own words are not to determine it.
    """

    text: str
    places: Places
    name: str
    concepts: Path | None
    calendar: Calendar | None = None


class LookedThrough(NamedTuple):
    """What was found in a text: the columns of its `figures` and of its `ledger`, as storage keeps them.

    `added` is the hash of what the file of concepts adds; `comma_decimal` says whether decimals have a comma.
    """

    figures: list[dict[str, Any]]
    ledger: dict[str, Any]
    comma_decimal: bool
    added: str


def submit(texts: Sequence[WrittenText], folder: Path) -> "Future[Reading]":
    """Start looking through texts, all under one limit; they are passed in a file in `folder`, deleted afterwards."""
    file = folder / uuid4().hex
    file.write_bytes(pickle.dumps(texts))
    future = _pool(make_limits()).submit(file, _KIND)
    future.add_done_callback(lambda _: file.unlink(missing_ok=True))
    return future


def make_limits() -> Limits:
    """The limits for looking through one text: the same as for reading a document."""
    return make_reading_limits(ReadingSettings.current())


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    return ExtractionPool(min(_MOST_PROCESSES, processors()), limits, look_through, modules=list_study_modules())


def receive(future: "Future[Reading]") -> list[LookedThrough]:
    """What was found in each of the texts, once it is ready. Raises a DiligenceError, for `reason`, if that failed."""
    return [LookedThrough(**found) for found in json.loads(future.result().text)]


def reason(error: DiligenceError, limits: Limits) -> str | None:
    """Why the figures of a text were not looked for; None if the text is not at fault and should be tried again."""
    reasons: Mapping[type[DiligenceError], str] = {
        TookTooLong: f"it took longer than {limits.seconds:g} s (DILIGENCE_DOCUMENT_TIMEOUT)",
        TooLarge: f"its text has more than {limits.max_mb} MB (DILIGENCE_DOCUMENT_MAX_MB)",
        Damaged: "the search failed",
        Unreadable: f"it took more than {limits.memory_mb} MB of memory (DILIGENCE_DOCUMENT_MEMORY_MB)",
    }  # one that is damaged is unreadable too
    why = next((why for kind, why in reasons.items() if isinstance(error, kind)), None)
    return why and f"figures of this document were not looked for: {why}"


def look_through(path: Path, _: str) -> Reading:
    """What the processes run."""
    texts: Sequence[WrittenText] = pickle.loads(path.read_bytes())  # noqa: S301 - from our own process
    return Reading(json.dumps([_find(text)._asdict() for text in texts], default=decimal_text))


def _find(text: WrittenText) -> LookedThrough:
    concepts = read_taxonomy(text.concepts)
    document = LedgerDocument(text.text, text.places, text.name, calendar=text.calendar)
    findings = find_figures(document, concepts)
    dated = document.calendar.dated
    ledger = {
        "left_out": {why: count for why, count in findings.left_out.items() if count},
        "ties": list(map(asdict, findings.ties)),
        "basis": document.kind.basis, "deck": document.kind.deck, "dated": dated.isoformat() if dated else None,
        "changed": document.file_dates()[1],
        "company": find_company(text.text, text.name, recognised=bool(document.recognised)) or None,
    }  # fmt: skip
    return LookedThrough(
        [{name: getattr(figure, name) for name in COLUMNS} for figure in (*findings.figures, *findings.founded)],
        ledger, document.comma_decimal, concepts.added,
    )  # fmt: skip


def figure_from(columns: Mapping[str, Any]) -> Figure:
    """A figure from its columns."""
    return Figure(**{**columns, "value": Decimal(columns["value"]), "step": Decimal(columns["step"])})
