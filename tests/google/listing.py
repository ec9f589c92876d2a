"""`files.list`: corpora, the query, order and pages.

Source: the reference of files.list. Of `orderBy` it says that createdTime "might result in timeouts or other issues"
on large collections, and an older edition that with about a million files the order is ignored: both are settings.
What the time-out looks like it does not say; here it is a 500.
"""

import hashlib
import secrets
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from tests.google.items import Item
from tests.google.matching import folder_id, test_of
from tests.google.parameters import Parameters
from tests.google.question import AllOf, Query, Term, has_text_search, named_parents, parents_of, read
from tests.google.refusals import Refused, drive_not_found, file_not_found, invalid, invalid_parameter
from tests.google.resources import View, shown
from tests.google.selection import Selection, select
from tests.google.settings import Settings

_DEFAULT = "kind,incompleteSearch,nextPageToken,files(kind,id,name,mimeType,resourceKey)"
_CORPORA = frozenset({"user", "domain", "drive", "allDrives"})
_encode = msgspec.json.Encoder().encode


class _Page(NamedTuple):
    """The rest of a result; `asked` must be the same again for the token to hold."""

    asked: tuple[Any, ...]
    items: list[Item]
    start: int


class Listing:
    """The rows and pages; keeps rows encoded while the world stands still."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._rows: dict[tuple[str, str], dict[str, bytes]] = {}
        self._corpora: dict[tuple[str, _Scope, str], list[Item]] = {}
        self._epoch = -1

    def answer(self, view: View, parameters: Parameters) -> bytes:
        """The JSON of one page.

        Raises:
            Refused: 400 for bad parameters, 403 for corpora that do not fit, 404 for a folder not seen.
        """
        fields = parameters.text("fields") or _DEFAULT
        selection = select(fields, "FileList")
        size = parameters.page_size()
        cap = self.settings.parents_page_cap
        if cap and _asks_parents(selection):
            size = min(size, cap)
        page = self.page_of(view, parameters)
        rows = page.items[page.start : page.start + size]
        if page.start == 0 and self.settings.empty_first_page and not parameters.text("pageToken"):
            rows = []
        end = page.start + len(rows)
        token = self._keep(page._replace(start=end)) if end < len(page.items) else None
        return self._encoded(view, fields, selection, rows, token)

    def page_of(self, view: View, parameters: Parameters) -> _Page:
        scope = _Scope.of(view, parameters)
        q, order = parameters.text("q") or "", parameters.text("orderBy") or ""
        asked = (view.email, q, order, scope)
        query = read(q) if q.strip() else None
        sorting = _sorting(order)
        if order and query and has_text_search(query):
            message = (
                "Sorting is not supported for queries with fullText terms. "
                "Results are always in descending relevance order."
            )
            raise Refused(400, "badRequest", message, location="orderBy")
        if (token := parameters.text("pageToken")) is not None:
            page = self._pages.get(token)
            if page is None or page.asked != asked:
                raise invalid("pageToken")
            return page
        items = self._found(view, scope, query)
        items.sort(key=lambda item: item.serial, reverse=True)
        for key, reverse in reversed(sorting):
            items.sort(key=_KEYS[key], reverse=reverse)
        return _Page(asked, items, 0)

    def _found(self, view: View, scope: "_Scope", query: Query | None) -> list[Item]:
        world = view.world
        if query is None:
            return [item for item in world.items.values() if scope.holds(view, item)]
        test = test_of(query, view)
        for named in named_parents(query):
            folder = world.items.get(folder_id(view, named))
            if folder is None or not world.can_read(view.email, folder, view.keys) or not scope.reaches(folder):
                raise file_not_found("")
        parents = parents_of(query)
        if parents is None:
            fields = {term.field for term in _terms(query)}
            field = "modifiedTime" if "modifiedTime" in fields else "createdTime"
            return [item for item in _within(self._held(view, scope, field), query, field) if test(item)]
        folders = self._not_lost(view, {folder_id(view, parent) for parent in parents})
        return [
            item
            for folder in folders
            for child in world.children.get(folder, ())
            if test(item := world.items[child])
            and (world.role(view.email, item) or world.can_read(view.email, item, view.keys))
            and scope.reaches(item)
        ]

    def _held(self, view: View, scope: "_Scope", field: str) -> list[Item]:
        """What a user's corpora hold, in order of a time; worked out once while the world stands still."""
        if self._epoch != view.world.epoch:
            self._rows.clear()
            self._corpora.clear()
            self._epoch = view.world.epoch
        known = self._corpora.get((view.email, scope, field))
        if known is None:
            known = [item for item in view.world.items.values() if scope.holds(view, item)]
            known.sort(key=_KEYS[field])
            self._corpora[view.email, scope, field] = known
        return known

    def _not_lost(self, view: View, folders: set[str]) -> list[str]:
        """The parents that are answered for: an OR query can lose some, the same ones each time."""
        settings = self.settings
        ordered = sorted(folders)
        if settings.or_loss == "none" or len(ordered) < 2:
            return ordered
        if _draw(settings.or_loss_seed, *ordered) % settings.or_loss_every:
            return ordered
        if settings.or_loss == "all":
            return []
        # Losing empty folders would show nothing: at least one with children goes, and one stays.
        full = [folder for folder in ordered if view.world.children.get(folder)]
        lost = {folder for folder in full if _draw(settings.or_loss_seed, folder) % 2} or set(full[:1])
        return [folder for folder in ordered if folder not in lost]

    def _keep(self, page: _Page) -> str:
        token = "~!!~" + secrets.token_urlsafe(48)
        self._pages[token] = page
        while len(self._pages) > 2000:
            self._pages.popitem(last=False)
        return token

    def _encoded(
        self, view: View, fields: str, selection: Selection | None, rows: Iterable[Item], token: str | None
    ) -> bytes:
        head: dict[str, Any] = {"kind": "drive#fileList", "incompleteSearch": self.settings.incomplete_search}
        if token:
            head["nextPageToken"] = token
        if selection is not None:
            head = {name: value for name, value in head.items() if name in selection}
            if "files" not in selection:
                return _encode(head)
        inner = None if selection is None else selection["files"]
        if self._epoch != view.world.epoch:
            self._rows.clear()
            self._corpora.clear()
            self._epoch = view.world.epoch
        known = self._rows.setdefault((view.email, fields), {}) if not view.keys else {}
        files = []
        for item in rows:
            row = known.get(item.id)
            if row is None:
                row = known[item.id] = _encode(shown(view, item, inner))
            files.append(row)
        start = _encode(head)[:-1]
        return b"".join((start, b"," if head else b"", b'"files":[', b",".join(files), b"]}"))


class _Scope(NamedTuple):
    """What the parameters let a call see."""

    corpora: str
    drive: str | None
    all_drives: bool

    @classmethod
    def of(cls, view: View, parameters: Parameters) -> "_Scope":
        corpora = parameters.text("corpora") or "user"
        drive = parameters.text("driveId") or parameters.text("teamDriveId")
        supports = parameters.flag("supportsAllDrives", "supportsTeamDrives")
        includes = parameters.flag("includeItemsFromAllDrives", "includeTeamDriveItems")
        if corpora not in _CORPORA:
            message = f"Invalid string value: '{corpora}'. Allowed values: [{', '.join(sorted(_CORPORA))}]"
            raise invalid_parameter("corpora", message)
        if (parameters.text("spaces") or "drive") not in {"drive", "appDataFolder"}:
            raise invalid("spaces")
        if (corpora == "drive") != (drive is not None):
            message = "The driveId parameter must be specified if and only if corpora is set to drive."
            raise Refused(403, "teamDriveIdRequiresTeamDriveCorpora", message)
        if includes and not supports:
            message = "The supportsAllDrives parameter must be set to true if includeItemsFromAllDrives is true."
            raise Refused(403, "teamDriveItemsRequireSupport", message)
        if corpora in {"drive", "allDrives"} and not includes:
            message = "The includeItemsFromAllDrives parameter must be set to true when corpora is drive or allDrives."
            raise Refused(403, "teamDriveCorporaRequireItems", message)
        if drive and (drive not in view.world.drives or not view.world.role(view.email, view.world.items[drive])):
            raise drive_not_found(drive)
        return cls(corpora, drive, supports and includes)

    def reaches(self, item: Item) -> bool:
        """Whether an item found through its parent may be shown."""
        if self.drive:
            return item.drive == self.drive
        return item.drive is None or self.all_drives

    def holds(self, view: View, item: Item) -> bool:
        """Whether an item is in the corpora: what is shared by a link alone is found through its parent only."""
        if not self.reaches(item) or not view.world.role(view.email, item):
            return False
        if item.drive == item.id:  # a shared drive's root is no hit of its own
            return False
        if self.corpora == "domain":
            return any(who.startswith("domain:") for who in item.permissions)
        return self.corpora != "user" or item.drive is None or view.email in item.permissions


_KEYS: dict[str, Any] = {
    "createdTime": lambda item: item.created,
    "folder": lambda item: not item.is_folder,
    "modifiedTime": lambda item: item.modified,
    "modifiedByMeTime": lambda item: item.modified,
    "viewedByMeTime": lambda item: item.modified,
    "sharedWithMeTime": lambda item: item.created,
    "recency": lambda item: item.modified,
    "name": lambda item: item.name.casefold(),
    "name_natural": lambda item: item.name.casefold(),
    "quotaBytesUsed": lambda item: item.blob.size if item.blob else 0,
    "starred": lambda _: 0,
}


def _terms(query: Query) -> list[Term]:
    return [part for part in (query.parts if isinstance(query, AllOf) else (query,)) if isinstance(part, Term)]


def _within(items: list[Item], query: Query, field: str) -> list[Item]:
    """Of items in order of a time, those that the query's bounds of that time leave."""
    start, end = 0, len(items)
    for part in _terms(query):
        if part.field == field:
            if part.operator == ">=":
                start = max(start, bisect_left(items, part.value, key=_KEYS[field]))
            elif part.operator == "<":
                end = min(end, bisect_left(items, part.value, key=_KEYS[field]))
    return items[start:end]


def _sorting(order: str) -> list[tuple[str, bool]]:
    found = []
    for part in order.split(",") if order else []:
        key, _, way = part.strip().partition(" ")
        if key not in _KEYS or way.strip() not in {"", "asc", "desc"}:
            raise invalid("orderBy")
        found.append((key, way.strip() == "desc"))
    return found


def _asks_parents(selection: Selection | None) -> bool:
    if selection is None:
        return True
    files = selection.get("files", {})
    return files is None or "parents" in files


def _draw(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8])
