"""Quotes: whether words that somebody calls a quotation really stand in a text, and where.

What typesetting and extraction change is forgiven (`folding` says what). What changes the meaning is
not: every word and every figure must stand there, with its minus and its percent sign, and a
quotation may not begin or end inside a word or a number. What is shown as the quotation is always
the span of the text itself.
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tasks.text.normalise import CURRENCIES, Folded, fold

_ELLIPSIS = re.compile(r"\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…")
_FEWEST = 3  # letters or digits; less proves nothing

Span = tuple[int, int]

_folded_text = lru_cache(maxsize=8)(fold)  # many quotations come from one text
_folded_quote = lru_cache(maxsize=64)(fold)


def verify(quote: str, text: str) -> bool:
    """Whether the quotation stands in the text."""
    return locate(quote, text) is not None


def locate(quote: str, text: str, near: int = 0) -> Span | None:
    """Where the quotation stands in the text: the span from its first character to behind its last.

    Of several places the first one from the offset `near` on is taken. A quotation with an ellipsis
    stands there when its parts follow each other within one page (pages, slides and sheets are
    divided by form feeds).
    """
    if sum(map(str.isalnum, quote)) < _FEWEST:
        return None
    folded = _folded_text(text)
    for start, end in ((folded.at(near), len(folded.text)), (0, len(folded.text))):
        span = next(_places(quote, text, folded, start, end), None)
        if span is not None:
            return span
    parts = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]
    return _in_order(parts, text, folded, near) if len(parts) > 1 else None


def _in_order(parts: Sequence[str], text: str, folded: Folded, near: int) -> Span | None:
    """The span of parts that follow each other within one page, the page of `near` looked at first."""
    borders = [0, *(found.end() for found in re.finditer("\f", text)), len(text)]
    pages = list(itertools.pairwise(borders))
    own = max(bisect_left(borders, near + 1) - 1, 0)
    for start, end in [*pages[own:], *pages[:own]]:
        at, stop = folded.at(start), folded.at(end)
        spans: list[Span] = []
        for part in parts:
            span = next(_places(part, text, folded, at, stop), None)
            if span is None:
                break
            spans.append(span)
            at = folded.at(span[1])
        else:
            return spans[0][0], spans[-1][1]
    return None


def _places(quote: str, text: str, folded: Folded, start: int, end: int) -> Iterator[Span]:
    """The spans of the text, between two folded offsets, that say what the quotation says."""
    wanted = _folded_quote(quote)
    if not wanted.text:
        return
    lead, tail = quote[: wanted.first[0]].lstrip(), quote[wanted.last[-1] :].rstrip()
    for token, behind in folded.occurrences(wanted.text, start, end):
        first, last = _with_signs(text, folded.first[token], folded.last[behind - 1], lead, tail)
        # A currency may be left out but not be made up.
        if all(sign in text[first:last] for sign in CURRENCIES if sign in quote):
            yield first, last


def _with_signs(text: str, first: int, last: int, lead: str, tail: str) -> Span:
    """The span with the signs before and behind it that the quotation has there too."""
    lowest, highest = max(first - 2 * len(lead), 0), min(last + 2 * len(tail), len(text))
    start, end = first, last
    while start > lowest and (text[start - 1] in lead or text[start - 1].isspace()):
        start -= 1
    while end < highest and (text[end] in tail or text[end].isspace()):
        end += 1
    kept = text[start:end]
    return start + len(kept) - len(kept.lstrip()), end - len(kept) + len(kept.rstrip())
