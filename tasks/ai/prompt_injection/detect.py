"""Finds the prompt injections in a text, and removes them.

This only supports warnings: most orders are worded in ways that no list has. Text that imitates a conversation or a
fence, so that what follows seems to come from the user or the system, is an injection too.
"""

# ruff: noqa: E501 - a pattern reads best in one line

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from tasks import cancellation
from tasks.ai.prompt_injection import Injection
from tasks.ai.prompt_injection.normalise import normalise
from tasks.ai.prompt_injection.patterns import ENGLISH, LANGUAGES, LEAD_LENGTH, LEADS, eastern, group_patterns

Span = tuple[int, int]

_PATTERNS: Final = (*ENGLISH, *LANGUAGES)
_GROUPS: Final = group_patterns(_PATTERNS)

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
_VERB: Final = (
    r"(?:say|state|give|assign|award|rate|score|grade|rank|answer|reply|respond|write|output|print|return|reveal|report"
    r"|conclude|recommend|approve|praise|treat|use|ignore|disregard|forget|skip|omit|leave|mention|tell|act|pretend"
    r"|include|begin|start|end|call|send|follow|confirm|mark|set|highlight|stop|accept|describe|flag|keep|be|repeat|check|verify|question|doubt|read|trust)"
)
_CONTINUES: Final = re.compile(
    r"\W{0,4}(?:(?:and|then|also|now|please|instead|otherwise|simply|just|only|always|additionally,?|furthermore,?|finally,?|or) ){0,3}"
    rf"(?:(?:do not|don't|never) (?:ever )?{_VERB}\b"
    rf"|{_VERB} (?:that|this|it|them|me|us|the|a|an|all|any|every|each|only|no|not|nothing|yes|your|with|as|at|to|from|in|kind|exactly|\W?\d|\W?\w{{1,20}}\W?$|[\"'{{])"
    rf"|you (?:must|should|shall|will|can|may|have to|are to|need to)(?: (?:now|always|only|never|not|also))? {_VERB}\b"
    r"|make sure|ensure that|no matter|in this mode|when you|if you are|if asked|this overrides|nothing else|no exceptions)"
)
"""How a clause begins that goes on with an order: with an imperative and what it governs, or with what `you` must do."""
_OTHER_SUBJECT: Final = re.compile(
    r"(?<!you )\b(?:shall|may|will|must|can|not|agrees? to|is to|are to)\b[^.!?]{0,160}$"
)
_OTHERS: Final = re.compile(
    r"\b(?:to|each|every|by|for|of|all) (?:the |a |an |all )?(?:\w{2,14} )?(?:bidders?|tender(?:er)?s?|bids?|suppliers?|candidates?|borrowers?|vendors?"
    r"|designs?|applicants?|proposals?|contractors?|students?|sites?|employees|calls?)\b|\bmeeting\b|\b(?:from )?[01] to \d"
    r"|\b(?:if|where|unless|in case|only (?:after|if|where|when|once)|no more than)\b(?! (?:you|this|asked))"
)
_WRITER: Final = re.compile(
    r"\b(?:this|our) (?:company|document|passage|file|text|deck|firm|business|bidder|supplier|criterion|question|contract|target)|\b(?:us|our|you|ai|llms?)\b"
)
_TOPIC: Final = re.compile(
    r"inject|jailbreak|adversar|attack|malicious|security|\bsuch as\b|\be\.g\.|for example|so-called"
    r"|(?:phrase|prompt)s? like"
)
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
    for first, last in _find_spans(text[low : end + _OVERLAP]):
        if low + first < end and low + last > start:
            yield low + first, low + last


def _find_spans(text: str) -> list[Span]:
    """The injections in a text; they may overlap."""
    plain = normalise(text)
    return [(plain.original(start), plain.original(end - 1) + 1) for start, end in _spans(plain.text)]


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
    injections = find_orders(text)
    pieces, at = [], 0
    for injection in injections:
        pieces += [text[at : injection.start], "[…]"]
        at = injection.end
    return "".join([*pieces, text[at:]]), injections


def _spans(text: str) -> list[Span]:
    """The injections in a normalised text; they may overlap."""
    cancellation.check()
    seeds = []
    for pattern in _PATTERNS if any(group.search(text) for group in _GROUPS) else ():
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
        for match in _IMITATED.finditer(text)
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
_CHAT: Final = (
    r"<\|[a-z_]{2,30}\|>|\[/inst\]|\[inst\]|<</?sys>>|<(?:start|end)_of_turn>|<system-reminder>"
    r"|(?:^|\n)(?:#{2,4}\s{0,3}(?:instruction|response|system|user input)s?\s?:"
    r"|\s{0,4}(?:human|user)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:assistant|ai|model)\s?:"
    r"|\s{0,4}(?:assistant|ai|model)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:human|user)\s?:)"
    r"|[\"']role[\"']\s{0,3}:\s{0,3}[\"'](?:system|assistant|developer)[\"']"
    r"|\[system\]\(#"
)
_FENCE: Final = (
    r"</?(?:material|source)-[0-9a-f]{4,64}|</(?:material|untrusted\w{0,20}|user_input|retrieved\w{0,20}|documents?>\s{0,3}</context)>"
    r"|\[(?:end|start) of (?:context|input|prompt|instructions?|untrusted \w{2,12}|system \w{2,12})\]"
    r"|(?<!=)=++ (?:end|start) of (?:untrusted |user |retrieved )?(?:text|data|input|context|content|prompt)\s{0,3}=+"
    r"|\bend of (?:input|untrusted \w{2,10}|context|prompt)\b[. ]{1,3}(?:new |now |instructions?|the )"
)
_IMITATED: Final = re.compile(f"{_CHAT}|{_FENCE.replace(' ', chr(92) + 's{1,3}')}")
