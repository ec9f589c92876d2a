"""`diligence keys`: the API keys that programs call the service with, by name."""

import re
from enum import StrEnum
from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database, logins
from tasks.errors import BadRequest, Conflict, NotFound

_NAME = re.compile(r"[\w.@ -]{1,100}")


class KeyAction(StrEnum):
    """What to do with keys."""

    ADD = "add"
    LIST = "list"
    REVOKE = "revoke"


def manage_keys(
    action: Annotated[KeyAction, typer.Argument(help="add prints the new key, this once; revoke ends it for good.")],
    name: Annotated[str | None, typer.Argument(help="Who uses the key; it stands in the record of calls.")] = None,
    scope: Annotated[
        str, typer.Option(help="What the key is good for, comma-separated: all of it unless given.")
    ] = ",".join(logins.SCOPES),
) -> None:
    """Add, list or revoke the API keys of the service."""
    if action is KeyAction.LIST:
        _list()
        return
    if name is None or _NAME.fullmatch(name) is None:
        raise BadRequest("Give the key a name: letters, digits, spaces and . _ @ -, at most 100.", {"name": "needed"})
    if action is KeyAction.ADD:
        echo(_add(name, _scopes(scope)))
        echo("Keep the key: it is shown this once. Callers send it in the header X-API-Key.", err=True)
        return
    with database.writing() as session:
        if not logins.revoke_key(session, name):
            raise NotFound(f"No key {name!r} is in use. `diligence keys list` shows them.")
    echo(f"Revoked. A running service refuses {name!r} within 5 s.", err=True)


def _scopes(given: str) -> list[str]:
    chosen = list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    unknown = [part for part in chosen if part not in logins.SCOPES]
    if unknown or not chosen:
        allowed, wrong = ", ".join(logins.SCOPES), ", ".join(unknown) or "nothing"
        raise BadRequest(f"--scope: {wrong} is no scope. Allowed: {allowed}.", {"scope": allowed})
    return chosen


def _add(name: str, scopes: list[str]) -> str:
    with database.writing() as session:
        key = logins.add_key(session, name, scopes)
    if key is None:
        raise Conflict(f"There is a key {name!r} already. Revoke it first, or choose another name.")
    return key


def _list() -> None:
    with database.reading() as session:
        for key in logins.all_keys(session):
            state = f"revoked {key.revoked_at:%Y-%m-%d %H:%MZ}" if key.revoked_at else "in use"
            typer.echo(f"{key.name}\t{','.join(key.scopes)}\tadded {key.created_at:%Y-%m-%d %H:%MZ}\t{state}")
