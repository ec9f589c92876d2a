"""What contradicts a statement: the one thing in which a sentence that is nearly the same says otherwise."""

from collections.abc import Sequence
from typing import Final

from tasks.language.words import ACTING, RESTRICTING, stem
from tasks.statements.alignment import Alignment, agree, find_kind
from tasks.statements.difference import Difference, DifferenceKind, Rule
from tasks.statements.differences import GRAVE, denials
from tasks.statements.figure_rules import amounts_in
from tasks.statements.figures import StatedFigure, same, same_size
from tasks.statements.nearness import ALIKE, are_confused, nearness
from tasks.statements.reading import ParsedSentence, Token

_FEWEST_SHARED: Final = 3
_ONCE: Final = "ended expired founded established incorporated signed matured terminated died born"
_EVENTS: Final = frozenset(map(stem, _ONCE.split()))
"""What happens once, so that one year for it speaks against another."""
_MOST_EXTRA: Final = 0.34
_MOST_ADDED: Final = 1
"""The share of a sentence's words that a contradicted statement may lack, and words beside them."""


def contrary(alignment: Alignment) -> Difference | None:
    """What a sentence that is nearly the same says otherwise: a figure, a name, a denial or an opposite alone."""
    stated = alignment.stated
    missing = alignment.missing
    clauses = alignment.used
    extra = alignment.others(clauses)
    shared = [pair for pair in alignment.pairs.values() if pair.nearness >= ALIKE]
    fewest = _FEWEST_SHARED - bool(missing or not extra)
    if len(shared) < len(alignment.pairs) or len(shared) < fewest or len(missing) > 1:
        return None
    if not missing:
        return (
            None
            if _differs_besides(alignment, denials) or _is_wider(alignment, extra)
            else next(denials(alignment), None)
        )
    token = stated.tokens[missing[0]]
    found = _instead(alignment, missing[0], extra)
    if found is None:
        return None
    theirs = alignment.source.tokens[found]
    if (
        next(denials(alignment), None)
        or _differs_besides(alignment, None)
        or _is_wider(alignment, [at for at in extra if at != found])
    ):
        return None
    if token.figure is not None:
        return Difference(DifferenceKind.FIGURE, token.text, theirs.text)
    kind = DifferenceKind.OPPOSITE if are_confused(token.stem, theirs.stem) else DifferenceKind.NAME
    if kind is DifferenceKind.OPPOSITE and {token.stem, theirs.stem} <= ACTING:
        return None  # "bought from" and "sold to" may be one
    return Difference(kind, _write_token(stated, token), _write_token(alignment.source, theirs))


def _write_token(sentence: ParsedSentence, token: Token) -> str:
    """A word as it is written, a name in full."""
    at = sentence.tokens.index(token)
    first = last = at
    while (
        token.is_name
        and first
        and sentence.tokens[first - 1].is_name
        and sentence.tokens[first - 1].segment == token.segment
    ):
        first -= 1
    while (
        token.is_name
        and last + 1 < len(sentence.tokens)
        and sentence.tokens[last + 1].is_name
        and sentence.tokens[last + 1].segment == token.segment
    ):
        last += 1
    return sentence.text[sentence.tokens[first].start : sentence.tokens[last].end].replace("_", " ")


def _differs_besides(alignment: Alignment, rule: Rule | None) -> bool:
    """Whether the two differ in more than what is missing, or what a rule finds."""
    return any(next(other(alignment), None) for other in GRAVE if other is not rule)


def _is_wider(alignment: Alignment, extra: Sequence[int]) -> bool:
    """Whether the sentence says so much more, or of others, that it need not be the same matter."""
    source = alignment.source
    dates = [at for at in extra if find_kind(source.tokens[at]) == "date"]
    names = [at for at in extra if source.tokens[at].is_name and source.tokens[at].stem not in alignment.known]
    amounts = [at for at in extra if find_kind(source.tokens[at]) not in {"", "date"}]
    words = [at for at in extra if not find_kind(source.tokens[at])]
    own_dates = any(find_kind(alignment.stated.tokens[at]) == "date" for at in alignment.stated.figures)
    all_words = len(words) + len(alignment.pairs)
    restricts = any(source.tokens[at].text in RESTRICTING for at in words)
    return (
        bool(names or amounts or restricts)
        or (bool(dates) and own_dates)
        or len(words) > max(_MOST_ADDED, all_words * _MOST_EXTRA)
    )


def _instead(alignment: Alignment, at: int, extra: Sequence[int]) -> int | None:
    """What the sentence has where the statement has something else: of the same kind, beside the same words."""
    stated, source = alignment.stated, alignment.source
    token = stated.tokens[at]
    is_event = any(stated.tokens[other].stem in _EVENTS for other in alignment.pairs) and not amounts_in(stated)
    for place in extra:
        other = source.tokens[place]
        if token.figure is not None:
            if (
                other.figure is not None
                and _is_other_figure(token.figure, other.figure, is_event=is_event)
                and _stands_alike(alignment, at, place)
            ):
                return place
        elif other.figure is None and (
            are_confused(token.stem, other.stem)
            or (
                token.is_name
                and other.is_name
                and not nearness(token.stem, other.stem)
                and _stands_alike(alignment, at, place)
            )
        ):
            return place
    return None


def _is_other_figure(one: StatedFigure, other: StatedFigure, *, is_event: bool) -> bool:
    """Whether two figures of one unit cannot both be right: neither is the other rounded, or with another sign."""
    if one.is_date or other.is_date:
        is_whole = (one.date[2] and other.date[2]) or is_event
        is_alike = [part is None for part in one.date] == [part is None for part in other.date]
        return bool(is_whole) and one.unit == other.unit and is_alike and one.date != other.date
    is_alike = one.unit == other.unit and one.measure == other.measure and one.limit == other.limit
    return (
        is_alike
        and not same(one, other)
        and not agree(one, other)
        and not (one.value != other.value and same_size(one, other))
    )


def _stands_alike(alignment: Alignment, at: int, place: int) -> bool:
    """Whether a token of each stands beside the same words: its neighbours on one side at least are each other's."""
    stated, source = alignment.stated, alignment.source
    before = max((other for other in alignment.pairs if other < at), default=None)
    behind = min((other for other in alignment.pairs if other > at), default=None)
    own = sorted((*source.content, *source.figures))
    where = own.index(place)
    earlier = own[where - 1] if where else None
    later = own[where + 1] if where + 1 < len(own) else None
    matches_before = (alignment.pairs[before].source if before is not None else None) == earlier
    matches_behind = (alignment.pairs[behind].source if behind is not None else None) == later
    is_alike = stated.tokens[at].preposition == source.tokens[place].preposition
    return (matches_before and earlier is not None) or (matches_behind and later is not None and is_alike)
