"""What speaks against a sentence as the proof of a statement: one rule for each way in which two sentences differ.

A rule yields what it finds; without a finding the sentence says what the statement says. `contrary` is stricter. Code
asks for kinds; `Difference.why` is for people.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from tasks.language.numbers import PERCENT
from tasks.language.words import RESTRICTING, frequencies, has_opposite, load_words
from tasks.statements.alignment import Alignment, Pair, find_kind
from tasks.statements.difference import Difference, DifferenceKind, Rule
from tasks.statements.figure_rules import (
    are_opposed,
    find_misplaced,
    find_missing_figures,
    kind_at,
    other_times,
    relative_clause,
)
from tasks.statements.figures import COUNT, same
from tasks.statements.nearness import ALIKE, CHANGES, LIGHT, SAME, are_confused, nearness
from tasks.statements.reading import Limit, ParsedSentence, Token

_FEWEST_WITH_A_GAP: Final = 5
"""Words of a statement that a sentence has, from which on it may lack one."""
_TORN: Final = 5
"""Words between two in the sentence that stand side by side in the statement, at most."""


def differences(alignment: Alignment) -> Iterator[Difference]:
    """What speaks against a sentence as the proof of a statement, the gravest first."""
    for rule in _RULES:
        yield from rule(alignment)


def _find_unlike(alignment: Alignment) -> Iterator[Difference]:
    """A sentence with nothing but words that are near to those of the statement is of something else."""
    if not any(pair.nearness >= ALIKE for pair in alignment.pairs.values()):
        yield Difference(DifferenceKind.MISSING, alignment.stated.text)


def _find_missing_words(alignment: Alignment) -> Iterator[Difference]:
    """Words that the sentence has not: one of a long statement may be, if it does not count and none is in its place.

    A row of a table has no verb, so that of its statement may be missing too.
    """
    tokens, source = alignment.stated.tokens, alignment.source
    missing = [at for at in alignment.missing if tokens[at].figure is None]
    if _is_row(source):
        is_free = {at for at in missing if tokens[at].is_verb or tokens[at].stem in LIGHT}
        missing = [at for at in missing if at not in is_free or has_opposite(tokens[at].stem)]
    is_long = sum(pair.nearness for pair in alignment.pairs.values()) >= _FEWEST_WITH_A_GAP
    for at in missing:
        token, before = tokens[at], tokens[at - 1] if at else None
        is_unit = before is not None and before.figure is not None and before.segment == token.segment
        is_light = token.stem in LIGHT and not token.is_name
        counts = len(missing) > 1 or not is_long or is_unit or _counts(token, alignment)
        if counts or (not is_light and _is_replaced(alignment, at)):
            yield Difference(DifferenceKind.MISSING, token.text)


def _find_missing_turns(alignment: Alignment) -> Iterator[Difference]:
    """A verb that mostly says little and has an opposite, of which the sentence says nothing: "ended" for "began"."""
    if _is_row(alignment.source):
        return
    theirs = [token.stem for token in alignment.source.tokens]
    tokens = alignment.stated.tokens
    for token, behind in zip(tokens, (*tokens[1:], None), strict=True):
        is_dated = behind is not None and behind.figure is not None  # "the year ended 30 June"
        is_free = token.is_verb and not token.is_content and token.limit is None
        is_turn = is_free and not is_dated and has_opposite(token.stem)
        is_said = any(nearness(token.stem, other) >= ALIKE for other in theirs)
        if is_turn and (not is_said or any(are_confused(token.stem, other) for other in theirs)):
            yield Difference(DifferenceKind.MISSING, token.text)


def _is_row(source: ParsedSentence) -> bool:
    """Whether a sentence is a row of a table put into words."""
    return ": " in source.text and bool(source.figures) and not any(token.is_verb for token in source.tokens)


def _is_replaced(alignment: Alignment, at: int) -> bool:
    """Whether the sentence has other words between the neighbours of a word that it has not."""
    before = max((other for other in alignment.pairs if other < at), default=None)
    behind = min((other for other in alignment.pairs if other > at), default=None)
    places = [alignment.pairs[other].source for other in (before, behind) if other is not None]
    low, high = min(places), max(places)
    if len(places) == 1:
        low, high = (low, low + 4) if before is not None else (low - 4, low)
    return any(low < place < high for place in alignment.others())


def _counts(token: Token, alignment: Alignment) -> bool:
    """Whether a word must not be missing: a name, a change, what has an opposite, what restricts, a verb of its own."""
    return (
        token.is_name
        or token.stem in CHANGES
        or token.text in RESTRICTING
        or (has_opposite(token.stem) and token.stem not in LIGHT)
        or any(are_confused(token.stem, alignment.source.tokens[at].stem) for at in alignment.others(alignment.used))
    )


def denials(alignment: Alignment) -> Iterator[Difference]:
    """Words that are denied in one of the two alone."""
    stated, source = alignment.stated, alignment.source
    words = [pair for pair in alignment.pairs.values() if stated.tokens[pair.stated].figure is None]
    words += [pair for near in words if near.nearness < SAME and (pair := _find_same_word(alignment, near))]
    ours = [pair for pair in words if stated.is_denied(pair.stated)]
    theirs = [pair for pair in words if source.is_denied(pair.source)]
    denies = any(token.limit is Limit.NEGATION for token in stated.tokens)
    if (theirs or any(_is_none(alignment, pair) for pair in words)) and not denies:
        yield Difference(DifferenceKind.DENIED)
    elif denies and not any(pair in theirs for pair in ours):
        yield Difference(DifferenceKind.NOT_DENIED)
    elif denies:
        verbs = [pair for pair in words if stated.tokens[pair.stated].is_verb and source.tokens[pair.source].is_verb]
        if any((pair in ours) != (pair in theirs) for pair in verbs):
            yield Difference(DifferenceKind.DENIED)


def _find_same_word(alignment: Alignment, near: Pair) -> Pair | None:
    """The word itself, where the sentence has it too and it was laid beside another: "accepted … not yet agreed"."""
    wanted = alignment.stated.tokens[near.stated].stem
    tokens = alignment.source.tokens
    same = (at for at in alignment.others() if tokens[at].stem == wanted)
    place = next((at for at in same if not _has_subject(alignment, tokens[at].clause)), None)
    return Pair(near.stated, place, SAME) if place is not None else None


def _is_none(alignment: Alignment, pair: Pair) -> bool:
    """Whether the sentence says that there is none of what a word names: "a streak of 0 fines"."""
    before = alignment.source.tokens[pair.source - 1] if pair.source else None
    if before is None or before.figure is None or pair.source - 1 in alignment.taken:
        return False
    return before.figure.value == 0 and not before.figure.is_date


_STRENGTHS: Final = (Limit.EXPECTED, Limit.POSSIBLE, Limit.SUPPOSED, Limit.CLAIMED, Limit.WANTED)
_MEANT: Final = frozenset({"shall", "must", "muss", "should"})
"""What a duty may be called or not."""
_WHENEVER: Final = frozenset({"when", "whenever", "who", "where"})
_PARTS: Final = (Limit.MOST, Limit.SOME, Limit.FEW, Limit.ONLY)
_ENDED: Final = re.compile(r"\b\w{1,30}ed\b")
"""The beginning of a phrase of the past, as it is written: "stepped down"."""
_PAST: Final = frozenset("was were has have had did been".split())  # noqa: SIM905 - a list of words reads best as words
_LIMITING: Final = frozenset({*_STRENGTHS, *_PARTS, Limit.CONDITION, Limit.REQUIRED})


def _limits(alignment: Alignment) -> Iterator[Difference]:
    """`may`, `must`, `only`, `if` and the like in one of the two alone."""
    stated, source = alignment.stated, alignment.source
    ours = _limits_in(stated, alignment.pairs, alignment.pairs)
    theirs = _limits_in(source, alignment.taken, alignment.taken, governing_alone=True)
    anywhere = {token.limit for token in source.tokens if token.clause in alignment.used}
    is_general = any(token.text in _WHENEVER for token in stated.tokens)
    is_past = any(_is_past(stated, at) for at in range(len(stated.tokens)))
    told = _MEANT if is_past else _MEANT | {"will", "wird", "werden"}
    for kind, word in theirs.items():
        if kind not in ours and word not in told and kind in _LIMITING and not (kind is Limit.CONDITION and is_general):
            yield Difference(DifferenceKind.LIMITED, theirs=word)
    if not is_general:
        yield from _conditions(alignment)
    if Limit.CONDITION in ours and (word := _condition_left_out(alignment)):
        yield Difference(DifferenceKind.LIMITED, theirs=word)
    for kind, word in ours.items():
        is_same = kind in theirs or kind is Limit.ANY or kind in anywhere or (word in {"can", "could"} and not theirs)
        if not is_same and not (kind is Limit.REQUIRED and Limit.EXPECTED in theirs):
            yield Difference(DifferenceKind.NOT_LIMITED, word)


def _is_past(sentence: ParsedSentence, at: int) -> bool:
    """Whether a word is a verb of the past, or helps one: "has ended", "stepped down"."""
    token = sentence.tokens[at]
    is_form = token.is_verb and token.text != token.stem and not token.text.endswith(("s", "ing"))
    return is_form or token.text in _PAST or ("_" in token.text and _ENDED.search(sentence.original) is not None)


def _other_times_of_verbs(alignment: Alignment) -> Iterator[Difference]:
    """What the sentence wants, plans or does as a rule, and the statement says was done: "to set aside", "ends"."""
    stated, source = alignment.stated, alignment.source
    if _DUE.search(source.original) and not _DUE.search(stated.original) and not any(t.limit for t in stated.tokens):
        yield Difference(DifferenceKind.LIMITED, theirs="due")
    for at, token in enumerate(stated.tokens):
        before = stated.tokens[at - 1].text if at else ""
        is_helped = before in _PAST and not token.text.endswith("s")
        is_done = token.is_verb and (_DONE.search(token.text) or token.text in load_words("participles"))
        is_state = before in load_words("be") - _PAST or "-" in token.text or token.text in load_words("be") | _PAST
        if is_state or not (is_helped or is_done):
            continue
        acts = [n for n, other in enumerate(source.tokens) if other.stem == token.stem and token.figure is None]
        places = [n for n in acts if _is_act(source, n)]
        if places and not any(_may_be_past(source, place) for place in places):
            yield Difference(DifferenceKind.LIMITED, theirs=source.tokens[places[0]].text)


_DONE: Final = re.compile(r"(?<!e)ed\Z")
_DUE: Final = re.compile(r"\bdue (?:to be|for)\b")


def _is_act(source: ParsedSentence, place: int) -> bool:
    """Whether a word of the sentence is a verb and no thing: "the patent expires", "asked to set", not "refunds"."""
    token, before = source.tokens[place], source.tokens[place - 1] if place else None
    if token.is_verb or before is None or before.text == "to":
        return token.is_verb or before is not None
    follows = (before.is_content and before.figure is None) or before.text in {"that", "which", "who", "it"}
    return follows and token.text.endswith("s")


def _may_be_past(source: ParsedSentence, place: int) -> bool:
    """Whether a verb of the sentence is one of the past: no infinitive, and not in the form of the present."""
    token, before = source.tokens[place], source.tokens[place - 1].text if place else ""
    is_present = token.text.endswith("s") or (token.is_verb and token.text == token.stem)
    return before in _PAST or not (before == "to" or is_present)


def _conditions(alignment: Alignment) -> Iterator[Difference]:
    """Conditions and exceptions of the sentence of which the statement says nothing."""
    source = alignment.source
    says = sorted((*source.content, *source.figures))
    for at, token in enumerate(source.tokens):
        excepts = token.text in {"without", "except", "ohne", "sans"} and token.clause in alignment.used
        behind = [place for place in says if place > at][:3]
        if (excepts or token.limit is Limit.CONDITION) and not any(place in alignment.taken for place in behind):
            yield Difference(DifferenceKind.LIMITED, theirs=token.text)


def _find_bounds_left_out(alignment: Alignment) -> Iterator[Difference]:
    """What binds a duty or a right in the sentence alone: "in line with the index", "for 18 months from delivery"."""
    stated, source = alignment.stated, alignment.source
    bound = _BINDING.search(source.original)
    if bound is not None and not _BINDING.search(stated.original):
        yield Difference(DifferenceKind.LIMITED, theirs=bound[0])
    if any(token.text in _DUTIES for token in stated.tokens):
        for at in alignment.others(alignment.used):
            token = source.tokens[at]
            if token.preposition in {"for", "within"} and find_kind(token) == "time":
                yield Difference(DifferenceKind.LIMITED, theirs=token.text)


_BINDING: Final = re.compile(r"\b(?:in line with|subject to|to the extent|provided that)\b", re.IGNORECASE)
_DUTIES: Final = frozenset("shall must may will warrants warrant guarantees undertakes".split())  # noqa: SIM905 - as above


def _condition_left_out(alignment: Alignment) -> str:
    """A word of the sentence's condition that the statement's has not: "if you ask and you have paid"; else ""."""
    source = alignment.source
    opens = next((token.start for token in source.tokens if token.limit is Limit.CONDITION), len(source.text))
    ends = source.text.find(",", opens)
    ends = len(source.text) if ends < 0 else ends
    places = [at for at in alignment.others() if opens < source.tokens[at].start < ends]
    return next((source.tokens[at].text for at in places if source.tokens[at].stem not in LIGHT), "")


def _limits_in(
    sentence: ParsedSentence, places: Collection[int], said: Collection[int], *, governing_alone: bool = False
) -> dict[Limit, str]:
    """The kinds of limits of a sentence, a word of each; with `governing_alone` those that limit one of the places."""
    governing = frozenset[Limit]().union(*(sentence.limits_at(place) for place in places))
    governing -= {
        sentence.tokens[at].limit for at in said if sentence.tokens[at].is_content and sentence.tokens[at].limit
    }
    found: dict[Limit, str] = {}
    for at, token in enumerate(sentence.tokens):
        kind = token.limit
        if kind is None or kind is Limit.NEGATION or (at in said and token.is_content):
            continue
        if kind in _PARTS and governing_alone and not _is_beside(sentence, at, places, either=kind is Limit.ONLY):
            continue
        if not governing_alone or kind in governing or kind is Limit.CONDITION or kind in _PARTS:
            found.setdefault(kind, token.text)
    return found


def _is_beside(sentence: ParsedSentence, at: int, places: Collection[int], *, either: bool) -> bool:
    """Whether the next word or figure behind a token is one of some places; with `either` the one before it too."""
    says = sorted((*sentence.content, *sentence.figures))
    behind = next((place for place in says if place > at), None)
    before = next((place for place in reversed(says) if place < at), None)
    return behind in places or (either and before in places)


def _find_lost_restrictions(alignment: Alignment) -> Iterator[Difference]:
    """A word of the sentence that narrows one that both have: "gross" of "gross margin"."""
    taken, source, stated_tokens = alignment.taken, alignment.source, alignment.stated.tokens
    for at in alignment.others(alignment.used):
        token = source.tokens[at]
        behind = next((place for place in range(at + 1, min(at + 4, len(source.tokens))) if place in taken), None)
        is_near = (
            behind is not None
            and source.tokens[behind].segment == token.segment
            and (source.tokens[behind].figure is None)
        )
        if token.text in RESTRICTING and token.limit is None and token.figure is None and is_near:
            yield Difference(DifferenceKind.PART, theirs=f"{token.text} {source.tokens[at + 1].text}")
    places = [alignment.pairs[at].source for at in alignment.stated.content if at in alignment.pairs]
    for at, (one, other) in enumerate(pairwise(places)):
        mine = [place for place in alignment.stated.content if place in alignment.pairs][at : at + 2]
        between = [source.tokens[place] for place in range(one + 1, other)]
        is_compound = (
            mine[1] == mine[0] + 1
            and 0 < len(between) <= 2
            and all(token.is_content and token.figure is None and token.limit is None for token in between)
        )
        words = (stated_tokens[mine[0]], stated_tokens[mine[1]])
        if (
            mine[1] == mine[0] + 1
            and _is_torn(source, one, other)
            and not any(token.is_verb for token in words)
            and words[0].segment == words[1].segment
        ):
            yield Difference(DifferenceKind.PART, theirs=source.tokens[one].text)
        if is_compound and not any(token.is_verb for token in (*between, source.tokens[one], source.tokens[other])):
            yield Difference(
                DifferenceKind.PART,
                theirs=" ".join(token.text for token in (source.tokens[one], *between, source.tokens[other])),
            )


def _is_torn(source: ParsedSentence, one: int, other: int) -> bool:
    """Whether two words that are one thing in the statement stand apart: far, or a name in another part of a list."""
    is_listed = source.tokens[one].is_name and source.tokens[one].segment != source.tokens[other].segment
    return abs(one - other) > _TORN or is_listed


def _find_scattered(alignment: Alignment) -> Iterator[Difference]:
    """A figure, a name or a verb of one clause that the sentence has in another: it says it of somebody else."""
    stated, source = alignment.stated, alignment.source
    subject = next((at for at in stated.content if at in alignment.pairs), None)
    for at, pair in alignment.pairs.items():
        token, own = stated.tokens[at], source.tokens[pair.source]
        home = alignment.home[token.clause]
        is_amount = token.figure is not None and not token.figure.is_date
        is_told = _goes_on_from(alignment, own.clause, own.clause - 1, is_free=True)
        is_led = own.clause > home or _goes_on_from(alignment, home, home - 1, is_free=True)
        if own.clause == home or (is_told and not (token.is_name or token.is_verb or is_amount or at == subject)):
            continue
        is_apart = is_amount or token.is_verb or own.clause > home or _has_subject(alignment, home)
        is_apart = is_apart and not _goes_on_from(alignment, own.clause, home)
        if not is_told or is_apart or not is_led:
            yield Difference(DifferenceKind.SOMEBODY_ELSE, token.text, own.text)


def _goes_on_from(alignment: Alignment, clause: int, home: int, *, is_free: bool = False) -> bool:
    """Whether a clause says more of the last thing of the clause before: "a portion that was paid".

    With `is_free` another clause than a relative one does too.
    """
    source = alignment.source
    opens = relative_clause(source, clause) if clause == home + 1 else 0
    last = max((at for at in (*source.content, *source.figures) if at < opens), default=-1)
    return last in alignment.taken if opens else is_free


def _has_subject(alignment: Alignment, clause: int) -> bool:
    """Whether a clause of the sentence has a subject of its own that the statement does not name."""
    source = alignment.source
    verb = next((at for at, token in enumerate(source.tokens) if token.clause == clause and token.is_verb), None)
    before = [at for at in range(verb or 0) if source.tokens[at].clause == clause and at not in alignment.taken]
    others = set(alignment.others(frozenset({clause})))
    return any(
        source.tokens[at].text in _PRONOUNS or (at in others and not source.tokens[at].preposition) for at in before
    )


_PRONOUNS: Final = frozenset({"it", "they", "he", "she"})


def _other_order(alignment: Alignment) -> Iterator[Difference]:
    """Words in another order than the statement's: at most one block of them stands first, with nothing between.

    "On Earth a day lasts 24 hours" says what "A day lasts 24 hours on Earth" says; "Beta sued Alpha" does not say
    "Alpha sued Beta". Names keep their order, and what acts stays before its verb unless the verb is passive in one.
    """
    stated, source = alignment.stated, alignment.source
    pairs = [pair for at, pair in sorted(alignment.pairs.items()) if kind_at(stated, at) != "date"]
    places = [pair.source for pair in pairs]
    breaks = sum(later < earlier for earlier, later in pairwise(places))
    verbs = [pair for pair in pairs if _acts(stated.tokens[pair.stated], source.tokens[pair.source])]
    turned = [verb for verb in verbs if _is_passive(stated, verb.stated) != _is_passive(source, verb.source)]
    names = [pair.source for pair in pairs if stated.tokens[pair.stated].is_name]
    if not breaks or _is_row(source):
        if any(min(names, default=0) < verb.source < max(names, default=0) for verb in turned):
            yield Difference(DifferenceKind.ROLES)
        return
    between = [source.tokens[at] for at in alignment.others() if min(places) < at < max(places)]
    if (
        breaks > 1 + bool(turned)
        or (breaks > 1 and any(pair.nearness < ALIKE for pair in pairs))
        or any(alignment.is_known(at) and at not in alignment.pairs for at in stated.content)
        or any(token.is_verb or token.is_name for token in between)
        or (not turned and any(later < earlier for earlier, later in pairwise(names)))
        or any(_has_moved(alignment, pair, verb) for verb in verbs if verb not in turned for pair in pairs)
        or any(_acts_otherwise(alignment, pair, verb) for verb in turned for pair in pairs)
    ):
        yield Difference(DifferenceKind.ROLES)


def _acts(mine: Token, theirs: Token) -> bool:
    """Whether two words are one verb; "warn" has no form of its own."""
    return (mine.is_verb and theirs.is_verb) or (mine.text == theirs.text and (mine.is_verb or theirs.is_verb))


def _has_moved(alignment: Alignment, pair: Pair, verb: Pair) -> bool:
    """Whether a thing without a preposition stands before a verb in the one and behind it in the other."""
    mine, theirs = alignment.stated.tokens[pair.stated], alignment.source.tokens[pair.source]
    is_place = bool(mine.preposition and theirs.preposition) or mine.is_verb or mine.figure is not None
    return not is_place and (pair.stated < verb.stated) != (pair.source < verb.source)


def _acts_otherwise(alignment: Alignment, pair: Pair, verb: Pair) -> bool:
    """Whether what does something in the statement is not that by which it is done in the sentence."""
    mine, theirs = alignment.stated.tokens[pair.stated], alignment.source.tokens[pair.source]
    is_thing = not mine.preposition and not mine.is_verb and mine.figure is None
    is_doing = pair.stated < verb.stated and not _is_passive(alignment.stated, verb.stated)
    return is_thing and is_doing and theirs.preposition != "by"


def _other_names(alignment: Alignment) -> Iterator[Difference]:
    """A name of the sentence where the statement has that of whom the texts are about, or the other way round."""
    stated, source = alignment.stated, alignment.source
    others = [token for at in alignment.others() if (token := source.tokens[at]).is_name]
    for at in stated.content:
        token = stated.tokens[at]
        if token.is_name and token.preposition and at not in alignment.pairs and alignment.is_known(at) and others:
            yield Difference(DifferenceKind.SOMEBODY_ELSE, token.text, others[0].text)
    pairs = [(stated.tokens[pair.stated], source.tokens[pair.source]) for pair in alignment.pairs.values()]
    led = {(mine.preposition, theirs.preposition) for mine, theirs in pairs if mine.is_name}
    if any(are_opposed(*each) or (each[0] != each[1] and each[::-1] in led) for each in led):
        yield Difference(DifferenceKind.ROLES)


def _is_passive(sentence: ParsedSentence, verb: int) -> bool:
    before = [token.text for token in sentence.tokens[max(verb - 3, 0) : verb]]
    behind = sentence.tokens[verb + 1].text if verb + 1 < len(sentence.tokens) else ""
    word = sentence.tokens[verb]
    is_past = (
        word.text.endswith("ed")
        or word.text in load_words("participles")
        or (word.text != word.stem and not word.text.endswith(("ing", "s")) and not word.stem.startswith(word.text))
    )
    is_done_by = behind == "by" and verb + 2 < len(sentence.tokens) and sentence.tokens[verb + 2].figure is None
    return is_past and (is_done_by or any(word in load_words("be") for word in before))


def _other_subjects(alignment: Alignment) -> Iterator[Difference]:
    """A name at the head of the sentence that the statement does not have: somebody else does it."""
    stated, source = alignment.stated, alignment.source
    words = [pair for pair in alignment.pairs.values() if stated.tokens[pair.stated].figure is None]
    in_order = sorted(words, key=lambda pair: pair.stated)
    first = next((pair for pair in in_order if not alignment.is_known(pair.stated)), None)
    if first is None:
        return
    verbs = (pair for pair in sorted(words, key=lambda pair: pair.source) if source.tokens[pair.source].is_verb)
    verb = next(verbs, None)
    if verb is not None and _is_passive(source, verb.source) != _is_passive(stated, verb.stated):
        return
    acts = (verb or first).source
    head = _find_head(source, first.source, acts)
    if any(source.tokens[at].text in _SELF or (at in alignment.taken and source.tokens[at].is_name) for at in head):
        return
    own = [at for at in stated.content if at < (verb or first).stated]
    is_self = bool(own) and all(alignment.is_known(at) and at not in alignment.pairs for at in own)
    for at in head:
        token = source.tokens[at]
        names_another = token.is_content and not token.preposition and token.stem not in alignment.known
        if names_another and ((is_self and at < acts) or (token.is_name and token.figure is None)):
            yield Difference(DifferenceKind.SOMEBODY_ELSE, theirs=token.text)


def _find_head(source: ParsedSentence, first: int, verb: int) -> list[int]:
    """The places before a verb, in its clause and in the one that a relative clause belongs to."""
    clause = source.tokens[first].clause
    clauses = {clause, clause - 1} if relative_clause(source, clause) else {clause}
    return [at for at in range(max(first, verb)) if source.tokens[at].clause in clauses]


_SELF: Final = frozenset("we our us company group".split())  # noqa: SIM905 - a list of words reads best as words
_WAYS: Final = (
    "above below",
    "over under",
    "before after",
    "with without",
    "for against",
    "inside outside",
    "up down",
    "vor nach",
    "mit ohne",
    "avant après",
    "avec sans",
)
_SPANS: Final = frozenset("year quarter month week day half".split())  # noqa: SIM905 - as above
_FREQUENCIES: Final = [frozenset(line.split()) for line in frequencies()]


def _other_ways(alignment: Alignment) -> Iterator[Difference]:
    """Short words of a place, a time or a way of which the sentence has the opposite, and another frequency."""
    ours = {token.text for token in alignment.stated.tokens}
    theirs = {token.text for token in alignment.source.tokens if token.clause in alignment.used}
    for pair in _WAYS:
        for one, other in (pair.split(), pair.split()[::-1]):
            if one in ours and one not in theirs and other in theirs and other not in ours:
                yield Difference(DifferenceKind.OPPOSITE, one, other)
    for word in _SPANS & ours - theirs:
        if others := _SPANS & theirs - ours:
            yield Difference(DifferenceKind.OTHER_PERIOD, word, min(others))
    for words in _FREQUENCIES:
        others = frozenset[str]().union(*(line for line in _FREQUENCIES if line is not words)) & theirs
        if words & ours and not words & theirs and others:
            yield Difference(DifferenceKind.OPPOSITE, min(words & ours), min(others))


def _narrower_subjects(alignment: Alignment) -> Iterator[Difference]:
    """What narrows the subject of the sentence: "revenue of the segment rose", "suppliers with …"."""
    tokens, taken = alignment.source.tokens, sorted(alignment.taken)
    verb = next((at for at in taken if tokens[at].is_verb or tokens[at].figure is not None), 0)
    head = max((at for at in taken if at < verb and tokens[at].clause == tokens[verb].clause), default=verb)
    for at in range(head + 1, verb):
        token = tokens[at]
        is_narrowing = token.preposition in _NARROWING and token.segment == tokens[head].segment
        if is_narrowing and token.is_content and token.figure is None and token.stem not in alignment.known:
            yield Difference(DifferenceKind.PART, theirs=token.text)


_NARROWING: Final = frozenset("of in for from with at under outside within".split())  # noqa: SIM905 - as above


def _find_other_shares(alignment: Alignment) -> Iterator[Difference]:
    """What the sentence says of some or of the rest, and the statement of all: "two of the six directors"."""
    source, taken = alignment.source, alignment.taken
    first, last = min(taken, default=0), max(taken, default=0)
    for at in alignment.others():
        token = source.tokens[at]
        behind = source.tokens[at + 1 : at + 5]
        is_share = token.figure is not None and token.figure.kind in {COUNT, PERCENT}
        is_share &= any(n in taken and other.segment == token.segment for n, other in enumerate(behind, at + 1))
        if is_share and source.tokens[at + 1].text == "of":
            yield Difference(DifferenceKind.PART, theirs=token.text)
    for token in source.tokens[first:last]:
        if token.text in _REST and not any(other.text in _REST for other in alignment.stated.tokens):
            yield Difference(DifferenceKind.PART, theirs=token.text)


_REST: Final = frozenset("rest remainder balance others latter".split())  # noqa: SIM905 - as above


def _other_complements(alignment: Alignment) -> Iterator[Difference]:
    """Another thing behind the same word: "20 % of the gilts" for "20 % of the shares", "6 % of" for "6 % below"."""
    stated, source = alignment.stated, alignment.source
    for at, pair in alignment.pairs.items():
        mine, theirs = _find_complement(stated, at), _find_complement(source, pair.source)
        if mine not in alignment.pairs or mine is None or theirs is None:
            continue
        own, other, place = stated.tokens[mine], source.tokens[theirs], alignment.pairs[mine].source
        is_led_alike = own.preposition == other.preposition
        is_there = theirs <= place <= theirs + 2 or any(
            alignment.pairs[near].source == theirs
            for near in range(mine, mine + 4)
            if near in alignment.pairs and stated.tokens[near].preposition == own.preposition
        )
        is_listed = place > theirs and not source.tokens[place].preposition  # "in Dutch, English and German"
        is_there |= is_listed and all(token.figure is None for token in source.tokens[theirs:place])
        if is_led_alike and not is_there and (own.figure is None) == (other.figure is None):
            yield Difference(DifferenceKind.SOMEBODY_ELSE, own.text, other.text)
        if not is_led_alike and is_there and {own.preposition, other.preposition} & _BOUNDS:
            yield Difference(DifferenceKind.OPPOSITE, own.preposition, other.preposition)


_BOUNDS: Final = frozenset("below above over under before after".split())  # noqa: SIM905 - as above


def _find_complement(sentence: ParsedSentence, at: int) -> int | None:
    """The first word or figure behind a word that a preposition joins to it: "shares" of "20 % of the shares"."""
    segment = sentence.tokens[at].segment
    behind = (n for n in range(at + 1, min(at + 5, len(sentence.tokens))) if sentence.tokens[n].segment == segment)
    place = next((n for n in behind if sentence.tokens[n].is_content or sentence.tokens[n].figure is not None), None)
    is_joined = place is not None and bool(sentence.tokens[place].preposition)
    return place if is_joined and sentence.tokens[at].preposition != sentence.tokens[place or 0].preposition else None


def _hidden_opposites(alignment: Alignment) -> Iterator[Difference]:
    """An opposite of a word that the sentence says only in a wider sense: "proceedings" beside "arbitration"."""
    others = [alignment.source.tokens[at] for at in alignment.others(alignment.used)]
    for pair in alignment.pairs.values():
        token = alignment.stated.tokens[pair.stated]
        for other in others:
            if pair.nearness <= ALIKE and token.figure is None and are_confused(token.stem, other.stem):
                yield Difference(DifferenceKind.OPPOSITE, token.text, other.text)


def _edits(alignment: Alignment) -> Iterator[Difference]:
    """Words put in, left out or exchanged in a sentence that is the statement but for them."""
    is_done = any(token.is_verb and token.text.endswith("ed") for token in alignment.stated.tokens)
    said = {at for at, pair in alignment.pairs.items() if pair.nearness >= ALIKE}
    said |= {at for at in alignment.stated.content if alignment.is_known(at)}
    for is_exchanged, places, theirs in _find_edits(alignment):
        ours = [alignment.stated.tokens[at] for at in places]
        modal = [token for token in (*ours, *theirs) if token.limit or token.text in _MODAL]
        if not is_done and all(token in theirs and token.text in {"shall", "will"} for token in modal):
            continue
        yield from _other_strength(ours, theirs, modal)
        exchanged = [token for at, token in zip(places, ours, strict=True) if is_exchanged and at not in said]
        yield from (Difference(DifferenceKind.MISSING, token.text) for token in exchanged if _is_new(token, theirs))


def _other_strength(ours: list[Token], theirs: list[Token], modal: list[Token]) -> Iterator[Difference]:
    """A denial or a limit that one of two stretches has alone; `modal` are the words of both that may be one."""
    if modal and _limit_kinds(ours) != _limit_kinds(theirs) and len(theirs) <= _FEW:
        kind = DifferenceKind.DENIED if Limit.NEGATION in _limit_kinds(modal) else DifferenceKind.LIMITED
        yield Difference(kind, theirs=modal[0].text)


def _limit_kinds(tokens: Iterable[Token]) -> set[Limit]:
    return {token.limit for token in tokens if token.limit}


def _is_new(token: Token, others: Sequence[Token]) -> bool:
    """Whether a word says something that none of others says."""
    says = token.is_content and token.figure is None
    return says and not any(nearness(token.stem, other.stem) >= ALIKE for other in others)


def _find_edits(alignment: Alignment) -> Iterator[tuple[bool, range, list[Token]]]:
    """Where two sentences that are nearly one differ: whether words are exchanged, those of the one, of the other."""
    stated, source = alignment.stated.tokens, alignment.source.tokens
    matcher = SequenceMatcher(
        None, [_key(token) for token in stated], [_key(token) for token in source], autojunk=False
    )
    if sum(block.size for block in matcher.get_matching_blocks()) < _NEARLY_ALL * len(stated):
        return
    for kind, first, last, low, high in matcher.get_opcodes():
        if kind != "equal" and not (kind == "insert" and (low == 0 or high == len(source))):
            yield kind == "replace", range(first, last), source[low:high]


def _key(token: Token) -> str:
    if token.figure is None:
        return token.stem
    return f"{token.figure.unit}{token.figure.value.normalize()}{token.figure.date}"


_NEARLY_ALL: Final = 0.8
_FEW: Final = 4
_MODAL: Final = frozenset({"may", "might", "could", "should", "would", "must", "shall", "can"})


def says_in_order(stated: ParsedSentence, source: ParsedSentence) -> bool:
    """Whether two sentences are the same word for word, but for words of one group and ways to write a figure."""
    if len(stated.tokens) != len(source.tokens):
        return False
    for one, other in zip(stated.tokens, source.tokens, strict=True):
        if one.figure is not None or other.figure is not None:
            if one.figure is None or other.figure is None or not same(one.figure, other.figure):
                return False
        elif one.limit is not other.limit or nearness(one.stem, other.stem) < ALIKE:
            return False
    return True


_RULES: Final[tuple[Rule, ...]] = (
    _find_unlike, find_missing_figures, _find_missing_words, _find_missing_turns, denials, _limits,
    _find_bounds_left_out, _other_times_of_verbs, _find_lost_restrictions, find_misplaced, _find_scattered,
    _other_order, _other_subjects, _other_names, _other_ways, _narrower_subjects, other_times, _other_complements,
    _find_other_shares, _hidden_opposites, _edits,
)  # fmt: skip

GRAVE: Final[tuple[Rule, ...]] = (
    denials, _limits, _find_lost_restrictions, find_misplaced, _other_order, _other_subjects,
)  # fmt: skip
"""The rules after which a sentence is not nearly the same."""
