"""A folder of Google Drive listed: gone through the quickest way there is, its shortcuts followed, put in order.

Where the shortcuts of a listing lead: folders are gone through like subfolders, documents are listed once.

They come after all the rest, so that what stands in the tree itself is listed where it stands.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tasks.documents.drive.drive import Document, Folder, Listing, hidden
from tasks.documents.drive.google import api
from tasks.documents.drive.google.api import FOLDER, SHORTCUT, FileRow, ShortcutTarget, document_of, row_of, target_of
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.contents import FolderContents
from tasks.documents.drive.google.list_by_parent import ParentWalk
from tasks.documents.drive.google.list_whole_drive import WholeDrive
from tasks.documents.drive.spool import SpooledDocuments
from tasks.errors import DiligenceError, NotAllowed, NotFound

_CHAIN = 5  # shortcuts that lead to one another: Drive makes none such, so this is room enough


class Shortcuts:
    """The shortcuts among what was found. `warnings` says what is left out; `drives` are those that targets lie in."""

    def __init__(self, client: Client, found: FolderContents, *, recursive: bool) -> None:
        self._client = client
        self._found = found
        self._recursive = recursive
        self._followed: set[str] = set()
        self._documents: list[tuple[FileRow, FileRow]] = []  # (shortcut, what it leads to)
        self.warnings: list[str] = []
        self.watched: set[str] = set()
        self.drives: set[str | None] = set()

    def follow(self, walk: ParentWalk) -> None:
        """Follow them, and those that are come upon on the way.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        while new := [each for shortcut, each in self._found.shortcuts.items() if shortcut not in self._followed]:
            reachable = {folder.id for folder in self._found.ordered()} | {self._found.top.id}
            self._followed.update(row.id for row, _ in new)
            standing = [(row, target) for row, target in new if row.parent in reachable]
            self.watched.update(row.id for row, _ in standing)
            walk.through(list(self._lead(sorted(standing))))

    def documents(self, paths: Mapping[str, str]) -> Iterator[Document]:
        """The documents that shortcuts bring in, under the shortcuts' names, in these folders (paths by id)."""
        listed: set[str] = set()
        for shortcut, row in self._documents:
            if row.parent not in paths and shortcut.parent in paths and row.id not in listed:
                listed.add(row.id)
                yield document_of(row._replace(name=shortcut.name, parent=shortcut.parent), paths[shortcut.parent])

    def _lead(self, shortcuts: Iterable[tuple[FileRow, ShortcutTarget]]) -> Iterator[str]:
        """Sort out where shortcuts lead; gives the folders that are new."""
        wanted = [
            (row, target)
            for row, target in shortcuts
            if target.mime_type != FOLDER or (self._recursive and not self._known(target.id))
        ]
        for shortcut, file in self._targets(wanted):
            if file is None:
                self._leave_out(shortcut, "something that is not there")
            elif hidden(file.get("name", "")):
                self._leave_out(shortcut, "something hidden")
            elif file.get("mimeType") != FOLDER:
                self.drives.add(file.get("driveId"))
                self.watched.add(file["id"])
                self._documents.append((shortcut, row_of(file, next(iter(file.get("parents", ())), ""))))
            elif self._recursive:
                row = row_of(file, shortcut.parent)._replace(name=shortcut.name)
                if self._found.add_folder(row):
                    self.drives.add(file.get("driveId"))
                    yield row.id

    def _targets(
        self, wanted: Iterable[tuple[FileRow, ShortcutTarget]]
    ) -> Iterator[tuple[FileRow, dict[str, Any] | None]]:
        """Each shortcut with what Drive says of its target; None where there is none for this account."""
        waiting = list(wanted)
        for _ in range(_CHAIN):
            targets = list({target.id: target for _, target in waiting if target.id}.values())
            answers = self._client.batch([api.one(target.id, _keys(target)) for target in targets])
            said = {target.id: answer for target, answer in zip(targets, answers, strict=True)}
            further = []
            for shortcut, target in waiting:
                self.watched.add(target.id)
                self._found.note_key(target.id, target.key)
                file = _there(said.get(target.id))
                if file is not None and file.get("mimeType") == SHORTCUT:
                    further.append((shortcut, target_of(file)))
                else:
                    yield shortcut, file
            waiting = further
            if not waiting:
                return
        for shortcut, _ in waiting:
            yield shortcut, None

    def _leave_out(self, shortcut: FileRow, what: str) -> None:
        self.warnings.append(f"Left out: {shortcut.name!r} is a shortcut to {what}.")

    def _known(self, folder_id: str) -> bool:
        return folder_id in self._found.folders or folder_id == self._found.top.id


def _there(answer: dict[str, Any] | DiligenceError | None) -> dict[str, Any] | None:
    if isinstance(answer, DiligenceError) and not isinstance(answer, NotFound | NotAllowed):
        raise answer
    return None if answer is None or isinstance(answer, DiligenceError) or answer.get("trashed") else answer


def _keys(target: ShortcutTarget) -> dict[str, str]:
    return {target.id: target.key} if target.key else {}


def listing_of(
    client: Client,
    top: FileRow,
    drive_id: str | None,
    *,
    recursive: bool,
    mark: str | None,
    spool: Path | None,
    keys: dict[str, str],
) -> Listing:
    """What lies in a folder.

    Args:
        client: acts for the account that asks.
        top: the folder.
        drive_id: the shared drive that it lies in, if it does.
        recursive: whether what lies in its subfolders is listed too.
        mark: where the log of changes stood before.
        spool: a folder for the documents' rows, which otherwise are kept in memory.
        keys: resource keys by file id; those that are told join them.

    Raises:
        NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
    """
    with nullcontext() if spool else _uncollected():
        return _listed(client, FolderContents(top, spool, keys), drive_id, recursive=recursive, mark=mark)


def _listed(
    client: Client, found: FolderContents, drive_id: str | None, *, recursive: bool, mark: str | None
) -> Listing:
    top = found.top
    walk = ParentWalk(client, found, recursive=recursive)
    if not (recursive and top.id == drive_id and WholeDrive(client, found).through()):
        walk.through([top.id])
    shortcuts = Shortcuts(client, found, recursive=recursive)
    shortcuts.follow(walk)

    folders = found.ordered() if recursive else []
    names = {top.id: top.name} | {folder.id: folder.path for folder in folders}
    paths = names | {top.id: ""}
    closed = sorted(names[each] for each in found.closed if each in names)
    # A log tells of its own drive; and what could not be seen may be seen next time, without a change.
    elsewhere = shortcuts.drives - {drive_id}
    incomplete = found.incomplete or bool(closed)

    def documents() -> Iterator[Document]:
        yield from found.stream(paths)
        yield from shortcuts.documents(paths)

    return Listing(
        Folder(top.id, top.name, ""),
        folders,
        SpooledDocuments(documents) if found.on_disk else _once(documents()),
        [f"The folder {path!r} cannot be opened: what lies in it is left out." for path in closed] + shortcuts.warnings,
        incomplete,
        None if incomplete or elsewhere else mark,
        frozenset(shortcuts.watched),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without collections of garbage: going through 60,000 young rows again and again takes a third of our time.

    Nothing of what a listing makes hangs together in circles, and it ends within minutes.
    """
    if not gc.isenabled():
        yield  # by somebody who will switch it on again
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _once(documents: Iterator[Document]) -> list[Document]:
    """Each document where it came first: pages shift while people work, and may bring one twice."""
    found: dict[str, Document] = {}
    for document in documents:
        found.setdefault(document.id, document)
    return list(found.values())
