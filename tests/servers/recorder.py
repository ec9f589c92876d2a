"""A relay before a server that writes down what passes, byte by byte and in its time.

    with Recorder(server.url) as recorder:
        OpenAiAnswerer("m", base_url=recorder.url).answer("How much?", [])
        assert [exchange.status for exchange in recorder.exchanges()] == [200]

It knows nothing of what it passes on: a stream stays one, and whoever leaves on one side has the other side closed.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPResponse, IncompleteRead, parse_headers
from io import BytesIO
from socket import socket
from typing import Any, Self, cast
from urllib.parse import urlsplit

from tasks.ai.openai.protocols import Arrival


def join_stream(body: bytes) -> bytes:
    """The body that a recorded answer would have as a whole. Raises ValueError where it breaks off."""
    arrival = Arrival()
    arrival.add(body)
    return arrival.whole()


@dataclass(frozen=True)
class Exchange:
    """A request and what came back; `status` is 0 where nothing did, `whole` says whether all of it did."""

    method: str
    path: str
    body: dict[str, Any]
    status: int
    content_type: str
    answer: bytes
    whole: bool

    @property
    def is_loop(self) -> bool:
        """Whether the answer says the same again and again, so that whoever asked is right to leave."""
        arrival = Arrival()
        arrival.add(self.answer)
        return arrival.is_endless


@dataclass
class _Connection:
    sent: bytes = b""
    received: bytes = b""


class Recorder:
    """The relay; `url` is the upstream's address at the relay's port."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._path = parts.path
        self._connections: list[_Connection] = []

    def exchanges(self) -> list[Exchange]:
        """All that passed so far, in the order in which the connections were opened."""
        return [exchange for connection in self._connections for exchange in _exchanges(connection)]

    @property
    def asked(self) -> list[Exchange]:
        """The calls of the model: what was posted."""
        return [exchange for exchange in self.exchanges() if exchange.method == "POST"]

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        serving = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)
        self.url = f"http://127.0.0.1:{serving.result(10)}{self._path}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> int:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _end(self) -> None:
        self._server.close()
        open_ones = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept = _Connection()
        self._connections.append(kept)
        try:
            upstream, towards = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.close()
            return

        async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter, name: str) -> None:
            with suppress(OSError):
                while piece := await source.read(65536):
                    setattr(kept, name, getattr(kept, name) + piece)
                    target.write(piece)
                    await target.drain()

        ways = [
            asyncio.ensure_future(pump(reader, towards, "sent")),
            asyncio.ensure_future(pump(upstream, writer, "received")),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass  # the relay ends
        finally:
            for way in ways:
                way.cancel()
            for end in (writer, towards):
                end.close()


class _Bytes:
    """What `HTTPResponse` reads a response from in place of a connection; it closes its file after each."""

    def __init__(self, content: bytes) -> None:
        self.file = BytesIO(content)
        self.file.close = lambda: None  # type: ignore[method-assign]

    def makefile(self, *_: object) -> BytesIO:
        return self.file


def _exchanges(connection: _Connection) -> Iterator[Exchange]:
    sent, received = BytesIO(connection.sent), _Bytes(connection.received)
    while line := sent.readline().decode("latin-1"):
        method, path, _ = line.split(" ", 2)
        length = int(parse_headers(sent).get("Content-Length", 0))
        body = sent.read(length)
        if len(body) < length:
            return  # still on its way
        response = HTTPResponse(cast("socket", received), method=method)
        status, content_type, answer, whole = 0, "", b"", False
        with suppress(OSError, ValueError):
            response.begin()
            status, content_type = response.status, response.headers.get("Content-Type", "")
            try:
                answer, whole = response.read(), True
            except IncompleteRead as cut:
                answer = cut.partial
        yield Exchange(method, path, json.loads(body) if body else {}, status, content_type, answer, whole)
