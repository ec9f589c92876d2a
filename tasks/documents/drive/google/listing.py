"""A folder of Google Drive listed: gone through the quickest way there is, its shortcuts followed, put in order."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tasks.documents.drive.drive import Document, Folder, Listing
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.entries import Row
from tasks.documents.drive.google.found import Found
from tasks.documents.drive.google.parents import Walk
from tasks.documents.drive.google.shortcuts import Shortcuts
from tasks.documents.drive.google.whole import WholeDrive
from tasks.documents.drive.kept import Documents


def listing_of(
    client: Client,
    top: Row,
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
        return _listed(client, Found(top, spool, keys), drive_id, recursive=recursive, mark=mark)


def _listed(client: Client, found: Found, drive_id: str | None, *, recursive: bool, mark: str | None) -> Listing:
    top = found.top
    walk = Walk(client, found, recursive=recursive)
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
        Documents(documents) if found.on_disk else _once(documents()),
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
