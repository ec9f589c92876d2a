"""The embedded Prefect server: closed to everybody but its parent, quick to start, and plain about why it does not."""

import http.client
import importlib.metadata
import os
import sqlite3
import stat
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from flows import prefect_server
from tasks.errors import Unavailable
from tests.cases import cases
from tests.homes import migrated_prefect_database

REQUESTS = [
    ("GET", "/api/health"),
    ("GET", "/api/ready"),
    ("GET", "/"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/api/admin/version"),
    ("GET", "/ui-settings"),
    ("OPTIONS", "/api/flow_runs/filter"),
    ("POST", "/api/artifacts/filter"),
    ("POST", "/api/variables/"),
]


@cases(("method", "path"), REQUESTS)
@cases("secret", [None, "Basic ZGlsaWdlbmNlOmd1ZXNz"])
def test_a_stranger_gets_no_answer_whatever_the_path(
    method: str, path: str, secret: str | None, prefect_url: str
) -> None:
    connection = http.client.HTTPConnection(urlsplit(prefect_url).netloc, timeout=20)
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    connection.request(method, path, headers=headers | ({"Authorization": secret} if secret else {}))
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (401, b"")
    assert answer.getheader("Access-Control-Allow-Origin") is None
    connection.close()


def test_a_stranger_opens_no_websocket(prefect_url: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(prefect_url).netloc, timeout=20)
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    connection.request("GET", "/api/events/out", headers=upgrade | {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
    assert connection.getresponse().status == 403
    connection.close()


def test_it_listens_on_this_machine_alone(prefect_url: str) -> None:
    port = f"{urlsplit(prefect_url).port:04X}"
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert [each[1] for each in listening if each[1].endswith(f":{port}") and each[3] == "0A"] == [f"0100007F:{port}"]


@pytest.fixture
def fresh(new_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Prefect's home will be, in a home that nothing has made yet."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(new_home / "prefect"))
    return new_home / "prefect"


def start() -> None:
    with prefect_server.server():
        pass


@pytest.mark.slow  # it starts a server
def test_a_database_that_is_none_is_set_aside_and_told_in_one_sentence(
    fresh: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fresh.mkdir(parents=True)
    none = b"This is no database. " * 500
    (fresh / "prefect.db").write_bytes(none)
    start()
    assert (fresh / "prefect.db.damaged").read_bytes() == none
    assert [record.getMessage() for record in caplog.records if record.name == "tasks.tracking"] == [
        "Prefect's database was damaged: a new one is used, the old one stays as prefect.db.damaged."
    ]
    with closing(sqlite3.connect(fresh / "prefect.db")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'flow_run'").fetchone() == (1,)


def test_a_home_that_cannot_be_made_is_told_in_one_sentence(fresh: Path) -> None:
    fresh.parent.mkdir()
    fresh.write_text("a file where the folder should be")
    with pytest.raises(Unavailable, match=r"Prefect's server did not start: .*File exists"):
        start()


def test_a_new_home_gets_a_prepared_database_before_the_server_is_up(fresh: Path) -> None:
    with prefect_server.starting(), closing(sqlite3.connect(fresh / "prefect.db")) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'flow_run'").fetchone() == (1,)
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700


@pytest.mark.slow  # 8 s: Prefect's migrations
def test_the_prepared_database_is_what_the_migrations_of_this_prefect_make() -> None:
    if importlib.metadata.version("prefect") != "3.8.8":
        pytest.skip("A newer Prefect migrates it further; `python -m tests.homes` writes a new one.")
    assert lines(prefect_server.SCHEMA.read_text()) == lines(migrated_prefect_database())


def lines(sql: str) -> list[str]:
    """In one order: Prefect's migrations write the constraints of a table in any."""
    return sorted(line.strip().rstrip(",") for line in sql.splitlines())


def test_no_write_is_refused_because_another_writes(prefect_url: str) -> None:
    user, _, password = os.environ["PREFECT_API_AUTH_STRING"].partition(":")
    with httpx.Client(base_url=prefect_url, auth=(user, password), timeout=60) as client, ThreadPoolExecutor(8) as pool:
        flow = client.post("/flows/", json={"name": "many-writers"}).json()["id"]
        run = client.post("/flow_runs/", json={"flow_id": flow}).json()["id"]

        def write(number: int) -> int:
            task = {"flow_run_id": run, "task_key": "key", "dynamic_key": f"{number}"}
            return client.post("/task_runs/", json=task).status_code

        assert Counter(pool.map(write, range(160))) == {201: 160}
