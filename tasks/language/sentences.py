"""Cuts a text into sentences, word for word.

Extracted text is not clean prose: lines are wrapped at the page's edge, tables have one row a line with tabs
between the cells, headings and list items end without a full stop, and names of companies are full of dots.
"""

import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import islice

from tasks.language.locales import month_names

LONGEST = 600  # characters; a sentence beyond it is cut at a space, so that an answer stays readable

# A dot after one of these ends no sentence,
_TITLES = frozenset(
    "mr mrs ms dr prof st messrs hon cf vs viz e.g i.e eg ie approx ca est resp incl excl dept div "  # noqa: SIM905 - a list of words reads best as words
    "z.b bzw u.a d.h".split()
)
# after one of these none when a number follows,
_NUMBERED = frozenset(
    "no nos art arts sec sect para paras cl vol fig figs p pp eq ref tel ext nr abs".split()  # noqa: SIM905
)
# and after these, or a single letter, one only where the next word looks like a sentence's first.
_SUFFIXES = frozenset(
    "inc ltd corp co llc plc l.p s.a n.v b.v s.p.a gmbh u.s u.k e.u etc al a.m p.m ph.d jr sr".split()  # noqa: SIM905
)
# and after these none where a currency or what is counted follows: "8,6 Mrd. Euro".
_SCALES = frozenset({"mio", "mrd", "tsd", "bio"})
_COUNTED = re.compile(r"[A-Z]{3}\b|US-Dollar|[$€£]|Euro|Dollar|Franken|Aktien|Stück|Kunden|Tonnen|Nutzer|Mitarbeiter")
_STARTS = frozenset(
    "a an the in on at it its this that these those we our they their he she his her as if for to by with under "  # noqa: SIM905
    "there however no all each any such from after before since during".split()
)

_LINE = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile(r"\s")
_ITEM = re.compile(r"(?:[•·●▪■◦‣–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s")
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[)\]\"'”’»]*+(?=\s)|[。！？]+[」』”）]*")
_WORD = re.compile(r"[^\s(\[\"'“‘«]+$")
_OPENING = "\"'“‘«(["
_NEAR = 80  # characters that are read on each side of a mark
_AT_ONCE = 1_000_000  # characters of a text that are copied at a time
_HYPHENS = "-\u2010\u00ad"
_WRAPPED = 40  # characters; a shorter line that ends without a stop is a heading, not a line cut by the page's edge
_BESIDE = 6  # lines before and behind one among which the widest shows where the page's edge is
_RAGGED = 0.8  # of the width of the widest: words are of uneven width, and a line is cut where the next does not fit


def sentences(text: str, longest: int | None = LONGEST) -> list[str]:
    """The sentences of `text` in order, with single spaces and the words untouched. A table's row is one sentence.

    One that is longer than `longest` characters is cut; with None none is, as its end may take back its beginning.
    """
    return list(each_sentence(text, longest))


def each_sentence(text: str, longest: int | None = LONGEST) -> Iterator[str]:
    """The same one after the other, in little memory however long the text is.

    A paragraph of more than a million characters is cut in two, whatever `longest` is.
    """
    for unit in _units(text):
        for sentence in _split(unit):
            if longest is not None:
                yield from _shortened(sentence, longest)
            elif sentence:
                yield sentence


def _units(text: str) -> Iterator[str]:
    """Paragraphs, headings, list items and table rows: no sentence reaches beyond one of them."""
    unit = previous = ""
    for raw, width in _with_widths(_lines(text)):
        row = "\t" in raw.strip()
        line = raw.strip() if row else " ".join(raw.split())
        if unit and line and not row and len(unit) < _AT_ONCE and _continues(previous, line, width):
            unit += line if unit[-1] in _HYPHENS else " " + line
        else:
            if unit:
                yield unit
            unit = "" if row else line
            if row:
                yield line
        previous = line
    if unit:
        yield unit


def _with_widths(lines: Iterator[str]) -> Iterator[tuple[str, int]]:
    """Each line with the width of the widest around it, in characters."""
    around: deque[str] = deque(islice(lines, _BESIDE))
    at = 0
    while at < len(around):
        if (following := next(lines, None)) is not None:
            around.append(following)
        yield around[at], max(len(line) for line in around if "\t" not in line or line is around[at])
        if at < _BESIDE:
            at += 1
        else:
            around.popleft()


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, a stretch of it at a time; a line that is longer than a stretch comes in parts."""
    start = 0
    while len(text) - start > _AT_ONCE:
        border = _LINE.search(text, start + _AT_ONCE // 2, start + _AT_ONCE) or _SPACE.search(text, start + _AT_ONCE)
        if border is None:
            break
        yield from _LINE.split(text[start : border.start()])
        start = border.end()
    yield from _LINE.split(text[start:])


def _continues(previous: str, line: str, width: int) -> bool:
    """Whether `line` continues the one before it, which was wrapped and not ended.

    A line is wrapped where the next word did not fit any more; a heading, a line of a slide ends before.
    """
    if _ITEM.match(line):
        return False
    if line[0].islower():
        return True
    is_full = len(previous) + 1 + len(line.split(None, 1)[0]) >= width * _RAGGED
    return is_full and len(previous) >= _WRAPPED and previous[-1] not in ".!?:;…。！？"


def _split(unit: str) -> Iterator[str]:
    start = 0
    for stop in _STOP.finditer(unit):
        if _ends(unit, stop):
            yield unit[start : stop.end()].strip()
            start = stop.end()
    if unit[start:].strip():
        yield unit[start:].strip()


def _ends(unit: str, stop: re.Match[str]) -> bool:
    """Whether a punctuation mark ends a sentence here."""
    mark, rest = stop.group(), unit[stop.end() : stop.end() + _NEAR].lstrip()
    if not rest or mark[0] in "。！？":
        return True
    following = rest.lstrip(_OPENING)
    if following[:1].islower():
        return False
    if mark != ".":
        return True
    match = _WORD.search(unit[max(stop.start() - _NEAR, 0) : stop.start()])
    word = match.group().lower() if match else ""
    if word in _TITLES or (following[:1].isdigit() and (word in _NUMBERED or word in _short_months())):
        return False
    if word in _SUFFIXES or (len(word) == 1 and word.isalpha()):
        return following.split(None, 1)[0].strip(",").lower() in _STARTS if following else True
    if word in _SCALES and _COUNTED.match(following):
        return False
    if word.isdigit() and len(word) <= 2 and _is_german_month(following.split(None, 1)[0]):
        return False
    # "1. Definitions" at the start of a paragraph is a heading's number, not a sentence.
    return not (word.isdigit() and stop.start() <= 3)


@cache
def _short_months() -> frozenset[str]:
    """The short forms of English months, which a dot may follow: "Sept. 5"."""
    return frozenset({"sept", *(name.lower() for name in month_names("en", "abbreviated"))})


def _is_german_month(word: str) -> bool:
    """Whether a word is a month in German, where a day's number has a dot: "31. Dezember"."""
    return word.strip(",.;)") in {"Jänner", *month_names("de")}


def _shortened(sentence: str, longest: int) -> Iterator[str]:
    """The sentence in parts of at most `longest` characters, cut behind a semicolon, a comma or a space."""
    start = 0
    while len(sentence) - start > longest:
        low, high = start + longest // 2, start + longest
        cut = max(sentence.rfind(mark, low, high) for mark in ("; ", ", ")) + 1
        cut = cut or max(sentence.rfind(" ", low, high), 0) or high
        yield sentence[start:cut].strip()
        start = cut
    if sentence[start:].strip():
        yield sentence[start:].strip()
