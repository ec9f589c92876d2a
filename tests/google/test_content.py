"""Downloads, exports and operations through Google's own Python client."""

import gzip
import hashlib
import io
from contextlib import closing
from typing import Any

import docx
import httplib2
import httpx
import openpyxl
import pptx
import pypdf
import pytest
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaIoBaseDownload

from tests.google.blobs import Repeated
from tests.google.conftest import ADA, BOB, Connect
from tests.google.natives import DOCUMENT, DOCX, DRAWING, FORM, MAP, PDF, PPTX, PRESENTATION, SITE, SPREADSHEET, XLSX
from tests.google.server import DriveEmulator
from tests.google.test_listing import refusal


def downloaded(request: Any, chunk: int) -> bytes:
    sink = io.BytesIO()
    download = MediaIoBaseDownload(sink, request, chunksize=chunk)
    done = False
    while not done:
        _, done = download.next_chunk()
    return sink.getvalue()


@pytest.mark.parametrize(("size", "chunk"), [(0, 1000), (1, 1000), (2500, 1000), (3000, 1000), (3_000_000, 1 << 20)])
def test_a_file_comes_whole_in_ranges_with_its_checksums(
    drive: DriveEmulator, connect: Connect, size: int, chunk: int
) -> None:
    file = drive.world.file("a.bin", drive.world.root(ADA), Repeated(size, b"0123456789abc"))
    files = connect().files()
    content = downloaded(files.get_media(fileId=file.id), chunk)
    shown = files.get(fileId=file.id, fields="size,md5Checksum,sha1Checksum,sha256Checksum").execute()
    assert content == (b"0123456789abc" * (size // 13 + 1))[:size]
    assert shown == {
        "size": str(size),
        "md5Checksum": hashlib.md5(content).hexdigest(),
        "sha1Checksum": hashlib.sha1(content).hexdigest(),
        "sha256Checksum": hashlib.sha256(content).hexdigest(),
    }


@pytest.mark.parametrize(
    ("asked", "status", "content", "told"),
    [
        ("bytes=2-4", 206, b"cde", "bytes 2-4/10"),
        ("bytes=7-", 206, b"hij", "bytes 7-9/10"),
        ("bytes=-2", 206, b"ij", "bytes 8-9/10"),
        ("bytes=5-99", 206, b"fghij", "bytes 5-9/10"),
        ("bytes=10-", 416, None, "bytes */10"),
        ("pages=1-2", 200, b"abcdefghij", None),
    ],
)
def test_ranges(
    drive: DriveEmulator, asked: str, status: int, content: bytes | None, told: str | None
) -> None:  # fmt: skip
    file = drive.world.file("a.bin", drive.world.root(ADA), b"abcdefghij")
    headers = {"Authorization": f"Bearer {drive.token(ADA)}", "Range": asked}
    answer = httpx.get(f"{drive.endpoint}files/{file.id}?alt=media", headers=headers)
    assert (answer.status_code, answer.headers.get("content-range")) == (status, told)
    assert content is None or answer.content == content


def test_text_is_compressed_for_those_who_ask_for_it(drive: DriveEmulator) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"the same again " * 100)
    headers = {"authorization": f"Bearer {drive.token(ADA)}", "accept-encoding": "gzip", "user-agent": "test (gzip)"}
    with closing(httplib2.Http()) as http:
        response, content = http.request(f"{drive.endpoint}files/{file.id}?alt=media", headers=headers)
    assert response["-content-encoding"] == "gzip"
    assert content == b"the same again " * 100
    with httpx.stream("GET", f"{drive.endpoint}files/{file.id}?alt=media", headers=headers) as raw:
        body = b"".join(raw.iter_raw())
    assert len(body) == int(raw.headers["content-length"]) < 1500
    assert gzip.decompress(body) == content


def test_native_documents_have_a_version_and_no_checksums(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    plan = world.native("Plan", world.root(ADA), DOCUMENT, text="one")
    files = connect().files()
    before = files.get(fileId=plan.id, fields="*").execute()
    assert not {"md5Checksum", "sha1Checksum", "sha256Checksum", "headRevisionId", "size"} & set(before)
    assert before["exportLinks"][DOCX].endswith(f"?id={plan.id}&exportFormat=docx")
    world.write(plan, "two")
    after = files.get(fileId=plan.id, fields="version,modifiedTime").execute()
    assert int(after["version"]) > int(before["version"])
    assert after["modifiedTime"] > before["modifiedTime"]


def test_a_files_revision_and_checksum_change_with_its_content(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"one")
    get = connect().files().get(fileId=file.id, fields="headRevisionId,md5Checksum,version")
    before = get.execute()
    drive.world.rename(file, "b.txt")
    renamed = get.execute()
    assert (renamed["headRevisionId"], renamed["md5Checksum"]) == (before["headRevisionId"], before["md5Checksum"])
    assert renamed["version"] != before["version"]
    drive.world.write(file, b"two")
    written = get.execute()
    assert written["headRevisionId"] != before["headRevisionId"]
    assert written["md5Checksum"] == hashlib.md5(b"two").hexdigest()


def test_exports_are_real_files(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root, files = world.root(ADA), connect().files()

    def exported(native: str, mime: str) -> io.BytesIO:
        item = world.native("x", root, native, text="Revenue\t5\nEBITDA\t7")
        return io.BytesIO(files.export(fileId=item.id, mimeType=mime).execute())

    assert [p.text for p in docx.Document(exported(DOCUMENT, DOCX)).paragraphs] == ["Revenue\t5", "EBITDA\t7"]
    sheet = openpyxl.load_workbook(exported(SPREADSHEET, XLSX)).worksheets[0]
    assert list(sheet.values) == [("Revenue", "5"), ("EBITDA", "7")]
    assert len(pptx.Presentation(exported(PRESENTATION, PPTX)).slides) == 2
    for native in (DRAWING, DOCUMENT):
        assert "EBITDA" in pypdf.PdfReader(exported(native, PDF)).pages[0].extract_text()
    assert exported(DOCUMENT, "text/plain").getvalue() == b"\xef\xbb\xbfRevenue\t5\r\nEBITDA\t7"


def test_what_cannot_be_exported_or_downloaded(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root, files = world.root(ADA), connect().files()
    plan, file = world.native("x", root, DOCUMENT), world.file("a.txt", root, b"x")
    assert refusal(files.get_media(fileId=plan.id)) == (403, "fileNotDownloadable", "alt")
    assert refusal(files.get_media(fileId=root.id)) == (403, "fileNotDownloadable", "alt")
    assert refusal(files.export(fileId=file.id, mimeType=PDF)) == (403, "fileNotExportable", None)
    assert refusal(files.export(fileId=plan.id, mimeType=XLSX)) == (400, "badRequest", "convertTo")
    for native in (FORM, MAP, SITE):
        item = world.native("x", root, native)
        assert refusal(files.export(fileId=item.id, mimeType=PDF)) == (400, "badRequest", "convertTo")
        assert "exportLinks" not in files.get(fileId=item.id, fields="*").execute()


def fetched(drive: DriveEmulator, address: str, email: str | None = ADA) -> httpx.Response:
    headers = {"Authorization": f"Bearer {drive.token(email)}"} if email else {}
    return httpx.get(address, headers=headers, follow_redirects=True)


def test_an_export_above_10_mb_comes_by_its_link(drive: DriveEmulator, connect: Connect) -> None:
    big = b"x" * (10 * 1024 * 1024 + 1)
    item = drive.world.native("Big", drive.world.root(ADA), DOCUMENT, exports={PDF: big})
    files = connect().files()
    assert refusal(files.export(fileId=item.id, mimeType=PDF)) == (403, "exportSizeLimitExceeded", None)
    link = files.get(fileId=item.id, fields="exportLinks").execute()["exportLinks"][PDF]
    answer = fetched(drive, link)
    assert answer.content == big
    assert [step.status_code for step in answer.history] == [302]
    # where it leads needs no login, is good once, and stands in no log
    assert str(answer.url).rsplit("/", 1)[-1] not in repr(drive.log)
    assert httpx.get(str(answer.url)).status_code == 404
    assert [fetched(drive, link, email).status_code for email in (None, BOB)] == [401, 404]


@pytest.mark.parametrize("native", [SPREADSHEET, PRESENTATION])
def test_a_native_document_comes_by_an_operation(drive: DriveEmulator, connect: Connect, native: str) -> None:
    item = drive.world.native("Plan", drive.world.root(ADA), native, exports={PDF: b"%PDF of it"})
    service = connect()
    started = service.files().download(fileId=item.id, mimeType=PDF).execute()
    assert "done" not in started
    assert service.operations().get(name=started["name"]).execute()["done"] is False
    ended = service.operations().get(name=started["name"]).execute()
    assert (ended["done"], ended["response"]["partialDownloadAllowed"]) == (True, False)
    assert fetched(drive, ended["response"]["downloadUri"]).content == b"%PDF of it"
    assert refusal(connect(BOB).operations().get(name=started["name"]))[0] == 404
    drive.world.delete(item)
    assert fetched(drive, ended["response"]["downloadUri"]).status_code == 404


def test_a_form_can_be_downloaded_as_an_archive_and_not_exported(drive: DriveEmulator, connect: Connect) -> None:
    """The types that files.download takes when none is given are more than those of files.export."""
    drive.settings.operation_polls = 0
    form = drive.world.native("Survey", drive.world.root(ADA), FORM)
    files = connect().files()
    assert files.download(fileId=form.id).execute()["done"] is True
    assert refusal(files.export(fileId=form.id, mimeType="application/zip"))[0] == 400
    site = drive.world.native("Map", drive.world.root(ADA), MAP)
    assert refusal(files.download(fileId=site.id))[0] == 400


def test_an_operation_of_a_file_can_end_at_once_or_fail(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.bin", drive.world.root(ADA), b"abc")
    drive.settings.operation_polls = 0
    files = connect().files()
    ended = files.download(fileId=file.id).execute()
    assert (ended["done"], ended["response"]["partialDownloadAllowed"]) == (True, True)
    assert fetched(drive, ended["response"]["downloadUri"]).content == b"abc"
    drive.settings.operation_error = 8
    failed = files.download(fileId=file.id).execute()
    assert (failed["done"], failed["error"]["code"], "response" in failed) == (True, 8, False)


def test_a_body_of_unknown_length_still_ends(drive: DriveEmulator, connect: Connect) -> None:
    item = drive.world.native("Plan", drive.world.root(ADA), DOCUMENT, text="one")
    request = connect().files().export_media(fileId=item.id, mimeType="text/plain")
    assert downloaded(request, 1 << 20) == b"\xef\xbb\xbfone"


def test_refusals_of_one_file(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    world.share(room, BOB)
    kept, bad, quota = (world.file(f"{name}.txt", room, b"x") for name in ("kept", "bad", "quota"))
    world.forbid_download(kept)
    bad.abusive, quota.refusal = True, "downloadQuotaExceeded"
    files = connect(BOB).files()
    assert refusal(files.get_media(fileId=kept.id)) == (403, "cannotDownloadFile", None)
    shown = files.get(fileId=kept.id, fields="capabilities/canDownload").execute()
    assert shown == {"capabilities": {"canDownload": False}}
    assert refusal(files.get_media(fileId=bad.id, acknowledgeAbuse=True)) == (403, "cannotDownloadAbusiveFile", None)
    assert refusal(files.get_media(fileId=quota.id)) == (403, "downloadQuotaExceeded", None)
    owner = connect(ADA).files()
    assert owner.get_media(fileId=kept.id).execute() == b"x"
    assert owner.get_media(fileId=bad.id, acknowledgeAbuse=True).execute() == b"x"


def test_metadata_alone_gives_no_content(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"x")
    token = drive.token(ADA, ["https://www.googleapis.com/auth/drive.metadata.readonly"])
    files = connect(token=token).files()
    assert files.get(fileId=file.id, fields="name").execute() == {"name": "a.txt"}
    assert refusal(files.get_media(fileId=file.id)) == (403, "insufficientPermissions", None)


def test_nothing_can_be_written(drive: DriveEmulator, connect: Connect) -> None:
    with pytest.raises(HttpError, match="insufficient"):
        connect().files().create(body={"name": "x"}).execute()
