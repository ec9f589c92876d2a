"""What speaks against a sentence as the support of a statement whose words were found in it, and what contradicts it.

A sentence supports a statement where it has all of its words, figures and names, denies and limits the same, and has
nothing before or between them that could change whom or what they are said of. A row of a table supports one that has
all words of its label and each figure in the column of its date. What is said in another order, or of a part, is not
found: the rules are few, so that what they let through is so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from tasks.language.numbers import PERCENT, POINTS
from tasks.language.words import ACTING, has_opposite, load_words, stem
from tasks.statements.figures import DATE, StatedFigure, is_cut_off
from tasks.statements.match import (
    PAST,
    PRONOUNS,
    TIME_WORDS,
    WordMatch,
    is_date,
    is_passive,
    list_places,
    token_nearness,
)
from tasks.statements.reading import (
    ALIKE,
    CHANGES,
    LIGHT,
    Difference,
    DifferenceKind,
    Limit,
    ParsedSentence,
    Token,
    are_confused,
    is_past,
    nearness,
)

_SELF: Final = load_words("self") - {"its"}
_MEANT: Final = frozenset({"will", "shall", "must"})
"""What a duty is said with, one as good as the other."""
_EXACT_PREPOSITIONS: Final = frozenset(
    "to from below above over under before after against without with by".split()  # noqa: SIM905 - a list of words reads best as words
)
_EARLIER: Final = frozenset({"from", "against", "compared", "versus"})
"""Prepositions of an earlier figure, one as good as the other: "up from 5", "against 5"."""
_WIDE: Final = frozenset("for from to by with due compared against after as versus than".split())  # noqa: SIM905 - as above
"""Prepositions of what may be left out behind a statement's words; others say where it holds."""
_MEASURED: Final = frozenset({"money", PERCENT, POINTS})
"""Kinds of figures that are no part of what is spoken of: "rose 8 % to $4 million" says "rose to $4 million"."""
_NOT: Final = frozenset("not no never none nor cannot nicht kein keine keinen keiner pas".split())  # noqa: SIM905 - as above
_BEFORE_NOUNS: Final = frozenset("der die das des dem den ein eine einer eines einem einen".split())  # noqa: SIM905 - as above
"""Articles of German, where each noun has a capital."""
_ONCE: Final = frozenset(
    map(stem, "ended expired founded established incorporated signed matured terminated died born".split())  # noqa: SIM905 - as above
)
"""What happens once, so that one year for it speaks against another."""
_FEWEST: Final = 3
"""Words and figures that a contradicted statement shares with its sentence, at least."""


def objections(found: WordMatch) -> Iterator[Difference]:
    """What speaks against a sentence as the proof of a statement, the gravest first."""
    if _say_the_same(found.stated.tokens, found.source.tokens):
        return
    if is_row(found.source):
        yield from _row_objections(found)
        return
    for at in found.missing:
        if found.stated.tokens[at].stem not in LIGHT or found.stated.tokens[at].is_name:
            yield _missing(found.stated, found.stated.tokens[at])
    if len(found.pairs) > 1:
        yield from _denials(found)
        yield from _limits(found)
        yield from _other_roles(found)
        yield from _additions(found)
    else:
        yield Difference(DifferenceKind.MISSING, found.stated.text)


def _say_the_same(stated: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether two sentences are identical word for word, except for words of one group and ways of writing a figure."""
    return len(stated) == len(source) and all(
        one.limit is other.limit and (one.figure is not None or one.preposition == other.preposition)
        and (one.text == other.text or token_nearness(one, other) >= ALIKE)
        for one, other in zip(stated, source, strict=True)
    )  # fmt: skip


def _missing(stated: ParsedSentence, token: Token) -> Difference:
    kind = DifferenceKind.MISSING if token.figure is None else DifferenceKind.NO_FIGURE
    return Difference(kind, stated.write(token))


def _denials(found: WordMatch) -> Iterator[Difference]:
    pairs = {at: place for at, place in found.pairs.items() if not is_date(found.stated.tokens[at])}
    ours = {at for at in pairs if found.stated.is_denied(at)}
    theirs = {at for at, place in pairs.items() if found.source.is_denied(place)}
    if theirs - ours or _has_denied_light_words(found):
        yield Difference(DifferenceKind.DENIED)
    elif ours - theirs or (not ours and _count_negations(found.stated)):
        yield Difference(DifferenceKind.NOT_DENIED)


def _has_denied_light_words(found: WordMatch) -> bool:
    """Whether only words that are not paired show the denial: "X alone does not reach the majority"."""
    stated, source, clauses = found.stated, found.source, found.clauses
    if _count_negations(stated):
        return False
    for token in stated.tokens:
        if token.is_content or token.limit is not None:
            continue
        same = [place for place, one in enumerate(source.tokens) if one.stem == token.stem and one.clause in clauses]
        if same and all(source.is_denied(place) for place in same):
            return True
    return False


def _count_negations(sentence: ParsedSentence, clauses: frozenset[int] | None = None) -> int:
    return sum(
        token.limit is Limit.NEGATION and (clauses is None or token.clause in clauses) for token in sentence.tokens
    )


def _limits(found: WordMatch) -> Iterator[Difference]:
    """The differences in `may`, `must`, `only`, `most`, `if` and the like, when only one of the two has them."""
    stated, source = found.stated.tokens, found.source.tokens
    last, clauses = source[max(found.pairs.values())], found.clauses
    reach = [
        at for at, token in enumerate(source)
        if token.clause in clauses and (token.start <= last.start or token.segment == last.segment)
    ]  # fmt: skip
    places = sorted({*reach, *(at for at, token in enumerate(source) if token.limit is Limit.CONDITION)})
    governing = {kind for place in found.pairs.values() for kind in found.source.limits_at(place)}
    theirs = Counter(map(str, governing - {source[at].limit for at in places}))
    theirs.update(_strength(source, at) for at in places)
    ours = Counter(_strength(stated, at) for at in range(len(stated)))
    if _is_done_as_a_rule(found):
        theirs["will"] -= max(0, sum(source[at].text in _MEANT for at in places) - ours["will"])
    for kind in (theirs - ours).keys() - {""}:
        yield Difference(
            DifferenceKind.LIMITED,
            theirs=next((found.source.write(source[at]) for at in places if source[at].limit == kind), kind),
        )
    opens_any = stated[0].limit is Limit.ANY and all(token.limit is not Limit.ANY for token in source)
    for kind in {*(ours - theirs), *[Limit.ANY] * opens_any} - {""}:
        yield Difference(
            DifferenceKind.NOT_LIMITED,
            next((found.stated.write(token) for token in stated if token.limit == kind), kind),
        )
    near = {source[at].text for at in reach}
    for token in stated:
        if token.text in _WAYS - near:
            yield Difference(DifferenceKind.NOT_LIMITED, found.stated.write(token))
    rates = _find_rates(found.stated.text)
    if rates and rates != _find_rates(found.source.text):
        yield Difference(DifferenceKind.OTHER_FIGURE, min(rates))
    if (bound := _BINDING.search(found.source.original)) and not _BINDING.search(found.stated.original):
        yield Difference(DifferenceKind.LIMITED, theirs=bound[0])


def _find_rates(text: str) -> set[str]:
    return {"year" if unit.startswith("annu") else unit for unit in map("".join, _RATE.findall(text.lower()))}


_RATE: Final = re.compile(
    r"\b(?:(?:per|an?|each|every)[ _](hour|day|week|month|quarter|year|annum)"
    r"|(hour|week|month|quarter|year|annual)ly)\b"
)
"""What a figure is paid or counted for: "per month", and not "per year"."""
_ENDED: Final = re.compile(r"\b\w{1,30}ed\b")
_WAYS: Final = frozenset("above below over under before after with without against".split())  # noqa: SIM905 - as above
_BINDING: Final = re.compile(
    r"\b(?:in line with|subject to|to the extent|provided(?:,? (?:however|further),?)? that|due (?:to be|for)|unless"
    r"|except|other than|without"
    r"|(?<!, )when(?:ever)?(?= (?:(?:it|they|(?:an?|any|the) \w+) (?:are|(?!was\b)\w+s)|\w+ (?:is|are))\b))\b",
    re.IGNORECASE,
)


def _is_done_as_a_rule(found: WordMatch) -> bool:
    """Whether a statement in the present may say what the sentence orders: "shall pay" is "pays" as a rule.

    A plan with a date that the statement leaves out is not yet so.
    """
    source = found.source.tokens
    is_planned = any(token.text == "will" for token in source) and any(is_date(source[at]) for at in found.extra)
    return not is_planned and not _tells_past(found.stated)


def _tells_past(sentence: ParsedSentence) -> bool:
    has_ended = _ENDED.search(sentence.original) is not None  # "stepped down" is read as one word
    return any(
        token.text in PAST
        or (token.is_verb and token.is_content and is_past(token))
        or ("_" in token.text and has_ended)
        for token in sentence.tokens
    )


def _strength(tokens: Sequence[Token], at: int) -> str:
    """How a word limits a statement, ignoring negation; "" if it does not. "May not" and "shall
    not" count as the same.
    """
    token = tokens[at]
    is_denied = any(other.limit is Limit.NEGATION for other in tokens[at + 1 : at + 2])
    if token.text in _MEANT or (is_denied and token.limit in {Limit.POSSIBLE, Limit.REQUIRED}):
        return "will"
    is_any = token.limit is Limit.ANY and not any(other.stem in TIME_WORDS for other in tokens[at + 1 : at + 2])
    return "" if token.limit is None or token.limit is Limit.NEGATION or is_any else str(token.limit)


def _other_roles(found: WordMatch) -> Iterator[Difference]:
    """Differences in who does what to whom: a verb that is passive in only one of the two, or another preposition."""
    for at, place in found.pairs.items():
        mine, theirs = found.stated.tokens[at], found.source.tokens[place]
        if _is_led_otherwise(mine, theirs):
            kind = DifferenceKind.ROLES if mine.figure is None else DifferenceKind.OTHER_FIGURE
            yield Difference(kind, found.stated.write(mine))
        if at and mine.is_verb and theirs.is_verb and is_passive(found.stated, at) != is_passive(found.source, place):
            yield Difference(DifferenceKind.ROLES)
        is_done = mine.is_verb and is_past(mine) and mine.stem == theirs.stem
        if is_done and not is_past(theirs) and theirs.text in found.source.original.lower():  # no phrase in one word
            yield Difference(DifferenceKind.LIMITED, theirs=found.source.write(theirs))


def _is_led_otherwise(mine: Token, theirs: Token) -> bool:
    """Whether the prepositions of two words give them different meanings: "rose to 5 %" and "rose by 5 %"."""
    prepositions = {mine.preposition, theirs.preposition}
    if prepositions <= _EARLIER:
        return False
    if prepositions == {"by", ""}:
        return mine.figure is None
    return len(prepositions) > 1 and not prepositions.isdisjoint(_EXACT_PREPOSITIONS)


class _Extent(NamedTuple):
    """How far the words of a statement extend over a sentence's `tokens`: the `places` that pair, in order.

    `first` and `last` are those that are no date, `kinds` those of the statement's figures.
    """

    tokens: Sequence[Token]
    places: Sequence[int]
    first: int
    last: int
    kinds: frozenset[str]
    is_bound: bool
    is_event: bool


def _measure_extent(found: WordMatch) -> _Extent:
    tokens, places = found.source.tokens, sorted(found.pairs.values())
    lasting = [place for place in places if not is_date(tokens[place])] or places
    kinds = frozenset(figure.kind for at in found.stated.figures if (figure := found.stated.tokens[at].figure))
    is_bound = any(token.limit for token in found.stated.tokens)
    return _Extent(tokens, places, lasting[0], lasting[-1], kinds, is_bound, _tells_event(found.stated))


def _additions(found: WordMatch) -> Iterator[Difference]:
    """What the sentence says in addition before, between and directly after the statement's words."""
    extent = _measure_extent(found)
    yield from _other_subjects(found, extent.first)
    behind = extent.last
    for at in found.extra:
        token = extent.tokens[at]
        if token.stem in found.known or token.text in _SELF or any(rule(extent, at) for rule in _HARMLESS.values()):
            continue
        if at <= extent.last:
            kind = _difference_within(found, extent, at)
        elif token.figure is not None and any(is_date(extent.tokens[place]) for place in extent.places if place > at):
            kind = DifferenceKind.OTHER_PERIOD
        else:
            is_led = behind > extent.last or token.preposition in _WIDE or extent.is_event
            kind = None if is_led and not extent.is_bound else DifferenceKind.PART
            behind = at
        if kind is not None:
            yield Difference(kind, theirs=found.source.write(token))


def _difference_within(found: WordMatch, extent: _Extent, at: int) -> DifferenceKind | None:
    """How a word before or between the statement's words makes them say something else; None if it does not."""
    token = extent.tokens[at]
    if at < extent.first:
        return DifferenceKind.SOMEBODY_ELSE
    if token.figure is not None and (token.figure.kind in _MEASURED - extent.kinds or _opens_range(found, at)):
        is_whole = extent.tokens[next(place for place in extent.places if place > at)].preposition == "of"
        return DifferenceKind.PART if is_whole else None
    is_weighty = token.figure is not None or token.is_name or token.is_verb
    return DifferenceKind.PART if is_weighty or not _is_aside(extent, at) else None


def _is_aside(extent: _Extent, at: int) -> bool:
    """Whether a word stands between commas that enclose nothing of the statement."""
    return all(extent.tokens[place].segment != extent.tokens[at].segment for place in extent.places)


_HARMLESS: Final[dict[str, Callable[[_Extent, int], bool]]] = {
    "says nothing by itself": lambda extent, at: not extent.is_bound and extent.tokens[at].stem in LIGHT | TIME_WORDS,
    "is a time that nobody stated": lambda extent, at: (
        is_date(extent.tokens[at]) and (at < extent.first or DATE not in extent.kinds)
    ),
    "stands apart behind all": lambda extent, at: at > extent.last and _is_aside(extent, at),
}
"""Words that a sentence may have besides those of a statement that it supports."""


def _tells_event(sentence: ParsedSentence) -> bool:
    """Whether a sentence says what somebody did, without an amount: that is true wherever it was."""
    said = [sentence.tokens[at] for at in list_places(sentence)]
    is_named = bool(said) and (said[0].is_name or said[0].is_verb or is_past(said[0]))
    has_amount = any(token.figure is not None and not token.figure.is_date for token in said)
    return is_named and not has_amount and any(token.is_verb and is_past(token) for token in said)


def _opens_range(found: WordMatch, at: int) -> bool:
    """Whether a figure is the one from which the statement's next figure rose or fell: "from 4 to 5"."""
    behind = min(place for place in found.pairs.values() if place > at)
    return (found.source.tokens[at].preposition, found.source.tokens[behind].preposition) == ("from", "to")


def _other_subjects(found: WordMatch, first: int) -> Iterator[Difference]:
    """A pronoun before the sentence's words where the statement names somebody; a name for which the sentence has no
    "we".
    """
    tokens = found.source.tokens
    head = {token.text for token in tokens[:first] if token.clause == tokens[first].clause}
    opens = next(at for at, token in enumerate(tokens) if token.clause == tokens[first].clause)
    is_relative = opens > 0 and tokens[opens].text == "that" and not tokens[opens - 1].is_verb
    if other := (head & PRONOUNS) - {token.text for token in found.stated.tokens} | (
        {"that"} if is_relative else set()
    ):
        yield Difference(DifferenceKind.SOMEBODY_ELSE, theirs=min(other))
    for at in found.stated.content:
        if not found.is_known(at) or at in found.pairs:
            continue
        places = {other: place for other, place in found.pairs.items() if not is_date(tokens[place])}
        low = max((place for other, place in places.items() if other < at), default=-1)
        high = min((place for other, place in places.items() if other > at), default=len(tokens))
        if low >= 0 and _SELF.isdisjoint(token.text for token in tokens[low + 1 : high]):
            yield Difference(DifferenceKind.SOMEBODY_ELSE, found.stated.write(found.stated.tokens[at]))


def is_row(source: ParsedSentence) -> bool:
    """Whether a sentence is a row of a table put into words."""
    verbs = (token for token in source.tokens if token.is_verb and token.stem != "end")  # "year ended 30 June"
    return ": " in source.text and bool(source.figures) and not any(verbs)


def _row_objections(found: WordMatch) -> Iterator[Difference]:
    stated, source = found.stated, found.source
    colon = source.text.index(": ")
    ends = source.text.find(" (", 0, colon) if " (" in source.text[:colon] else colon
    label = [source.tokens[at] for at in source.content if source.tokens[at].start < ends]
    measures = {figure.measure for at in source.figures if (figure := source.tokens[at].figure)} - {""}
    measured = {at + 1 for at in stated.figures if (figure := stated.tokens[at].figure) and figure.measure in measures}
    words = [at for at in stated.content if at not in measured and not found.is_known(at)]
    said = [token for at in words if not _is_free(token := stated.tokens[at])]
    if limits := [stated.write(token) for token in stated.tokens if token.limit]:
        yield Difference(DifferenceKind.NOT_LIMITED, limits[0])
    yield from (Difference(DifferenceKind.MISSING, stated.write(token)) for token in _without(said, label))
    yield from (Difference(DifferenceKind.PART, theirs=source.write(token)) for token in _without(label, said))
    cells = [source.tokens[at] for at in source.figures if source.tokens[at].start > colon]
    yield from _other_cells(stated, cells)


def _without(tokens: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """The words that no other one says."""
    return [token for token in tokens if all(nearness(token.stem, other.stem) < ALIKE for other in others)]


def _other_cells(stated: ParsedSentence, cells: Sequence[Token]) -> Iterator[Difference]:
    """What the cells of a row give otherwise than a statement's figures, each in the column of its date."""
    figures = [stated.tokens[at] for at in stated.figures]
    dates, amounts = list(filter(is_date, figures)), [token for token in figures if not is_date(token)]
    if not dates and len(amounts) == 1 and not any(map(is_date, cells)):
        if not token_nearness(amounts[0], cells[0]):  # of figures that no column tells apart the first is meant
            yield _missing(stated, amounts[0])
        return
    if not amounts or len(dates) not in {1, len(amounts)}:
        yield Difference(DifferenceKind.OTHER_PERIOD)
    for amount, day in zip(amounts, dates * len(amounts) if len(dates) == 1 else dates, strict=False):
        held = [cell for cell in cells if token_nearness(amount, cell)]
        columns = {cell.segment for cell in cells if is_date(cell) and token_nearness(day, cell)}
        if not held:
            yield _missing(stated, amount)
        elif all(cell.segment not in columns for cell in held):
            yield Difference(DifferenceKind.OTHER_PERIOD, theirs=held[0].text)


def _is_free(token: Token) -> bool:
    """Whether a word may be missing from a table row, which has no verb."""
    return (token.is_verb or token.stem in LIGHT) and not has_opposite(token.stem) and token.stem not in CHANGES


def contradiction(found: WordMatch) -> Difference | None:
    """The figure, the name, the denial or the opposite in which alone a sentence says otherwise; else None."""
    is_named = found.stated.tokens[0].text not in PRONOUNS
    if not is_named or len(found.pairs) < _FEWEST - bool(found.missing or not found.extra) or is_row(found.source):
        return None
    if not found.missing:
        against = list(objections(found))
        denied = {DifferenceKind.DENIED, DifferenceKind.NOT_DENIED}
        apart = _count_negations(found.source, found.clauses) - _count_negations(found.stated)
        plain = all(token.text in _NOT for one in (found.stated, found.source) for token in one.tokens
                    if token.limit is Limit.NEGATION)  # fmt: skip
        return against[0] if len(against) == 1 and against[0].kind in denied and abs(apart) == 1 and plain else None
    if len(found.missing) > 1:
        return None
    at = found.missing[0]
    for place in found.extra:
        kind = _contrast(found, at, place)
        swapped = replace(found, pairs={**found.pairs, at: place})
        in_order = sorted(swapped.pairs.items())
        if kind and in_order == sorted(in_order, key=lambda pair: pair[1]) and not any(objections(swapped)):
            if any(is_date(found.source.tokens[other]) for other in swapped.extra):
                return None
            words = found.stated.write(found.stated.tokens[at]), found.source.write(found.source.tokens[place])
            return Difference(kind, *words)
    return None


def _contrast(found: WordMatch, at: int, place: int) -> DifferenceKind | None:
    """How a word in the sentence contradicts the statement's word at that place; None if it need not."""
    mine, theirs = found.stated.tokens[at], found.source.tokens[place]
    if mine.figure is not None:
        is_once = any(found.stated.tokens[other].stem in _ONCE for other in found.pairs)
        is_other = theirs.figure is not None and _excludes(mine.figure, theirs.figure, is_once=is_once)
        return DifferenceKind.FIGURE if is_other else None
    if theirs.figure is None and are_confused(mine.stem, theirs.stem):
        return None if {mine.stem, theirs.stem} <= ACTING else DifferenceKind.OPPOSITE
    is_name = mine.is_name and theirs.is_name and not nearness(mine.stem, theirs.stem)
    is_name &= found.source.tokens[place - 1 if place else 0].text not in _BEFORE_NOUNS
    return DifferenceKind.NAME if is_name and mine.preposition == theirs.preposition else None


def _excludes(one: StatedFigure, other: StatedFigure, *, is_once: bool) -> bool:
    """Whether two figures cannot both be right: of one kind, and not the same figure rounded or with another sign."""
    if one.is_date:
        is_alike = one.unit == other.unit and [part is None for part in one.date] == [
            part is None for part in other.date
        ]
        return is_alike and bool(is_once or one.date[2]) and one.date != other.date
    is_alike = (one.unit, one.measure, one.limit) == (other.unit, other.measure, other.limit)
    return is_alike and not may_agree(one, other)


def may_agree(one: StatedFigure, other: StatedFigure) -> bool:
    """Whether two figures of one unit may be one, rounded, cut off or written without its sign."""
    is_near = abs(abs(one.value) - abs(other.value)) <= max(one.step, other.step) / 2
    return is_near or is_cut_off(one.value, one.step, other.value)
