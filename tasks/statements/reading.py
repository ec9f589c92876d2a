"""A sentence as tokens: words, names and figures, each with its clause and with words that limit or deny it.

This is reading for comparison, not grammar: if two sentences are read alike, they can be compared. The words are those
of `tasks.language.words`. German and French sentences are read with their own negations and otherwise word by word.

Words may stand for each other that have the same stem, are of the same group of the vocabulary, or near in the
thesaurus. The groups of `tasks.language.words` say the same anywhere, those of `thesaurus.toml` where all around them
agrees.

`Difference` is what a sentence says otherwise than a statement: kinds for code, sentences for people.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from tasks.language.words import (
    ACTING,
    CHANGING,
    FREE,
    FREE_VERBS,
    STOP_WORDS,
    are_opposite,
    in_one_word,
    is_known,
    limits,
    load_words,
    look_up,
    say_the_same,
    stem,
    write_out,
)
from tasks.statements.figures import StatedFigure, figures, limit_words

_DATA: Final = tomllib.loads(files("tasks.statements").joinpath("thesaurus.toml").read_text(encoding="utf-8"))
_GROUPS_OF: Final[dict[str, set[int]]] = {}
for _number, _group in enumerate(_DATA["near"]):
    for _word in map(stem, _group.split()):
        _GROUPS_OF.setdefault(_word, set()).add(_number)
_NONE: Final[frozenset[int]] = frozenset()
_OPPOSITES: Final = frozenset(frozenset(stem(word) for word in pair.split()) for pair in _DATA["opposite"])
LIGHT: Final = frozenset(stem(word) for word in _DATA["light"].split())
"""Verbs that say little by themselves: "made" of "made a payment"."""
CHANGES: Final = frozenset(stem(word) for word in _DATA["changes"].split())
"""Words of which way, or how often as much, something went."""

SAME: Final = 1.0
ALIKE: Final = 0.9
NEAR: Final = 0.7
"""How near two words are: one stem, one group, one group of the thesaurus."""


@lru_cache(maxsize=200_000)
def nearness(one: str, other: str) -> float:
    """How near two stems are, from 0 to 1."""
    if one == other:
        return SAME
    if are_confused(one, other):
        return 0
    if say_the_same(one, other):
        return ALIKE
    return 0 if _GROUPS_OF.get(one, _NONE).isdisjoint(_GROUPS_OF.get(other, _NONE)) else NEAR


@lru_cache(maxsize=200_000)
def are_confused(one: str, other: str) -> bool:
    """Whether two stems say the opposite of each other, or must not stand for each other."""
    return frozenset((one, other)) in _OPPOSITES or are_opposite(one, other)


class DifferenceKind(Enum):
    """A way in which a sentence differs from a statement, with the words that say so."""

    FIGURE = "The source gives “{theirs}”, the statement “{ours}”."
    NAME = "The source names “{theirs}”, the statement “{ours}”."
    DENIED = "The source denies what the statement says."
    NOT_DENIED = "The statement denies what the source says."
    OPPOSITE = "The source says “{theirs}”, the statement the opposite: “{ours}”."
    MISSING = "The nearest sentence of the source does not say “{ours}”."
    NO_FIGURE = "The nearest sentence of the source does not give “{ours}”."
    OTHER_FIGURE = "The source gives “{ours}” for something else."
    OTHER_PERIOD = "The source speaks of another time: “{theirs}”."
    LIMITED = "The source limits what it says: “{theirs}”."
    NOT_LIMITED = "The statement limits what the source does not: “{ours}”."
    PART = "The source speaks of a part, or of something narrower: “{theirs}”."
    ROLES = "The source says it the other way round."
    SOMEBODY_ELSE = "The source says it of somebody else: “{theirs}”."
    TOO_LONG = "It is too long to be one statement."


@dataclass(frozen=True, slots=True)
class Difference:
    """What a sentence says otherwise, or does not say: the words of the statement and those of the sentence."""

    kind: DifferenceKind
    ours: str = ""
    theirs: str = ""

    @property
    def why(self) -> str:
        """The difference as a sentence."""
        return self.kind.value.format(ours=self.ours, theirs=self.theirs)


_TOKEN: Final = re.compile(r"[^\W\d_](?:[\w'’&]|[-.](?=\w))*|\d(?:[\w.,-]*\w)?|[;:()—–,\t|/]|[.!?](?=\s+[A-Z“\"(])")
_BREAKS: Final = frozenset(";:—–\t|.!?")
_MARKS: Final = _BREAKS | {",", "/", "(", ")"}
_FULL: Final = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_CONTRACTED: Final = re.compile(r"\b(\w+)['’](m|re|ve|ll|d)\b", re.IGNORECASE)
_BALANCE_DATE: Final = re.compile(r"\b(?:balance[- ]sheet|reporting|closing) date\b", re.IGNORECASE)
_BE: Final = load_words("be")
_AUXILIARY: Final = load_words("auxiliary")
_DETERMINERS: Final = load_words("determiners") | frozenset(
    "der die das des dem den ein eine einer eines einem einen und oder im in am an auf von vom zu zum zur mit bei aus "  # noqa: SIM905 - a list of words reads best as words
    "hat haben ist sind wird werden wurde wurden war waren sich es er sie sein seine seiner ihre ihrer ihren seit als "
    "auch nach le la les un une du au aux et ou est sont été était ont il elle à en dans pour par sur avec se son sa "
    "ses leur leurs ce cette ces que qui".split()
)
_PREPOSITIONS: Final = load_words("prepositions")
_JOINS: Final = load_words("joins") | {"dass", "weil", "während", "mais", "jedoch", "dont"}
_PARTICIPLES: Final = load_words("participles")
_NEGATIONS: Final = frozenset("nichts keines keinem nein ne n rien personne".split()) - {"n"}  # noqa: SIM905 - as above
_SOFT: Final = {stem(word) for word in load_words("soft")}
_EXACT: Final = load_words("exact")
_COMPANY_FORMS: Final = frozenset(
    "inc corp corporation ltd limited llc plc gmbh ag sa se co incorporated bv nv l.p lp".split()  # noqa: SIM905 - as above
)
_TITLES: Final = frozenset({"mr", "ms", "mrs", "dr"})
_LACKING: Final = frozenset({"without", "ohne", "sans", "sin"})
_NARROW: Final = 4
"""Words behind a "not" that stands behind a thing and no verb, to which it reaches: "stock not already owned"."""
_ORDINARY: Final = frozenset("whenever wherever whoever besides whichever effective pursuant each under both".split())  # noqa: SIM905 - as above
_ARTICLES: Final = frozenset({"the", "a", "an"})
_COMMON: Final = FREE | _DETERMINERS | STOP_WORDS | _ORDINARY
_ROW_FIGURE: Final = re.compile(r"\s*+[-−(]?+\s*+(?:[$€£¥]|[A-Z]{3}\s)?+\s*+[-−(]?+\d")
_AHEAD: Final = 8
"""Tokens behind an `and` among which a verb begins another clause."""


class Limit(StrEnum):
    """How a word limits a sentence: the kinds in the vocabulary."""

    NEGATION = "negation"
    EXPECTED = "expected"
    POSSIBLE = "possible"
    REQUIRED = "required"
    SUPPOSED = "supposed"
    CLAIMED = "claimed"
    WANTED = "wanted"
    CONDITION = "condition"
    ALL = "all"
    MOST = "most"
    SOME = "some"
    FEW = "few"
    ONLY = "only"
    ANY = "any"


_SAYING: Final = frozenset({Limit.EXPECTED, Limit.CLAIMED, Limit.WANTED})
"""Limits that say something by themselves too: "expects", "denied", "offers"."""
_LIMITS: Final = {word: Limit(kind) for kind, words in limits().items() for word in words.split()}
_LIMIT_STEMS: Final = {stem(word): kind for word, kind in _LIMITS.items() if word not in _EXACT}


@dataclass(slots=True)
class Token:
    """A word or figure of a sentence.

    `clause` and `segment` count from 0: clauses end at stops and conjunctions, segments at commas too. `limit` is what
    the word limits, `preposition` the one before it, `is_content` whether it carries meaning by itself.
    """

    text: str
    stem: str
    start: int
    end: int
    figure: StatedFigure | None = None
    is_name: bool = False
    is_verb: bool = False
    clause: int = 0
    segment: int = 0
    limit: Limit | None = None
    preposition: str = ""
    is_content: bool = True


@dataclass(slots=True)
class ParsedSentence:
    """A parsed sentence: `text` has its phrases as single words, `content` and `figures` are positions in `tokens`."""

    original: str
    text: str
    tokens: list[Token]
    content: list[int] = field(default_factory=list)
    figures: list[int] = field(default_factory=list)

    def limits_at(self, place: int) -> frozenset[Limit]:
        """What limits a token, apart from negations: words before it in its clause, and in the
        clause that reports it.
        """
        before = {token.limit for token in self._before(place) if token.limit and token.limit is not Limit.NEGATION}
        behind = {
            token.limit
            for one, token in pairwise(self.tokens[place:])
            if token.clause == self.tokens[place].clause
            and token.limit in _SAYING | {Limit.POSSIBLE}
            and one.text in _BE
        }
        return frozenset(kind for kind in before | behind if kind)

    def is_denied(self, place: int) -> bool:
        """Whether an odd number of negations precede a token in its clause, or a clause that reports it."""
        own = self.tokens[place]
        denials = []
        for token in self._before(place):
            if token.limit is not Limit.NEGATION or (token.text in _LACKING and own.preposition != token.text):
                continue
            at = self.tokens.index(token)
            before = self.tokens[at - 1] if at else None
            is_narrow = (
                token.text in {"not", "nicht"} and before is not None and before.is_content and not before.is_verb
            )
            if not is_narrow or place - at <= _NARROW:
                denials.append(token.text)
        return sum(word != "nor" or "neither" not in denials for word in denials) % 2 == 1

    def write(self, token: Token) -> str:
        """A token as the sentence has it: the whole of a name, and all words of a phrase."""
        if token.figure is not None:
            return token.text
        named = sorted((one for one in self.tokens if one.is_name), key=lambda one: one.start) if token.is_name else []
        first, last = token.start, token.end
        for one in reversed(named):
            first = one.start if one.end <= first and not self.text[one.end : first].strip(" .&") else first
        for one in named:
            last = one.end if one.start >= last and not self.text[last : one.start].strip(" .&") else last
        return write_out(_plain(self.original), first, last)

    def _before(self, place: int) -> Iterator[Token]:
        clause = self.tokens[place].clause
        at = place
        while at >= 0 and self.tokens[at].clause == clause:
            yield self.tokens[at]
            at -= 1
        if at >= 0 and self.tokens[at + 1].text in {"that", "dass", "whether"}:
            reporting = self.tokens[at].clause
            yield from (token for token in self.tokens[: at + 1] if token.clause == reporting)


@lru_cache(maxsize=4096)
def read(original: str) -> ParsedSentence:
    """Parse a sentence, or a table row that `tables` has put into words."""
    text = in_one_word(_plain(original))
    tokens = _Reader(text).tokens
    _tell_offices(tokens)
    _part_clauses(tokens)
    content = [at for at, token in enumerate(tokens) if token.figure is None and token.is_content]
    places = [at for at, token in enumerate(tokens) if token.figure is not None]
    return ParsedSentence(original, text, tokens, content, places)


class _Reader:
    """Splits a text into tokens, each with its clause and segment."""

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = []
        self._text, self._figures = text, figures(text)
        self._limiting = [span for figure in self._figures if (span := limit_words(text, figure))]
        self._clause = self._segment = place = 0
        self._is_first = True
        for match in _TOKEN.finditer(text):
            while place < len(self._figures) and self._figures[place].end <= match.start():
                place += 1
            if place < len(self._figures) and self._figures[place].start < match.end():
                self._add_figure(self._figures[place])
            elif match.group() in _MARKS:
                self._pass_mark(match)
            else:
                self._add_word(match)

    def _add(self, word: str, start: int, end: int, figure: StatedFigure | None = None) -> Token:
        token = Token(word, "" if figure else stem(word), start, end, figure)
        token.clause, token.segment = self._clause, self._segment
        self.tokens.append(token)
        return token

    def _add_figure(self, figure: StatedFigure) -> None:
        if not self.tokens or self.tokens[-1].figure is not figure:
            self._add(self._text[figure.start : figure.end], figure.start, figure.end, figure)
        self._is_first = False

    def _pass_mark(self, match: re.Match[str]) -> None:
        mark = match.group()
        if mark == "." and self.tokens and self.tokens[-1].text in _COMPANY_FORMS:
            return
        is_row = mark == ":" and _ROW_FIGURE.match(self._text, match.end())
        self._clause += mark in _BREAKS and not is_row
        self._segment += mark != "/"
        self._is_first = mark in ".!?"

    def _add_word(self, match: re.Match[str]) -> None:
        lower = match.group().lower().replace("’", "'")
        is_governed = lower == "that" and self.tokens and self.tokens[-1].text in _PREPOSITIONS  # "of that loan"
        is_dated = self._text[match.end() :].lstrip()[:1].isdigit()  # "since 2006"
        is_join = lower in _JOINS and not (is_dated or is_governed)
        if is_join or lower in {"and", "or"}:
            self._segment += 1
            self._clause += is_join
        is_denied = lower.endswith("n't")
        if is_denied:
            lower = {"can't": "can", "won't": "will"}.get(lower, lower[:-3])
        token = self._add(lower, match.start(), match.end())
        is_known_word = is_known(token.stem) or token.stem in _GROUPS_OF or lower in _COMMON
        token.is_name = match[0][0].isupper() and lower not in _DETERMINERS and not (self._is_first and is_known_word)
        token.is_content = not any(first <= match.start() < last for first, last in self._limiting)
        if is_denied:
            self._add("not", match.start(), match.end())
        self._is_first = False


def _plain(text: str) -> str:
    """The text without Markdown and contractions, with prefixes such as `non-` joined to their words."""
    text = re.sub(r"\[([^\[\]\n]+)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"[*`#]+|__|(?<!\w)_|_(?!\w)", "", text)
    text = _BALANCE_DATE.sub("date", text)
    text = _CONTRACTED.sub(lambda match: f"{match[1]} {look_up(_FULL, match[2])}", text)
    text = re.sub(r"\b([ldnsjcm]|qu)['’](?=[a-zà-ÿ])", r"\1e ", text)
    text = re.sub(r"\b(non|un|pre|re|ex|co|anti|sub)[-‐‑](?=[a-z])", r"\1", text, flags=re.IGNORECASE)
    text = _HYPHEN.sub(_part_compound, text)
    return " ".join(text.split()) if "\t" not in text else text


_HYPHEN: Final = re.compile(r"\b(?!(?:dai|week|month|quarter|year)ly)[a-z]{2,}ly[-‐‑][a-z]{4,}\b(?![-‐‑])")


def _part_compound(match: re.Match[str]) -> str:
    """The words of a compound, each by itself, unless the vocabulary has it: "fully-diluted"."""
    return match[0] if is_known(stem(match[0])) else re.sub(r"\W", " ", match[0])


def _tell_offices(tokens: Sequence[Token]) -> None:
    """Determine the role of each word: limiting, joining, governing, acting, or having content of its own."""
    preposition, since = "", 9
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        if before is not None and (before.segment != token.segment or before.is_verb):
            preposition, since = "", 9
        if token.text in _ARTICLES and before is not None and (before.is_content or before.figure is not None):
            preposition, since = "", 9  # "in January 2024 the municipality": another thing begins
        token.preposition = preposition if since < 4 else ""
        since += 1
        if token.figure is not None:
            continue
        if token.text in _PREPOSITIONS:
            preposition, since = token.text, 0
            token.limit = _limit(tokens, at) if token.is_content else None
            token.is_content = False
            continue
        token.limit = _limit(tokens, at) if token.is_content else None
        token.is_verb = _is_verb(tokens, at)
        token.is_content = token.is_content and _says_something(token, before)


def _says_something(token: Token, before: Token | None) -> bool:
    """Whether a word has content of its own: it does not limit, help or join anything."""
    is_form = (
        token.text.rstrip(".") in _COMPANY_FORMS
        and before is not None
        and (before.is_name or before.figure is not None)
    )
    is_free = token.stem in FREE_VERBS or token.text in FREE
    is_small = token.text in _DETERMINERS | _TITLES or token.text in _AUXILIARY or len(token.text) < 2
    limits_alone = token.limit is not None and token.limit not in _SAYING
    return not (is_small or limits_alone or is_form or (is_free and not token.is_name))


def _limit(tokens: Sequence[Token], at: int) -> Limit | None:
    """How a word limits a statement; None if it does not, or if it names a thing here: "its plan", "an offer"."""
    token = tokens[at]
    if token.text in {"like", "condition", "conditions"}:
        return None
    if token.text in {"both", "beide", "beiden"}:
        return None if any(other.text in {"and", "und"} for other in tokens[at:]) else Limit.ALL
    if token.text in _NEGATIONS:
        return Limit.NEGATION
    if token.is_name and token.text not in {"no", "not", "never", "none", "kein", "keine"} and at:
        return None
    kind = _LIMITS.get(token.text) or _LIMIT_STEMS.get(token.stem if token.text not in _EXACT else "")
    if kind is Limit.ALL and token.text.endswith(("ed", "es", "ing", "ion")):
        return None  # "completed" is done, and not all of it
    if kind and token.stem in _SOFT and not token.text.endswith("ly"):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if following not in {"to", "that"}:
            return None
    return kind


def is_past(token: Token) -> bool:
    """Whether a word has the form of a verb of the past: "rose", "was sold"."""
    return (
        token.text.endswith("ed")
        or token.text in _PARTICIPLES
        or (token.text != token.stem and not token.stem.startswith(token.text[:3]))
    )


def _is_verb(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    before = tokens[at - 1].text if at else ""
    if token.is_name or token.text.endswith(
        ("tion", "ment", "tions", "ments", "ees", "ers", "ors", "er", "or", "ee", "ly")
    ):
        return False
    is_acting = token.stem in ACTING or token.stem in CHANGING
    is_going_on = is_acting and token.text.endswith("ing") and before not in _DETERMINERS
    is_helped = before in _AUXILIARY and not token.text.endswith("s") and (is_acting or before != "to")
    is_present = (
        is_acting
        and token.text.endswith("s")
        and before not in (_DETERMINERS - _JOINS - load_words("pronouns")) | _PREPOSITIONS
    )
    return token.text not in _AUXILIARY and (is_past(token) or is_helped or is_present or is_going_on)


def _part_clauses(tokens: Sequence[Token]) -> None:
    """Begin a new clause at `and` and `or` if a subject with its own verb, or a finite verb, follows."""
    shift = 0
    for at, token in enumerate(tokens):
        own = token.clause
        token.clause += shift
        if token.text not in {"and", "or"}:
            continue
        ahead = [other for other in tokens[at + 1 : at + 1 + _AHEAD] if other.clause == own]
        behind = [other for other in tokens[:at] if other.clause == token.clause]
        if any(map(may_act, behind)) and _opens_clause(ahead):
            shift += 1
            token.clause += 1


def _opens_clause(ahead: Sequence[Token]) -> bool:
    """Whether words behind a conjunction begin with a finite verb, or with a subject that has a verb."""
    verb = next((n for n, other in enumerate(ahead) if may_act(other) and other.text not in {"to", "not"}), None)
    if verb is None or ahead[0].figure is not None:
        return False
    is_finite = ahead[0].text in _BE | _AUXILIARY or not ahead[0].text.endswith("ing")
    return is_finite if verb == 0 else any(other.is_content or other.text in _DETERMINERS for other in ahead[:verb])


def may_act(token: Token) -> bool:
    """Whether a word is a verb or helps one."""
    return token.is_verb or token.text in _BE or token.text in _AUXILIARY
