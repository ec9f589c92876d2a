"""Differences of what limits, of a statement in free wording: only where it says more, or less, than the sentence."""

import re
from collections.abc import Iterator
from typing import Final

from tasks.statements.alignment import Comparison
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.limiting import (
    BINDING,
    MODALS,
    comes_first,
    is_near_used,
    is_of_another,
    limited_by,
    limits_used,
    lost_conjuncts,
    reach,
    says_what_is,
)
from tasks.statements.reading import (
    ALL,
    ANY,
    CLAIMED,
    CONDITION,
    EXPECTED,
    FEW,
    MOST,
    NEGATION,
    ONLY,
    POSSIBLE,
    REQUIRED,
    SOME,
    SUPPOSED,
    WANTED,
    Sentence,
)

_IS_TO: Final = re.compile(r"\b(?:is|are|was|were) (?:to\b|[a-z]+ing\b)")
_HEDGES: Final = frozenset({EXPECTED, CLAIMED, WANTED, SUPPOSED})
_REPORTING: Final = frozenset(
    {
        "according",
        "guide",
        "guides",
        "guided",
        "seem",
        "seems",
        "appear",
        "appears",
        "suggest",
        "suggests",
        "may",
        "might",
        "could",
        "should",
    }
)
_NOT_ALL: Final = frozenset({"certain", "some", "several", "various", "most", "many"})
_FORBIDDING: Final = frozenset({"prohibited", "prohibits", "forbidden", "forbids", "banned", "barred"})
_REACH: Final = 6
"""Words between what limits a verb and the verb."""
_BINDS: Final = frozenset({"must", "shall", "required", "mandatory"})
_ENABLING: Final = re.compile(
    r"\b(?:enabl|allow|permit|empower)(?:e|es|ed|s)?\b|\bways? (?:to|of)\b|\bable to\b|\blets?\b", re.IGNORECASE
)
_SETTING_TERMS: Final = re.compile(
    r"\b(?:agreement|contract|plan|policy|lease|deed|letter)\b[^.;]{0,40}?\b(?:provides?|stipulates?|sets? out)\b"
    r"|\b(?:party to|under) (?:an?|the|its|his|her|their) [a-z ]{0,30}(?:agreement|contract|plan|lease)\b",
    re.IGNORECASE,
)
"""What makes the `will` behind it a term of an agreement, and no outlook: `The agreement provides that he will`."""
_PAST: Final = frozenset({"was", "were", "had", "has", "have", "did"})
_ONE: Final = frozenset({"single", "sole", "one", "alone", "only", "exclusively", "solely"})


def free_limits(comparison: Comparison) -> Iterator[Difference]:
    """What limits a statement in other words than the sentence: only where it says more, or less, than that."""
    stated, source = comparison.stated, comparison.source
    mine = {token.operator for token in stated.tokens if token.operator}
    clauses = comparison.clauses()
    governing = [
        (at, token)
        for at, token in enumerate(source.tokens)
        if token.operator
        and (
            at in comparison.used
            or limited_by(source, at) in comparison.used
            or (source.text.startswith(" to ", token.end) and bool({*range(at + 2, at + 5)} & comparison.used))
            or (token.operator in {EXPECTED, CLAIMED} and token.clause in clauses and comes_first(comparison, at))
        )
    ]
    theirs = {token.operator for _, token in governing}
    whole = {token.operator for token in source.tokens if token.operator}
    is_hedged = bool(mine & {*_HEDGES, POSSIBLE}) or any(token.text in _REPORTING for token in stated.tokens)
    is_hedged = is_hedged or _IS_TO.search(stated.text) is not None
    is_term = _SETTING_TERMS.search(source.text) is not None
    is_term = is_term and not _PAST & {token.text for token in stated.tokens}
    governing = [(at, token) for at, token in governing if not (token.text == "will" and is_term)]
    for at, token in governing:
        if token.operator in _HEDGES and not is_hedged and not says_what_is(comparison, at):
            yield Difference(DifferenceKind.SAYS, token.text)
    roots = {token.stem for token in source.tokens}
    hedges = {token.stem for token in stated.tokens if token.operator in _HEDGES}
    if hedges - roots and not whole & {*_HEDGES, POSSIBLE, REQUIRED}:
        yield Difference(DifferenceKind.NOT_SAID_TO_BE, "expected")
    their_words = {token.text for token in source.tokens}
    if "cannot" in their_words or "subject to" in source.text or _ENABLING.search(source.text):
        whole.add(POSSIBLE)
    denied = NEGATION in mine | whole or bool(their_words & _FORBIDDING)
    if (
        POSSIBLE in mine
        and not whole & {POSSIBLE, SUPPOSED}
        and not (denied and (REQUIRED in whole or their_words & _FORBIDDING))
    ):
        yield Difference(DifferenceKind.NOT_SAID_TO_BE, "possible")
    for at, token in governing:
        if token.operator in {EXPECTED, POSSIBLE, REQUIRED, SUPPOSED} and at not in comparison.used:
            place = comparison.back(limited_by(source, at) or -1)
            if place is None or says_what_is(comparison, at):
                continue
            own = (mine for mine in range(max(place - _REACH, 0), place + 1) if mine not in comparison.to)
            is_said = any(stated.tokens[mine].operator in MODALS for mine in own)
            is_reported = any(each.text in _REPORTING and not each.operator for each in stated.tokens)
            if not (is_said or is_reported or _IS_TO.search(stated.text)):
                yield Difference(DifferenceKind.SAYS, token.text)
    is_meant = any(token.operator in {WANTED, EXPECTED} and token.text != "will" for token in stated.tokens)
    is_forbidden = denied and REQUIRED in mine
    if POSSIBLE in theirs and not (mine & {POSSIBLE, SUPPOSED} or is_forbidden or is_meant):
        yield Difference(DifferenceKind.SAID_TO_BE, "possible")
    if REQUIRED in mine and not whole & {REQUIRED, EXPECTED} and not (denied and whole & {POSSIBLE, NEGATION}):
        yield Difference(DifferenceKind.NOT_SAID_TO_BE, "required")
    for at, token in governing:
        if (
            token.operator == REQUIRED
            and not mine & {REQUIRED, EXPECTED, WANTED}
            and not (denied and POSSIBLE in mine)
            and not says_what_is(comparison, at)
        ):
            yield Difference(DifferenceKind.SAYS, token.text)
    words = [{token.text for token in sentence.tokens} for sentence in (stated, source)]
    if "will" in words[0] and POSSIBLE in whole and not whole & {*_HEDGES, REQUIRED}:
        yield Difference(DifferenceKind.SAID_TO_BE, "possible alone")
    if words[0] & _BINDS and "should" in words[1] and not words[1] & _BINDS:
        yield Difference(DifferenceKind.ONLY_SHOULD)
    if CONDITION in mine:
        yield from lost_conjuncts(comparison)
    yield from _free_conditions(comparison)
    yield from _free_quantities(comparison, whole)


def _free_conditions(comparison: Comparison) -> Iterator[Difference]:
    """A condition of one side whose words the other has not."""
    stated, source = comparison.stated, comparison.source
    held = {
        mine: theirs
        for mine, theirs in comparison.to.items()
        if stated.tokens[mine].is_content or stated.tokens[mine].figure
    }
    for sentence, used in ((stated, set(held)), (source, set(held.values()))):
        for at, token in enumerate(sentence.tokens):
            if token.operator != CONDITION or (
                token.text == "until" and at + 1 < len(sentence.tokens) and sentence.tokens[at + 1].figure
            ):
                continue
            behind = _behind(sentence, at)
            if not behind or (at in comparison.to and sentence is stated):
                continue
            share = sum(place in used for place in behind) / len(behind)
            if sentence is stated and share < 0.5:
                yield Difference(DifferenceKind.NO_CONDITION)
            if sentence is source and share < 0.5 and at not in comparison.used:
                is_other = at and sentence.tokens[at - 1].text == "or"
                if not is_other and (limits_used(comparison, at) or token.clause in reach(comparison)):
                    yield Difference(DifferenceKind.SAYS, token.text)


def _behind(sentence: Sentence, at: int) -> list[int]:
    """The content of a condition, up to the next comma or end of its clause."""
    own = sentence.tokens[at]
    end = sentence.text.find(",", own.end)
    places = [
        place
        for place in range(at + 1, len(sentence.tokens))
        if (end < 0 or sentence.tokens[place].start < end)
        and (sentence.tokens[place].is_content or sentence.tokens[place].figure is not None)
    ]
    return places[:6]


def _free_quantities(comparison: Comparison, whole: set[str]) -> Iterator[Difference]:
    stated, source = comparison.stated, comparison.source
    mine = {token.operator for token in stated.tokens if token.operator}
    their_words, own_words = {token.text for token in source.tokens}, {token.text for token in stated.tokens}
    for at, token in enumerate(stated.tokens):
        kind = token.operator
        if kind not in {ALL, MOST, FEW, ONLY} or at in comparison.to or token.text.endswith(("ed", "es", "ing", "ion")):
            continue
        if kind == ALL and their_words & _NOT_ALL and not own_words & _NOT_ALL:
            yield Difference(DifferenceKind.SAYS_THAT_OF, "some")
        if kind == ALL and (whole & {ALL, ANY} or their_words & {"full", "whole"}):
            continue
        if kind == MOST and MOST in whole:
            continue
        if kind == ONLY and (their_words & _ONE or (NEGATION in whole and CONDITION in whole)):
            continue
        yield Difference(DifferenceKind.LACKS, token.text, is_against=True)
    if SOME in mine and SOME not in whole and ALL in whole:
        yield Difference(DifferenceKind.SAYS_THAT_OF, "all")
    for at, token in enumerate(source.tokens):
        if token.operator not in {MOST, SOME, FEW, ONLY} or at in comparison.used or token.operator in mine:
            continue
        if token.operator == ONLY and own_words & _ONE:
            continue
        following = source.tokens[at + 1].text if at + 1 < len(source.tokens) else ""
        if token.operator == ONLY and following in BINDING and limits_used(comparison, at):
            yield Difference(DifferenceKind.SAYS, f"{token.text} {following}")
        elif token.operator in {MOST, FEW, SOME} and is_near_used(comparison, at) and not _gives_cause(source, at):
            yield Difference(DifferenceKind.SAYS, token.text)
    for at, token in enumerate(stated.tokens):
        if token.operator == ALL and at in comparison.to and is_of_another(comparison, at):
            yield Difference(DifferenceKind.OF_SOMETHING_ELSE, token.text)


def _gives_cause(source: Sentence, at: int) -> bool:
    """Whether `mainly` stands before a cause: a statement that names it alone says no more than that it is one."""
    return any(token.text in {"because", "to"} for token in source.tokens[at + 1 : at + 3])
