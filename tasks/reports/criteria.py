"""What documents answer, as a company's report shows it: the outcome of each criterion, and tables of questions.

Both are made of what is stored. The cells of a table have quotes and places; beside it stand the calendar and the
money at stake.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from math import inf
from typing import Any, Final, Literal, NamedTuple

from sqlmodel import Session

from storage import database
from storage.columns import row_values
from storage.documents import RunDocument, list_texts
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from storage.scores import Absence, CriterionOutcome, Decision, Quote, ScoreStatus
from storage.texts import find_span_pages, find_stretch, find_texts, group_sizes, text_sizes
from tasks.companies.profile import field_name
from tasks.documents.drive.drive import EvidenceSettings
from tasks.documents.kinds.room import RoomKinds
from tasks.language.normalise import read_name
from tasks.language.quotations import in_sentence
from tasks.language.sentences import sentences
from tasks.language.words import tokens
from tasks.reports.models import (
    AtStake,
    CalendarEntry,
    ContestedScores,
    CriterionReport,
    CriterionSummary,
    NearestDocument,
    OrderInDocument,
    ProgramCell,
    QuoteBox,
    ReportedCell,
    ReportedColumn,
    ReportedContradiction,
    ReportedDecision,
    ReportedFigure,
    ReportedQuote,
    ReportedRow,
    ReportedTable,
)
from tasks.reports.wording import evidence_url
from tasks.review import CellReview, name_cell
from tasks.scoring.criteria import figure_in_words, rule_in_words
from tasks.scoring.passages import TextPlaces
from tasks.scoring.results import is_open
from tasks.table.cells import choose_rows, find_model_cells
from tasks.table.columns import Column, ColumnSet, subtract_duration

TRIMMED: Final = 320
"""Characters of a trimmed passage, about four lines."""
_MOST_ROWS: Final = 6
"""Rows of a table in a trimmed passage, its first one among them."""
_MOST_CELLS: Final = 9
"""Cells of a row of it."""


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """A paragraph of one cell, or the rows of a table."""

    kind: Literal["paragraph", "table"]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage in blocks. `before` and `behind`: whether text was trimmed there."""

    blocks: list[PassageBlock]
    before: bool = False
    behind: bool = False


def whole(text: str) -> ShownPassage:
    """The passage without trimming."""
    return ShownPassage(_blocks(text.splitlines()))


def trim_passage(text: str, question: str) -> ShownPassage:
    """The part of a passage, about `TRIMMED` characters, that has most words of the question.

    It begins and ends with a line or sentence. A table row is kept with the table's first row, its header.
    """
    units, words_of_units = _read_units(text)
    if len(text) <= TRIMMED and len(units) <= _MOST_ROWS + 2:
        return whole(text)
    words = _list_words(question)
    shared = [len(words & unit_words) for unit_words in words_of_units]
    best = max(range(len(units)), key=lambda place: (shared[place], -place))
    first, last = _window(units, best)
    head = _head(units, best)
    shown = [units[head], *units[first:last]] if head < first else units[first:last]
    lines = ["\t".join(_narrow(line.split("\t"))) for line in _lines(shown)]
    return ShownPassage(_blocks(lines), before=first > 0, behind=last < len(units))


@lru_cache(maxsize=512)  # a criterion's question is that of a passage of every company
def _list_words(question: str) -> frozenset[str]:
    return frozenset(tokens(question))


class _Unit(NamedTuple):
    """A line, or a sentence of a long one; `continues`: it is on the same line as the unit before it."""

    text: str
    continues: bool = False

    @property
    def is_row(self) -> bool:
        return "\t" in self.text


@lru_cache(maxsize=128)  # several criteria of a company show the same passage
def _read_units(text: str) -> tuple[list[_Unit], list[frozenset[str]]]:
    """The units of a passage, and the words of each."""
    units = [unit for line in text.splitlines() if line.strip() for unit in _units(line)]
    return units, [frozenset(tokens(unit.text)) for unit in units]


def _units(line: str) -> list[_Unit]:
    if len(line) <= TRIMMED // 2 or "\t" in line:
        return [_Unit(line)]
    cut = [part if len(part) <= TRIMMED else f"{part[:TRIMMED].rsplit(' ', 1)[0]} …" for part in sentences(line)]
    return [_Unit(part, continues=place > 0) for place, part in enumerate(cut)] or [_Unit(line[:TRIMMED])]


def _narrow(cells: list[str]) -> list[str]:
    """The cells of a row, of a wide one its name and the first ones."""
    return cells if len(cells) <= _MOST_CELLS else [*cells[: _MOST_CELLS - 1], "…"]


def _window(units: Sequence[_Unit], best: int) -> tuple[int, int]:
    """As many units around the best one as fit, following ones first; for a table row, within its table."""
    first, last, length = best, best + 1, len(units[best].text)
    while sum(unit.is_row for unit in units[first:last]) < _MOST_ROWS:
        behind = last < len(units) and (units[last].is_row or not units[best].is_row)
        if behind and length + len(units[last].text) <= TRIMMED:
            length += len(units[last].text)
            last += 1
        elif first > 0 and length + len(units[first - 1].text) <= TRIMMED:
            first -= 1
            length += len(units[first].text)
        elif behind and last - best == 1 and length < TRIMMED // 4:  # a heading is not shown without what follows
            length += len(units[last].text)
            last += 1
        else:
            break
    return first, last


def _head(units: Sequence[_Unit], place: int) -> int:
    """The first row of the table around a unit; the unit itself if it is in none."""
    while place > 0 and units[place].is_row and units[place - 1].is_row:
        place -= 1
    return place


def _lines(units: Sequence[_Unit]) -> list[str]:
    lines: list[str] = []
    for unit in units:
        if unit.continues and lines:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
    return lines


def _blocks(lines: Sequence[str]) -> list[PassageBlock]:
    """The lines as blocks: consecutive lines with tabs are rows of a table, other lines are paragraphs."""
    blocks: list[PassageBlock] = []
    for line in lines:
        kind: Literal["paragraph", "table"] = "table" if "\t" in line else "paragraph"
        if not line.strip():
            continue
        if not blocks or blocks[-1].kind != kind:
            blocks.append(PassageBlock(kind, []))
        blocks[-1].rows.append(line.split("\t") if kind == "table" else [line])
    return blocks


_AROUND: Final = 800
"""Characters before and behind a quotation that are read for its sentence."""


def summarise_criteria(run: Run) -> list[CriterionSummary]:
    """The run's criteria as its batch words them."""
    return [
        CriterionSummary(
            label=_label(criterion),
            weight=criterion.get("weight", 1),
            must=criterion.get("must") or False,
            **{name: criterion.get(name) for name in ("id", "kind", "guide", "title", "severity", "recommend")},
        )
        for criterion in run.criteria["criteria"]
    ]


def _label(criterion: Mapping[str, Any]) -> str:
    """What the criterion asks, in the words of the batch."""
    if criterion["kind"] in {"fact", "figure"}:
        written = criterion.get("bands")
        rule, bands = criterion.get("rule"), {float(score): written[score] for score in written} if written else None
        if criterion["kind"] == "figure":
            return figure_in_words(criterion["figure"], rule, bands, criterion["period"])
        return f"{field_name(criterion['fact'])} {rule_in_words(rule, bands)}"
    return str(criterion["ask"] if criterion["kind"] == "judged" else criterion["document"])


class EvidenceOf(NamedTuple):
    """What is needed to say where a company's quotations can be looked at.

    `pages` are the pages of spans of texts, None where evidence is not shown, `around` the words of their sentences
    before and after them.
    """

    domain: str
    pages: Mapping[tuple[int, int, int], Sequence[Mapping[str, Any]]] | None
    around: Mapping[tuple[int, int, int], tuple[str, str]] = {}

    def add_to(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored of words of a document, with the fields that say where they can be looked at."""
        document_id, text_id, start, end = (words.get(name) for name in ("document_id", "text_id", "start", "end"))
        if document_id is None or text_id is None or start is None or end is None:
            return dict(words)
        before, behind = self.around.get((text_id, start, end), ("", ""))
        shown = {**words, "before": before, "behind": behind}
        if self.pages is not None:
            shown["evidence_url"] = evidence_url(self.domain, document_id, words["place"] or "", start, end)
            shown["boxes"] = [
                QuoteBox(page=page["page"], left=left, top=top, right=right, bottom=bottom)
                for page in self.pages.get((text_id, start, end), ())
                for left, top, right, bottom in page["boxes"]
            ]
        return shown


def company_criteria(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
    shown: EvidenceOf,
) -> list[CriterionReport]:
    """Every criterion of the run, in order; those that the run did not reach are `unscored`."""
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    criteria = [
        _criterion(criterion, outcome, quotes.get(outcome.id or 0, ()), shown)
        if (outcome := by_criterion.get(criterion.id))
        else _make_unreached(criterion, _why_not_reached(run, company))
        for criterion in summarise_criteria(run)
    ]
    for criterion, asked in zip(criteria, run.criteria["criteria"], strict=True):
        criterion.open = is_open(asked, by_criterion.get(criterion.id))
    return criteria


def _criterion(
    summary: CriterionSummary, outcome: CriterionOutcome, quotes: Sequence[Quote], shown: EvidenceOf
) -> CriterionReport:
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=outcome.score,
        status=outcome.status,
        reason=outcome.reason,
        quotes=[ReportedQuote.model_validate(shown.add_to(row_values(quote, Quote))) for quote in quotes],
        confidence=outcome.confidence,
        agreement=outcome.agreement,
        contradictions=[
            ReportedContradiction.model_validate(
                {**contradiction, "quotes": list(map(shown.add_to, contradiction["quotes"]))}
            )
            for contradiction in outcome.contradictions
        ],
        missing=(outcome.missing or summary.label)
        if outcome.status is ScoreStatus.MISSING and outcome.absence is not Absence.NOT_APPLICABLE
        else None,
        absence=(outcome.absence or Absence.SILENT) if outcome.status is ScoreStatus.MISSING else None,
        nearest=[NearestDocument.model_validate(document) for document in outcome.nearest],
        orders=[OrderInDocument.model_validate(shown.add_to(order)) for order in outcome.orders],
        contested=ContestedScores.model_validate(outcome.contested) if outcome.contested else None,
    )


def _make_unreached(summary: CriterionSummary, why: str) -> CriterionReport:
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=None,
        status=ScoreStatus.UNSCORED,
        reason=why,
        quotes=[],
    )


def _why_not_reached(run: Run, company: RunCompany) -> str:
    if company.status is CompanyStatus.FAILED:
        return "Not judged: the company's run failed before it reached this criterion."
    if run.status is RunStatus.RUNNING:
        return "Not judged yet: the run has not reached this criterion."
    return "Not judged: the run ended before it reached this criterion."


def list_missing_items(criteria: Sequence[CriterionReport]) -> list[str]:
    """What to ask the company for, each item once."""
    return list(dict.fromkeys(criterion.missing for criterion in criteria if criterion.missing is not None))


def find_evidence(
    session: Session,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
) -> EvidenceOf:
    """Where the quotations of a company's outcomes can be looked at; the quotes are by outcome id."""
    cited = {quote.text_id for of_outcome in quotes.values() for quote in of_outcome}
    cited |= {
        quote.get("text_id")
        for outcome in outcomes
        for contradiction in outcome.contradictions
        for quote in contradiction["quotes"]
    }
    cited |= {order["text_id"] for outcome in outcomes for order in outcome.orders}
    pages = None
    if EvidenceSettings.current().evidence != "none":
        pages = find_span_pages(session, sorted(text_id for text_id in cited if text_id is not None))
    judged = {outcome.id for outcome in outcomes if outcome.status is not ScoreStatus.UNSCORED}
    spans = {
        (quote.text_id, quote.start, quote.end): quote.text
        for outcome_id, of_outcome in quotes.items()
        for quote in of_outcome
        if outcome_id in judged and quote.text_id is not None and quote.start is not None and quote.end is not None
    }
    return EvidenceOf(company.domain, pages, {span: _around(session, *span, said) for span, said in spans.items()})


def _around(session: Session, text_id: int, start: int, end: int, quoted: str) -> tuple[str, str]:
    """The words before and after a quotation in its sentence or row; none where it has its own headers and label."""
    first = max(start - _AROUND, 0)
    stretch = find_stretch(session, text_id, first, end + _AROUND)
    if "\t" in quoted and quoted != stretch[start - first : end - first]:
        return "", ""
    begin, stop = in_sentence(stretch, start - first, end - first)
    return stretch[begin : start - first], stretch[end - first : stop]


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
