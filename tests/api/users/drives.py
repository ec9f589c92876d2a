"""Drives that two users know, for the tests of rights.

Another drive joins with a class like `MemoryUsers` and its name in `users`' params (conftest).
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Protocol
from uuid import uuid4

import pytest

from tasks.documents.drive import registry
from tests.api.google import ADA, BOB, google_drive
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import agree as agree_at_google
from tests.tasks.documents.drive.memory.login import agree as agree_in_memory
from tests.tasks.documents.drive.memory.store import STORES, Store


class Users(Protocol):
    """A drive that Ada and Bob know. Folders and documents are named by their ids."""

    def folder(self, name: str, owner: str, parent: str | None = None) -> str:
        """Make a folder in another, else at the top of the owner's drive; gives its id."""

    def file(self, name: str, content: bytes, *, folder: str | None = None, owner: str = ADA) -> str:
        """Write a document into a folder, else at the top of the owner's drive; gives its id."""

    def share(self, item: str, email: str) -> None:
        """Let a user see a folder with all in it, or a document."""

    def unshare(self, item: str, email: str) -> None:
        """Take that back."""

    def restrict(self, item: str) -> None:
        """Let only those see it with whom the item itself was shared."""

    def forbid_download(self, item: str) -> None:
        """Let nobody download it."""

    def token(self, email: str) -> str:
        """An access token."""

    def expire(self, token: str) -> None:
        """Void an access token."""

    def agree(self, url: str, email: str) -> dict[str, str]:
        """Open the address of a login as a user who agrees; gives what comes back, with `to`: where."""


class GoogleUsers:
    """The emulated Google Drive."""

    def __init__(self, emulator: DriveEmulator) -> None:
        self._emulator = emulator
        self._world = emulator.world

    def folder(self, name: str, owner: str, parent: str | None = None) -> str:
        return self._world.folder(name, self._world.items[parent] if parent else self._world.root(owner)).id

    def file(self, name: str, content: bytes, *, folder: str | None = None, owner: str = ADA) -> str:
        parent = self._world.items[folder] if folder else self._world.root(owner)
        return self._world.file(name, parent, content).id

    def share(self, item: str, email: str) -> None:
        self._world.share(self._world.items[item], email)

    def unshare(self, item: str, email: str) -> None:
        self._world.unshare(self._world.items[item], email)

    def restrict(self, item: str) -> None:
        self._world.restrict(self._world.items[item])

    def forbid_download(self, item: str) -> None:
        self._world.forbid_download(self._world.items[item])

    def token(self, email: str) -> str:
        return self._emulator.token(email)

    def expire(self, token: str) -> None:
        self._emulator.accounts.expire(token)

    def agree(self, url: str, email: str) -> dict[str, str]:
        return agree_at_google(url, email)


class MemoryUsers:
    """The third drive."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def folder(self, name: str, owner: str, parent: str | None = None) -> str:
        return self._store.add(name, self._store.nodes[parent] if parent else self._store.root(owner)).id

    def file(self, name: str, content: bytes, *, folder: str | None = None, owner: str = ADA) -> str:
        parent = self._store.nodes[folder] if folder else self._store.root(owner)
        return self._store.add(name, parent, content).id

    def share(self, item: str, email: str) -> None:
        self._store.nodes[item].readers.add(email)

    def unshare(self, item: str, email: str) -> None:
        self._store.nodes[item].readers.discard(email)

    def restrict(self, item: str) -> None:
        self._store.nodes[item].restricted = True

    def forbid_download(self, item: str) -> None:
        self._store.nodes[item].downloadable = False

    def token(self, email: str) -> str:
        return self._store.token(email)

    def expire(self, token: str) -> None:
        del self._store.tokens[token]

    def agree(self, url: str, email: str) -> dict[str, str]:
        return agree_in_memory(self._store, url, email)


@contextmanager
def google_users(monkeypatch: pytest.MonkeyPatch) -> Iterator[Users]:
    with google_drive(monkeypatch) as emulator:
        yield GoogleUsers(emulator)


@contextmanager
def memory_users(monkeypatch: pytest.MonkeyPatch) -> Iterator[Users]:
    name, store = uuid4().hex, Store()
    for email in (ADA, BOB):
        store.root(email)
    monkeypatch.setitem(registry.DRIVES, "memory", "tests.tasks.documents.drive.memory")
    monkeypatch.setitem(STORES, name, store)
    monkeypatch.setenv("DILIGENCE_DRIVE", "memory")
    monkeypatch.setenv("DILIGENCE_MEMORY_STORE", name)
    # Other processes do not know this drive.
    monkeypatch.setattr("api.front.offloading_to", lambda _: nullcontext())
    yield MemoryUsers(store)


def bearer(users: Users, email: str) -> dict[str, str]:
    """The header that names a user to the service."""
    return {"Authorization": f"Bearer {users.token(email)}"}
