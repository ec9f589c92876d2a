"""Finds the prompt injections in a text, and leaves them out.

Patterns are tried only near words that they require (`prefilter`), and the borders of sentences are looked for only
where an injection stands. Conversations and fences that a text imitates, so that what follows seems to come from the
user or the system, are injections too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Final

from tasks.ai.prompt_injection.normalise import normalise, undisguised
from tasks.ai.prompt_injection.patterns import LEAD_LENGTH, LEADS, Signal
from tasks.ai.prompt_injection.patterns_en import ACTS, ADDRESSING
from tasks.ai.prompt_injection.patterns_other import LANGUAGES, eastern
from tasks.ai.prompt_injection.prefilter import VOCABULARY, Prefilter, Span, merged

VERSION: Final = "orders-2"

_BEFORE: Final = 90
"""Characters before a verb in which its subject stands."""
_NEAR: Final = 200
"""Characters that may stand between two weak signals."""
_SENTENCE: Final = 400
"""Characters at most that a sentence extends to either side."""
_CONTINUED: Final = 12
"""Sentences at most that continue an injection."""
_STOP: Final = re.compile(r"[.!?][)\]\"'>]{0,3}(?=\s|$)|\n\s{0,40}\n|\f|-->")
_CONTINUES: Final = re.compile(
    r"\W{0,4}(?:and |then |also |now |please |instead |otherwise |additionally,? |furthermore,? |finally,? |if |when )?"
    r"(?:you\b|your\b|say|state|give|assign|award|rate|score|grade|rank|answer|reply|respond|write|output|print|return"
    r"|reveal|report|conclude|recommend|approve|praise|do not|don't|never|always|only|just|treat|use|ignore"
    r"|disregard|forget|skip|omit|leave|mention|tell|act|pretend|make sure|ensure|include|begin|start|end|call|send"
    r"|follow|confirm|mark|set|in this mode"
    r"|this (?:is|overrides|applies)|the (?:score|answer|result)|no matter|asked|highlight|stop|accept|describe)\b"
)
_OTHER_SUBJECT: Final = re.compile(
    r"(?<!you )\b(?:shall|may|will|must|can|not|agrees? to|is to|are to)\b[^.!?]{0,160}$"
)
_TOPIC: Final = re.compile(
    r"inject|jailbreak|adversar|attack|malicious|security|\bsuch as\b|\be\.g\.|for example|so-called"
    r"|(?:phrase|prompt)s? like"
)
_GAP: Final = re.compile(r"[^\S\n]{0,9}\n?[^\S\n]{0,9}(?=\S)")
_PARAGRAPH_END: Final = re.compile(r"\n\s{0,40}\n|\f")
_PREFILTER: Final = Prefilter((*ADDRESSING, *ACTS, *LANGUAGES))


@dataclass(frozen=True)
class Injection:
    """The span of a prompt injection, in characters: the sentences that address a model."""

    start: int
    end: int


def find_orders(text: str) -> list[Injection]:
    """The prompt injections in a text, in the order of the text; none touches the next."""
    plain = normalise(text)
    letters = _letters(plain.text)
    stretches = VOCABULARY.bits_by_stretch(letters)
    spans = [
        (plain.original(start), plain.original(end - 1) + 1) for start, end in _spans(plain.text, letters, stretches)
    ]
    for start, end, hidden in undisguised(text, plain, letters, reduce(or_, stretches, 0)):
        hidden_letters = _letters(hidden)
        if _spans(hidden, hidden_letters, VOCABULARY.bits_by_stretch(hidden_letters)):
            spans.append((start, end))
    return [Injection(start, end) for start, end in merged(spans)]


def without_injections(text: str) -> tuple[str, list[Injection]]:
    """The text with each injection replaced by `[…]`, and the injections."""
    injections = find_orders(text)
    pieces, at = [], 0
    for injection in injections:
        pieces += [text[at : injection.start], "[…]"]
        at = injection.end
    return "".join([*pieces, text[at:]]), injections


def paragraphs_without_injections(paragraphs: Sequence[str]) -> list[str]:
    """The paragraphs of a text, except those that hold an injection or a part of one."""
    injections = find_orders("\n\n".join(paragraphs))
    clean, start = [], 0
    for paragraph in paragraphs:
        end = start + len(paragraph)
        if not any(injection.start < end and start < injection.end for injection in injections):
            clean.append(paragraph)
        start = end + 2
    return clean


def _letters(text: str) -> bytes:
    """A normalised text in ASCII, character by character."""
    return text.encode("ascii", "replace")


def _spans(text: str, letters: bytes, stretches: list[int]) -> list[Span]:
    """The injections in a normalised text, also given in ASCII and as the bits of each stretch; they may overlap."""
    matches = _PREFILTER.matches(text, letters, stretches)
    unique = {
        (*match.span(), signal): None
        for signal, match in matches
        if not signal.imperative or _is_imperative(text, match.start())
    }
    signals = sorted(unique, key=lambda match: (*match[:2], match[2].kind))
    seeds = [(start, end) for start, end, signal in signals if signal.strong and not _is_topic(text, start, end)]
    seeds += [(start, end) for start, end in _pairs(text, signals) if not _is_topic(text, start, end)]
    seeds += eastern(text)
    spans = [(_begin(text, start), _end(text, end)) for start, end in seeds]
    imitations = _imitations(text, letters, reduce(or_, stretches, 0))
    return spans + [(_begin(text, start), _paragraph_end(text, end)) for start, end in imitations]


def _is_imperative(text: str, at: int) -> bool:
    """Whether the verb that begins there is an imperative: not where it has a subject, as in `The Seller shall`."""
    lead = LEADS.search(text[max(at - LEAD_LENGTH, 0) : at])
    if lead is None or not lead.group().rstrip().endswith("and"):
        return lead is not None
    return _OTHER_SUBJECT.search(text[max(at - _BEFORE, 0) : at]) is None


def _pairs(text: str, signals: list[tuple[int, int, Signal]]) -> list[Span]:
    """Two weak signals of different kinds near each other, which are an injection together."""
    pairs = []
    for (start, end, one), (begin, stop, other) in pairwise(signals):
        if one.kind != other.kind and begin - end < _NEAR and "\n\n" not in text[end:begin]:
            pairs.append((start, max(end, stop)))
    return pairs


def _is_topic(text: str, start: int, end: int) -> bool:
    """Whether the match is a short quotation in a sentence about prompt injection."""
    before, behind = text[max(start - 60, 0) : start + 1], text[end : end + 60]
    if '"' not in behind or before.count('"') + text[start + 1 : end].count('"') == 0:
        return False
    return _TOPIC.search(text, max(start - 200, 0), start) is not None


def _begin(text: str, at: int) -> int:
    """Where the sentence begins in which that character stands."""
    low = max(at - _SENTENCE, 0)
    begin = low
    for stop in _STOP.finditer(text, low, at + 1):
        begin = stop.end() if stop.end() <= at + 1 else begin
    while begin < at and text[begin].isspace():
        begin += 1
    return begin


def _end(text: str, at: int) -> int:
    """Where the injection ends: with its sentence, or with the last of those that continue it."""
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
"""Characters beside a mark in which the rest of the imitation stands."""
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
"""Parts of every imitation, by a rare sign or word in them: only where that stands are they searched."""


def _imitations(text: str, letters: bytes, bits: int) -> Iterator[Span]:
    """Where a normalised text imitates a conversation or the fences of a prompt.

    `letters` is the text in ASCII, `bits` are those of all its words.
    """
    marks = [mark for sign, marks in _BY_SIGN.items() if sign in letters for mark in marks]
    marks += [mark for bit, mark in _BY_WORD.items() if bits & bit]
    for start, end in merged(span for mark in marks for span in _beside(letters, mark)):
        for match in _IMITATED.finditer(text, start, end):
            yield match.span()


def _beside(letters: bytes, mark: bytes) -> Iterator[Span]:
    at = letters.find(mark)
    while at >= 0:
        yield max(at - _CONTEXT_BEFORE, 0), at + _CONTEXT_BEHIND
        at = letters.find(mark, at + max(len(mark) - 1, 1))
