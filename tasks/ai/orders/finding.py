"""Finds the orders to a model in a text, and leaves them out.

Words that orders are made of are looked for first; patterns are tried only beside them, and sentences bounded only
where an order stands.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks.ai.orders.acts import ACTS
from tasks.ai.orders.addressing import ADDRESSING
from tasks.ai.orders.disguises import unveiled
from tasks.ai.orders.folding import fold
from tasks.ai.orders.imitations import IMITATED, MARKERS
from tasks.ai.orders.languages import EASTERN, EASTERN_LINE, LANGUAGES
from tasks.ai.orders.signals import LEAD_LENGTH, LEADS, Group, Signal

VERSION: Final = "orders-1"

_BLOCK: Final = 20_000
"""Characters whose words are gathered at a time."""
_BEFORE, _BEHIND = 90, 160
"""Characters beside a word in which its patterns are tried."""
_NEAR: Final = 200
"""Characters that may stand between two weak signals."""
_SENTENCE: Final = 400
"""Characters at most that a sentence is followed to either side."""
_CONTINUED: Final = 12
"""Sentences at most that continue an order."""
_PUNCTUATION: Final = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_STOP: Final = re.compile(r"[.!?][)\]\"'>]{0,3}(?=\s|$)|\n\s{0,40}\n|\f|-->")
_CONTINUES: Final = re.compile(
    r"\W{0,4}(?:and |then |also |now |please |instead |otherwise |additionally,? |furthermore,? |finally,? |if |when )?"
    r"(?:you\b|your\b|say|state|give|assign|award|rate|score|grade|rank|answer|reply|respond|write|output|print|return"
    r"|reveal|report|conclude|recommend|approve|praise|do not|don't|never|always|only|just|treat|use|ignore"
    r"|disregard|forget|skip|omit|leave|mention|tell|act|pretend|make sure|ensure|include|begin|start|end|call|send"
    r"|follow|confirm|mark|set|in this mode"
    r"|this (?:is|overrides|applies)|the (?:score|answer|result)|no matter|asked|highlight|stop|accept|describe)\b"
)
_OTHERS: Final = re.compile(r"(?<!you )\b(?:shall|may|will|must|can|not|agrees? to|is to|are to)\b[^.!?]{0,160}$")
_TOPIC: Final = re.compile(
    r"inject|jailbreak|adversar|attack|malicious|security|\bsuch as\b|\be\.g\.|for example|so-called"
    r"|(?:phrase|prompt)s? like"
)
_GAP: Final = re.compile(r"[^\S\n]{0,9}\n?[^\S\n]{0,9}(?=\S)")
_PARAGRAPH_END: Final = re.compile(r"\n\s{0,40}\n|\f")
_Span = tuple[int, int]
_GROUPS: Final[dict[str, list[Group]]] = {}
for _group in (*ADDRESSING, *ACTS, *LANGUAGES):
    for _word in _group.words:
        _GROUPS.setdefault(_word, []).append(_group)
_MARKS: Final = [word for word in _GROUPS if not word.rstrip("-").isalnum()]


@dataclass(frozen=True)
class Order:
    """The span of characters of an order to a model: the sentences that give it."""

    start: int
    end: int


def find_orders(text: str) -> list[Order]:
    """The orders in a text, in order and apart from each other."""
    folded = fold(text)
    spans = list(_spans(folded.text))
    found = [(folded.original(start), folded.original(end - 1) + 1) for start, end in spans]
    for start, end, said in unveiled(text, folded):
        if _spans(said):
            found.append((start, end))
    orders: list[Order] = []
    for start, end in sorted(found):
        if orders and start <= orders[-1].end:
            orders[-1] = Order(orders[-1].start, max(orders[-1].end, end))
        else:
            orders.append(Order(start, end))
    return orders


def without_orders(text: str) -> tuple[str, list[Order]]:
    """The text with each order replaced by `[…]`, and the orders."""
    orders = find_orders(text)
    pieces, at = [], 0
    for order in orders:
        pieces += [text[at : order.start], "[…]"]
        at = order.end
    return "".join([*pieces, text[at:]]), orders


def for_people(paragraphs: Sequence[str]) -> list[str]:
    """The paragraphs of a text without those in which an order stands, in part or whole."""
    orders = find_orders("\n\n".join(paragraphs))
    kept, start = [], 0
    for each in paragraphs:
        end = start + len(each)
        if not any(order.start < end and start < order.end for order in orders):
            kept.append(each)
        start = end + 2
    return kept


def _spans(text: str) -> list[_Span]:
    """The orders in a folded text; they may overlap."""
    bare = text if text.isascii() else text.encode("ascii", "replace").decode()
    marks = (mark for sign, marks in MARKERS.items() if sign in bare for mark in marks)
    places = [(max(at - _BEFORE, 0), at + 2 * _BEHIND) for mark in marks for at in _places(bare, mark)]
    imitated = [match.span() for start, end in _merged(places) for match in IMITATED.finditer(text, start, end)]
    signals = sorted({(*match.span(), each) for each, match in _signals(text, bare)}, key=lambda found: found[:2])
    seeds = [(start, end) for start, end, each in signals if each.strong and not _is_topic(text, start, end)]
    seeds += [(start, end) for start, end in _pairs(text, signals) if not _is_topic(text, start, end)]
    for line in () if text.isascii() else EASTERN_LINE.finditer(text):
        seeds += [match.span() for match in EASTERN.finditer(text, max(line.start() - 40, 0), line.end())]
    spans = [(_begin(text, start), _end(text, end)) for start, end in seeds]
    return spans + [(_begin(text, start), _paragraph_end(text, end)) for start, end in imitated]


def _signals(text: str, bare: str) -> Iterator[tuple[Signal, re.Match[str]]]:
    for first in range(0, len(text), _BLOCK):
        block = bare[first : first + _BLOCK + 20]
        plain = f" {block.translate(_PUNCTUATION)} "
        near: dict[Group, list[_Span]] = {}
        for word in filter(_groups_of, set(plain.split())):
            _note(near, word, first - 1, _places(plain, f" {word} "))
        for mark in _MARKS:
            if mark in block:
                _note(near, mark, first, _places(block, mark))
        for group, places in near.items():
            for start, end in _merged(places):
                for signal in group.signals:
                    for match in signal.pattern.finditer(text, start, end):
                        if not signal.imperative or _is_imperative(text, match.start()):
                            yield signal, match


@lru_cache(maxsize=65_536)
def _groups_of(word: str) -> tuple[Group, ...]:
    found = [*_GROUPS.get(word, ())]
    for length in (5, 6, 7):
        found += _GROUPS.get(word[:length] + "-", ())
    return tuple(found)


def _note(near: dict[Group, list[_Span]], word: str, first: int, places: Iterable[int]) -> None:
    spans = [(max(first + at - _BEFORE, 0), first + at + _BEHIND) for at in places]
    for group in _groups_of(word):
        near.setdefault(group, []).extend(spans)


def _is_imperative(text: str, at: int) -> bool:
    """Whether the verb that begins there orders: not where it goes on with what somebody else shall do."""
    lead = LEADS.search(text[max(at - LEAD_LENGTH, 0) : at])
    if lead is None or not lead.group().rstrip().endswith("and"):
        return lead is not None
    return _OTHERS.search(text[max(at - _BEFORE, 0) : at]) is None


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + max(len(word) - 1, 1))


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    found: list[_Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _pairs(text: str, signals: list[tuple[int, int, Signal]]) -> list[_Span]:
    """What is an order by two weak signals of different kinds that stand near each other."""
    found = []
    for (start, end, one), (begin, stop, other) in pairwise(signals):
        if one.kind != other.kind and begin - end < _NEAR and "\n\n" not in text[end:begin]:
            found.append((start, max(end, stop)))
    return found


def _is_topic(text: str, start: int, end: int) -> bool:
    """Whether the order is a short quotation in a sentence about such orders."""
    before, behind = text[max(start - 60, 0) : start + 1], text[end : end + 60]
    if '"' not in behind or before.count('"') + text[start + 1 : end].count('"') == 0:
        return False
    return _TOPIC.search(text, max(start - 200, 0), start) is not None


def _begin(text: str, at: int) -> int:
    """Where the sentence begins in which something stands."""
    low = max(at - _SENTENCE, 0)
    begin = low
    for stop in _STOP.finditer(text, low, at + 1):
        begin = stop.end() if stop.end() <= at + 1 else begin
    while begin < at and text[begin].isspace():
        begin += 1
    return begin


def _end(text: str, at: int) -> int:
    """Where the order ends: with its sentence, or with the last of those that continue it."""
    end = _sentence_end(text, at)
    for _ in range(_CONTINUED):
        following = _GAP.match(text, end)
        if following is None or not _CONTINUES.match(text, following.end()):
            break
        end = _sentence_end(text, following.end() + 1)
    return end


def _sentence_end(text: str, at: int) -> int:
    stop = _STOP.search(text, max(at - 1, 0), at + _SENTENCE)
    if stop is None:
        return min(at + _SENTENCE, len(text))
    return stop.start() if stop.group()[0] in "\n\f" else stop.end()


def _paragraph_end(text: str, at: int) -> int:
    stop = _PARAGRAPH_END.search(text, at, at + 2 * _SENTENCE)
    return stop.start() if stop else min(at + 2 * _SENTENCE, len(text))
