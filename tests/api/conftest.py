"""A running service on loopback for every test of the API, with a small data room and one known company."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from api.app import create_app
from api.front import LimitedConnection
from storage import database
from tests.homes import make_home


def forget_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the settings of whoever runs the tests out of the environment."""
    for name in list(os.environ):
        if name.startswith(("DILIGENCE_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("DILIGENCE_AI_PROBE", "off")


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The drive's root, with a home and a folder of facts beside it."""
    forget_settings(monkeypatch)
    root = tmp_path / "room"
    root.mkdir()
    facts = tmp_path / "facts"
    facts.mkdir()
    profile = {"name": "Alpha", "founded_year": 2011, "description": "Alpha sells subscriptions to hospitals."}
    (facts / "alpha.example.json").write_text(json.dumps(profile))
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "home")))
    monkeypatch.setenv("DILIGENCE_DRIVE_ROOT", str(root))
    monkeypatch.setenv("DILIGENCE_FACTS", str(facts))
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    yield root
    database.close()


@contextmanager
def serving(trusted_hosts: list[str] | None = None) -> Iterator[httpx.Client]:
    """A client of a service that runs with the settings in force now."""
    app = create_app(trusted_hosts)
    config = uvicorn.Config(app, http=LimitedConnection, log_config=None, access_log=False, ws="none", lifespan="on")
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="session")
def default_service() -> Iterator[httpx.Client]:
    """One service for all tests: no keys, everything open. Where documents lie it looks up at each request."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        forget_settings(monkeypatch)
        with serving() as client:
            yield client


@pytest.fixture
def service(default_service: httpx.Client, room: Path) -> httpx.Client:
    """A client of the service with its default settings, and `room` as its drive."""
    return default_service
