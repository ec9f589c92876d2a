"""Lists a folder of Google Drive, follows its shortcuts, and puts the result in order."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tasks.documents.drive.drive import Document, Folder, Listing, hidden
from tasks.documents.drive.google import api
from tasks.documents.drive.google.api import (
    FOLDER,
    SHORTCUT,
    FileRow,
    ShortcutTarget,
    make_document,
    make_row,
    read_target,
)
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.list_tree import FolderContents, ParentWalk, WholeDrive
from tasks.documents.drive.spool import SpooledDocuments
from tasks.errors import DiligenceError, NotAllowed, NotFound

_MAX_CHAIN = 5  # shortcuts that lead to one another: Drive makes none such, so this is room enough


def list_folder(
    client: Client,
    top: FileRow,
    drive_id: str | None,
    *,
    recursive: bool,
    mark: str | None,
    spool: Path | None,
    keys: dict[str, str],
) -> Listing:
    """The contents of a folder.

    Args:
        client: acts for the account that asks.
        top: the folder.
        drive_id: the shared drive that it lies in, if it does.
        recursive: whether what lies in its subfolders is listed too.
        mark: where the log of changes stood before.
        spool: a folder for the documents' rows; without it they are in memory.
        keys: resource keys by file id. Those of the listing join them.

    Raises:
        NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
    """
    with nullcontext() if spool else _garbage_collection_off():
        return _list_folder(client, FolderContents(top, spool, keys), drive_id, recursive=recursive, mark=mark)


class Shortcuts:
    """The shortcuts in a listing: those to folders are listed like subfolders, those to documents once and last.

    `warnings` says what is left out, `drives` are the ids of the shared drives that targets are in, and `foreign` means
    that a target is in no shared drive and does not belong to the account.
    """

    def __init__(self, client: Client, contents: FolderContents, *, recursive: bool) -> None:
        self._client = client
        self._contents = contents
        self._recursive = recursive
        self._followed: set[str] = set()
        self._documents: list[tuple[FileRow, FileRow]] = []  # (shortcut, what it leads to)
        self.warnings: list[str] = []
        self.watched: set[str] = set()
        self.drives: set[str | None] = set()
        self.foreign = False

    def follow(self, walk: ParentWalk) -> None:
        """Follow the shortcuts, including those in the folders that they lead to.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        while new := [
            pair for shortcut_id, pair in self._contents.shortcuts.items() if shortcut_id not in self._followed
        ]:
            reachable = {folder.id for folder in self._contents.order_folders()} | {self._contents.top.id}
            self._followed.update(row.id for row, _ in new)
            reachable_shortcuts = [(row, target) for row, target in new if row.parent in reachable]
            self.watched.update(row.id for row, _ in reachable_shortcuts)
            walk.through(list(self._target_folders(sorted(reachable_shortcuts))))

    def documents(self, path_by_id: Mapping[str, str]) -> Iterator[Document]:
        """The documents that shortcuts add, under the shortcuts' names; `path_by_id` has the folders' paths."""
        listed: set[str] = set()
        for shortcut, row in self._documents:
            if row.parent not in path_by_id and shortcut.parent in path_by_id and row.id not in listed:
                listed.add(row.id)
                yield make_document(
                    row._replace(name=shortcut.name, parent=shortcut.parent), path_by_id[shortcut.parent]
                )

    def _target_folders(self, shortcuts: Iterable[tuple[FileRow, ShortcutTarget]]) -> Iterator[str]:
        """Look up where shortcuts lead; returns the ids of folders not seen before."""
        to_look_up = [
            (row, target)
            for row, target in shortcuts
            if target.mime_type != FOLDER or (self._recursive and not self._has_seen(target.id))
        ]
        for shortcut, file in self._targets(to_look_up):
            if file is None:
                self._leave_out(shortcut, "something that is not there")
            elif hidden(file.get("name", "")):
                self._leave_out(shortcut, "something hidden")
            elif file.get("mimeType") != FOLDER:
                self._note_place(file)
                self.watched.add(file["id"])
                self._documents.append((shortcut, make_row(file, next(iter(file.get("parents", ())), ""))))
            elif self._recursive:
                row = make_row(file, shortcut.parent)._replace(name=shortcut.name)
                if self._contents.add_folder(row):
                    self._note_place(file)
                    yield row.id

    def _note_place(self, file: Mapping[str, Any]) -> None:
        self.drives.add(file.get("driveId"))
        self.foreign |= not file.get("driveId") and not file.get("ownedByMe")

    def _targets(
        self, shortcuts: Iterable[tuple[FileRow, ShortcutTarget]]
    ) -> Iterator[tuple[FileRow, dict[str, Any] | None]]:
        """The shortcuts with their targets; None if this account sees no target."""
        waiting = list(shortcuts)
        for _ in range(_MAX_CHAIN):
            targets = list({target.id: target for _, target in waiting if target.id}.values())
            answers = self._client.batch([api.one(target.id, _resource_keys(target)) for target in targets])
            answer_by_id = {target.id: answer for target, answer in zip(targets, answers, strict=True)}
            further = []
            for shortcut, target in waiting:
                self.watched.add(target.id)
                self._contents.note_key(target.id, target.key)
                file = _file_or_none(answer_by_id.get(target.id))
                if file is not None and file.get("mimeType") == SHORTCUT:
                    further.append((shortcut, read_target(file)))
                else:
                    yield shortcut, file
            waiting = further
            if not waiting:
                return
        for shortcut, _ in waiting:
            yield shortcut, None

    def _leave_out(self, shortcut: FileRow, what: str) -> None:
        self.warnings.append(f"Left out: {shortcut.name!r} is a shortcut to {what}.")

    def _has_seen(self, folder_id: str) -> bool:
        return folder_id in self._contents.folders or folder_id == self._contents.top.id


def _list_folder(
    client: Client, contents: FolderContents, drive_id: str | None, *, recursive: bool, mark: str | None
) -> Listing:
    top = contents.top
    walk = ParentWalk(client, contents, recursive=recursive)
    if not (recursive and top.id == drive_id and mark and WholeDrive(client, contents, mark).through()):
        walk.through([top.id, *contents.folders])  # the folders are those that came before it was given up
    shortcuts = Shortcuts(client, contents, recursive=recursive)
    shortcuts.follow(walk)

    folders = contents.order_folders() if recursive else []
    name_by_id = {top.id: top.name} | {folder.id: folder.path for folder in folders}
    path_by_id = name_by_id | {top.id: ""}
    closed_paths = sorted(name_by_id[folder_id] for folder_id in contents.closed if folder_id in name_by_id)
    cut_paths = sorted(name_by_id[folder_id] for folder_id in contents.cut_short if folder_id in name_by_id)
    # A log covers its own drive only, and what was not visible may become visible without a change.
    other_drives = shortcuts.drives - {drive_id}
    incomplete = contents.incomplete or bool(closed_paths) or bool(cut_paths)
    warnings = [f"The folder {path!r} cannot be opened: its contents are left out." for path in closed_paths]
    warnings += [
        f"The folder {path!r} is not listed completely: Google Drive refused to continue each time. "
        "Index it again later."
        for path in cut_paths
    ]

    if incomplete or other_drives:
        mark = None
    elif mark and shortcuts.foreign:
        mark = api.may_lack(mark)

    def documents() -> Iterator[Document]:
        yield from contents.stream(path_by_id)
        yield from shortcuts.documents(path_by_id)

    return Listing(
        Folder(top.id, top.name, ""),
        folders,
        SpooledDocuments(documents) if contents.on_disk else _without_repetitions(documents()),
        warnings + shortcuts.warnings,
        incomplete,
        mark,
        frozenset(shortcuts.watched),
    )


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Switch garbage collection off: scanning 60,000 new rows again and again takes a third of the time.

    A listing creates no reference cycles, and it ends within minutes.
    """
    if not gc.isenabled():
        yield  # whoever switched it off will switch it on
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _without_repetitions(documents: Iterator[Document]) -> list[Document]:
    """The documents without duplicates: pages shift while people work, and may return a document twice."""
    by_id: dict[str, Document] = {}
    for document in documents:
        by_id.setdefault(document.id, document)
    return list(by_id.values())


def _file_or_none(answer: dict[str, Any] | DiligenceError | None) -> dict[str, Any] | None:
    if isinstance(answer, DiligenceError) and not isinstance(answer, NotFound | NotAllowed):
        raise answer
    return None if answer is None or isinstance(answer, DiligenceError) or answer.get("trashed") else answer


def _resource_keys(target: ShortcutTarget) -> dict[str, str]:
    return {target.id: target.key} if target.key else {}
