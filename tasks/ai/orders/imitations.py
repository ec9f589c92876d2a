"""Conversations and fences that a text imitates, so that what stands behind seems to come from elsewhere."""

import re
from collections.abc import Iterator
from typing import Final

from tasks.ai.orders.vocabulary import VOCABULARY
from tasks.ai.orders.watching import Span, merged

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
_BEFORE, _BEHIND = 90, 320
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
        yield max(at - _BEFORE, 0), at + _BEHIND
        at = bare.find(mark, at + max(len(mark) - 1, 1))
