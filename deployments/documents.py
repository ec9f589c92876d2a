"""`diligence documents`: what the documents of a room are, which belong together, and what they refer to."""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from deployments.terminal import echo, harmless_cell
from storage import database, documents
from storage.documents import RoomDocument
from storage.run_documents import DocumentOutcome, pages_of
from tasks.documents.batch import read_documents
from tasks.documents.drive.registry import acting_as_run_account
from tasks.documents.index import index_room
from tasks.documents.kinds.room import RoomKinds, room_kinds
from tasks.documents.scan_batch import recognise_scans

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


class DocumentsFormat(StrEnum):
    """How the documents are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def list_documents(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    format: Annotated[DocumentsFormat, typer.Option(help="The format.")] = DocumentsFormat.TABLE,  # noqa: A002 - what users type
) -> None:
    """Print what the documents of a room are: kinds, states, dates, families, pages."""
    listed, outcomes, room = read_room(folder)
    rows = [_row(row, outcomes.get(row.document_id), room) for row in listed]
    if format is DocumentsFormat.JSON:
        cited = [{"words": row.words, "kind": row.kind, "document_name": row.document_name} for row in room.cited]
        typer.echo(json.dumps({"documents": rows, "cited": cited}, ensure_ascii=False, indent=2))
    elif format is DocumentsFormat.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["document_id", *_COLUMNS])
        writer.writerows([harmless_cell(str(row[name] or "")) for name in ("document_id", *_COLUMNS)] for row in rows)
    else:
        for line in _lines(rows):
            echo(line)
        for missing in room.cited:
            echo(f"Not in the room: {missing.in_words}.")


def read_room(folder: str) -> tuple[Sequence[RoomDocument], dict[str, DocumentOutcome], RoomKinds]:
    """Index a folder of the drive and read its documents: what is listed, the outcomes by id, and what they are."""
    with acting_as_run_account():
        room_id = index_room(folder)
        with database.reading() as session:
            listed = documents.room_documents(session, room_id)
        outcomes = {
            outcome.document_id: outcome for outcome in read_documents(room_id, [row.document_id for row in listed])
        }
        outcomes |= {outcome.document_id: outcome for outcome in recognise_scans(room_id)}
    room = room_kinds(
        listed,
        {
            name: outcome.text_id
            for name, outcome in outcomes.items()
            if outcome.text_id is not None and outcome.characters
        },
        {name: outcome.content_hash for name, outcome in outcomes.items()},
    )
    return listed, outcomes, room


def _row(listed: RoomDocument, outcome: DocumentOutcome | None, room: RoomKinds) -> dict[str, Any]:
    read = (
        {"status": outcome.status.value, "warning": outcome.warning, **pages_of(outcome)}
        if outcome
        else {"status": "failed", "warning": None}
    )
    named = {"document_id": listed.document_id, "document_name": listed.name, "path": listed.path}
    return {**named, **room.row(listed.document_id), **read}


def _lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    cells = [list(_SHOWN), *([_cell(row, name) for name in _SHOWN] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _cell(row: dict[str, Any], name: str) -> str:
    if name == "pages":
        return f"{row['pages_read']} of {row['pages']}" if row["pages"] else ""
    if name == "family":
        return f"with {row['family']}" if row["family"] not in {None, row["document_name"]} else ""
    return row[name] or ""
