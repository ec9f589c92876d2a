"""Office formulas on one line: those with a shape by their trees, what nests deeper than a parser follows flat."""

import re
from typing import Final

from lxml import etree

from tasks.documents.extract.office import markup
from tasks.documents.extract.office.ooxml import M, W

_WORDS: Final = re.compile(rb"<[mw]:t(?:\s[^<>]*+)?(?<!/)>([^<]++)")
_TEXTS: Final = (M + "t", W + "t")
_LARGEST: Final = 1 << 20
"""Bytes of a formula that is given to lxml."""


def flat(data: bytes, start: int, end: int) -> list[bytes]:
    """The words of the formula that stands between `start` and `end` of a part, escaped as they are there."""
    words: list[bytes] = _WORDS.findall(data, start, end)
    return words


def shaped(data: bytes, start: int, end: int) -> list[bytes]:
    """The same, with its shape: `a/b`, `x²`. Flat where it is larger than 1 MB or nests beyond 256 elements.

    A tree takes 20 µs, so a caller bounds how many formulas it asks for.
    """
    words = flat(data, start, end)
    if not words or end - start >= _LARGEST:
        return words
    element = markup.element(data[start:end])
    if element is None or sum(bool(text.text) for text in element.iter(*_TEXTS)) < len(words):
        return words  # the parser stops where it is too deep
    return [markup.escaped(on_one_line(element))]


def on_one_line(element: etree._Element) -> str:
    """An Office formula on one line: `a/b`, `x²` or `x^k`, `x₂` or `x_k`, `√`."""
    pieces: list[str] = []
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name in ("t", "delText"):
            pieces.append((child.text or "") if name == "t" else "")
        elif name == "f":
            pieces.append("/".join(on_one_line(part) for part in child if part.tag in (M + "num", M + "den")))
        elif name in ("sup", "sub"):
            pieces.append(_raised(on_one_line(child)) if name == "sup" else _lowered(on_one_line(child)))
        elif name == "rad":
            pieces.append("√" + "".join(on_one_line(part) for part in child if part.tag == M + "e"))
        elif not name.endswith("Pr"):
            pieces.append(on_one_line(child))
    return "".join(pieces)


def _raised(text: str) -> str:
    if set(text) <= set("0123456789+-=()ni"):
        return text.translate(str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"))
    return f"^({text})" if len(text) > 1 else f"^{text}"


def _lowered(text: str) -> str:
    if set(text) <= set("0123456789+-=()"):
        return text.translate(str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"))
    return f"_({text})" if len(text) > 1 else f"_{text}"
