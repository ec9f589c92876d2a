"""The catalogue of document kinds (`catalogue.toml`), and which of them the words of a line name."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, takewhile
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple

from tasks.language.words import spell_out

_PARTED: Final = re.compile(
    r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2})"
    r"|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
"""Where a word begins inside `CapTable2024FY`."""
_POSSESSIVE: Final = re.compile(r"['’´`](?:(?<=\w.)(?=s\b)|(?<=s.)(?=\s|$)|(?<=\b[dlDL].))")
_ENDING: Final = "(?:e?s|e?n|e)?"
_SHORTEST_WITH_ENDING: Final = 3
"""Letters of a word that may have an ending: "no" and "non" are two words."""
_LETTERS: Final = str.maketrans({"ø": "o", "æ": "a", "ł": "l", "đ": "d", "œ": "o", "ß": "ss"})
_UMLAUT: Final = re.compile("e(?<=[aou]e)")
_BEGINNING: Final = 40
"""Characters at the beginning of a title among which what it is of begins."""
_GAP: Final = r"(?:\w+ ){0,3}"
_SLASH: Final = re.compile(r"[\s/&](?<=[^\W\d_]{3}.)(?:(?<!\s)|(?<=\s)\s*[/&])\s*(?=[^\W\d_]{3})", re.DOTALL)
_SIGNS: Final = "/&'’´`"
_JOINED: Final = re.compile(
    r"\b(?:\w+ ){1,4}?(?P<join>and|und|sowie) (?:\w+ ){0,3}?"
    r"(?:\w+(?P<ending>vertrag|vereinbarung)|(?P<last>agreement|contract|deed))\b"
)
"""A name of two kinds: "loan and security agreement", "Anteilskauf- und Abtretungsvertrag"."""
_STAGE: Final = re.compile(r"\breview (?:copy|draft|version)\b|\bdraft (?:for )?review\b")
"""What a title calls a document that is still to be reviewed."""
_DECISIONS: Final = frozenset({"board_minutes", "board_resolution", "shareholder_resolutions"})
_LASTS: Final = ("vertrag", "vereinbarung", "agreement", "contract", "deed")
"""What such a name ends with: few lines have it, and the pattern takes ten times as long to find out."""


@lru_cache(maxsize=20_000)
def plain_words(text: str) -> str:
    """The words of a text in the normalised form in which names of kinds are compared, with spaces between them."""
    text = unicodedata.normalize("NFC", text).replace("_", " ")
    if any(sign in text for sign in _SIGNS):  # to look for the patterns takes as long as all that follows
        text = _SLASH.sub(" and ", _POSSESSIVE.sub("", text))
    return " ".join(filter(None, map(_plain_word, text.split())))


@lru_cache(maxsize=50_000)
def _plain_word(word: str) -> str:
    """One written word as `plain_words` has it: several words where others begin inside it."""
    is_whole = word.isalpha() and (word.islower() or word.istitle())
    letters = (word if is_whole else _PARTED.sub(" ", word)).casefold()
    if not letters.isascii():
        letters = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFD", letters.translate(_LETTERS)))
    letters = _UMLAUT.sub("", letters)
    return letters if letters.isalnum() else " ".join(re.findall(r"[^\W_]+", letters))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document; `catalogue.toml` says what each attribute means. `wider` is its `is`."""

    id: str
    title: str
    over: bool
    signed: bool
    serial: bool
    wider: str | None
    lesser: tuple[str, ...]
    body: tuple[str, ...]
    beside: tuple[str, ...]
    needs: str
    under: str | None
    against: "Phrases"

    def is_confirmed(self, told: frozenset[str]) -> bool:
        """Whether the telling words of a document include two that documents of this kind must contain."""
        if self.beside:
            return not (told.isdisjoint(self.body) or told.isdisjoint(self.beside))
        return len(told.intersection(self.body)) > 1


class Match(NamedTuple):
    """A kind that words name, and the start and end of its name; `weak` if the body must confirm it."""

    kind: Kind
    start: int
    end: int
    weak: bool

    def fills(self, words: str) -> bool:
        """Whether the words are mainly this name: they begin with it, or it is a large part of them."""
        length = self.end - self.start
        if " " not in words[self.start : self.end]:
            share = 0.5 if self.kind.over and not self.kind.title else 0.25
            is_head = self.end == len(words) and links().isdisjoint(words[: self.start].split()[-1:])
            return length >= share * len(words) or ((self.start == 0 or is_head) and bool(self.kind.title))
        return self.start <= _BEGINNING or length >= 0.3 * len(words)


class Phrases:
    """Phrases to look for in plain words, indexed by the beginning of their rarest word."""

    def __init__(self, phrases: Iterable[tuple[str, Any]]) -> None:
        """`phrases` are pairs: the phrase, and the value that it stands for."""
        listed = [(phrase.split(), meaning) for phrase, meaning in phrases]
        counts = Counter(_word_beginning(word) for words, _ in listed for word in words)
        self._by_word: dict[str, list[tuple[Sequence[str], tuple[str, ...], Any]]] = {}
        for words, meaning in listed:
            parts = sorted({plain for word in words for part in word.split("*") for plain in plain_words(part).split()})
            parts.sort(key=len, reverse=True)
            rarest = min(map(_word_beginning, words), key=lambda start: (not start, counts[start]))
            self._by_word.setdefault(rarest or f"*{parts[0]}", []).append((parts, tuple(words), meaning))
        self._inside = [start[1:] for start in self._by_word if start[0] == "*"]
        self._find_starts = lru_cache(maxsize=20_000)(self._list_starts)

    def _list_starts(self, word: str) -> list[str]:
        """The keys of the phrases that a text with this word may have."""
        starts = [start for length in range(1, _KEY + 1) if (start := word[:length]) in self._by_word]
        return [*starts, *(f"*{part}" for part in self._inside if part in word)]

    def find(self, words: str) -> Iterator[tuple[int, int, Any]]:
        """Where each phrase occurs in plain words, and its value."""
        unique, joined = _list_words(words)
        for start in set(chain.from_iterable(map(self._find_starts, unique))):
            for parts, phrase, meaning in self._by_word[start]:
                if parts[0] in joined and all(map(joined.__contains__, parts)):  # most have not even the longest
                    yield from ((*match.span(), meaning) for match in _pattern(phrase).finditer(words))

    def stand_in(self, words: str) -> bool:
        """Whether any of the phrases occurs in plain words."""
        return next(self.find(words), None) is not None


_KEY: Final = 6


@lru_cache(maxsize=64)  # many lists of phrases are looked for in the same words
def _list_words(words: str) -> tuple[Collection[str], str]:
    """The different words of a text, also in one string, which is soon searched."""
    unique = set(words.split())
    return unique, " ".join(unique)


@cache
def _word_beginning(word: str) -> str:
    """The letters that a word of a phrase begins with in any text; empty if it may begin with others."""
    return plain_words(word.partition("*")[0]).partition(" ")[0][:_KEY]


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a phrase, made when a text may have it: those of all phrases take 0.3 s."""
    parts = [
        _GAP
        if word == "*"
        else r"\w*".join(re.escape(plain_words(part)) for part in word.split("*"))
        + ("" if place == len(words) - 1 else "s? " if len(word) > 4 else " ")
        for place, word in enumerate(words)
    ]
    ending = "" if words[-1].endswith("*") or len(words[-1]) < _SHORTEST_WITH_ENDING else _ENDING
    written = "".join(parts).rstrip() + ("$" if words[-1].endswith("$") else ending + r"\b")
    # Where a letter comes first, it is looked for in a tenth of the time that the beginning of a word takes.
    return re.compile(rf"{written[0]}(?<=\b{written[0]}){written[1:]}" if written[0].isalnum() else rf"\b{written}")


@cache
def read_file(name: str) -> Mapping[str, Any]:
    """The content of one of the data files beside this module."""
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def marks(table: str, name: str) -> Phrases:
    """The phrases of one list in `marks.toml`; `table` is empty for the lists at its top level."""
    content = read_file("marks.toml")
    return Phrases((phrase, True) for phrase in (content[table] if table else content)[name])


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by its id."""
    return {
        name: Kind(
            name,
            entry.get("title", ""),
            entry.get("over", False),
            entry.get("signed", False),
            entry.get("serial", False),
            entry.get("is"),
            tuple(entry.get("lesser", ())),
            tuple(map(plain_words, entry.get("body", ()))),
            tuple(map(plain_words, entry.get("beside", ()))),
            entry.get("needs", "parties" if entry.get("signed") else ""),
            entry.get("under"),
            Phrases((phrase, True) for phrase in entry.get("against", ())),
        )
        for name, entry in read_file("catalogue.toml").items()
    }


def find_telling_words(words: str) -> frozenset[str]:
    """The words that documents of some kind must contain, of those in plain words; they may be parts of words."""
    pattern, beginnings = _telling_words()
    told = chain.from_iterable(map(beginnings.__getitem__, set(pattern.findall(_list_words(words)[1]))))
    return frozenset(one for one in told if " " not in one or one in words)


@cache
def _telling_words() -> tuple[re.Pattern[str], Mapping[str, Sequence[str]]]:
    """A pattern for the longest of these words at each place, and all of which the longest word begins it."""
    words = {word: max(word.split(), key=len) for kind in kinds().values() for word in (*kind.body, *kind.beside)}
    beginnings = {one: [word for word, own in words.items() if one.startswith(own)] for one in words.values()}
    return re.compile(rf"(?=({spell_out(beginnings)}))"), beginnings


@cache
def names(*wanted: str) -> Phrases:
    """The names of the kinds with these ids, without ids of all: each stands for its kind and whether it is weak."""
    entries = read_file("catalogue.toml")
    return Phrases(
        (phrase, (kinds()[name], weak))
        for name, entry in entries.items()
        if name in (wanted or entries)
        for key, weak in (("names", False), ("weak", True))
        for phrase in entry.get(key, ())
    )


@cache
def file_names() -> Phrases:
    """What files of a kind are called, beside digits: also names without their small words (`codigo_conduta.pdf`)."""
    titled = [(kinds()[name], entry) for name, entry in read_file("catalogue.toml").items() if "title" in entry]
    split = ((phrase.split(), kind) for kind, entry in titled for phrase in entry.get("names", ()))
    whole = ((words, kind) for words, kind in split if not kind.over and "*" not in words)
    brief = ((words, [word for word in words if word not in links()], kind) for words, kind in whole)
    return Phrases(
        chain(
            ((phrase, kind) for kind, entry in titled for phrase in entry.get("called", ())),
            ((" ".join(bare), kind) for words, bare, kind in brief if 1 < len(bare) < len(words) and "*" not in words),
        )
    )


@cache
def asked_names() -> Phrases:
    """By what users ask for kinds, beside their names: their titles, and words that are no name in a document."""
    titled = ((name, entry) for name, entry in read_file("catalogue.toml").items() if "title" in entry)
    return Phrases(
        (phrase, kinds()[name])
        for name, entry in titled
        for phrase in (plain_words(entry["title"]), *entry.get("asked", ()))
    )


def find_kinds(words: str) -> tuple[Match, ...]:
    """The kinds that plain words name, in order; where one name contains another, only the longer."""
    return _look_up(words)[0]


def find_spoken_kinds(words: str) -> frozenset[str]:
    """The kinds whose names stand in plain words that are about something else: "Insurance claims history"."""
    return _look_up(words)[1]


@lru_cache(maxsize=20_000)
def _look_up(words: str) -> tuple[tuple[Match, ...], frozenset[str]]:
    found, spoken = [], set()
    is_lesson = words.startswith(tuple(read_file("marks.toml")["subjects"]["lessons"]))
    for start, end, (kind, weak) in names().find(words):
        is_against = kind.against.stand_in(words)
        if not kind.over and (is_lesson or _has_subject(kind, words[end:]) or (is_against and not kind.body)):
            spoken.add(kind.id)
        elif not is_against:
            found.append(Match(kind, start, end, weak))
    found.sort(key=lambda match: (match.start - match.end, match.weak, match.start, match.kind.id))
    kept: list[Match] = []
    for match in found:
        if all(match.end <= other.start or match.start >= other.end for other in kept):
            kept.append(match)
    return tuple(sorted(kept, key=lambda match: match.start)), frozenset(spoken - {match.kind.id for match in kept})


def find_joined_kinds(words: str) -> list[Match]:
    """The kinds that a title combines: a loan and security agreement is both a loan agreement and a security."""
    if not any(last in words for last in _LASTS):
        return []
    named = find_kinds(words)
    joins = ((one, one.span("join")) for one in _JOINED.finditer(words))
    apart = (one for one, (at, end) in joins if not any(name.start < at and name.end > end for name in named))
    joined = next(apart, None)
    if joined is None:
        return []
    ending, firsts = joined["ending"] or "", words[joined.start() : joined.start("join")].split()
    last = ending or f" {joined['last']}"
    parts = [" ".join(firsts[at:end]) + last for at in range(len(firsts)) for end in range(len(firsts), at, -1)]
    parts.append(words[joined.end("join") + 1 : joined.end()])
    found = [match for part in parts for match in find_kinds(part) if match.end == len(part)]
    found.sort(key=lambda match: match.weak)
    return [Match(match.kind, joined.start(), joined.end(), match.weak) for match in found if match.kind.title]


def _has_subject(kind: Kind, behind: str) -> bool:
    """Whether what stands behind a kind makes a line about it: "insurance claims", "board pack readiness notes"."""
    if not behind.startswith(" "):
        return False
    says = read_file("marks.toml")["subjects"]
    behind = _STAGE.sub("draft", behind)
    words: Sequence[str] = list(takewhile(lambda word: word not in links(), filter(str.isalpha, behind.split())))
    if not kind.signed and len(words) == 1 and words[0] in says["programs"]:
        return True
    while words and words[-1] in says["copies"]:
        words = words[:-1]
    words = leave_out_company(words)  # "Annual report Guidance Software Inc"
    if kind.signed:
        return not {*says["writings"], *says["doings"], *says["rules"], *says["programs"]}.isdisjoint(words[-1:])
    return not set(says["writings"]).isdisjoint(words)


def leave_out_company(words: Sequence[str]) -> Sequence[str]:
    """The plain words behind the name of a company, of which one such as "gmbh" is the end; all without one."""
    ends = set(read_file("marks.toml")["subjects"]["companies"])
    return words[max((place for place, word in enumerate(words, 1) if word in ends), default=0) :]


@cache
def links() -> frozenset[str]:
    """Small words that link a name to those before it."""
    return frozenset(read_file("marks.toml")["links"])


def find_kind(words: str) -> Match | None:
    """The kind that a title names. Of two names in a row, the last one counts: a lease *guarantee*."""
    found = [match for match in find_kinds(words) if match.fills(words)]
    over = next((match for match in found if match.kind.over), None)
    if over is None and (joined := next(filter(lambda match: match.fills(words), find_joined_kinds(words)), None)):
        return joined
    if over is not None or not found:
        return over
    named = found[0]
    for match in found[1:]:
        if match.start - named.end > 1:
            break
        is_decision = named.kind.id in _DECISIONS and match.kind.signed  # a board resolution *on* a lease
        named = named if is_decision or match.weak or is_kind(named.kind.id, match.kind.id) else match
    return named


def is_kind(name: str, wanted: str) -> bool:
    """Whether a kind is the same as another, or a part of it."""
    kind: Kind | None = kinds().get(name)
    while kind is not None and kind.id != wanted:
        kind = kinds()[kind.wider] if kind.wider else None
    return kind is not None


def find_names(question: str) -> dict[str, list[str]]:
    """The plain words by which a question may call documents, two before what one is and two with capitals behind it,
    by the word for what it is: {"subcontract": ["hvac"]}.
    """
    asked, words = read_file("marks.toml")["asked"], plain_words(question).split()
    nouns, capitals = tuple(asked["nouns"]), {plain_words(word) for word in re.findall(r"\b[^\W\d_a-z]\w+", question)}
    found: dict[str, list[str]] = {}
    for place, word in enumerate(words):
        if word.endswith(nouns):
            behind = takewhile(lambda one: one in capitals or one in links(), words[place + 1 : place + 3])
            near = [one for one in (*words[max(0, place - 2) : place], *behind) if one not in links()]
            found[word] = [one for one in near if not (one.endswith(nouns) or one in asked["left_out"])]
    return found


def may_be_document(name: str) -> bool:
    """Whether a file may be a document by its name: it is no program, build's product, icon, calendar or notebook."""
    files, path = read_file("marks.toml")["files"], PurePath(name.casefold())
    if path.suffix in files["told_by_name"]:
        return bool(find_kinds(plain_words(path.stem)))
    return path.name not in files["named"] and (path.suffix not in files["programs"] or " " in path.name)
