"""A statement in free wording against one sentence: what in it conflicts, and how much of it nothing there supports.

`check` proves a statement first as its sentence would put it, with hardly a word of its own. This reads one that says
the same with other words: words may be near to each other (`nearness`), and a word that the sentence has not is
believed where the sentence says nothing else in its place. What must agree stays: figures with their labels, names,
who does it to whom, what is denied, may, must or is expected, and how much of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tasks.language.words import has_opposite, say_the_same, stem, words_of
from tasks.statements.alignment import Comparison
from tasks.statements.derived import is_change_between, is_sign, restated
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figure_places import labels_of_figures
from tasks.statements.figures import COUNT
from tasks.statements.free_limits import free_limits
from tasks.statements.limiting import negations
from tasks.statements.nearness import CHANGES, DENYING, LIGHT, confused, near
from tasks.statements.parties import crossed, exchanged_places, other_actor, swapped_parties, unknown_subject
from tasks.statements.reading import EXPECTED, NEGATION, ONLY, POSSIBLE, Sentence, read
from tasks.statements.roles import attributed_names, exchanged_names, misplaced_names
from tasks.statements.wording import (
    beyond_semicolon,
    exchanged_for,
    lost_words,
    opposites,
    other_frequencies,
    other_periods,
    other_subjects,
    restricted_subjects,
)

_ORDINALS: Final = frozenset(("first", "second", "third", "fourth", "fifth", "sixth", "last", "next"))
_NO_SUPERLATIVES: Final = frozenset(
    [
        "latest",
        "interest",
        "request",
        "test",
        "west",
        "rest",
        "guest",
        "forest",
        "harvest",
        "protest",
        "contest",
        "honest",
        "modest",
    ]
)
_PERIODS: Final = frozenset(
    map(stem, ("year", "month", "week", "day", "hour", "quarter", "annual", "monthly", "weekly", "daily", "quarterly"))
)
_DONE: Final = frozenset(("was", "were", "has", "have", "had"))
_FINITE: Final = words_of("be") | words_of("auxiliary") - {"to", "not"}
_PERMITTED: Final = frozenset(map(stem, ("permit", "allow", "possible", "able")))
_DEFINITE: Final = frozenset(("the", "this", "these", "that", "those"))
_BESIDE: Final = 12
"""Words between one that is near to a word of the statement and one that says the opposite of it."""
_BELIEVED: Final = ((0.0, 3), (0.25, 4))
"""What a statement may cost, the sum over its words that the sentence has not, by how many of its words and figures the
sentence has."""
_BELIEVED_BUT_FOR_A_NOUN: Final = (1.0, 5)
"""The same where the sentence has its subject and its verbs, and all words of it that have an opposite."""
_FEWEST_OF_A_CLEAR_ONE: Final = 5
_BEHIND_VERBS: Final = frozenset(("the", "a", "an", "its", "their", "his", "her", "if", "that", "whether", "by"))
_COMPARING: Final = frozenset(
    ("lower", "higher", "less", "more", "fewer", "better", "worse", "greater", "smaller", "larger", "longer", "shorter")
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """How a statement stands to a sentence: what conflicts, what it costs to believe it, how much it has of it."""

    conflicts: tuple[Difference, ...]
    cost: float
    held: int
    lacks_essential: bool = False

    @property
    def is_supported(self) -> bool:
        if self.conflicts:
            return False
        cost, held = _BELIEVED_BUT_FOR_A_NOUN
        if not self.lacks_essential and self.cost <= cost and self.held >= held:
            return True
        return any(self.cost <= cost and self.held >= held for cost, held in _BELIEVED)

    @property
    def is_clear(self) -> bool:
        """Whether it has so much of the statement that what looks like a contradiction is the same in other words."""
        return (
            self.is_supported
            and not self.lacks_essential
            and self.cost <= _BELIEVED[-1][0]
            and self.held >= _FEWEST_OF_A_CLEAR_ONE
        )


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a sentence and in the headings over it: the stems, and those that follow each other."""

    stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]


def weigh(stated: Sentence, source: Sentence, names: frozenset[str], context: Context) -> Weighed:
    """A statement held against a sentence.

    Args:
        stated: the statement.
        source: the sentence.
        names: stems that name whom the texts are about.
        context: what stands around the sentence.
    """
    words = restated(stated.text, source.text)
    if words != stated.text:
        stated = read(words)
    comparison = Comparison(stated, source, names, near)
    conflicts = tuple(_conflicts(comparison, context))
    held = sum(1 for at in comparison.to if stated.tokens[at].is_content or stated.tokens[at].figure)
    if all(stated.tokens[at].is_name or not stated.tokens[at].is_content for at in comparison.to):
        conflicts = (*conflicts, Difference(DifferenceKind.NAMES_ALONE))
    places = [theirs for mine, theirs in comparison.to.items() if stated.tokens[mine].is_content]
    is_one_for_two = len(set(places)) < len(places)  # `our auditors audited` of `audited`
    verb = next(_verbs(stated), 0)
    lacks_essential = is_one_for_two or any(_is_essential(stated, at, verb) for at in _unsupported(comparison))
    return Weighed(conflicts, sum(_costs(comparison, context)), held, lacks_essential)


def _is_essential(sentence: Sentence, at: int, verb: int) -> bool:
    """Whether a word is of the subject, has an opposite, or is a verb, known or by what follows: `decides whether`."""
    token = sentence.tokens[at]
    if token.operator or has_opposite(token.stem) or at < verb:
        return True
    following = sentence.tokens[at + 1].text if at + 1 < len(sentence.tokens) else ""
    is_like_one = token.text.endswith(("s", "ed")) and following in _BEHIND_VERBS
    return (token.is_verb or is_like_one) and token.stem not in LIGHT


def _verbs(sentence: Sentence) -> Iterator[int]:
    return (at for at, token in enumerate(sentence.tokens) if token.text in _FINITE or token.is_verb)


def _costs(comparison: Comparison, context: Context) -> Iterator[float]:
    for at in _unsupported(comparison):
        token = comparison.stated.tokens[at]
        if token.figure is not None or token.stem in DENYING:
            continue
        if token.stem in LIGHT or _is_said_again(comparison, at) or _is_understood(comparison, at, context):
            yield 0.25
        elif token.stem in context.stems:
            yield 0.5
        else:
            yield 1.0


def _unsupported(comparison: Comparison) -> Iterator[int]:
    may = any(token.operator == POSSIBLE for token in comparison.source.tokens)
    for at in comparison.missing:
        token = comparison.stated.tokens[at]
        is_own = token.stem in comparison.names or (may and token.stem in _PERMITTED)
        if not (is_own or is_sign(comparison, at) or is_change_between(comparison, at)):
            yield at


def _conflicts(comparison: Comparison, context: Context) -> Iterator[Difference]:
    stated, source = comparison.stated, comparison.source
    free = [at for at in range(len(source.tokens)) if at not in comparison.used]
    because = next((at for at, token in enumerate(stated.tokens) if token.text == "because"), len(stated.tokens))
    for at in _unsupported(comparison):
        token = stated.tokens[at]
        if token.figure is not None:
            yield Difference(DifferenceKind.LACKS, token.text)
            continue
        is_unit = at > 0 and stated.tokens[at - 1].figure is not None and token.stem in context.stems
        if is_unit or _is_understood(comparison, at, context):
            continue
        if token.stem in CHANGES or (at > 0 and stated.tokens[at - 1].text in _COMPARING):
            yield Difference(DifferenceKind.LACKS, token.text)
        if token.is_verb and token.stem not in LIGHT and _is_to_come(comparison):
            yield Difference(DifferenceKind.LACKS, token.text)
        if _is_name(stated, at):
            yield Difference(DifferenceKind.LACKS, token.text)
        if token.text in _ORDINALS or (token.text.endswith("est") and token.text not in _NO_SUPERLATIVES):
            yield Difference(DifferenceKind.LACKS, token.text)
        if token.stem in _PERIODS and any(source.tokens[place].stem in _PERIODS for place in free):
            yield Difference(DifferenceKind.LACKS, token.text)
        if at > because:
            yield Difference(DifferenceKind.LACKS, token.text)
        against = next(
            (
                place
                for place in free
                if confused(token.stem, source.tokens[place].stem) and source.tokens[place].is_content
            ),
            None,
        )
        if against is not None:
            yield Difference(DifferenceKind.SAYS, source.tokens[against].text)
        rival = _rival(comparison, at)
        if rival:
            yield Difference(DifferenceKind.SAYS, rival)
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        if one.figure is None and one.is_content and not say_the_same(one.stem, other.stem):
            against = next(
                (at for at in free if abs(at - theirs) < _BESIDE and confused(one.stem, source.tokens[at].stem)), None
            )
            if against is not None:
                yield Difference(DifferenceKind.SAYS, source.tokens[against].text)
    rules = (
        opposites,
        other_subjects,
        free_limits,
        lost_words,
        labels_of_figures,
        swapped_parties,
        crossed,
        other_actor,
        exchanged_places,
        exchanged_names,
        attributed_names,
        misplaced_names,
        beyond_semicolon,
        other_frequencies,
        other_periods,
        exchanged_for,
        restricted_subjects,
    )
    for rule in rules:
        for difference in rule(comparison):
            if (
                rule is misplaced_names
                and difference.kind is DifferenceKind.NOT_THERE
                and difference.word.endswith("'s")
            ):
                continue  # "Germany is Halden's largest market" of "Germany is the largest market"
            yield difference
    yield from unknown_subject(comparison, context.stems)
    yield from _polarity(comparison)


def _is_to_come(comparison: Comparison) -> bool:
    """Whether the sentence speaks of what is expected, or is a heading with `to`, and the statement of what is done."""
    source, clauses = comparison.source, comparison.clauses()
    done = any(token.text in _DONE for token in comparison.stated.tokens)
    expected = any(token.operator == EXPECTED and token.clause in clauses for token in source.tokens)
    finite = any(token.text in _FINITE or (token.is_verb and not token.text.endswith("ing")) for token in source.tokens)
    return done and (expected or (not finite and any(token.text == "to" for token in source.tokens)))


def _is_understood(comparison: Comparison, at: int, context: Context) -> bool:
    """Whether `the contract` of the sentence is the one that the text around calls by the word: `dredging contract`."""
    stated, source = comparison.stated, comparison.source
    if at + 1 not in comparison.to:
        return False
    head = comparison.to[at + 1]
    pair = stated.tokens[at].stem, stated.tokens[at + 1].stem
    is_definite = head > 0 and source.tokens[head - 1].text in _DEFINITE
    return is_definite and pair in context.pairs and not stated.tokens[at + 1].is_verb


def _is_name(sentence: Sentence, at: int) -> bool:
    """Whether a word is a name for certain: the first of a sentence may be another that no list has."""
    token = sentence.tokens[at]
    if not token.is_name:
        return False
    return (
        at > 0
        or not token.text.endswith(("s", "ing", "ed"))
        or (len(sentence.tokens) > 1 and sentence.tokens[1].is_name)
    )


def _polarity(comparison: Comparison) -> Iterator[Difference]:
    """What denies, an even number of times on both sides or an odd one."""
    stated, source = comparison.stated, comparison.source
    clauses = comparison.clauses()
    mine = [at for at in range(len(stated.tokens)) if _denies(stated, at)]
    theirs = [
        at
        for at, token in enumerate(source.tokens)
        if _denies(source, at)
        and (at in comparison.used or (token.clause in clauses and _is_about_used(comparison, at)))
    ]
    kinds = [{token.operator for token in sentence.tokens} for sentence in (stated, source)]
    excepted = [bool({token.text for token in sentence.tokens} & {"except", "unless"}) for sentence in (stated, source)]
    if any(ONLY in kinds[at] and NEGATION in kinds[1 - at] and excepted[1 - at] for at in (0, 1)):
        return  # "only for storage" of "not except for storage"
    if len(mine) % 2 != len(theirs) % 2:
        yield Difference(DifferenceKind.DENIES)
    elif len(mine) > 1 or len(theirs) > 1:
        yield from negations(comparison)


def _is_about_used(comparison: Comparison, at: int) -> bool:
    """Whether what a denial is about, the next content or one close before it, is the statement's."""
    tokens = comparison.source.tokens
    following = [
        place for place in range(at + 1, min(at + 6, len(tokens))) if tokens[place].is_content or tokens[place].figure
    ]
    before = [place for place in range(max(at - 4, 0), at) if tokens[place].is_content]
    own = [place for place in comparison.used if tokens[place].clause == tokens[at].clause]
    return at < min(own, default=at) or any(place in comparison.used for place in [*following[:2], *before[-1:]])


def _denies(sentence: Sentence, at: int) -> bool:
    token = sentence.tokens[at]
    if token.text == "no" and sentence.text.startswith(".", token.end):
        return False  # "No. 6"
    if token.text == "free" and sentence.text[token.start - 1 : token.start] == "-":
        return True  # "rent-free"
    figure = token.figure
    is_none = figure is not None and figure.value == 0 and figure.unit == COUNT
    return token.operator == NEGATION or token.stem in DENYING or is_none


def _are_beside(source: Sentence, one: int, other: int) -> bool:
    """Whether no comma is between two words."""
    return one >= 0 and "," not in source.text[source.tokens[one].end : source.tokens[other].start]


def _is_said_again(comparison: Comparison, at: int) -> bool:
    """Whether a word is near to one of the sentence's that another word of the statement already has."""
    word = comparison.stated.tokens[at].stem
    return any(near(word, other.stem) for other in comparison.source.tokens if other.is_content and not other.is_name)


def _rival(comparison: Comparison, at: int) -> str:
    """What the sentence says in the place of a word that it has not; empty where it says nothing there.

    The place lies between the words that stand for the statement's next words on both sides.
    """
    stated, source = comparison.stated, comparison.source
    token = stated.tokens[at]
    if token.stem in LIGHT or token.stem in DENYING or _is_said_again(comparison, at):
        return ""
    order = sorted(comparison.to)
    before = next((mine for mine in reversed(order) if mine < at), None)
    behind = next((mine for mine in order if mine > at), None)
    places: set[int] = set()
    if before is not None and behind is not None and comparison.to[before] < comparison.to[behind]:
        places |= set(range(comparison.to[before] + 1, comparison.to[behind]))
    else:
        for near_to in (before, behind):
            if near_to is not None:
                place = comparison.to[near_to]
                beside = range(place - 3, place) if near_to is behind else range(place + 1, place + 4)
                places |= {at for at in beside if before is not None or _are_beside(source, at, place)}
    for place in sorted(places):
        if not 0 <= place < len(source.tokens) or place in comparison.used:
            continue
        other = source.tokens[place]
        if (
            other.figure is None
            and other.is_content
            and not other.operator
            and other.stem not in LIGHT
            and (other.is_verb == token.is_verb or other.stem in CHANGES)
        ):
            return other.text
    return ""
