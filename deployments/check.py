"""`diligence check`: a memo checked against a data room, as a marked page and as JSON."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from deployments.rooms import name_documents, read_room
from deployments.terminal import echo
from deployments.texts import read_all
from storage import database, texts
from tasks.documents.drive.archives.zip import is_archive
from tasks.errors import BadRequest, DiligenceError
from tasks.figures.ledger import LedgerText, not_looked_for
from tasks.files import check_writable, replace_file
from tasks.memo.check import MARK, MemoVerdict, as_json, check_memo, render_memo
from tasks.memo.claims import MemoTexts
from tasks.reading.text_writer import Reading

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
