"""The memory drive as one user sees it."""

import hashlib
import io
import mimetypes
from collections import deque
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from tasks.documents.drive.drive import ROOT, Changes, Document, Fetched, Folder, Listing, identifier
from tasks.documents.drive.spool import ListedDocuments
from tasks.errors import NotAllowed, NotFound, TooLarge
from tasks.files import hidden
from tests.tasks.documents.drive.memory.store import Node, Store


class MemoryDrive:
    """What `user` sees of a store."""

    name = "memory"
    remote = False
    max_parallel_fetches = 2

    def __init__(self, store: Store, user: str) -> None:
        self.view = f"memory:{user}"
        self._store = store
        self._user = user

    def find_folder(self, reference: str) -> str:
        node_id = identifier(reference, "folder")
        if node_id != ROOT and node_id not in self._store.nodes:
            node: Node | None = self._store.root(self._user)
            for name in reference.strip().split("/"):
                node = node and self._store.child(node.id, name)
            if node is None:
                raise NotFound(f"No folder {reference!r}.")
            node_id = node.id
        return self._folder(node_id).id

    def find_document(self, reference: str) -> str:
        return identifier(reference, "document_id")

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        top = self._folder(folder_id)
        listing = Listing(Folder(top.id, top.name, ""))
        listing.documents = documents = ListedDocuments(spool)
        folders, listed = {top.id}, set()
        waiting = deque([(top.id, "")])
        shortcuts: deque[tuple[Node, str, str]] = deque()

        def take(node: Node, name: str, folder_id: str, path: str) -> None:
            if node.content is None:
                if recursive and node.id not in folders:
                    folders.add(node.id)
                    below = f"{path}/{name}" if path else name
                    listing.folders.append(Folder(node.id, name, below, folder_id))
                    waiting.append((node.id, below))
            elif node.id not in listed:
                listed.add(node.id)
                documents.add([self._describe(node, name, folder_id, path)])

        while waiting or shortcuts:  # the shortcuts come last: a document in the tree is listed where it lies
            if waiting:
                folder_id, path = waiting.popleft()
                for node in self._store.children(folder_id):
                    if hidden(node.name) or self._store.seen(self._user, node.id) is None:
                        continue
                    if node.target is None:
                        take(node, node.name, folder_id, path)
                    else:
                        shortcuts.append((node, folder_id, path))
            else:
                shortcut, folder_id, path = shortcuts.popleft()
                target = self._store.seen(self._user, shortcut.target or "")
                if target is None:
                    listing.warnings.append(
                        f"Left out: {shortcut.name!r} is a shortcut to something that is not there."
                    )
                else:
                    take(target, shortcut.name, folder_id, path)
        return listing

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        return None

    def document(self, document_id: str) -> Document:
        node = self._readable(document_id)
        return self._describe(node, node.name, node.parent or "", "")

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        node = self._readable(document_id)
        content = node.content or b""
        if len(content) > max_bytes:
            raise TooLarge("The document is too large. DILIGENCE_DOCUMENT_MAX_MB sets the limit.")
        file = spool / uuid4().hex
        file.write_bytes(content)
        return Fetched(file, hashlib.sha256(content).hexdigest(), str(node.version))

    def open(self, document_id: str) -> BinaryIO:
        return io.BytesIO(self._readable(document_id).content or b"")

    def local_path(self, document_id: str) -> None:
        return None

    def _folder(self, folder_id: str) -> Node:
        node = self._store.root(self._user) if folder_id == ROOT else self._store.seen(self._user, folder_id)
        if node is None or node.content is not None:
            raise NotFound("No such folder, or this is the id of a document.")
        return node

    def _readable(self, document_id: str) -> Node:
        node = self._store.seen(self._user, document_id)
        if node is None or node.content is None:
            raise NotFound("No such document, or this is the id of a folder.")
        if not node.downloadable:
            raise NotAllowed("The document may not be downloaded.")
        return node

    def _describe(self, node: Node, name: str, folder_id: str, path: str) -> Document:
        return Document(
            id=node.id,
            name=name,
            folder_id=folder_id,
            path=path,
            url=f"https://memory.example/file/d/{node.id}/view",
            mime_type=mimetypes.guess_type(node.name)[0] or "application/octet-stream",
            size=len(node.content or b""),
            created=node.created,
            updated=node.updated,
            version=str(node.version),
        )
