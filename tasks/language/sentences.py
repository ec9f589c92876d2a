"""Splits a text into sentences, word for word.

Extracted text is not clean prose: lines are wrapped at the page's edge, tables have one row per line with tabs between
the cells, headings and list items end without a full stop, and company names are full of dots.
"""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from tasks.language.numbers import CURRENCY, numbers
from tasks.language.periods import MONTH, header_words
from tasks.language.words import load_words, month_names

LONGEST = 600  # characters; a sentence beyond it is cut at a space, so that an answer stays readable

# A dot after one of these ends no sentence,
_TITLES = load_words("titles")
# after one of these none when a number follows,
_NUMBERED = load_words("numbered")
# and after these, or a single letter, one only where the next word looks like a sentence's first.
_SUFFIXES = load_words("suffixed_names")
# and after these none where a currency or what is counted follows: "8,6 Mrd. Euro".
_SCALES = frozenset({"mio", "mrd", "tsd", "bio"})
_COUNTED = re.compile(r"[A-Z]{3}\b|US-Dollar|[$€£]|Euro|Dollar|Franken|Aktien|Stück|Kunden|Tonnen|Nutzer|Mitarbeiter")
_STARTS = load_words("starts")
_SHORT_MONTHS = frozenset({"sept", *(name.lower() for name in month_names("en", "abbreviated"))})  # "Sept. 5"

_LINE = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile(r"\s")
_ANY = re.compile("")
_WORDS = re.compile(r"\S+")
_ITEM = re.compile(r"(?:[•·●▪■◦‣–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s")
_STOP = re.compile(r"[.!?…](?<![.!?…][.!?…])[.!?…]*+[)\]\"'”’»*]*+_{0,2}+(?=\s)|[。！？]+[」』”）]*")
_WORD = re.compile(r"[^\s(\[\"'“‘«]+$")
_OPENING = "\"'“‘«(["
_DIGITLESS = re.compile(r"\D+")
_FEWEST, _ROW = 6, 0.6
_NEAR = 80  # characters that are read on each side of a mark
_AT_ONCE = 1_000_000  # characters of a text that are copied at a time
# What a line cannot end with, and how the next one begins then: "of ⏎ 4.2 million", "EUR ⏎ 12", "31 December ⏎ 2024".
_OPEN_WORD = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, load_words('open')))})$")
_OPEN = re.compile(
    rf"(?:{_OPEN_WORD.pattern[:-1]}|{CURRENCY}|(?<!\S)[0-3]?\d\.? (?:de )?(?i:{MONTH})"
    rf"|(?<!\S)(?i:{MONTH}) [0-3]?\d,?)$"
)
_AWAITED = re.compile(r"[$€£¥(]?\d|[A-Z]{3} ?\d")
_HYPHENS = "-\u2010\u00ad"
_WRAPPED = 40  # characters; a shorter line that ends without a stop is a heading, not a line cut by the page's edge
_BESIDE = 6  # lines before and behind one among which the widest shows where the page's edge is
_RAGGED = 0.8  # of the width of the widest: words are of uneven width, and a line is cut where the next does not fit
_NUMBERING = re.compile(r"[#>*•\-–\s]*(?:§ ?)?(?:\d{1,3}(?:\.\d{1,3}){0,9}[.):]?\s+)?")
_TO_FILL = re.compile(
    rf"(?:(?:[:€$£]|\b(?:{'|'.join(header_words('before_blanks'))})) ?\[(?=\W{{0,5}}[^\W\d_]{{2}})[^\]]{{1,80}}\]"
    rf"|\[\W{{0,5}}(?:{'|'.join(header_words('blanks'))})\b[^\]]{{0,80}}\]|(?<!_)_{{3,}}+|(?<!\.)\.{{5,}}+|(?<!…)…{{2,}}+)[\W_]*+$",
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A sentence on one line with single spaces, and its place in the text.

    Attributes:
        text: its words, untouched.
        stretches: where its stretches begin, in it and in the text that it is of; both go on side by side from there.
    """

    text: str
    stretches: Sequence[tuple[int, int]]

    def place(self, offset: int) -> int:
        """The offset in the text of a character of the sentence."""
        begin, there = self.stretches[bisect_right(self.stretches, offset, key=itemgetter(0)) - 1]
        return there + offset - begin

    def part(self, start: int, stop: int) -> "Sentence":
        """A trimmed part of the sentence."""
        words = self.text[start:stop]
        start += len(words) - len(words.lstrip())
        first = bisect_right(self.stretches, start, key=itemgetter(0))
        last = bisect_left(self.stretches, stop, key=itemgetter(0))
        later = ((begin - start, there) for begin, there in self.stretches[first:last])
        return Sentence(words.strip(), [(0, self.place(start)), *later])


def sentences(text: str, longest: int | None = LONGEST) -> list[str]:
    """The sentences of `text` in order, with single spaces and unchanged words. A table row is one sentence.

    Sentences longer than `longest` characters are split; with None none is, because its end may take back its
    beginning.
    """
    return list(each_sentence(text, longest))


def each_sentence(text: str, longest: int | None = LONGEST) -> Iterator[str]:
    """The sentences one by one, with little memory however long the text is.

    A paragraph of more than a million characters is split, whatever `longest` is.
    """
    for unit in _units(text, wraps=True):
        for start, stop in _bounds(unit.text):
            sentence = unit.text[start:stop].strip()
            yield from [sentence] if longest is None else _shorten(sentence, longest)


def strip_numbering(sentence: str) -> str:
    """A sentence without what numbers its paragraph or item."""
    return _NUMBERING.sub("", sentence, count=1)


def says_something(sentence: str) -> bool:
    """Whether a sentence is no heading, and no line that is still to be filled in."""
    words = strip_numbering(sentence)
    is_long = len(words.split()) > 3 and not sentence.startswith("#")
    return _TO_FILL.search(words) is None and (is_long or "\t" in sentence.strip() or any(map(str.isdigit, words)))


def place_sentences(text: str, *, wraps: bool = True, holding: re.Pattern[str] = _ANY) -> Iterator[Sentence]:
    """The sentences with the places of their words, at full length, in paragraphs that contain a pattern.

    If the format does not `wrap` lines, a sentence only continues on the next line if it cannot end where it does.
    """
    for unit in _units(text, wraps=wraps):
        if holding.search(unit.text) is None:
            continue
        for start, stop in _bounds(unit.text):
            yield unit.part(start, stop)


def _units(text: str, *, wraps: bool) -> Iterator[Sentence]:
    """The paragraphs, headings, list items and table rows: no sentence extends beyond one of them."""
    unit = previous = ""
    stretches: list[tuple[int, int]] = []
    for start, raw, around in _with_neighbours(_lines(text)):
        row = "\t" in raw.strip()
        line, within = (raw.strip(), [(0, len(raw) - len(raw.lstrip()))]) if row else _single_spaced(raw)
        may_go_on = unit and line and not row and len(unit) < _AT_ONCE
        widths = (len(near) for _, near in around if "\t" not in near or near is raw)
        if may_go_on and _continues(previous, line, max(widths) if wraps else 0):
            gap = "" if unit[-1] in _HYPHENS else " "
        else:
            if unit:
                yield Sentence(unit, stretches)
            unit, stretches, gap = "", [], ""
        at = len(unit) + len(gap)
        stretches += [(at + begin, start + there) for begin, there in within]
        unit += gap + line
        if row:
            yield Sentence(unit, stretches)
            unit, stretches = "", []
        previous = line
    if unit:
        yield Sentence(unit, stretches)


def _single_spaced(raw: str) -> tuple[str, list[tuple[int, int]]]:
    """A line with single spaces, and where each stretch begins in it and in the original."""
    line = " ".join(raw.split())
    if line == raw.strip():
        return line, [(0, len(raw) - len(raw.lstrip()))] if line else []
    stretches, begin = [], 0
    for word in _WORDS.finditer(raw):
        stretches.append((begin, word.start()))
        begin += len(word.group()) + 1
    return line, stretches


def _with_neighbours(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, Sequence[tuple[int, str]]]]:
    """Each line with the lines near it, itself among them."""
    around: deque[tuple[int, str]] = deque(islice(lines, _BESIDE))
    at = 0
    while at < len(around):
        if (following := next(lines, None)) is not None:
            around.append(following)
        start, own = around[at]
        yield start, own, around
        if at < _BESIDE:
            at += 1
        else:
            around.popleft()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, each with its start; the text is read in stretches, and a longer line is
    returned in parts.
    """
    start = 0
    while start <= len(text):
        border = None
        if len(text) - start > _AT_ONCE:
            border = _LINE.search(text, start + _AT_ONCE // 2, start + _AT_ONCE)
            border = border or _SPACE.search(text, start + _AT_ONCE)
        stop = border.start() if border else len(text)
        for line in _LINE.split(text[start:stop]):
            yield start, line
            start += len(line) + 1


def _continues(previous: str, line: str, width: int) -> bool:
    """Whether `line` continues the line before it, which was wrapped rather than ended.

    A line is wrapped if the next word no longer fitted; a heading or a line on a slide ends earlier. A `width` of 0
    means that lines are not wrapped. After a word like "of", a number or a day is expected on the next line.
    """
    end = previous[-_NEAR:]
    if _AWAITED.match(line) and _OPEN.search(end) and all(number.end < len(end) for number in numbers(end)):
        return True
    if _ITEM.match(line):
        return False
    if width and _OPEN_WORD.search(end):
        return True
    is_wrapped = len(previous) >= _WRAPPED and previous[-1] not in ".!?:;…。！？"
    if line[0].islower():
        is_full = width > 0 or is_wrapped
    else:
        is_full = is_wrapped and 0 < width * _RAGGED <= len(previous) + 1 + len(line.split(None, 1)[0])
    return is_full and not _is_row(previous) and not _is_row(line)


def _is_row(line: str) -> bool:
    """Whether most words in a line contain digits, as in a table row without tabs."""
    words = line.split()
    return len(words) >= _FEWEST and sum(not _DIGITLESS.fullmatch(word) for word in words) > _ROW * len(words)


def _bounds(unit: str) -> Iterator[tuple[int, int]]:
    """The offsets at which the sentences of a paragraph begin and end, with the spaces around them."""
    start = 0
    for mark in _STOP.finditer(unit):
        if _ends(unit, mark):
            yield start, mark.end()
            start = mark.end()
    if unit[start:].strip():
        yield start, len(unit)


def _ends(unit: str, stop: re.Match[str]) -> bool:
    """Whether a punctuation mark ends a sentence here."""
    mark, rest = stop.group(), unit[stop.end() : stop.end() + _NEAR].lstrip()
    if not rest or mark[0] in "。！？":
        return True
    following = rest.lstrip(_OPENING)
    if following[:1].islower():
        return False
    if mark.rstrip("*_") != ".":
        return True
    first = (following.split(None, 1) or [""])[0]
    match = _WORD.search(unit[max(stop.start() - _NEAR, 0) : stop.start()])
    word = match.group().lower().lstrip("*_") if match else ""
    if word in _TITLES or (following[:1].isdigit() and (word in _NUMBERED or word in _SHORT_MONTHS)):
        return False
    if word in _SUFFIXES or (len(word) == 1 and word.isalpha()):
        return first.strip(",").lower() in _STARTS if following else True
    if word in _SCALES and _COUNTED.match(following):
        return False
    if word.isdigit() and len(word) <= 2 and first.strip(",.;)") in {"Jänner", *month_names("de")}:  # "31. Dezember"
        return False
    # "1. Definitions" at the start of a paragraph is a heading's number, not a sentence.
    return not (word.isdigit() and stop.start() <= 3)


def _shorten(sentence: str, longest: int) -> Iterator[str]:
    """The sentence in parts of at most `longest` characters, split after a semicolon, a comma or a space."""
    start = 0
    while len(sentence) - start > longest:
        low, high = start + longest // 2, start + longest
        cut = max(sentence.rfind(mark, low, high) for mark in ("; ", ", ")) + 1
        cut = cut or max(sentence.rfind(" ", low, high), 0) or high
        yield sentence[start:cut].strip()
        start = cut
    if sentence[start:].strip():
        yield sentence[start:].strip()
