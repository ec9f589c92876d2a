"""Downloads and exports, whole and checked, from the emulator and from servers that send something else."""

import hashlib
import io
import json
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import docx
import pytest
from google.oauth2.credentials import Credentials

from tasks.documents.drive.google import download
from tasks.documents.drive.google.client import Client
from tasks.errors import (
    DiligenceError,
    NotAllowed,
    NotFound,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
    UnsupportedFormat,
)
from tasks.remote import retry
from tests.google.blobs import Repeated
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.natives import DOCUMENT, DOCX, DRAWING, FORM, MAP, PDF, PRESENTATION, SITE, SPREADSHEET
from tests.google.server import DriveEmulator
from tests.matrices import quick_cases
from tests.tasks.documents.drive.google.connection import ADA, Scripted, client_of, client_with, reply

WORDS = b"".join(b"%06d words of a contract\n" % number for number in range(20_000))  # 500 KB, no two lines alike
LIMIT = 100 * 1024 * 1024


@pytest.fixture(autouse=True)
def short_polls(brief: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "FIRST_POLL", 0.01)


@pytest.fixture
def client(emulator: DriveEmulator) -> Iterator[Client]:
    with client_of(emulator, seconds=30) as found:
        yield found


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


def described(client: Client, item: Item) -> dict[str, Any]:
    """The file's resource as Drive gives it now."""
    return client.call(lambda drive: drive.files().get(fileId=item.id, fields=download.FIELDS, supportsAllDrives=True))


def put(emulator: DriveEmulator, body: Any = WORDS, name: str = "a.txt") -> Item:
    return emulator.world.file(name, emulator.world.root(ADA), body)


def native(emulator: DriveEmulator, mime: str = DOCUMENT, **options: Any) -> Item:
    return emulator.world.native("Plan", emulator.world.root(ADA), mime, **options)


def test_file_is_brought_whole_with_its_hash_and_version(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    found = download.fetch(client, described(client, put(emulator)), spool, LIMIT)
    assert found.path.parent == spool
    assert found.path.read_bytes() == WORDS
    assert found.content_hash == hashlib.sha256(WORDS).hexdigest()
    assert found.version == hashlib.md5(WORDS).hexdigest()


def test_file_of_no_bytes_is_a_file(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    found = download.fetch(client, described(client, put(emulator, b"")), spool, LIMIT)
    assert found.path.read_bytes() == b""
    assert found.content_hash == hashlib.sha256(b"").hexdigest()


def test_large_file_goes_through_little_memory(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    item = put(emulator, Repeated(40 * 1024 * 1024))
    file = described(client, item)
    tracemalloc.start()
    try:
        found = download.fetch(client, file, spool, LIMIT)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.path.stat().st_size == 40 * 1024 * 1024
    assert most < 15 * 1024 * 1024  # the emulator's share, in this process too, is most of it


@pytest.mark.parametrize("do", ["reset_body", "truncate"])
def test_body_that_breaks_off_goes_on_where_it_stopped(
    emulator: DriveEmulator, client: Client, spool: Path, do: Any
) -> None:
    file = described(client, put(emulator))
    emulator.faults.set(Fault(on="files.media", do=do, times=6))
    assert download.fetch(client, file, spool, LIMIT).path.read_bytes() == WORDS
    assert emulator.counts.by_method["files.media"] == 7
    assert emulator.counts.by_status[206] == 6
    # Each time the half of what was left; a reset costs what had arrived and was not read yet.
    assert emulator.counts.sent < {"truncate": 1.02, "reset_body": 2}[do] * len(WORDS)


MATRIX = [
    Fault(every=5, reason="userRateLimitExceeded"),
    Fault(every=5, reason="rateLimitExceeded", status=429, retry_after=0.1),
    Fault(every=5, reason="serviceUnavailable"),
    Fault(every=5, do="reset"),
    Fault(every=5, do="reset_body"),
    Fault(every=5, do="truncate"),
    Fault(every=5, do="drip", seconds=8),
    Fault(every=5, do="delay", seconds=2),
    Fault(every=5, on="files.media", do="corrupt"),
]


@pytest.mark.parametrize(
    "fault",
    quick_cases(MATRIX, quick=(2, 3, 6, 8)),
    ids=lambda fault: f"{fault.do}-{fault.status or fault.reason}",
)
def test_fault_at_every_fifth_call_changes_no_byte(
    emulator: DriveEmulator, client: Client, spool: Path, fault: Fault
) -> None:
    items = [put(emulator, b"%d " % number * 1000, f"{number}.txt") for number in range(8)]
    items += [native(emulator, text=f"said {number}") for number in range(4)]
    emulator.faults.set(fault)
    for number, item in enumerate(items):
        found = download.fetch(client, described(client, item), spool, LIMIT)
        if number < 8:
            assert found.path.read_bytes() == b"%d " % number * 1000
        else:
            assert docx.Document(str(found.path)).paragraphs[0].text == f"said {number - 8}"
    assert emulator.counts.faults


def test_corrupted_bytes_are_fetched_again_and_then_given_up(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    file = described(client, put(emulator))
    emulator.faults.set(Fault(on="files.media", do="corrupt", times=2))
    assert download.fetch(client, file, spool, LIMIT).path.read_bytes() == WORDS
    emulator.faults.set(Fault(on="files.media", do="corrupt"))
    with pytest.raises(SourceFailed, match="damaged 3 times"):
        download.fetch(client, file, spool, LIMIT)
    assert len(list(spool.iterdir())) == 1


def test_file_changed_since_it_was_described_has_its_new_version(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    item = put(emulator)
    file = described(client, item)
    emulator.world.write(item, b"another text")
    found = download.fetch(client, file, spool, LIMIT)
    assert found.path.read_bytes() == b"another text"
    assert found.version == hashlib.md5(b"another text").hexdigest()


def test_file_changed_between_two_parts_of_it_is_fetched_anew(
    emulator: DriveEmulator, client: Client, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, other = put(emulator), WORDS.replace(b"contract", b"covenant")
    file = described(client, item)
    emulator.faults.set(Fault(on="files.media", do="truncate", at=[1]))

    def sleep(_: float) -> bool:
        emulator.world.write(item, other)
        return True

    monkeypatch.setattr(retry, "sleep", sleep)
    found = download.fetch(client, file, spool, LIMIT)
    assert found.path.read_bytes() == other
    assert found.version == hashlib.md5(other).hexdigest()


def test_file_above_the_limit_is_refused_before_it_is_asked_for(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    file = described(client, put(emulator))
    emulator.reset()
    with pytest.raises(TooLarge, match="DILIGENCE_DOCUMENT_MAX_MB"):
        download.fetch(client, file, spool, 1000)
    assert emulator.counts.requests == 0
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("size", [None, "10"])
def test_size_that_is_absent_or_lies_does_not_lift_the_limit(
    emulator: DriveEmulator, client: Client, spool: Path, size: str | None
) -> None:
    file = described(client, put(emulator)) | {"size": size}
    with pytest.raises(TooLarge):
        download.fetch(client, {name: value for name, value in file.items() if value}, spool, 1000)
    assert list(spool.iterdir()) == []


def test_export_above_the_limit_is_refused(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    file = described(client, native(emulator, exports={DOCX: WORDS}))
    with pytest.raises(TooLarge, match="DILIGENCE_DOCUMENT_MAX_MB"):
        download.fetch(client, file, spool, 1000)


@pytest.mark.parametrize(
    ("mime", "begins"),
    [(DOCUMENT, b"PK"), (SPREADSHEET, b"PK"), (PRESENTATION, b"PK"), (DRAWING, b"%PDF")],
    ids=["document", "spreadsheet", "presentation", "drawing"],
)
def test_native_document_is_exported(
    emulator: DriveEmulator, client: Client, spool: Path, mime: str, begins: bytes
) -> None:
    file = described(client, native(emulator, mime, text="the plan"))
    found = download.fetch(client, file, spool, LIMIT)
    assert found.path.read_bytes().startswith(begins)
    assert found.version == f"v{file['version']}"


def test_native_document_edited_during_its_export_is_exported_again(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    item = native(emulator, text="before")
    file = described(client, item)
    emulator.world.write(item, "after")
    found = download.fetch(client, file, spool, LIMIT)
    assert docx.Document(str(found.path)).paragraphs[0].text == "after"
    assert found.version == f"v{described(client, item)['version']}"
    assert found.version != f"v{file['version']}"


def test_native_document_that_is_edited_all_the_time_keeps_no_version(
    emulator: DriveEmulator, client: Client, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = native(emulator, text="0")
    file = described(client, item)
    ask = download.request_file

    def edited(*args: Any) -> dict[str, Any]:
        emulator.world.write(item, "more")
        return ask(*args)

    monkeypatch.setattr(download, "request_file", edited)
    found = download.fetch(client, file, spool, LIMIT)
    assert found.version.endswith("-unsettled")


def test_native_documents_whose_export_moves_their_version_are_exported_once(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    emulator.settings.export_moves_version = True
    items = [native(emulator, text=f"plan {number}") for number in range(4)]
    exports = []
    for item in items:
        emulator.service.counting.reset()
        found = download.fetch(client, described(client, item), spool, LIMIT)
        assert found.version == f"v{described(client, item)['version']}"
        exports.append(emulator.counts.by_method["files.export"])
    assert exports[0] <= 2  # the first may have to find it out
    assert exports[1:] == [1, 1, 1]


def large(emulator: DriveEmulator) -> tuple[Item, bytes]:
    body = docx_of(11 * 1024 * 1024)
    return native(emulator, exports={DOCX: body}), body


def docx_of(size: int) -> bytes:
    buffer = io.BytesIO()
    docx.Document().save(buffer)
    return b"PK" + b"0" * size + buffer.getvalue()


def test_export_above_ten_megabytes_comes_by_its_link(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    item, body = large(emulator)
    assert download.fetch(client, described(client, item), spool, LIMIT).path.read_bytes() == body
    assert emulator.counts.by_method["export_link"] == 1
    assert "files.download" not in emulator.counts.by_method


@pytest.mark.parametrize("reason", ["notFound", "cannotDownloadFile", "backendError", "badRequest", "authError"])
def test_export_above_ten_megabytes_comes_by_an_operation_where_the_link_fails(
    emulator: DriveEmulator, client: Client, spool: Path, reason: str
) -> None:
    item, body = large(emulator)
    emulator.settings.operation_polls = 3
    emulator.faults.set(Fault(on="export_link", reason=reason, status=401 if reason == "authError" else None))
    if reason == "backendError":
        with pytest.raises(Unavailable):
            download.fetch(client, described(client, item), spool, LIMIT)
        return
    assert download.fetch(client, described(client, item), spool, LIMIT).path.read_bytes() == body
    assert emulator.counts.by_method["operations.get"] == 4


def test_export_that_google_makes_in_no_way_is_too_large(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    item, _ = large(emulator)
    emulator.faults.set(
        Fault(on="export_link", reason="notFound", status=404), Fault(on="files.download", reason="invalid", status=400)
    )
    with pytest.raises(TooLarge, match="Split it"):
        download.fetch(client, described(client, item), spool, LIMIT)


@pytest.mark.parametrize("mime", [FORM, MAP, SITE], ids=["form", "map", "site"])
def test_form_map_and_site_are_unsupported_and_nothing_is_asked(
    emulator: DriveEmulator, client: Client, spool: Path, mime: str
) -> None:
    file = described(client, native(emulator, mime))
    emulator.reset()
    with pytest.raises(UnsupportedFormat, match=r"\.docx, .*\.pdf"):
        download.fetch(client, file, spool, LIMIT)
    assert emulator.counts.requests == 0


def test_folder_is_no_document(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    folder = emulator.world.folder("Room", emulator.world.root(ADA))
    with pytest.raises(NotFound, match="folder"):
        download.fetch(client, described(client, folder), spool, LIMIT)


def test_shortcut_to_nothing_is_no_document(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    root = emulator.world.root(ADA)
    target = put(emulator)
    shortcut = emulator.world.shortcut("link", root, target)
    with pytest.raises(NotFound, match="shortcut"):
        download.fetch(client, described(client, shortcut), spool, LIMIT)


def test_content_that_may_not_be_downloaded_is_not_allowed(
    emulator: DriveEmulator, client: Client, spool: Path
) -> None:
    item = emulator.world.file("secret.pdf", emulator.world.root("bob@example.com"), b"%PDF")
    emulator.world.share(item, ADA)
    emulator.world.forbid_download(item)
    with pytest.raises(NotAllowed, match="download"):
        download.fetch(client, described(client, item), spool, LIMIT)
    assert "files.media" not in emulator.counts.by_method


def test_resource_key_opens_what_is_shared_by_link(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    world = emulator.world
    bob = world.root("bob@example.com")
    item, plan = world.file("a.txt", bob, b"by link"), world.native("Plan", bob, text="by link")
    body = docx_of(11 * 1024 * 1024)
    big = world.native("Big", bob, exports={DOCX: body})
    for each in (item, plan, big):
        world.share_by_link(each, "0-key")
    named: list[Mapping[str, Any]] = [
        {"id": item.id, "mimeType": item.mime, "size": "7", "resourceKey": "0-key"},
        *(
            {"id": each.id, "mimeType": each.mime, "version": str(each.version), "resourceKey": "0-key"}
            for each in (plan, big)
        ),
    ]
    assert download.fetch(client, named[0], spool, LIMIT).path.read_bytes() == b"by link"
    assert download.fetch(client, named[1], spool, LIMIT).path.read_bytes().startswith(b"PK")
    assert download.fetch(client, named[2], spool, LIMIT).path.read_bytes() == body
    with pytest.raises(NotFound):
        download.fetch(client, {"id": item.id, "mimeType": item.mime}, spool, LIMIT)


def test_file_of_a_shared_drive_is_brought(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    root = emulator.world.drive("Deals", {ADA: "reader"})
    item = emulator.world.file("a.txt", root, b"shared")
    assert download.fetch(client, described(client, item), spool, LIMIT).path.read_bytes() == b"shared"


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("cannotDownloadAbusiveFile", NotAllowed),
        ("downloadQuotaExceeded", TooManyRequests),
        ("insufficientFilePermissions", NotAllowed),
        ("appNotAuthorizedToFile", NotAllowed),
        ("fileNotDownloadable", UnsupportedFormat),
    ],
)
def test_refusal_of_one_document_is_told_at_once(
    emulator: DriveEmulator, client: Client, spool: Path, reason: str, error: type[DiligenceError]
) -> None:
    item = put(emulator)
    item.refusal = reason
    with pytest.raises(error):
        download.fetch(client, described(client, item), spool, LIMIT)
    assert emulator.counts.by_method["files.media"] == 1
    assert list(spool.iterdir()) == []


def test_file_deleted_since_is_not_found(emulator: DriveEmulator, client: Client, spool: Path) -> None:
    item = put(emulator)
    file = described(client, item)
    emulator.world.delete(item)
    with pytest.raises(NotFound):
        download.fetch(client, file, spool, LIMIT)


def test_full_disk_is_told_as_such(emulator: DriveEmulator, client: Client, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="DILIGENCE_HOME"):
        download.fetch(client, described(client, put(emulator)), tmp_path / "not-there", LIMIT)


def test_open_gives_the_content_for_showing(emulator: DriveEmulator, client: Client) -> None:
    with download.open(client, described(client, put(emulator))) as shown:
        assert shown.read() == WORDS
    with download.open(client, described(client, put(emulator, b"small"))) as shown:
        assert shown.read() == b"small"
    with pytest.raises(TooLarge):
        download.open(client, described(client, put(emulator)), 1000)


# bodies that no emulator sends


def file_of(body: bytes, **others: str) -> dict[str, str]:
    return {
        "id": "1",
        "mimeType": "text/plain",
        "size": str(len(body)),
        "md5Checksum": hashlib.md5(body).hexdigest(),
    } | others


HALF = len(WORDS) // 2
CUT = reply(200, WORDS[:HALF], "text/plain", content_length=str(len(WORDS)), connection="close")


@pytest.mark.parametrize(
    "rest",
    [
        [reply(206, WORDS[HALF:], content_range=f"bytes {HALF}-{len(WORDS) - 1}/{len(WORDS)}")],
        [reply(200, WORDS)],  # ranges are passed over
        [reply(206, WORDS[10:], content_range=f"bytes 10-{len(WORDS) - 1}/{len(WORDS)}"), reply(200, WORDS)],
        [reply(206, WORDS[HALF:]), reply(200, WORDS)],
        [reply(416, b"{}"), reply(200, WORDS)],
        [reply(200, WORDS, content_encoding="gzip"), reply(200, WORDS)],
    ],
    ids=["range", "whole", "another range", "no range", "refused range", "compressed"],
)
def test_rest_of_a_body_is_taken_as_it_comes(home: object, spool: Path, rest: list[bytes]) -> None:
    with Scripted(CUT, *rest) as server, server.client() as client:
        assert download.fetch(client, file_of(WORDS), spool, LIMIT).path.read_bytes() == WORDS
        assert f"range: bytes={HALF}-" in server.requests[1].lower()


def test_body_without_a_told_length_is_held_to_the_limit(home: object, spool: Path) -> None:
    endless = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + WORDS
    with Scripted(endless) as server, server.client() as client, pytest.raises(TooLarge):
        download.fetch(client, {"id": "1", "mimeType": "text/plain"}, spool, 1000)


def test_told_length_above_the_limit_is_refused_before_the_body(home: object, spool: Path) -> None:
    with (
        Scripted(reply(200, b"", content_length="99999999")) as server,
        server.client() as client,
        pytest.raises(TooLarge),
    ):
        download.fetch(client, {"id": "1", "mimeType": "text/plain"}, spool, 1000)


def test_export_cut_off_without_notice_is_made_again(home: object, spool: Path) -> None:
    whole = docx_of(1000)
    version = reply(200, b'{"id": "1", "version": "7"}')
    unframed = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"
    with Scripted(unframed + whole[:900], version, unframed + whole, version) as server, server.client() as client:
        found = download.fetch(client, {"id": "1", "mimeType": DOCUMENT, "version": "7"}, spool, LIMIT)
    assert found.path.read_bytes() == whole
    with Scripted(unframed + whole[:900], version) as server, server.client() as client:
        server.replies = [unframed + whole[:900], version] * 3
        with pytest.raises(SourceFailed, match="cut off"):
            download.fetch(client, {"id": "1", "mimeType": DOCUMENT, "version": "7"}, spool, LIMIT)


def test_login_page_is_no_export(home: object, spool: Path) -> None:
    with (
        Scripted(reply(200, b"<html>Sign in", "text/html; charset=utf-8")) as server,
        server.client() as client,
        pytest.raises(SourceFailed, match="page"),
    ):
        download.fetch(client, {"id": "1", "mimeType": DRAWING, "version": "7"}, spool, LIMIT)


def test_export_link_to_another_place_gets_no_token(home: object, spool: Path) -> None:
    refused = reply(403, b'{"error": {"errors": [{"reason": "exportSizeLimitExceeded"}]}}')
    with Scripted(reply(200, b"%PDF")) as other:
        links = json.dumps({"exportLinks": {PDF: other.base + "/x"}}).encode()
        done = json.dumps({"name": "1", "done": True, "response": {"downloadUri": other.base + "/y"}}).encode()
        with (
            Scripted(refused, reply(200, links), reply(200, done)) as server,
            server.client() as client,
            pytest.raises(SourceFailed, match="not Google's"),
        ):
            download.fetch(client, {"id": "1", "mimeType": DRAWING, "version": "7"}, spool, LIMIT)
        assert other.requests == []


def test_operation_that_fails_is_told(home: object, spool: Path) -> None:
    refused = reply(403, b'{"error": {"errors": [{"reason": "exportSizeLimitExceeded"}]}}')
    failed = reply(200, b'{"name": "operations/1", "done": true, "error": {"code": 3, "message": "m"}}')
    with Scripted(refused, reply(200, b"{}"), failed) as server, server.client() as client, pytest.raises(TooLarge):
        download.fetch(client, {"id": "1", "mimeType": DRAWING, "version": "7"}, spool, LIMIT)


def test_operation_that_never_ends_takes_no_longer_than_the_deadline(home: object, spool: Path) -> None:
    refused = reply(403, b'{"error": {"errors": [{"reason": "exportSizeLimitExceeded"}]}}')
    running = reply(200, b'{"name": "operations/1", "done": false}')
    with (
        Scripted(refused, reply(200, b"{}"), running) as server,
        server.client() as client,
        retry.within(1),
        pytest.raises((TookTooLong, TooManyRequests)),
    ):
        download.fetch(client, {"id": "1", "mimeType": DRAWING, "version": "7"}, spool, LIMIT)
    assert any("/operations/1?" in request for request in server.requests)


def test_token_is_renewed_during_a_download_and_stays_out_of_it(emulator: DriveEmulator, spool: Path) -> None:
    app = next(iter(emulator.accounts.clients.values()))
    credentials = Credentials(  # type: ignore[no-untyped-call]
        emulator.token(ADA),
        refresh_token=emulator.accounts.refresh_token(ADA),
        token_uri=emulator.token_uri,
        client_id=app.id,
        client_secret=app.secret,
    )
    with client_with(credentials, emulator.base) as client:
        file = described(client, put(emulator))
        emulator.accounts.expire(str(credentials.token))
        emulator.faults.set(Fault(on="files.media", do="truncate", at=[2]))
        assert download.fetch(client, file, spool, LIMIT).path.read_bytes() == WORDS
