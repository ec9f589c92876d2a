"""Serialises results to JSON bodies: long ones are streamed in pieces, frequent ones are cached (`KeptBodies`)."""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

from litestar import MediaType, Response
from litestar.response import Stream
from pydantic import BaseModel
from pydantic_core import to_json

LONG: Final = 1024 * 1024
"""Characters of a text that goes out in pieces."""
_PIECE: Final = 256 * 1024


class KeptBodies:
    """An LRU cache of serialised bodies, `max_bytes` in all. No body is longer than `LONG`.

    A body is valid for the very object that it was serialised from.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._bodies: OrderedDict[Hashable, tuple[object, bytes]] = OrderedDict()

    def body(self, key: Hashable, written_from: object, write: Callable[[], bytes]) -> bytes:
        """The body under `key`, which `write` gives where none is kept that was written from that object."""
        entry = self._bodies.get(key)
        if entry is not None and entry[0] is written_from:
            self._bodies.move_to_end(key)
            return entry[1]
        if entry is not None:
            self._forget(key)
        body = write()
        if len(body) <= LONG:
            self._bodies[key] = written_from, body
            self._bytes += len(body)
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._bodies)))
        return body

    def _forget(self, key: Hashable) -> None:
        self._bytes -= len(self._bodies.pop(key)[1])


class Written(Response[bytes]):
    """A response whose body is serialised already; Litestar's own takes a fifth of a short call's time."""

    def __init__(self, body: bytes) -> None:
        super().__init__(body, media_type=MediaType.JSON)

    def to_asgi_response(self, app: Any, request: Any, **_: Any) -> Any:  # noqa: ARG002 - as Litestar calls it
        return self._send

    async def _send(self, _scope: Any, _receive: Any, send: Any) -> None:
        await send_json(self.content, send)


async def send_json(body: bytes, send: Any) -> None:
    """Send an answer whose JSON is written."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def answered(answer: BaseModel, *, include: set[str] | None = None, only_set: bool = False) -> Response[Any]:
    """The answer of an operation as JSON, written by the model itself: quicker than Litestar's encoders.

    With `include` those fields alone; with `only_set` those that were set.
    """
    long = {name: value for name, value in answer if isinstance(value, str) and len(value) > LONG}
    if long:
        return Stream(_in_pieces(answer, long, include=include, only_set=only_set), media_type=MediaType.JSON)
    return Response(_json(answer, include=include, only_set=only_set), media_type=MediaType.JSON)


def _json(answer: BaseModel, *, include: set[str] | None, only_set: bool) -> bytes:
    return answer.__pydantic_serializer__.to_json(answer, include=include, exclude_unset=only_set)


def _in_pieces(answer: BaseModel, long: dict[str, str], **how: Any) -> Iterator[bytes]:
    """The JSON of an answer, a piece of each long text after the other."""
    marks = {name: secrets.token_hex(16) for name in long}
    rest = _json(answer.model_copy(update=marks), **how)
    for name, text in long.items():  # in the order of the fields, as they stand in the JSON
        before, has_mark, behind = rest.partition(marks[name].encode())
        if has_mark:
            yield before
            for start in range(0, len(text), _PIECE):
                yield to_json(text[start : start + _PIECE])[1:-1]
            rest = behind
    yield rest


def pieces(body: bytes) -> list[memoryview]:
    """A long body in pieces: each is sent when the client took the one before, so that none piles up."""
    view = memoryview(body)
    return [view[start : start + _PIECE] for start in range(0, len(body), _PIECE)]
