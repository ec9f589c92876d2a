"""Finds the prompt injections in a text, and removes them.

This only supports warnings: most orders are worded in ways that no list has. Text that imitates a conversation or a
fence, so that what follows seems to come from the user or the system, is an injection too.

The patterns (`patterns.toml`) are in English and in other languages of data rooms. They match normalised text: plain
small letters without accents. In a pattern, a space is any white space, a word in capitals stands for what `parts`
says, and `LEAD` marks an imperative. Alternatives stand in brackets. No pattern repeats what repeats, and every gap has
an end: time grows with the text alone. Chinese, Japanese and Russian have no spaces between words, or another alphabet.

`normalise` undoes what hides a prompt injection in letters that look like others. It gives the text in which patterns
are searched: one plain alphabet. Capitals, accents, full-width and mathematical letters, and Cyrillic and Greek
look-alikes within Latin words become plain small letters. What has no width falls away, and letters of the invisible
tags block become visible. Each character knows its place in the text.
"""

# ruff: noqa: E501 - a pattern reads best in one line

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, groupby, pairwise
from pathlib import Path
from typing import Any, Final

from tasks import cancellation
from tasks.ai.prompt_injection import Injection

_FOREIGN: Final = re.compile(r"[^\x00-\x7f][^\x00-\x7f]{0,15}")
_INVISIBLE: Final = frozenset(
    {0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFEFF, 0xFFA0}
    | set(range(0x200B, 0x2010))
    | set(range(0x202A, 0x202F))
    | set(range(0x2060, 0x2070))
    | set(range(0xFE00, 0xFE10))
)
_TAGS: Final = range(0xE0020, 0xE007F)
_PLAIN: Final = (
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "\u2029": "\n", "\u2028": "\n"}
    | dict.fromkeys("‘’‚‛′", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"。": ".", "、": ",", "‹": "<", "›": ">"}
)
_LOOK_ALIKES: Final = dict(
    zip("аеорсухіјѕԁһгкмнвтпԛԝαβερτυνικοχγωηɡɑɩոսօ", "aeopcyxijsdhrkmhbtnqwaseptuvikoxywngainuo", strict=True)
)
"""Cyrillic, Greek and other letters, with the Latin letter that each looks like."""
_MOST_CACHED: Final = 50_000
"""Characters in a cache."""


@dataclass(frozen=True, slots=True)
class SearchableText:
    """A normalised text. From each of `starts` on, its characters are `by` characters further on in the original."""

    text: str
    starts: list[int]
    by: list[int]

    def original(self, offset: int) -> int:
        """The offset in the original of a character of the normalised text."""
        at = bisect_right(self.starts, offset) - 1
        return offset + self.by[at] if at >= 0 else offset


def normalise(text: str) -> SearchableText:
    """The text in plain lower-case letters, in linear time."""
    if text.isascii():
        return SearchableText(text.lower(), [], [])
    lines: list[str] = []
    starts: list[int] = []
    by: list[int] = []
    changed: list[tuple[int, int]] = []

    def replace(run: re.Match[str]) -> str:
        plain = _plain_letters(run)
        start, end = run.span()
        if len(plain) != end - start:
            changed.append((end, end - start - len(plain)))
        return plain

    length = at = 0
    for line in text.split("\n"):
        plain = line.lower() if line.isascii() else _FOREIGN.sub(replace, line).lower()
        shift = 0
        for end, shorter in changed:
            shift += shorter
            starts.append(length + end - shift)
            by.append(at - length + shift)
        changed.clear()
        lines.append(plain)
        length += len(plain) + 1
        at += len(line) + 1
    return SearchableText("\n".join(lines), starts, by)


@lru_cache(maxsize=_MOST_CACHED)
def _alone(character: str) -> str:
    """The plain letters for a character among others of its own alphabet."""
    code = ord(character)
    if code in _INVISIBLE:
        return ""
    if code in _TAGS:
        return chr(code - 0xE0000).lower()
    if character.isspace():
        return _PLAIN.get(character, " ")
    parts = unicodedata.normalize("NFKD", _PLAIN.get(character, character)).casefold()
    return "".join(_PLAIN.get(part, part) for part in parts if unicodedata.category(part)[0] != "M")


@lru_cache(maxsize=_MOST_CACHED)
def _mixed(character: str) -> str:
    """The plain letters for a character within a Latin word."""
    return "".join(_LOOK_ALIKES.get(letter, letter) for letter in _alone(character))


def _plain_letters(run: re.Match[str]) -> str:
    letters = run.group()
    alone = "".join(map(_alone, letters))
    if alone.isascii():
        return alone
    beside = run.string[max(run.start() - 1, 0) : run.start()], run.string[run.end() : run.end() + 1]
    mixed = any(neighbour.isascii() and neighbour.isalnum() for neighbour in beside)
    return "".join(map(_mixed, letters)) if mixed else alone


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What an order looks like. `imperative`: it begins with a verb that must be one; `scores`: it asks for a score."""

    words: re.Pattern[str]
    imperative: bool
    scores: bool


def make_patterns(*written: str, scores: bool = False) -> tuple[Pattern, ...]:
    """The patterns in this notation."""
    return tuple(Pattern(_compile(each.replace("LEAD", r"\b", 1)), each.startswith("LEAD"), scores) for each in written)


LEAD_LENGTH: Final = 48
"""Characters before a verb in which `LEADS` is searched."""

_WORDS: Final[dict[str, dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text("utf-8"))
_PARTS: Final[dict[str, str]] = _WORDS["parts"]
_SEARCH: Final = _WORDS["search"]
LEADS: Final = re.compile(_SEARCH["leads"])
"""What stands before an imperative."""


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile the pattern: words in capitals are replaced by their parts, and a space matches any white space."""
    pattern = re.sub("|".join(_PARTS), lambda name: _PARTS[name.group()], pattern)
    return re.compile(pattern.replace("[ -]", r"[\s-]").replace(" ?", r"\s?").replace(" ", r"\s{1,6}"))


def _read_language(verbs: str, earlier: str, instructions: str, patterns: Sequence[str] = ()) -> tuple[Pattern, ...]:
    """The patterns of a language: orders to ignore earlier instructions (the adjective before or after), and others."""
    near = rf"\b(?:{verbs})\b[^.!?]{{0,40}}?"
    return make_patterns(
        rf"{near}\b(?:{earlier}) (?:\w{{1,14}} )?(?:{instructions})",
        rf"{near}\b(?:{instructions}) (?:\w{{1,9}} )?(?:{earlier})\b",
        *patterns,
    )


PATTERNS: Final = (
    *(one for kind, written in _WORDS["english"].items() for one in make_patterns(*written, scores=kind == "score")),
    *(one for language in _WORDS["languages"].values() for one in _read_language(**language)),
)
_EASTERN: Final = re.compile("|".join(one for written in _WORDS["eastern"].values() for one in written))
_EASTERN_LINE: Final = re.compile(r"[\u0430-\u044f\u3040-\u30ff\u4e00-\u9fff]{2}[^\n]{0,400}")
"""Where one of the patterns above may stand; it may begin some characters before."""


_LETTERS: Final = re.compile(r"(?:[a-z](?![?*{])){0,4}")


def _find_beginnings(pattern: str) -> set[str]:
    """The letters, four at most or none, with which matches of a pattern begin: each has one of these beginnings."""
    if not pattern.startswith("(?:"):
        return set(_LETTERS.findall(pattern)[:1])
    depths = list(accumulate((sign == "(") - (sign == ")") for sign in pattern))
    end = depths.index(0)
    if pattern[end + 1 : end + 2] in set("?*{"):
        return {""}
    borders = [2, *(at for at in range(end) if depths[at] == 1 and pattern[at] == "|"), end]
    return {one for start, stop in pairwise(borders) for one in _find_beginnings(pattern[start + 1 : stop])}


def eastern(text: str) -> Iterator[tuple[int, int]]:
    """The spans of injections in Chinese, Japanese and Russian in a normalised text."""
    for line in _EASTERN_LINE.finditer(text) if not text.isascii() else ():
        for match in _EASTERN.finditer(text, max(line.start() - 40, 0), line.end()):
            yield match.span()


Span = tuple[int, int]

_ALL: Final = [pattern.words for pattern in PATTERNS]
_ANYWHERE: Final = [words for words in _ALL if not words.pattern.startswith(r"\b")]
_AT_WORDS: Final = {words: tuple(_find_beginnings(words.pattern[2:])) for words in _ALL if words not in _ANYWHERE}
_LIKELY: Final = {
    known: [words for words, begins in _AT_WORDS.items() if known.startswith(begins)]
    for known in chain(*_AT_WORDS.values())
}
"""The patterns that may match where a word begins like that."""
_BY_LETTER: Final = groupby(sorted(_LIKELY, reverse=True), key=lambda known: known[:1])
_BEGINNINGS: Final = "|".join(f"{letter}(?:{'|'.join(one[1:] for one in some)})" for letter, some in _BY_LETTER)
_BEGINNING: Final = re.compile(rf"\b(?:{_BEGINNINGS})")


def _may_have_injection(text: str) -> bool:
    """Whether a pattern matches in a normalised text: a seventh of the time that they take one by one."""
    return any(words.search(text) for words in _ANYWHERE) or any(
        words.match(text, word.start()) for word in _BEGINNING.finditer(text) for words in _LIKELY[word.group()]
    )


AT_ONCE: Final = 1_000_000
"""Characters that are searched together: a search takes some twenty bytes for each."""
_OVERLAP: Final = 20_000
"""Characters around these that are read with them; no injection is as long, and none rests on what is farther off."""
_BEFORE: Final = 90
"""Characters before a verb in which its subject stands."""
_SENTENCE: Final = 400
"""Characters at most that a sentence extends to either side."""
_CONTINUED: Final = 12
"""Clauses at most that continue an injection."""
_APART: Final = 8
"""Signs at most between two spans that are one injection."""
_LEAST: Final = 1
"""Words that the rest of a sentence must have to be left beside an order: `<!--` goes with it."""
_STOP: Final = re.compile(r"[.!?][)\]\"'>]{0,3}(?=\s|$)|\n\s{0,40}\n|\f|-->")
_CLAUSE: Final = re.compile(
    r"[;:,](?=\s)|\t|<\|[a-z_]{2,30}\|>|</[\w-]{1,40}>|\[/\w{1,8}\]|\s[-/]{1,2}(?=\s)|(?=\s(?:because|since|although|though|while|whereas|but|despite|even if|given that|as) )"
)
"""Where a sentence may turn from an order to what is the case, or back."""
_CONTINUES: Final = re.compile(
    f"{_SEARCH['before_continued']}(?:{'|'.join(_SEARCH['continued']).replace('VERB', _SEARCH['verb'])})"
)
"""How a clause begins that goes on with an order."""
_OTHER_SUBJECT: Final = re.compile(_SEARCH["other_subject"])
_OTHERS, _WRITER, _TOPIC = (re.compile("|".join(_SEARCH[name])) for name in ("others", "writer", "topic"))
_WORD: Final = re.compile(r"\w{2,}")
_PASSAGE: Final = 8_000
"""Characters of a text that is a passage, or the name of a document."""
_GAP: Final = re.compile(r"[^\S\n]{0,9}\n?[^\S\n]{0,9}(?=\S)")


def find_orders(text: str) -> list[Injection]:
    """The prompt injections in a text, in order; no two of them touch."""
    return list(_find_known(text) if len(text) <= _PASSAGE else _find_new(text))


def _find_new(text: str) -> list[Injection]:
    spans = [span for start in range(0, len(text), AT_ONCE) for span in _spans_between(text, start, start + AT_ONCE)]
    return [Injection(start, end) for start, end in _merge_spans(text, spans)]


_find_known: Final = lru_cache(maxsize=2048)(_find_new)
"""Of passages: each criterion asks about the same ones, and searches them for itself, its judge and its quotations."""


def _spans_between(text: str, start: int, end: int) -> Iterator[Span]:
    """The injections that have a character between these offsets; a little of the surrounding text is read too."""
    low = max(start - _OVERLAP, 0)
    plain = normalise(text[low : end + _OVERLAP])
    for begin, stop in _spans(plain.text):
        first, last = low + plain.original(begin), low + plain.original(stop - 1) + 1
        if first < end and last > start:
            yield first, last


def _merge_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans in order, with those merged that touch or are separated only by white space and punctuation."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] <= _APART and not re.search(r"\w", text[joined[-1][1] : start]):
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def without_injections(text: str) -> tuple[str, list[Injection]]:
    """The text with each injection replaced by `[…]`, and the injections."""
    if not (injections := find_orders(text)):
        return text, []
    pieces, at = [], 0
    for injection in injections:
        pieces += [text[at : injection.start], "[…]"]
        at = injection.end
    return "".join([*pieces, text[at:]]), injections


def _spans(text: str) -> list[Span]:
    """The injections in a normalised text; they may overlap."""
    cancellation.check()
    seeds = []
    for pattern in PATTERNS if _may_have_injection(text) else ():
        cancellation.check()
        seeds += [
            match.span()
            for match in pattern.words.finditer(text)
            if not (pattern.imperative and not _is_imperative(text, match.start()))
            and not (pattern.scores and _scores_others(text, *match.span()))
            and not _is_topic(text, *match.span())
        ]
    seeds += eastern(text)
    spans = [(_begin(text, start), _end(text, end)) for start, end in seeds]
    return spans + [
        (match.start(), match.end() if _CLOSING.match(match.group()) else _end(text, match.end()))
        for match in (_IMITATED.finditer(text) if _may_imitate(text) else ())
    ]


def _is_imperative(text: str, at: int) -> bool:
    """Whether the verb that begins there is an imperative: not if it has a subject, as in `The Seller shall`."""
    lead = LEADS.search(text[max(at - LEAD_LENGTH, 0) : at])
    if lead is None or not lead.group().rstrip().endswith("and"):
        return lead is not None
    return _OTHER_SUBJECT.search(text[max(at - _BEFORE, 0) : at]) is None


def _scores_others(text: str, start: int, end: int) -> bool:
    """Whether an order to score is meant for people: for others than the writer, or under a condition."""
    begin, stop = max(start - _SENTENCE, 0), _STOP.search(text, max(end - 1, 0), end + _SENTENCE)
    for before in _STOP.finditer(text, begin, start):
        begin = before.end()
    last = stop.start() if stop else end + _SENTENCE
    return _OTHERS.search(text, begin, last) is not None and _WRITER.search(text, begin, last) is None


def _is_topic(text: str, start: int, end: int) -> bool:
    """Whether the match is a short quotation in a sentence about prompt injection."""
    before, behind = text[max(start - 60, 0) : start + 1], text[end : end + 60]
    if '"' not in behind or before.count('"') + text[start + 1 : end].count('"') == 0:
        return False
    return _TOPIC.search(text, max(start - 200, 0), start) is not None


def _begin(text: str, at: int) -> int:
    """Where the clause begins that contains the character at `at`."""
    low = max(at - _SENTENCE, 0)
    sentence = low
    for stop in _STOP.finditer(text, low, at + 1):
        sentence = stop.end() if stop.end() <= at + 1 else sentence
    begin = sentence
    for border in _CLAUSE.finditer(text, sentence, at + 1):
        begin = border.end() if border.end() <= at else begin
    if len(_WORD.findall(text, sentence, begin)) < _LEAST:
        begin = sentence
    while begin < at and text[begin].isspace():
        begin += 1
    return begin


def _end(text: str, at: int) -> int:
    """Where the injection ends: with its clause, or with the last clause that continues it."""
    end = _clause_end(text, at)
    for _ in range(_CONTINUED):
        following = _GAP.match(text, end)
        if following is None or not _CONTINUES.match(text, following.end(), _clause_end(text, following.end() + 1)):
            break
        end = _clause_end(text, following.end() + 1)
    return end


def _clause_end(text: str, at: int) -> int:
    """Where the clause ends; where the sentence ends if less than a clause would be left of it."""
    stop = _STOP.search(text, max(at - 1, 0), at + _SENTENCE)
    if stop is None:
        sentence = min(at + _SENTENCE, len(text))
    else:
        sentence = stop.start() if stop.group()[0] in "\n\f" else stop.end()
    border = _CLAUSE.search(text, at, sentence)
    if border is None or len(_WORD.findall(text, border.end(), sentence)) < _LEAST:
        return sentence
    return border.end()


_CLOSING: Final = re.compile(r"</|\[/|<\|(?:im_)?e|<end|\[end|=|end ")
"""How a mark begins that ends what it imitates: behind it the document goes on."""
_IMITATED: Final = re.compile("|".join([*_SEARCH["chat"], "|".join(_SEARCH["fence"]).replace(" ", r"\s{1,3}")]))
_MARKS: Final = ("<", "[", "##", "=", "role", "user", "human")
_END: Final = re.compile(r"end\s{1,3}of\s")


def _may_imitate(text: str) -> bool:
    """Whether a text has what each match of `_IMITATED` has: to find out takes a tenth of the pattern's time."""
    return any(mark in text for mark in _MARKS) or _END.search(text) is not None
