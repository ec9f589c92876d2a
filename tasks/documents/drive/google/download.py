"""The content of one file of Google Drive: downloaded or exported, checked, and written to disk.

Files have a length and an md5 that must match. Native documents have neither: they are exported in a format
that can be read here, and their version is requested before and after.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from uuid import uuid4

from googleapiclient.http import HttpRequest

from tasks.documents.drive.drive import Fetched
from tasks.documents.drive.google import DESCRIPTION
from tasks.documents.drive.google.api import FOLDER, SHORTCUT, version_of
from tasks.documents.drive.google.client import SECONDS, Client
from tasks.documents.drive.google.errors import ExportTooLarge, Refused, unsupported
from tasks.documents.extract import formats
from tasks.errors import NotAllowed, NotFound, NotLoggedIn, SourceFailed, TookTooLong, TooLarge, Unavailable
from tasks.remote import deadline

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource


_MEGABYTE = 1024 * 1024
_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")


class DownloadBody:
    """What a file holds of a download (`transport.Sink`)."""

    def __init__(self, file: BinaryIO, max_bytes: int | None, *, resumable: bool, html: bool = True) -> None:
        """Begin with an empty file.

        Args:
            file: open for writing; it is emptied.
            max_bytes: the most that is taken; None for no limit.
            resumable: whether a second request gives the same bytes.
            html: whether the content can be HTML. If not, HTML is one of Google's login pages.
        """
        self._file = file
        self._max_bytes = max_bytes
        self._resumable = resumable
        self._html = html
        self.framed = False
        """Whether the answer told where it ends, so that a body cut off was noticed."""
        self.restart()

    @property
    def position(self) -> int:
        return self._position

    @property
    def md5(self) -> str:
        return self._md5.hexdigest()

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()

    def restart(self) -> None:
        """Forget what has come."""
        with _room():
            self._file.seek(0)
            self._file.truncate()
        self._position = 0
        self._md5 = hashlib.md5(usedforsecurity=False)  # Drive's checksum
        self._sha256 = hashlib.sha256()

    def lacking(self) -> dict[str, str]:
        """The request header for what has not come yet."""
        return {"range": f"bytes={self._position}-"} if self._position and self._resumable else {}

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        if headers.get("content-encoding", "identity") != "identity":
            raise HTTPException("compressed, although the request excludes it")
        if not self._html and headers.get("content-type", "").lower().startswith("text/html"):
            raise SourceFailed("Google sent a page in place of the document's export. Log in again, then try again.")
        if status == 206:
            match = _RANGE.match(headers.get("content-range", ""))
            if match is None or int(match[1]) != self._position:
                self.restart()
                raise HTTPException("another range than the requested one")
        elif self._position:
            self.restart()
        length = headers.get("content-length", "")
        self.framed = length.isdigit() or "transfer-encoding" in headers
        self._check(self._position + int(length) if length.isdigit() else 0)

    def write(self, piece: bytes, /) -> None:
        self._check(self._position + len(piece))
        with _room():
            self._file.write(piece)
        self._position += len(piece)
        self._md5.update(piece)
        self._sha256.update(piece)

    def _check(self, size: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes:
            raise too_large(self._max_bytes)


def too_large(max_bytes: int) -> TooLarge:
    """The error for a document above the limit."""
    return TooLarge(
        f"The document is larger than {max_bytes // _MEGABYTE} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit."
    )


@contextmanager
def _room() -> Iterator[None]:
    """Tells a full disk from a broken connection: both are OSErrors."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The document cannot be written to disk ({error.strerror}). DILIGENCE_HOME must have room for it."
        ) from error


FIELDS = "id,name,mimeType,size,md5Checksum,version,resourceKey,capabilities/canDownload"
"""What `fetch` and `open` want to know of a file."""

_APPS = "application/vnd.google-apps."
_EXPORTS = {native: formats.mime_type(extension) for native, extension in DESCRIPTION.native_exports.items()}
_TIMES = 3  # that a document is fetched when its bytes are not those that Drive tells of
_SLOWEST = 256 * 1024  # bytes a second: what a large file adds to the deadline
_IN_MEMORY = 1024 * 1024  # bytes of a document being shown that need no file
FIRST_POLL, LONGEST_POLL = 0.5, 8.0  # seconds between questions how far a large export is


def fetch(client: Client, file: Mapping[str, Any], spool: Path, max_bytes: int) -> Fetched:
    """Bring a document's content into the folder `spool`.

    Args:
        client: acts for the account that asks.
        file: the file's resource as Drive gives it now, with `FIELDS`.
        spool: the folder for the copy.
        max_bytes: the largest that is taken, whatever Drive says of its size.

    Raises:
        TooLarge: above `max_bytes`, or above what Google exports.
        UnsupportedFormat: a form, map, site or other Google file that has no content to read.
        NotAllowed: the account may not download it.
        NotFound: it is a folder, or gone.
        SourceFailed, TookTooLong, Unavailable, TooManyRequests, NotLoggedIn: as `Client.call`.
    """
    target = spool / uuid4().hex
    try:
        with target.open("xb+") as copy:
            body, version = _bring(client, file, copy, max_bytes)
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Unavailable(
                f"The document cannot be copied into the spool ({error.strerror}). "
                "DILIGENCE_HOME must have room for it."
            ) from error
        raise
    return Fetched(target, body.sha256, version)


def open(client: Client, file: Mapping[str, Any], max_bytes: int | None = None) -> BinaryIO:  # noqa: A001 - the seam's word
    """The content as an open file, gone when it is closed; raises as `fetch`."""
    copy = cast("BinaryIO", SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - it is what we give
    try:
        _bring(client, file, copy, max_bytes)
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return copy


def _bring(client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None) -> tuple[DownloadBody, str]:
    size = int(file.get("size") or 0)
    with deadline.within(SECONDS + min(size, max_bytes or size) / _SLOWEST):
        if file.get("mimeType", "").startswith(_APPS):
            return _exported(client, file, copy, max_bytes)
        return _downloaded(client, file, copy, max_bytes)


def _downloaded(
    client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None
) -> tuple[DownloadBody, str]:
    current = file
    for _ in range(_TIMES):
        _check(current, max_bytes)
        body = DownloadBody(copy, max_bytes, resumable=True)

        def make(drive: "DriveResource", body: DownloadBody = body) -> HttpRequest:
            request = drive.files().get_media(fileId=file["id"], supportsAllDrives=True)
            return _with(request, _key(file) | body.lacking())

        client.download(make, body, deadline.left())
        if _same(body, current):
            return body, version_of(current)
        current = request_file(client, file, FIELDS)  # it was changed meanwhile, or its bytes were on the way
        if _same(body, current):
            return body, version_of(current)
    raise SourceFailed(
        f"The document arrived damaged {_TIMES} times: its bytes are not those that Google Drive tells of. "
        "Try again later, or store it anew."
    )


def _exported(
    client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None
) -> tuple[DownloadBody, str]:
    _check(file, max_bytes)
    before, whole = version_of(file), False
    for _ in range(_TIMES):
        body = DownloadBody(copy, max_bytes, resumable=False, html=False)
        _export(client, file, body)
        after = version_of({**file, **request_file(client, file, "id,version")})
        whole = body.framed or _ends(copy, file)
        if whole and after == before:
            return body, after
        before = after
    if not whole:
        raise SourceFailed("The document's export was cut off each time. Try again.")
    return body, f"{before}-unsettled"  # no document has this version: it is read again next time


def _export(client: Client, file: Mapping[str, Any], body: DownloadBody) -> None:
    """Export a native document: directly, above 10 MB by its export link, else by an operation."""
    mime = _EXPORTS[file["mimeType"]]

    def make(drive: "DriveResource") -> HttpRequest:
        return _with(drive.files().export_media(fileId=file["id"], mimeType=mime), _key(file))

    try:
        client.download(make, body, deadline.left())
    except ExportTooLarge as limit:  # "The exported content is limited to 10 MB": files.export reference
        links = request_file(client, file, "exportLinks").get("exportLinks") or {}
        try:
            _follow(client, file, links.get(mime, ""), body)
        except (NotAllowed, NotFound, NotLoggedIn, SourceFailed):  # it may ask for a browser's login
            try:
                _follow(client, file, _operation(client, file, mime), body)
            except (NotFound, Refused):
                raise limit from None


def _operation(client: Client, file: Mapping[str, Any], mime: str) -> str:
    """Have Google make the export, and wait for its address."""

    def start(drive: "DriveResource") -> HttpRequest:
        return _with(drive.files().download(fileId=file["id"], mimeType=mime), _key(file))

    state, pause = client.call(start), FIRST_POLL
    name = str(state.get("name", "")).removeprefix("operations/")
    while not state.get("done"):
        if not deadline.sleep(pause):
            raise TookTooLong("Google took too long to export the document. Try again later.")
        pause = min(LONGEST_POLL, pause * 2)
        state = client.call(lambda drive: _with(drive.operations().get(name=name), _key(file)))
    if "error" in state:
        raise ExportTooLarge("Google cannot export this document: it is too large. Split it, or store it as a file.")
    return str((state.get("response") or {}).get("downloadUri", ""))


def _follow(client: Client, file: Mapping[str, Any], address: str, body: DownloadBody) -> None:
    """Download from an address that Drive gave."""
    if not address:
        raise NotFound("Google gives no address for this document's export.")

    def make(_: "DriveResource") -> HttpRequest:
        return HttpRequest(None, HttpRequest.null_postproc, address, headers=_key(file))  # type: ignore[arg-type]

    client.download(make, body, deadline.left())


def _check(file: Mapping[str, Any], max_bytes: int | None) -> None:
    """Refuse what has no content for us, before anything is asked for."""
    mime = file.get("mimeType", "")
    if mime == FOLDER:
        raise NotFound("This is the id of a folder, not of a document.")
    if mime == SHORTCUT:
        raise NotFound("This is a shortcut that leads to nothing this account can see.")
    if mime.startswith(_APPS) and mime not in _EXPORTS:
        raise unsupported(f"A Google {mime.removeprefix(_APPS)} has no text to read.")
    if (file.get("capabilities") or {}).get("canDownload") is False:
        raise NotAllowed("The document's owner does not let this account download it. Ask for the right to download.")
    if max_bytes is not None and not mime.startswith(_APPS) and int(file.get("size") or 0) > max_bytes:
        raise too_large(max_bytes)


def _same(body: DownloadBody, file: Mapping[str, Any]) -> bool:
    """Whether the bytes are those that Drive tells of."""
    return file.get("md5Checksum", body.md5) == body.md5 and int(file.get("size", body.position)) == body.position


def _ends(copy: BinaryIO, file: Mapping[str, Any]) -> bool:
    """Whether an export of unknown length has its format's end."""
    if _EXPORTS[file["mimeType"]] != "application/pdf":
        return zipfile.is_zipfile(copy)
    copy.seek(max(0, copy.seek(0, 2) - 1024))
    return b"%%EOF" in copy.read()


def request_file(client: Client, file: Mapping[str, Any], fields: str) -> dict[str, Any]:
    def make(drive: "DriveResource") -> HttpRequest:
        return _with(drive.files().get(fileId=file["id"], fields=fields, supportsAllDrives=True), _key(file))

    return client.call(make)


def _key(file: Mapping[str, Any]) -> dict[str, str]:
    key = file.get("resourceKey")
    return {"x-goog-drive-resource-keys": f"{file['id']}/{key}"} if key else {}


def _with(request: HttpRequest, headers: Mapping[str, str]) -> HttpRequest:
    request.headers = {**(request.headers or {}), **headers}
    return request
