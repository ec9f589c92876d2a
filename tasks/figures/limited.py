"""Finds the figures of a text in a reading process, under the limits for a document.

Such a process runs `look_through`. It gets a text in a file that we wrote, and returns what it found as JSON in place
of a reading's text; no document is read here.
"""

import json
import pickle
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, fields
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import uuid4

from tasks.errors import Damaged, DiligenceError, TookTooLong, TooLarge, Unreadable
from tasks.figures.company import find_company
from tasks.figures.conflicts import decimal_text
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


def submit(text: WrittenText, folder: Path) -> "Future[Reading]":
    """Start looking through a text; it is passed in a file in `folder`, which is deleted afterwards."""
    file = folder / uuid4().hex
    file.write_bytes(pickle.dumps(text))
    future = _pool(make_limits()).submit(file, _KIND)
    future.add_done_callback(lambda _: file.unlink(missing_ok=True))
    return future


def make_limits() -> Limits:
    """The limits for looking through one text: the same as for reading a document."""
    return make_reading_limits(ReadingSettings.current())


@lru_cache(maxsize=4)
def _pool(limits: Limits) -> ExtractionPool:
    return ExtractionPool(min(_MOST_PROCESSES, processors()), limits, look_through, modules=list_study_modules())


def receive(future: "Future[Reading]") -> LookedThrough:
    """What was found, once it is ready.

    Raises:
        DiligenceError: it was not looked through; `reason` says why where that is the text's own doing.
    """
    return LookedThrough(**json.loads(future.result().text))


def reason(error: DiligenceError, limits: Limits) -> str | None:
    """Why the figures of a text were not looked for; None if the text is not at fault and should be tried again."""
    if isinstance(error, TookTooLong):
        why = f"it took longer than {limits.seconds:g} s (DILIGENCE_DOCUMENT_TIMEOUT)"
    elif isinstance(error, TooLarge):
        why = f"its text has more than {limits.max_mb} MB (DILIGENCE_DOCUMENT_MAX_MB)"
    elif isinstance(error, Damaged):
        why = "the search failed"
    elif isinstance(error, Unreadable):
        why = f"it took more than {limits.memory_mb} MB of memory (DILIGENCE_DOCUMENT_MEMORY_MB)"
    else:
        return None
    return f"figures of this document were not looked for: {why}"


def look_through(path: Path, _: str) -> Reading:
    """What the processes run."""
    text: WrittenText = pickle.loads(path.read_bytes())  # noqa: S301 - from our own process
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
    found = LookedThrough(
        [{name: getattr(figure, name) for name in COLUMNS} for figure in (*findings.figures, *findings.founded)],
        ledger, document.comma_decimal, concepts.added,
    )  # fmt: skip
    return Reading(json.dumps(found._asdict(), default=decimal_text))


def figure_from(columns: Mapping[str, Any]) -> Figure:
    """A figure from its columns."""
    return Figure(**{**columns, "value": Decimal(columns["value"]), "step": Decimal(columns["step"])})
