"""The commands that print the answer of one operation: `index`, `ask`, `facts`, `ask-company`, `documents` and `table`.

`documents` prints the kinds of a room's documents, which of them belong together, and what they refer to; `table`
prints a table of documents and questions, each answer with its quotation and place.
"""

import gc
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from deployments.rooms import named_place, read_place, read_room, report_unread
from deployments.terminal import PrintFormat, align, echo, print_csv, print_json
from deployments.texts import read_all
from storage.documents import DocumentOutcome, RoomDocument, pages_of
from tasks.ai.registry import current_answerer
from tasks.answers import ai_question
from tasks.companies.facts import company_facts
from tasks.companies.profile import field_name, fields
from tasks.companies.question import company_question
from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.documents.index import document_index
from tasks.documents.kinds.room import RoomKinds
from tasks.errors import BadRequest, NotAllowed, check_question
from tasks.figures.conflicts import room_row
from tasks.figures.ledger import build, room_ledger
from tasks.language.normalise import one_line
from tasks.privacy import find_privileged_files, may_read_all, say_kept
from tasks.reports.criteria import build_table
from tasks.reports.models import ReportedFigure, ReportedRow, ReportedTable
from tasks.reports.xlsx import table_workbook
from tasks.rooms import RoomAnswer, RoomPassages, ask_room
from tasks.spending.budget import make_question_ledger
from tasks.table.cells import ask_rows
from tasks.table.columns import read_columns, value_in_words


def index(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    recursive: Annotated[bool, typer.Option(help="Whether subfolders are included.")] = True,
) -> None:
    """Print the document index of a folder as JSON."""
    gc.disable()  # tens of thousands of small objects that all live to the end: a tenth of the time
    try:
        with acting_as_run_account(), named_place():
            index_of_folder = document_index(open_drive().find_folder(folder), recursive)
        typer.echo(index_of_folder.as_json())
    finally:
        gc.enable()


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[str | None, typer.Option(help="Background: a document, a folder or a document's id.")] = None,
    room: Annotated[
        list[str] | None,
        typer.Option(
            help="A data room to ask: the answer quotes it, with places. Repeat the option for several rooms."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - what users type
        Literal["text", "json"], typer.Option(help="How an answer from a room is printed.")
    ] = "text",
) -> None:
    """Ask a question, optionally about a document or a data room."""
    if room and context:
        raise BadRequest("Give --context or --room, not both.", {"room": "not with --context"})
    if not room:
        typer.echo(ai_question(question, _read_context(context) if context else None).answer)
        return
    answers = [(folder, _ask_room(question, folder)) for folder in room]
    if format == "json":
        content = [{"room": folder} | answer.model_dump(mode="json", exclude=_INTERNAL) for folder, answer in answers]
        print_json(content if len(content) > 1 else content[0])
        return
    for place, (folder, answer) in enumerate(answers):
        if len(answers) > 1:
            echo(f"{'' if place == 0 else chr(10)}{folder}:")
        echo("\n\n".join([answer.answer, *answer.notes]))
        for number, quote in enumerate(answer.quotes, 1):
            echo(f"[{number}] {quote.document_name}, {quote.place} — “{one_line(quote.text)}”")


def _read_context(name: str) -> str:
    """The texts of a document or folder, one after the other, without what may not go to the model.

    Raises:
        NotAllowed: nothing of it may.
    """
    with named_place():
        read = read_all(name)
    answerer = current_answerer()
    is_open = may_read_all(answerer.model, answerer.address)
    kept = set[str]() if is_open else find_privileged_files(name, read)
    if kept:
        echo(say_kept(sorted(kept)), err=True)
    if kept == read.keys():
        raise NotAllowed(f"{name} may not be sent to the model: it is privileged (DILIGENCE_AI_PRIVILEGED).")
    return "\n\n".join(reading.text for document, reading in read.items() if document not in kept)


_INTERNAL: Final = {"quotes": {"__all__": {"text_id", "start", "end"}}}


def _ask_room(question: str, folder: str) -> RoomAnswer:
    check_question(question)
    read = report_unread(read_place(folder))
    if not read.texts:
        raise BadRequest(f"There is no document in {folder} that can be read. Give another --room.")
    names = Path(folder).name.replace("-", " ").replace("_", " ")
    return ask_room(question, RoomPassages(read.texts, [folder], by_meaning=True), names, read.unread)


def facts(
    domain: Annotated[str | None, typer.Argument(help="The company's domain, such as example.com.")] = None,
    claims: Annotated[bool, typer.Option("--claims", help="Also print what each source says of each field.")] = False,
    list_fields: Annotated[bool, typer.Option("--fields", help="List the fields that `fact:` may name.")] = False,
) -> None:
    """Print a company's profile as JSON, or list its fields."""
    if list_fields:
        for path, kind in fields().items():
            echo(path, kind.value, field_name(path))
        return
    if domain is None:
        raise BadRequest("Name the company's domain, such as example.com, or ask for --fields.")
    answer = company_facts(domain)
    for warning in answer.warnings:
        echo(warning, err=True)
    print_json(answer.model_dump(mode="json", include=None if claims else {"profile"}))


def ask_company(
    question: Annotated[str, typer.Argument(help="The question.")],
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
    domain: Annotated[str | None, typer.Option(help="The company's domain.")] = None,
) -> None:
    """Ask a question about a company."""
    if name is None and domain is None:
        raise BadRequest("Name the company with --domain, such as example.com, or with --name.")
    typer.echo(company_question(question, name, domain).answer)


_COLUMNS = (
    "document_name",
    "path",
    "kind",
    "kind_title",
    "state",
    "date",
    "family",
    "pages",
    "pages_read",
    "status",
    "warning",
)
_SHOWN = ("document_name", "kind_title", "state", "date", "pages", "family")


def list_documents(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    format: Annotated[PrintFormat, typer.Option(help="The format.")] = "table",  # noqa: A002 - what users type
) -> None:
    """Print the kind, state, date and pages of each document.

    Documents of one family are copies, versions or annexes: each but the first is shown with the name of the first.
    """
    read = read_room(folder)
    room = read.kinds()
    rows = [_row(row, read.outcomes.get(row.document_id), room) for row in read.listed]
    if format == "json":
        cited = [{"words": row.words, "kind": row.kind, "document_name": row.document_name} for row in room.cited]
        print_json({"documents": rows, "cited": cited})
    elif format == "csv":
        columns = ("document_id", *_COLUMNS)
        print_csv(columns, ([str(row[name] or "") for name in columns] for row in rows))
    elif not rows:
        echo(f"{folder} has no documents.", err=True)
    else:
        cells = [[_cell(row, name) for name in _SHOWN[1:]] for row in rows]
        for line in align([_SHOWN, *([name, *others] for name, others in zip(_names(rows), cells, strict=True))]):
            echo(line)
        for missing in room.cited:
            echo(f"Not in the room: {missing.in_words}.")


def _row(listed: RoomDocument, outcome: DocumentOutcome | None, room: RoomKinds) -> dict[str, Any]:
    read = (
        {"status": outcome.status.value, "warning": outcome.warning, **pages_of(outcome)}
        if outcome
        else {"status": "failed", "warning": None}
    )
    named = {"document_id": listed.document_id, "document_name": listed.name, "path": listed.path}
    return {**named, **room.row(listed.document_id), **read}


def _names(rows: list[dict[str, Any]]) -> list[str]:
    """The names of the documents, with their folders where a name occurs more than once."""
    counts = Counter(row["document_name"] for row in rows)
    return [
        f"{row['path']}/{row['document_name']}".lstrip("/")
        if counts[row["document_name"]] > 1
        else row["document_name"]
        for row in rows
    ]


def _cell(row: dict[str, Any], name: str) -> str:
    if name == "pages":
        return f"{row['pages_read']} of {row['pages']}" if row["pages"] else ""
    if name == "family":
        return f"with {row['family']}" if row["family"] not in {None, row["document_name"]} else ""
    return row[name] or ""


_WIDEST = 40


def table(
    folder: Annotated[str, typer.Argument(help="A folder, its id or its URL.")],
    columns: Annotated[str, typer.Option(help="contracts, leases, employment, or a file of columns.")],
    format: Annotated[  # noqa: A002 - what users type
        Literal["table", "json", "csv", "xlsx"], typer.Option(help="The format.")
    ] = "table",
) -> None:
    """Print each document's answer to each question."""
    chosen = read_columns(columns)
    read = read_place(folder)
    texts, room = read.text_ids, read.kinds()

    def figures() -> list[ReportedFigure]:
        build(read.texts)
        return [ReportedFigure.model_validate(room_row(row)) for row in room_ledger(read.texts).figures]

    model, spend = current_answerer(), make_question_ledger()
    for warning in ask_rows(chosen, room, read.listed, texts, model, spend, above=[folder]):
        echo(warning, err=True)
    built = build_table(chosen, room, texts, {row.document_id: row.url for row in read.listed}, figures)
    if not built.rows:
        echo("No document is of a kind that these columns cover.", err=True)
    if format == "json":
        typer.echo(built.model_dump_json(indent=2))
    elif format == "xlsx":
        sys.stdout.buffer.write(table_workbook([("", built)]))
    elif format == "csv":
        head = ["document_id", "document_name", "kind", *(column.id for column in built.columns)]
        print_csv(head, (_cells(row, built) for row in built.rows))
    else:
        _print_table(built)


def _cells(row: ReportedRow, built: ReportedTable) -> list[str]:
    values = [value_in_words(row.cells[column.id].value) or "" for column in built.columns]
    return [row.document_id, row.document_name, row.kind or "", *values]


def _print_table(built: ReportedTable) -> None:
    """The table as lines, then the calendar and what is at stake."""
    for row in built.rows:
        echo(row.document_name)
        for column in built.columns:
            cell = row.cells[column.id]
            shown = value_in_words(cell.value) or f"– ({cell.absence or 'no model was asked'})"
            place = f"  [{cell.quotes[0].place}]" if cell.quotes else ""
            echo(f"  {column.title:<22} {shown}{place}")
    for entry in built.calendar:
        what = "ends" if entry.event == "expiry" else "last day for notice"
        echo(f"{entry.day}  {entry.document_name}: {what}")
    for stake in built.at_stake:
        figure = stake.figure
        echo(f"At stake: {figure.unit} {figure.value} ({figure.period}) of {stake.party}, {stake.document_name}")
