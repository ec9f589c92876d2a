"""The `fields` parameter: Google's partial responses, checked against the names in the discovery document.

`a,b/c,d(e,f/g),*` is read into nested mappings; a leaf is the whole value. What is not asked for is
not sent, `nextPageToken` included.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import googleapiclient
import msgspec

from tests.google.refusals import Refused, invalid_parameter

Selection = Mapping[str, "Selection | None"]

_TOKEN = re.compile(r"[A-Za-z][\w.]*|[*(),/]|\s+|.", re.DOTALL)
_DISCOVERY = Path(googleapiclient.__file__).parent / "discovery_cache/documents/drive.v3.json"


@lru_cache(maxsize=1)
def schemas() -> dict[str, Any]:
    """The response types of Drive v3, as Google publishes them with its Python client."""
    found: dict[str, Any] = msgspec.json.decode(_DISCOVERY.read_bytes())["schemas"]
    return found


@lru_cache(maxsize=512)
def select(fields: str, schema: str) -> Selection | None:
    """What `fields` asks of a response of the type `schema` (`FileList`); None is everything.

    Raises:
        Refused: 400 invalidParameter for a bad or unknown field.
    """
    tokens = [token for token in _TOKEN.findall(fields) if not token.isspace()]
    found, rest = _list(tokens, 0, {"$ref": schema}, fields)
    if rest != len(tokens) or not tokens:
        raise _bad(fields)
    return found


def take(value: Any, selection: Selection | None) -> Any:
    """The part of a response that was asked for."""
    if selection is None:
        return value
    if isinstance(value, list):
        return [take(one, selection) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: take(value[name], inner) for name, inner in selection.items() if name in value}


def _list(tokens: list[str], at: int, schema: Any, fields: str) -> tuple[Selection | None, int]:
    found: dict[str, Selection | None] = {}
    everything = False
    while True:
        name, inner, at = _one(tokens, at, schema, fields)
        if name == "*":
            everything = True
        elif name in found and found[name] is not None and inner is not None:
            found[name] = {**(found[name] or {}), **inner}
        else:
            found[name] = inner
        if at < len(tokens) and tokens[at] == ",":
            at += 1
            continue
        return (None if everything else found), at


def _one(tokens: list[str], at: int, schema: Any, fields: str) -> tuple[str, Selection | None, int]:
    if at >= len(tokens) or tokens[at] in {"(", ")", ",", "/"}:
        raise _bad(fields)
    name = tokens[at]
    below = _below(schema, name)
    if below is None:
        raise _bad(name)
    at += 1
    if at < len(tokens) and tokens[at] == "/":
        inner_name, inner, at = _one(tokens, at + 1, below, fields)
        return name, None if inner_name == "*" else {inner_name: inner}, at
    if at < len(tokens) and tokens[at] == "(":
        inner, at = _list(tokens, at + 1, below, fields)
        if at >= len(tokens) or tokens[at] != ")":
            raise _bad(fields)
        return name, inner, at + 1
    return name, None, at


def _below(schema: Any, name: str) -> Any:
    """The type of a field, {} where any name goes; None where the field is unknown."""
    schema = schema.get("items", schema)
    if "$ref" in schema:
        schema = schemas()[schema["$ref"]]
    if name == "*":
        return {}
    if "properties" in schema:
        return schema["properties"].get(name)
    if "additionalProperties" in schema or not schema:
        return schema.get("additionalProperties", {})
    return None


def _bad(fields: str) -> Refused:
    return invalid_parameter("fields", f"Invalid field selection {fields}")
