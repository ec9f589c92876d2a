"""Tables of documents and questions: their cells with quotes and places, the calendar, and the money at stake."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from storage import database
from storage.scores import Absence
from storage.texts import find_texts, group_sizes, text_sizes
from tasks.documents.kinds.room import RoomKinds
from tasks.reports.models import (
    AtStake,
    CalendarEntry,
    ReportedCell,
    ReportedColumn,
    ReportedFigure,
    ReportedQuote,
    ReportedRow,
    ReportedTable,
)
from tasks.reports.workbook import FIGURE, SHARE, Row, SheetColumn, WorkbookFile
from tasks.scoring.passages import TextPlaces
from tasks.table.cells import find_text_cells, is_row
from tasks.table.columns import ColumnSet
from tasks.table.spans import subtract_duration

_MONEY: Final = ("revenue", "recurring_revenue")
_LEGAL_FORM: Final = re.compile(
    r"(?<!\s)[,.]?\s*+\b(?:inc|incorporated|corp|corporation|co|company|llc|ltd|limited|plc|gmbh|ag|s\.?a|sas|b\.?v|n\.?v|se|kg|oy|ab|as)\b\.?",
    re.IGNORECASE,
)


def build_table(
    columns: ColumnSet,
    room: RoomKinds,
    texts: Mapping[str, int],
    urls: Mapping[str, str],
    figures: Sequence[ReportedFigure] = (),
    *,
    find: bool = True,
) -> ReportedTable:
    """The table of a room.

    Args:
        columns: what is asked.
        room: what its documents are.
        texts: the ids of their texts, of those with words.
        urls: where documents can be looked at.
        figures: those of the ledger, by which clauses are weighed.
        find: whether cells that are not stored are found now.
    """
    cells = find_text_cells(texts.values(), columns, find=find)
    chosen = [name for name in room.documents if is_row(columns, room.kinds[name].kind, cells.get(texts.get(name, -1)))]
    rows: dict[str, ReportedRow] = {}
    with database.reading() as session:
        sizes = text_sizes(session, sorted({texts[name] for name in chosen if name in texts}))
        for group in group_sizes(sizes):
            for text in find_texts(session, group):
                places = TextPlaces(text.text, text.places)
                for name in (name for name in chosen if texts.get(name) == text.id):
                    found = cells.get(text.id or 0, {})
                    rows[name] = _row(columns, room, name, found, text.text, places, urls)
    for name in chosen:
        if name not in rows:
            rows[name] = _unread_row(columns, room, name)
    table = ReportedTable(
        columns=[ReportedColumn(id=column.id, title=column.title, type=column.type) for column in columns.columns],
        rows=[rows[name] for name in chosen],
    )
    table.calendar = _calendar(table.rows)
    table.at_stake = _at_stake(table.rows, figures)
    return table


def _row(
    columns: ColumnSet,
    room: RoomKinds,
    name: str,
    cells: Mapping[str, Any],
    text: str,
    places: TextPlaces,
    urls: Mapping[str, str],
) -> ReportedRow:
    row = room.documents[name]

    def quote(start: int, end: int) -> ReportedQuote:
        return ReportedQuote(
            text=text[start:end],
            verified=True,
            document_id=name,
            document_name=row.name,
            document_url=urls.get(name),
            place=places.place(start, end),
        )

    filled = {}
    for column in columns.columns:
        cell = cells.get(column.find or "", None)
        filled[column.id] = (
            ReportedCell(
                value=cell["value"],
                absence=Absence(cell["absence"]) if cell["absence"] else None,
                sure=cell["sure"],
                quotes=[quote(*span) for span in cell["spans"]],
            )
            if cell is not None
            else ReportedCell(value=None, absence=None, sure=0.0)
        )
    return ReportedRow(document_id=name, document_name=row.name, kind=room.kinds[name].kind, cells=filled)


def _unread_row(columns: ColumnSet, room: RoomKinds, name: str) -> ReportedRow:
    cells = {column.id: ReportedCell(value=None, absence=Absence.UNREAD, sure=0.0) for column in columns.columns}
    document = room.documents[name]
    return ReportedRow(document_id=name, document_name=document.name, kind=room.kinds[name].kind, cells=cells)


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


def _at_stake(rows: Sequence[ReportedRow], figures: Sequence[ReportedFigure]) -> list[AtStake]:
    """For each agreement that a change of control puts at risk the newest revenue of a party in the ledger."""
    by_party: dict[str, list[ReportedFigure]] = {}
    for figure in figures:
        if figure.entity and figure.concept in _MONEY and len(figure.unit) == 3:
            by_party.setdefault(_plain_name(figure.entity), []).append(figure)
    stakes: list[AtStake] = []
    for row in rows:
        if _value(row, "change_of_control") is not True:
            continue
        for party in _value(row, "parties") or ():
            known = by_party.get(_plain_name(party))
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


def _plain_name(name: str) -> str:
    return " ".join(re.findall(r"\w+", _LEGAL_FORM.sub("", name).casefold()))


def value_in_words(value: Any) -> str:
    """A cell's value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        return f"{value['unit']} {value['value']}"
    match = re.fullmatch(r"P(\d+)([DWMY])", str(value))
    if match:
        unit = {"D": "day", "W": "week", "M": "month", "Y": "year"}[match[2]]
        return f"{match[1]} {unit}{'' if match[1] == '1' else 's'}"
    return str(value)


def table_rows(table: ReportedTable) -> Iterator[Row]:
    """A row for each cell that has a value: document, column, value, how sure, quotation and place."""
    for row in table.rows:
        for column in table.columns:
            cell = row.cells[column.id]
            if cell.value is not None:
                quote = cell.quotes[0] if cell.quotes else None
                yield [
                    row.document_name,
                    column.title,
                    value_in_words(cell.value),
                    cell.sure,
                    quote.text if quote else "",
                    quote.place or "" if quote else "",
                ]


def add_tables(book: WorkbookFile, tables: Sequence[tuple[str, ReportedTable]]) -> None:
    """Add the sheets of tables, each with the name of its company ("" where there is but one)."""
    for name, table in tables:
        behind = f" {name}"[:20] if name else ""
        heads = (SheetColumn("Document", 40), *(SheetColumn(column.title, 18) for column in table.columns))
        rows = (
            [row.document_name, *(value_in_words(row.cells[column.id].value) for column in table.columns)]
            for row in table.rows
        )
        book.sheet(f"Table{behind}", heads, rows, still=(1, 1))
        columns: tuple[SheetColumn, ...] = (
            SheetColumn("Document", 30),
            SheetColumn("Column", 20),
            SheetColumn("Value", 24),
        )
        columns += (SheetColumn("Sure", 8, SHARE), SheetColumn("Quote", 90), SheetColumn("Place", 24))
        book.sheet(f"Cells{behind}", columns, table_rows(table), still=(1, 1))
        events = ([entry.day, entry.event, entry.document_name] for entry in table.calendar)
        book.sheet(
            f"Calendar{behind}",
            (SheetColumn("Day", 12), SheetColumn("Event", 10), SheetColumn("Document", 50)),
            events,
            still=(1, 1),
        )
        if table.at_stake:
            columns = (SheetColumn("Party", 30), SheetColumn("Clause", 20), SheetColumn("Revenue", 16, FIGURE))
            columns += (SheetColumn("Currency", 10), SheetColumn("Period", 24), SheetColumn("Document", 50))
            stakes: Iterator[Row] = (
                [
                    one.party,
                    one.clause.replace("_", " "),
                    float(one.figure.value),
                    one.figure.unit,
                    one.figure.period,
                    one.document_name,
                ]
                for one in table.at_stake
            )
            book.sheet(f"At stake{behind}", columns, stakes, still=(1, 1))


def table_workbook(tables: Sequence[tuple[str, ReportedTable]]) -> bytes:
    """A workbook of tables alone."""
    book = WorkbookFile()
    add_tables(book, tables)
    return book.save()
