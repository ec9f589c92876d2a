"""What of a model's answer its sources prove: the rest is left out, and the reader is told how much that was.

A statement is proved by words of a source in quotation marks that really stand there, or by being made of words
that a source says. Its figures must stand in the source either way, and the number that it cites is put right.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.scoring.quotes import verify
from tasks.text.sentences import sentences
from tasks.text.tokens import tokens

_CITED: Final = re.compile(r"\s*[\[【]\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*[\]】]")
_QUOTED: Final = re.compile(r"[“„«»]([^“”„«»\n]{8,600})[”“»«]|\"([^\"\n]{8,600})\"")
_URL: Final = re.compile(r"https?://[^\s<>\"'“”()\[\]]+", re.IGNORECASE)
_SHARE: Final = re.compile(r"\d+\s?/\s?\d+|\d+ out of \d+")
_LINES: Final = re.compile(r"^(\s*(?:[-*•]\s+|\d{1,2}[.)]\s+)?)(.*)$")
_UNTOLD: Final = re.compile(
    r"\b(?:not|no|none|nothing|nor|neither|keine?|nicht|nichts|aucune?|ne|pas|ninguna?|non|n't)\b", re.IGNORECASE
)
_NEUTRAL: Final = frozenset(
    tokens(
        "source sources say says said tell tells told state states stated mention mentioned mentions provide provided "
        "disclose disclosed information page pages public publicly document documents find found give given available "
        "according company based indicate specify specified contain quelle quellen sagen angaben"
    )
)
"""Words with which an answer speaks of its sources."""
_ENOUGH, _ENOUGH_WARY = 0.5, 0.6
"""The part of a statement's own words that its source must say; a paraphrase keeps more, an invention few."""


@dataclass(frozen=True)
class Ground:
    """A numbered source as the model was given it (`text`), and all of its page (`whole`), where a quote may stand.

    `url` is the address that it was fetched from; None where that is not told.
    """

    number: int
    url: str | None
    text: str
    whole: str


@dataclass(frozen=True)
class Proved:
    """The statements that are proved, the numbers they cite, and how many statements were left out."""

    text: str
    cited: frozenset[int]
    left_out: int


def prove(answer: str, question: str, company: str, grounds: Sequence[Ground], *, wary: bool = False) -> Proved:
    """Keep of an answer what the sources prove. `company` are the words that name it.

    Those prove nothing, nor do the question's words where a statement has others. A web address may only be one that
    was fetched. `wary`: a page tried to give the model orders, so that a quotation does not speak for what is said
    beside it.
    """
    known = {ground.number: ground for ground in grounds}
    named, asked = frozenset(tokens(company)), frozenset(tokens(question))
    lines: list[str] = []
    cited: set[int] = set()
    left_out = 0
    for line in answer.splitlines():
        found = _LINES.match(line)
        mark, words = (found[1], found[2]) if found else ("", line)
        kept = []
        for statement in _statements(words):
            numbers = _numbers(statement)
            bare = _CITED.sub("", statement).strip()
            proof = _proof(bare, numbers, named, asked, known, wary=wary)
            if proof is None:
                left_out += 1
                continue
            cited.update(proof)
            kept.append(_with(bare, proof))
        if kept:
            lines.append(mark + " ".join(kept))
        elif not words.strip() and lines and lines[-1]:
            lines.append("")
    return Proved("\n".join(lines).strip(), frozenset(cited), left_out)


def _statements(line: str) -> list[str]:
    """The sentences of a line; numbers that stand behind the full stop belong to the sentence before."""
    found: list[str] = []
    for each in sentences(line):
        lead = re.match(rf"(?:{_CITED.pattern})+", each)
        if lead and found:
            found[-1] += lead[0]
            each = each[lead.end() :].strip()  # noqa: PLW2901 - what is left of it
        if each:
            found.append(each)
    return found


def _numbers(statement: str) -> list[int]:
    return [int(each) for group in _CITED.findall(statement) for each in re.findall(r"\d+", group)]


def _proof(
    bare: str,
    numbers: Sequence[int],
    named: frozenset[str],
    asked: frozenset[str],
    known: dict[int, Ground],
    *,
    wary: bool,
) -> tuple[int, ...] | None:
    """The sources that prove a statement: those cited, else the first that does; None where none does."""
    fetched = {ground.url for ground in known.values()}
    if any(url.rstrip(".,;:!?") not in fetched for url in _URL.findall(bare)):
        return None
    quotes = [one or other for one, other in _QUOTED.findall(bare)]
    own_words = _QUOTED.sub(" ", _URL.sub(" ", bare))
    said = [token for token in tokens(own_words) if token not in named and token not in _NEUTRAL]
    if not said and not quotes:
        return () if not numbers or _UNTOLD.search(bare) else tuple(number for number in numbers if number in known)[:1]
    claimed = tuple(dict.fromkeys(number for number in numbers if number in known))
    for those in (claimed, *((number,) for number in known)):
        if those and _says([known[each] for each in those], said, asked, quotes, _SHARE.findall(bare), wary=wary):
            return those
    if quotes or any(each[0].isdigit() for each in said):
        return None
    return () if _UNTOLD.search(bare) and not _NEUTRAL.isdisjoint(tokens(bare)) else None


def _says(
    grounds: Sequence[Ground],
    said: Sequence[str],
    asked: frozenset[str],
    quotes: Sequence[str],
    shares: Sequence[str],
    *,
    wary: bool,
) -> bool:
    """Whether these sources together say what is said."""
    if not all(any(verify(quote, ground.whole) for ground in grounds) for quote in quotes):
        return False
    texts = [ground.whole if quotes else ground.text for ground in grounds]
    there = frozenset[str]().union(*map(_tokens_of, texts))
    figures = [each for each in said if any(map(str.isdigit, each))]
    if any(figure not in there for figure in figures):
        return False
    if any(not any(_tells(share, text) for text in texts) for share in shares):
        return False
    if quotes and not wary:
        return True
    words = [each for each in said if each not in figures or not wary]
    own = [word for word in words if word not in asked]
    enough = (_ENOUGH_WARY if wary else _ENOUGH) * len(own) if own else len(words)
    told = sum(each in there for each in own or words)
    return told > enough or told == len(own or words)


def _tells(share: str, text: str) -> bool:
    """Whether the text has that share (`3/4`, `3 out of 4`), and not as a part of other figures."""
    return re.search(rf"(?<![\d.,/]){re.escape(share)}(?![\d/])", text, re.IGNORECASE) is not None


def _with(bare: str, proof: Sequence[int]) -> str:
    """The statement with the numbers of its sources before its full stop."""
    if not proof:
        return bare
    mark = " " + "".join(f"[{number}]" for number in proof)
    stop = re.search(r"[.!?:]+$", bare)
    return bare[: stop.start()] + mark + stop[0] if stop else bare + mark


@lru_cache(maxsize=64)
def _tokens_of(text: str) -> frozenset[str]:
    return frozenset(tokens(text))
