"""A Prefect server for the time of one command, where no server is named.

Prefect's own ephemeral server survives a parent that is killed, and keeps its database locked; this one
ends with its parent in any case. It also starts in half the time (3.5 s instead of 7 with a used home).
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import certifi

from storage import database
from tasks.errors import Unavailable

_EPHEMERAL = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
_START_TIMEOUT = 90.0  # seconds; with a new home a start takes 10 on an idle machine


def prepare() -> None:
    """Set Prefect's home and the level of its console log in the environment, which it reads when it is imported."""
    os.environ.setdefault("PREFECT_HOME", str(database.home() / "prefect"))
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")


@contextmanager
def server() -> Iterator[None]:
    """Flows in the block use the server that PREFECT_API_URL names, else one that is started for the block.

    Raises:
        Unavailable: the server did not start.
    """
    prepare()
    if os.environ.get("PREFECT_API_URL"):
        yield
        return
    process = _start()
    try:
        # 1.2 s, and Prefect reads the environment that `prepare` sets when it is imported.
        from prefect import settings  # noqa: PLC0415
        from prefect.events.worker import EventsWorker  # noqa: PLC0415
        from prefect.logging.handlers import APILogWorker  # noqa: PLC0415

        own_server = {
            settings.PREFECT_API_URL: f"http://127.0.0.1:{_port(process)}/api",
            # Heartbeats are for a server that outlives its clients; here they cost a second a flow.
            settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
            # Prefect loads the certificates for each of its many clients, for http too: 120 ms with all of them.
            settings.PREFECT_API_SSL_CERT_FILE: _one_certificate(),
        }
        with settings.temporary_settings(own_server):
            try:
                yield
            finally:
                # Logs and events that are not sent before the server ends are retried for a minute.
                APILogWorker.drain_all(timeout=5)
                EventsWorker.drain_all(timeout=5)
    finally:
        with process:  # closing its stdin ends it
            pass


def _start() -> subprocess.Popen[bytes]:
    log = (Path(os.environ["PREFECT_HOME"]) / "server.log").absolute()
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "flows.prefect_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | _EPHEMERAL,
            process_group=0,  # Ctrl-C must not end it first: Prefect's client would retry for minutes
        )


def _one_certificate() -> str:
    """The path of a file with one certificate of the usual bundle; connections to this machine need none."""
    end = "-----END CERTIFICATE-----\n"
    path = Path(os.environ["PREFECT_HOME"]) / "one-certificate.pem"
    path.write_text(Path(certifi.where()).read_text(encoding="utf-8").split(end)[0] + end, encoding="utf-8")
    return str(path)


def _port(process: subprocess.Popen[bytes]) -> int:
    """The port that the server says it listens on."""
    assert process.stdout is not None
    timer = threading.Timer(_START_TIMEOUT, process.kill)
    timer.start()
    line = process.stdout.readline()
    timer.cancel()
    if not line.strip():
        raise Unavailable("Prefect's server did not start; server.log in its home (DILIGENCE_HOME/prefect) says why.")
    return int(line)
