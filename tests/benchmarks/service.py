"""`/v1/drive/document-text` of a stored text beside a bare Litestar handler that returns the same body."""

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import free_port, is_listening, wait_for

SECONDS = 3.0
CLIENTS = 4
ROUNDS = 5

BARE = """
import sys
import uvicorn
from litestar import Litestar, post

BODY = {"document_id": sys.argv[2], "text": open(sys.argv[3], encoding="utf-8").read()}

@post("/v1/drive/document-text", status_code=200)
async def text(data: dict) -> dict:
    return BODY

uvicorn.run(Litestar([text], openapi_config=None), port=int(sys.argv[1]), log_level="error", access_log=False)
"""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder:
        words = "The largest customer stands for eleven percent of the revenue of the year. " * 40
        Path(folder, "document.txt").write_text(words)
        Path(folder, "bare.py").write_text(BARE)
        ours_port, bare_port = free_port(), free_port()
        environment = os.environ | {"DILIGENCE_HOME": f"{folder}/home", "DILIGENCE_DRIVE_ROOT": folder}
        ours = [sys.executable, "-m", "deployments.cli", "serve", "--port", str(ours_port)]
        with running_server(ours, environment, ours_port):
            document_id = _document_id(ours_port)
            bare = [sys.executable, f"{folder}/bare.py", str(bare_port), document_id, f"{folder}/document.txt"]
            with running_server(bare, environment, bare_port):
                rates = [(_rate(ours_port, document_id), _rate(bare_port, document_id)) for _ in range(ROUNDS)]
    ratios = [mine / other for mine, other in rates]
    mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
    yield (
        f"`/v1/drive/document-text`, stored text : bare handler, median of {ROUNDS} pairs",
        f"{statistics.median(ratios):.2f} × ({mine:.0f} : {other:.0f} requests/s)",
        "0.6 ×",
    )


def _document_id(port: int) -> str:
    index = post_json(
        http.client.HTTPConnection("127.0.0.1", port), "/v1/drive/document-index", {"cloud_drive_folder": "root"}
    )
    documents = json.loads(index)["document_index"][0]["documents"]
    return str(next(document["document_id"] for document in documents if document["document_name"] == "document.txt"))


def _rate(port: int, document_id: str) -> float:
    """Requests a second, asked by a few clients that keep their connections."""
    counts: list[int] = []

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        count, end = 0, time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            post_json(connection, "/v1/drive/document-text", {"document_id": document_id})
            count += 1
        counts.append(count)

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return sum(counts) / SECONDS


def post_json(connection: http.client.HTTPConnection, path: str, body: dict[str, str]) -> bytes:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, content
    return content


@contextmanager
def running_server(
    words: list[str], environment: dict[str, str], port: int, log: Path | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    with (log or Path(os.devnull)).open("wb") as stderr:
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        wait_for(lambda: is_listening(port))
        yield process
    finally:
        process.terminate()
        process.wait()
