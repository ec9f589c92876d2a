"""A local document, seen in a browser: whole or in part, and harmless."""

from pathlib import Path

import httpx
import pytest

from api.operations import RangeNotSatisfiable, disposition, parse_range
from tests.api.test_problems import problem
from tests.cases import cases
from tests.tasks.documents.drive.archives.zips import zipped


def view_of(service: httpx.Client, name: str) -> str:
    """The path of the named document's `document_url`."""
    index = service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}).json()
    for document in index["document_index"][0]["documents"]:
        if document["document_name"] == name:
            return httpx.URL(document["document_url"]).path
    raise AssertionError(name)


def test_text_is_shown(service: httpx.Client, room: Path) -> None:
    (room / "a.txt").write_text("Grüße\n")
    answer = service.get(view_of(service, "a.txt"))
    assert answer.text == "Grüße\n"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("inline;")
    assert answer.headers["cache-control"] == "no-store"


def test_text_of_another_encoding_is_left_to_the_browser(service: httpx.Client, room: Path) -> None:
    (room / "old.txt").write_bytes("Grüße".encode("cp1252"))
    assert service.get(view_of(service, "old.txt")).headers["content-type"] == "text/plain"


@pytest.mark.parametrize("name", ["page.html", "picture.svg", "script.js", "data.xml", "deck.pptx"])
def test_what_a_browser_could_run_is_saved_instead(service: httpx.Client, room: Path, name: str) -> None:
    (room / name).write_text("<script>alert(1)</script>")
    headers = service.get(view_of(service, name)).headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith("attachment;")
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]


def test_a_text_without_an_ending_is_shown_as_text(service: httpx.Client, room: Path) -> None:
    (room / "noname").write_text("<script>alert(1)</script>")
    headers = service.get(view_of(service, "noname")).headers
    assert headers["content-type"].startswith("text/plain")
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]


def test_pdf_is_shown_but_may_run_nothing(service: httpx.Client, room: Path) -> None:
    (room / "a.pdf").write_bytes(b"%PDF-1.4")
    headers = service.get(view_of(service, "a.pdf")).headers
    assert headers["content-type"] == "application/pdf"
    assert headers["content-security-policy"].startswith("default-src 'none'")


def test_names_cannot_break_out_of_the_header() -> None:
    given = 'ä"; filename="x.exe\r\nSet-Cookie: a=b'
    assert disposition("attachment", given) == (
        'attachment; filename="___ filename__x.exe__Set-Cookie_ a_b"; '
        "filename*=UTF-8''%C3%A4%22%3B%20filename%3D%22x.exe%0D%0ASet-Cookie%3A%20a%3Db"
    )


def test_a_large_document_comes_whole_and_in_parts(service: httpx.Client, room: Path) -> None:
    content = bytes(range(256)) * 4096
    (room / "large.bin").write_bytes(content)
    path = view_of(service, "large.bin")
    whole = service.get(path)
    assert whole.content == content
    assert whole.headers["accept-ranges"] == "bytes"
    part = service.get(path, headers={"Range": "bytes=300000-700000"})
    assert part.status_code == 206
    assert part.content == content[300000:700001]
    assert part.headers["content-range"] == f"bytes 300000-700000/{len(content)}"
    beyond = service.get(path, headers={"Range": f"bytes={len(content)}-"})
    problem(beyond, 416, "range-not-satisfiable")
    assert beyond.headers["content-range"] == f"bytes */{len(content)}"


def test_head_gives_the_size_alone(service: httpx.Client, room: Path) -> None:
    (room / "a.pdf").write_bytes(b"x" * 1000)
    answer = service.head(view_of(service, "a.pdf"))
    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, "1000", b"")


@pytest.mark.parametrize("document_id", ["nope", "root", "..", "L..", "LLi4vLi4vZXRjL3Bhc3N3ZA"])
def test_unknown_documents_and_folders_are_not_found(service: httpx.Client, document_id: str) -> None:
    problem(service.get(f"/file/d/{document_id}/view"), 404, "not-found")


@cases(
    ("given", "part"),
    [
        (None, None),
        ("bytes=0-0", (0, 1)),
        ("bytes=5-", (5, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=8-99", (8, 10)),
        ("bytes=5-3", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("pages=1-2", None),
    ],
)
def test_ranges_of_ten_bytes(given: str | None, part: tuple[int, int] | None) -> None:
    assert parse_range(given, 10) == part


@cases("given", ["bytes=10-", "bytes=-0", "bytes=99-100"])
def test_ranges_behind_the_end(given: str) -> None:
    with pytest.raises(RangeNotSatisfiable):
        parse_range(given, 10)


def test_a_document_in_an_archive_is_shown_like_any_other(service: httpx.Client, room: Path) -> None:
    (room / "Contracts.zip").write_bytes(zipped({"Leases/lease.txt": "The lease runs until 2031.\n"}))
    index = service.post("/v1/drive/document-index", json={"cloud_drive_folder": "root"}).json()
    (lease,) = index["document_index"][1]["subfolders"][0]["documents"]
    view = service.get(httpx.URL(lease["document_url"]).path)
    assert (view.text, view.headers["content-type"]) == (
        "The lease runs until 2031.\n",
        "text/plain; charset=utf-8",
    )
    part = service.get(httpx.URL(lease["document_url"]).path, headers={"Range": "bytes=4-8"})
    assert (part.status_code, part.text) == (206, "lease")
    for reference in (lease["document_id"], lease["document_url"]):
        for _ in range(2):
            answer = service.post("/v1/drive/document-text", json={"document_id": reference})
            assert answer.json() == {"document_id": reference, "text": "The lease runs until 2031.\n"}
    unknown = lease["document_id"][:-2] + "AA"
    problem(service.get(f"/file/d/{unknown}/view"), 404, "not-found")
    problem(service.post("/v1/drive/document-text", json={"document_id": unknown}), 404, "not-found")
