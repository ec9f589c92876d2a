"""Differences of what limits: negation, what may, must or is expected, conditions, and how much of it."""

from collections.abc import Iterator
from typing import Final

from tasks.statements.alignment import Comparison
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figures import COUNT
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

BINDING: Final = frozenset({"after", "if", "when", "where", "once", "with", "upon", "on", "in", "until", "to"})
"""What follows an `only` that makes a condition: `only after the first 18 months`."""
_LONGEST_NOUN: Final = 4
MODALS: Final = (EXPECTED, POSSIBLE, REQUIRED, SUPPOSED, CLAIMED, WANTED)


def negations(comparison: Comparison) -> Iterator[Difference]:
    """Negations: each has its counterpart, on the same words."""
    stated, source = comparison.stated, comparison.source
    mine = [at for at, token in enumerate(stated.tokens) if token.operator == NEGATION]
    clauses = comparison.clauses()
    touched = reach(comparison)
    theirs = [
        at
        for at, token in enumerate(source.tokens)
        if token.operator == NEGATION and (token.clause in clauses or at in comparison.used)
    ]
    matched: set[int] = set()
    for at in mine:
        other = comparison.to.get(at)
        if other is None:
            yield Difference(DifferenceKind.LACKS, stated.tokens[at].text, is_against=True)
            continue
        matched.add(other)
        head, their_head = _head(stated, at), _head(source, other)
        if head is not None and their_head is not None:
            place = comparison.to.get(head)
            is_near = stated.tokens[at].text == "without" and bool(
                _next_few(stated, at, comparison) & {*range(other, other + 9)}
            )
            if place is not None and abs(place - their_head) > 2 and not is_near:
                yield Difference(DifferenceKind.OTHER_NEGATION, is_against=True)
    for at in theirs:
        if at in matched or at in comparison.used:
            continue
        head = _head(source, at)
        if {head, *_nothing_of(source, at)} & comparison.used or source.tokens[at].clause in touched:
            yield Difference(DifferenceKind.SAYS, source.tokens[at].text, is_against=True)
    for at in source.figures:
        figure = source.tokens[at].figure
        is_none = figure is not None and not figure.is_date and figure.value == 0 and at not in comparison.used
        if is_none and figure is not None and figure.unit == COUNT and {at + 1, at + 2} & comparison.used:
            yield Difference(DifferenceKind.SAYS, source.tokens[at].text, is_against=True)


def _nothing_of(source: Sentence, at: int) -> Iterator[int]:
    """What a negation stands before: the words of `family relationships` behind `no`, the next word behind another."""
    yield at + 1
    if source.tokens[at].text == "no":
        for place in range(at + 1, min(at + 1 + _LONGEST_NOUN, len(source.tokens))):
            if not source.tokens[place].is_content or source.tokens[place].is_verb:
                return
            yield place


def reach(comparison: Comparison) -> set[int]:
    """The clauses of the sentence whose verb or most of whose words the statement has."""
    source = comparison.source
    clauses: set[int] = set()
    for clause in comparison.clauses():
        content = [at for at in (*source.content, *source.figures) if source.tokens[at].clause == clause]
        held = [at for at in content if at in comparison.used]
        if len(held) * 3 >= len(content) or any(source.tokens[at].is_verb for at in held):
            clauses.add(clause)
    return clauses


def _next_few(sentence: Sentence, at: int, comparison: Comparison) -> set[int]:
    """Where the next three things of the statement stand in the sentence."""
    following = [place for place in range(at + 1, len(sentence.tokens)) if sentence.tokens[place].is_content][:3]
    return {comparison.to[place] for place in following if place in comparison.to}


def _head(sentence: Sentence, at: int) -> int | None:
    """The content that a negation is about: the next, behind what stands between two commas."""
    tokens = sentence.tokens
    inserted = tokens[at + 1].segment if at + 1 < len(tokens) and tokens[at + 1].segment != tokens[at].segment else -1
    places = [
        place for place in range(at + 1, len(tokens)) if tokens[place].is_content or tokens[place].figure is not None
    ]
    return next((place for place in places if tokens[place].segment != inserted), min(places, default=None))


def limits_differ(comparison: Comparison) -> Iterator[Difference]:
    """What may, must, is expected or only if; all, some, most, only: alike on both sides."""
    stated, source = comparison.stated, comparison.source
    reached = reach(comparison)
    clauses = comparison.clauses()
    mine = {token.operator for token in stated.tokens if token.operator}
    near = [
        (at, token)
        for at, token in enumerate(source.tokens)
        if token.operator
        and (
            token.clause in reached
            or at in comparison.used
            or (token.operator == CONDITION and _is_joined(source, at, clauses))
            or (token.operator in {EXPECTED, CLAIMED} and token.clause in clauses and comes_first(comparison, at))
        )
    ]
    theirs = {token.operator for _, token in near}
    whole = {token.operator for token in source.tokens if token.operator}
    for kind in MODALS:
        if kind in mine and kind not in whole and not _as_good(stated, kind, whole):
            yield Difference(DifferenceKind.NOT_SAID_TO_BE, kind)
        words = [at for at, token in near if token.operator == kind]
        if (
            kind in theirs
            and kind not in mine
            and not _as_good(source, kind, mine)
            and not all(says_what_is(comparison, at) for at in words)
        ):
            yield Difference(DifferenceKind.SAID_TO_BE, kind)
    for at, token in enumerate(stated.tokens):
        if token.operator in MODALS and at not in comparison.to and not _as_good(stated, token.operator, whole):
            yield Difference(DifferenceKind.LACKS, token.text)
    for at, token in near:
        if (
            token.operator in MODALS
            and at not in comparison.used
            and limited_by(source, at) in comparison.used
            and not _as_good(source, token.operator, mine)
            and not says_what_is(comparison, at)
        ):
            yield Difference(DifferenceKind.SAYS, token.text)
    exact = {"may", "might", "could", "can", "shall", "must"}
    said = {token.text for token in stated.tokens if token.text in exact}
    read_there = {token.text for _, token in near if token.text in exact}
    is_only_possible = POSSIBLE in mine and not _as_good(stated, POSSIBLE, whole)
    if said and read_there and is_only_possible and REQUIRED in theirs and POSSIBLE not in theirs:
        yield Difference(DifferenceKind.MUST, is_against=True)
    if CONDITION in mine - whole:
        yield Difference(DifferenceKind.NO_CONDITION)
    for at, token in near:
        if token.operator == CONDITION and at not in comparison.used and limits_used(comparison, at):
            yield Difference(DifferenceKind.SAYS, token.text)
        behind = source.tokens[at + 1].text if at + 1 < len(source.tokens) else ""
        if token.operator == ONLY and behind in BINDING and at not in comparison.used and limits_used(comparison, at):
            yield Difference(DifferenceKind.SAYS, f"{token.text} {behind}")
    if CONDITION in mine:
        yield from lost_conjuncts(comparison)
    for kind in (ALL, MOST, SOME, FEW, ONLY, ANY):
        if (
            kind in mine
            and kind not in whole
            and not (kind == ANY and ALL in whole)
            and not (kind == ALL and ANY in whole)
        ):
            yield Difference(DifferenceKind.LACKS_QUANTITY, kind, is_against=bool(whole & {ALL, MOST, SOME, FEW}))
    for at, token in near:
        if (
            token.operator in {MOST, SOME, FEW, ONLY}
            and at not in comparison.used
            and token.operator not in mine
            and is_near_used(comparison, at)
        ):
            yield Difference(DifferenceKind.SAYS, token.text)
    for at, token in enumerate(stated.tokens):
        if token.operator == ALL and at in comparison.to and is_of_another(comparison, at):
            yield Difference(DifferenceKind.OF_SOMETHING_ELSE, token.text)
        if token.operator in {ALL, MOST, SOME, FEW, ONLY, ANY} and at not in comparison.to:
            yield Difference(DifferenceKind.LESS_OFTEN, token.text)


def is_of_another(comparison: Comparison, at: int) -> bool:
    """Whether `all` is of another thing in the sentence: `all 3,100 bikes` for `all models`."""
    stated, source = comparison.stated, comparison.source
    mine = next(
        (place for place in range(at + 1, min(at + 5, len(stated.tokens))) if stated.tokens[place].is_content), None
    )
    theirs = comparison.to[at]
    following = set(range(theirs + 1, min(theirs + 6, len(source.tokens))))
    return mine in comparison.to and comparison.to[mine] < theirs and not following & comparison.used


def lost_conjuncts(comparison: Comparison) -> Iterator[Difference]:
    """Of two conditions that must both hold, the second, where the statement has the first alone."""
    source = comparison.source
    for at, token in enumerate(source.tokens):
        if token.operator != CONDITION or at not in comparison.used:
            continue
        end = source.text.find(",", token.start)
        behind = [place for place in range(at + 1, len(source.tokens)) if source.tokens[place].start < end]
        joint = next((place for place in behind if source.tokens[place].text == "and"), None)
        verbs = [place for place in behind if joint is not None and place > joint and source.tokens[place].is_verb]
        if verbs and not comparison.used & {*verbs}:
            yield Difference(DifferenceKind.SAYS, f"and {source.tokens[verbs[0]].text}")


def says_what_is(comparison: Comparison, at: int) -> bool:
    """Whether a contract's `shall (not) be` or `shall not exceed` is said as `is (not)`, `is capped at`."""
    tokens, stated = comparison.source.tokens, comparison.stated.tokens
    if _is_promised(comparison, at):
        return True
    if tokens[at].text != "shall":
        return False
    behind = at + 2 if at + 1 < len(tokens) and tokens[at + 1].text == "not" else at + 1
    if behind >= len(tokens):
        return False
    return tokens[behind].is_limit or (
        tokens[behind].text == "be" and any(token.text in {"is", "are"} for token in stated)
    )


def _is_promised(comparison: Comparison, at: int) -> bool:
    """Whether a policy's `we will` or a contract's `shall` is said as what is done: `notifies`, `are notified`."""
    tokens, stated = comparison.source.tokens, comparison.stated.tokens
    if tokens[at].text not in {"will", "shall"}:
        return False
    if tokens[at].text == "will" and not any(token.text in {"we", "us", "you", "our", "your"} for token in tokens):
        return False
    if any((figure := tokens[place].figure) is not None and figure.is_date for place in comparison.source.figures):
        return False
    verb = next((place for place in range(at + 1, min(at + 4, len(tokens))) if tokens[place].is_verb), None)
    mine = comparison.back(verb) if verb is not None else None
    if mine is None:
        return False
    before = [token.text for token in stated[max(mine - 2, 0) : mine]]
    if stated[mine].is_passive:
        return bool(before) and bool({"is", "are"} & {*before})
    return not stated[mine].text.endswith(("ed", "ing")) and not {"has", "have", "had"} & {*before}


def comes_first(comparison: Comparison, at: int) -> bool:
    """Whether a limit stands before all of its clause that the statement has, so that it governs them."""
    clause = comparison.source.tokens[at].clause
    used = [place for place in comparison.used if comparison.source.tokens[place].clause == clause]
    return at < min(place for place in used)


def limited_by(source: Sentence, at: int) -> int | None:
    """The content, or the other limit, that a limit is about."""
    return next(
        (
            place
            for place in range(at + 1, min(at + 5, len(source.tokens)))
            if source.tokens[place].is_content or source.tokens[place].operator or source.tokens[place].figure
        ),
        None,
    )


def limits_used(comparison: Comparison, at: int) -> bool:
    """Whether the words that a condition follows, or all where it comes first, are the statement's."""
    tokens = comparison.source.tokens
    before = [place for place in range(at) if tokens[place].is_content or tokens[place].figure is not None]
    return not before or any(place in comparison.used for place in before[-2:])


def is_near_used(comparison: Comparison, at: int) -> bool:
    following = [
        place
        for place in range(at + 1, len(comparison.source.tokens))
        if comparison.source.tokens[place].is_content or comparison.source.tokens[place].figure
    ]
    return any(place in comparison.used for place in following[:2])


def _is_joined(source: Sentence, at: int, clauses: set[int]) -> bool:
    """Whether a condition belongs to one of the clauses: no semicolon is between."""
    token = source.tokens[at]
    for clause in clauses:
        others = [other for other in source.tokens if other.clause == clause]
        first, last = others[0], others[-1]
        between = source.text[min(token.end, last.end) : max(token.start, first.start)]
        if ";" not in between:
            return True
    return False


def _as_good(sentence: Sentence, kind: str, kinds: set[str]) -> bool:
    """Whether other limits say as much as a kind: what `will` be is expected, or required."""
    if (kind == EXPECTED and REQUIRED in kinds) or (kind == REQUIRED and EXPECTED in kinds):
        words = {token.text for token in sentence.tokens if token.operator == kind}
        return words <= {"will", "shall"}
    if {kind, *kinds} >= {REQUIRED, POSSIBLE} and kind in {REQUIRED, POSSIBLE}:
        return (
            any(
                token.operator == kind and following.text == "not"
                for token, following in zip(sentence.tokens, sentence.tokens[1:], strict=False)
            )
            and NEGATION in kinds
        )
    if (kind == SUPPOSED and POSSIBLE in kinds) or (kind == POSSIBLE and SUPPOSED in kinds):
        return {token.text for token in sentence.tokens if token.operator == kind} <= {"would", "could", "might"}
    return False
