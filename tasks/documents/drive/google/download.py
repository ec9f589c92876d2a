"""The content of one file on Google Drive: downloaded or exported, verified, and written to disk.

Files have a length and an md5 that must match. Native documents have neither: they are exported in a format that can be
read here, and their version is requested before and after.

`version` "reflects every change made to the file on the server, even those not visible to the user" (reference of
files). The documentation does not say whether an export counts as a change. So `modifiedTime` is requested too: if only
the version changes, the export caused it, and that is remembered for the lifetime of the process.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from googleapiclient.http import HttpRequest

from tasks.documents.drive.drive import NO_DOCUMENT, Fetched
from tasks.documents.drive.google import DESCRIPTION
from tasks.documents.drive.google.api import FOLDER, SHORTCUT, read_version
from tasks.documents.drive.google.client import SECONDS, Client
from tasks.documents.drive.google.errors import ExportTooLarge, Refused, make_unsupported_error
from tasks.documents.drive.spool import new_file
from tasks.errors import (
    NotAllowed,
    NotFound,
    NotLoggedIn,
    SourceFailed,
    TookTooLong,
    Unavailable,
    document_too_large,
)
from tasks.reading import formats
from tasks.remote import retry

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource

    Make = Callable[[DriveResource], HttpRequest]


FIELDS = "id,name,mimeType,size,modifiedTime,md5Checksum,version,resourceKey,capabilities/canDownload"
"""The fields of a file that `fetch` and `open` need."""
FIRST_POLL, LONGEST_POLL = 0.5, 8.0  # seconds between questions how far a large export is
_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")
_APPS = "application/vnd.google-apps."
_EXPORTS = {native: formats.mime_type(extension) for native, extension in DESCRIPTION.native_exports.items()}
_ATTEMPTS = 3  # to fetch a document whose bytes do not match Drive's checksum
_MIN_RATE = 256 * 1024  # bytes a second: what a large file adds to the deadline
_MAX_IN_MEMORY = 1024 * 1024  # bytes of a document being shown that need no file


def fetch(client: Client, file: Mapping[str, Any], spool: Path, max_bytes: int) -> Fetched:
    """Bring a document's content to the folder `spool`.

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
    with new_file(spool) as (target, copy):
        body, version = _copy_content(client, file, copy, max_bytes)
    return Fetched(target, body.sha256, version)


def open(client: Client, file: Mapping[str, Any], max_bytes: int | None = None) -> BinaryIO:  # noqa: A001 - the seam's word
    """The content as an open file that is deleted when closed; raises as `fetch`."""
    copy = cast("BinaryIO", SpooledTemporaryFile(_MAX_IN_MEMORY))  # noqa: SIM115 - it is what we give
    try:
        _copy_content(client, file, copy, max_bytes)
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return copy


class DownloadBody:
    """A download being written to a file (`transport.Sink`)."""

    def __init__(self, file: BinaryIO, max_bytes: int | None, *, resumable: bool, html: bool = True) -> None:
        """Start with an empty file.

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
        """Whether the answer had a length or chunks, so that a body cut off was noticed."""
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
        """Start again with an empty file."""
        with _disk_errors():
            self._file.seek(0)
            self._file.truncate()
        self._position = 0
        self._md5 = hashlib.md5(usedforsecurity=False)  # Drive's checksum
        self._sha256 = hashlib.sha256()

    def lacking(self) -> dict[str, str]:
        """The request header that asks for the missing bytes."""
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
        with _disk_errors():
            self._file.write(piece)
        self._position += len(piece)
        self._md5.update(piece)
        self._sha256.update(piece)

    def _check(self, size: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes:
            raise document_too_large(self._max_bytes)


def request_file(client: Client, file: Mapping[str, Any], fields: str) -> dict[str, Any]:
    """The current values of these fields of the file; raises as `Client.call`."""
    return client.call(
        _request(file, lambda drive: drive.files().get(fileId=file["id"], fields=fields, supportsAllDrives=True))
    )


def _copy_content(
    client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None
) -> tuple[DownloadBody, str]:
    size = int(file.get("size") or 0)
    with retry.within(SECONDS + min(size, max_bytes or size) / _MIN_RATE):
        if file.get("mimeType", "").startswith(_APPS):
            return _export_native(client, file, copy, max_bytes)
        return _download(client, file, copy, max_bytes)


def _download(
    client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None
) -> tuple[DownloadBody, str]:
    current = file
    for _ in range(_ATTEMPTS):
        _check(current, max_bytes)
        body = DownloadBody(copy, max_bytes, resumable=True)
        media = _request(
            file, lambda drive: drive.files().get_media(fileId=file["id"], supportsAllDrives=True), body.lacking
        )
        client.download(media, body)
        if _is_intact(body, current):
            return body, read_version(current)
        current = request_file(client, file, FIELDS)  # it was changed meanwhile, or its bytes were on the way
        if _is_intact(body, current):
            return body, read_version(current)
    raise SourceFailed(
        f"The document arrived damaged {_ATTEMPTS} times: its bytes do not match Google Drive's checksum. Try again "
        "later, or upload it again."
    )


def _export_native(
    client: Client, file: Mapping[str, Any], copy: BinaryIO, max_bytes: int | None
) -> tuple[DownloadBody, str]:
    _check(file, max_bytes)
    before, is_complete, silent_moves = file, False, 0
    for _ in range(_ATTEMPTS):
        body = DownloadBody(copy, max_bytes, resumable=False, html=False)
        _export(client, file, body)
        after = {**file, **request_file(client, file, "id,version,modifiedTime")}
        is_complete = body.framed or _has_end(copy, file)
        moved = read_version(after) != read_version(before)
        silently = (
            moved and before.get("modifiedTime") is not None and before["modifiedTime"] == after.get("modifiedTime")
        )
        silent_moves += silently
        if is_complete and (not moved or (silently and _export_moves_version(file["mimeType"], silent_moves))):
            if not moved:
                _moving_exports.setdefault(file["mimeType"], False)
            return body, read_version(after)
        before = after
    if not is_complete:
        raise SourceFailed("The document's export was cut off each time. Try again.")
    return body, f"{read_version(before)}-unsettled"  # no document has this version: it is read again next time


_moving_exports: dict[str, bool] = {}
"""Whether exporting a kind of document (by MIME type) moves its version, as far as this process has seen."""


def _export_moves_version(mime_type: str, silent_moves: int) -> bool:
    """Whether the export itself caused a version to move without an edit; not if others of the kind kept theirs.

    A second move in a row shows that it does now.
    """
    if _moving_exports.get(mime_type) is False and silent_moves < _ATTEMPTS - 1:
        return False
    _moving_exports[mime_type] = True
    return True


def _export(client: Client, file: Mapping[str, Any], body: DownloadBody) -> None:
    """Export a native document: directly, above 10 MB through its export link, otherwise by an operation."""
    mime = _EXPORTS[file["mimeType"]]
    media = _request(file, lambda drive: drive.files().export_media(fileId=file["id"], mimeType=mime))
    try:
        client.download(media, body)
    except ExportTooLarge as too_large_error:  # "The exported content is limited to 10 MB": files.export reference
        links = request_file(client, file, "exportLinks").get("exportLinks") or {}
        try:
            _download_from(client, file, links.get(mime, ""), body)
        except (NotAllowed, NotFound, NotLoggedIn, SourceFailed):  # it may ask for a browser's login
            try:
                _download_from(client, file, _export_by_operation(client, file, mime), body)
            except (NotFound, Refused):
                raise too_large_error from None


def _export_by_operation(client: Client, file: Mapping[str, Any], mime: str) -> str:
    """Have Google prepare the export, and wait for its address."""
    start = _request(file, lambda drive: drive.files().download(fileId=file["id"], mimeType=mime))
    state, pause = client.call(start), FIRST_POLL
    name = str(state.get("name", "")).removeprefix("operations/")
    while not state.get("done"):
        if not retry.sleep(pause):
            raise TookTooLong("Google took too long to export the document. Try again later.")
        pause = min(LONGEST_POLL, pause * 2)
        state = client.call(_request(file, lambda drive: drive.operations().get(name=name)))
    if "error" in state:
        raise ExportTooLarge("Google cannot export this document: it is too large. Split it, or store it as a file.")
    return str((state.get("response") or {}).get("downloadUri", ""))


def _download_from(client: Client, file: Mapping[str, Any], address: str, body: DownloadBody) -> None:
    """Download from an address that Drive returned."""
    if not address:
        raise NotFound("Google gives no address for this document's export.")
    media = _request(file, lambda _: HttpRequest(None, HttpRequest.null_postproc, address))  # type: ignore[arg-type]
    client.download(media, body)


def _check(file: Mapping[str, Any], max_bytes: int | None) -> None:
    """Refuse files that have no content to read, before anything is requested."""
    mime = file.get("mimeType", "")
    if mime == FOLDER:
        raise NotFound(NO_DOCUMENT)
    if mime == SHORTCUT:
        raise NotFound("This is a shortcut that leads to nothing this account can see.")
    if mime.startswith(_APPS) and mime not in _EXPORTS:
        raise make_unsupported_error(f"A Google {mime.removeprefix(_APPS)} has no text to read.")
    if (file.get("capabilities") or {}).get("canDownload") is False:
        raise NotAllowed("The document's owner does not let this account download it. Ask for the right to download.")
    if max_bytes is not None and not mime.startswith(_APPS) and int(file.get("size") or 0) > max_bytes:
        raise document_too_large(max_bytes)


def _is_intact(body: DownloadBody, file: Mapping[str, Any]) -> bool:
    """Whether the bytes have the size and checksum that Drive reports."""
    return file.get("md5Checksum", body.md5) == body.md5 and int(file.get("size", body.position)) == body.position


def _has_end(copy: BinaryIO, file: Mapping[str, Any]) -> bool:
    """Whether an export of unknown length ends as its format requires."""
    if _EXPORTS[file["mimeType"]] != "application/pdf":
        return zipfile.is_zipfile(copy)
    copy.seek(max(0, copy.seek(0, 2) - 1024))
    return b"%%EOF" in copy.read()


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Report a full disk as such and not as a broken connection: both raise OSError."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The document cannot be written to disk ({error.strerror}). DILIGENCE_HOME must have room for it."
        ) from error


def _request(
    file: Mapping[str, Any], build: "Make", more_headers: Callable[[], Mapping[str, str]] = dict[str, str]
) -> "Make":
    """A request about a file, with its resource key and further headers, which are asked for at each try."""

    def make(drive: "DriveResource") -> HttpRequest:
        request, key = build(drive), file.get("resourceKey")
        keys = {"x-goog-drive-resource-keys": f"{file['id']}/{key}"} if key else {}
        request.headers = {**(request.headers or {}), **keys, **more_headers()}
        return request

    return make
