"""What there is in the emulated Drive: users, files, shared drives, who may see what, and what changed.

    world = World()
    world.user("ada@example.com")
    room = world.folder("Room", world.root("ada@example.com"))
    world.file("plan.txt", room, b"hello")
    world.share(room, "bob@example.com")

Every change goes through a method: it raises the version, writes the log that `changes.list` reads, and
drops what was worked out before. All methods may be called from any thread.
"""

import hashlib
import mimetypes
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from threading import RLock

from tests.google.blobs import Blob, Bytes
from tests.google.history import Changing
from tests.google.items import Change, Drive, Item, User, rfc3339
from tests.google.natives import DOCUMENT, FOLDER, SHORTCUT

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class World:
    """The whole of it. `seed` makes ids the same again."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.lock = RLock()
        self.items: dict[str, Item] = {}
        self.children: dict[str, list[str]] = {}
        self.users: dict[str, User] = {}
        self.drives: dict[str, Drive] = {}
        self.changes: list[Change] = []
        self.first_change = 1001
        self.epoch = 0  # raised by each change: what was worked out before is void
        self._serial = 0
        self._roles: dict[str, dict[str, str | None]] = {}
        self._in_trash: dict[str, bool] = {}

    # building

    def user(self, email: str, name: str | None = None) -> User:
        """The user, made with a My Drive of their own at the first call."""
        with self.lock:
            if email not in self.users:
                root = self._add("My Drive", FOLDER, None, permissions={email: "owner"})
                self.users[email] = User(email, name or email.partition("@")[0].title(), root.id)
            return self.users[email]

    def root(self, email: str) -> Item:
        return self.items[self.user(email).root]

    def drive(self, name: str, members: Mapping[str, str] | None = None) -> Item:
        """A shared drive with its members' roles; its root, whose id is the drive's."""
        with self.lock:
            for email in members or {}:
                self.user(email)
            root = self._add("Drive", FOLDER, None, permissions=dict(members or {}), shared_drive=True)
            self.drives[root.id] = Drive(root.id, name, root.created)
            return root

    def folder(self, name: str, parent: Item) -> Item:
        return self._add(name, FOLDER, parent)

    def file(self, name: str, parent: Item, content: bytes | Blob = b"", mime: str | None = None) -> Item:
        """A file with bytes; its type from the name unless given."""
        guessed = mime or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self._add(name, guessed, parent, blob=Bytes(content) if isinstance(content, bytes) else content)

    def native(
        self, name: str, parent: Item, mime: str = DOCUMENT, text: str = "", exports: Mapping[str, bytes] | None = None
    ) -> Item:
        """A Google document with `text`, exported as real files, or as the bytes given for each MIME type."""
        return self._add(name, mime, parent, text=text, exports=exports or {})

    def shortcut(self, name: str, parent: Item, target: Item, *, key: str | None = None) -> Item:
        """A shortcut; it dangles when its target is deleted or not shared with the reader."""
        return self._add(name, SHORTCUT, parent, target=target.id, target_mime=target.mime, target_key=key)

    # changing

    def share(self, item: Item, email: str, role: str = "reader") -> None:
        """Gives a user a role, or with `domain:example.com` all users of a domain."""
        if not email.startswith("domain:"):
            self.user(email)
        with self._changing(item, deep=True):
            item.permissions[email] = role

    def unshare(self, item: Item, email: str) -> None:
        with self._changing(item, deep=True):
            item.permissions.pop(email, None)

    def share_by_link(self, item: Item, resource_key: str | None = None, role: str | None = "reader") -> None:
        """Anyone with the link may read it, and what lies in it; with the key, if there is one."""
        with self._changing(item):
            item.link, item.resource_key = role, resource_key

    def restrict(self, item: Item) -> None:
        """Cuts inherited permissions off: only its own count."""
        with self._changing(item, deep=True):
            item.inherits = False

    def rename(self, item: Item, name: str) -> None:
        with self._changing(item):
            item.name = name

    def write(self, item: Item, content: bytes | Blob | str) -> None:
        """New content: bytes of a file, text of a native document."""
        with self._changing(item):
            if isinstance(content, str):
                item.text, item.exports = content, {}
            else:
                item.blob = Bytes(content) if isinstance(content, bytes) else content
            item.revision += 1
            item.modified = self._now()

    def move(self, item: Item, parent: Item) -> None:
        with self._changing(item, deep=True):
            self.children[item.parent or ""].remove(item.id)
            item.parent = parent.id
            self.children[parent.id].append(item.id)
            for one in self.below(item):
                one.drive = parent.drive

    def trash(self, item: Item, *, trashed: bool = True) -> None:
        """Into the bin, with all below it, or out again."""
        with self._changing(item):
            item.trashed = trashed

    def forbid_download(self, item: Item) -> None:
        """The owner lets readers neither download, print nor copy."""
        with self._changing(item):
            item.can_download = False

    def delete(self, item: Item) -> None:
        """For good, with all below it."""
        with self._changing(item, deep=True):
            for one in list(self.below(item)):
                del self.items[one.id]
                self.children.pop(one.id, None)
            if item.parent in self.children:
                self.children[item.parent].remove(item.id)

    # asking

    def below(self, item: Item) -> Iterator[Item]:
        """The item and everything in it."""
        waiting = [item]
        while waiting:
            one = waiting.pop()
            yield one
            waiting += [self.items[child] for child in self.children.get(one.id, ())]

    def role(self, email: str, item: Item) -> str | None:
        """What a user may do by permissions of their own, inherited ones included; None is nothing."""
        known = self._roles.setdefault(email, {})
        if item.id not in known:
            found = item.permissions.get(email) or item.permissions.get("domain:" + email.partition("@")[2])
            if not found and item.inherits and item.parent in self.items:
                found = self.role(email, self.items[item.parent])
            known[item.id] = found
        return known[item.id]

    def can_read(self, email: str, item: Item, keys: Mapping[str, str]) -> bool:
        """Whether a call with these resource keys may see the item, by permission or by a link."""
        if self.role(email, item):
            return True
        at: Item | None = item
        while at:
            if at.link and (not at.resource_key or keys.get(at.id) == at.resource_key):
                return True
            at = self.items.get(at.parent or "") if at.inherits else None
        return False

    def in_trash(self, item: Item) -> bool:
        """Whether it or a folder above it is in the bin."""
        if item.trashed or item.parent is None:
            return item.trashed
        known = self._in_trash.get(item.parent)
        if known is None:
            above = self.items.get(item.parent)
            known = self._in_trash[item.parent] = above is not None and self.in_trash(above)
        return known

    def in_corpus(self, email: str, item: Item) -> bool:
        """Whether a user's own log tells of what happens to an item: it lies in My Drive, or was given to the user."""
        at: Item | None = item
        while at:
            if email in at.permissions and (at is item or at.parent is None):
                return True
            at = self.items.get(at.parent or "")
        return False

    def readers(self, item: Item) -> frozenset[str]:
        return frozenset(email for email in self.users if self.role(email, item))

    # keeping

    def forget(self) -> None:
        """Drops what was worked out: something has changed."""
        self.epoch += 1
        self._roles.clear()
        self._in_trash.clear()

    def _add(
        self, name: str, mime: str, parent: Item | None, *, shared_drive: bool = False,
        blob: Blob | None = None, text: str = "", exports: Mapping[str, bytes] | None = None,
        permissions: dict[str, str] | None = None,
        target: str | None = None, target_mime: str | None = None, target_key: str | None = None,
    ) -> Item:  # fmt: skip
        with self.lock:
            self._serial += 1
            digest = urlsafe_b64encode(hashlib.sha256(f"{self.seed}/{self._serial}".encode()).digest()).decode()
            now = self._now()
            # the lengths and beginnings that Drive's own ids have
            id_ = f"1{digest[:32]}" if parent else f"0A{digest[:11]}Uk9PVA"
            drive = parent.drive if parent else id_ if shared_drive else None
            item = Item(
                id_, name, mime, parent.id if parent else None, self._serial, now, now, drive,
                blob, text, exports or {}, permissions or {},
                target=target, target_mime=target_mime, target_key=target_key,
            )  # fmt: skip
            self.items[item.id] = item
            if item.is_folder:
                self.children[item.id] = []
            if parent:
                self.children[parent.id].append(item.id)
            self.epoch += 1
            told = self.readers(self.items[item.parent or item.id])
            if not drive:
                told = frozenset(user for user in told if self.in_corpus(user, item))
            self.log(item, told, drive, self.members(drive))
            return item

    def _now(self) -> str:
        # A clock of its own, a second an event: the same world has the same times.
        return rfc3339(_START + timedelta(seconds=self._serial + len(self.changes)))

    def log(self, item: Item, users: frozenset[str], drive: str | None, members: frozenset[str]) -> None:
        """Writes a change down for those users."""
        number = self.first_change + len(self.changes)
        self.changes.append(Change(number, item.id, drive, users, members, self._now()))

    def members(self, drive: str | None) -> frozenset[str]:
        """Those of a shared drive; nobody for None."""
        return self.readers(self.items[drive]) if drive in self.items else frozenset()

    def _changing(self, item: Item, *, deep: bool = False) -> Changing:
        return Changing(self, item, deep=deep)
