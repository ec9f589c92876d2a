"""A sentence as what it says: its words in order with what they govern, its figures, and what limits it.

Nothing here knows another sentence; `check` holds two against each other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from tasks.language.words import (
    ACTING,
    CHANGING,
    FREE,
    FREE_VERBS,
    in_one_word,
    is_known,
    limits,
    stem,
    stems_of,
    words_of,
)
from tasks.statements.figures import StatedFigure, figures, limit_words
from tasks.statements.nearness import is_known as is_near_something

NEGATION: Final = "negation"
EXPECTED, POSSIBLE, REQUIRED = "expected", "possible", "required"
SUPPOSED, CLAIMED, WANTED = "supposed", "claimed", "wanted"
CONDITION: Final = "condition"
ALL, MOST, SOME, FEW, ONLY, ANY = "all", "most", "some", "few", "only", "any"

_EXACT: Final = words_of("exact")
OPERATORS: Final = {
    word if word in _EXACT else stem(word): kind
    for kind, words in reversed(list(limits().items()))
    for word in words.split()
}
"""What limits a statement: the kind of each word, by its stem, or by itself where its forms differ in meaning."""
_COMPANY_FORMS: Final = frozenset({"incorporated", "limited", "chartered"})
_SOFT: Final = stems_of("soft")
"""Words that are as often a thing as a limit; as a thing they are content too."""

_PREPOSITIONS: Final = words_of("prepositions")
_DETERMINERS: Final = words_of("determiners")
_BE: Final = words_of("be")
_AUXILIARY: Final = _BE | words_of("auxiliary")
_BEFORE_VERBS: Final = frozenset({"to", "will", "shall", "may", "must", "can", "not"})
_PRONOUNS: Final = words_of("pronouns")
_TOKEN: Final = re.compile(r"[^\W\d_](?:[\w]|[’'](?=\w)|[&](?=\w)|\.(?=[A-Za-z]\.))*|\d[\w]*|[;:,.()—–?!\"“”]|\t|\|")
_CONTRACTED: Final = re.compile(r"\b(we|you|they|I|it|he|she)[’'](ll|ve|re|d)\b", re.IGNORECASE)
_FULL: Final = {"ll": "will", "ve": "have", "re": "are", "d": "would"}
_STAYING: Final = frozenset({"remain", "remains", "remained", "stay", "stays", "stayed"})
_NEAR: Final = 6
"""Words between two verbs of one subject; a verb farther in front is one of a clause inside the other."""
_BREAKS: Final = frozenset(";:—–()?!")
_JOINS: Final = words_of("joins")
_SEGMENTS: Final = words_of("segments")
_PARTICIPLES: Final = words_of("participles")


@dataclass(slots=True)
class Token:
    """A word or a figure of a sentence. `clause` and `segment` count from 0; `preposition` governs it."""

    text: str
    stem: str
    start: int
    end: int
    figure: StatedFigure | None = None
    is_name: bool = False
    clause: int = 0
    segment: int = 0
    preposition: str = ""
    preposition_at: int = -1
    operator: str = ""
    is_content: bool = True
    is_limit: bool = False
    """A part of a figure's limit: `at least`."""
    is_verb: bool = False
    is_passive: bool = False


@dataclass(slots=True)
class Sentence:
    """A sentence read. `text` has its phrases in one word; `tokens` are its words and figures in order."""

    original: str
    text: str
    tokens: list[Token]
    figures: list[int] = field(default_factory=list)
    content: list[int] = field(default_factory=list)
    has_respectively: bool = False
    all_stems: frozenset[str] = frozenset()

    @property
    def stems(self) -> frozenset[str]:
        """What the sentence is about, for finding it."""
        return frozenset(self.tokens[at].stem for at in self.content)


@lru_cache(maxsize=4096)
def read(original: str) -> Sentence:
    """A sentence, or a table's row that `tables` has put into words."""
    text = in_one_word(_plain(original))
    found = figures(text)
    tokens: list[Token] = []
    at_start = True
    clause = segment = 0
    position = 0
    spans = [(figure.start, figure.end, figure) for figure in found]
    limits = [span for figure in found if (span := limit_words(text, figure))]
    index = 0
    for match in _TOKEN.finditer(text):
        while index < len(spans) and spans[index][1] <= match.start():
            index += 1
        if index < len(spans) and match.start() >= spans[index][0]:
            if position <= index:
                figure = spans[index][2]
                tokens.append(
                    Token(
                        text[figure.start : figure.end],
                        "",
                        figure.start,
                        figure.end,
                        figure,
                        clause=clause,
                        segment=segment,
                    )
                )
                position = index + 1
                at_start = False
            continue
        word = match.group()
        lower = word.lower().replace("’", "'")
        if lower in _BREAKS or lower in {",", '"', "“", "”", "\t", "|"}:
            if lower in _BREAKS or (lower in {'"', "”"} and text.endswith((",", ".", "?", "!"), 0, match.start())):
                clause += 1
            if lower in _BREAKS or lower in {",", "\t", "|"}:
                segment += 1
            continue
        if lower in _SEGMENTS:
            segment += 1
        if lower == "so" and text[max(match.start() - 9, 0) : match.start()].rstrip().endswith(","):
            clause += 1
        is_claim = lower == "that" and any(
            other.clause == clause and other.figure is None and OPERATORS.get(stem(other.text)) in {CLAIMED, NEGATION}
            for other in tokens
        )
        is_governed = lower == "that" and bool(tokens) and stem(tokens[-1].text) in OPERATORS
        if lower in _JOINS and not (is_claim or is_governed):
            clause += 1
        contracted = lower.endswith("n't") and lower != "n't"
        if contracted:
            lower = lower[:-3] if lower not in {"can't", "won't"} else {"can't": "can", "won't": "will"}[lower]
        token = Token(lower, stem(lower), match.start(), match.end(), clause=clause, segment=segment)
        token.is_name = (
            word[0].isupper()
            and lower not in _DETERMINERS
            and not (at_start and (is_known(token.stem) or lower in FREE or is_near_something(token.stem)))
        )
        token.is_limit = any(start <= match.start() < end for start, end in limits)
        tokens.append(token)
        if contracted:
            tokens.append(Token("not", "not", match.start(), match.end(), clause=clause, segment=segment))
        at_start = False
    sentence = Sentence(original, text, tokens)
    sentence.has_respectively = any(token.text == "respectively" for token in tokens)
    sentence.all_stems = frozenset(token.stem for token in tokens)
    _govern(sentence)
    _split_clauses(sentence)
    return sentence


def _plain(text: str) -> str:
    """Without Markdown's marks and contractions, hyphens that join words as spaces; `non-` stays with its word."""
    text = re.sub(r"\[([^\[\]\n]+)\]\([^()\s]*\)", r"\1", text)
    text = re.sub(r"[*`#]+|__|(?<!\w)_|_(?!\w)", "", text)
    text = _CONTRACTED.sub(lambda match: f"{match[1]} {_FULL[match[2].lower()]}", text)
    text = re.sub(r"\b(non|un|pre|re|ex|co|anti|sub)[-‐‑](?=[a-z])", r"\1", text, flags=re.IGNORECASE)
    return " ".join(text.split()) if "\t" not in text else text


def _govern(sentence: Sentence) -> None:
    """Tell content from what only joins, verbs from things, and which preposition governs what."""
    preposition, since, where = "", 9, -1
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        if token.figure is not None:
            token.preposition, token.preposition_at = (preposition, where) if since < 4 else ("", -1)
            sentence.figures.append(at)
            since += 1
            continue
        if token.is_limit:
            token.is_content = False
            continue
        token.operator = _operator(tokens, at)
        if token.text in _COMPANY_FORMS and token.is_name and before and before.is_name:
            token.stem += "."  # says nothing of where a company is incorporated
        if before is not None and before.segment != token.segment and token.text not in {"and", "or"}:
            preposition, since = "", 9
        if token.text in _PREPOSITIONS:
            preposition, since, where = token.text, 0, at
            token.is_content = False
            continue
        if before is not None and before.figure is not None and before.figure.is_date:
            preposition, since = "", 9
        token.preposition, token.preposition_at = (preposition, where) if since < 4 else ("", -1)
        since += 1
        is_free = (token.stem in FREE_VERBS and not _is_adjective(tokens, at)) or token.text in FREE
        if token.text == "end" and before is not None and before.text in _BEFORE_VERBS:
            is_free = False
        token.is_content = not (
            token.operator
            or token.text in _DETERMINERS
            or token.text in _AUXILIARY
            or (is_free and not token.is_name)
            or len(token.text) < 2
        )
        is_article = token.text in {"the", "a", "an", "its", "their", "our"}
        begins_anew = before is not None and (before.figure is not None or before.is_content)
        if token.text in _DETERMINERS and (begins_anew or not is_article):
            preposition, since = "", 9
        _tell_verb(tokens, at)
        if token.is_verb:
            preposition, since = "", 9
    sentence.content = [at for at, token in enumerate(tokens) if token.is_content and token.figure is None]


def _operator(tokens: Sequence[Token], at: int) -> str:
    """The kind of limit that a word is; empty for a word that is none, or a thing here and no limit."""
    token, before = tokens[at], tokens[at - 1] if at else None
    key = token.text if token.text in _EXACT else token.stem
    operator = OPERATORS.get(token.text, "") or OPERATORS.get(key, "")
    if token.text == "may" and token.is_name and before and before.text in {"in", "of", "since", "until", "by"}:
        return ""
    if operator == ALL and token.text.endswith(("ed", "es", "ing", "ion")):
        return ""  # "completed" is done, and not all of it
    if operator and token.stem in _SOFT and not token.text.endswith("ly") and token.text not in {"guides", "guided"}:
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.text.endswith(("ment", "ments", "tion", "tions")) or following not in {"to", "that"}:
            return ""
    return operator


def _tell_verb(tokens: Sequence[Token], at: int) -> None:
    """Tell whether a word is a verb here, and whether it is in the passive voice."""
    token, before = tokens[at], tokens[at - 1] if at else None
    following_token = tokens[at + 1] if at + 1 < len(tokens) else None
    may_be = _may_be_verb(token, before, tokens[at - 2] if at > 1 else None, following_token)
    if not (token.stem in ACTING or token.stem in CHANGING or may_be):
        return
    previous = [other.text for other in tokens[max(at - 4, 0) : at]]
    finite = token.text.endswith(("ed", "ing", "es")) or token.text in _PARTICIPLES or _is_irregular(token)
    helped = bool(previous) and previous[-1] in _AUXILIARY
    is_governed = before is not None and (before.operator == CONDITION or before.text in _PREPOSITIONS - {"by"})
    is_attribute = is_governed and not token.text.endswith("ing")
    finite = finite and not (is_attribute and following_token is not None and following_token.is_name)
    token.is_verb = (
        not token.is_name
        and (finite or helped or (token.text.endswith("s") and token.stem in ACTING))
        and not token.text.endswith(("tion", "ment", "tions", "ments", "ees", "ers", "ors", "er", "or", "ee"))
    )
    ends = token.text.endswith("ed") or token.text in _PARTICIPLES or _is_irregular(token)
    following = tokens[at + 1].text if at + 2 < len(tokens) and tokens[at + 2].figure is None else ""
    be_before = any(word in _BE or word in _STAYING for word in previous)
    token.is_passive = token.is_verb and ends and ((be_before and not token.text.endswith("ing")) or following == "by")


def _is_adjective(tokens: Sequence[Token], at: int) -> bool:
    """Whether a participle stands before its thing, behind no subject: `2023 reported sales`."""
    if not tokens[at].text.endswith("ed") or at + 1 >= len(tokens):
        return False
    before, following = tokens[at - 1] if at else None, tokens[at + 1]
    is_behind_subject = before is not None and (before.figure is None and before.text not in _PREPOSITIONS)
    return (
        not is_behind_subject
        and following.figure is None
        and following.text not in _DETERMINERS
        and following.text not in _PREPOSITIONS
    )


_HELPING: Final = words_of("helping")


def _helping(before_that: Token | None) -> frozenset[str]:
    """The words behind which a verb stands; behind `is not` stands none."""
    return _HELPING - {"not"} if before_that is not None and before_that.text in _BE else _HELPING


def _may_be_verb(token: Token, before: Token | None, before_that: Token | None, following: Token | None) -> bool:
    """Whether a word that no list has is a verb by its form and its neighbours."""
    if token.is_name or not token.is_content:
        return False
    if before is not None and before.text in _helping(before_that) and not token.text.endswith(("ly", "s")):
        return True
    is_past = token.text.endswith("ed") or token.text in _PARTICIPLES or _is_irregular(token)
    after = (
        following is None
        or following.figure is not None
        or following.text in _DETERMINERS
        or following.text in _PREPOSITIONS
        or following.is_name
    )
    return is_past and (after or (before is not None and before.text in _BE))


def _is_irregular(token: Token) -> bool:
    return token.text.isalpha() and not token.stem.startswith(token.text[:3]) and token.text != token.stem


def _split_clauses(sentence: Sentence) -> None:
    """Begin a clause at `and`, `or` and `,` where a subject and a verb of its own follow."""
    tokens = sentence.tokens
    shift = 0
    for at, token in enumerate(tokens):
        token.clause += shift
        if token.text not in {"and", "or"}:
            continue
        ahead = tokens[at + 1 : at + 9]
        verb = next(
            (
                place
                for place, other in enumerate(ahead)
                if other.is_verb or other.text in _BE or other.text in {"has", "have", "had", "will", "shall", "may"}
            ),
            None,
        )
        nouns = [
            other for other in ahead[: verb or 0] if (other.is_content and not other.is_verb) or other.text in _PRONOUNS
        ]
        behind = any(other.is_verb or other.text in _AUXILIARY for other in tokens[max(at - 25, 0) : at])
        at_once = bool(ahead) and (
            ahead[0].text in _AUXILIARY - {"to", "not"}
            or (ahead[0].is_verb and not ahead[0].text.endswith("ing"))
            or (ahead[0].operator in {EXPECTED, CLAIMED, WANTED} and ahead[0].text.endswith(("s", "ed")))
        )
        if behind and ((verb and nouns) or at_once):
            shift += 1
            token.clause += 1


def subject_of(sentence: Sentence, verb: int) -> list[int]:
    """The content in front of a verb in its clause, without what a preposition other than `of` governs."""
    clause = sentence.tokens[verb].clause
    first = verb
    while first and sentence.tokens[first - 1].clause == clause:
        first -= 1
    others = [at for at in range(first, verb) if sentence.tokens[at].is_verb]
    if others and sentence.tokens[verb].text.endswith("ing") and sentence.tokens[verb - 1].text not in _BE:
        return subject_of(sentence, others[0])
    first = others[-1] + 1 if others and verb - others[-1] <= _NEAR else first
    if sentence.tokens[first].text in {"and", "or"} and not any(
        _is_thing(token) or token.text in _PRONOUNS for token in sentence.tokens[first:verb]
    ):
        earlier = [at for at in range(first) if sentence.tokens[at].is_verb]
        return subject_of(sentence, earlier[-1]) if earlier else []
    first = _behind_date(sentence, first, verb)
    return [
        at
        for at in range(first, verb)
        if _is_thing(sentence.tokens[at]) and sentence.tokens[at].preposition in {"", "of", "by"}
    ]


def _behind_date(sentence: Sentence, first: int, verb: int) -> int:
    """Where the subject may begin: behind a date that stands in front of it and ends with a comma."""
    tokens = sentence.tokens
    for at in range(first, verb - 1):
        figure = tokens[at].figure
        if figure is not None and figure.is_date and tokens[at + 1].segment != tokens[at].segment:
            return at + 1
    return first


def object_of(sentence: Sentence, verb: int, preposition: str = "") -> list[int]:
    """The content behind a verb in its clause up to the next verb, governed by that preposition or by none."""
    tokens = sentence.tokens
    result = []
    for at in range(verb + 1, len(tokens)):
        token = tokens[at]
        if token.clause != tokens[verb].clause or (token.is_verb and at > verb + 1):
            break
        if not _is_thing(token):
            continue
        own = token.preposition if token.preposition_at > verb else ""
        if own == preposition or (own == "of" and not preposition):
            result.append(at)
    return result


def _is_thing(token: Token) -> bool:
    return token.figure is None and token.is_content and not token.is_verb
