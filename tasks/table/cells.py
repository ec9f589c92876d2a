"""The cells of a table by text: found once, or asked of a model, verified, and stored with the text.

A model is asked once for each text, for all columns that are left, and its answers are stored with the text. A value is
accepted if the model quotes the words that say so, these words are in the text, and the value has the column's type and
is in them. Anything else is "not stated": silence beats a wrong value.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from math import inf
from typing import Annotated, Any, Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from storage import database, runs
from storage.documents import company_documents, list_texts
from storage.scores import Absence
from storage.texts import find_cells, find_texts, group_sizes, save_cells, text_sizes
from tasks.ai.answerer import Answerer, NotAsked, Source
from tasks.ai.calls import as_material, judge_once
from tasks.ai.prompt_injection import find_orders
from tasks.ai.registry import current_answerer, with_names
from tasks.cancellation import FanOut, Leave
from tasks.documents.kinds.room import Listed, RoomKinds, run_kinds
from tasks.errors import DiligenceError
from tasks.files import code_version
from tasks.language.quotations import locate, verify
from tasks.operation import operation
from tasks.privacy import find_privileged, may_read_all, say_kept, stored_names
from tasks.ranking import WordIndex
from tasks.reading.text_writer import shown_text
from tasks.spending.budget import Ledger, find_ledger
from tasks.table.clauses import FINDERS
from tasks.table.columns import ALLOWED, Column, ColumnSet, Contract, parse_value, value_in_words


@cache
def _version() -> str:
    """A hash of the code that finds cells: cells stored by an earlier version are found again."""
    return hashlib.sha256(code_version("tasks.table").encode()).hexdigest()[:24]


def read_cells(text: str, columns: Iterable[Column]) -> dict[str, Any]:
    """The cells of a text by column: `value`, `absence`, `sure`, and `spans`, the words that say so.

    Values whose quotation cannot be verified are dropped. Columns that only a model could fill have no cell.
    """
    contract = Contract(text, FINDERS)
    cells: dict[str, Any] = {}
    for column in columns:
        if column.find is None:
            continue
        found = contract.find(column.find)
        if found is None or not all(verify(text[span.start : span.end], text) for span in found.spans):
            cells[column.id] = {"value": None, "absence": Absence.SILENT.value, "sure": 0.0, "spans": []}
            continue
        cells[column.id] = {
            "value": found.value,
            "absence": found.absence.value if found.absence else None,
            "sure": found.sure,
            "spans": [list(span) for span in found.spans],
        }
    return cells


def find_text_cells(text_ids: Iterable[int], columns: ColumnSet, *, seconds: float = inf) -> dict[int, dict[str, Any]]:
    """The cells of these texts, by text id; those that are not stored are found now, in this order, and stored.

    Everything that can be found in a text is found at once, ready for another set of columns. After so many `seconds`
    of work no other text is looked at, but one is in any case unless `seconds` is 0 or less: those that are left have
    no cells.
    """
    ids, version = list(dict.fromkeys(text_ids)), _version()
    everything = [Column(id=name).model_copy(update={"find": name}) for name in FINDERS]
    with database.reading() as session:
        stored = find_cells(session, ids, version)
        sizes = text_sizes(session, [text_id for text_id in ids if text_id not in stored])
    until = time.thread_time() + seconds  # to look up what is stored may take longer in a large room
    is_first = seconds > 0
    for group in group_sizes(sizes):
        if not is_first and time.thread_time() >= until:
            break
        new: dict[int, dict[str, Any]] = {}
        with database.reading() as session:
            texts = {text.id: text for text in find_texts(session, group)}
            for text_id in (text_id for text_id in group if text_id in texts):
                if is_first or time.thread_time() < until:
                    is_first, text = False, texts[text_id]
                    new[text_id] = read_cells(shown_text(text.text, text.places), everything)
        with database.writing() as session:
            save_cells(session, version, new)
        stored |= new
    wanted = {column.find for column in columns.columns if column.find is not None} & FINDERS.keys()
    return {text_id: {name: cells[name] for name in wanted} for text_id, cells in stored.items()}


class ChosenRows(NamedTuple):
    """The documents of a room that are rows, in order, what their texts state, and how many texts are left to look at.

    A document of no known kind whose text is left is not a row yet.
    """

    documents: list[str]
    cells: dict[int, dict[str, Any]]
    left: int


_chosen: Final[WeakKeyDictionary[RoomKinds, dict[str, ChosenRows]]] = WeakKeyDictionary()
"""By the room and the columns what was chosen: a run that has ended has the same rows for each who looks at it."""


def choose_rows(
    columns: ColumnSet,
    room: RoomKinds,
    texts: Mapping[str, int],
    *,
    first: Iterable[str] = (),
    seconds: float = inf,
) -> ChosenRows:
    """The rows of a room, found within so many seconds, the documents in `first` before all others.

    The other arguments are as in `build_table`.

    A document is a row if it is of the wanted kinds, or of no known kind and says much of what is looked for.
    """
    remembered, key = _chosen.setdefault(room, {}), columns.model_dump_json()
    if key in remembered:
        return remembered[key]
    takes = {name: columns.takes(room.kinds[name].kind) for name in room.documents}
    sure, perhaps = ([texts[name] for name in texts if takes.get(name) is is_row] for is_row in (True, None))
    ahead = [texts[name] for name in first if name in texts and takes.get(name, False) is not False]
    cells = find_text_cells([*ahead, *sure, *perhaps], columns, seconds=seconds)

    def is_row(name: str) -> bool:
        taken = takes[name]
        return columns.takes_unknown(cells.get(texts.get(name, -1), {})) if taken is None else taken

    chosen = list(filter(is_row, room.documents))
    of_rows = {texts[name] for name in chosen if name in texts}
    left = len({*sure, *perhaps} - cells.keys())
    rows = ChosenRows(chosen, {text_id: found for text_id, found in cells.items() if text_id in of_rows}, left)
    if not left:
        remembered[key] = rows
    return rows


_WHOLE: Final = 14_000
"""Characters of a text up to which a model is given all of it; of a longer one the likeliest pieces."""
_PIECE: Final = 1_200
_PIECES: Final = 3
"""Pieces for each column."""
_SURE: Final = 0.6
_VERSION: Final = 1

_INSTRUCTIONS: Final = """\
The material is one document. Say what it states of each of these columns, one answer for each column that it states:
{columns}
Quote the words that state the value, to the letter, from one place: the value must stand in them. Leave out a column \
that the document does not state. Where its words say that there is no such thing, that it does not apply, or that \
another document has it, answer without a value, with `absence` `none`, `not_applicable` or `elsewhere`, and quote \
them."""


_LEFT: Final = "The model did not read all documents of the table: what it was not asked stays open."


def _cut(value: Any) -> Any:
    return value[:1000] if isinstance(value, str) else value


class CellAnswer(BaseModel):
    """What a document states of a column."""

    model_config = ConfigDict(extra="forbid")

    column: str = Field(description="the id of the column")
    quotation: Annotated[str, BeforeValidator(_cut)] = Field(
        description="the words of the document that say so", json_schema_extra={"maxLength": 600}
    )
    value: Annotated[str | None, BeforeValidator(_cut)] = Field(
        default=None, description="the value, in the form that its column has", json_schema_extra={"maxLength": 300}
    )
    absence: Literal["none", "not_applicable", "elsewhere"] | None = Field(
        default=None, description="why there is no value, where the words say so"
    )


class CellAnswers(BaseModel):
    """A reader's answer to the columns of one document."""

    model_config = ConfigDict(extra="forbid")

    answers: list[CellAnswer] = Field(description="at most one for each column", json_schema_extra={"maxItems": 40})


def model_version(columns: Sequence[Column]) -> str:
    """The key under which a model's cells for these columns are stored."""
    asked = [column.model_dump() for column in columns]
    return f"model {hashlib.sha256(json.dumps([_VERSION, asked]).encode()).hexdigest()[:24]}"


def find_model_cells(text_ids: Iterable[int], columns: ColumnSet) -> dict[int, dict[str, Any]]:
    """The cells that a model filled for these texts, by text and column, in the form of `read_cells`."""
    with database.reading() as session:
        stored = find_cells(session, sorted(set(text_ids)), model_version(columns.columns))
    return {text_id: row["cells"] for text_id, row in stored.items()}


def list_open_columns(columns: ColumnSet, cells: Mapping[str, Any]) -> list[Column]:
    """The columns with a question that a text does not fill in ordinary form."""
    return [
        column
        for column in columns.columns
        if column.ask and (cells.get(column.find or "") or {"absence": Absence.SILENT}).get("absence") == Absence.SILENT
    ]


@operation(name="ask_table")
def ask_table(company_id: int) -> list[str]:
    """Ask the model for the cells left in the table of a run's company; returns warnings. Does nothing without a model.

    Args:
        company_id: the company of a run, whose documents are read.
    """
    answerer = current_answerer()
    if not answerer.judges:
        return []
    with database.reading() as session:
        run_id = runs.get_company(session, company_id).run_id
    return ask_company(company_id, answerer, find_ledger(run_id))


def ask_company(company_id: int, answerer: Answerer, ledger: Ledger | None) -> list[str]:
    """As `ask_table`, with this model, which may spend what the ledger has left."""
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        run = runs.get_run(session, company.run_id)
        documents = company_documents(session, company_id)
    if "table" not in run.criteria or not answerer.judges:
        return []
    columns, room = ColumnSet.model_validate(run.criteria["table"]), run_kinds(documents)
    return ask_rows(columns, room, documents, list_texts(documents), answerer, ledger, above=[company.folder])


def ask_rows(
    columns: ColumnSet,
    room: RoomKinds,
    documents: Sequence[Listed],
    texts: Mapping[str, int],
    answerer: Answerer,
    ledger: Ledger | None,
    *,
    above: Sequence[str],
) -> list[str]:
    """Ask a model for the cells left in a room's table, and store its answers; returns warnings.

    Args:
        columns: what is asked.
        room: what its documents are.
        documents: those of the room; privileged ones are kept from the model.
        texts: the ids of their texts, of those with words.
        answerer: the model; one that does not judge is asked nothing.
        ledger: what may be spent.
        above: paths of the room's own folder, as far as they are known.
    """
    if not answerer.judges:
        return []
    chosen, cells, _ = choose_rows(columns, room, texts)
    privileged = (
        frozenset() if may_read_all(answerer.model, answerer.address) else find_privileged(documents, texts, above)
    )
    kept = say_kept([one.name for one in documents if one.document_id in privileged and one.document_id in chosen])
    rows = {texts[name] for name in chosen if name in texts and name not in privileged}
    version = model_version(columns.columns)
    answerer = with_names(answerer, partial(stored_names, rows))
    with database.reading() as session:
        stored = find_cells(session, sorted(rows), version)
    left = [text_id for text_id in sorted(rows) if stored.get(text_id, {}).get("model") != answerer.name]
    failures: list[DiligenceError] = []

    def ask(text_id: int) -> None:
        if failures:  # a server that fails would fail again, and a budget stays spent
            return
        with database.reading() as session:
            (text,) = find_texts(session, [text_id])
        try:
            found = ask_text(
                shown_text(text.text, text.places), list_open_columns(columns, cells[text_id]), answerer, ledger
            )
        except NotAsked:
            return
        except DiligenceError as error:
            failures.append(error)
            return
        with database.writing() as session:
            save_cells(session, version, {text_id: {"model": answerer.name, "cells": found}})

    with FanOut(answerer.side_by_side, "table", Leave.ON_INTERRUPT) as threads:
        asked = [threads.submit(ask, text_id) for text_id in left]
        for one in asked:
            one.result()
    warnings = [kept, f"{_LEFT} {failures[0].message}" if failures else ""]
    return [warning for warning in warnings if warning]


def ask_text(text: str, columns: Sequence[Column], answerer: Answerer, ledger: Ledger | None = None) -> dict[str, Any]:
    """The cells that a model fills for a text, by column.

    Raises:
        As `Answerer.judge`.
    """
    if not columns:
        return {}
    told = "\n".join(
        f"- {column.id}: {column.ask} ({', '.join(column.choices or ()) or ALLOWED[column.type]})" for column in columns
    )
    material = as_material(list(_pieces(text, columns)))
    instructions = _INSTRUCTIONS.format(columns=told)
    answers = judge_once(answerer, instructions, material, CellAnswers, ledger=ledger).value.answers
    by_id = {column.id: column for column in columns}
    silent: dict[str, Any] = {"value": None, "absence": Absence.SILENT.value, "sure": 0.0, "spans": []}
    proven = {
        answer.column: cell
        for answer in reversed(answers)  # of two answers the first counts
        if answer.column in by_id and (cell := prove_answer(answer, by_id[answer.column], text)) is not None
    }
    return {column.id: proven.get(column.id, silent) for column in columns}


def prove_answer(answer: CellAnswer, column: Column, text: str) -> dict[str, Any] | None:
    """The cell of an answer whose quotation is in the text and states its value; None otherwise."""
    span = locate(answer.quotation, text)
    if span is None or find_orders(text[span[0] : span[1]]):
        return None
    value = parse_value(column.type, answer.value or "", column.choices)
    if value is None and answer.absence is None:
        return None
    if value is not None and not _states(text[span[0] : span[1]], value, column):
        return None
    absence = None if value is not None else answer.absence
    return {"value": value, "absence": absence, "sure": _SURE, "spans": [list(span)]}


def _states(words: str, value: Any, column: Column) -> bool:
    """Whether these words state a value; choices and yes/no answers are judged from them as a whole and not checked."""
    match column.type:
        case "choice" | "yes_no":
            return True
        case "names":
            return all(_plain(name) in _plain(words) for name in value)
        case "text":
            return _plain(value) in _plain(words)
        case _:
            pieces = {words, *words.split(";"), *words.split(". "), *words.split(",")}
            return any(parse_value(column.type, piece) == value for piece in pieces) or _plain(
                value_in_words(value)
            ) in _plain(words)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split())


def _pieces(text: str, columns: Sequence[Column]) -> Iterator[Source]:
    """The whole text, or its beginning and the pieces most likely to be about the columns, in text order."""
    if len(text) <= _WHOLE:
        yield Source(1, "document", None, text)
        return
    pieces: list[str] = [""]
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), _PIECE):
            if len(pieces[-1]) + len(line) > _PIECE:
                pieces.append("")
            pieces[-1] += line[start : start + _PIECE]
    index, chosen = WordIndex(pieces), {0, 1}
    for column in columns:
        chosen |= {at for at, _ in index.rank(column.ask or column.title, _PIECES, guess=False)}
    for number, at in enumerate(sorted(at for at in chosen if at < len(pieces)), 1):
        yield Source(number, "document", f"part {at + 1}", pieces[at])
