"""A statement laid beside a sentence: which word and figure of the one is which of the other.

The words of the statement are matched in order, so that neighbours stay neighbours where the sentence has a word twice.
`Alignment` answers what the rules of `differences` ask: what is missing, what only the sentence has, which figure a
word belongs to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from tasks.language.words import load_words
from tasks.statements.figures import StatedFigure, same, same_size
from tasks.statements.nearness import ALIKE, nearness
from tasks.statements.reading import ParsedSentence, Token

_FAR: Final = 0.015
_OTHER_CLAUSE: Final = 0.3
_TAKEN: Final = 0.3
_LOWEST_JUMP: Final = 0.45
"""What a word loses for each word passed over, in another clause, where its place is taken, and by a jump at most."""
_MOST_PLACES: Final = 6


@dataclass(frozen=True, slots=True)
class Pair:
    """A token of the statement and the token of the sentence that says the same, by their places; how near they are."""

    stated: int
    source: int
    nearness: float


@dataclass(slots=True)
class Alignment:
    """A statement and a sentence with what they share.

    `known` are stems that are known from around: the company's name, the heading. `home` gives for each clause of the
    statement the clause of the sentence in which most of it stands.
    """

    stated: ParsedSentence
    source: ParsedSentence
    known: frozenset[str] = frozenset()
    pairs: dict[int, Pair] = field(default_factory=dict)
    home: dict[int, int] = field(default_factory=dict)

    @property
    def taken(self) -> set[int]:
        """The places of the sentence that say something of the statement."""
        return {pair.source for pair in self.pairs.values()}

    @property
    def missing(self) -> list[int]:
        """The words and figures of the statement that the sentence has not."""
        wanted = (*self.stated.content, *self.stated.figures)
        return sorted(at for at in wanted if at not in self.pairs and not self.is_known(at))

    def is_known(self, at: int) -> bool:
        """Whether a word of the statement is known without the sentence."""
        token = self.stated.tokens[at]
        return token.figure is None and token.stem.rstrip(".") in self.known

    @property
    def share(self) -> float:
        """The part of the statement's words and figures that the sentence has, from 0 to 1."""
        wanted = [at for at in (*self.stated.content, *self.stated.figures) if not self.is_known(at)]
        held = sum(self.pairs[at].nearness for at in wanted if at in self.pairs)
        return held / len(wanted) if wanted else 0.0

    def others(self, clauses: frozenset[int] | None = None) -> list[int]:
        """The words and figures that only the sentence has, of some of its clauses."""
        taken = self.taken
        return [
            at
            for at in sorted((*self.source.content, *self.source.figures))
            if at not in taken and (clauses is None or self.source.tokens[at].clause in clauses)
        ]

    @property
    def used(self) -> frozenset[int]:
        """The clauses of the sentence that say something of the statement."""
        return frozenset(self.source.tokens[place].clause for place in self.taken)


def align(stated: ParsedSentence, source: ParsedSentence, known: frozenset[str] = frozenset()) -> Alignment:
    """Lay a statement beside a sentence."""
    result = Alignment(stated, source, known)
    wanted = sorted((*stated.content, *stated.figures))
    paths: list[tuple[float, int, tuple[Pair, ...]]] = [(0.0, -1, ())]
    for at in wanted:
        places = sorted(_places(stated.tokens[at], source, known), key=lambda pair: -pair[1])[:_MOST_PLACES]
        if not places:
            continue
        following = []
        for place, how_near in places:
            best = max(
                ((score + _step(source, last, place, chain) * how_near, chain) for score, last, chain in paths),
                key=lambda path: path[0],
            )
            following.append((best[0], place, (*best[1], Pair(at, place, how_near))))
        paths = following
    for pair in max(paths, key=lambda path: path[0])[2]:
        others = [other for other in result.pairs.values() if other.source == pair.source]
        shares = others and min(pair.nearness, others[0].nearness) >= ALIKE and not stated.tokens[pair.stated].figure
        if others and not (shares and stated.tokens[pair.stated].stem != stated.tokens[others[0].stated].stem):
            if others[0].nearness >= pair.nearness:
                continue
            del result.pairs[others[0].stated]
        result.pairs[pair.stated] = pair
    _name_self(result)
    _find_homes(result)
    return result


_SELF: Final = frozenset("we our us ours company group".split())  # noqa: SIM905 - a list of words reads best as words


def _name_self(alignment: Alignment) -> None:
    """Pair the name of whom the texts are about with the sentence's "we" or "the Company", customers with its "you"."""
    stems = {alignment.stated.tokens[at].stem for at in alignment.pairs}
    for at in alignment.stated.content:
        token = alignment.stated.tokens[at]
        is_self = alignment.is_known(at) and token.preposition not in {"in", "at"}
        words = _SELF if is_self else _YOU if token.text in _READERS else frozenset[str]()
        if at in alignment.pairs or not words or token.stem in stems:
            continue
        taken, clauses = alignment.taken, alignment.used
        selves = (
            n
            for n, other in enumerate(alignment.source.tokens)
            if (other.text in words or (is_self and n == 0 and other.text == "it")) and other.clause in clauses
        )
        place = next((n for n in selves if n not in taken), None)
        if place is not None:
            alignment.pairs[at] = Pair(at, place, 1.0)
        if is_self:
            stems.update(alignment.known)


_YOU: Final = frozenset({"you"})
_READERS: Final = frozenset(
    form for word in load_words("readers") for form in (word, f"{word}s", f"{word}'s", f"{word}s'")
)


def _places(token: Token, source: ParsedSentence, known: frozenset[str]) -> Iterator[tuple[int, float]]:
    if token.figure is not None:
        for at in source.figures:
            other = source.tokens[at].figure
            if other is not None and same(token.figure, other):
                yield at, 1.0
        return
    for at in source.content:
        other_token = source.tokens[at]
        how_near = nearness(token.stem, other_token.stem)
        must_be_name = token.is_name and token.stem in known
        if how_near and (not token.is_name or other_token.is_name or (how_near >= ALIKE and not must_be_name)):
            yield at, how_near


def agree(one: StatedFigure, other: StatedFigure) -> bool:
    """Whether two figures of one unit may be one, rounded: $4.87 billion and $4.9 billion, 24 % and 23.9 %."""
    if one.is_date or other.is_date or one.unit != other.unit or not one.value or not other.value:
        return False
    if {one.limit, other.limit} & {"low", "high"} and one.limit != other.limit:
        return False
    if one.measure and other.measure and one.measure != other.measure:
        return False
    steps = [Decimal(10) ** (each.value.copy_abs().adjusted() - max(each.digits, 1) + 1) for each in (one, other)]
    slack = max(steps) / 2
    if max(one.digits, other.digits) < 2 or min(one.digits, other.digits) < 2:
        return same_size(one, other) and (one.value < 0) == (other.value < 0)
    return abs(one.value - other.value) <= slack and (one.value < 0) == (other.value < 0)


def _step(source: ParsedSentence, last: int, place: int, chain: tuple[Pair, ...]) -> float:
    """What is left of a word's weight for where it stands, seen from the one before."""
    weight = 1.0
    if last >= 0:
        weight -= min(_FAR * abs(place - last), _LOWEST_JUMP)
        weight -= _OTHER_CLAUSE * (source.tokens[last].clause != source.tokens[place].clause)
    if any(pair.source == place for pair in chain):
        weight -= _TAKEN
    return weight


def _find_homes(alignment: Alignment) -> None:
    counts: dict[int, dict[int, float]] = {}
    for pair in alignment.pairs.values():
        token = alignment.stated.tokens[pair.stated]
        own = counts.setdefault(token.clause, {})
        clause = alignment.source.tokens[pair.source].clause
        own[clause] = own.get(clause, 0.0) + pair.nearness * (2 if token.figure is not None or token.is_verb else 1)
    alignment.home = {clause: max(own, key=lambda other: own[other]) for clause, own in counts.items()}


_TIMES: Final = frozenset("day week month quarter year hour".split())  # noqa: SIM905 - as above


def find_kind(token: Token) -> str:
    """What a figure may be confused with: its kind, or `time` for a number of months; "" for a word."""
    if token.figure is None:
        return ""
    return "time" if token.figure.measure in _TIMES else token.figure.kind or "count"


def figure_nearest(sentence: ParsedSentence, at: int, like: Token) -> int | None:
    """The figure of the kind of another to which a word of a sentence belongs: the one that stands nearest to it.

    A border between segments counts as four words, one between clauses as twelve; a date follows its amount.
    """
    if like.figure is None:
        return None
    kind, token = find_kind(like), sentence.tokens[at]
    rivals = [place for place in sentence.figures if find_kind(sentence.tokens[place]) == kind]

    def distance(place: int) -> int:
        other = sentence.tokens[place]
        is_odd = (place < at) == (kind == "date") and "date" in {
            kind,
            find_kind(token),
        }  # a date stands behind its amount
        return (
            2 * abs(place - at)
            + is_odd
            + 8 * abs(other.segment - token.segment)
            + 24 * abs(other.clause - token.clause)
        )

    return min(rivals, key=distance, default=None)
