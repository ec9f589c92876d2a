"""No token anywhere in the clear, after a run, calls with a bearer token and with a login, and errors of each.

All of it is searched: what the programs print at their most talkative, what the service answers, our
database, Prefect's database, and every other file that they left.
"""

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.api.google import bearer, log_in
from tests.deployments.test_prefect import Server, answers
from tests.google.accounts import Client
from tests.google.credentials import authorised_user_file, service_account_file
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.natives import DOCX
from tests.google.server import DriveEmulator
from tests.homes import make_prefect_database
from tests.tasks.documents.drive.google.connection import ADA
from tests.tasks.documents.drive.google.emulated import settings_of
from tests.waiting import free_port, wait_for

BOB = "bob@example.com"
WORDS = "Ninety percent of the revenue is recurring."
TALKING = [sys.executable, "-m", "tests.tasks.documents.drive.google.talkative"]
TALKATIVE = {
    "PREFECT_LOGGING_LEVEL": "DEBUG",
    "PREFECT_LOGGING_ROOT_LEVEL": "DEBUG",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "DEBUG",
    "PREFECT_SERVER_LOGGING_LEVEL": "DEBUG",
}


class Remembering(dict[str, Any]):
    """Tokens; `ever` are all that there have been."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[str] = []

    def __setitem__(self, token: str, what: Any) -> None:
        self.ever.append(token)
        super().__setitem__(token, what)


@pytest.fixture(scope="module")
def emulator() -> Iterator[DriveEmulator]:
    """A Drive that forgets no token that it gave out."""
    with DriveEmulator() as found:
        found.accounts.access, found.accounts.refresh = Remembering(), Remembering()
        yield found


@pytest.fixture(scope="module")
def room(emulator: DriveEmulator) -> Item:
    world = emulator.world
    found = world.folder("Room", world.root(ADA))
    world.file("deck.txt", found, WORDS.encode())
    world.native("Plan", found, text="The plan.")
    world.native("Large", found, exports={DOCX: b"PK" + b"0" * 11_000_000})
    world.file("refused.txt", found, b"words").refusal = "cannotDownloadAbusiveFile"
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, emulator: DriveEmulator) -> Iterator[Server]:
    """A Prefect server, and the environment of programs that work with it and with the emulator."""
    server = Server(tmp_path_factory.mktemp("everything"))
    make_prefect_database(server.folder)
    server.environment |= settings_of(emulator) | TALKATIVE
    process = server.start(["server", "start", "--port", str(server.port), "--no-ui"], "server.log")
    try:
        wait_for(lambda: answers(server), 90)
        yield server
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def service(server: Server) -> Iterator[httpx.Client]:
    """The service, every call of which shows in Prefect."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    environment = server.environment | {"DILIGENCE_TRACK_CALLS": "inline", "DILIGENCE_BASE_URL": base}
    with (server.folder / "service.log").open("wb") as log:
        process = subprocess.Popen(
            [*TALKING, "serve", "--port", str(port)], env=environment, cwd=server.folder, stdout=log, stderr=log
        )
    try:
        with httpx.Client(base_url=base, timeout=60) as client:
            wait_for(lambda: _reached(client), 60)
            yield client
    finally:
        process.terminate()
        process.wait(30)


def _reached(client: httpx.Client) -> bool:
    try:
        return client.get("/health/live").status_code == 200
    except httpx.TransportError:
        return False


def run_a_batch(server: Server, emulator: DriveEmulator, room: Item) -> subprocess.CompletedProcess[str]:
    """A run of the service account that acts for Ada, while Google fails; one company's folder is not there."""
    (server.folder / "criteria.yaml").write_text(
        'scale: [0, 5]\ncriteria:\n  - {id: recurring, ask: "Is most of the revenue recurring?"}\n'
    )
    (server.folder / "batch.yaml").write_text(
        "name: Screen\ncriteria: criteria.yaml\nfact_sources: [files]\ncompanies:\n"
        f"  - {{name: Alpha, domain: alpha.example, folder: {room.id}}}\n"
        "  - {name: Beta, domain: beta.example, folder: 1-nowhere}\n"
    )
    key = service_account_file(emulator, server.folder.parent / "key.json", delegates=[ADA])
    server.environment |= {"DILIGENCE_GOOGLE_CREDENTIALS": str(key), "DILIGENCE_GOOGLE_SUBJECT": ADA}
    emulator.faults.set(
        Fault(every=6, reason="userRateLimitExceeded"), Fault(every=7, do="truncate"), Fault(every=11, html=True)
    )
    done = server.command(["run", "batch.yaml", "--out", "out"], TALKING)
    emulator.faults.set()
    for name in ("DILIGENCE_GOOGLE_CREDENTIALS", "DILIGENCE_GOOGLE_SUBJECT"):
        del server.environment[name]
    return done


def index_as_a_user(server: Server, emulator: DriveEmulator, room: Item) -> list[subprocess.CompletedProcess[str]]:
    """Index with a stored login, and once more after it was revoked."""
    file = authorised_user_file(emulator, server.folder.parent / "login.json", ADA)
    server.environment["DILIGENCE_GOOGLE_CREDENTIALS"] = str(file)
    done = [server.command(["index", room.id], TALKING)]
    emulator.accounts.revoke(json.loads(file.read_text())["refresh_token"])
    done.append(server.command(["index", room.id], TALKING))
    del server.environment["DILIGENCE_GOOGLE_CREDENTIALS"]
    return done


def call_the_service(client: httpx.Client, emulator: DriveEmulator, room: Item) -> list[httpx.Response]:
    """Every document operation with good, expired, foreign and no tokens, and with a login that is then revoked."""
    deck = next(each for each in emulator.world.below(room) if each.name == "deck.txt")
    expired = {"Authorization": f"Bearer {emulator.token(ADA, expires_in=0)}"}
    narrow = {"Authorization": f"Bearer {emulator.token(ADA, scopes=['openid'])}"}
    found: list[httpx.Response] = []

    def ask(headers: dict[str, str]) -> None:
        found.append(client.post("/v1/drive/document-index", json={"cloud_drive_folder": room.id}, headers=headers))
        found.append(client.post("/v1/drive/document-text", json={"document_id": deck.id}, headers=headers))

    for headers in ({}, bearer(emulator, ADA), bearer(emulator, BOB), expired, narrow):
        ask(headers)
    emulator.faults.set(Fault(html=True, reason="userRateLimitExceeded", every=3), Fault(do="reset", every=4))
    ask(bearer(emulator, ADA))
    emulator.faults.set()
    found.append(log_in(client, ADA))
    ask({})
    emulator.accounts.revoke_user(ADA)
    ask({})
    return found


def secrets(emulator: DriveEmulator, folder: Path) -> dict[str, str]:
    """Every secret that the emulator knows, by what it is: a part of each that no encoding of text changes."""
    access, refresh = emulator.accounts.access, emulator.accounts.refresh
    assert isinstance(access, Remembering)
    assert isinstance(refresh, Remembering)
    assert len(access.ever) >= 9
    assert len(refresh.ever) == 2
    found = {f"access token {number}": token[-40:] for number, token in enumerate(access.ever)}
    found |= {f"refresh token {number}": token[-40:] for number, token in enumerate(refresh.ever)}
    found["client secret"] = Client().secret
    key = json.loads((folder / "key.json").read_text())["private_key"]
    found["private key"] = key.splitlines()[5][:40]
    return found


def everything(folder: Path) -> dict[str, bytes]:
    """Every file in a folder; databases as SQL too, where a long value is not cut up by pages."""
    found = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_socket():
            found[str(file.relative_to(folder))] = content = file.read_bytes()
            if content.startswith(b"SQLite format 3"):
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
                    found[f"{file.name} as SQL"] = "\n".join(database.iterdump()).encode()
    return found


@pytest.mark.slow
def test_no_token_is_in_the_clear_anywhere(
    server: Server, emulator: DriveEmulator, room: Item, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, logger="httpx")  # the tests' own client
    done = [run_a_batch(server, emulator, room), *index_as_a_user(server, emulator, room)]
    assert [each.returncode for each in done] == [1, 0, 1], [each.stderr[-2000:] for each in done]
    with service(server) as client:
        answered = call_the_service(client, emulator, room)
    assert {each.status_code for each in answered} >= {200, 401, 404}

    found = everything(server.folder)
    for number, each in enumerate(done):
        found |= {f"output {number}": each.stdout.encode(), f"errors {number}": each.stderr.encode()}
    for number, answer in enumerate(answered):
        found[f"answer {number}"] = f"{answer.headers}\n{answer.url}\n{answer.text}".encode()
    # What is searched holds what it should: our database its texts, Prefect's the runs, the logs what was done.
    whole = {name: content.decode("utf-8", "replace") for name, content in found.items()}
    assert any(WORDS in content for name, content in whole.items() if name.endswith("as SQL"))
    assert any("document_text" in content for name, content in whole.items() if name.startswith("prefect.db"))
    assert "Alpha: scores" in whole["prefect.db as SQL"]
    for name in ("errors 0", "errors 1", "service.log"):
        assert "TALKATIVE to begin with" in whole[name]
    leaks = [
        f"{kind} in {name}"
        for kind, secret in secrets(emulator, server.folder.parent).items()
        for name, content in whole.items()
        if secret in content or quote(secret, safe="") in content
    ]
    assert leaks == []
