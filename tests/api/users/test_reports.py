"""The report of a run for two users: each sees what the drive shows to that user now."""

import re

import httpx
import pytest

from tasks.documents.drive.drive import Bearer, acting_as
from tests.api.google import ADA, BOB
from tests.api.test_problems import problem
from tests.api.users.drives import Users, bearer
from tests.tasks.reports.cited import write_cited_run

MERGER, TERM = "The merger is planned for May.", "The lease runs until 2031."


@pytest.fixture
def folder(users: Users) -> str:
    """A folder of Ada's with two documents, which a run of hers quotes."""
    folder = users.folder("Board", ADA)
    users.file("plan.txt", MERGER.encode(), folder=folder)
    users.file("lease.txt", TERM.encode(), folder=folder)
    with acting_as(Bearer(users.token(ADA))):
        write_cited_run(folder, {"plan.txt": (MERGER, "line 1"), "lease.txt": (TERM, "line 1")})
    return folder


def report(client: httpx.Client, headers: dict[str, str]) -> str:
    return "".join(pages(client, headers, "r1"))


def pages(client: httpx.Client, headers: dict[str, str], run_id: str) -> list[str]:
    """The report of a run, and the pages of its companies."""
    answer = client.get(f"/runs/{run_id}/report.html", headers=headers)
    assert answer.status_code == 200, answer.text
    companies = set(re.findall(r"companies/[0-9a-f]+\.html", answer.text))
    return [answer.text, *(client.get(f"/runs/{run_id}/{page}", headers=headers).text for page in companies)]


def evidence(client: httpx.Client, headers: dict[str, str]) -> dict[str, httpx.Response]:
    """The evidence pages that a report links to, by path."""
    paths = set(re.findall(r"evidence/[0-9a-f]+\.html", report(client, headers)))
    return {path: client.get(f"/runs/r1/{path}", headers=headers) for path in paths}


def test_whoever_sees_the_room_sees_the_report(users: Users, client: httpx.Client, folder: str) -> None:
    page = report(client, bearer(users, ADA))
    assert MERGER in page
    assert "Alpha" in page
    pages = evidence(client, bearer(users, ADA))
    assert sorted(answer.status_code for answer in pages.values()) == [200, 200]
    assert any(MERGER in answer.text for answer in pages.values())
    assert all("because your account may see the document" in answer.text for answer in pages.values())


def test_of_a_room_that_is_not_shared_nothing_is_shown(users: Users, client: httpx.Client, folder: str) -> None:
    pages = evidence(client, bearer(users, ADA))
    page = report(client, bearer(users, BOB))
    for words in (MERGER, TERM, "Alpha", "alpha.example", "plan.txt"):
        assert words not in page
    assert "A company that is not shared with your account" in page
    for path in pages:
        answer = client.get(f"/runs/r1/{path}", headers=bearer(users, BOB))
        problem(answer, 404, "not-found")
        assert "plan" not in answer.text


def test_what_rests_on_a_document_that_is_not_shared_is_left_out(
    users: Users, client: httpx.Client, folder: str
) -> None:
    users.share(folder, BOB)
    secret = users.file("minutes.txt", b"The chairman resigns in March.", folder=folder)
    with acting_as(Bearer(users.token(ADA))):
        quoted = {"minutes.txt": ("The chairman resigns in March.", "line 1"), "lease.txt": (TERM, "line 1")}
        write_cited_run(folder, quoted, "r2", days=1)
    users.restrict(secret)
    page = "".join(pages(client, bearer(users, BOB), "r2"))
    assert TERM in page
    assert "chairman" not in page
    assert "minutes.txt" not in page
    assert "Documents that were deleted since the run, or are not shared with you, are left out." in page


def test_rights_that_are_lost_later_close_the_pages(users: Users, client: httpx.Client, folder: str) -> None:
    users.share(folder, BOB)
    pages = evidence(client, bearer(users, BOB))
    assert [answer.status_code for answer in pages.values()] == [200, 200]
    users.unshare(folder, BOB)
    for path in pages:
        problem(client.get(f"/runs/r1/{path}", headers=bearer(users, BOB)), 404, "not-found")


def test_a_browser_is_sent_to_the_login_and_comes_back(users: Users, client: httpx.Client, folder: str) -> None:
    problem(client.get("/runs/r1/report.html"), 401, "not-logged-in")
    answer = client.get("/runs/r1/report.html", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/runs/r1/report.html")
    back = users.agree(client.get(answer.headers["location"]).headers["location"], ADA)
    back.pop("to")
    answer = client.get("/login/callback", params=back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/r1/report.html")
    assert "Alpha" in client.get(answer.headers["location"]).text


def test_an_original_is_opened_in_the_drive(users: Users, client: httpx.Client, folder: str) -> None:
    document = users.file("minutes.txt", b"The chairman resigns in March.", folder=folder)
    with acting_as(Bearer(users.token(ADA))):
        write_cited_run(folder, {"minutes.txt": ("The chairman resigns in March.", "line 1")}, "r2", days=1)
    address = f"/runs/r2/documents/{document}/original"
    answer = client.get(address, headers=bearer(users, ADA))
    there = httpx.URL(answer.headers["location"])
    assert (answer.status_code, there.scheme) == (303, "https")
    assert there.host in {"drive.google.com", "memory.example"}
    assert document in there.path
    assert client.head(address, headers=bearer(users, ADA)).status_code == 303
    problem(client.get(address, headers=bearer(users, BOB)), 404, "not-found")
