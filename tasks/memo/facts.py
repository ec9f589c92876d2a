"""What a memo says of a contract by one value, checked against the sentences in which the contract states the same.

"MedCloud must report a breach within ten days" and "Business Associate shall report breaches of unsecured PHI to
Covered Entity within 10 days" share few words. `facts.toml` says in which words contracts and memos speak of such a
fact. What is said of a party must be said of the same party, and no word of the statement may be left over.
"""

import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel

from tasks.language.numbers import PERCENT
from tasks.language.quotations import locate
from tasks.language.words import stem
from tasks.statements.check import source_sentences
from tasks.statements.figures import StatedFigure, figures, same
from tasks.statements.objections import BINDING, find_rates, may_agree
from tasks.statements.reading import ALIKE, Limit, ParsedSentence, nearness, read
from tasks.table.spans import Span, pattern

_TIMES: Final = frozenset(map(stem, ("hour", "day", "week", "month", "year")))
_WORKING: Final = frozenset(map(stem, ("business", "working", "trading")))
"""What days may be, so that they are fewer."""
_SAID: Final = frozenset({None, Limit.REQUIRED, Limit.ANY, Limit.ALL})
"""Limits that change no fact: a duty, and what holds of each."""
_OPEN: Final = frozenset({"until", "whether", "upon", "when"})
"""Conditions that say when, and not whether."""
_ITEM: Final = re.compile(r"[;:,]?\s\(?(?:[a-z]|[ivx]{2,4})\)\s|;\s")
"""Between a list's lead-in and its items."""
_CONVERSE: Final = frozenset(map(stem, ("receive", "receives", "get", "gets", "earn", "earns")))
"""What one says of whom another one pays."""
_ALIKE: Final = (
    (r"\bagree(?:s|d)? to\b|\b(?:has|have) to\b", "shall"),
    (r"\bnot (?:been )?paid\b", "unpaid"),
    (r"\bnot exceed(?= (?:the|an?|its|all|any)\b)", "be limited to"),
)
"""Words of contracts that say the same, so that neither a denial nor a wish is read in them."""


class HeldFact(NamedTuple):
    """A fact of a statement beside the contract's: what both give, and where the contract does."""

    name: str
    stated: str
    given: str
    span: Span
    is_same: bool


class _Fact(BaseModel):
    """A kind of fact, as `facts.toml` says."""

    kind: str
    names: list[str]
    unless: list[str] = []
    free: str

    def is_in(self, words: str) -> bool:
        """Whether words speak of it."""
        is_named = all(pattern(name).search(words) for name in self.names)
        return is_named and not any(pattern(other).search(words) for other in self.unless)


_DATA: Final = tomllib.loads(Path(__file__).with_name("facts.toml").read_text(encoding="utf-8"))
_FACTS: Final = {name.replace("_", " "): _Fact.model_validate(entry) for name, entry in _DATA.items()}


def names_fact(words: str) -> bool:
    """Whether a statement speaks of such a fact."""
    return any(fact.is_in(words) for fact in _FACTS.values())


def hold_fact(words: str, text: str, roles: Collection[str]) -> HeldFact | None:
    """The fact that a statement gives, beside the contract's; None if it gives none, or it is not certain.

    Args:
        words: the statement, in the contract's own terms and without its name.
        text: the contract's.
        roles: the stems of what the contract calls its parties.
    """
    stated = _read(words)
    if any(token.limit not in _SAID for token in stated.tokens):
        return None
    named = {name: fact for name, fact in _FACTS.items() if fact.is_in(words)}
    found = [one for name, fact in named.items() if (one := _hold(name, fact, stated, text, roles))]
    return found[0] if len({one.is_same for one in found}) == 1 else None


def _hold(name: str, fact: _Fact, stated: ParsedSentence, text: str, roles: Collection[str]) -> HeldFact | None:
    values = [figure for figure in _list_figures(stated) if _find_kind(figure) in fact.kind.split()]
    if len(values) != 1:
        return None
    own, given = values[0], list[tuple[StatedFigure, ParsedSentence, str]]()
    for original in (sentence.original for sentence in source_sentences(text)):
        head, *items = _ITEM.split(original)
        for source in map(_read, filter(fact.is_in, [f"{head} {item}" for item in items] or [original])):
            if _covers(fact, stated, source, roles):
                given += [
                    (one, source, original) for one in _list_figures(source) if _find_kind(one) == _find_kind(own)
                ]
    if not given or any(not same(given[0][0], other) for other, *_ in given):
        return None
    value, source, original = given[0]
    is_same, limits = same(own, value), {token.limit for token in source.tokens if token.text not in _OPEN}
    rates, others = find_rates(stated.text), find_rates(source.text)
    if Limit.NEGATION in limits or (is_same and (BINDING.search(source.text) or limits - _SAID or rates - others)):
        return None
    is_other = rates == others and own.limit == value.limit and not may_agree(own, value)
    if not is_same and (not is_other or any(same(own, figure) for figure in figures(text))):
        return None
    return HeldFact(
        name, _write(stated, own), _write(source, value), Span(*(locate(original, text) or (0, 0))), is_same
    )


def _read(words: str) -> ParsedSentence:
    for alike, other in _ALIKE:
        words = pattern(alike).sub(other, words)
    return read(words)


def _covers(fact: _Fact, stated: ParsedSentence, source: ParsedSentence, roles: Collection[str]) -> bool:
    """Whether a sentence has all that a statement says besides the words of its fact, of the same parties."""
    mine, theirs = ([token.stem for token in one.tokens if token.figure is None] for one in (stated, source))
    besides = (figure for figure in _list_figures(stated) if _find_kind(figure) not in fact.kind.split())
    if not all(any(same(figure, other) for other in _list_figures(source)) for figure in besides):
        return False
    left = (
        {stated.tokens[at].stem for at in stated.content} - _TIMES - frozenset(roles) - {*map(stem, fact.free.split())}
    )
    said = {*theirs, *map(stem, fact.free.split())}
    if any(all(nearness(word, other) < ALIKE for other in said) for word in left) or (
        _WORKING.intersection(mine) != _WORKING.intersection(theirs)
    ):
        return False
    ours, others = (list(dict.fromkeys(word for word in words if word in roles)) for words in (mine, theirs))
    is_led = any(token.stem in ours and token.preposition in {"to", "from"} for token in stated.tokens)
    if not ours or (is_led and len(ours) == 1) or ours[0] not in others:
        return not ours
    is_converse = not _CONVERSE.isdisjoint(mine)
    order = [others.index(role) for role in ours if role in others]
    is_whole = len(order) == len(ours) or len(others) == 1  # "all invoices" for "the Supplier's invoices"
    return is_whole and (order[0] == 0) is not is_converse and order == sorted(order, reverse=is_converse)


def _list_figures(sentence: ParsedSentence) -> list[StatedFigure]:
    return [figure for at in sentence.figures if (figure := sentence.tokens[at].figure)]


def _write(sentence: ParsedSentence, figure: StatedFigure) -> str:
    """A value as a sentence gives it: "ten (10) days" as "ten days"."""
    words = sentence.text[figure.start : figure.end].partition(" (")[0]
    return f"{words} {figure.measure}s" if figure.measure else words


def _find_kind(figure: StatedFigure) -> str:
    """The kind of value that a figure may be in `facts.toml`; "" if none."""
    return "time" if stem(figure.measure) in _TIMES else {PERCENT: "percent", "money": "money"}.get(figure.kind, "")
