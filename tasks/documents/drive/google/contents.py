"""The contents of a folder while it is listed: the folders in memory, the documents in memory or in the spool."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tasks.documents.drive.drive import Document, Folder, hidden
from tasks.documents.drive.google.api import (
    FOLDER,
    SHORTCUT,
    FileRow,
    PartialDocument,
    ShortcutTarget,
    entry_of,
    row_of,
    target_of,
)
from tasks.documents.drive.spool import SpooledRows


class FolderContents:
    """The folder `top` and what lies below it. One thread adds.

    A row may come twice, since pages shift while people work: the first one counts.
    """

    def __init__(self, top: FileRow, spool: Path | None, keys: dict[str, str]) -> None:
        """`keys` are resource keys by file id. Those of the files that are added join them."""
        self.top = top
        self.folders: dict[str, FileRow] = {}
        self.shortcuts: dict[str, tuple[FileRow, ShortcutTarget]] = {}
        self._documents = SpooledRows(spool) if spool else None
        # Without a spool, what can be made of a row is made while calls are under way: 0.15 s for 20,000.
        self._made: list[Document] = []
        self._entries: list[PartialDocument] = []  # documents in folders whose path is not known yet
        self._paths = {top.id: ""}
        self.closed: set[str] = set()
        """Ids of folders that could not be listed."""
        self.cut_short: set[str] = set()
        """Ids of folders that could not be listed to their end."""
        self.incomplete = False
        self._keys = keys

    @property
    def on_disk(self) -> bool:
        """Whether the documents are on disk."""
        return self._documents is not None

    def take(self, files: Iterable[tuple[Mapping[str, Any], str]]) -> list[str]:
        """Add files, paired with the ids of their folders; gives the ids of the folders that are new."""
        new: list[str] = []
        documents: list[FileRow] = []
        for file, parent in files:
            if hidden(file.get("name", "")):
                continue
            row = row_of(file, parent)
            self.note_key(row.id, row.key)
            if row.mime_type == FOLDER:
                if self.add_folder(row):
                    new.append(row.id)
            elif row.mime_type == SHORTCUT:
                self.shortcuts.setdefault(row.id, (row, target_of(file)))
            else:
                documents.append(row)
        if self._documents is not None:
            self._documents.add(documents)
            return new
        for row in documents:
            before, after = entry = entry_of(row)
            path = self._paths.get(row.parent)
            if path is None:
                self._entries.append(entry)
            else:
                self._made.append(Document(before[0], before[1], before[2], path, *after))
        return new

    def add_folder(self, row: FileRow) -> bool:
        """Add a folder; False if it was known."""
        if row.id in self.folders or row.id == self.top.id:
            return False
        self.folders[row.id] = row
        above = self._paths.get(row.parent)
        if above is not None:
            self._paths[row.id] = f"{above}/{row.name}" if above else row.name
        return True

    def note_key(self, file_id: str, key: str | None) -> None:
        """Add a file's resource key, if it has one."""
        if key:
            self._keys[file_id] = key

    def keys_to(self, folder_ids: Iterable[str]) -> dict[str, str]:
        """The resource keys that a call about these folders needs: theirs, and those of the folders they lie in."""
        needed: dict[str, str] = {}
        if self._keys:
            for folder_id in folder_ids:
                for at in self._upwards(folder_id):
                    if at in self._keys:
                        needed[at] = self._keys[at]
        return needed

    def ordered(self) -> list[Folder]:
        """The folders that can be reached from the top, before the folders that lie in them, in order of name."""
        below: dict[str, list[FileRow]] = {}
        for row in sorted(self.folders.values(), key=lambda row: (row.name, row.id), reverse=True):
            below.setdefault(row.parent, []).append(row)
        ordered: list[Folder] = []
        waiting = [(row, row.name) for row in below.get(self.top.id, ())]
        while waiting:
            row, path = waiting.pop()
            ordered.append(Folder(row.id, row.name, path, row.parent))
            waiting.extend((deeper, f"{path}/{deeper.name}") for deeper in below.get(row.id, ()))
        return ordered

    def stream(self, paths: Mapping[str, str]) -> Iterator[Document]:
        """The documents that lie in these folders (paths by id), in the order in which they were added."""
        yield from self._made
        entries = (
            self._entries if self._documents is None else (entry_of(FileRow(*document)) for document in self._documents)
        )
        for before, after in entries:
            path = paths.get(before[2])
            if path is not None:
                yield Document(before[0], before[1], before[2], path, *after)

    def _upwards(self, folder_id: str) -> Iterator[str]:
        seen = {self.top.id}
        while folder_id not in seen:
            seen.add(folder_id)
            yield folder_id
            row = self.folders.get(folder_id)
            if row is None:
                break
            folder_id = row.parent
        yield self.top.id
