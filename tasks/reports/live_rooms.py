"""The rooms of a run in the service: searching, questions, and tables of documents with decisions on their cells.

All are in the texts that the run read and the viewer may see.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from math import inf
from typing import Final
from urllib.parse import quote

from storage import database
from storage.documents import DocumentStatus, RunDocument, company_documents, list_texts, some_run_documents
from storage.runs import RunCompany
from storage.scores import Decision, table_decisions
from tasks.documents.kinds.catalogue import may_be_document
from tasks.documents.kinds.room import run_kinds
from tasks.errors import NotFound
from tasks.figures.ledger import LedgerText, run_texts
from tasks.language.sentences import sentences
from tasks.language.words import tokens
from tasks.ranking.semantic import EmbeddingSettings
from tasks.reports.company import report_figures, side_of
from tasks.reports.criteria import review_cell, run_table
from tasks.reports.live import LiveRun, find_company, find_seen, live_run, seen_companies
from tasks.reports.models import ReportedCell, ReportedRow, ReportedTable
from tasks.reports.wording import make_anchor
from tasks.reports.xlsx import table_workbook
from tasks.review import Act, decide_cell
from tasks.rooms import RoomAnswer, RoomPassages, ask_room
from tasks.table.cells import choose_rows
from tasks.table.columns import Column, ColumnSet, named_set, set_names

_HITS: Final = 30
_LISTED: Final = 500
_WORD: Final = re.compile(r"\w+(?:[.'’-]\w+)*")


@dataclass(frozen=True)
class Filters:
    """What to search: a company by its domain, documents of a kind, in a folder, with an outcome; "" for all."""

    company: str = ""
    kind: str = ""
    folder: str = ""
    status: str = ""

    def take(self, *has: str) -> bool:
        """Whether a document with these properties, in this order, is searched."""
        return all(wanted in {"", one} for wanted, one in zip(astuple(self), has, strict=True))


@dataclass(frozen=True)
class ShownDocument:
    """A document of a room in a list of results; `address` is relative to the run's folder."""

    company: str
    name: str
    path: str
    kind: str
    status: str
    warning: str | None
    address: str


@dataclass(frozen=True)
class FoundPassage:
    """A passage that a search found: its words in pieces, each with whether it was searched for.

    No piece is marked if it was only found by meaning.
    """

    document: ShownDocument
    place: str
    pieces: Sequence[tuple[str, bool]]
    address: str


@dataclass
class RoomSearch:
    """What a search found, and how it can be narrowed."""

    run_id: str
    batch: str
    companies: list[tuple[str, str]] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    hits: list[FoundPassage] = field(default_factory=list)
    documents: list[ShownDocument] = field(default_factory=list)
    count: int = 0
    has_more_hits: bool = False
    warning: str | None = None


@dataclass(frozen=True)
class Asked:
    """The answer from one company's room; each quotation with its address, relative to the run's folder."""

    name: str
    answer: RoomAnswer
    addresses: Sequence[str]


def search(run_id: str, words: str, filters: Filters) -> RoomSearch:
    """The passages with these words, best first; without words, the documents that the filters leave.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        found = RoomSearch(live.run.id, live.run.batch)
        rooms = _rooms(live)
        listed = _list_documents(found, rooms, filters)
        if words.strip():
            read = [(row, shown) for row, shown in listed if row.characters]
            texts = {text.document_id: (shown, text) for row, shown in read for text in run_texts([row])}
            found.count = len(texts)
            _find_passages(found, tuple(company.folder for company, _ in rooms), words, texts)
        else:
            found.count, found.documents = len(listed), [shown for _, shown in listed[:_LISTED]]
        return found


def _list_documents(
    found: RoomSearch, rooms: Iterable[tuple[RunCompany, Sequence[RunDocument]]], filters: Filters
) -> list[tuple[RunDocument, ShownDocument]]:
    """The documents that the filters leave; `found` is told how the search can be narrowed."""
    listed = []
    folders: set[str] = set()
    for company, documents in rooms:
        found.companies.append((company.domain, company.name))
        kinds = run_kinds(documents, find=False)
        for row in documents:
            kind = kinds.row(row.document_id)
            found.kinds |= {kind["kind"]: kind["kind_title"]} if kind["kind"] else {}
            folders.add(row.path)
            if filters.take(company.domain, kind["kind"] or "", row.path, row.status.value):
                address = f"documents/{quote(row.document_id, safe='')}" if row.text_id else ""
                title = kind["kind_title"] or ""
                shown = ShownDocument(company.name, row.name, row.path, title, row.status.value, row.warning, address)
                listed.append((row, shown))
    found.folders = sorted(folders - {""})
    found.kinds = dict(sorted(found.kinds.items(), key=lambda item: item[1]))
    return listed


def _find_passages(
    found: RoomSearch, folders: tuple[str, ...], words: str, texts: Mapping[str, tuple[ShownDocument, LedgerText]]
) -> None:
    """Put the passages of these texts with any of the words into `found`; `folders` are the companies'."""
    if texts:
        room = _passages(tuple(text for _, text in texts.values()), folders, EmbeddingSettings.current())
        hits = list(islice(_hits(room, words, texts), _HITS + 1))
        found.hits, found.has_more_hits = hits[:_HITS], len(hits) > _HITS
        found.warning = room.warning


def _hits(
    room: RoomPassages, words: str, texts: Mapping[str, tuple[ShownDocument, LedgerText]]
) -> Iterator[FoundPassage]:
    """The passages of these documents that have any of the words, or their meaning if that is searched.

    Those with all words come first, and in either part those that show what another one shows come last.
    """
    passages, wanted = room.likeliest(words, 2 * _HITS, 2 * _HITS), set(tokens(words))
    shown = [tuple(_pieces(passage.text, words)) for passage in passages]
    rest = [not wanted <= set(tokens(passage.text)) for passage in passages]
    for at in sorted(range(len(passages)), key=lambda at: (rest[at], shown.index(shown[at]) < at)):
        if any(is_word for _, is_word in shown[at]) or room.ranks_by_meaning:
            document, span = passages[at].document.document_id, passages[at].span
            address = document_address(document, span.start, span.end)
            yield FoundPassage(texts[document][0], span.place, shown[at], address)


def ask(run_id: str, question: str, domains: Sequence[str]) -> tuple[str, str, list[Asked], list[tuple[str, str]]]:
    """The answers to a question from the rooms of these companies, or of all: the run's id, its batch, the answers, all
    companies.

    Raises:
        BadRequest, DiligenceError: as `ask_room`.
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        rooms = _rooms(live)
        answers = []
        for company, documents in rooms:
            if question.strip() and (not domains or company.domain in domains):
                texts = tuple(run_texts(row for row in documents if row.characters))
                passages = _passages(texts, (company.folder,), EmbeddingSettings.current())
                read = {text.document_id for text in texts}
                unread = [row.name for row in documents if row.document_id not in read or row.pages != row.pages_read]
                answer = ask_room(question, passages, company.name, list(filter(may_be_document, unread)))
                addresses = [document_address(quoted.document_id, quoted.start, quoted.end) for quoted in answer.quotes]
                answers.append(Asked(company.name, answer, addresses))
        return live.run.id, live.run.batch, answers, [(company.domain, company.name) for company, _ in rooms]


@lru_cache(maxsize=8)  # a second question of a room finds it ready, in the same process
def _passages(texts: tuple[LedgerText, ...], above: tuple[str, ...], _settings: EmbeddingSettings) -> RoomPassages:
    return RoomPassages(texts, above, by_meaning=True)


def _rooms(live: LiveRun) -> list[tuple[RunCompany, Sequence[RunDocument]]]:
    """The companies that the viewer sees, each with the documents that the viewer sees.

    Raises:
        NotFound: the viewer sees none of them.
    """
    visible = seen_companies(live)
    if not visible:
        raise NotFound("The run has no company that is shared with your account.")
    with database.reading() as session:
        return [(row, side_of(session, live.run, row, seen).documents) for row, seen in visible]


def _pieces(text: str, words: str) -> list[tuple[str, bool]]:
    """The sentences of a passage with most of the words, in pieces; its first sentences if it has none of them."""
    wanted = set(tokens(words))
    best = sorted(sentences(text), key=lambda one: -len(wanted & set(tokens(one))))[:2]
    shown = " … ".join([one for one in best if wanted & set(tokens(one))] or best)[:600]
    pieces: list[tuple[str, bool]] = []
    last = 0
    for match in _WORD.finditer(shown):
        if wanted & set(tokens(match[0])):
            pieces += [(shown[last : match.start()], False), (match[0], True)]
            last = match.end()
    return [*pieces, (shown[last:], False)]


def document_address(document_id: str, start: int | None, end: int | None) -> str:
    """The address of a span of a document's text, relative to the run's folder."""
    place = "" if start is None or end is None else f"?start={start}&end={end}#{make_anchor(start, end)}"
    return f"documents/{quote(document_id, safe='')}{place}"


STATUSES: Final = [status.value for status in DocumentStatus if status is not DocumentStatus.PENDING]


_ROWS: Final = 500
"""Rows of a page."""
_MOST_DATES: Final = 40
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
                else some_run_documents(session, [company.id or 0], [document_id])
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
        self.columns = ColumnSet.model_validate(run.criteria["table"]) if chosen == OWN else named_set(chosen)
        self.chosen = Chosen(run.id, run.batch, company.name, domain, chosen, sets)
        self._run = run
        self.left = 0

    def table(self, quoted: Sequence[str] | None, *, at_stake: bool = True, seconds: float = inf) -> ReportedTable:
        """Its table; only the `quoted` documents have quotations, None for all.

        After so many `seconds` no other text is read for it; `left` is then how many there are still.
        """
        kinds = run_kinds(self._documents, find=False)
        figures = (lambda: report_figures(self._documents, self._run, self.chosen.name)) if at_stake else list
        texts = list_texts(self._documents)
        self.left = choose_rows(self.columns, kinds, texts, first=quoted or (), seconds=seconds).left
        return run_table(self.columns, kinds, self._documents, figures, self.log, quoted, seconds=0)

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
            calendar=to_come[:_MOST_DATES],
            at_stake=table.at_stake[:_MOST_DATES],
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
