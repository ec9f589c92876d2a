"""Where the shortcuts of a listing lead: folders are gone through like subfolders, documents are listed once.

They come after all the rest, so that what stands in the tree itself is listed where it stands.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tasks.documents.drive.drive import Document
from tasks.documents.drive.google import queries
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.entries import FOLDER, SHORTCUT, Row, Target, document_of, row_of, target_of
from tasks.documents.drive.google.found import Found
from tasks.documents.drive.google.parents import Walk
from tasks.documents.drive.tree import hidden
from tasks.errors import DiligenceError, NotAllowed, NotFound

_CHAIN = 5  # shortcuts that lead to one another: Drive makes none such, so this is room enough


class Shortcuts:
    """The shortcuts among what was found. `warnings` says what is left out; `drives` are those that targets lie in."""

    def __init__(self, client: Client, found: Found, *, recursive: bool) -> None:
        self._client = client
        self._found = found
        self._recursive = recursive
        self._followed: set[str] = set()
        self._documents: list[tuple[Row, Row]] = []  # (shortcut, what it leads to)
        self.warnings: list[str] = []
        self.watched: set[str] = set()
        self.drives: set[str | None] = set()

    def follow(self, walk: Walk) -> None:
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

    def _lead(self, shortcuts: Iterable[tuple[Row, Target]]) -> Iterator[str]:
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

    def _targets(self, wanted: Iterable[tuple[Row, Target]]) -> Iterator[tuple[Row, dict[str, Any] | None]]:
        """Each shortcut with what Drive says of its target; None where there is none for this account."""
        waiting = list(wanted)
        for _ in range(_CHAIN):
            targets = list({target.id: target for _, target in waiting if target.id}.values())
            answers = self._client.batch([queries.one(each.id, _keys(each)) for each in targets])
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

    def _leave_out(self, shortcut: Row, what: str) -> None:
        self.warnings.append(f"Left out: {shortcut.name!r} is a shortcut to {what}.")

    def _known(self, folder_id: str) -> bool:
        return folder_id in self._found.folders or folder_id == self._found.top.id


def _there(answer: dict[str, Any] | DiligenceError | None) -> dict[str, Any] | None:
    if isinstance(answer, DiligenceError) and not isinstance(answer, NotFound | NotAllowed):
        raise answer
    return None if answer is None or isinstance(answer, DiligenceError) or answer.get("trashed") else answer


def _keys(target: Target) -> dict[str, str]:
    return {target.id: target.key} if target.key else {}
