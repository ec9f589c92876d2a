"""Asks a model for the cells that a text does not fill in ordinary form.

A model is asked once for each text, for all columns that are left, and its answers are stored with the text. A value is
accepted if the model quotes the words that say so, these words are in the text, and the value has the column's type and
is in them. Anything else is "not stated": silence beats a wrong value.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from storage import database, runs
from storage.run_documents import company_documents
from storage.scores import Absence
from storage.texts import find_cells, find_texts, save_cells
from tasks.ai.answer_cache import judge_once
from tasks.ai.answerer import Answerer, NotAsked, Source
from tasks.ai.budget import Ledger, find_ledger
from tasks.ai.privileged import find_privileged, may_read_all, say_kept
from tasks.ai.prompt_injection import find_orders
from tasks.ai.prompts import as_material
from tasks.ai.pseudonyms import stored_names, with_names
from tasks.ai.registry import current_answerer
from tasks.documents.kinds.room import Listed, RoomKinds, run_kinds
from tasks.errors import DiligenceError
from tasks.language.quotations import locate
from tasks.operation import operation
from tasks.ranking import WordIndex
from tasks.reading.places import shown_text
from tasks.remote.fan_out import FanOut, Leave
from tasks.table.cells import choose_rows
from tasks.table.columns import ALLOWED, Column, ColumnSet, parse_value, value_in_words

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
    with database.reading() as session:
        run_id = runs.get_company(session, company_id).run_id
    return ask_company(company_id, current_answerer(), find_ledger(run_id))


def ask_company(company_id: int, answerer: Answerer, ledger: Ledger | None) -> list[str]:
    """As `ask_table`, with this model, which may spend what the ledger has left."""
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        run = runs.get_run(session, company.run_id)
        documents = company_documents(session, company_id)
    if "table" not in run.criteria or not answerer.judges:
        return []
    texts = {row.document_id: row.text_id for row in documents if row.text_id is not None and row.characters}
    columns, room = ColumnSet.model_validate(run.criteria["table"]), run_kinds(documents)
    return ask_rows(columns, room, documents, texts, answerer, ledger, above=[company.folder])


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
    privileged = frozenset() if may_read_all(answerer) else find_privileged(documents, texts, above)
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
    told = "\n".join(f"- {column.id}: {column.ask} ({_form(column)})" for column in columns)
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


def _form(column: Column) -> str:
    return ", ".join(column.choices) if column.choices else ALLOWED[column.type]


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
