"""The Drive API behind its addresses: which method a call is, who calls, within which quota, and its answer."""

import re
import time
from collections import deque
from typing import NamedTuple
from urllib.parse import unquote

from tests.google.accounts import DRIVE, METADATA, READONLY, Accounts
from tests.google.answers import Answer, Call, json_answer
from tests.google.catalogue import about, drive, drives
from tests.google.changelog import changes, start
from tests.google.content import Content
from tests.google.counting import Counting
from tests.google.faults import Faults, refusal
from tests.google.items import Item
from tests.google.listing import Listing
from tests.google.oauth import OAuth
from tests.google.operations import Operations
from tests.google.refusals import Refused, bad_login, file_not_found, no_login, project_denied, refused
from tests.google.resources import View, shown
from tests.google.selection import select
from tests.google.settings import Settings
from tests.google.world import World

_ROUTES = [
    (verb, re.compile(path + "$"), method)
    for verb, path, method in (
        ("GET", "/drive/v3/files", "files.list"),
        ("GET", "/drive/v3/files/([^/]+)", "files.get"),
        ("GET", "/drive/v3/files/([^/]+)/export", "files.export"),
        ("POST", "/drive/v3/files/([^/]+)/download", "files.download"),
        ("GET", "/drive/v3/changes", "changes.list"),
        ("GET", "/drive/v3/changes/startPageToken", "changes.getStartPageToken"),
        ("GET", "/drive/v3/drives", "drives.list"),
        ("GET", "/drive/v3/drives/([^/]+)", "drives.get"),
        ("GET", "/drive/v3/about", "about.get"),
        ("GET", "/drive/v3/operations/([^/]+)", "operations.get"),
        ("GET", "/download/drive/v3/operations/([^/]+)", "operations.fetch"),
        ("GET", "/content/([^/]+)", "content"),
        ("GET", "/feeds/download/[a-z]+/Export", "export_link"),
        ("POST", "/batch/drive/v3", "batch"),
        ("POST", "/batch", "batch"),
        ("GET", "/o/oauth2/(?:v2/)?auth", "authorise"),
        ("POST", "/token", "token"),
    )
]
OAUTH = frozenset({"authorise", "token"})
_BYTES = frozenset({"files.media", "files.export", "files.download", "operations.fetch", "export_link"})
_READS = frozenset({DRIVE, READONLY})
_LISTS = _READS | {METADATA, DRIVE + ".metadata"}


class Route(NamedTuple):
    """The method that a call is, and the id in its path."""

    method: str
    id: str


class Service:
    """Answers calls; knows nothing of sockets."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.world = world
        self.settings = settings
        self.accounts = Accounts(world)
        self.oauth = OAuth(self.accounts)
        self.faults = Faults()
        self.counting = Counting()
        self.listing = Listing(settings)
        self.content = Content(settings)
        self.operations = Operations(self.content)
        self.base = ""
        self._used: dict[str, deque[float]] = {}

    def route(self, call: Call) -> Route:
        for verb, path, method in _ROUTES:
            match = path.match(call.path)
            if match and verb == call.verb:
                found = unquote(match[1]) if match.groups() else ""
                media = method == "files.get" and call.parameters.text("alt") == "media"
                return Route("files.media" if media else method, found or call.parameters.text("id") or "")
        return Route("other", "")

    def answer(self, route: Route, call: Call, *, part: bool = False) -> Answer:
        """The answer to one call, which is counted; `part` is one of a batch."""
        user = None
        try:
            with self.world.lock:
                if route.method in OAUTH:
                    answer = self._sign_in(route, call)
                elif route.method == "content":
                    answer = self.content.redeem(route.id)
                elif route.method == "other":
                    answer = _unknown(call)
                else:
                    view = self._view(route, call)
                    user = view.email
                    fault = self.faults.next(route.method, route.id, call.parameters, inner=True) if part else None
                    answer = refusal(fault, self.settings.clock_ahead) if fault else self._drive(route, call, view)
        except Refused as error:
            answer = json_answer(error.body(), error.status, error.headers)
        # The address of a content host lets in whoever has it: no business of a log.
        path = "/content" if route.method == "content" else call.path
        self.counting.call(route.method, path, user, answer.status)
        return answer

    def _sign_in(self, route: Route, call: Call) -> Answer:
        return self.oauth.authorise(call) if route.method == "authorise" else self.oauth.token(call)

    def _view(self, route: Route, call: Call) -> View:
        """Who calls, and may they call now.

        Raises:
            Refused: 401 without a good token, 403 for a scope too narrow, 403 or 429 above the quota.
        """
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        if not token:
            raise no_login()
        access = self.accounts.who(token.strip()) if scheme.lower() == "bearer" else None
        if access is None:
            raise bad_login()
        if not access.scopes & (_READS if route.method in _BYTES else _LISTS):
            raise refused("insufficientPermissions")
        projects = self.settings.quota_projects
        if projects is not None and call.headers.get("x-goog-user-project") not in projects:
            raise project_denied()
        self._spend(access.email)
        keys = dict(
            pair.strip().split("/", 1)
            for pair in call.headers.get("x-goog-drive-resource-keys", "").split(",")
            if "/" in pair
        )
        return View(self.world, access.email, keys, self.base)

    def _spend(self, email: str) -> None:
        settings = self.settings
        if settings.quota is None:
            return
        used, now = self._used.setdefault(email, deque()), time.monotonic()
        while used and used[0] <= now - settings.quota_window:
            used.popleft()
        if len(used) >= settings.quota:
            wait = max(1, round(used[0] + settings.quota_window - now + 0.5))
            headers = {"retry-after": str(wait)} if settings.quota_retry_after else {}
            raise refused(settings.quota_reason, settings.quota_status, headers)
        used.append(now)

    def _drive(self, route: Route, call: Call, view: View) -> Answer:
        match route.method:
            case "files.list":
                return json_answer(self.listing.answer(view, call.parameters))
            case "files.get":
                item = self._item(view, route.id, call)
                fields = call.parameters.text("fields") or "kind,id,name,mimeType,resourceKey"
                return json_answer(shown(view, item, select(fields, "File")))
            case "files.media":
                return self.content.media(view, self._item(view, route.id, call), call)
            case "files.export":
                return self.content.export(view, self._item(view, route.id, call, any_drive=True), call)
            case "export_link":
                return self.content.export_link(view, self._item(view, route.id, call, any_drive=True), call)
            case "files.download":
                return self.operations.download(view, self._item(view, route.id, call, any_drive=True), call)
            case "operations.get":
                return self.operations.get(view, route.id)
            case "operations.fetch":
                return self.operations.fetch(view, route.id, call)
            case "changes.getStartPageToken":
                return start(view, call.parameters)
            case "changes.list":
                return changes(view, call.parameters)
            case "drives.list":
                return drives(view, call.parameters)
            case "drives.get":
                return drive(view, route.id, call.parameters)
        return about(view, call.parameters)

    def _item(self, view: View, id_: str, call: Call, *, any_drive: bool = False) -> Item:
        # files.export and files.download have no supportsAllDrives: they reach shared drives as they are.
        item = self.world.items.get(self.world.user(view.email).root if id_ == "root" else id_)
        supports = any_drive or call.parameters.flag("supportsAllDrives", "supportsTeamDrives")
        if item is None or not self.world.can_read(view.email, item, view.keys) or (item.drive and not supports):
            raise file_not_found(id_)
        return item


def _unknown(call: Call) -> Answer:
    if call.path.startswith("/drive/v3/") and call.verb in {"POST", "PATCH", "PUT", "DELETE"}:
        # Nothing may be written with drive.readonly; a reader has no business with these.
        raise refused("insufficientPermissions")
    body = b"<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p><b>404.</b> Not found."
    return Answer(404, body, {"content-type": "text/html; charset=UTF-8"}, len(body))
