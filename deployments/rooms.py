"""`diligence figures` and `diligence check`, and how commands read a whole room, including scanned pages.

`figures` prints the figures of a room, or of the companies of a run, and which of them conflict; `check` lays a memo
beside a room and writes a marked page and JSON. A room is a folder on this machine or on the drive.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from deployments.terminal import PrintFormat, align, echo, print_csv, print_json
from deployments.texts import read_all
from storage import database, documents, runs, texts
from storage.documents import DocumentOutcome, RoomDocument, format_day
from storage.settings import override_settings
from tasks.documents.batch import read_documents, recognise_scans
from tasks.documents.drive.archives.zip import is_archive
from tasks.documents.drive.registry import acting_as_run_account
from tasks.documents.index import index_room
from tasks.documents.kinds.room import RoomKinds, room_kinds
from tasks.errors import BadRequest, DiligenceError, NotFound, UnsupportedFormat
from tasks.figures.conflicts import RULE, FigureConflict, RoomFigure, Step, conflict_row, decimal_text, room_row
from tasks.figures.derived import make_derived_row
from tasks.figures.figure import plain_label, taxonomy
from tasks.figures.ledger import LedgerText, RoomLedger, build, not_looked_for, room_ledger, run_texts
from tasks.files import check_writable, replace_file
from tasks.memo.check import MARK, MemoVerdict, as_json, check_memo, render_memo
from tasks.memo.claims import MemoTexts
from tasks.reading.text_writer import Reading
from tasks.scoring.criteria import load_figure_rule
from tasks.user_file import nearest

_MOST_NAMED: Final = 5


class ReadRoom(NamedTuple):
    """The documents of a room, and the outcome of reading each, by id."""

    listed: Sequence[RoomDocument]
    outcomes: Mapping[str, DocumentOutcome]

    @property
    def text_ids(self) -> dict[str, int]:
        """The ids of the texts that contain words, by document id."""
        return {
            name: outcome.text_id
            for name, outcome in self.outcomes.items()
            if outcome.text_id is not None and outcome.characters
        }

    @property
    def texts(self) -> list[LedgerText]:
        """The texts that contain words, with what is known about their documents."""
        texts = self.text_ids
        return [
            LedgerText(texts[row.document_id], row.document_id, row.name, row.path, format_day(row.updated))
            for row in self.listed
            if row.document_id in texts
        ]

    @property
    def unread(self) -> list[str]:
        """The names of the documents that gave no words, or of which pages could not be read."""
        texts, outcomes = self.text_ids, self.outcomes
        return [
            row.name
            for row in self.listed
            if row.document_id not in texts or outcomes[row.document_id].pages != outcomes[row.document_id].pages_read
        ]

    def kinds(self) -> RoomKinds:
        """The kinds of the room's documents."""
        hashes = {name: outcome.content_hash for name, outcome in self.outcomes.items()}
        return room_kinds(self.listed, self.text_ids, hashes)


@contextmanager
def named_place() -> Iterator[None]:
    """A place that the user names and that is not there is wrong use in every command, not a failure."""
    try:
        yield
    except NotFound as error:
        raise BadRequest(error.message) from error


def read_room(folder: str, name: str | None = None) -> ReadRoom:
    """Index a folder of the drive and read its documents; with `name`, only the document of that name.

    Raises:
        BadRequest: there is no such folder. UnsupportedFormat: there is no document of that name.
    """
    with acting_as_run_account():
        with named_place():
            room_id = index_room(folder, recursive=name is None)
        with database.reading() as session:
            listed = [row for row in documents.room_documents(session, room_id) if name in {None, row.name}]
        if not listed and name is not None:
            raise UnsupportedFormat(f"{name} is not a document that can be read.")
        outcomes = [*read_documents(room_id, [row.document_id for row in listed])]
        if any(outcome.pages != outcome.pages_read for outcome in outcomes):
            outcomes += recognise_scans(room_id)
    return ReadRoom(listed, {outcome.document_id: outcome for outcome in outcomes})


def read_place(place: str) -> ReadRoom:
    """As `read_room`: a folder or a document on this machine, else a folder of the drive."""
    path = Path(place)
    if not path.exists():
        return read_room(place)
    top = path if path.is_dir() else path.parent
    with override_settings({"drive": "local", "drive_root": str(top.absolute())}):
        return read_room("root", None if path.is_dir() else path.name)


def read_texts(place: str) -> list[LedgerText]:
    """The texts of `read_place`; documents that could not be read are reported on stderr."""
    return report_unread(read_place(place)).texts


def report_unread(room: ReadRoom) -> ReadRoom:
    """The room; its documents that could not be read, or not whole, are reported on stderr."""
    if room.unread:
        echo(f"{name_documents(room.unread)} could not be read, or only in part.", err=True)
    return room


def name_documents(names: Sequence[str]) -> str:
    """A count of documents, with the names of the first few."""
    shown = ", ".join(names[:_MOST_NAMED])
    count = f"{len(names)} document{'s' if len(names) > 1 else ''}"
    return f"{count} ({shown}{', …' if len(names) > _MOST_NAMED else ''})"


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


_FORMATS = ".docx, .pdf, .md, .txt or .html"


def check(
    memo: Annotated[Path, typer.Argument(help="The memo: a .docx, .pdf, .md, .txt or .html file.")],
    room: Annotated[str, typer.Option(help="The folder of the drive that it is checked against.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder for the two files; by default, that of the memo.")
    ] = None,
) -> None:
    """Check the figures, quotations and statements of a memo.

    They are checked against a data room.
    """
    folder = out or memo.parent
    page, data = _targets(memo, folder)
    reading = _read(memo)
    check_writable(folder, page.name, data.name)
    read = read_room(room)
    unread = read.unread
    documents = [one for one in read.texts if not _belongs_to_memo(one, memo, reading.text, {page.name, data.name})]
    if not documents:
        raise BadRequest(_explain_empty_room(room, unread))
    names = Path(room).name.replace("-", " ").replace("_", " ")
    checked = check_memo(reading.text, reading.places, memo.name, MemoTexts(documents, names))
    _write(data, as_json(memo.name, checked))
    _write(page, render_memo(memo.name, room, reading.text, checked, unread))
    for warning in reading.warnings:
        echo(f"{memo.name}: {warning}", err=True)
    for warning in not_looked_for({one.text_id: one.document_name for one in documents}):
        echo(warning, err=True)
    if unread:
        echo(
            f"{name_documents(unread)} of the room could not be read, or only in part; anything that only they say "
            "counts as not found.",
            err=True,
        )
    if not checked:
        echo(
            f"{memo.name} contains nothing to check: it has no sentences. Is it the right file?",
            err=True,
        )
    against = [one for one in checked if one.verdict is MemoVerdict.CONTRADICTED]
    for one in against:
        place = one.places[0]
        echo(f"Contradicted: “{one.statement.text}”")
        echo(f"  {place.document_name}, {place.place}: {' '.join(place.text.split())}")
    supported = sum(one.verdict is MemoVerdict.SUPPORTED for one in checked)
    missing = len(checked) - supported - len(against)
    echo(f"{supported} supported, {len(against)} contradicted, {missing} not found. See {page} and {data}.")
    if against:
        raise SystemExit(1)


def _read(memo: Path) -> Reading:
    """The memo, read in a separate process.

    Raises:
        BadRequest: it cannot be read.
    """
    if not memo.is_file() or is_archive(memo.name):
        raise BadRequest(f"The memo {memo.name} does not exist, or is no document. Give the path of a {_FORMATS} file.")
    try:
        (reading,) = read_all(str(memo)).values()
    except DiligenceError as error:
        raise BadRequest(f"The memo {memo.name} cannot be read. {error.message}") from error
    if not reading.text.strip():
        raise BadRequest(f"The memo {memo.name} cannot be read. It has no text. Is it the right file?")
    return reading


def _explain_empty_room(room: str, unread: Sequence[str]) -> str:
    if not unread:
        return f"There is no document in {room} to check the memo against. Add some, or give another --room."
    return f"Nothing in {room} can be read, so no claim can be checked against it: {name_documents(unread)}."


def _belongs_to_memo(document: LedgerText, memo: Path, text: str, written: set[str]) -> bool:
    """Whether a document of the room is the memo itself, or output of a past check of it: neither proves anything."""
    if document.document_name not in {memo.name, *written}:
        return False
    with database.reading() as session:
        stored = texts.get_text(session, document.text_id).text
    return stored == text or (document.document_name in written and memo.name in stored)


def _targets(memo: Path, folder: Path) -> tuple[Path, Path]:
    """The page and the JSON file for a memo; never the memo itself, nor a file that this command did not write.

    Raises:
        BadRequest: somebody else's file has that name.
    """
    page, data = (folder / f"{memo.stem}{ending}" for ending in (".html", ".json"))
    if memo.resolve() in {page.resolve(), data.resolve()}:
        page, data = (folder / f"{memo.name}{ending}" for ending in (".html", ".json"))
    for target, is_ours in ((page, _is_our_page), (data, _is_our_json)):
        if target.exists() and not is_ours(target):
            raise BadRequest(
                f"{target.name} already exists and is not a checked memo. Choose another folder with --out."
            )
    return page, data


def _is_our_page(path: Path) -> bool:
    with suppress(OSError, UnicodeDecodeError):
        return f'content="{MARK}"' in path.read_text("utf-8")[:4000]
    return False


def _is_our_json(path: Path) -> bool:
    with suppress(OSError, ValueError):
        content = json.loads(path.read_text("utf-8"))
        return isinstance(content, dict) and {"memo", "statements"} <= set(content)
    return False


def _write(target: Path, content: str) -> None:
    try:
        replace_file(target, target.with_name(f"{target.name}.part"), content.encode())
    except OSError as error:
        raise BadRequest(f"{target.name} cannot be written ({error.strerror}). Choose another --out.") from error
