"""The alternative text of pictures, charts and shapes: what somebody wrote of them for those who cannot see them.

`descr` of `cNvPr` or `docPr` (ECMA-376 part 1, 20.1.2.2.8); `title` where there is no other. Programs fill it with
names of files and addresses, which tell a reader nothing.
"""

import re
from functools import lru_cache
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.ooxml import xml

_LONGEST: Final = 10_000
_SUFFIXES: Final = "png|jpe?g|jfif|gif|bmp|dib|tiff?|svg|[ew]mf|webp|heic|ico|pict?|eps|pdf"
_TELLS_NOTHING: Final = re.compile(
    rf"""
      [^\n]{{1,250}}\.(?:{_SUFFIXES})                 # the name of a file, with or without a path
    | (?:[a-z]:[\\/]|\\\\|\.{{0,2}}/|file:)[^\n]*     # a path
    | (?:https?|ftp|data|cid|blob):\S*(?:\ .{{0,100}})?
    | \W*+(?:picture|image|img|photo|graphic|gr[aá]fi[ck]o?|graphique|bild|imagen|imagem|immagine|afbeelding
        |obr[aá]zek|slide|diagramm?|chart|obje[ck]t|shape|group|gruppe|rectangle|rechteck|text\ ?box|textfeld|icon
        |logo|(?:content\ |picture\ )?placeholder|google\ shape|smartart)?[\W\d_]*+
    | (?=\S*\d{{5}})[\w.-]+                           # IMG_20240501, shutterstock_1234567
    | [!_]*[a-z]{{2,}}[-_]?\d{{1,4}}|\W*_\w+             # meeting2, gg-09, !_Of2K1: names of files
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DECORATIVE: Final = re.compile(rb"""<[\w.-]++:decorative(?=\s)(?![^<]*?\sval\s*+=\s*+["'](?:0|false)["'])""")


def alternative_text(attributes: bytes, below: bytes = b"") -> str:
    """The alternative text in one line; "" where it tells nothing, or only repeats the name of the shape.

    Args:
        attributes: those of a `cNvPr` or `docPr`.
        below: what stands in that element; with `adec:decorative` in it, the picture is decoration.
    """
    if b"descr" not in attributes and b"title" not in attributes:
        return ""
    words = telling_words(xml.attribute(attributes, b"descr") or xml.attribute(attributes, b"title"))
    if not words or words == one_line(xml.attribute(attributes, b"name")):
        return ""
    return "" if is_decorative(below) else words


def telling_words(text: str) -> str:
    """`text`, an alternative text, in one line; "" where it tells nothing."""
    words = one_line(text[:_LONGEST])
    return "" if not words or _tells_nothing(words) else words


def is_decorative(below: bytes) -> bool:
    """Whether what stands in a `docPr` or `cNvPr` says that its picture is decoration."""
    return _DECORATIVE.search(below) is not None


@lru_cache(maxsize=256)
def _tells_nothing(words: str) -> bool:
    """Cached, since the same logo stands on every slide."""
    return _TELLS_NOTHING.fullmatch(words) is not None
