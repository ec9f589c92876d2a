"""Differences of words: what the sentence does not say, says the opposite of, or says of somebody else."""

import re
from collections.abc import Iterator
from typing import Final

from tasks.language.words import (
    FREE,
    RESTRICTING,
    are_opposite,
    frequencies,
    has_opposite,
    say_the_same,
    stems_of,
    words_of,
)
from tasks.statements.alignment import Comparison
from tasks.statements.derived import is_change_between, is_sign
from tasks.statements.differences import Difference, DifferenceKind
from tasks.statements.figures import StatedFigure
from tasks.statements.reading import Sentence

_IN_WHICH_TIME: Final = re.compile(
    r"\b(?:per|an?|each|every) (year|quarter|month|week|day|hour|minute)\b", re.IGNORECASE
)
_FINITE: Final = words_of("auxiliary") | words_of("be")
_HELPING_VERBS: Final = _FINITE - {"to", "not"}
_GENERIC: Final = stems_of("generic")


_FREQUENCIES: Final = {
    word: frequency for frequency, *words in map(str.split, frequencies()) for word in (frequency, *words)
}
_NEUTRAL_HEADS: Final = stems_of("neutral_heads")


def opposites(comparison: Comparison) -> Iterator[Difference]:
    """A word whose opposite stands in the sentence where the statement has the word."""
    stated, source = comparison.stated, comparison.source
    order = sorted(comparison.to)
    for index, mine in enumerate(order):
        token = stated.tokens[mine]
        if not token.is_content or token.figure is not None or not has_opposite(token.stem):
            continue
        beside = [comparison.to[order[place]] for place in (index - 1, index + 1) if 0 <= place < len(order)]
        if not beside:
            continue
        distance = min(abs(comparison.to[mine] - place) for place in beside)
        against = [
            place
            for place, other in enumerate(source.tokens)
            if place not in comparison.used and other.is_content and are_opposite(token.stem, other.stem)
        ]
        nearer = next((place for place in against if min(abs(place - near) for near in beside) < distance), None)
        if nearer is not None:
            yield Difference(DifferenceKind.SAYS, source.tokens[nearer].text, is_against=True)
            return


def missing_words(comparison: Comparison) -> Iterator[Difference]:
    for at in comparison.missing:
        token = comparison.stated.tokens[at]
        if _may_be_named(comparison, at) or is_change_between(comparison, at) or is_sign(comparison, at):
            continue
        if token.figure is not None:
            kinds = [
                other.figure.kind
                for place, other in enumerate(comparison.source.tokens)
                if other.figure and place not in comparison.used
            ]
            is_against = token.figure.kind in kinds and not _is_within(token.figure, comparison)
            yield Difference(DifferenceKind.NOT_ITS_FIGURE, token.text, is_against=is_against)
        else:
            against = any(are_opposite(token.stem, other.stem) for other in comparison.source.tokens)
            yield Difference(DifferenceKind.LACKS, token.text, is_against=against)


def _is_within(figure: StatedFigure, comparison: Comparison) -> bool:
    """Whether a figure of the sentence keeps a limit that is stated: 83 % where more than 80 % is stated."""
    others = [token.figure for token in comparison.source.tokens if token.figure and token.figure.unit == figure.unit]
    if figure.limit == "low":
        return any(other.value >= figure.value for other in others)
    return figure.limit == "high" and any(other.value <= figure.value for other in others)


def _may_be_named(comparison: Comparison, at: int) -> bool:
    """Whether a word names whom the text is about; `misplaced_names` looks at where it does."""
    return comparison.stated.tokens[at].stem in comparison.names


def other_subjects(comparison: Comparison) -> Iterator[Difference]:
    """The name of the statement's subject, where the sentence has another."""
    stated, source = comparison.stated, comparison.source
    named = [at for at, token in enumerate(stated.tokens) if token.is_name and token.stem in comparison.names]
    if any(at in comparison.to for at in named):
        return
    first_verb = next(
        (at for at, token in enumerate(source.tokens) if token.is_verb or token.text in _HELPING_VERBS),
        None,
    )
    if first_verb is None or not comparison.names:
        return
    mine = next(
        (at for at, token in enumerate(stated.tokens) if (token.is_verb and at) or token.text in _HELPING_VERBS),
        len(stated.tokens),
    )
    subject = [
        stated.tokens[at]
        for at in range(mine)
        if stated.tokens[at].is_content and stated.tokens[at].stem not in comparison.names
    ]
    if any(not token.figure for token in subject):
        return  # the subject is a thing, and was looked for
    others = [
        token
        for at, token in enumerate(source.tokens[:first_verb])
        if token.is_name
        and token.is_content
        and token.preposition in {"", "of"}
        and at not in comparison.used
        and token.stem not in comparison.names
    ]
    actor = source.tokens[first_verb - 1] if first_verb else None
    if actor in others and actor is not None and actor.stem not in _GENERIC and not actor.preposition:
        yield Difference(DifferenceKind.SPEAKS_OF, actor.text)
    elif others and not any(
        (token.stem in _GENERIC and token.text not in {"who", "which"}) or token.stem in comparison.names
        for token in source.tokens[:first_verb]
    ):
        yield Difference(DifferenceKind.SPEAKS_OF, others[0].text)


def other_names(comparison: Comparison) -> Iterator[Difference]:
    """What another clause says, with a name of its own, of a name of this one."""
    stated, source = comparison.stated, comparison.source
    named = {
        source.tokens[theirs].clause
        for mine, theirs in comparison.to.items()
        if stated.tokens[mine].is_name and source.tokens[theirs].is_name
    }
    if not named:
        return
    for mine, theirs in comparison.to.items():
        token = source.tokens[theirs]
        if token.clause in named or token.figure is not None or not stated.tokens[mine].is_content:
            continue
        own = [
            other
            for place, other in enumerate(source.tokens)
            if other.clause == token.clause
            and place < theirs
            and other.is_name
            and other.is_content
            and place not in comparison.used
            and other.stem not in comparison.names
        ]
        is_here_too = any(
            other.clause in named and say_the_same(other.stem, token.stem)
            for other in source.tokens
            if other.is_content
        )
        if own and not is_here_too:
            yield Difference(DifferenceKind.SAYS_OF, token.text, own[0].text, is_against=True)
            return


def beyond_semicolon(comparison: Comparison) -> Iterator[Difference]:
    """A name that the sentence has behind a semicolon with a verb of its own, where the statement has one verb."""
    stated, source = comparison.stated, comparison.source
    ends = [at for at, sign in enumerate(source.text) if sign == ";"]
    if not ends or ";" in stated.text:
        return

    def _part(place: int) -> int:
        return sum(end < source.tokens[place].start for end in ends)

    verbs = {_part(theirs) for mine, theirs in comparison.to.items() if stated.tokens[mine].is_verb}
    for mine, theirs in comparison.to.items():
        part = _part(theirs)
        if len(verbs) != 1 or part in verbs or not stated.tokens[mine].is_name or not stated.tokens[mine].preposition:
            continue
        unused = [at for at, token in enumerate(source.tokens) if token.is_verb and _part(at) == part]
        if unused and not comparison.used & {*unused}:
            yield Difference(DifferenceKind.SAYS_OF, source.tokens[unused[0]].text, source.tokens[theirs].text)
            return


def other_frequencies(comparison: Comparison) -> Iterator[Difference]:
    """How often, where the sentence says another: a quarterly dividend as an annual one."""
    own, theirs = (
        {_FREQUENCIES[token.text]: token.text for token in sentence.tokens if token.text in _FREQUENCIES}
        for sentence in (comparison.stated, comparison.source)
    )
    if own and theirs and not own.keys() & theirs.keys():
        yield Difference(DifferenceKind.SAYS, next(iter(theirs.values())), is_against=True)


def other_periods(comparison: Comparison) -> Iterator[Difference]:
    """How much in which time, where the sentence says another: 31 a year for 31 per month."""
    own, theirs = (set(_IN_WHICH_TIME.findall(sentence.text)) for sentence in (comparison.stated, comparison.source))
    if own and theirs and not own & theirs:
        yield Difference(DifferenceKind.SAYS, f"per {min(theirs)}", is_against=True)


def exchanged_for(comparison: Comparison) -> Iterator[Difference]:
    """What is said instead of what, the other way round: `costs rather than outcomes`."""
    sentences = comparison.stated, comparison.source
    cuts = [next((at for at, token in enumerate(each.tokens) if token.text == "instead"), None) for each in sentences]
    if cuts[0] is None or cuts[1] is None:
        return
    mine = [at for at in comparison.to if sentences[0].tokens[at].is_content]
    if any(at < cuts[0] and comparison.to[at] > cuts[1] for at in mine) and any(
        at > cuts[0] and comparison.to[at] < cuts[1] for at in mine
    ):
        yield Difference(DifferenceKind.REVERSED, is_against=True)


def lost_words(comparison: Comparison) -> Iterator[Difference]:
    """Words of the sentence that the statement leaves out though they change what is left."""
    source, stated = comparison.source, comparison.stated
    tokens = source.tokens
    for theirs in sorted(comparison.used):
        if tokens[theirs].figure is not None and tokens[theirs].figure.is_date:  # type: ignore[union-attr]
            continue
        at, back = theirs - 1, comparison.back(theirs)
        while (
            at >= 0
            and at not in comparison.used
            and at >= theirs - 3
            and (tokens[at].is_content or tokens[at].text in RESTRICTING)
            and tokens[at].segment == tokens[theirs].segment
        ):
            if (
                tokens[at].text in RESTRICTING
                and not (back is not None and stated.tokens[back].preposition == tokens[at].text)
                and tokens[theirs].is_content
                and not tokens[at].is_limit
                and not tokens[at].is_verb
            ):
                yield Difference(DifferenceKind.SAYS, f"{tokens[at].text} {tokens[theirs].text}")
            at -= 1
    for mine, theirs in comparison.to.items():
        token = tokens[theirs]
        if token.figure is not None or not token.is_content or token.is_verb:
            continue
        if _verb_governs(comparison, theirs):
            yield Difference(DifferenceKind.SAYS, f"{tokens[_verb_governs(comparison, theirs) or 0].text} to")
        own = stated.tokens[mine]
        if (
            token.preposition in {"of", "in"}
            and own.preposition == ""
            and token.preposition_at > 0
            and _is_first(stated, mine)
        ):
            head = token.preposition_at - 1
            if (
                head not in comparison.used
                and tokens[head].figure is None
                and tokens[head].is_content
                and not tokens[head].is_verb
                and tokens[head].stem not in _NEUTRAL_HEADS
                and tokens[head].text not in FREE
                and not tokens[head].is_name
                and not any(say_the_same(tokens[head].stem, other.stem) for other in stated.tokens if other.is_content)
            ):
                yield Difference(DifferenceKind.SPEAKS_OF, f"“{tokens[head].text} {token.preposition} {token.text}”")
            elif _is_part(tokens[head].figure) and head not in comparison.used and token.preposition == "of":
                yield Difference(DifferenceKind.SPEAKS_OF, f"{tokens[head].text} of it")
    for mine, theirs in comparison.to.items():
        if tokens[theirs].is_content and not tokens[theirs].figure and _verb_governs(comparison, theirs) is not None:
            governed = stated.tokens[mine - 1].text if mine else ""
            if governed != "to":
                yield Difference(
                    DifferenceKind.SAYS,
                    f"{tokens[_verb_governs(comparison, theirs) or 0].text} to {tokens[theirs].text}",
                )


def _is_part(figure: StatedFigure | None) -> bool:
    """Whether a figure may be a part of what stands behind it: a share or a number, and no amount of money."""
    return figure is not None and figure.kind != "money"


def restricted_subjects(comparison: Comparison) -> Iterator[Difference]:
    """A bound on the sentence's subject that the statement leaves out: `suppliers with sales below £50,000 may`."""
    tokens = comparison.source.tokens
    for at in comparison.source.figures:
        figure = tokens[at].figure
        if at in comparison.used or figure is None or figure.limit not in {"low", "high"}:
            continue
        first = next((place for place in range(at) if tokens[place].clause == tokens[at].clause), at)
        clause = [place for place in range(first, len(tokens)) if tokens[place].clause == tokens[at].clause]
        verb = next((place for place in clause if tokens[place].is_verb or tokens[place].text in _FINITE), None)
        if verb is None or verb < at or tokens[at].segment != tokens[verb].segment:
            continue
        if any(place in comparison.used for place in range(first, at)) and any(
            place in comparison.used for place in clause if place > verb
        ):
            yield Difference(DifferenceKind.SAYS_THAT_OF, f"“{tokens[at].text}” alone")


def _verb_governs(comparison: Comparison, theirs: int) -> int | None:
    """The word that governs an infinitive (`refused to pay`) and that the statement leaves out."""
    tokens = comparison.source.tokens
    if theirs < 2 or tokens[theirs - 1].text != "to" or tokens[theirs].is_name:
        return None
    at = theirs - 2
    token = tokens[at]
    if at in comparison.used or token.figure or not (token.is_content or token.operator):
        return None
    if not tokens[theirs].is_verb and tokens[theirs].text.endswith(("s", "ed", "ing", "ion")):
        return None
    finite = token.text.endswith(("ed", "s")) or token.operator
    return at if finite and (tokens[theirs].text == tokens[theirs].text.lower()) else None


def _is_first(sentence: Sentence, at: int) -> bool:
    """Whether no other content stands before it in its clause."""
    return not any(token.is_content and token.clause == sentence.tokens[at].clause for token in sentence.tokens[:at])


def other_tenses(comparison: Comparison) -> Iterator[Difference]:
    """What has happened, where the sentence says that it happens."""
    stated, source = comparison.stated, comparison.source
    for mine, theirs in comparison.to.items():
        one, other = stated.tokens[mine], source.tokens[theirs]
        if not (
            one.is_verb and mine and {token.text for token in stated.tokens[max(mine - 2, 0) : mine]} & {"has", "have"}
        ):
            continue
        before = {token.text for token in source.tokens[max(theirs - 4, 0) : theirs]}
        if other.text == other.stem or (
            other.text in {one.text.removesuffix("d"), one.text.removesuffix("ed")}
            and not before & {"has", "have", "had"}
        ):
            yield Difference(DifferenceKind.SAYS, other.text)
