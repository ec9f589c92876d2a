"""A proxy before a Prefect server that makes chosen requests fail: answered 500, never answered, or refused."""

import http.client
import re
import threading
import time
from collections.abc import Callable
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class Fault(Enum):
    """What becomes of a request that is not passed on."""

    ANSWERS_500 = "500"
    HANGS = "hang"
    IS_GONE = "gone"


class PrefectProxy:
    """Passes requests on to the server at `upstream`, but for those that `fault` names.

    `fault` is called with the number of the request, from 1, and its kind, such as `POST /api/flow_runs/ID/set_state`.
    After `Fault.IS_GONE` nothing listens. `failed` has the kinds that have failed. Without a `port` it
    takes a free one. Prefect's events, which go through a websocket, do not pass.
    """

    def __init__(self, upstream: str, fault: Callable[[int, str], Fault | None], port: int = 0) -> None:
        self.failed: list[str] = []
        self.is_over = threading.Event()
        lock, count = threading.Lock(), [0]
        server_at = urlsplit(upstream).netloc
        proxy = self

        class Relay(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def relay(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                kind = f"{self.command} {_ID.sub('ID', urlsplit(self.path).path)}"
                with lock:
                    count[0] += 1
                    chosen = fault(count[0], kind)
                    if chosen:
                        proxy.failed.append(kind)
                if chosen is Fault.ANSWERS_500:
                    self.answer(500, [("Content-Type", "application/json")], b'{"detail": "Internal Server Error"}')
                elif chosen is Fault.HANGS:
                    proxy.is_over.wait(60)
                    self.close_connection = True
                elif chosen is Fault.IS_GONE:
                    self.close_connection = True
                    proxy.server.socket.close()
                else:
                    self.pass_on(body)

            def pass_on(self, body: bytes) -> None:
                connection = http.client.HTTPConnection(server_at, timeout=60)
                headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                connection.close()
                kept = [
                    (name, value)
                    for name, value in answer.getheaders()
                    if name.startswith("content-") and name != "content-length"
                ]
                self.answer(answer.status, kept, content)

            def answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
                self.send_response(status)
                for name, value in [*headers, ("Content-Length", str(len(content)))]:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = relay  # noqa: N815

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Relay)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.url = f"http://127.0.0.1:{self.server.server_port}/api"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.is_over.set()
        self.server.socket.close()

    def _serve(self) -> None:
        while not self.is_over.is_set():
            try:
                self.server.handle_request()
            except (OSError, ValueError):  # its socket is closed
                return
            time.sleep(0)
