"""The ledger of a room: built from its stored texts, stored beside them, and returned with the documents' names.

Each version of the ledger, including the concepts in the user's file, looks through a text once: what a killed run has
stored is not repeated, and unchanged documents are neither read nor looked through again.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import fields, replace
from datetime import date
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from storage import database, figures, run_documents
from storage.figures import CUT_OFF, NewLedger, StoredFigure, StoredLedger
from storage.run_documents import RunDocument
from storage.texts import group_sizes, text_sizes
from tasks.documents.drive.spool import spool
from tasks.errors import DiligenceError
from tasks.figures.concepts import concepts_file, taxonomy
from tasks.figures.conflicts import RULE, FigureConflict, RoomFigure, Step, find_conflicts, find_versions
from tasks.figures.derived import FigureValue, derive
from tasks.figures.document import ReportKind, kind_by_name
from tasks.figures.document_figures import ALWAYS, FOUNDING_YEAR, VERSION, find_named_basis
from tasks.figures.figure import ACTUAL, WORDS, Figure
from tasks.figures.fiscal_years import by_the_rooms_year
from tasks.figures.limited import WrittenText, figure_from, make_limits, reason, receive, submit
from tasks.language.periods import last_day
from tasks.operation import operation
from tasks.reading.places import sure_day, today
from tasks.reading.text_writer import Reading

_STORE_AFTER: Final = 2.0
_STORE_AT: Final = 20_000
"""Seconds and figures after which what was found is stored at the latest."""


class LedgerText(NamedTuple):
    """A document of a room and its text: what is needed to build its ledger and to show its figures."""

    text_id: int
    document_id: str
    document_name: str
    path: str = ""
    updated: str | None = None


class RoomLedger(NamedTuple):
    """The figures of a room, their conflicts, derived figures, sums that do not add up, and how many numbers were left
    out.

    `founded` lists where the room says when the company was founded, `versions` where documents plan different things.
    """

    figures: Sequence[RoomFigure]
    conflicts: Sequence[FigureConflict]
    derived: Sequence[FigureValue]
    ties: Sequence[dict[str, Any]]
    left_out: dict[str, int]
    founded: Sequence[RoomFigure] = ()
    versions: Sequence[FigureConflict] = ()


@operation(name="build_ledger")
def build_ledger(company_id: int) -> int:
    """Find the figures in the documents of a company in a run; returns how many texts were looked through now."""
    with database.reading() as session:
        documents = run_documents.company_documents(session, company_id)
    return build(run_texts(documents))


def run_texts(documents: Iterable[RunDocument]) -> list[LedgerText]:
    """The texts of a run's documents; documents without a text are left out."""
    return [
        LedgerText(row.text_id, row.document_id, row.name, row.path, row.updated)
        for row in documents
        if row.text_id is not None
    ]


def first_by_path(texts: Iterable[LedgerText]) -> dict[int, LedgerText]:
    """Each text once, in order of path and name: copies are represented by the first, whichever was read first."""
    by_text: dict[int, LedgerText] = {}
    for text in sorted(texts, key=lambda text: (text.path, text.document_name, text.document_id)):
        by_text.setdefault(text.text_id, text)
    return by_text


def ledger_warnings(company_id: int) -> list[str]:
    """Which documents of a company in a run have no figures because they were not looked for, and why."""
    with database.reading() as session:
        documents = run_documents.company_documents(session, company_id)
    return not_looked_for({row.text_id: row.name for row in documents if row.text_id is not None})


def ledger_version() -> str:
    """The version of a ledger built now: the program's, and a hash of what a user's file adds to the concepts.

    Raises:
        BadRequest: that file is wrong; the message says how.
    """
    return _version(taxonomy().added)


def _version(added: str) -> str:
    return f"{VERSION}+{added}" if added else VERSION


def ledger_limits() -> str:
    """The end of the version of a ledger whose text was not looked through within the present limits."""
    limits = make_limits()
    return f"{CUT_OFF}{limits.seconds:g} s, {limits.memory_mb} MB, {limits.max_mb} MB"


def not_looked_for(names: Mapping[int, str]) -> list[str]:
    """Which documents have no figures because their texts (by id) were not looked through, and why, in sentences."""
    with database.reading() as session:
        return [f"{names[text_id]}: {why}." for text_id, why in figures.cut_off_ledgers(session, names).items()]


def build(texts: Iterable[LedgerText], *, of_run: bool = False) -> int:
    """Find the figures of texts that this version has not looked through; returns how many there were.

    `of_run`: what a run found with the concepts in its batch file is kept, as long as the settings name no others.
    """
    names = {text_id: text.document_name for text_id, text in first_by_path(texts).items()}
    version = ledger_version()
    any_addition = of_run and version == VERSION
    with database.reading() as session:
        missing = figures.texts_without_ledger(session, names, version, ledger_limits(), any_addition=any_addition)
        sizes = text_sizes(session, missing)
    if not missing:
        return 0
    waiting: list[NewLedger] = []
    stored_at = time.monotonic()
    with spool() as folder:
        for ledger in _ledgers(names, sizes, folder):
            waiting.append(ledger)
            many = sum(len(ledger.figures) for ledger in waiting) > _STORE_AT
            if many or time.monotonic() - stored_at > _STORE_AFTER:
                _store(waiting)
                waiting, stored_at = [], time.monotonic()
        _store(waiting)
    return len(missing)


def _ledgers(names: Mapping[int, str], sizes: Mapping[int, int], folder: Path) -> Iterator[NewLedger]:
    """The ledgers of texts with these sizes: texts that are loaded as a group are searched in parallel.

    Raises:
        Unavailable: this machine failed; those before are there.
    """
    concepts = concepts_file()
    for group in group_sizes(sizes):
        with database.reading() as session:
            loaded = figures.texts_to_read(session, group)
        asked = [
            (text_id, submit(WrittenText(text, places, names[text_id], concepts), folder))
            for text_id, text, places in loaded
        ]
        del loaded
        for text_id, future in asked:
            yield _make_ledger(text_id, names[text_id], future)


def room_ledger(texts: Iterable[LedgerText], concept: str | None = None, rule: Sequence[Step] = RULE) -> RoomLedger:
    """What is stored about the texts of a room; with `concept`, only its figures and conflicts.

    `rule` decides which of several contradicting figures counts.
    """
    documents = first_by_path(texts)
    with database.reading() as session:
        found = figures.find_ledgers(session, documents)
    rows: list[RoomFigure] = []
    ties: list[dict[str, Any]] = []
    left_out: dict[str, int] = {}
    for text_id, document in documents.items():
        if text_id not in found:
            continue
        ledger, stored = found[text_id]
        rows.extend(_room_figures(stored, ledger, document))
        ties.extend(
            {**tie, "document_id": document.document_id, "document_name": document.document_name} for tie in ledger.ties
        )
        for why, count in ledger.left_out.items():
            left_out[why] = left_out.get(why, 0) + count
    founded = [row for row in rows if row.figure.concept == FOUNDING_YEAR]
    rows = [row for row in rows if row.figure.concept != FOUNDING_YEAR]
    rows = list(map(_over, by_the_rooms_year(rows, _load_text)))
    derived = derive(rows, rule)
    if concept is not None:
        rows = [row for row in rows if row.figure.concept == concept]
        derived = [figure for figure in derived if any(row.figure.concept == concept for row in figure.inputs)]
    rows.sort(key=lambda row: (row.figure.concept, row.figure.period, row.document_name, row.figure.start))
    return RoomLedger(rows, find_conflicts(rows, rule), derived, ties, left_out, founded, find_versions(rows, rule))


def _sure(day: str | None) -> str | None:
    known = sure_day(date.fromisoformat(day)) if day else None
    return known.isoformat() if known else None


def _over(row: RoomFigure) -> RoomFigure:
    """A figure with its basis corrected for its folder, the day its file was changed, and today."""
    if row.basis not in ACTUAL:
        return row
    end = last_day(row.figure.period)
    told = row.figure.basis or WORDS.actual_heading.search(row.figure.place)
    named = next(filter(None, map(find_named_basis, reversed(row.path.split("/")))), None) if not told else None
    written = row.dated or row.changed
    if end > (row.changed or today().isoformat()) or (named == "forecast" and (written is None or end > written)):
        return replace(row, basis="forecast")
    return replace(row, basis=named) if named in ALWAYS else row


def _load_text(text_id: int) -> str:
    with database.reading() as session:
        return next((text for _, text, _ in figures.texts_to_read(session, [text_id])), "")


def _make_ledger(text_id: int, name: str, future: "Future[Reading]") -> NewLedger:
    try:
        found = receive(future)
    except DiligenceError as error:
        why = reason(error, make_limits())
        if why is None:
            raise
        kind = kind_by_name(name, PurePath(name).suffix.lower()) or ReportKind("management", deck=False)
        version = ledger_version() + ledger_limits()
        return NewLedger(
            StoredLedger(text_id=text_id, version=version, basis=kind.basis, deck=kind.deck, left_out={why: 1}, ties=[])
        )
    ledger = StoredLedger(text_id=text_id, version=_version(found.added), **found.ledger)
    return NewLedger(ledger, found.figures)


def _store(ledgers: Sequence[NewLedger]) -> None:
    if ledgers:
        with database.writing() as session:
            figures.save_ledgers(session, ledgers)


def _room_figures(stored: Iterable[StoredFigure], ledger: StoredLedger, document: LedgerText) -> Iterator[RoomFigure]:
    by_name: ReportKind | None = kind_by_name(document.document_name, PurePath(document.document_name).suffix.lower())
    for row in stored:
        yield RoomFigure(
            figure=figure_from({field.name: getattr(row, field.name) for field in fields(Figure)}),
            basis=row.basis or (by_name.basis if by_name else ledger.basis),
            document_id=document.document_id,
            document_name=document.document_name,
            path=document.path,
            deck=by_name.deck if by_name else ledger.deck,
            dated=ledger.dated,
            changed=min(filter(None, (ledger.changed, _sure(document.updated))), default=None),
            text_id=document.text_id,
        )
