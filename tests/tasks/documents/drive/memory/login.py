"""Logging in to the memory drive in the browser (a `LoginFlow`)."""

import json
from collections.abc import Mapping
from secrets import token_urlsafe
from urllib.parse import parse_qs, urlencode, urlsplit

from storage import database, logins
from storage.logins import StoredLogin, Whose
from tasks.documents.drive.drive import LoginResult, LoginStart
from tasks.errors import BadRequest, NotAllowed
from tests.tasks.documents.drive.memory import MemoryDriveSettings
from tests.tasks.documents.drive.memory.store import STORES, Store


def begin(redirect_uri: str, then: str = "") -> LoginStart:
    state = token_urlsafe(16)
    url = "https://memory.example/login?" + urlencode({"state": state, "redirect_uri": redirect_uri})
    return LoginStart(url, logins.seal(json.dumps({"state": state, "then": then}), "memory login"))


def finish(note: str | None, answer: Mapping[str, str], whose: Whose) -> LoginResult:
    try:
        begun = json.loads(logins.unseal(note or "", "memory login"))
    except logins.NotSealedHere:
        raise BadRequest("This login was begun in another browser.") from None
    if answer.get("state") != begun["state"]:
        raise BadRequest("This answer belongs to another login.")
    with database.writing() as session:
        if not logins.spend_state(session, begun["state"]):
            raise BadRequest("This login is over already.")
    store = STORES[MemoryDriveSettings.current().memory_store]
    user = store.codes.pop(answer.get("code", ""), None)
    if user is None:
        raise NotAllowed("Access was denied.")
    login = StoredLogin(
        whose=whose,
        account=user,
        account_id=user,
        client_id="memory",
        refresh_token=logins.seal(user, "memory token"),
    )
    return LoginResult(login, begun["then"])


def agree(store: Store, url: str, user: str) -> dict[str, str]:
    """What the drive's login page sends back when the user agrees, with `to`: where."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    code = token_urlsafe(16)
    store.codes[code] = user
    return {"to": query["redirect_uri"], "state": query["state"], "code": code}
