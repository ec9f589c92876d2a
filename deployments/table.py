"""`diligence table`: a table of documents and questions, each answer with its quotation and place."""

import sys
from typing import Annotated, Literal

import typer

from deployments.printing import print_csv
from deployments.rooms import read_place
from deployments.terminal import echo
from tasks.ai.budget import make_question_ledger
from tasks.ai.registry import current_answerer
from tasks.figures.ledger import build, room_ledger
from tasks.figures.rows import room_row
from tasks.reports.models import ReportedFigure, ReportedRow, ReportedTable
from tasks.reports.tables import build_table, table_workbook
from tasks.table.ask import ask_rows
from tasks.table.columns import read_columns
from tasks.table.values import value_in_words

_WIDEST = 40


def table(
    folder: Annotated[str, typer.Argument(help="A folder, its id or its URL.")],
    columns: Annotated[str, typer.Option(help="contracts, leases, employment, or a file of columns.")],
    format: Annotated[  # noqa: A002 - what users type
        Literal["table", "json", "csv", "xlsx"], typer.Option(help="The format.")
    ] = "table",
) -> None:
    """Print what each document says of each question."""
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
        echo("No document is of the kinds that these columns are about.", err=True)
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
