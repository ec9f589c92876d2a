"""A Prefect server for the time of one command, where no server is named.

Prefect's own ephemeral server outlives a killed parent and holds its database; this one ends with
its parent, however that ends. It also starts in half the time (3.5 s instead of 7 on a used home).
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage import database
from tasks.errors import Unavailable

_EPHEMERAL = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
_PATIENCE = 90.0  # seconds; a fresh home takes 10 on a quiet machine


def prepare() -> None:
    """Settle Prefect's home and its voice on the terminal; it reads them once, when it is imported."""
    os.environ.setdefault("PREFECT_HOME", str(database.home() / "prefect"))
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")


@contextmanager
def server() -> Iterator[None]:
    """Flows run within the block have a server: the one that PREFECT_API_URL names, else one of their own.

    Raises:
        Unavailable: the server did not start.
    """
    prepare()
    if os.environ.get("PREFECT_API_URL"):
        yield
        return
    process = _start()
    try:
        from prefect import settings  # noqa: PLC0415

        quick = {
            settings.PREFECT_API_URL: f"http://127.0.0.1:{_port(process)}/api",
            # Heartbeats tell a server that outlives us of our death; here they cost a second a flow.
            settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
            # Prefect reads all of these for each of its many clients, also for http: 120 ms with the whole bundle.
            settings.PREFECT_API_SSL_CERT_FILE: _one_certificate(),
        }
        with settings.temporary_settings(quick):
            try:
                yield
            finally:
                _drain()
    finally:
        with process:  # closing its stdin ends it
            pass


def _start() -> subprocess.Popen[bytes]:
    log = (Path(os.environ["PREFECT_HOME"]) / "server.log").absolute()
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "flows.prefect_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | _EPHEMERAL,
            process_group=0,  # Ctrl-C at a terminal must not end it before us: Prefect would ask it in vain for minutes
        )


def _one_certificate() -> str:
    """A bundle that holds the first certificate of the usual one; nothing is encrypted on the way to ourselves."""
    import certifi  # noqa: PLC0415

    end = "-----END CERTIFICATE-----\n"
    path = Path(os.environ["PREFECT_HOME"]) / "one-certificate.pem"
    path.write_text(Path(certifi.where()).read_text(encoding="utf-8").split(end)[0] + end, encoding="utf-8")
    return str(path)


def _drain() -> None:
    """Let Prefect send the logs and events that it still holds: after the server's end it would try for a minute."""
    from prefect.events.worker import EventsWorker  # noqa: PLC0415
    from prefect.logging.handlers import APILogWorker  # noqa: PLC0415

    APILogWorker.drain_all(timeout=5)
    EventsWorker.drain_all(timeout=5)


def _port(process: subprocess.Popen[bytes]) -> int:
    """The port that the server says it listens on."""
    assert process.stdout is not None
    timer = threading.Timer(_PATIENCE, process.kill)
    timer.start()
    line = process.stdout.readline()
    timer.cancel()
    if not line.strip():
        raise Unavailable("Prefect's server did not start; server.log in its home (DILIGENCE_HOME/prefect) says why.")
    return int(line)


def _serve() -> None:
    """The child: Prefect's server on a free port, told on stdout; it ends when its stdin does."""
    import socket  # noqa: PLC0415

    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()

    import uvicorn  # noqa: PLC0415
    from prefect.server.api.server import create_app  # noqa: PLC0415

    # Named as TCP, so that asyncio turns Nagle off: 40 ms a request otherwise.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(listening.getsockname()[1], flush=True)  # noqa: T201 - the parent reads it

    Server(uvicorn.Config(create_app(ephemeral=True), log_level="error", lifespan="on")).run([listening])


if __name__ == "__main__":
    _serve()
