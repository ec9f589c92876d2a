"""Quotes: whether words that somebody calls a quotation really stand in a text, and where.

What typesetting and extraction change is forgiven: white space, hyphens at line ends, ligatures,
the form of quotation marks and dashes, capitals. What changes the meaning is not: every word and
every digit must stand there, and a quotation may not begin or end inside a word or a number.
"""

import re
import unicodedata
from functools import lru_cache

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…)\s*")
_QUOTED = re.compile(r"^[\s\"'“”„«»‘’‚`]+|[\s\"'“”„«»‘’‚`]+$")
_LINE_HYPHEN = re.compile(r"(?<=\w)(?:[-‐\ufffe\x02]\s*\n\s*|\u00ad\s*)(?=\w)")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_BROKEN = r"(?:[-‐\ufffe\x02]\s*\n\s*|\u00ad\s*)?"  # a word may be divided at a line's end
_ALIKE = ("-‐‑‒–—−", '"“”„«»″', "'‘’‚`´′", "•·▪●◦∙")
_LIGATURES = {"ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "ffi": "ﬃ", "ffl": "ﬄ", "st": "ﬆ"}
_FEWEST = 3  # letters or digits; less proves nothing


def verify(quote: str, text: str) -> bool:
    """Whether the quotation stands in the text."""
    return locate(quote, text) is not None


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where the quotation stands in the text: the span from its first character to behind its last.

    A quotation with an ellipsis stands there when its parts follow each other within one page
    (pages, slides and sheets are divided by form feeds).
    """
    parts = [part for part in _ELLIPSIS.split(_QUOTED.sub("", quote)) if part.strip()]
    if not parts or sum(character.isalnum() for part in parts for character in part) < _FEWEST:
        return None
    patterns = [_pattern(part) for part in parts]
    if len(patterns) == 1:
        found = patterns[0].search(text)
        return found.span() if found else None
    start = 0
    for page in text.split("\f"):
        span = _in_order(patterns, page)
        if span:
            return start + span[0], start + span[1]
        start += len(page) + 1
    return None


def _in_order(patterns: list[re.Pattern[str]], page: str) -> tuple[int, int] | None:
    first, at = -1, 0
    for pattern in patterns:
        found = pattern.search(page, at)
        if found is None:
            return None
        first = found.start() if first < 0 else first
        at = found.end()
    return first, at


@lru_cache(maxsize=256)
def _pattern(part: str) -> re.Pattern[str]:
    """What matches a part of a quotation in all its typographic forms."""
    plain = _LINE_HYPHEN.sub("", unicodedata.normalize("NFKC", part))
    tokens = [(found.group(), found.start(), found.end()) for found in _TOKEN.finditer(plain)]
    pieces: list[str] = []
    for (token, start, _end), (before, _start, behind) in zip(tokens, [("", 0, 0), *tokens], strict=False):
        if before:
            pieces.append(r"\s+" if start > behind and _is_word(token) and _is_word(before) else r"\s*")
        pieces.append(_word(token) if _is_word(token) else _sign(token))
    first, last = tokens[0][0], tokens[-1][0]
    ahead = r"(?<!\w)" + (r"(?<!\d[.,'’])" if first[0].isdigit() else "") if _is_word(first) else ""
    after = (r"(?![.,'’]?\d)" if last[-1].isdigit() else "") + r"(?!\w)" if _is_word(last) else ""
    return re.compile(ahead + "".join(pieces) + after, re.IGNORECASE)


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] == "_"


def _word(word: str) -> str:
    """The letters of a word, divided or joined as typesetting does."""
    out, at = [], 0
    while at < len(word):
        joined = next((pair for pair in ("ffi", "ffl", "ff", "fi", "fl", "st") if word.startswith(pair, at)), None)
        if joined:
            out.append(f"(?:{_BROKEN.join(joined)}|{_LIGATURES[joined]}{_rest(joined)})")
            at += len(joined)
        else:
            out.append(re.escape(word[at]))
            at += 1
    return _BROKEN.join(out)


def _rest(joined: str) -> str:
    """`ffi` may also be set as ﬀ and i, or f and ﬁ."""
    if joined == "ffi":
        return "|ﬀi|fﬁ"
    return "|ﬀl|fﬂ" if joined == "ffl" else ""


def _sign(sign: str) -> str:
    alike = next((group for group in _ALIKE if sign in group), None)
    return f"[{re.escape(alike)}]" if alike else re.escape(sign)
