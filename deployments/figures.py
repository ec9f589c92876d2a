"""`diligence figures`: the figures of a room, or of the companies of a run, and which of them conflict."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated

import typer

from deployments.rooms import read_texts
from deployments.terminal import PrintFormat, align, echo, print_csv, print_json
from storage import database, documents, runs
from tasks.errors import BadRequest
from tasks.figures.conflicts import RULE, FigureConflict, RoomFigure, Step, conflict_row, decimal_text, room_row
from tasks.figures.derived import make_derived_row
from tasks.figures.figure import plain_label, taxonomy
from tasks.figures.ledger import LedgerText, RoomLedger, build, not_looked_for, room_ledger, run_texts
from tasks.scoring.criteria import load_figure_rule
from tasks.user_file import nearest

_COLUMNS = ("concept", "value", "unit", "period", "entity", "basis", "document_name", "place", "label")
_VALUE = _COLUMNS.index("value")
_WIDEST = 40


def figures(
    room: Annotated[str, typer.Argument(help="A folder, a document, or a run: its id, its batch's name or latest.")],
    concept: Annotated[str | None, typer.Option(help="Only this concept, such as revenue.")] = None,
    format: Annotated[PrintFormat, typer.Option(help="The format.")] = "table",  # noqa: A002 - what users type
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
        echo("No figure was found." if texts else f"{room} has no documents.", err=True)
    _PRINTERS[format](ledger)
    if ledger.left_out:
        listed = ", ".join(f"{count} ({why})" for why, count in sorted(ledger.left_out.items()))
        echo(f"Left out: {listed}.", err=True)


def _concept(written: str, known: Sequence[str]) -> str:
    """The id of the concept that a user names by id or label: `turnover`, `largest customer share`."""
    label = plain_label(written.replace("_", " ").replace("-", " "))
    name = label.replace(" ", "_")
    if name in known:
        return name
    meaning = taxonomy().meaning(label)
    if meaning is None:
        raise typer.BadParameter(f"there is no concept {written!r}{nearest(name, known)}")
    return meaning.concept.id


def _load_run_texts(name: str) -> tuple[list[LedgerText], Sequence[Step]]:
    """The texts of a run, empty if there is no such run, and the rule that decides between its figures."""
    with database.reading() as session:
        run = runs.find_run(session, name)
        if run is None:
            return [], RULE
        rows = [
            row
            for company in runs.run_companies(session, run.id)
            for row in documents.company_documents(session, company.id or 0)
        ]
        rule = load_figure_rule(run.criteria)
    return run_texts(rows), rule


def _load_room_texts(folder: str) -> list[LedgerText]:
    try:
        return read_texts(folder)
    except BadRequest as error:
        raise BadRequest(f"There is no run of this name, and {error.message[:1].lower()}{error.message[1:]}") from error


def _print_json(ledger: RoomLedger) -> None:
    answer = {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [conflict_row(conflict) for conflict in ledger.conflicts],
        "figure_versions": [conflict_row(versions) for versions in ledger.versions],
        "derived_figures": [make_derived_row(derived) for derived in ledger.derived],
        "untied_sums": list(ledger.ties),
        "left_out": ledger.left_out,
    }
    print_json(answer)


def _print_csv(ledger: RoomLedger) -> None:
    columns = [*_COLUMNS, "document_id"]
    print_csv(columns, ([row[name] for name in columns] for row in map(room_row, ledger.figures)))


def _print_table(ledger: RoomLedger) -> None:
    order = {concept: place for place, concept in enumerate(taxonomy().concepts)}
    rows = sorted(ledger.figures, key=lambda row: order.get(row.figure.concept, len(order)))
    for line in _lines([_COLUMNS[:-1], *(_cells(row) for row in rows)]):
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


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table: values right-aligned, places in full unless the terminal is too narrow for them."""
    *widths, last = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = [min(_WIDEST, width) for width in widths]
    if sys.stdout.isatty():
        last = max(shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths), _WIDEST)
    return align(rows, {_VALUE}, [*widths, last])


_PRINTERS = {"table": _print_table, "json": _print_json, "csv": _print_csv}
