"""Finds the orders to a model in a text, and leaves them out.

Words that orders are made of are looked for first; patterns are tried only beside them, and sentences bounded only
where an order stands.

Conversations and fences that a text imitates, so that what stands behind seems to come from elsewhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Final

from tasks.ai.prompt_injection.normalise import fold, unveiled
from tasks.ai.prompt_injection.patterns_en import ACTS, ADDRESSING
from tasks.ai.prompt_injection.patterns_other import LANGUAGES, eastern
from tasks.ai.prompt_injection.prefilter import LEAD_LENGTH, LEADS, VOCABULARY, Signal, Span, Watch, merged

_CHAT: Final = (
    r"<\|[a-z_]{2,30}\|>|\[/inst\]|\[inst\]|<</?sys>>|<(?:start|end)_of_turn>|<system-reminder>"
    r"|(?:^|\n)#{2,4}\s{0,3}(?:instruction|response|system|user input)s?\s?:"
    r"|[\"']role[\"']\s{0,3}:\s{0,3}[\"'](?:system|assistant|developer)[\"']"
    r"|(?:^|\n)\s{0,4}(?:human|user)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:assistant|ai|model)\s?:"
    r"|(?:^|\n)\s{0,4}(?:assistant|ai|model)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:human|user)\s?:"
    r"|\[system\]\(#"
)
_FENCE: Final = (
    r"</?(?:material|source)-[0-9a-f]{4,64}|</(?:material|untrusted\w{0,20}|user_input|retrieved\w{0,20}|documents?>\s{0,3}</context)>"
    r"|\[(?:end|start) of (?:context|input|prompt|instructions?|untrusted \w{2,12}|system \w{2,12})\]"
    r"|=+ (?:end|start) of (?:untrusted |user |retrieved )?(?:text|data|input|context|content|prompt)\s{0,3}=+"
    r"|\bend of (?:input|untrusted \w{2,10}|context|prompt)\b[. ]{1,3}(?:new |now |instructions?|the )"
)
_IMITATED: Final = re.compile(f"{_CHAT}|{_FENCE.replace(' ', chr(92) + 's{1,3}')}")
_CONTEXT_BEFORE, _CONTEXT_BEHIND = 90, 320
"""Characters beside a mark in which what it belongs to stands."""
_BY_SIGN: Final = {
    b"<": b"<| sys>> _of_turn> <system- </material </user_ </untr </retr </doc source- material-".split(),
    b"[": [b"inst]", b"[end of", b"[start of", b"](#"],
    b"{": [b'role"', b"role'"],
    b"#": [b"##"],
    b"=": [b"= end of", b"= start of"],
}
_BY_WORD: Final = {
    VOCABULARY.bit(frozenset({word})): mark
    for word, mark in {
        "assistant": b"assistant:",
        "ai": b"ai:",
        "model": b"model:",
        "untrusted": b"end of untrusted",
        "input-": b"end of input",
        "user-": b"end of user",
        "context-": b"end of context",
        "prompt-": b"end of prompt",
    }.items()
}
"""Of these marks one stands in the text where a conversation or its fences are imitated, by a rare part of it."""


def imitated(text: str, bare: bytes, said: int) -> Iterator[Span]:
    """Where a folded text imitates, given also in ASCII letters with the bits of its words."""
    marks = [mark for sign, marks in _BY_SIGN.items() if sign in bare for mark in marks]
    marks += [mark for bit, mark in _BY_WORD.items() if said & bit]
    for start, end in merged(span for mark in marks for span in _beside(bare, mark)):
        for match in _IMITATED.finditer(text, start, end):
            yield match.span()


def _beside(bare: bytes, mark: bytes) -> Iterator[Span]:
    at = bare.find(mark)
    while at >= 0:
        yield max(at - _CONTEXT_BEFORE, 0), at + _CONTEXT_BEHIND
        at = bare.find(mark, at + max(len(mark) - 1, 1))


VERSION: Final = "orders-2"

_BEFORE: Final = 90
"""Characters before a verb in which stands who shall do it."""
_NEAR: Final = 200
"""Characters that may stand between two weak signals."""
_SENTENCE: Final = 400
"""Characters at most that a sentence is followed to either side."""
_CONTINUED: Final = 12
"""Sentences at most that continue an order."""
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
_WATCH: Final = Watch((*ADDRESSING, *ACTS, *LANGUAGES))


@dataclass(frozen=True)
class Order:
    """The span of characters of an order to a model: the sentences that give it."""

    start: int
    end: int


def find_orders(text: str) -> list[Order]:
    """The orders in a text, in order and apart from each other."""
    folded = fold(text)
    bare = _bare(folded.text)
    heard = VOCABULARY.heard(bare)
    spans = _spans(folded.text, bare, heard)
    found = [(folded.original(start), folded.original(end - 1) + 1) for start, end in spans]
    for start, end, said in unveiled(text, folded, bare, reduce(or_, heard, 0)):
        if _spans(said, _bare(said), VOCABULARY.heard(_bare(said))):
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
    for paragraph in paragraphs:
        end = start + len(paragraph)
        if not any(order.start < end and start < order.end for order in orders):
            kept.append(paragraph)
        start = end + 2
    return kept


def _bare(folded: str) -> bytes:
    """A folded text in ASCII, character by character."""
    return folded.encode("ascii", "replace")


def _spans(text: str, bare: bytes, heard: list[int]) -> list[Span]:
    """The orders in a folded text, given also in ASCII with what each stretch of it says; they may overlap."""
    matches = _WATCH.matches(text, bare, heard)
    told = {(*match.span(), each): None for each, match in matches if _is_told(each, text, match.start())}
    signals = sorted(told, key=lambda found: (*found[:2], found[2].kind))
    seeds = [(start, end) for start, end, each in signals if each.strong and not _is_topic(text, start, end)]
    seeds += [(start, end) for start, end in _pairs(text, signals) if not _is_topic(text, start, end)]
    seeds += eastern(text)
    spans = [(_begin(text, start), _end(text, end)) for start, end in seeds]
    fenced = imitated(text, bare, reduce(or_, heard, 0))
    return spans + [(_begin(text, start), _paragraph_end(text, end)) for start, end in fenced]


def _is_told(signal: Signal, text: str, at: int) -> bool:
    return not signal.imperative or _is_imperative(text, at)


def _is_imperative(text: str, at: int) -> bool:
    """Whether the verb that begins there orders: not where it goes on with what somebody else shall do."""
    lead = LEADS.search(text[max(at - LEAD_LENGTH, 0) : at])
    if lead is None or not lead.group().rstrip().endswith("and"):
        return lead is not None
    return _OTHERS.search(text[max(at - _BEFORE, 0) : at]) is None


def _pairs(text: str, signals: list[tuple[int, int, Signal]]) -> list[Span]:
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
