"""The bytes of files: `files.get` with `alt=media`, `files.export`, export links."""

import gzip
import re
import secrets

from tests.google.answers import Answer, Call
from tests.google.blobs import Bytes, pieces
from tests.google.exports import exported
from tests.google.items import Item
from tests.google.natives import DOWNLOADS, EXPORTS, EXTENSIONS
from tests.google.refusals import Refused, file_not_found, refused, required
from tests.google.resources import View, can_download
from tests.google.settings import Settings

_RANGE = re.compile(r"bytes=(\d*)-(\d*)$")
_TEXTUAL = ("text/", "application/json", "application/xml")


class Content:
    """Sends bodies; remembers the addresses that it has sent on to."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._tickets: dict[str, tuple[View | None, str, str]] = {}

    def media(self, view: View, item: Item, call: Call) -> Answer:
        """A file's bytes, or the range asked for.

        Raises:
            Refused: 403 for what cannot be downloaded, 416 for a range beyond the end.
        """
        allow(view, item)
        if item.blob is None:
            raise refused("fileNotDownloadable")
        if item.abusive and not (
            call.parameters.flag("acknowledgeAbuse") and view.world.role(view.email, item) in {"owner", "organizer"}
        ):
            raise refused("cannotDownloadAbusiveFile")
        size = item.blob.size
        headers = {"content-type": item.mime, "accept-ranges": "bytes"}
        asked = _RANGE.match(call.headers.get("range", ""))
        if not asked or not (asked[1] or asked[2]):
            if _takes_gzip(call) and item.mime.startswith(_TEXTUAL) and size:
                packed = gzip.compress(item.blob.read(0, size), mtime=0)
                return Answer(
                    200, packed, headers | {"content-encoding": "gzip", "vary": "Accept-Encoding"}, len(packed)
                )
            return Answer(200, pieces(item.blob, 0, size), headers, size)
        start = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
        stop = min(size, int(asked[2]) + 1) if asked[1] and asked[2] else size
        if start >= size or stop <= start:
            raise Refused(
                416, "requestedRangeNotSatisfiable", "Request range not satisfiable", location="Range",
                location_type="header", headers={"content-range": f"bytes */{size}"},
            )  # fmt: skip
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
        return Answer(206, pieces(item.blob, start, stop), headers, stop - start)

    def export(self, view: View, item: Item, call: Call) -> Answer:
        """A native document in another format, up to the limit; its length is not told, ranges do not count."""
        body, mime = self.exported(view, item, call.parameters.text("mimeType"))
        if len(body) > self.settings.export_limit:
            raise refused("exportSizeLimitExceeded")
        return Answer(200, iter([body]), {"content-type": mime})

    def export_link(self, view: View, item: Item, call: Call) -> Answer:
        """Sends on to the same bytes, without the limit."""
        wanted = call.parameters.text("exportFormat")
        mime = next((mime for mime in EXPORTS.get(item.mime, ()) if EXTENSIONS[mime] == wanted), "")
        self.exported(view, item, mime)
        return self.sent_on(view, item, mime)

    def sent_on(self, view: View, item: Item, mime: str) -> Answer:
        """A redirection to an address that is good once, for whoever has it, as Google's content hosts are."""
        ticket = secrets.token_urlsafe(32)
        self._tickets[ticket] = (view, item.id, mime)
        return Answer(302, b"", {"location": f"{view.base}/content/{ticket}"}, 0)

    def redeem(self, ticket: str) -> Answer:
        """What such an address leads to; no login is asked for."""
        view, file_id, mime = self._tickets.pop(ticket, (None, "", ""))
        item = view.world.items.get(file_id) if view else None
        if view is None or item is None:
            raise file_not_found("")
        body, _ = self.exported(view, item, mime)
        name = {"content-disposition": f'attachment; filename="export.{EXTENSIONS.get(mime, "bin")}"'}
        return Answer(200, pieces(Bytes(body), 0, len(body)), {"content-type": mime, **name}, len(body))

    def exported(self, view: View, item: Item, mime: str | None, *, download: bool = False) -> tuple[bytes, str]:
        """The bytes of an export and their type; `files.download` knows a few types more.

        Raises:
            Refused: 403 for what may not or cannot be exported, 400 for a type that it has not.
        """
        allow(view, item)
        if not item.is_native:
            raise refused("fileNotExportable")
        if mime is None:
            raise required("mimeType")
        convertible(item, mime, download=download)
        if self.settings.export_moves_version:
            item.version += 1
            view.world.epoch += 1
        return exported(item, mime), mime


def allow(view: View, item: Item) -> None:
    if item.refusal:
        raise refused(item.refusal)
    if (item.blob is not None or item.is_native) and not can_download(view, item):
        raise refused("cannotDownloadFile")


def convertible(item: Item, mime: str, *, download: bool) -> None:
    if mime not in EXPORTS.get(item.mime, ()) and not (download and mime == DOWNLOADS.get(item.mime)):
        raise Refused(400, "badRequest", "The requested conversion is not supported.", location="convertTo")


def _takes_gzip(call: Call) -> bool:
    # Google compresses only for clients that name gzip in both headers.
    return "gzip" in call.headers.get("accept-encoding", "") and "gzip" in call.headers.get("user-agent", "")
