"""A service with one run of a company whose documents lie in the drive, and people who log in."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage import database, logins
from storage.logins import Role
from tasks.table.columns import named_set
from tests.tasks.reports.cited import write_cited_run
from tests.tasks.reports.rows import CRITERIA

QUOTED = {
    "Revenue.txt": ("Recurring revenue was 83 % of all revenue.", "line 1"),
    "Lease.txt": ("Either party may end the lease by a notice of six months.", "line 1"),
}
PAGE = {"Accept": "text/html"}
REVIEW = "/runs/r1/review/alpha.example"
PASSWORD = "correct horse"


@pytest.fixture
def alpha(room: Path) -> Path:
    """The room of the company Alpha, and the run r1 that quotes it."""
    folder = room / "alpha"
    folder.mkdir()
    for name, (words, _) in QUOTED.items():
        (folder / name).write_text(f"{words}\nNothing else is said here.\n")
    write_cited_run("alpha", QUOTED)
    return folder


def add_person(name: str, role: Role = Role.REVIEWER) -> None:
    with database.writing() as session:
        assert logins.add_user(session, name, role, PASSWORD)


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, page
    return found[1]


Post = Callable[..., httpx.Response]
Sender = Callable[[], Post]
LogIn = Callable[..., httpx.Client]


@pytest.fixture
def browser(service: httpx.Client) -> Iterator[Callable[[], httpx.Client]]:
    """Opens browsers, each with cookies of its own."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(httpx.Client(base_url=service.base_url, headers=PAGE, timeout=60))


@pytest.fixture
def sender(browser: Callable[[], httpx.Client]) -> Sender:
    """Opens a page of the review in a browser of its own; a decision on a cell is posted with what the page named."""

    def load() -> Post:
        opened = browser()
        page = opened.get(REVIEW).text

        def post(kind: str, criterion: str = "recurring", **fields: str) -> httpx.Response:
            cell = page[page.index(f'id="cell-{criterion}"') :]
            named = {name: field(cell, name) for name in ("token", "follows", "saw")}
            return opened.post(REVIEW, data={**named, "criterion_id": criterion, "kind": kind, **fields})

        return post

    return load


@pytest.fixture
def log_in(browser: Callable[[], httpx.Client]) -> LogIn:
    """Opens a browser in which somebody logs in."""

    def load(name: str, password: str = PASSWORD) -> httpx.Client:
        opened = browser()
        token = field(opened.get("/login/password").text, "token")
        opened.post("/login/password", data={"token": token, "name": name, "password": password, "next": "/"})
        return opened

    return load


AGREEMENT = """SERVICE AGREEMENT

This Service Agreement is made as of March 1, 2024 by and between Alpha GmbH (the "Supplier")
and Beta Ltd (the "Customer").

The term of this Agreement shall begin on March 1, 2024 and end on December 31, 2099. Either party may terminate this
Agreement at any time on three months' prior written notice. {more}

This Agreement shall be governed by the laws of Germany.

Signed: Jane Doe, Supplier. Signed: John Roe, Customer.
"""
TERMS = {"Service agreement <Beta>.txt": ("governed by the laws of Germany", "line 9")}
TABLED: dict[str, Any] = {**CRITERIA, "table": named_set("contracts").model_dump()}


@pytest.fixture
def beta(room: Path) -> Path:
    """A room with one agreement and a note, and the run r1 whose criteria ask for a table."""
    folder = room / "alpha"
    folder.mkdir()
    (folder / next(iter(TERMS))).write_text(AGREEMENT.format(more=""))
    (folder / "Note.txt").write_text("Lunch is at noon.\n")
    write_cited_run("alpha", TERMS, criteria=TABLED)
    return folder
