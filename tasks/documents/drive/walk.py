"""What a listing of the local folder holds: real folders and files first, then what links bring in.

Links come last so that a document which stands in the tree is listed where it stands, under its own name.
"""

import os
import stat
from collections import deque
from collections.abc import Callable
from pathlib import Path

from tasks.documents.drive.drive import Document, Folder, Listing
from tasks.documents.drive.kept import Documents, Kept, document_of, values_of
from tasks.documents.drive.tree import Tree, hidden

Describe = Callable[[str, os.stat_result, str, str, str], Document]
"""Makes the entry of a file: its real path, its status, the name to show, its folder's id and path in the listing."""


class Walk:
    """One walk through the folder `top` (a real path); `describe` makes a document's entry."""

    def __init__(self, tree: Tree, top: str, describe: Describe, *, recursive: bool, spool: Path | None = None) -> None:
        self._tree = tree
        self._describe = describe
        self._recursive = recursive
        self._listing = Listing(Folder(tree.id_of(top), display(os.path.basename(top) or os.sep), ""))
        self._folders = {top}
        self._documents: list[Document] = []
        self._kept = Kept(spool) if spool else None
        self._gone_through: set[str] = set()
        self._linked: set[str] = set()  # documents that links brought in
        self._to_list = deque([(top, "")])
        self._links: deque[tuple[str, str, str]] = (
            deque()
        )  # (path of the link, its folder's path in the listing, that id)

    def listing(self) -> Listing:
        """Go through all of it."""
        while self._to_list or self._links:
            if self._to_list:
                self._list(*self._to_list.popleft())
            else:
                self._follow(*self._links.popleft())
        kept = self._kept
        self._listing.documents = self._documents if kept is None else Documents(lambda: map(document_of, kept))
        return self._listing

    def _list(self, folder: str, path: str) -> None:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return  # it has vanished since its own folder was listed
        except OSError:
            shown = path or self._listing.folder.name
            self._listing.warnings.append(f"The folder {shown!r} cannot be opened: what lies in it is left out.")
            self._listing.incomplete = True
            return
        self._gone_through.add(folder)
        folder_id = self._tree.id_of(folder)
        for entry in entries:
            if hidden(entry.name) or not self._tree.shows(entry.path):
                continue
            if entry.is_symlink():
                self._links.append((entry.path, path, folder_id))
            else:
                self._take(entry.path, display(entry.name), path, folder_id)

    def _follow(self, link: str, path: str, folder_id: str) -> None:
        target, name = os.path.realpath(link), display(os.path.basename(link))
        if self._tree.shows(target):
            self._take(
                target, name, path, folder_id, broken=f"Left out: {name!r} is a link to something that is not there."
            )
        elif self._tree.holds(target):
            self._listing.warnings.append(f"Left out: {name!r} is a link to something hidden.")
        else:
            self._listing.warnings.append(f"Left out: {name!r} is a link that leaves the drive's root.")

    def _take(self, real: str, name: str, path: str, folder_id: str, broken: str | None = None) -> None:
        """Put what lies at a real path into the listing, in the folder with that path and id."""
        try:
            status = os.stat(real, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            if broken:  # an entry without a link has vanished since its folder was listed: it is not there
                self._listing.warnings.append(broken)
            return
        except OSError:  # too deep for a path, or behind a closed folder
            self._listing.warnings.append(f"Left out: {name!r} cannot be reached.")
            self._listing.incomplete = True
            return
        if stat.S_ISDIR(status.st_mode):
            if self._recursive and real not in self._folders:
                self._folders.add(real)
                below = f"{path}/{name}" if path else name
                self._listing.folders.append(Folder(self._tree.id_of(real), name, below, folder_id))
                self._to_list.append((real, below))
        elif stat.S_ISREG(status.st_mode):
            # Not a set of all documents, for the memory: each stands in its folder, or came by a link.
            if real in self._linked or (broken and os.path.dirname(real) in self._gone_through):
                return
            if broken:
                self._linked.add(real)
            self._note(self._describe(real, status, name, folder_id, path))
        elif broken and stat.S_ISLNK(status.st_mode):  # a circle of links ends in one of them
            self._listing.warnings.append(broken)
        else:
            self._listing.warnings.append(f"Left out: {name!r} is neither a file nor a folder.")

    def _note(self, document: Document) -> None:
        if self._kept is None:
            self._documents.append(document)
        else:
            self._kept.add([values_of(document)])


def display(name: str) -> str:
    """A name as text: bytes that are no UTF-8 are replaced, since JSON and databases take none."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "replace")
