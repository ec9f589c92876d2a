"""What scans of Office XML need: the attributes of a tag, the characters of its text, and slices given to lxml.

All on the form that `canonical` gives. No pattern runs past the next `<`, or gives back what it has taken:
their time is linear in the bytes, whatever these are.
"""

import re
from functools import lru_cache
from typing import Final

from lxml import etree

from tasks.documents.extract.office import ooxml
from tasks.documents.extract.office.canonical import PREFIXES

ATTRIBUTES: Final = rb"""(?:\s[^<>"']*+(?:"[^<"]*+"[^<>"']*+|'[^<']*+'[^<>"']*+)*+)?+"""
"""A pattern for what stands between the name of a tag and its `>`; a value may hold one."""

_REST: Final = re.compile(ATTRIBUTES + rb"/?>")
_ATTRIBUTE: Final = re.compile(rb"""\s([\w:.-]++)\s*+=\s*+(?:"([^<"]*+)"|'([^<']*+)')""")
_ENTITY: Final = re.compile("&(?:amp|lt|gt|quot|apos|#[0-9]{1,8}|#x[0-9a-fA-F]{1,8});")
_ENTITIES: Final = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
_WRAPPER: Final = "".join(["<x", *(f' xmlns:{prefix}="{uri}"' for uri, prefix in PREFIXES.items() if prefix), ">"])


def rest_of_tag(data: bytes, at: int) -> bytes:
    """What stands from the end of a tag's name, `at`, to that of the tag: ` w:id="1"/>`; b"" where it does not end."""
    rest = _REST.match(data, at)
    return b"" if rest is None else rest[0]


def attribute(rest: bytes, name: bytes) -> str:
    """An attribute's value out of the rest of its tag; "" when it has none of that name."""
    for found in _ATTRIBUTE.finditer(rest):
        if found[1] == name:
            return unescaped((found[2] or found[3] or b"").decode("utf-8", "replace"))
    return ""


def unescaped(text: str) -> str:
    """`text` with its entities as characters: only the five of XML and numbers occur."""
    return _ENTITY.sub(lambda entity: _character(entity[0]), text) if "&" in text else text


@lru_cache(maxsize=1024)
def _character(entity: str) -> str:
    if entity[1] != "#":
        return _ENTITIES[entity]
    number = int(entity[3:-1], 16) if entity[2] == "x" else int(entity[2:-1])
    return chr(number) if number <= 0x10FFFF else ""


def escaped(text: str) -> bytes:
    """`text` as it would stand in a part, so that it can be put among what is not yet unescaped."""
    return text.replace("&", "&amp;").encode("utf-8", "replace")


def element(piece: bytes) -> etree._Element | None:
    """The tree of one element that was cut out of a part; None when there is no XML in it.

    The usual prefixes need no declaration; what is not closed in it ends with it.
    """
    text = piece.decode("utf-8", "replace")
    if "&#" in text:
        text = _ENTITY.sub(_allowed, text)
    try:
        root = etree.fromstring(f"{_WRAPPER}{text}</x>".encode(), ooxml.parser(recover=True))
    except etree.XMLSyntaxError:
        return None
    return root[0] if root is not None and len(root) else None


def _allowed(entity: re.Match[str]) -> str:
    """A reference, or "" for one to half a character: lxml, told to recover, gives that as bytes that are no text."""
    return "" if "\ud800" <= _character(entity[0]) <= "\udfff" else entity[0]
