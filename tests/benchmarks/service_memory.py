"""The memory of the whole service while it answers the largest bodies: six contexts of 57 MB, sent at once.

python -m tests.benchmarks.service_memory [KIND ...]     kinds: prose, wide, lines, values; each also with `-model`
"""

import http.client
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

from tests.benchmarks.service import running_server
from tests.servers.openai_server import ModelServer
from tests.waiting import free_port

CLIENTS: Final = 6
MB: Final = 1_000_000
SIZE: Final = 57 * MB
_TARGET: Final = "1 GB"


def _prose(end: str = "") -> str:
    sentences, size, number = [], 0, 0
    while size < SIZE - 200:
        number += 1
        sentence = (
            f"In lot {number} the supplier of part {number * 7919 % 100003} delivers {number % 97} units to the plant. "
        )
        sentences.append(sentence)
        size += len(sentence)
        if number % 8 == 0:
            sentences.append("\n")
            size += 1
    return "".join(sentences) + end


KINDS: Final[dict[str, Callable[[], bytes]]] = {
    "prose": lambda: _question(_prose()),
    "wide": lambda: _question(_prose(end="\U0001f600")),  # one such character, and each takes four bytes
    "lines": lambda: _question("".join(f"{number % 100000}.\n" for number in range(SIZE // 7))),
    "one word": lambda: _question("a" * SIZE),
    "letters": lambda: _question("é" * (SIZE // 2)),
    "values": lambda: b'{"question": "What?", "context": [' + b"{}," * (SIZE // 3) + b"{}]}",
    "keys": lambda: b"{" + b",".join(b'"%x":0' % number for number in range(SIZE // 11)) + b"}",
}
"""Bodies by what is hard about them: long, wide, of very many sentences, of one, of very many values."""


def _question(context: str) -> bytes:
    question = {"question": "Which supplier delivers units to the plant in lot 17?", "context": context}
    return json.dumps(question, ensure_ascii=False).encode()


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for kind in ("prose", "wide", "lines", "values"):
        for with_model in (False, True):
            peak, idle, seconds, statuses = peak_of(KINDS[kind](), with_model=with_model)
            judged = "with" if with_model else "without"
            yield (
                f"{CLIENTS} bodies of 57 MB at once, {kind}, {judged} a model: memory of the whole service",
                f"{peak / MB:.0f} MB ({idle / MB:.0f} idle), answers {statuses}, {seconds:.0f} s",
                _TARGET,
            )


def peak_of(body: bytes, *, with_model: bool, clients: int = CLIENTS) -> tuple[int, int, float, str]:
    """The most that the service's processes took together and before, in bytes; seconds; which statuses came."""
    model: AbstractContextManager[ModelServer | None] = (
        ModelServer(says="Supplier 17 delivers 17 units to the plant in lot 17 [1].") if with_model else nullcontext()
    )
    with tempfile.TemporaryDirectory() as folder, model as server:
        port = free_port()
        environment = os.environ | {"DILIGENCE_HOME": f"{folder}/home", "DILIGENCE_DRIVE_ROOT": folder}
        if server is not None:
            environment |= {"DILIGENCE_AI_MODEL": "m", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k"}
        ours = [sys.executable, "-m", "deployments.cli", "serve", "--port", str(port)]
        with running_server(ours, environment, port) as process:
            ask(port, b'{"question": "What?", "context": "This."}')
            idle = memory_of(process.pid)
            statuses: list[int] = []
            began = time.perf_counter()
            with watched(process.pid) as peaks:
                threads = [threading.Thread(target=lambda: statuses.append(ask(port, body))) for _ in range(clients)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            seconds = time.perf_counter() - began
    counted = ", ".join(f"{statuses.count(status)} × {status}" for status in sorted(set(statuses)))
    return max(peaks), idle, seconds, counted


def ask(port: int, body: bytes) -> int:
    """The status of the answer to a question, which is read to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1800)
    connection.request("POST", "/v1/ai/question", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    while answer.read(1 << 20):
        pass
    connection.close()
    return answer.status


@contextmanager
def watched(root: int) -> Iterator[list[int]]:
    """What the process and all below it take, looked at all the time in the block."""
    peaks, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            peaks.append(memory_of(root))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        over.set()
        watcher.join()


def memory_of(root: int) -> int:
    """The bytes that a process and those below it take, what they share counted once (PSS)."""
    return sum(_pss(process) for process in tree_of(root))


def tree_of(root: int) -> list[int]:
    """A process and all below it."""
    found, new = [root], [root]
    while new:
        new = [child for process in new for child in _children(process)]
        found += new
    return found


def _children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []


def _pss(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    for name in sys.argv[1:] or KINDS:
        kind, with_model = name.removesuffix("-model"), name.endswith("-model")
        peak, idle, seconds, statuses = peak_of(KINDS[kind](), with_model=with_model)
        print(f"{name}: {peak / MB:.0f} MB ({idle / MB:.0f} idle), {statuses}, {seconds:.0f} s", flush=True)
