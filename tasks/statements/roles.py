"""Differences of roles: who does it to whom, from where to where, and what has changed places."""

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Final

from tasks.language.words import CHANGING, stem, words_of
from tasks.statements.alignment import Comparison
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figure_places import role
from tasks.statements.figures import DATE
from tasks.statements.reading import Sentence, Token, object_of, subject_of

_OPPOSITE_PREPOSITIONS: Final = frozenset(
    frozenset(pair.split())
    for pair in [
        "from to",
        "from into",
        "before after",
        "above below",
        "over under",
        "with without",
        "for against",
        "inside outside",
        "within outside",
        "until after",
        "since until",
        "by to",
    ]
)


_BE: Final = words_of("be")
_INCLUDING: Final = frozenset(map(stem, ("including", "include", "comprise", "contain", "cover", "plus")))
_BOUNDS: Final = {
    "before": "before",
    "after": "after",
    "since": "after",
    "until": "until",
    "by": "until",
    "through": "until",
}


def swapped_roles(comparison: Comparison) -> Iterator[Difference]:
    stated, source = comparison.stated, comparison.source
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        if one.figure is not None or other.figure is not None:
            if one.figure is not None and one.figure.kind == DATE:
                bounds = [bound_of(sentence, at) for sentence, at in ((stated, mine), (source, theirs))]
                if bounds[0] != bounds[1]:
                    yield Difference(DifferenceKind.SAYS, f"{other.preposition} {other.text}", is_against=True)
            continue
        yield from other_prepositions(one, other, source)
        if not other.is_verb or not (one.is_verb or _is_base_form(stated, mine, other.text)):
            continue
        if one.stem in CHANGING and one.stem != other.stem and one.is_passive != other.is_passive:
            continue  # "the rent falls" of "the rent is reduced"
        agents, patients = parts_of(stated, mine)
        their_agents, their_patients = parts_of(source, theirs)
        for at in agents:
            place = comparison.to.get(at)
            if place in their_patients and place not in their_agents:
                yield Difference(DifferenceKind.OTHER_WAY_ROUND, one.text, is_against=True)
                return
        for at in patients:
            place = comparison.to.get(at)
            if place in their_agents and place not in their_patients:
                yield Difference(DifferenceKind.OTHER_WAY_ROUND, one.text, is_against=True)
                return
        yield from _verb_subject(comparison, mine, theirs)


def bound_of(sentence: Sentence, at: int) -> str:
    """What a date bounds: `until` of `by`, `not later than` and `on or before`."""
    token = sentence.tokens[at]
    before = [other.text for other in sentence.tokens[max(at - 3, 0) : at]]
    if before[-3:] in (["not", "later", "than"], ["no", "later", "than"], ["on", "or", "before"]):
        return "until"
    return _BOUNDS.get(token.preposition, "")


def _is_base_form(stated: Sentence, at: int, verb: str) -> bool:
    """Whether a word behind a plural is the sentence's verb: `customers warn` of `will warn`."""
    before = stated.tokens[at - 1] if at else None
    return stated.tokens[at].text == verb and before is not None and before.is_content and before.text.endswith("s")


def other_prepositions(one: Token, other: Token, source: Sentence) -> Iterator[Difference]:
    """A word of the statement (`one`) whose preposition says the opposite of that of its counterpart."""
    if one.preposition == "including" and not any(token.stem in _INCLUDING for token in source.tokens):
        yield Difference(DifferenceKind.LEAVES_OUT, other.text, is_against=True)
    pair = frozenset({one.preposition, other.preposition})
    if one.is_content and pair in _OPPOSITE_PREPOSITIONS and pair != frozenset({"by", "to"}):
        yield Difference(DifferenceKind.SAYS, f"{other.preposition} {other.text}", is_against=True)


def exchanged_names(comparison: Comparison) -> Iterator[Difference]:
    """Two names of which each has the other's preposition: bought A from B, bought B from A."""
    stated, source = comparison.stated, comparison.source
    if _voice_differs(comparison):
        return
    prepositions: dict[tuple[str, str], str] = {}
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        if one.is_name and other.is_name and one.preposition != other.preposition:
            prepositions[one.preposition, other.preposition] = one.text
    for (own, their_own), name in prepositions.items():
        if (their_own, own) in prepositions:
            other_name = prepositions[their_own, own]
            yield Difference(DifferenceKind.CHANGED_PLACES, name, other_name, is_against=True)
            return


_ARTICLES: Final = frozenset({"a", "an", "the"})


def attributed_names(comparison: Comparison) -> Iterator[Difference]:
    """A name right before a thing, `an Illinois corporation`, where the sentence has the thing behind other names."""
    stated, source = comparison.stated.tokens, comparison.source.tokens
    for article, name, thing in zip(stated, stated[1:], stated[2:], strict=False):
        if article.text not in _ARTICLES or not name.is_name or thing.is_name or thing.is_verb or thing.figure:
            continue
        before = [source[at - 1] for at, token in enumerate(source) if at and token.stem == thing.stem]
        if before and all(token.is_name and token.stem != name.stem for token in before):
            yield Difference(DifferenceKind.SAYS_OF, thing.text, before[0].text, is_against=True)
            return


_SELF: Final = words_of("self")


def misplaced_names(comparison: Comparison) -> Iterator[Difference]:
    """The name of whom a text is about, as somewhere where the sentence does not speak of it."""
    stated, source = comparison.stated, comparison.source
    verb = next((at for at, token in enumerate(stated.tokens) if token.is_verb or token.text in _BE), None)
    if verb is None:
        verb = next((at for at, token in enumerate(stated.tokens) if token.is_content and not token.is_name), None)
    if verb is None:
        return
    theirs = comparison.to.get(verb)
    agents = set(object_of(stated, verb, "by")) if stated.tokens[verb].is_passive else set(subject_of(stated, verb))
    for at, token in enumerate(stated.tokens):
        if token.stem not in comparison.names or not token.is_name or at in comparison.to:
            continue
        if at in agents and theirs is not None and source.tokens[theirs].is_verb:
            acting = parts_of(source, theirs)[0]
            clause = source.tokens[theirs].clause
            spoken_of = any(other.text in _SELF and other.clause == clause for other in source.tokens[:theirs])
            is_relative = any(
                other.text in {"which", "who"} and other.clause == clause for other in source.tokens[:theirs]
            )
            is_named = any(source.tokens[place].stem in comparison.names for place in acting)
            if (acting or is_relative) and not spoken_of and not is_named:
                yield Difference(DifferenceKind.OF_SOMETHING_ELSE, source.tokens[theirs].text, is_against=True)
                return
        if at in agents or at < verb:
            continue
        if token.preposition in {"in", "at"}:
            yield Difference(DifferenceKind.LACKS, f"{token.preposition} {token.text}")
            return
        is_title = token.preposition == "of" and stated.tokens[verb].text in _BE
        if is_title and not any(
            other.is_name and other.is_content and other.preposition == "of" and place not in comparison.used
            for place, other in enumerate(source.tokens)
        ):
            continue
        their_agents: Collection[int] = range(
            next((place for place, other in enumerate(source.tokens) if other.is_verb or other.text in _BE), 0)
        )
        if theirs is not None and source.tokens[theirs].is_verb:
            is_passive = source.tokens[theirs].is_passive
            clause = source.tokens[theirs].clause
            first = next(
                place
                for place, other in enumerate(source.tokens)
                if other.clause == clause and (other.is_verb or other.text in _BE or place == theirs)
            )
            their_agents = object_of(source, theirs, "by") if is_passive else range(first)
        named = [
            place
            for place, other in enumerate(source.tokens)
            if place not in their_agents and (other.text in _SELF or other.stem in comparison.names)
        ]
        if not named:
            yield Difference(DifferenceKind.NOT_THERE, token.text)
            return


def _voice_differs(comparison: Comparison) -> bool:
    """Whether one side says in the passive voice what the other says in the active one."""
    stated, source = comparison.stated, comparison.source
    pairs = ((stated.tokens[mine], source.tokens[theirs]) for mine, theirs in comparison.to.items())
    return any(one.is_verb and other.is_verb and one.is_passive != other.is_passive for one, other in pairs)


def parts_of(sentence: Sentence, verb: int) -> tuple[set[int], set[int]]:
    """Who acts, and what it is done to."""
    before = set(subject_of(sentence, verb))
    if sentence.tokens[verb].is_passive:
        return set(object_of(sentence, verb, "by")), before
    return before, set(object_of(sentence, verb))


def _verb_subject(comparison: Comparison, mine: int, theirs: int) -> Iterator[Difference]:
    """A verb with another subject than the sentence's, which the statement does not have at all."""
    source, stated = comparison.source, comparison.stated
    agents, patients = parts_of(stated, mine)
    their_agents, their_patients = parts_of(source, theirs)
    own, their_own = (patients, their_patients) if stated.tokens[mine].is_passive else (agents, their_agents)
    mapped = {comparison.to[at] for at in own if at in comparison.to}
    others = {at for at in their_own if source.tokens[at].stem not in comparison.names}
    behind = {at for at in mapped if at > theirs and source.tokens[at].clause != source.tokens[theirs].clause}
    if mapped and mapped == behind and not stated.tokens[mine].is_passive:
        yield Difference(DifferenceKind.OF_SOMETHING_ELSE, source.tokens[theirs].text, is_against=True)
        return
    mapped_stems = {source.tokens[at].stem for at in mapped}
    if (
        mapped
        and others
        and not any(source.tokens[at].stem in mapped_stems for at in their_own)
        and not others & comparison.used
        and not any(source.tokens[at].stem in comparison.names for at in their_own)
    ):
        yield Difference(
            DifferenceKind.SAYS_OF, source.tokens[theirs].text, f"“{source.tokens[min(others)].text}”", is_against=True
        )


def exchanged(comparison: Comparison) -> Iterator[Difference]:
    """Two words or figures that have changed places while all others kept theirs."""
    stated = comparison.stated
    order = [at for at in sorted(comparison.to) if stated.tokens[at].is_content or stated.tokens[at].figure]
    places = [comparison.to[at] for at in order]
    falls = [at for at in range(len(places) - 1) if places[at] > places[at + 1]]
    if not falls or len(places) < 3:
        return
    for first in range(len(places)):
        for second in range(first + 1, len(places)):
            if places[first] < places[second]:
                continue
            swapped = list(places)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            if any(place >= behind for place, behind in pairwise(swapped)):
                continue
            one, other = stated.tokens[order[first]], stated.tokens[order[second]]
            if _may_change_places(comparison, order[first], order[second]):
                return
            if (one.figure is None) != (other.figure is None):
                return
            yield Difference(DifferenceKind.CHANGED_PLACES, one.text, other.text, is_against=True)
            return


def _may_change_places(comparison: Comparison, first: int, second: int) -> bool:
    """Whether the order of two words says nothing: they are joined by `and`, or the voice changed."""
    stated, source = comparison.stated, comparison.source
    one, other = comparison.to[first], comparison.to[second]
    between = source.tokens[min(one, other) + 1 : max(one, other)]
    words = {token.text for token in between}
    are_words = stated.tokens[first].figure is None and stated.tokens[second].figure is None
    is_list = bool(words & {"and", "or"}) and words <= {"and", "or", "the", "a", "an", "in", "of", "both", "to", "by"}
    is_compound = second == first + 1 and not any(token.is_content or token.figure for token in between)
    if are_words and (is_compound or is_list or words <= {"of", "the", "a", "an", "in", "by"}):
        return True
    figures = [stated.tokens[at].figure for at in (first, second)]
    if sum(figure is not None and figure.is_date for figure in figures) == 1 and None not in figures:
        return True
    if None not in figures:
        same_roles = all(role(stated, mine) == role(source, comparison.to[mine]) for mine in (first, second))
        if same_roles and role(stated, first) != role(stated, second):
            return True
    return _voice_differs(comparison)
