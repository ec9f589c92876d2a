"""`diligence documents`: the kinds of a room's documents, which ones belong together, and what they refer to."""

from typing import Annotated, Any

import typer

from deployments.printing import PrintFormat, align, print_csv, print_json
from deployments.rooms import read_room
from deployments.terminal import echo
from storage.documents import RoomDocument
from storage.run_documents import DocumentOutcome, pages_of
from tasks.documents.kinds.room import RoomKinds

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
    """Print what the documents of a room are: kinds, states, dates, families, pages."""
    read = read_room(folder)
    room = read.kinds()
    rows = [_row(row, read.outcomes.get(row.document_id), room) for row in read.listed]
    if format == "json":
        cited = [{"words": row.words, "kind": row.kind, "document_name": row.document_name} for row in room.cited]
        print_json({"documents": rows, "cited": cited})
    elif format == "csv":
        columns = ("document_id", *_COLUMNS)
        print_csv(columns, ([str(row[name] or "") for name in columns] for row in rows))
    else:
        for line in align([_SHOWN, *([_cell(row, name) for name in _SHOWN] for row in rows)]):
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


def _cell(row: dict[str, Any], name: str) -> str:
    if name == "pages":
        return f"{row['pages_read']} of {row['pages']}" if row["pages"] else ""
    if name == "family":
        return f"with {row['family']}" if row["family"] not in {None, row["document_name"]} else ""
    return row[name] or ""
