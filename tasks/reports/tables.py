"""Tables of documents and questions: cells with quotes and places, the calendar, and the money at stake."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from math import inf
from typing import Any, Final

from storage import database
from storage.documents import RunDocument, list_texts
from storage.scores import Absence, Decision
from storage.texts import find_texts, group_sizes, text_sizes
from tasks.documents.kinds.room import RoomKinds
from tasks.language.normalise import read_name
from tasks.reports.models import (
    AtStake,
    CalendarEntry,
    ProgramCell,
    ReportedCell,
    ReportedColumn,
    ReportedDecision,
    ReportedFigure,
    ReportedQuote,
    ReportedRow,
    ReportedTable,
)
from tasks.review import CellReview, name_cell
from tasks.scoring.passages import TextPlaces
from tasks.table.cells import choose_rows, find_model_cells
from tasks.table.columns import Column, ColumnSet
from tasks.table.spans import subtract_duration

_MONEY: Final = ("revenue", "recurring_revenue")


def build_table(
    columns: ColumnSet,
    room: RoomKinds,
    texts: Mapping[str, int],
    urls: Mapping[str, str],
    figures: Callable[[], Sequence[ReportedFigure]] = list,
    decided: Sequence[Decision] = (),
    *,
    seconds: float = inf,
    quoted: Collection[str] | None = None,
) -> ReportedTable:
    """The table of a room.

    Args:
        columns: what is asked.
        room: what its documents are.
        texts: the ids of their texts, of those with words.
        urls: where documents can be looked at.
        figures: gives those of the ledger, by which clauses are weighed, where there are such clauses.
        decided: what people decided on cells, oldest first.
        seconds: for how long cells that are not stored are looked for.
        quoted: the documents whose cells have quotations; None for all. Those with decisions have them in any case.
    """
    chosen, cells, _ = choose_rows(columns, room, texts, seconds=seconds)
    by_model = find_model_cells((texts[name] for name in chosen if name in texts), columns)
    logs: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for decision in decided:
        logs[decision.document_id, decision.criterion_id].append(decision)
    with_quotes = set(chosen if quoted is None else quoted) | {name for name, _ in logs}
    said = {text_id: _join(columns, found, by_model.get(text_id, {})) for text_id, found in cells.items()}
    rows = {name: _row(columns, room, name, said.get(texts.get(name, -1))) for name in chosen}
    with database.reading() as session:
        sizes = text_sizes(session, sorted({texts[name] for name in chosen if name in texts and name in with_quotes}))
        for group in group_sizes(sizes):
            for text in find_texts(session, group):
                places = TextPlaces(text.text, text.places)
                for name in (name for name in chosen if texts.get(name) == text.id):
                    _add_quotes(rows[name], said[text.id or 0], text.text, places, urls.get(name))
    for (name, column_id), log in logs.items():
        column = next((column for column in columns.columns if column.id == column_id), None)
        if name in rows and column is not None:
            _add_decisions(rows[name].cells[column_id], review_cell(rows[name], column, log))
    table = ReportedTable(
        columns=[ReportedColumn(id=column.id, title=column.title, type=column.type) for column in columns.columns],
        rows=[rows[name] for name in chosen],
    )
    table.calendar = _calendar(table.rows)
    table.at_stake = _at_stake(table.rows, figures)
    return table


def run_table(
    columns: ColumnSet,
    room: RoomKinds,
    documents: Sequence[RunDocument],
    figures: Callable[[], Sequence[ReportedFigure]] = list,
    decided: Sequence[Decision] = (),
    quoted: Collection[str] | None = None,
    *,
    seconds: float = inf,
) -> ReportedTable:
    """The table of a company of a run, whose `documents` form the room; otherwise as `build_table`."""
    urls = {row.document_id: row.url for row in documents}
    texts = list_texts(documents)
    return build_table(columns, room, texts, urls, figures, decided, seconds=seconds, quoted=quoted)


def _join(columns: ColumnSet, found: Mapping[str, Any], by_model: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a text by column: what it states in ordinary form, otherwise what a model read in it."""
    cells: dict[str, Any] = {}
    for column in columns.columns:
        cell, read = found.get(column.find or ""), by_model.get(column.id)
        if read is not None and (cell is None or (cell["absence"] == Absence.SILENT and read["absence"] != "silent")):
            cells[column.id] = read | {"by": "model"}
        elif cell is not None:
            cells[column.id] = cell
    return cells


def _row(columns: ColumnSet, room: RoomKinds, name: str, cells: Mapping[str, Any] | None) -> ReportedRow:
    """A row without quotations; for what was not read it says so."""
    document = room.documents[name]
    unasked = {"value": None, "absence": Absence.UNREAD if cells is None else None, "sure": 0.0}
    shown = {
        column.id: ReportedCell.model_validate(
            {key: value for key, value in (cells or {}).get(column.id, unasked).items() if key != "spans"}
        )
        for column in columns.columns
    }
    return ReportedRow(document_id=name, document_name=document.name, kind=room.kinds[name].kind, cells=shown)


def _add_quotes(row: ReportedRow, cells: Mapping[str, Any], text: str, places: TextPlaces, url: str | None) -> None:
    for column_id, cell in cells.items():
        row.cells[column_id].quotes = [
            ReportedQuote(
                text=text[start:end],
                verified=True,
                document_id=row.document_id,
                document_name=row.document_name,
                document_url=url,
                place=places.place(start, end),
                start=start,
                end=end,
            )
            for start, end in cell["spans"]
        ]


def review_cell(row: ReportedRow, column: Column, log: Sequence[Decision]) -> CellReview:
    """The decisions on a cell of a row with quotations, compared with what the program says about it."""
    cell = row.cells[column.id]
    said = cell.program or cell
    return CellReview(column, name_cell(said.value, said.absence, [quote.text for quote in cell.quotes]), log)


def _add_decisions(cell: ReportedCell, review: CellReview) -> None:
    """Add people's decisions to a cell, with a person's value in place of the program's."""
    cell.decisions = [
        ReportedDecision(
            criterion_id=review.column.id,
            is_open=review.is_open(decision),
            **decision.model_dump(include={"id", "document_id", "kind", "by", "at", "value", "reason"}),
        )
        for decision in review.held
    ]
    if review.override is not None:
        cell.program = ProgramCell(value=cell.value, absence=cell.absence)
        value, absence = review.override.value["value"], review.override.value["absence"]
        cell.value, cell.absence, cell.sure, cell.by = value, absence and Absence(absence), 1.0, "person"


def _value(row: ReportedRow, column: str) -> Any:
    cell = row.cells.get(column)
    return cell.value if cell is not None else None


def _calendar(rows: Sequence[ReportedRow]) -> list[CalendarEntry]:
    """The days on which agreements end, and the last ones on which notice can be given, the earliest first."""
    entries: list[CalendarEntry] = []
    for row in rows:
        expiry, notice = _value(row, "expiry"), _value(row, "notice")
        if not isinstance(expiry, str) or not re.fullmatch(r"\d{4}-\d\d-\d\d", expiry):
            continue
        named = {"document_id": row.document_id, "document_name": row.document_name}
        entries.append(CalendarEntry(day=expiry, event="expiry", **named))
        if isinstance(notice, str):
            day = subtract_duration(date.fromisoformat(expiry), notice)
            entries.append(CalendarEntry(day=day.isoformat(), event="notice", **named))
    return sorted(entries, key=lambda entry: (entry.day, entry.document_name))


def _at_stake(rows: Sequence[ReportedRow], figures: Callable[[], Sequence[ReportedFigure]]) -> list[AtStake]:
    """For each agreement that a change of control puts at risk, a party's newest revenue in the ledger."""
    by_party: dict[tuple[str, ...], list[ReportedFigure]] = {}
    for figure in figures() if any(_value(row, "change_of_control") is True for row in rows) else ():
        if figure.entity and figure.concept in _MONEY and len(figure.unit) == 3:
            by_party.setdefault(read_name(figure.entity), []).append(figure)
    stakes: list[AtStake] = []
    for row in rows:
        if _value(row, "change_of_control") is not True:
            continue
        for party in _value(row, "parties") or ():
            known = by_party.get(read_name(party))
            if known:
                newest = max(known, key=lambda figure: figure.period.rpartition("/")[2])
                stakes.append(
                    AtStake(
                        document_id=row.document_id,
                        document_name=row.document_name,
                        clause="change_of_control",
                        party=party,
                        figure=newest,
                    )
                )
    return stakes
