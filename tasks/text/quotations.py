"""Whether a quotation really stands in a text, and where.

What typesetting and extraction change is forgiven (`tasks.text.normalise` says what). What changes the meaning is not:
every word and every figure must stand there, with its minus and its percent sign, and a quotation may not begin or end
inside a word or a number. What is shown as the quotation is always the span of the text itself.
"""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tasks.text.normalise import CURRENCIES, NormalisedText, normalise

_ELLIPSIS = re.compile(r"\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3,}|…")
_FEWEST = 3  # letters or digits; fewer prove nothing

Span = tuple[int, int]

_normalised_text = lru_cache(maxsize=8)(normalise)  # many quotations come from one text
_normalised_quote = lru_cache(maxsize=64)(normalise)


def verify(quote: str, text: str) -> bool:
    """Whether the quotation stands in the text."""
    return locate(quote, text) is not None


def locate(quote: str, text: str, near: int = 0) -> Span | None:
    """Where the quotation stands in the text: the span from its first character to behind its last.

    Of several places the first one from the offset `near` on is taken. A quotation with an ellipsis stands there when
    its parts follow each other within one page (form feeds divide pages, slides and sheets).
    """
    if sum(map(str.isalnum, quote)) < _FEWEST:
        return None
    normalised = _normalised_text(text)
    for start, end in ((normalised.offset_of(near), len(normalised.text)), (0, len(normalised.text))):
        span = next(_spans(quote, text, normalised, start, end), None)
        if span is not None:
            return span
    parts = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]
    return _in_order(parts, text, normalised, near) if len(parts) > 1 else None


def _in_order(parts: Sequence[str], text: str, normalised: NormalisedText, near: int) -> Span | None:
    """The span of parts that follow each other within one page, the page of `near` being tried first."""
    borders = [0, *(match.end() for match in re.finditer("\f", text)), len(text)]
    pages = list(itertools.pairwise(borders))
    first_page = max(bisect_left(borders, near + 1) - 1, 0)
    for page_start, page_end in [*pages[first_page:], *pages[:first_page]]:
        start, end = normalised.offset_of(page_start), normalised.offset_of(page_end)
        spans: list[Span] = []
        for part in parts:
            span = next(_spans(part, text, normalised, start, end), None)
            if span is None:
                break
            spans.append(span)
            start = normalised.offset_of(span[1])
        else:
            return spans[0][0], spans[-1][1]
    return None


def _spans(quote: str, text: str, normalised: NormalisedText, start: int, end: int) -> Iterator[Span]:
    """The spans of the text that say what the quotation says, between two offsets of the normalised text."""
    words = _normalised_quote(quote)
    if not words.text:
        return
    lead, tail = quote[: words.first[0]].lstrip(), quote[words.last[-1] :].rstrip()
    for token, behind in normalised.occurrences(words.text, start, end):
        first, last = _with_signs(text, normalised.first[token], normalised.last[behind - 1], lead, tail)
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
    span = text[start:end]
    return start + len(span) - len(span.lstrip()), end - len(span) + len(span.rstrip())
