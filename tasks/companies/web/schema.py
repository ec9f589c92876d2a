"""What a page says of its subject in schema.org's words, by JSON-LD or by microdata, in one form.

The form is JSON-LD's: `{"@type": "Organization", "name": …}`, a type without the address of its vocabulary.
"""

from collections.abc import Iterator
from typing import Any, Final

from lxml import html

from tasks.companies.web.plain import plain

_MOST: Final = 200
_DEPTH: Final = 12
_VALUES: Final = 20_000
"""Values of one page, in all its things: catalogues name every product, a company says what it is in twenty."""
_LENGTH: Final = 10_000
_SCOPES, _NESTED = 2_000, 10
"""Items in microdata, which take 0.2 s, and how deep one lies within others: 250 deep, they take 8 s."""


def things(tree: html.HtmlElement, base: str) -> list[dict[str, Any]]:
    """The things that a page describes, its graphs taken apart; at most 200, and none that is broken."""
    found: list[dict[str, Any]] = []
    room = _Room(_VALUES)
    for thing in (*_json_ld(tree), *_microdata(tree, base)):
        try:
            plain_thing = _plain(thing, room, _DEPTH)
        except OverflowError:
            break
        if isinstance(plain_thing, dict) and plain_thing:
            found.append(plain_thing)
    return found[:_MOST]


def _json_ld(tree: html.HtmlElement) -> Iterator[Any]:
    from extruct.jsonld import JsonLdExtractor  # type: ignore[import-untyped]  # noqa: PLC0415 - 0.5 s

    extractor = JsonLdExtractor()
    for script in list(tree.iter("script")):
        if not (script.get("type") or "").strip().lower().startswith("application/ld+json"):
            continue
        script.set("type", "application/ld+json")
        try:
            items = extractor.extract_items(script)
        except (ValueError, RecursionError):  # broken: the others may be well
            continue
        for item in items:
            graph = item.get("@graph") if isinstance(item, dict) else None
            yield from graph if isinstance(graph, list) else [item]


def _microdata(tree: html.HtmlElement, base: str) -> Iterator[Any]:
    from extruct.w3cmicrodata import MicrodataExtractor  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    scopes = tree.xpath("//*[@itemscope]")
    if not scopes or len(scopes) > _SCOPES:
        return
    if tree.xpath(f"boolean(//*[@itemscope][count(ancestor::*[@itemscope]) > {_NESTED}])"):
        return
    try:
        items = MicrodataExtractor().extract_items(tree, base)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - what odd markup makes it stumble over; the page has more to say
        return
    for item in items:
        yield _as_json_ld(item)


def _as_json_ld(value: Any) -> Any:
    """What microdata gives (`{"type": …, "properties": {…}}`) as JSON-LD has it."""
    if isinstance(value, list):
        return [_as_json_ld(each) for each in value]
    if not isinstance(value, dict) or "properties" not in value:
        return value
    named = {"@type": value["type"]} if "type" in value else {}
    if "id" in value:
        named["@id"] = value["id"]
    return named | {name: _as_json_ld(each) for name, each in value["properties"].items()}


class _Room:
    """How many values there is still room for."""

    def __init__(self, values: int) -> None:
        self._left = values

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise OverflowError


def _plain(value: Any, room: _Room, depth: int) -> Any:
    """A value with plain texts and types; deeper than is sensible it is null."""
    room.take()
    if isinstance(value, str):
        return plain(value[:_LENGTH]).strip()
    if depth == 0 or value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, dict | list) else None
    if isinstance(value, list):
        return [_plain(each, room, depth - 1) for each in value]
    if isinstance(value, dict):
        named = {plain(str(name)[:200]).strip(): _plain(each, room, depth - 1) for name, each in value.items()}
        if "@type" in named:
            named["@type"] = _type(named["@type"])
        return named
    return None


def _type(given: Any) -> Any:
    if isinstance(given, list):
        return [_type(each) for each in given]
    return given.rstrip("/").rpartition("/")[2].rpartition(":")[2] if isinstance(given, str) else given
