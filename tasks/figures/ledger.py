"""The ledger of a room: built from its stored texts, stored beside them, and returned with the documents' names.

Each version of the ledger, including the concepts in the user's file, looks through a text once: what a killed run has
stored is not repeated, and unchanged documents are neither read nor looked through again.

A company's fiscal year counts for all its documents, if only some say when it ends. "FY24" in a deck is the year that
the accounts say ends on 31 March 2024. A document that does not say when its year ends is first read by the calendar
year; if all other documents in the room end their years in another month, that is corrected here. Anything that names a
month or day itself is left alone.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePath
from threading import Lock
from typing import Any, Final, NamedTuple

from cachetools import LRUCache

from storage import database
from storage.documents import RunDocument, company_documents
from storage.texts import (
    CUT_OFF,
    NewLedger,
    StoredFigure,
    StoredLedger,
    cut_off_ledgers,
    find_ledgers,
    find_texts,
    group_sizes,
    load_words,
    save_ledgers,
    text_sizes,
    texts_without_ledger,
)
from tasks.documents.drive.spool import spool
from tasks.errors import DiligenceError, Unreadable
from tasks.figures.conflicts import (
    RULE,
    FigureConflict,
    RoomFigure,
    Step,
    find_conflicts,
    find_versions,
    name_other_companies,
)
from tasks.figures.derived import FigureValue, derive
from tasks.figures.document import ReportKind, kind_by_name
from tasks.figures.document_figures import VERSION
from tasks.figures.figure import (
    ACTUAL,
    ALWAYS,
    WORDS,
    Figure,
    concepts_file,
    find_basis,
    find_named_basis,
    taxonomy,
)
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.figures.from_sentences import FOUNDING_YEAR
from tasks.figures.limited import COLUMNS, LookedThrough, WrittenText, figure_from, make_limits, reason, receive, submit
from tasks.language.periods import When, count_months, find_periods, last_day, make_day
from tasks.operation import operation
from tasks.reading.text_writer import sure_day, today

_TRAILING: Final = re.compile(r"\b(?:ltm|ttm|trailing|last twelve|twelve months|12 months)\b", re.IGNORECASE)
_COLUMN: Final = ", column “"
_AROUND: Final = 200
"""Characters before a number in a sentence that may say of when it is; as many behind it."""
_WEEK: Final = 8
"""Days by which the ends of years of 52 and 53 weeks differ."""
_CALENDAR_YEAR: Final = "12-31"
_OF_YEAR: Final = 1000
"""What a whole year weighs beside a day when it is asked when a text's years end."""
_FIRST_OF_WEEKS: Final = "12-24"
"""After this day of December years of weeks end that are as good as calendar years."""
_MOST_CALENDARS: Final = 20
"""Documents of a room that are asked when their years end, those with most figures first."""
_ENDS_OF_MONTHS: Final = frozenset(make_day(2023, month, 31) for month in range(1, 13))
_FIRST_SURE_MONTH: Final = 3
"""A year that ends in January or February may bear the name of the year before."""


def by_the_rooms_year(rows: Sequence[RoomFigure], text_of: Callable[[int], str]) -> Sequence[RoomFigure]:
    """The figures of a room, with bare years corrected in documents that do not say when their year ends.

    `text_of` returns a document's text by its id; it is only called for documents with calendar years, and only in
    rooms that have others.
    """
    ends = _year_ends(rows)
    of_calendar_years = {text_id for text_id, (end, _) in ends.items() if end == _CALENDAR_YEAR}
    if len(of_calendar_years) == len(ends):
        return rows
    silent: dict[int, str] = {}
    for text_id in of_calendar_years:
        text = text_of(text_id)
        if not learn_calendar(text, ends[text_id][1]).said:
            silent[text_id] = text
    told = {
        text_id
        for text_id, (end, name) in ends.items()
        if date.fromisoformat(f"2023-{end.replace('02-29', '02-28')}") in _ENDS_OF_MONTHS
        or learn_calendar(text_of(text_id), name).said
    }  # a day within a month may be the one on which something was written
    others = [row for row in rows if row.text_id in told - of_calendar_years]
    calendar = _calendar(others)
    said_december = len(silent) < len(of_calendar_years)
    if calendar is None or said_december or not silent:
        return rows
    return [_put_right(row, silent[row.text_id], calendar) if row.text_id in silent else row for row in rows]


def learn_room_calendar(rows: Sequence[RoomFigure], text_of: Callable[[int], str]) -> Calendar:
    """The fiscal year of a room's documents, for a memo or other text that refers to it without saying when it ends.

    Its date is the newest of the documents with most figures, and of the periods of their actual figures. If their
    years end on different days it is the calendar year.
    """
    names = {row.text_id: row.document_name for row in rows}
    most = Counter(row.text_id for row in rows).most_common(_MOST_CALENDARS)
    learnt = [learn_calendar(text_of(text_id), names[text_id]) for text_id, _ in most]
    actual = [date.fromisoformat(last_day(row.figure.period)) for row in rows if row.basis in ACTUAL]
    dated = max([*actual, *(calendar.dated for calendar in learnt if calendar.dated)], default=None)
    said = [calendar for calendar in learnt if calendar.said]
    if len({(calendar.month, calendar.shift) for calendar in said}) != 1:
        return Calendar(dated=dated)
    ends = {year: end for calendar in said for year, end in calendar.ends.items()}
    return replace(said[0], ends=ends, dated=dated)


def _year_ends(rows: Iterable[RoomFigure]) -> Mapping[int, tuple[str, str]]:
    """The month and day on which most full years of each text end, and its name; if it has no full years, its single
    days count.

    A text with 52- or 53-week years has an end other than 31 December ("12-30") in at least one year, and that one is
    used.
    """
    days: dict[int, Counter[str]] = defaultdict(Counter)
    names: dict[int, str] = {}
    for row in rows:
        if row.figure.unit == "year" or _TRAILING.search(row.figure.place):
            continue
        names[row.text_id] = row.document_name
        of_year = 11 <= count_months(row.figure.period) <= 13
        if of_year or "/" not in row.figure.period:
            days[row.text_id][last_day(row.figure.period)[5:]] += _OF_YEAR if of_year else 1
    return {text_id: (_find_usual_end(counts), names[text_id]) for text_id, counts in days.items()}


def _find_usual_end(days: Counter[str]) -> str:
    """The day on which most of these years end; a year of weeks near 31 December goes before it."""
    most = days.most_common(1)[0][0]
    of_weeks = (day for day in days if _FIRST_OF_WEEKS < day < _CALENDAR_YEAR and days[day] >= _OF_YEAR)
    return next(of_weeks, most) if most == _CALENDAR_YEAR else most


def _calendar(rows: Iterable[RoomFigure]) -> Calendar | None:
    """The fiscal year of the actual full-year figures; None if they belong to several."""
    ends = Counter(
        date.fromisoformat(last_day(row.figure.period))
        for row in rows
        if row.basis in ACTUAL
        and 11 <= count_months(row.figure.period) <= 13
        and not _TRAILING.search(row.figure.place)
        and (row.figure.period[5:7] != "01" or _FIRST_OF_WEEKS < last_day(row.figure.period)[5:] < _CALENDAR_YEAR)
    )
    newest = max(ends, default=None)
    if newest is None or newest.month < _FIRST_SURE_MONTH:
        return None
    if any(abs((newest - end).days - 365.25 * (newest.year - end.year)) > _WEEK for end in ends):
        return None
    return Calendar(month=newest.month, day=newest.day, ends={end.year: end for end in ends})


def _put_right(row: RoomFigure, text: str, calendar: Calendar) -> RoomFigure:
    """The figure with its period corrected if it only names a year: the fiscal year instead of the calendar year."""
    figure = row.figure
    of_year = figure.period.endswith("-12-31") and ("/" not in figure.period or 11 <= count_months(figure.period) <= 13)
    if not of_year or any(when.end or when.month_day for when in find_periods(_words(row, text))):
        return row
    when = When(year=int(last_day(figure.period)[:4]), months=12)
    if calendar.month == 12 and when.year not in calendar.ends:  # a year of weeks ends where the others say
        return row
    period = calendar.resolve(when, instant="/" not in figure.period)
    if period is None:
        return row
    if _had_ended(row, period, _words(row, text)):  # no forecast, as it was taken for by the calendar year
        kind = kind_by_name(row.document_name, PurePath(row.document_name).suffix.lower())
        basis = kind.basis if kind else "management"
        return replace(row, figure=replace(figure, period=period, basis=None), basis=basis)
    return replace(row, figure=replace(figure, period=period))


def _had_ended(row: RoomFigure, period: str, words: str) -> bool:
    """Whether a forecast that no words mark as planned is for a period that was over when the document was written."""
    written = row.dated or row.changed
    if row.basis != "forecast" or written is None or last_day(period) > written:
        return False
    return find_basis(words) is None and WORDS.said_plan.search(words) is None


def _words(row: RoomFigure, text: str) -> str:
    """The words that tell a figure's period: its row and column, or the sentence around it."""
    figure = row.figure
    if _COLUMN in figure.place:
        return figure.place[figure.place.index("“") :]
    before = text[max(0, figure.start - _AROUND) : figure.start]
    behind = text[figure.end : figure.end + _AROUND]
    return re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", before)[-1] + " " + re.split(r"\n|[.;] (?=[A-ZÄÖÜ])", behind)[0]


_STORE_AFTER: Final = 2.0
_STORE_AT: Final = 20_000
"""Seconds and figures after which what was found is stored at the latest."""
TOGETHER: Final = 30_000
"""Characters of short texts that a process gets at once: to hand over one of 3,000 takes a fifth of its search."""


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
def build_ledger(company_id: int) -> list[str]:
    """Find the figures in the documents of a company in a run; returns in which they were not looked for, and why."""
    with database.reading() as session:
        documents = company_documents(session, company_id)
    build(run_texts(documents))
    return not_looked_for({row.text_id: row.name for row in documents if row.text_id is not None})


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
        return [f"{names[text_id]}: {why}." for text_id, why in cut_off_ledgers(session, names).items()]


def build(texts: Iterable[LedgerText], *, of_run: bool = False) -> int:
    """Find the figures of texts that this version has not looked through; returns how many there were.

    `of_run`: what a run found with the concepts in its batch file is kept, as long as the settings name no others.
    """
    names = {text_id: text.document_name for text_id, text in first_by_path(texts).items()}
    version = ledger_version()
    any_addition = of_run and version == VERSION
    with database.reading() as session:
        missing = texts_without_ledger(session, names, version, ledger_limits(), any_addition=any_addition)
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
            loaded = {text.id or 0: text for text in find_texts(session, group)}
        asked = []
        for ids in group_sizes({text_id: sizes[text_id] for text_id in loaded}, TOGETHER):
            texts = [WrittenText(loaded[one].text, loaded[one].places, names[one], concepts) for one in ids]
            asked.append((ids, submit(texts, folder)))
        del loaded
        for ids, future in asked:
            try:
                found = receive(future)
            except DiligenceError as error:
                yield from _search_alone(names, sizes, folder, ids, error)
                continue
            for one, its in zip(ids, found, strict=True):
                stored = StoredLedger(text_id=one, version=_version(its.added), **its.ledger)
                yield NewLedger(stored, its.figures)


def _search_alone(
    names: Mapping[int, str], sizes: Mapping[int, int], folder: Path, ids: Sequence[int], error: DiligenceError
) -> Iterator[NewLedger]:
    """The ledgers of texts that could not be searched together, each by itself: one of them is at fault."""
    if len(ids) == 1:
        yield _cut_off(ids[0], names[ids[0]], error)
        return
    for one in ids:
        yield from _ledgers(names, {one: sizes[one]}, folder)


def find_now(text: WrittenText) -> tuple[list[Figure], LookedThrough]:
    """The figures of one text, and what else was found in it; waits for the result.

    Raises:
        Unreadable: it was not looked through within the limits; the message says which. Unavailable: try again.
    """
    try:
        with spool() as folder:
            (found,) = receive(submit([text], folder))
    except DiligenceError as error:
        why = reason(error, make_limits())
        raise (Unreadable(f"{text.name}: {why}.") if why else error) from error
    return [figure_from(columns) for columns in found.figures if columns["concept"] != FOUNDING_YEAR], found


def room_ledger(
    texts: Iterable[LedgerText], concept: str | None = None, rule: Sequence[Step] = RULE, company: str = ""
) -> RoomLedger:
    """What is stored about the texts of a room; with `concept`, only its figures and conflicts.

    `rule` decides which of several contradicting figures counts. `company` is whose room it is, where that is known.
    """
    documents = first_by_path(texts)
    with database.reading() as session:
        found = find_ledgers(session, documents)
    rows: list[RoomFigure] = []
    ties: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for text_id, document in documents.items():
        if text_id not in found:
            continue
        ledger, stored = found[text_id]
        rows.extend(_room_figures(stored, ledger, document))
        ties.extend(
            {**tie, "document_id": document.document_id, "document_name": document.document_name} for tie in ledger.ties
        )
        left_out.update(ledger.left_out)
    companies = {text_id: ledger.company for text_id, (ledger, _) in found.items()}
    rows = name_other_companies(rows, companies, _load_text, company)
    founded = [row for row in rows if row.figure.concept == FOUNDING_YEAR and not row.figure.entity]
    rows = [row for row in rows if row.figure.concept != FOUNDING_YEAR]
    rows = list(map(_over, by_the_rooms_year(rows, _load_text)))
    derived, conflicts, versions = derive(rows, rule), find_conflicts(rows, rule), find_versions(rows, rule)
    rows.sort(key=lambda row: (row.figure.concept, row.figure.period, row.document_name, row.figure.start))
    room = RoomLedger(rows, conflicts, derived, ties, dict(left_out), founded, versions)
    return room if concept is None else _take_concept(room, concept)


def scored_ledger(texts: Sequence[LedgerText], rule: tuple[Step, ...], company: str) -> RoomLedger:
    """`room_ledger` for a company's scores; what it gives is handed on to the company's report."""
    room = room_ledger(texts, rule=rule, company=company)
    with _LOCK, suppress(ValueError):  # it is too large
        _HANDED_ON[database.url(), tuple(texts), rule, company] = room
    return room


def reported_ledger(texts: Sequence[LedgerText], rule: tuple[Step, ...], company: str) -> RoomLedger:
    """The `room_ledger` by which this process scored a company; where it did not, that of now."""
    with _LOCK:
        room: RoomLedger | None = _HANDED_ON.pop((database.url(), tuple(texts), rule, company), None)
    return room or room_ledger(texts, rule=rule, company=company)


_HANDED_ON: Final[LRUCache[tuple[object, ...], RoomLedger]] = LRUCache(20_000, lambda room: len(room.figures) + 1)
"""With 20,000 figures in all."""
_LOCK: Final = Lock()


def _take_concept(room: RoomLedger, concept: str) -> RoomLedger:
    """The ledger with the figures and conflicts of one concept, and what is derived from it."""
    return room._replace(
        figures=[row for row in room.figures if row.figure.concept == concept],
        conflicts=[conflict for conflict in room.conflicts if conflict.concept == concept],
        derived=[value for value in room.derived if any(row.figure.concept == concept for row in value.inputs)],
        versions=[version for version in room.versions if version.concept == concept],
    )


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
        return dict(load_words(session, [text_id])).get(text_id, "")


def _cut_off(text_id: int, name: str, error: DiligenceError) -> NewLedger:
    why = reason(error, make_limits())
    if why is None:
        raise error
    kind = kind_by_name(name, PurePath(name).suffix.lower()) or ReportKind("management", deck=False)
    version = ledger_version() + ledger_limits()
    return NewLedger(
        StoredLedger(text_id=text_id, version=version, basis=kind.basis, deck=kind.deck, left_out={why: 1}, ties=[])
    )


def _store(ledgers: Sequence[NewLedger]) -> None:
    if ledgers:
        with database.writing() as session:
            save_ledgers(session, ledgers)


def _room_figures(stored: Iterable[StoredFigure], ledger: StoredLedger, document: LedgerText) -> Iterator[RoomFigure]:
    by_name: ReportKind | None = kind_by_name(document.document_name, PurePath(document.document_name).suffix.lower())
    changed = min(filter(None, (ledger.changed, _sure(document.updated))), default=None)
    for row in stored:
        yield RoomFigure(
            figure=figure_from({name: getattr(row, name) for name in COLUMNS}),
            basis=row.basis or (by_name.basis if by_name else ledger.basis),
            document_id=document.document_id,
            document_name=document.document_name,
            path=document.path,
            deck=by_name.deck if by_name else ledger.deck,
            dated=ledger.dated,
            changed=changed,
            text_id=document.text_id,
        )
