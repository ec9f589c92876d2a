"""Which styles of a Word document make its paragraphs headings."""

import re
from collections.abc import Callable
from typing import Final

_HEADINGS: Final = re.compile(rb"Heading[1-9]|Title")
_OTHERS: Final = re.compile(rb"Normal|NormalWeb|NoSpacing|ListParagraph|Header|Footer|TOC[1-9]")
"""Word's own styles: with what is known of them, 18 of 142 public documents need to have their styles inflated."""

_STYLE: Final = re.compile(rb"""<w:style(?=\s)[^<]*?\sw:styleId\s*=\s*["']([^"'<]*+)""")
_FACT: Final = re.compile(rb"""<(?:w:(name|basedOn|outlineLvl)\s++w:val\s*+=\s*+["']([^"'<]*+)|/w:style\s*+>)""")
_MOST_BASES: Final = 20
"""Styles may be based on each other in a circle."""


class HeadingStyles:
    """The styles of a document, which `load` gives as scanners take them, once somebody asks for one."""

    def __init__(self, load: Callable[[], bytes]) -> None:
        self._load = load
        self._data: bytes | None = None
        self._starts: dict[bytes, int] = {}
        self._known: dict[bytes, bool] = {}

    def __contains__(self, style: bytes) -> bool:
        """Whether the style of that id makes a heading, by its name or level or by those of what it is based on."""
        heading = self._known.get(style)
        if heading is None:
            heading = _HEADINGS.fullmatch(style) is not None or (
                _OTHERS.fullmatch(style) is None and self._found(style)
            )
            self._known[style] = heading
        return heading

    def _found(self, style: bytes) -> bool:
        if self._data is None:
            self._data = self._load()
            self._starts = {found[1]: found.end() for found in _STYLE.finditer(self._data)}
        chain: list[bytes] = []
        heading = False
        while style in self._starts and not heading and len(chain) <= _MOST_BASES:
            if style in self._known:
                heading = self._known[style]
                break
            chain.append(style)
            heading, style = self._facts(self._data, self._starts[style])
        self._known.update(dict.fromkeys(chain, heading))
        return heading

    def _facts(self, data: bytes, at: int) -> tuple[bool, bytes]:
        """Whether the style that stands at `at` makes a heading by itself, and the id of the one it is based on."""
        heading, base = False, b""
        for fact in _FACT.finditer(data, at):
            kind, value = fact[1], fact[2]
            if kind is None:
                break
            if kind == b"basedOn":
                base = value
            elif kind == b"outlineLvl":
                heading |= b"0" <= value < b"9"
            else:
                heading |= value.lower().startswith(b"heading ") or value.lower() == b"title"
        return heading, base
