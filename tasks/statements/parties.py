"""Differences of who does it to whom, of a statement in free wording, whose words stand in another order."""

from collections.abc import Iterator
from typing import Final

from tasks.language.words import ACTING, CHANGING, words_of
from tasks.statements.alignment import Comparison
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figures import DATE
from tasks.statements.nearness import CHANGES, confused
from tasks.statements.reading import Token
from tasks.statements.roles import bound_of, exchanged, other_prepositions, parts_of

_BE: Final = words_of("be")
_FINITE: Final = _BE | words_of("auxiliary") - {"to", "not"}
_SELF: Final = words_of("self") | words_of("pronouns") - {"you"}
_PRONOUNS: Final = words_of("pronouns")


def swapped_parties(comparison: Comparison) -> Iterator[Difference]:
    """The same of a statement in other words: both have changed places, or a name has; and bounds of dates."""
    stated, source = comparison.stated, comparison.source
    yield from _exchanged_agents(comparison)
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        if one.figure is not None or other.figure is not None:
            if one.figure is not None and one.figure.kind == DATE:
                bounds = {bound_of(stated, mine), bound_of(source, theirs)}
                if len(bounds) == 2 and not (
                    bounds == {"", "after"} and "since" in {one.preposition, other.preposition}
                ):
                    yield Difference(DifferenceKind.SAYS, f"{other.preposition} {other.text}", is_against=True)
            continue
        yield from other_prepositions(one, other, source)
        acts = any(token.is_verb and not token.is_passive for token in stated.tokens[:mine])
        if (
            other.is_name
            and other.preposition == "by"
            and one.preposition != "by"
            and acts
            and one.clause == stated.tokens[0].clause
        ):
            yield Difference(DifferenceKind.SAYS, f"by {other.text}", is_against=True)
            return
        if not (one.is_verb and other.is_verb) or (one.stem in CHANGING and one.is_passive != other.is_passive):
            continue
        agents, patients = (
            {comparison.to[at] for at in part if at in comparison.to} for part in parts_of(stated, mine)
        )
        their_agents, their_patients = parts_of(source, theirs)
        crossing = [(agents & their_patients) - their_agents, (patients & their_agents) - their_patients]
        named = any(source.tokens[at].is_name for at in crossing[0] | crossing[1])
        if all(crossing) or named:
            yield Difference(DifferenceKind.OTHER_WAY_ROUND, one.text, is_against=True)
            return


def _exchanged_agents(comparison: Comparison) -> Iterator[Difference]:
    """By whom it is done, and to whom, have changed places: `The president is appointed by the government.`"""
    stated, source = comparison.stated, comparison.source
    pairs = [(stated.tokens[mine], source.tokens[theirs]) for mine, theirs in comparison.to.items()]
    things = [(one, other) for one, other in pairs if _is_thing(one) and _is_thing(other)]
    agents = [one for one, other in things if one.preposition == "by" and other.preposition == ""]
    objects = [one for one, other in things if one.preposition == "" and other.preposition == "by"]
    if agents and objects:
        yield Difference(DifferenceKind.CHANGED_PLACES, agents[0].text, objects[0].text, is_against=True)


def other_actor(comparison: Comparison) -> Iterator[Difference]:
    """Somebody else who does it: in front of a verb that both have, both in the active or the passive voice."""
    stated, source = comparison.stated, comparison.source
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        before_both = stated.tokens[max(mine - 1, 0)].text, source.tokens[max(theirs - 1, 0)].text
        is_verb = one.is_verb or other.is_verb or before_both[1] in _PRONOUNS or _BE.issuperset(before_both)
        if one.figure or other.figure or one.is_passive != other.is_passive or not is_verb:
            continue
        own = [
            at
            for at in range(mine)
            if stated.tokens[at].clause == one.clause
            and _is_thing(stated.tokens[at])
            and stated.tokens[at].preposition in {"", "of"}
        ]
        if (
            not own
            or any(token.text in _PRONOUNS for token in stated.tokens[:mine])
            or any(token.is_verb for token in stated.tokens[own[0] : mine])
        ):
            continue
        before = [at for at in range(theirs) if source.tokens[at].clause == other.clause]
        if any(source.tokens[at].is_verb for at in before):
            continue
        speakers = {source.tokens[at].text for at in before} & _SELF or any(
            source.tokens[at].stem in comparison.names for at in before
        )
        is_own = any(stated.tokens[at].stem in comparison.names for at in own)
        if any(comparison.to.get(at) in before for at in own) or (is_own and speakers):
            continue
        if {source.tokens[at].text for at in before} & {"which", "that", "who", "whose"}:
            continue
        things = [at for at in before if _is_thing(source.tokens[at])]
        if things or (speakers and not is_own):
            yield Difference(DifferenceKind.SAYS_OF, other.text, "somebody else", is_against=True)
            return


def crossed(comparison: Comparison) -> Iterator[Difference]:
    """Who acts stands behind the verb in the sentence, and what it is done to before it."""
    stated, source = comparison.stated, comparison.source
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        is_verb = one.is_verb or other.is_verb or one.stem in ACTING
        if one.figure or other.figure or not is_verb or one.stem in CHANGES or one.is_passive != other.is_passive:
            continue
        places = {
            at: comparison.to[at]
            for at in comparison.to
            if _is_thing(stated.tokens[at])
            and stated.tokens[at].clause == one.clause
            and source.tokens[comparison.to[at]].clause == other.clause
            and stated.tokens[at].preposition in {"", "of"}
        }
        if any(at < mine and place > theirs for at, place in places.items()) and any(
            at > mine and place < theirs for at, place in places.items()
        ):
            yield Difference(DifferenceKind.OTHER_WAY_ROUND, one.text, is_against=True)
            return


def unknown_subject(comparison: Comparison, known: frozenset[str]) -> Iterator[Difference]:
    """Nothing of the statement's subject stands in the sentence or around it."""
    tokens = comparison.stated.tokens
    verb = next((at for at, token in enumerate(tokens) if token.text in _FINITE or token.is_verb), 0)
    own = [at for at in range(verb) if _is_thing(tokens[at]) and tokens[at].preposition in {"", "of"}]
    if own and not any(
        at in comparison.to or tokens[at].stem in comparison.names or tokens[at].stem in known for at in own
    ):
        yield Difference(DifferenceKind.SILENT_ON, f"“{tokens[own[0]].text}”")


def _is_thing(token: Token) -> bool:
    return token.is_content and token.figure is None and not token.is_verb


def exchanged_places(comparison: Comparison) -> Iterator[Difference]:
    """Two amounts, or words on both sides of the verb or of opposite meaning, that have changed places."""
    stated = comparison.stated
    for difference in exchanged(comparison):
        if any(sign.isdigit() for sign in difference.word + difference.other):
            yield difference
    verb = next((at for at, token in enumerate(stated.tokens) if token.is_verb or token.text in _FINITE), 0)
    for difference in exchanged(comparison):
        words = {
            token.text: at
            for at, token in enumerate(stated.tokens)
            if token.text in {difference.word, difference.other}
        }
        if len(words) != 2 or _voices_differ(comparison):
            continue
        first, second = sorted(words.values())
        if first < verb < second or confused(stated.tokens[first].stem, stated.tokens[second].stem):
            yield difference


def _voices_differ(comparison: Comparison) -> bool:
    passive = [
        any(token.is_passive for token in sentence.tokens) for sentence in (comparison.stated, comparison.source)
    ]
    return passive[0] != passive[1]
