"""Tries Google Drive out on a folder, and shows its answers as counts, times and shapes (a `SessionCheck`).

An emulator only knows what its authors have read. This shows how a real account answers the same calls, as a text that
users can send. It contains no name, id, address or token: anything but a number is a word of ours, a word from Google's
errors, a field's name or the shape of a time.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from itertools import islice
from platform import python_version
from typing import Any

from tasks.documents.drive.drive import CheckResult, Document, Folder, Listing
from tasks.documents.drive.google import DESCRIPTION, GoogleDriveSettings, api, download
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.credentials import find_credentials, run_identity
from tasks.documents.drive.google.drive import GoogleDrive
from tasks.errors import DiligenceError, NotLoggedIn
from tasks.files import temporary_folder

_SAMPLE = 100  # documents whose rights are looked up: one batch
_LARGEST = 20 * 1024 * 1024  # bytes of a document that is fetched
_TIMES = ("createdTime", "modifiedTime")


def check_folder(reference: str) -> Iterator[CheckResult]:
    """What Drive answers the account of runs about a folder; each line is made when it is requested.

    Raises:
        NotConfigured, NotLoggedIn: there is no account, or its login is over.
    """
    libraries = ("google-api-python-client", "google-auth", "httpcore")
    yield CheckResult("software", ", ".join([f"Python {python_version()}", *(f"{n} {version(n)}" for n in libraries)]))
    credentials, settings = find_credentials(run_identity()), GoogleDriveSettings.current()
    client = Client(credentials, settings)
    yield from _Session(client, GoogleDrive(credentials, settings, client)).results(reference)


class _Session:
    """One account's view of one folder."""

    def __init__(self, client: Client, drive: GoogleDrive) -> None:
        self._client = client
        self._drive = drive
        self._folder_id = ""
        self._folder: dict[str, Any] = {}
        self._listing = Listing(Folder("", "", ""))

    def results(self, reference: str) -> Iterator[CheckResult]:
        yield self._try("folder", lambda: self._find(reference))
        if not self._folder:
            return
        steps: dict[str, Callable[[], str]] = {
            "list": self._list,
            "list again": self._list_again,
            "changes": self._changes,
            "a page": self._page,
            "rights": self._rights,
            "download": self._download,
            **{f"export {kind.rpartition('.')[2]}": partial(self._export, kind) for kind in DESCRIPTION.native_exports},
        }
        for subject, step in steps.items():
            yield self._try(subject, step)

    def _try(self, subject: str, step: Callable[[], str]) -> CheckResult:
        began, before = time.perf_counter(), self._client.requests
        try:
            state, failed = step(), False
        except NotLoggedIn:
            raise
        except DiligenceError as error:  # its sentence may name the folder
            state, failed = f"fails: {_class_and_reason(error)}", True
        requests, seconds = self._client.requests - before, time.perf_counter() - began
        return CheckResult(subject, f"{state} ({requests} requests, {seconds:.2f} s)", failed)

    def _find(self, reference: str) -> str:
        self._folder_id = self._drive.find_folder(reference)
        self._folder = self._client.call(api.one(self._folder_id))
        if self._folder.get("driveId"):
            root = self._folder["driveId"] == self._folder_id
            return "a shared drive's root" if root else "in a shared drive"
        return "the account's own" if self._folder.get("ownedByMe") else "somebody else's"

    def _list(self) -> str:
        self._listing = listing = self._drive.list_folder(self._folder_id, recursive=True)
        depth = max((folder.path.count("/") + 1 for folder in listing.folders), default=0)
        native = sum(document.mime_type in DESCRIPTION.native_exports for document in listing.documents)
        log = {"": "may lack something", "own": "the account's"}.get((listing.mark or "?").partition(":")[0], "its own")
        return (
            f"{len(listing.folders)} folders, {depth} deep, {len(listing.documents)} documents, {native} native, "
            f"{len(listing.warnings)} warnings, {'incomplete' if listing.incomplete else 'complete'}, "
            f"log of changes: {log if listing.mark else 'none'}"
        )

    def _list_again(self) -> str:
        again = self._drive.list_folder(self._folder_id, recursive=True)
        old, new = ({document.id: document for document in each.documents} for each in (self._listing, again))
        other = sum(new[document_id].version != old[document_id].version for document_id in old.keys() & new.keys())
        return (
            f"{len(again.folders)} folders, {len(new)} documents, {len(new.keys() - old.keys())} more and "
            f"{len(old.keys() - new.keys())} fewer than before, {other} of another version"
        )

    def _changes(self) -> str:
        if self._listing.mark is None:
            return "no log to read"
        changes = self._drive.changes_since(self._folder_id, self._listing.mark)
        if changes is None:
            return "the log does not say"
        return f"{len(changes.ids)} ids since the listing, {'complete' if changes.complete else 'may lack something'}"

    def _page(self) -> str:
        page = self._client.call(api.page(api.query_folders([self._folder_id]), fields=api.TOGETHER))
        files = page.get("files", [])
        fields = Counter(name for file in files for name in file)
        counts = ", ".join(f"{name} {count}" for name, count in sorted(fields.items()))
        shapes = {_shape(file[name]) for file in files for name in _TIMES if name in file}
        return (
            f"{len(files)} rows{', more to come' if page.get('nextPageToken') else ''}, "
            f"incompleteSearch {page.get('incompleteSearch', 'absent')}, fields: {counts}; "
            f"times like {', '.join(sorted(shapes)) or 'none'}"
        )

    def _rights(self) -> str:
        sample = list(islice(self._listing.documents, _SAMPLE))
        answers = self._client.batch([api.one(document.id) for document in sample])
        files = [answer for answer in answers if not isinstance(answer, DiligenceError)]
        failures = Counter(_class_and_reason(answer) for answer in answers if isinstance(answer, DiligenceError))
        may = sum((file.get("capabilities") or {}).get("canDownload") is True for file in files)
        own = sum(file.get("ownedByMe") is True for file in files)
        refused = "".join(f", {count} {what}" for what, count in failures.items())
        return f"of {len(sample)} documents {may} may be downloaded, {own} are the account's own{refused}"

    def _download(self) -> str:
        files = [each for each in self._listing.documents if each.size and each.size <= _LARGEST]
        if not files:
            return "no document to download"
        return self._fetch(max(files, key=lambda document: document.size or 0))[0]

    def _export(self, kind: str) -> str:
        document = next((each for each in self._listing.documents if each.mime_type == kind), None)
        if document is None:
            return "none there"
        said, before, after = self._fetch(document)
        time.sleep(1)  # what an export does to its document may take a moment
        later = self._describe(document)
        moves = [int(each.get("version") or 0) - int(before.get("version") or 0) for each in (after, later)]
        edited = after.get("modifiedTime") != before.get("modifiedTime")
        return (
            f"{said}, version +{moves[0]}, +{moves[1]} a second later, modifiedTime {'moved' if edited else 'the same'}"
        )

    def _fetch(self, document: Document) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
        before = self._describe(document)
        with (
            temporary_folder() as folder,
            self._drive.fetch(document.id, folder, _LARGEST) as fetched,
        ):
            said = f"{fetched.path.stat().st_size} bytes, {'unsettled' if 'unsettled' in fetched.version else 'whole'}"
        return said, before, self._describe(document)

    def _describe(self, document: Document) -> Mapping[str, Any]:
        return download.request_file(self._client, {"id": document.id}, download.FIELDS)


def _class_and_reason(error: DiligenceError) -> str:
    """The class of the error, with Google's reason if it is known."""
    reason = str(getattr(error, "reason", ""))
    return type(error).__name__ + (f" {reason}" if reason.isalpha() else "")


def _shape(written: Any) -> str:
    """The format of a time, without its digits: 9999-99-99T99:99:99.999Z."""
    return re.sub(r"[^TZ:.+-]", "9", str(written))[:40]
