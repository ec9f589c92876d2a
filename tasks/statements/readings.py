"""The sentences that a source's sentence says in other forms: with its pronouns and short names written out, and each
clause that it holds by itself.

`It rejected the proposal.` behind `The board met in May.` is `The board rejected the proposal.`; `Ravel, which is based
in Lyon, had sales of €92 million.` is `Ravel is based in Lyon.` and `Ravel had sales of €92 million.` Where it is not
certain whom a pronoun names, nothing is written out.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tasks.language.words import stem, stems_of, words_of
from tasks.statements.converse import from_the_other_side
from tasks.statements.periods import with_year_before
from tasks.statements.reading import CONDITION, NEGATION, Sentence, Token, read
from tasks.statements.tables import SourceSentence

_FINITE: Final = words_of("be") - {"been", "being", "be"} | words_of("auxiliary") - words_of("be") - {"to", "not"}
_READERS: Final = stems_of("readers")
_OWNERS: Final = re.compile(r"\baccount (?:owner|holder)s?\b", re.IGNORECASE)
_YOU: Final = re.compile(r"\b(?:(you)(?:(['’](?:re|ve|ll|d))\b)?|(your)|(yours))\b", re.IGNORECASE)
_CONTRACTED: Final = {"re": " are", "ve": " have", "ll": " will", "d": " would"}
_PRONOUN: Final = re.compile(
    r"^((?:(?:In|At|On|For|During|Since|By) [^,;]{2,60}, )?)(It|They|He|She|Its|Their|His|Her)\b", re.IGNORECASE
)
_SAME_THING: Final = {"it": re.compile(r"\b(it|its)\b"), "they": re.compile(r"\b(they|their|them)\b")}
_LEADING: Final = re.compile(
    r"^(?:(?:In|At|On|For|During|Since|By|Following|After|Under) [^,;]{2,80}, )", re.IGNORECASE
)
# Bounded, as a search begins at each capital of a run.
_WORD: Final = r"[A-Z][\w’'&.-]{0,40}[\w&]"
_NAME: Final = rf"{_WORD}(?: (?:{_WORD}|&|of|de)){{0,8}} {_WORD}|{_WORD}"
_PERSON: Final = re.compile(
    r"\b(?:(?:Mr|Ms|Mrs|Dr|Sir)\.? )?[A-Z][a-z’'-]+ (?:[A-Z]\. |[A-Z][a-z]+ )?[A-Z][a-z’'-]+\b"
    r"|\b(?:Mr|Ms|Mrs|Dr)\.? [A-Z][a-z’'-]+\b"
)
_RELATIVE: Final = re.compile(rf"(?P<name>(?:[Tt]he )?(?:{_NAME})), (?:who|which) (?P<clause>[^,;:]+?)(?P<end>, |\.?$)")
_APPOSITION: Final = re.compile(
    rf"(?P<name>{_NAME}), (?P<what>(?:an?|the|its|our|their|one of) [^,;:]{{3,90}}?)(?P<end>, (?!and\b|or\b)|\.?$)"
)
_TITLE: Final = re.compile(
    rf"(?P<before>\b(?:[Ii]ts|[Tt]he|[Oo]ur|[Tt]heir) [a-z][a-z ]{{3,50}}), (?P<name>{_NAME}), (?P<rest>[a-z])"
)
_GAP: Final = re.compile(
    r"(?P<first>[^,;]{2,60}?) "
    r"(?P<verb>rose|fell|grew|increased|decreased|declined|dropped|climbed|was|were|is|are|had|has|reached) "
    r"(?P<figures>(?:by )?[^A-Za-z\d]*\d[^;]*?),? and (?P<other>[^\d,;]{2,60}?) (?P<rest>(?:by )?[$€£¥]?\d[^;]*)"
)
_PARTY: Final = re.compile(rf"({_NAME})(?: plc| gmbh)?,? \(the [“\"]([A-Z][a-z]+(?: [A-Z][a-z]+)?)[”\"]\)")
_ALL_SHARES: Final = re.compile(
    r"\b(acquir(?:e|es|ed|ing)|purchas(?:e|es|ed|ing)|buy|buys|bought) (?:all|100 ?%|100 percent) (?:of )?(?:the )?"
    r"(?:issued )?(?:and )?(?:outstanding )?"
    r"(?:shares|common stock|capital stock|share capital|stock|equity(?: interests?)?)"
    r"(?: [^,.;]{0,40}?)? (?:of|in) "
)
_REDUCED: Final = re.compile(
    r"(?P<what>\b(?:the|an?|its|our|their|two|three) [^,;:.]{3,80}?) "
    r"(?P<said>[a-z]{4,}ed (?:in|on|by|at|from|for|with|under) [^,;]+)"
)
_DEPENDENT: Final = re.compile(
    r"(?:provided|except|unless|if|or|save|however|only|subject|but only|and only|which|who|where|when)\b",
    re.IGNORECASE,
)
_LEADING_CONDITIONS: Final = frozenset(("if", "when", "unless", "while"))
_PERSONS: Final = {"he": "m", "his": "m", "she": "f", "her": "f"}
_ITEM: Final = re.compile(r"\s*(?:[-*•–▪]|\(?[a-z0-9ivx]{1,3}[.)])\s+")
_LIST: Final = 15
"""Items of a list that stand between one and what leads in to it."""
_BACK: Final = 3
"""Sentences before one among which its pronoun's name is looked for, each by a pronoun of its own."""
_LONGEST: Final = 8
"""Words of a subject that a pronoun may stand for."""


def readings(stated: Sentence, sentences: Sequence[SourceSentence], place: int, text: str) -> Iterator[str]:
    """The forms in which a source's sentence may say what is stated, each a sentence of its own.

    Args:
        stated: the statement; its words for the source's readers are put for `you`.
        sentences: those of the source, in order.
        place: the sentence's place among them.
        text: the source, in which full names stand.
    """
    plain = sentences[place].text
    whole = _led_in(sentences, place) or _resolved(sentences, place)
    whole = with_full_names(stated.text, with_year_before(whole), text)
    whole = _with_parties(stated, whole, text)
    whole = _with_readers(stated, whole)
    if whole != plain:
        yield whole
    yield from from_the_other_side(stated, whole)
    for part in _parts(whole):
        yield part
        yield from from_the_other_side(stated, part)


def begins_with_pronoun(text: str) -> bool:
    """Whether a sentence speaks of what the one before it names."""
    return _PRONOUN.match(text) is not None


def _led_in(sentences: Sequence[SourceSentence], place: int) -> str:
    """An item of a list behind the words that lead in to it: `You may not:` and `* Sell them.`; empty for no item."""
    item = _ITEM.match(sentences[place].original)
    if item is None:
        return ""
    for at in range(place - 1, max(place - 1 - _LIST, -1), -1):
        before = sentences[at].text.rstrip()
        if before.endswith(":"):
            rest = sentences[place].original[item.end() :]
            return f"{before[:-1]} {rest[:1].lower()}{rest[1:]}"
        if not _ITEM.match(sentences[at].original):
            return ""
    return ""


def _with_readers(stated: Sentence, source: str) -> str:
    """With the statement's word for whom the source addresses: `customers` for `you`."""
    if not _YOU.search(source):
        return source
    owners = _OWNERS.search(stated.text)
    word = owners[0].lower() if owners else ""
    word = word or next((token.text for token in stated.tokens if token.stem in _READERS and token.is_content), "")
    if not word or any(token.stem == stem(word.split()[-1]) for token in read(source).tokens):
        return source

    def _written(match: re.Match[str]) -> str:
        if match[1]:
            return word + (_CONTRACTED[match[2][1:].lower()] if match[2] else "")
        return f"{word.rstrip('s')}s'"

    return _YOU.sub(_written, source)


def _resolved(sentences: Sequence[SourceSentence], place: int, back: int = _BACK) -> str:
    """The sentence with what its first pronoun stands for."""
    text = sentences[place].text
    match = _PRONOUN.match(text)
    if match is None or not place or not back:
        return text
    pronoun = match[2].lower()
    if pronoun in _PERSONS:
        name = _person(_before(sentences, place, pronoun, back))
    else:
        earlier = (_resolved(sentences, at, back - 1) for at in range(place - 1, max(place - 1 - back, -1), -1))
        name = next((subject for before in earlier if (subject := _subject(before, pronoun)) is not None), "")
    if not name:
        return text
    written = f"{name}'s" if pronoun in {"its", "their", "his", "her"} else name
    rest = text[match.end() :]
    same = _SAME_THING.get("it" if pronoun in {"it", "its"} else "they" if pronoun in {"they", "their"} else "")
    if same is not None:
        rest = same.sub(lambda other: f"{name}'s" if other[1] in {"its", "their"} else name, rest)
    return f"{match[1]}{written}{rest}"


def _before(sentences: Sequence[SourceSentence], place: int, pronoun: str, back: int) -> str:
    """The sentence before, where `he` of another sex is no name that `she` could stand for."""
    match = _PRONOUN.match(sentences[place - 1].text)
    if match is not None and _PERSONS.get(match[2].lower(), _PERSONS[pronoun]) != _PERSONS[pronoun]:
        return sentences[place - 1].text
    return _resolved(sentences, place - 1, back - 1)


def _person(before: str) -> str:
    """The one person that a sentence names; empty where there are more, or none."""
    found = {match[0] for match in _PERSON.finditer(before)}
    return found.pop() if len(found) == 1 else ""


def _subject(before: str, pronoun: str) -> str | None:
    """The subject of a sentence, where it alone may be meant by a pronoun behind it; None where nothing in it may be.

    Empty where that is not certain.
    """
    leading = _LEADING.match(before)
    text = before[leading.end() :] if leading else before
    sentence = read(text)
    verb = next((at for at, token in enumerate(sentence.tokens) if _is_finite(token)), None)
    if not verb or verb > _LONGEST:
        return ""
    if any(token.text in _PRONOUNS for token in sentence.tokens[:verb]):
        return (
            None
            if {token.text for token in sentence.tokens[:verb]} <= {"none", "both", "all", "these", "those"}
            else ""
        )
    if any(token.operator for token in sentence.tokens[:verb]):
        return ""
    subject = sentence.text[: sentence.tokens[verb].start].partition(",")[0].strip()
    if sentence.tokens[0].figure is not None:
        return None if pronoun in {"it", "its"} else ""
    others = [
        token
        for token in sentence.tokens[verb:]
        if token.is_name and token.is_content and token.preposition not in {"in", "at", "on", "for"}
    ]
    is_many = bool(re.search(r"\band\b|&", subject)) or subject.rstrip("’'").endswith("s")
    if is_many and pronoun in {"it", "its"} and not others:
        return None
    return "" if others or is_many != (pronoun in {"they", "their"}) else subject


_PRONOUNS: Final = words_of("pronouns") | {"this", "these", "those", "that", "there", "none", "both"}


def _is_finite(token: Token) -> bool:
    return (token.is_verb and not token.text.endswith("ing")) or token.text in _FINITE


def with_full_names(stated: str, source: str, text: str) -> str:
    """With the full names of the statement in place of their short forms: `Karin Stoltz` for `Ms Stoltz`.

    A short form is a word of a name that the text has in full, and that is part of no other name there.
    """
    source = _with_last_names(stated, source, text)
    for match in re.finditer(rf"{_WORD}(?: (?:{_WORD}|&)){{1,8}}", stated):
        name = re.sub(r"[’']s$", "", match[0])
        words = name.split()
        if name in source or name not in text:
            continue
        for word in (words[-1], words[0]):
            pattern = rf"(?:\b(?:Mr|Ms|Mrs|Dr)\.? )?(?<![\w&]){re.escape(word)}(?![\w&])"
            if re.search(pattern, source) and _is_its_alone(word, name, text, is_last=word == words[-1]):
                source = re.sub(pattern, name, source)
                break
    return source


def _with_last_names(stated: str, source: str, text: str) -> str:
    """With the last name, that the statement has, behind the first name by which the source goes on: `Ruth Porat`."""
    for last in dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b", stated)):
        if last in source:
            continue
        firsts = _first_names(last, text)
        if len(firsts) == 1:
            (first,) = firsts
            if _is_its_alone(first, f"{first} {last}", text, is_last=False):
                source = re.sub(rf"\b{first}\b(?! {last})", f"{first} {last}", source)
    return source


@lru_cache(maxsize=1024)
def _first_names(last: str, text: str) -> frozenset[str]:
    """The first names that a text has before a last name."""
    return frozenset(re.findall(rf"\b([A-Z][a-z]+) {last}\b", text)) - _ADDRESSES


def _with_parties(stated: Sentence, source: str, text: str) -> str:
    """With the names of parties that the statement names and a contract calls otherwise: `Acme Ltd (the "Tenant")`."""
    for name, term in _parties(text):
        first = name.split()[0]
        if re.search(rf"(?<!\w){re.escape(first)}(?!\w)", stated.text) and term not in stated.text:
            source = re.sub(rf"\b(?:[Tt]he )?{re.escape(term)}(?!\w)", name, source)
    return source


@lru_cache(maxsize=64)
def _parties(text: str) -> tuple[tuple[str, str], ...]:
    """The names of a contract's parties, each with the term that stands for it from there on."""
    return tuple((match[1], match[2]) for match in _PARTY.finditer(text))


@lru_cache(maxsize=256)
def _is_its_alone(word: str, name: str, text: str, *, is_last: bool) -> bool:
    """Whether a word is the last, or the first, of this name alone wherever a text has it."""
    own = rf"(?<![\w&]){re.escape(word)}(?![\w&])"
    pattern = rf"({_WORD}) {own}" if is_last else rf"{own} ({_WORD})"
    return all(other in name.split() or other.rstrip(".") in _ADDRESSES for other in re.findall(pattern, text))


_ADDRESSES: Final = {
    "Mr",
    "Ms",
    "Mrs",
    "Dr",
    "The",
    "In",
    "At",
    "For",
    "With",
    "By",
    "From",
    "Inc",
    "Corp",
    "Ltd",
    "AG",
    "SE",
}


@lru_cache(maxsize=4096)
def _parts(whole: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in _said_within(whole) if part != whole))


def _said_within(whole: str) -> Iterator[str]:
    """What a sentence says beside or between: its relative clauses, its appositions, itself without these."""
    for pattern in (_RELATIVE, _APPOSITION):
        for match in pattern.finditer(whole):
            name = match["name"]
            said = f"{name} {match['clause']}" if pattern is _RELATIVE else f"{name} is {match['what']}"
            yield said
            rest = whole[match.end() :]
            is_subject = match.start() == 0 or bool(
                re.fullmatch(r"(?:In|On|At|By) [^,]{2,40}, ", whole[: match.start()])
            )
            if rest and is_subject and _begins_with_verb(rest):
                yield f"{whole[: match.start()]}{name} {rest}"
                yield from _joined(f"{name} {rest}")
    for match in _TITLE.finditer(whole):
        yield f"{match['name']} is {match['before']}"
        yield f"{match['before']} {match['name']} {whole[match.start('rest') :]}"
    yield from _joined(whole)
    yield from _independent(whole)
    yield from _reduced(whole)
    if _ALL_SHARES.search(whole):
        yield _ALL_SHARES.sub(r"\1 ", whole)
    gap = _GAP.fullmatch(whole)
    if gap is not None and not any(token.is_verb or token.operator for token in read(gap["other"]).tokens):
        yield f"{gap['other']} {gap['verb']} {gap['rest']}"
        yield f"{gap['first']} {gap['verb']} {gap['figures']}"


def _independent(text: str) -> Iterator[str]:
    """The sentences that a semicolon or a `but` joins, where none of them limits another."""
    parts = [
        part.strip(" ,.")
        for part in re.split(
            r";\s+(?:and |but )?|, but (?=(?:it|we|they|the)\b)|, and (?=(?:it|we|they|he|she)\b)", text
        )
    ]
    if len(parts) < 2 or any(_DEPENDENT.match(part) for part in parts):
        return
    for part in parts:
        tokens = read(part).tokens
        if any(_is_finite(token) for token in tokens[1:]):
            yield part


def _reduced(text: str) -> Iterator[str]:
    """What a participle says of the thing before it: `A plan was announced in May.` of `a plan announced in May`."""
    for match in _REDUCED.finditer(text):
        before = read(text[: match.start()]).tokens
        if any(_is_finite(token) for token in before) and not any(
            _is_finite(token) for token in read(match["what"]).tokens
        ):
            yield f"{match['what']} was {match['said']}"


def _begins_with_verb(rest: str) -> bool:
    tokens = read(rest).tokens
    return bool(tokens) and (_is_finite(tokens[0]) or tokens[0].stem in {"have", "be"})


def coordinated(text: str) -> list[str]:
    """The two statements that an `and` joins, of one subject: `It began in June.` and `It ends in May.`; or the one."""
    behind = next(_behind_and(text), None)
    if behind is None or any(token.operator == CONDITION for token in read(text).tokens):
        return [text]
    subject, joint, start = behind
    first, second = text[:joint].rstrip(" ,"), f"{subject} {text[start:]}"
    return (
        [first, second]
        if all(len(read(part).content) + len(read(part).figures) > 2 for part in (first, second))
        else [text]
    )


def _joined(text: str) -> Iterator[str]:
    """What is said of the subject behind an `and`: `It ends in May.` of `It began in June and ends in May`."""
    yield from (f"{subject} {text[start:]}" for subject, _, start in _behind_and(text))


def _behind_and(text: str) -> Iterator[tuple[str, int, int]]:
    """The subject of a sentence, each `and` behind which something else is said of it, and where that begins."""
    if " and " not in text:
        return
    sentence = read(text)
    tokens = sentence.tokens
    verb = next((at for at, token in enumerate(tokens) if _is_finite(token)), None)
    if not verb or verb > _LONGEST or any(token.operator for token in tokens[: verb + 1]):
        return
    if any(token.operator == NEGATION for token in tokens[:verb]) or tokens[0].text in _LEADING_CONDITIONS:
        return
    is_helped = tokens[verb].text in _FINITE
    subject = sentence.text[: tokens[verb].start].rstrip(" ,")
    for at in range(verb + 1, len(tokens) - 1):
        if tokens[at].text != "and":
            continue
        place = at + 2 if tokens[at + 1].text in {"then", "also"} and at + 2 < len(tokens) else at + 1
        following = tokens[place]
        if following.figure is not None:
            continue
        is_present = following.is_verb and following.text.endswith("s") and not following.text.endswith("ss")
        is_past = following.is_verb and not is_helped and following.text.endswith("ed")
        if following.text in _FINITE or is_present or is_past:
            yield subject, tokens[at].start, following.start
