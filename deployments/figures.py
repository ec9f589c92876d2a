"""`diligence figures`: the figures of a room, or of the companies of a run, with what contradicts."""

import csv
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from deployments.terminal import echo, harmless_cell
from storage import database, documents, run_documents, runs
from storage.settings import override_settings
from tasks.documents.batch import read_documents
from tasks.documents.drive.registry import acting_as_run_account
from tasks.documents.index import index_room
from tasks.errors import NotFound, UnsupportedFormat
from tasks.figures.concepts import plain_label, taxonomy
from tasks.figures.conflicts import RULE, FigureConflict, RoomFigure, Step
from tasks.figures.ledger import LedgerText, RoomLedger, build, not_looked_for, room_ledger
from tasks.figures.rows import conflict_row, decimal_text, make_derived_row, room_row
from tasks.scoring.criteria import load_figure_rule
from tasks.user_file import nearest


class FiguresFormat(StrEnum):
    """How the figures are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


_COLUMNS = ("concept", "value", "unit", "period", "entity", "basis", "document_name", "place", "label")
_VALUE = _COLUMNS.index("value")
_MOST_NAMED = 5
_WIDEST = 40


def figures(
    room: Annotated[str, typer.Argument(help="A folder, a document, or a run: its id, its batch's name or latest.")],
    concept: Annotated[str | None, typer.Option(help="Only this concept, such as revenue.")] = None,
    format: Annotated[FiguresFormat, typer.Option(help="The format.")] = FiguresFormat.TABLE,  # noqa: A002 - what users type
) -> None:
    """Print the figures of a room."""
    texts, rule = _load_run_texts(room)
    known = [*taxonomy().concepts]
    if of_run := bool(texts):
        known = list(dict.fromkeys([*known, *(row.figure.concept for row in room_ledger(texts).figures)]))
    concept = _concept(concept, known) if concept is not None else None
    texts = texts or _load_room_texts(room)
    build(texts, of_run=of_run)
    ledger = room_ledger(texts, concept, rule)
    for warning in not_looked_for({text.text_id: text.document_name for text in texts}):
        echo(warning, err=True)
    if not ledger.figures:
        echo("No figure was found.", err=True)
    _PRINTERS[format](ledger)


def _concept(written: str, known: Sequence[str]) -> str:
    """The id of a concept that a user names by it, or by one of its labels: `turnover`, `largest customer share`."""
    label = plain_label(written.replace("_", " ").replace("-", " "))
    name = label.replace(" ", "_")
    if name in known:
        return name
    meaning = taxonomy().meaning(label)
    if meaning is None:
        raise typer.BadParameter(f"there is no concept {written!r}{nearest(name, known)}")
    return meaning.concept.id


def _load_run_texts(name: str) -> tuple[list[LedgerText], Sequence[Step]]:
    """The texts of a run, none where there is no such run, and what decides among its figures."""
    with database.reading() as session:
        run = runs.find_run(session, name)
        if run is None:
            return [], RULE
        rows = [
            row
            for company in runs.run_companies(session, run.id)
            for row in run_documents.company_documents(session, company.id or 0)
        ]
        rule = load_figure_rule(run.criteria)
    texts = [
        LedgerText(row.text_id, row.document_id, row.name, row.path, row.updated)
        for row in rows
        if row.text_id is not None
    ]
    return texts, rule


def _load_room_texts(folder: str) -> list[LedgerText]:
    try:
        return texts_of_room(folder)
    except NotFound as error:
        raise NotFound(f"There is no run of this name. {error.message}") from error


def texts_of_room(folder: str) -> list[LedgerText]:
    """The texts of a folder on this machine or of the drive, or of one document; what cannot be read is told.

    Raises:
        NotFound: there is no such folder.
    """
    listed, unread = read_path(Path(folder)) if Path(folder).exists() else read_folder(folder)
    if unread:
        echo(f"Without {name_documents(unread)}, which could not be read.", err=True)
    return listed


def name_documents(documents: Sequence[str]) -> str:
    """How many documents, with the names of the first ones."""
    shown = ", ".join(documents[:_MOST_NAMED])
    count = f"{len(documents)} document{'s' if len(documents) > 1 else ''}"
    return f"{count} ({shown}{', …' if len(documents) > _MOST_NAMED else ''})"


def read_path(path: Path) -> tuple[list[LedgerText], list[str]]:
    """The texts of a folder or of a document on this machine, as those of a folder of the drive."""
    top = path if path.is_dir() else path.parent
    with override_settings({"drive": "local", "drive_root": str(top.absolute())}):
        return read_folder("root", None if path.is_dir() else path.name)


def read_folder(folder: str, name: str | None = None) -> tuple[list[LedgerText], list[str]]:
    """Index a folder of the drive and read its documents: their texts, and the names of those that cannot be read.

    With `name`, of the document of that name that lies in the folder itself, alone.

    Raises:
        NotFound: there is no such folder.
    """
    with acting_as_run_account():
        room_id = index_room(folder, recursive=name is None)
        with database.reading() as session:
            listed = {
                row.document_id: row
                for row in documents.room_documents(session, room_id)
                if name is None or row.name == name
            }
    if not listed and name is not None:
        raise UnsupportedFormat(f"{name} is no document that can be read.")
    with acting_as_run_account():
        outcomes = read_documents(room_id, list(listed))
    texts = [
        LedgerText(
            outcome.text_id,
            outcome.document_id,
            listed[outcome.document_id].name,
            listed[outcome.document_id].path,
            run_documents.format_day(listed[outcome.document_id].updated),
        )
        for outcome in outcomes
        if outcome.text_id is not None and outcome.characters
    ]
    read = {text.document_id for text in texts}
    return texts, [listed[outcome.document_id].name for outcome in outcomes if outcome.document_id not in read]


def _print_json(ledger: RoomLedger) -> None:
    answer = {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [conflict_row(conflict) for conflict in ledger.conflicts],
        "figure_versions": [conflict_row(versions) for versions in ledger.versions],
        "derived_figures": [make_derived_row(derived) for derived in ledger.derived],
        "untied_sums": list(ledger.ties),
        "left_out": ledger.left_out,
    }
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))


def _print_csv(ledger: RoomLedger) -> None:
    writer = csv.DictWriter(sys.stdout, [*_COLUMNS, "document_id"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: harmless_cell(value) for name, value in room_row(row).items()} for row in ledger.figures)


def _print_table(ledger: RoomLedger) -> None:
    order = {concept: place for place, concept in enumerate(taxonomy().concepts)}
    rows = sorted(ledger.figures, key=lambda row: order.get(row.figure.concept, len(order)))
    for line in _lines([*_COLUMNS[:-1]], [_cells(row) for row in rows]):
        echo(line)
    for conflict in ledger.conflicts:
        for other in conflict.others:
            echo(f"Conflict: {_whose(conflict)} counts; {_in_place(other)} does not. {conflict.rule}.")
    for versions in ledger.versions:
        echo(f"Versions: {_whose(versions)}; {'; '.join(map(_in_place, versions.others))}.")
    for tie in ledger.ties:
        echo(
            f"Does not tie: {tie['what']}: {tie['stated']} stated, {tie['computed']} computed "
            f"({tie['document_name']}, {tie['place']})."
        )
    if ledger.left_out:
        listed = ", ".join(f"{count} ({why})" for why, count in sorted(ledger.left_out.items()))
        echo(f"Left out: {listed}.", err=True)


def _whose(conflict: FigureConflict) -> str:
    entity = conflict.counted.figure.entity
    of_part = f" of {entity}" if entity else ""
    return f"{conflict.concept}{of_part}, {conflict.period}: {_in_place(conflict.counted)}"


def _group_digits(row: RoomFigure) -> str:
    return f"{Decimal(decimal_text(row.figure.value)):,f}"


def _in_place(row: RoomFigure) -> str:
    return f"{_group_digits(row)} {row.figure.unit} ({row.document_name}, {row.figure.place})"


def _cells(row: RoomFigure) -> list[str]:
    cells = {**room_row(row), "value": _group_digits(row)}
    return [cells[name] or "" for name in _COLUMNS[:-1]]


def _lines(header: list[str], rows: Sequence[list[str]]) -> Iterator[str]:
    """The lines of a table: values to the right, places whole but where a terminal has no room for them."""
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(header, *rows, strict=True)]
    before = sum(widths[:-1]) + 2 * len(widths[:-1])
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    widths[-1] = max(wide - before, _WIDEST) if wide else max(map(len, (line[-1] for line in (header, *rows))))
    for line in (header, *rows):
        cut = [
            cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(line, widths, strict=True)
        ]
        yield "  ".join(
            cell.rjust(width) if column == _VALUE else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(cut, widths, strict=True))
        ).rstrip()


_PRINTERS = {FiguresFormat.TABLE: _print_table, FiguresFormat.JSON: _print_json, FiguresFormat.CSV: _print_csv}
