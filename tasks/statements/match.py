"""A statement laid beside one sentence of a source: which word of the one is which word of the other.

Words are paired in their order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from operator import itemgetter
from typing import Final

from tasks.language.words import load_words, stem
from tasks.statements.figures import same
from tasks.statements.reading import ALIKE, ParsedSentence, Token, nearness

_APART: Final = 0.02
_FARTHEST: Final = 20
"""What a pair loses for each word between it and the one before, and words that count at most."""
_MOST_PLACES: Final = 6
_BACK: Final = 100
"""Places at which a word is looked for, and pairs before one that may be the last: long sentences repeat words."""
PRONOUNS: Final = frozenset("it they he she which who whose".split())  # noqa: SIM905 - a list of words reads best as words
_VERBS: Final = load_words("be") | load_words("auxiliary") - {"to", "not"}
TIME_WORDS: Final = frozenset(
    map(stem, "year quarter month half period end fiscal week today date prior previous same comparable ago".split())  # noqa: SIM905 - as above
) | {"prior-year", "year-ago", "year-earlier"}
PAST: Final = frozenset("was were has have had did been".split())  # noqa: SIM905 - as above


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A statement and a sentence, and the places of the sentence by the places of the statement that they pair with.

    `known` are the stems of whom the texts are about.
    """

    stated: ParsedSentence
    source: ParsedSentence
    known: frozenset[str]
    pairs: dict[int, int]

    @property
    def wanted(self) -> list[int]:
        """The words and figures of the statement, but for the name of whom the texts are about."""
        return [at for at in list_places(self.stated) if not self.is_known(at)]

    def is_known(self, at: int) -> bool:
        """Whether a word of the statement names whom the texts are about: no place, and no part of another name."""
        tokens = self.stated.tokens
        beside = (other for other in tokens[max(at - 1, 0) : at + 2] if other.is_name and other.is_content)
        is_own = all(other.stem in self.known for other in beside if other.segment == tokens[at].segment)
        is_named = tokens[at].figure is None and tokens[at].stem.rstrip(".") in self.known
        return is_named and is_own and tokens[at].preposition not in {"in", "at"}

    @property
    def missing(self) -> list[int]:
        """What the sentence has not."""
        return [at for at in self.wanted if at not in self.pairs]

    @property
    def share(self) -> float:
        """The part of the statement's words and figures that the sentence has, from 0 to 1."""
        wanted, source = self.wanted, self.source.tokens
        held = sum(token_nearness(self.stated.tokens[at], source[self.pairs[at]]) for at in wanted if at in self.pairs)
        return held / len(wanted) if wanted else 0.0

    @property
    def clauses(self) -> frozenset[int]:
        """The clauses of the sentence that say something of the statement."""
        return frozenset(self.source.tokens[place].clause for place in self.pairs.values())

    @property
    def has_second_object(self) -> bool:
        """Whether a thing without a preposition stands right behind the words: "sold Oka | the plant"."""
        tokens = self.source.tokens
        last = max((place for place in self.pairs.values() if not is_date(tokens[place])), default=-1)
        behind = next((token for token in tokens[last + 1 :] if _says(token)), None)
        is_led = not behind or behind.preposition or is_date(behind)
        return bool(behind and not is_led and behind.segment == tokens[last].segment)

    @property
    def extra(self) -> list[int]:
        """The words and figures that only these clauses have."""
        taken, clauses = set(self.pairs.values()), self.clauses
        return [at for at in list_places(self.source) if at not in taken and self.source.tokens[at].clause in clauses]


def list_places(sentence: ParsedSentence) -> list[int]:
    """The places of a sentence's content words and figures, in order."""
    return sorted((*sentence.content, *sentence.figures))


def match(stated: ParsedSentence, source: ParsedSentence, known: frozenset[str] = frozenset()) -> WordMatch:
    """Pair the words of a statement with those of a sentence, in their order, neighbours with neighbours."""
    found: list[tuple[int, int, float]] = []
    places = list_places(source)
    for at in list_places(stated):
        near = ((place, token_nearness(stated.tokens[at], source.tokens[place])) for place in places)
        found += [(at, place, how_near) for place, how_near in islice(filter(itemgetter(1), near), _MOST_PLACES)]
    chains: list[tuple[float, int]] = []
    for at, place, how_near in found:
        first = max(len(chains) - _BACK, 0)
        before = [
            (chains[n][0] - _APART * min(place - other_place, _FARTHEST), n)
            for n, (other, other_place, _) in enumerate(found[first : len(chains)], first)
            if other < at and other_place < place
        ]
        score, last = max(before, default=(0.0, -1))
        chains.append((score + how_near, last))
    pairs: dict[int, int] = {}
    at = max(range(len(chains)), key=lambda n: chains[n][0], default=-1)
    while at >= 0:
        pairs[found[at][0]] = found[at][1]
        at = chains[at][1]
    result = WordMatch(stated, source, known, pairs)
    _pair_moved(result)
    return result


def find_predicates(sentence: ParsedSentence) -> Iterator[ParsedSentence]:
    """A sentence, and each of its clauses that has no subject of its own behind the first one's: "it rose and fell"."""
    yield sentence
    tokens = sentence.tokens
    opens = [at for at in range(1, len(tokens)) if tokens[at].clause != tokens[at - 1].clause]
    subject = list(takewhile(lambda token: token.clause == 0 and not _is_predicate(token), tokens))
    for at in opens:
        clause = [token for token in tokens[at:] if token.clause == tokens[at].clause]
        if tokens[at].text in {"and", "but"} and len(clause) > 1 and _is_predicate(clause[1]):
            told = [replace(token, clause=0) for token in (*subject, *clause[1:])]
            yield _with_tokens(sentence, told)


def find_deed(stated: ParsedSentence, source: ParsedSentence) -> tuple[ParsedSentence, ParsedSentence] | None:
    """A passive statement and an active sentence as what was done: "renewed the lease" for "the lease was renewed".

    Who did it is in neither, so that a statement with "by" is left alone; None where they are of other forms.
    """
    verb = next((at for at, token in enumerate(stated.tokens) if token.is_verb and is_passive(stated, at)), 0)
    told, opens = stated.tokens[:verb], stated.tokens[verb : verb + 1]
    is_by = any(token.preposition == "by" and token.figure is None for token in stated.tokens[verb:])
    if is_by or not told or any(map(_acts, told)):
        return None
    place = _find_active(source, stated.tokens[verb].stem)
    before = source.tokens[:place]
    if place is None or any(_acts(other) or other.clause != source.tokens[place].clause for other in before):
        return None
    if not any(token.text in PAST for token in told):
        opens = [replace(token, text=token.stem) for token in opens]
    subject = [token for token in told if _says(token)]
    helping = [token for token in told if not _says(token) and token.text not in load_words("be")]
    kept = [other for other in before if not _says(other) and other.text not in PRONOUNS]
    return (
        _with_tokens(stated, [*helping, *opens, *subject, *stated.tokens[verb + 1 :]]),
        _with_tokens(source, [*kept, *source.tokens[place:]]),
    )


def _find_active(source: ParsedSentence, verb: str) -> int | None:
    """The place of a verb that says the same as a stem, and of which somebody is the subject."""
    for place, token in enumerate(source.tokens):
        is_active = token.is_verb or (place and source.tokens[place - 1].text in {"we", "you", "they"})
        if is_active and nearness(token.stem, verb) and not is_passive(source, place):
            return place
    return None


def _acts(token: Token) -> bool:
    return token.is_verb and _says(token)


def _says(token: Token) -> bool:
    return token.is_content or token.figure is not None


def _with_tokens(sentence: ParsedSentence, tokens: list[Token]) -> ParsedSentence:
    content = [at for at, token in enumerate(tokens) if token.figure is None and token.is_content]
    return replace(
        sentence, tokens=tokens, content=content, figures=[at for at, token in enumerate(tokens) if token.figure]
    )


def _is_predicate(token: Token) -> bool:
    return token.is_verb or token.text in _VERBS


def token_nearness(token: Token, other: Token) -> float:
    """How near two tokens are, from 0 to 1: figures are the same or not, and no name is near another word."""
    if token.figure is not None or other.figure is not None:
        return float(token.figure is not None and other.figure is not None and same(token.figure, other.figure))
    how_near = nearness(token.stem, other.stem)
    return how_near if token.is_name <= (other.is_name or how_near >= ALIKE) else 0.0


def _pair_moved(result: WordMatch) -> None:
    """Pair what is elsewhere in the sentence and can have no other meaning: its only other date, "to 5 from 4"."""
    source = result.source.tokens
    figures = [place for place in result.extra if source[place].figure is not None]
    for at in result.missing:
        token = result.stated.tokens[at]
        if is_date(token):
            places = [place for place in figures if is_date(source[place])]
            places = [place for place in places if len(places) == 1 or place < min(result.pairs.values())]
        else:
            is_led = token.figure is not None and token.preposition in {"from", "to"}
            places = [place for place in figures if is_led and source[place].preposition == token.preposition]
        for place in [place for place in places if token_nearness(token, source[place])][:1]:
            result.pairs[at] = place
            figures.remove(place)


def is_date(token: Token) -> bool:
    """Whether a token is a figure that is a date."""
    return token.figure is not None and token.figure.is_date


def is_passive(sentence: ParsedSentence, verb: int) -> bool:
    """Whether a form of "be" or "remain" comes before a verb, with no content word in between."""
    before = takewhile(lambda token: not token.is_content and token.figure is None, reversed(sentence.tokens[:verb]))
    is_helped = any(token.text in load_words("be") or token.stem == "remain" for token in before)
    return is_helped and not sentence.tokens[verb].text.endswith(("ing", "s"))
