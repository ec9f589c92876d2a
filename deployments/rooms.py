"""How commands read a room: all documents of a folder on this machine or the drive, including scanned pages."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from deployments.terminal import echo
from storage import database, documents
from storage.documents import DocumentOutcome, RoomDocument, format_day
from storage.settings import override_settings
from tasks.documents.batch import read_documents, recognise_scans
from tasks.documents.drive.registry import acting_as_run_account
from tasks.documents.index import index_room
from tasks.documents.kinds.room import RoomKinds, room_kinds
from tasks.errors import BadRequest, NotFound, UnsupportedFormat
from tasks.figures.ledger import LedgerText

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
