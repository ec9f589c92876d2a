"""Serialises results to JSON bodies; long ones are streamed in pieces."""

import secrets
from collections.abc import Iterator
from typing import Any, Final

from litestar import MediaType, Response
from litestar.response import Stream
from pydantic import BaseModel
from pydantic_core import to_json

LONG: Final = 1024 * 1024
"""Characters of a text that goes out in pieces."""
_PIECE: Final = 256 * 1024


def answered(answer: BaseModel, *, include: set[str] | None = None) -> Response[Any]:
    """The answer of an operation as JSON, written by the model itself: quicker than Litestar's encoders.

    With `include` those fields alone.
    """
    long = {name: value for name, value in answer if isinstance(value, str) and len(value) > LONG}
    if long:
        return Stream(_in_pieces(answer, long, include), media_type=MediaType.JSON)
    return Response(_json(answer, include), media_type=MediaType.JSON)


def _json(answer: BaseModel, include: set[str] | None) -> bytes:
    return answer.__pydantic_serializer__.to_json(answer, include=include)


def _in_pieces(answer: BaseModel, long: dict[str, str], include: set[str] | None) -> Iterator[bytes]:
    """The JSON of an answer, a piece of each long text after the other."""
    marks = {name: secrets.token_hex(16) for name in long}
    rest = _json(answer.model_copy(update=marks), include)
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
