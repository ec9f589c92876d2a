"""The tables of a run's documents and questions in the service, under the viewer's rights, and decisions on their
cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from typing import Final

from storage import database
from storage.decisions import Decision, table_decisions
from storage.run_documents import company_documents, some_documents
from storage.runs import Run
from tasks.documents.kinds.room import run_kinds
from tasks.errors import NotFound
from tasks.reports.company import report_figures
from tasks.reports.live import LiveRun, live_run
from tasks.reports.live_review import find_company, find_seen, seen_companies
from tasks.reports.live_rooms import document_address
from tasks.reports.models import ReportedCell, ReportedFigure, ReportedRow, ReportedTable
from tasks.reports.tables import list_texts, review_cell, run_table, table_workbook
from tasks.review.decide import Act, decide_cell
from tasks.table.cells import choose_rows
from tasks.table.columns import Column, ColumnSet, named_set, set_names

_ROWS: Final = 500
"""Rows of a page."""
_LISTED: Final = 40
"""Days of the calendar, and agreements at stake, that a page lists; the workbook has all."""
_AT_FIRST: Final = 0.3
_GOING_ON: Final = 2.0
"""Seconds of work for which texts are read before a page of a table is shown: the first time, and when it goes on."""
OWN: Final = "criteria"
"""The set of columns that the run's criteria name."""
_NO_ROW: Final = "The table has no such document, or it is not shared with your account."


@dataclass(frozen=True)
class Chosen:
    """The table to show: the run, a company of it, and the set of columns."""

    run_id: str
    batch: str
    name: str
    domain: str
    columns: str
    sets: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ShownTable:
    """A page of a table. `count` is the number of all rows, `to_come` that of future days in the calendar.

    `left` is the number of texts that are still to be read for the table.
    """

    chosen: Chosen
    companies: Sequence[tuple[str, str]]
    table: ReportedTable
    count: int
    page: int
    pages: int
    to_come: int
    past: int
    left: int


@dataclass(frozen=True)
class ShownCell:
    """A cell with what the next decision on it must name, and where each of its quotations is shown."""

    column: Column
    cell: ReportedCell
    saw: str
    follows: int
    is_signed: bool
    addresses: Sequence[str]


@dataclass(frozen=True)
class ShownRow:
    """A document with its cells, and the documents before and after it in the table."""

    chosen: Chosen
    row: ReportedRow
    cells: Sequence[ShownCell]
    previous: str | None = None
    following: str | None = None
    number: int = 0
    count: int = 0


class _Room:
    """What the viewer sees of a company of a run, for tables of it.

    Raises:
        NotFound: there is no such company, or set of columns.
    """

    def __init__(self, live: LiveRun, domain: str, columns: str, document_id: str | None = None) -> None:
        """With `document_id` the room is that document alone: loading thousands takes longer than a click may."""
        run = live.run
        _, company = find_company(live, domain)
        seen = find_seen(live, company)
        with database.reading() as session:
            self._documents = (
                company_documents(session, company.id or 0)
                if document_id is None
                else some_documents(session, company.id or 0, [document_id])
            )
            self.log = table_decisions(session, run.batch, domain)
        if seen is not None:
            if seen.documents is None:
                raise NotFound(_NO_ROW)
            self._documents = [row for row in self._documents if row.document_id in seen.documents]
        own = [(OWN, "Of the criteria")] if "table" in run.criteria else []
        sets = [*own, *((name, name.capitalize()) for name in set_names())]
        chosen = columns or sets[0][0]
        if chosen not in dict(sets):
            raise NotFound(f"There is no set of columns with that name: {', '.join(dict(sets))}.")
        self.columns = _columns(run, chosen)
        self.chosen = Chosen(run.id, run.batch, company.name, domain, chosen, sets)
        self._run, self._is_final = run, document_id is None and run.reported_at is not None
        self.left = 0

    def table(self, quoted: Sequence[str] | None, *, at_stake: bool = True, seconds: float = inf) -> ReportedTable:
        """Its table; only the `quoted` documents have quotations, None for all.

        After so many `seconds` no other text is read for it; `left` is then how many there are still.
        """
        kinds = run_kinds(self._documents, find=False, is_final=self._is_final)
        figures = self._figures if at_stake else list
        texts = list_texts(self._documents)
        self.left = choose_rows(self.columns, kinds, texts, first=quoted or (), seconds=seconds).left
        return run_table(self.columns, kinds, self._documents, figures, self.log, quoted, seconds=0)

    def _figures(self) -> list[ReportedFigure]:
        return report_figures(self._documents, self._run)

    def row(self) -> ReportedRow:
        """The row of its only document, with quotations.

        Raises:
            NotFound: the table has no such row.
        """
        table = self.table(None, at_stake=False)
        if not table.rows:
            raise NotFound(_NO_ROW)
        return table.rows[0]

    def cells(self, row: ReportedRow) -> list[ShownCell]:
        """The cells of a row, for a page."""
        return [self._cell(row, column) for column in self.columns.columns]

    def _cell(self, row: ReportedRow, column: Column) -> ShownCell:
        cell, review = row.cells[column.id], review_cell(row, column, self.log_of(row, column.id))
        addresses = [document_address(row.document_id, quote.start, quote.end) for quote in cell.quotes]
        return ShownCell(column, cell, review.evidence["digest"], review.newest, bool(review.signed), addresses)

    def log_of(self, row: ReportedRow, column_id: str) -> list[Decision]:
        """The decisions on a cell, oldest first."""
        return [one for one in self.log if (one.document_id, one.criterion_id) == (row.document_id, column_id)]


def _columns(run: Run, chosen: str) -> ColumnSet:
    return ColumnSet.model_validate(run.criteria["table"]) if chosen == OWN else named_set(chosen)


def show_table(run_id: str, domain: str, columns: str, words: str, page: int, *, goes_on: bool = False) -> ShownTable:
    """A page of the table of a company of a run, or of the first one that the viewer sees.

    Args:
        run_id: the run.
        domain: the company; "" for the first.
        columns: the set of columns; "" for that of the criteria, else the first of the program.
        words: what the names of its documents have in them.
        page: from 1.
        goes_on: whether the page was shown already, and texts were left to be read for it.

    Raises:
        NotFound, NotLoggedIn: as `live_run`, or there is no such company or set of columns.
    """
    with live_run(run_id) as live:
        companies = [(company.domain, company.name) for company, _ in seen_companies(live)]
        if not companies:
            raise NotFound("The run has no company that is shared with your account.")
        room = _Room(live, domain or companies[0][0], columns)
        table = room.table([], seconds=_GOING_ON if goes_on else _AT_FIRST)
        rows = [row for row in table.rows if words.strip().casefold() in row.document_name.casefold()]
        pages = max(1, -(-len(rows) // _ROWS))
        page = min(max(page, 1), pages)
        today = datetime.now(UTC).date().isoformat()
        to_come = [entry for entry in table.calendar if entry.day >= today]
        shown = ReportedTable(
            columns=table.columns,
            rows=rows[(page - 1) * _ROWS : page * _ROWS],
            calendar=to_come[:_LISTED],
            at_stake=table.at_stake[:_LISTED],
        )
        past = len(table.calendar) - len(to_come)
        return ShownTable(room.chosen, companies, shown, len(rows), page, pages, len(to_come), past, room.left)


def whole_table(run_id: str, domain: str, columns: str, *, as_workbook: bool) -> bytes:
    """The whole table with its quotations, as JSON or as a workbook; arguments and errors as those of `show_table`."""
    with live_run(run_id) as live:
        first = "" if domain else next((company.domain for company, _ in seen_companies(live)), "")
        table = _Room(live, domain or first, columns).table(None)
        return table_workbook([("", table)]) if as_workbook else table.model_dump_json(indent=2).encode()


def show_row(run_id: str, domain: str, document_id: str, columns: str) -> ShownRow:
    """A document of a table with its cells.

    Raises:
        NotFound, NotLoggedIn: as `show_table`, or the table has no such document.
    """
    with live_run(run_id) as live:
        room = _Room(live, domain, columns)
        table = room.table([document_id], at_stake=False, seconds=_AT_FIRST)
        names = [row.document_id for row in table.rows]
        if document_id not in names:
            raise NotFound(_NO_ROW)
        at = names.index(document_id)
        return ShownRow(
            *(room.chosen, table.rows[at], room.cells(table.rows[at])),
            previous=names[at - 1] if at else None,
            following=names[at + 1] if at + 1 < len(names) else None,
            number=at + 1,
            count=len(names),
        )


def write_cell_decision(run_id: str, domain: str, columns: str, act: Act, by: str) -> ShownRow:
    """Store somebody's decision on a cell of a table, and return the cell's row as it is then.

    Raises:
        BadRequest, Conflict: as `decide_cell`.
        NotFound, NotLoggedIn: as `show_row`, or there is no such column.
    """
    with live_run(run_id) as live:
        room = _Room(live, domain, columns, act.document_id)
        row = room.row()
        column = next((column for column in room.columns.columns if column.id == act.criterion_id), None)
        if column is None:
            raise NotFound("The table has no such column.")
        decide_cell(live.run, domain, review_cell(row, column, room.log_of(row, column.id)), act, by)
        with database.reading() as session:
            room.log = table_decisions(session, live.run.batch, domain)
        row = room.row()
        return ShownRow(room.chosen, row, room.cells(row))
