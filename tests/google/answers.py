"""A call as it comes in, and what goes back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.google.parameters import Parameters

JSON = "application/json; charset=UTF-8"


@dataclass(frozen=True)
class Call:
    """One HTTP request, or one part of a batch; the headers' names in lower case."""

    verb: str
    path: str
    parameters: Parameters
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass
class Answer:
    """`body` whole, or in pieces of `length` bytes altogether (None: the length is not told)."""

    status: int
    body: bytes | Iterator[bytes]
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """`value` as JSON; bytes are taken as JSON already."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return Answer(status, body, {"content-type": JSON, **(headers or {})}, len(body))
