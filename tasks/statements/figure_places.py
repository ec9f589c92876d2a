"""Differences of figures that both have: another place, another period, another label."""

from collections.abc import Iterator
from typing import Final

from tasks.language.words import CHANGING, are_opposite, say_the_same, stems_of, words_of
from tasks.statements.alignment import Comparison
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figures import COUNT, StatedFigure, same
from tasks.statements.reading import Sentence, Token

_CHANGE_BEHIND: Final = stems_of("change_behind")


_JOINTS: Final = words_of("joints")
_BE: Final = words_of("be")


_COMPARED: Final = frozenset({"compared", "compares", "comparing", "against"})


_DURATIONS: Final = frozenset({"year", "month", "week", "day", "hour", "minute"})


def places_of_figures(comparison: Comparison) -> Iterator[Difference]:
    for mine, theirs, figure in _in_both(comparison):
        if figure.is_date:
            if not _stands_between_commas(comparison.source, theirs):
                yield from _label(comparison, mine, theirs)
            continue
        yield from _role(comparison, mine, theirs)
        if figure.measure not in _DURATIONS:
            yield from _period(comparison, mine, theirs)
        yield from _label(comparison, mine, theirs)


def labels_of_figures(comparison: Comparison) -> Iterator[Difference]:
    """The same of a statement in other words: most of what stands with a figure goes with another in the sentence."""
    for mine, theirs, figure in _in_both(comparison):
        if not figure.is_date:
            yield from _role(comparison, mine, theirs)
            both = {role(comparison.stated, mine), role(comparison.source, theirs)}
            if both != {"change"} and figure.measure not in _DURATIONS:
                yield from _period(comparison, mine, theirs)
            if both == {"from"}:
                continue
        yield from _other_label(comparison, mine, theirs)


def _in_both(comparison: Comparison) -> Iterator[tuple[int, int, StatedFigure]]:
    """The figures that both sentences have: where each stands in the statement and in the sentence."""
    for mine in comparison.stated.figures:
        theirs, figure = comparison.to.get(mine), comparison.stated.tokens[mine].figure
        if theirs is not None and figure is not None:
            yield mine, theirs, figure


def _role(comparison: Comparison, mine: int, theirs: int) -> Iterator[Difference]:
    """A figure that a change starts from, of one that it ends at."""
    roles = {role(comparison.stated, mine), role(comparison.source, theirs)}
    if len(roles) > 1 and roles != {"level", "to"} and not _period_says(comparison, mine, theirs):
        if is_change_over_time(comparison):
            return
        words = comparison.source.tokens[theirs].text
        kind = DifferenceKind.COMPARED_PLACE if "from" in roles else DifferenceKind.OTHER_PLACE
        yield Difference(kind, words, is_against=True)


def _other_label(comparison: Comparison, mine: int, theirs: int) -> Iterator[Difference]:
    """Another figure of the kind in the sentence that has more of the words which stand with a figure."""
    stated, source = comparison.stated, comparison.source
    if source.has_respectively or stated.has_respectively:
        return
    zone = [
        at
        for at in _zone(stated, mine)
        if _is_label(stated.tokens[at])
        and at in comparison.to
        and not stated.tokens[at].is_verb
        and stated.tokens[at].stem not in CHANGING
        and stated.tokens[at].text.removesuffix("s") not in _DURATIONS
    ]
    rivals = [at for at in source.figures if at != theirs and _are_alike(source.tokens[at], source.tokens[theirs])]
    if not zone or not rivals:
        return
    own = _zone(source, theirs)
    colon = source.text.find(":")
    shared = {at for at, token in enumerate(source.tokens) if token.end <= colon < source.tokens[theirs].start}
    subject_end = next((at for at, token in enumerate(source.tokens) if token.is_verb or token.text in _BE), 0)
    held = {comparison.to[at] for at in zone}
    is_first = all(theirs < at for at in rivals)
    free = [
        at for at in own if _is_label(source.tokens[at]) and at not in comparison.used and not source.tokens[at].is_verb
    ]
    for rival in rivals:
        its = _zone(source, rival)
        elsewhere = [
            at for at in held - shared if at in its and at not in own and (free or is_first or at >= subject_end)
        ]
        here = [at for at in held if at in own]
        if elsewhere and (len(elsewhere) >= len(here) or free):
            yield Difference(DifferenceKind.OF_ANOTHER_FIGURE, source.tokens[elsewhere[0]].text, is_against=True)
            return


def _are_alike(one: Token, other: Token) -> bool:
    if one.figure is None or other.figure is None or one.figure.kind != other.figure.kind:
        return False
    durations = [each.figure.measure in _DURATIONS for each in (one, other) if each.figure is not None]
    return durations[0] == durations[1]


def _stands_between_commas(source: Sentence, at: int) -> bool:
    """Whether a date stands by itself between commas and is that of its clause, which has one verb."""
    own = source.tokens[at]
    is_alone = all(token.segment != own.segment or not token.is_content or token is own for token in source.tokens)
    return is_alone and sum(token.is_verb and token.clause == own.clause for token in source.tokens) <= 1


def role(sentence: Sentence, at: int) -> str:
    """`to` or `from` which value, by how much (`change`), or a `level`."""
    tokens = sentence.tokens
    back = at - 1
    while back >= 0 and (tokens[back].is_limit or tokens[back].text in {"the", "a", "an", "approximately", "about"}):
        back -= 1
    before = tokens[back] if back >= 0 else None
    following = next(
        (token for token in tokens[at + 1 : at + 3] if token.text not in {"of", "point", "points", "in"}), None
    )
    word = before.text if before else ""
    if word == "to":
        return "to"
    if word in {"from", "against", *_COMPARED} or (
        word in {"of", "with"} and any(token.text in _COMPARED for token in tokens[max(back - 3, 0) : back])
    ):
        return "from"
    is_compared = any(token.text in _COMPARED and token.segment == tokens[at].segment for token in tokens[:at])
    if is_compared and tokens[at].preposition != "by":
        return "from"
    if word == "by":
        figure = tokens[at].figure
        is_count = figure is not None and figure.unit == COUNT and figure.measure not in _DURATIONS
        changes = any(token.stem in CHANGING and token.clause == tokens[at].clause for token in tokens[:back])
        return "change" if back and (changes or not is_count) else "level"
    if (
        following is not None
        and following.stem in _CHANGE_BEHIND
        and following.segment == tokens[at].segment
        and not following.operator
    ):
        return "change"
    content = next(
        (token for token in reversed(tokens[: back + 1]) if token.is_content or token.figure or token.is_verb), None
    )
    if (
        content is not None
        and content.stem in CHANGING
        and content.clause == tokens[at].clause
        and word not in {"at", "was", "is", "were", "in", "for", "than"}
    ):
        return "change"
    return "level"


def _dates(sentence: Sentence) -> list[int]:
    return [at for at in sentence.figures if (figure := sentence.tokens[at].figure) is not None and figure.is_date]


def period_of(sentence: Sentence, at: int) -> int | None:
    """The date that a figure belongs to; None where the sentence has none for it."""
    tokens = sentence.tokens
    dates = _dates(sentence)
    if not dates:
        return None
    kind = tokens[at].figure.kind  # type: ignore[union-attr]
    alike = [place for place in sentence.figures if tokens[place].figure.kind == kind]  # type: ignore[union-attr]
    if sentence.has_respectively:
        period = _respectively(sentence, at, alike, dates)
        if period is not None:
            return period
    dates = [
        place
        for place in dates
        if not _is_compared_between(sentence, at, place) and not _is_in_other_brackets(sentence, at, place)
    ]
    if not dates:
        return None
    following = next((place for place in dates if place > at), None)
    next_alike = next((place for place in alike if place > at), len(tokens))
    if following is not None and following < next_alike and tokens[following].segment == tokens[at].segment:
        return following
    same_segment = [place for place in dates if tokens[place].segment == tokens[at].segment]
    if same_segment:
        return min(same_segment, key=lambda place: abs(place - at))
    if (
        following is not None
        and following < next_alike
        and next_alike == len(tokens)
        and not any(place < at for place in dates)
    ):
        return following
    earlier = [place for place in dates if place < at]
    last_alike = max((place for place in alike if place < at), default=-1)
    own = [place for place in earlier if place > last_alike]
    if own:
        return own[-1]
    if following is not None and following < next_alike:
        return following
    return earlier[0] if earlier else following


def _is_compared_between(sentence: Sentence, at: int, date: int) -> bool:
    """Whether a date behind a figure is that of another, which it is compared with: `up 44 % from 16.4 in 2021`."""
    tokens = sentence.tokens
    for place in range(at + 1, date):
        if tokens[place].text in {"from", "compared", "against", "than"}:
            return True
        is_participle = tokens[place].is_verb and not tokens[place].is_passive and tokens[place].text.endswith("ed")
        if is_participle and place > at + 1 and tokens[place - 1].is_content and not tokens[place - 1].is_verb:
            return True  # "the program announced in March 2022"
    return False


def _is_in_other_brackets(sentence: Sentence, at: int, date: int) -> bool:
    """Whether a date stands in brackets in which the figure does not."""
    start = sentence.tokens[date].start
    opened = sentence.text.rfind("(", 0, start)
    closed = sentence.text.find(")", start)
    return opened > sentence.text.rfind(")", 0, start) and not opened < sentence.tokens[at].start < closed


def _respectively(sentence: Sentence, at: int, alike: list[int], dates: list[int]) -> int | None:
    """The date that has the same place in its list as the figure in its own."""
    end = next(
        (place for place, token in enumerate(sentence.tokens) if token.text == "respectively"), len(sentence.tokens)
    )
    listed = [place for place in dates if place < end]
    values = [place for place in alike if place < end]
    if not listed or not values:
        return None
    for count in range(min(len(listed), len(values)), 1, -1):
        last_dates, last_values = listed[-count:], values[-count:]
        if at in last_values and (last_dates[0] > last_values[-1] or last_dates[-1] < last_values[0]):
            return last_dates[last_values.index(at)]
    return None


def _period(comparison: Comparison, mine: int, theirs: int) -> Iterator[Difference]:
    """Another period than the sentence's for a figure."""
    own, period = period_of(comparison.stated, mine), period_of(comparison.source, theirs)
    dates = _dates(comparison.source)
    if own is None:
        if is_change_over_time(comparison):
            return
        if len(dates) > 1 and period is not None and _is_second(comparison.source, theirs):
            yield Difference(DifferenceKind.SAYS_THAT_OF, "another period")
        return
    if period is None and own in comparison.to and _is_compared_between(comparison.source, theirs, comparison.to[own]):
        yield Difference(
            DifferenceKind.COMPARES_WITH, comparison.source.tokens[comparison.to[own]].text, is_against=True
        )
        return
    if period is None or len(dates) < 2:
        return
    one, other = comparison.stated.tokens[own].figure, comparison.source.tokens[period].figure
    assert one is not None
    assert other is not None
    if not same(one, other) and not same(other, one):
        yield Difference(DifferenceKind.SAYS_THAT_OF, comparison.source.tokens[period].text, is_against=True)


def _period_says(comparison: Comparison, mine: int, theirs: int) -> bool:
    """Whether the statement names the period of a figure that the sentence gives for comparison."""
    own, period = period_of(comparison.stated, mine), period_of(comparison.source, theirs)
    roles = role(comparison.stated, mine), role(comparison.source, theirs)
    if own is None or period is None or not (roles == ("change", "from") or "change" not in roles):
        return False
    one, other = comparison.stated.tokens[own].figure, comparison.source.tokens[period].figure
    return one is not None and other is not None and same(one, other)


def is_change_over_time(comparison: Comparison) -> bool:
    """Whether the statement's change, `from 19 to 21`, is between the periods of a row, the earlier one first.

    They must be the only two figures of the statement, and stand in the row next to each other.
    """
    stated, source = comparison.stated, comparison.source
    amounts = [at for at in stated.figures if not stated.tokens[at].figure.is_date]  # type: ignore[union-attr]
    if len(amounts) != 2 or any(at not in comparison.to for at in amounts) or ":" not in source.text:
        return False
    first = next((at for at in amounts if role(stated, at) == "from"), None)
    second = next((at for at in amounts if role(stated, at) in {"to", "level"}), None)
    if first is None or second is None:
        return False
    columns = [_column(source, comparison.to[at]) for at in (first, second)]
    if (
        None in columns
        or abs(source.figures.index(comparison.to[first]) - source.figures.index(comparison.to[second])) > 2
    ):
        return False
    (label, date), (other, later) = columns  # type: ignore[misc]
    return label == other and date < later


def _column(source: Sentence, at: int) -> tuple[str, tuple[int, int, int]] | None:
    """The words and the date of the column of a row's figure: `in quarter ended`, June 30, 2023."""
    period = period_of(source, at)
    figure = source.tokens[period].figure if period is not None else None
    year, month, day = figure.date if figure is not None else (None, None, None)
    if period is None or year is None:
        return None
    return source.text[source.tokens[at].end : source.tokens[period].start], (year, month or 0, day or 0)


def _is_second(source: Sentence, at: int) -> bool:
    """Whether another figure of its kind stands before it."""
    kind = source.tokens[at].figure.kind  # type: ignore[union-attr]
    return any(source.tokens[place].figure.kind == kind for place in source.figures if place < at)  # type: ignore[union-attr]


def _label(comparison: Comparison, mine: int, theirs: int) -> Iterator[Difference]:
    """A word that the statement has with the figure, and the sentence with another figure of the kind."""
    stated, source = comparison.stated, comparison.source
    if source.has_respectively or stated.has_respectively:
        return
    zone, their_zone = _zone(stated, mine), _zone(source, theirs)
    verb = next((at for at in range(theirs, their_zone.start, -1) if source.tokens[at].is_verb), None)
    shares_subject = verb is not None and source.tokens[verb - 1].text in {"and", "or", "but"}
    if shares_subject and verb is not None:
        their_zone = range(verb, their_zone.stop)
    held = {comparison.to[at] for at in zone if at in comparison.to}
    own = [at for at in their_zone if at < theirs and _is_label(source.tokens[at])]
    if all(at in held for at in own):
        segment = source.tokens[theirs].segment
        own = [at for at in their_zone if _is_label(source.tokens[at]) and source.tokens[at].segment == segment]
    if all(at in held for at in own):
        return
    shares_subject = shares_subject or all(source.tokens[at].stem in CHANGING for at in own)
    subject_end = next((at for at, token in enumerate(source.tokens) if token.is_verb or token.text in _BE), 0)
    for at in zone:
        token = stated.tokens[at]
        if not _is_label(token) or at not in comparison.to or comparison.to[at] in their_zone:
            continue
        if shares_subject and comparison.to[at] < subject_end:
            continue
        if token.stem in CHANGING and not any(are_opposite(token.stem, source.tokens[it].stem) for it in their_zone):
            continue
        if any(say_the_same(source.tokens[place].stem, token.stem) for place in their_zone):
            continue
        yield Difference(DifferenceKind.OF_ANOTHER_FIGURE, source.tokens[comparison.to[at]].text, is_against=True)
        return


def _is_label(token: Token) -> bool:
    return token.is_content and token.figure is None


def _zone(sentence: Sentence, at: int) -> range:
    """The words that go with a figure: up to the joints between it and others of its kind."""
    tokens = sentence.tokens
    kind = tokens[at].figure.kind  # type: ignore[union-attr]
    alike = [place for place in sentence.figures if tokens[place].figure.kind == kind]  # type: ignore[union-attr]
    before = max((place for place in alike if place < at), default=None)
    behind = min((place for place in alike if place > at), default=None)
    first = 0 if before is None else _joint(sentence, before, at)
    last = len(tokens) if behind is None else _joint(sentence, at, behind)
    return range(first, last)


def _joint(sentence: Sentence, one: int, other: int) -> int:
    """Where the words of one figure end and those of the next begin."""
    tokens = sentence.tokens
    joints = [place for place in range(one + 1, other) if tokens[place].text in _JOINTS]
    if joints:
        return (
            joints[0]
            if len(joints) == 1
            else next(
                (place for place in joints if tokens[place].text in {"and", "but", "while", "whereas", "compared"}),
                joints[0],
            )
        )
    breaks = [place for place in range(one + 1, other + 1) if tokens[place].segment != tokens[place - 1].segment]
    return breaks[0] if breaks else (one + other + 1) // 2
