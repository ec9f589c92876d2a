"""`files.download` and `operations.get`: the long way to a file's bytes ("Manage long-running operations")."""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.google.answers import Answer, Call, json_answer
from tests.google.content import Content, allow, convertible
from tests.google.items import Item
from tests.google.natives import DOCUMENT, DOWNLOADS, SPREADSHEET
from tests.google.refusals import Refused, file_not_found, refused
from tests.google.resources import View

_TYPE = "type.googleapis.com/google.apps.drive.v3."


@dataclass
class _Operation:
    """`mime` is None for a file's own bytes; it has to be asked for `polls` times more."""

    name: str
    email: str
    file: str
    mime: str | None
    polls: int


class Operations:
    """Those that have been started; `content` sends the bytes at their end."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self._started: dict[str, _Operation] = {}

    def download(self, view: View, item: Item, call: Call) -> Answer:
        """Starts an operation; it is done at once when `operation_polls` is 0.

        Raises:
            Refused: 403 for what cannot be downloaded, 400 for a type that it has not.
        """
        allow(view, item)
        mime = call.parameters.text("mimeType")
        if item.is_native:
            mime = mime or DOWNLOADS.get(item.mime, "")
            convertible(item, mime, download=True)
        elif item.blob is None:
            raise refused("fileNotDownloadable")
        elif mime and mime != item.mime:
            raise Refused(400, "badRequest", "The requested conversion is not supported.", location="mimeType")
        else:
            mime = None
        name = secrets.token_urlsafe(24)
        self._started[name] = _Operation(name, view.email, item.id, mime, self.content.settings.operation_polls)
        return self._state(view, self._started[name], item, start=True)

    def get(self, view: View, name: str) -> Answer:
        """How far an operation is; only its own user may ask."""
        operation, item = self._mine(view, name)
        return self._state(view, operation, item)

    def fetch(self, view: View, name: str, call: Call) -> Answer:
        """What an operation's address leads to; documents and spreadsheets are sent on once more."""
        operation, item = self._mine(view, name)
        if operation.mime is None:
            return self.content.media(view, item, call)
        if item.mime in {DOCUMENT, SPREADSHEET}:
            return self.content.sent_on(view, item, operation.mime)
        body, mime = self.content.exported(view, item, operation.mime, download=True)
        return Answer(200, body, {"content-type": mime}, len(body))

    def _mine(self, view: View, name: str) -> tuple[_Operation, Item]:
        operation = self._started.get(name)
        if operation is None or operation.email != view.email:
            raise Refused(404, "notFound", f"Operation not found: {name}.", location="name")
        item = view.world.items.get(operation.file)
        if item is None or not view.world.can_read(view.email, item, view.keys):
            raise file_not_found(operation.file)
        return operation, item

    def _state(self, view: View, operation: _Operation, item: Item, *, start: bool = False) -> Answer:
        metadata = {"@type": _TYPE + "DownloadFileMetadata"}
        if item.resource_key:
            metadata["resourceKey"] = item.resource_key
        state: dict[str, Any] = {"name": operation.name, "metadata": metadata}
        if operation.polls > 0:
            if not start:  # a new operation says nothing of `done`, a running one that it is not
                operation.polls -= 1
                state["done"] = False
            return json_answer(state)
        state["done"] = True
        if (code := self.content.settings.operation_error) is not None:
            return json_answer(state | {"error": {"code": code, "message": "The operation failed."}})
        state["response"] = {
            "@type": _TYPE + "DownloadFileResponse",
            "downloadUri": f"{view.base}/download/drive/v3/operations/{operation.name}",
            "partialDownloadAllowed": operation.mime is None,
        }
        return json_answer(state)
