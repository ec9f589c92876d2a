"""The service under load: ordinary clients beside hundreds of slow ones, next to a bare Litestar handler.

python -m tests.benchmarks load

The slow ones come from four other addresses of this machine: some send nothing, some half a head, some a body a byte at
a time, some ask for a long text and take nothing of it. Ordinary clients ask for a stored text, each over one
connection.
"""

import http.client
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.service import BARE, free_port, running_server
from tests.benchmarks.service_memory import MB, tree_of, watched

CLIENTS: Final = 8
SLOW: Final = 400
SECONDS: Final = 15.0
GONE_AFTER: Final = 60.0
"""Seconds after which no slow connection may stand."""
_WORDS: Final = "The largest customer stands for eleven percent of the revenue of the year. "
_KINDS: Final = ("nothing", "half a head", "a slow body", "a slow reader")
_PATH: Final = "/v1/drive/document-text"


class Figures(NamedTuple):
    """Of ordinary clients: requests a second, and the median and the 99th percentile of their times in seconds."""

    rate: float
    median: float
    p99: float

    def __str__(self) -> str:
        return f"{self.rate:.0f} requests/s, {self.median * 1e3:.1f}, {self.p99 * 1e3:.1f} ms"


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        root = Path(folder, "root")
        root.mkdir()
        (root / "short.txt").write_text(_WORDS * 40)
        (root / "long.txt").write_text(_WORDS * 60_000)
        Path(folder, "bare.py").write_text(BARE)
        port, bare_port = free_port(), free_port()
        log = Path(folder, "log")
        environment = os.environ | {"DILIGENCE_HOME": f"{folder}/home", "DILIGENCE_DRIVE_ROOT": str(root)}
        ours = [sys.executable, "-m", "deployments.cli", "serve", "--port", str(port)]
        service = servers.enter_context(running_server(ours, environment, port, log))
        short, long = _ids(port)
        ask(port, long)
        bare = [sys.executable, f"{folder}/bare.py", str(bare_port), short, str(root / "short.txt")]
        servers.enter_context(running_server(bare, environment, bare_port))

        what = f"`document-text` with {CLIENTS} clients: requests a second, median, 99th percentile"
        yield what, str(_figures(port, short)), "–"
        yield (
            f"the same of a bare handler, whose requests are answered by {len(_WORDS) * 40} bytes",
            str(_figures(bare_port, short)),
            "–",
        )
        with watched(service.pid) as memory, _slow_clients(port, long) as slow:
            opened = time.monotonic()
            figures, descriptors = _figures(port, short), _descriptors(service)
            while time.monotonic() < opened + GONE_AFTER:
                time.sleep(1)
                descriptors = max(descriptors, _descriptors(service))
            standing = sum(map(_stands, slow))
        yield f"the same, {SLOW} slow clients beside them", str(figures), "all answered"
        yield f"of {SLOW} slow connections stand after {GONE_AFTER:g} s", str(standing), "0"
        yield "memory of the service meanwhile (PSS)", f"{max(memory) / MB:.0f} MB", "1 GB"
        yield "descriptors of the service", str(descriptors), "–"
        yield "the service's log", f"{log.stat().st_size / 1000:.1f} KB", "1 MB"
        with _slow_clients(bare_port, short):
            yield "the bare handler, as many slow clients beside", str(_figures(bare_port, short)), "–"


def _ids(port: int) -> tuple[str, str]:
    """The ids of the short and the long document."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(
        "POST",
        "/v1/drive/document-index",
        json.dumps({"cloud_drive_folder": "root"}),
        {"Content-Type": "application/json"},
    )
    documents = json.loads(connection.getresponse().read())["document_index"][0]["documents"]
    by_name = {document["document_name"]: str(document["document_id"]) for document in documents}
    ask(port, by_name["short.txt"])
    return by_name["short.txt"], by_name["long.txt"]


def ask(port: int, document_id: str) -> None:
    """Ask for a text, once."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    _ask(connection, document_id)
    connection.close()


def _ask(connection: http.client.HTTPConnection, document_id: str) -> None:
    connection.request("POST", _PATH, json.dumps({"document_id": document_id}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, answer.status


def _figures(port: int, document_id: str) -> Figures:
    """What ordinary clients see, in a process of their own: the slow ones' would take their time."""
    program = f"from tests.benchmarks.load import be_clients; be_clients({port}, {document_id!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return Figures(*json.loads(done.stdout))


def be_clients(port: int, document_id: str) -> None:
    """Be the ordinary clients, and print their figures as JSON."""
    times: list[float] = []

    def be_one() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.perf_counter() + SECONDS
        while (began := time.perf_counter()) < end:
            _ask(connection, document_id)
            times.append(time.perf_counter() - began)

    clients = [threading.Thread(target=be_one) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    cuts = statistics.quantiles(times, n=100)
    sys.stdout.write(json.dumps([len(times) / SECONDS, cuts[49], cuts[98]]))


@contextmanager
def _slow_clients(port: int, document_id: str) -> Iterator[Sequence[socket.socket]]:
    """Slow clients of each kind, from four addresses; those that send a body go on doing so."""
    body = json.dumps({"document_id": document_id}).encode()
    head = f"POST {_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ".encode()
    sent = {
        "nothing": b"",
        "half a head": head[:40],
        "a slow body": head + b"100000\r\n\r\n",
        "a slow reader": head + b"%d\r\n\r\n" % len(body) + body,
    }
    over = threading.Event()
    sockets: list[socket.socket] = []
    dripping: list[socket.socket] = []

    def drip() -> None:
        while not over.wait(1):
            for one in dripping:
                with suppress(OSError):
                    one.send(b" ")

    with ExitStack() as opened:
        for number in range(SLOW):
            kind = _KINDS[number % len(_KINDS)]
            one = opened.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.bind((f"127.0.0.{2 + number // len(_KINDS) % 4}", 0))
            one.settimeout(30)
            one.connect(("127.0.0.1", port))
            one.sendall(sent[kind])
            sockets.append(one)
            if kind == "a slow body":
                dripping.append(one)
        dripper = threading.Thread(target=drip)
        dripper.start()
        try:
            yield sockets
        finally:
            over.set()
            dripper.join()


def _stands(one: socket.socket) -> bool:
    """Whether the server still has this connection; what it has sent is read and thrown away."""
    one.setblocking(False)
    with selectors.DefaultSelector() as ready:
        ready.register(one, selectors.EVENT_READ)
        while True:
            if not ready.select(0.01):
                return True
            try:
                if not one.recv(65536):
                    return False
            except OSError:
                return False


def _descriptors(service: "subprocess.Popen[bytes]") -> int:
    return sum(len(list(Path(f"/proc/{process}/fd").iterdir())) for process in tree_of(service.pid))
