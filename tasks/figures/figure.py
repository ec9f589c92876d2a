"""Figures and their taxonomy: a number of a document with its meaning and place, and the words that mean a concept.

The words by which documents, tables and sentences are read are in `vocabulary.toml` and `sentence_words.toml`. An entry
lists alternatives as regular expressions, or has such a list for each language. `(?&name)` refers to another entry, or
to a month, a year or a currency.

The taxonomy says which labels of tables and which words in sentences mean which concept. The concepts are in
`concepts.toml`, which explains the notation of labels, and what a country's law prescribes is in `laws/`; a user's file
in the form of `concepts.toml` adds to them. Labels are expanded into a table of words, so that a row's label is looked
up rather than searched for.

`spots` runs patterns over whole documents, but only where a match may begin. A case-insensitive pattern with many
alternatives tries all of them at every character. Searching first for the words with which a match begins costs a tenth
of that or less, and the pattern is then tried in few places.
"""

import hashlib
import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal, cast

from pydantic import Field

from storage.settings import Settings
from tasks.errors import BadRequest
from tasks.language.numbers import CURRENCY
from tasks.language.periods import MONTH, SHORT_MONTH, YEAR, header_words
from tasks.language.words import alternation, currency_names
from tasks.user_file import UserFile, read_user_text

_READ: Final[dict[str, Any]] = {
    name: entry
    for file in ("vocabulary.toml", "sentence_words.toml")
    for name, entry in tomllib.loads(files("tasks.figures").joinpath(file).read_text(encoding="utf-8")).items()
}
_WHOLE: Final = frozenset(_READ.pop("whole_words").split())
_AS_WRITTEN: Final = frozenset(_READ.pop("as_written").split())
DATA: Final[Mapping[str, Any]] = _READ
BEFORE: Final = frozenset(" ".join(DATA["before"].values()).split())
"""Words that may stand right before a concept without making it another."""
_PARTS: Final = {
    "MONTH": MONTH, "SHORT_MONTH": SHORT_MONTH, "YEAR": YEAR, "CURRENCY": CURRENCY,
    "CURRENCY_NAMES": alternation(currency_names()), "PLAN_START": "|".join(header_words("plan_start")),
}  # fmt: skip
_REFERENCE: Final = re.compile(r"\(\?&(\w+)\)")
_INDENT: Final = re.compile(r"(?:\A|\n) {6}")
"""What parts the lines of a long pattern, which are one."""


@cache
def words_in(name: str) -> tuple[str, ...]:
    """The words of an entry in all languages."""
    return tuple(chain.from_iterable(DATA[name].values()) if isinstance(DATA[name], dict) else DATA[name])


def holds(lower: str, name: str) -> bool:
    """Whether a lower-case text holds one of an entry's words, which stand for nothing but themselves."""
    return any(word in lower for word in words_in(name))


@cache
def either(name: str) -> str:
    """A group that matches one of an entry's words; for entries by language, the longest come first."""
    by_language = isinstance(DATA[name], dict)
    return (
        f"(?:{_join(sorted(dict.fromkeys(words_in(name)), key=len, reverse=True) if by_language else words_in(name))})"
    )


class Patterns:
    """What finds one of an entry's words, by the entry's name; it is compiled when it is first asked for."""

    def __getattr__(self, name: str) -> re.Pattern[str]:
        words = rf"\b{either(name)}\b" if name in _WHOLE else _join(words_in(name))
        compiled = re.compile(words, re.NOFLAG if name in _AS_WRITTEN else re.IGNORECASE)
        setattr(self, name, compiled)
        return compiled


WORDS: Final = Patterns()
"""`WORDS.enumerator.match(label)`."""


def _join(words: Iterable[str]) -> str:
    joined = "|".join(_INDENT.sub("", word) for word in words)
    return _REFERENCE.sub(lambda match: _PARTS.get(match[1]) or either(match[1]), joined)


Basis = Literal["audited", "reported", "management", "budget", "forecast", "pro_forma", "adjusted"]

PARENT: Final = "parent company"
"""The entity of what the parent company has alone, beside or without its group."""
UNKNOWN: Final = "unknown"
"""The unit of an amount of money whose currency its document does not name: it is good for ratios and growth alone."""
ACTUAL: Final[tuple[Basis, ...]] = ("audited", "reported", "management")
"""What happened, as opposed to what is planned or recomputed; the surest first."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        concept: its id in the taxonomy.
        label: the words that name it, as written: the row's, or the sentence's.
        value: exact, in base units (9400000; 22 for 22 %).
        unit: an ISO currency, `unknown` for one that is not named, `percent`, `count`, `ratio` or `months`.
        scale: the scale as written ("thousand", "million"; "" where there is none).
        step: what one unit of the last digit shown is worth, in base units: how far it may be rounded.
        period: a day ("2025-03-31") or the first and last day of a duration ("2024-04-01/2025-03-31").
        entity: None for the company as a whole, else the part's name.
        basis: told by the words around it; None where only the document's kind tells.
        variant: "restated" or "as previously reported", where the column says so.
        place: where it stands, in words.
        start, end: the characters of the number in the document's text.
    """

    concept: str
    label: str
    value: Decimal
    unit: str
    scale: str
    step: Decimal
    period: str
    entity: str | None
    basis: Basis | None
    variant: str
    place: str
    start: int
    end: int


def agree(one: Figure, other: Figure) -> bool:
    """Whether two figures say the same, given how they are rounded: 9.4 m and 9,412,345 do, 9.4 and 7.1 m do not."""
    return agrees(one.value, one.step, other.value, other.step)


def agrees(value: Decimal, step: Decimal, other: Decimal, other_step: Decimal) -> bool:
    """As `agree`, for values and the worth of their last digits."""
    return abs(value - other) <= max(step, other_step) / 2 + min(step, other_step) / 2


@dataclass(frozen=True, slots=True)
class Tie:
    """A sum in a document that does not add up.

    Attributes:
        what: the rule in words: "total assets are equity and liabilities".
        stated, computed: what the document says, and what its parts give, in the table's own units.
        start: where the stated number stands; `place` says it in words.
    """

    what: str
    stated: Decimal
    computed: Decimal
    place: str
    start: int


@dataclass(slots=True)
class Findings:
    """What was found in a document: its figures, sums that do not add up, and how many numbers were left out, and why.

    `founded` says when the company was founded. `rows` counts the table rows that were looked at, `looked_at` the
    numbers in them for which a concept was found.
    """

    figures: list[Figure] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    founded: list[Figure] = field(default_factory=list)
    rows: int = 0
    looked_at: int = 0

    def leave_out(self, why: str, count: int = 1) -> None:
        """Count numbers that were left out."""
        if count:
            self.left_out[why] = self.left_out.get(why, 0) + count


_BASES: Final[tuple[Basis, ...]] = ("pro_forma", "adjusted", "budget", "forecast", "management", "audited")
_BASIS: Final = tuple((basis, getattr(WORDS, f"basis_{basis}")) for basis in _BASES)


@lru_cache(maxsize=8192)
def find_basis(text: str) -> Basis | None:
    """The basis that words give a figure: "Budget 2025", "Adjusted EBITDA", "unaudited"; None if they give none."""
    if not WORDS.basis_stems.search(text.lower()):
        return None
    return next((basis for basis, words in _BASIS if words.search(text)), None)


Named = Basis | Literal["except"]
ALWAYS: Final = frozenset({"budget", "pro_forma"})
"""What figures of these names are, also when their period is over."""
_LONGEST_NAME: Final = 80
_PARTED: Final = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Ý])|[\W_]+")
_SAYS: Final = {
    basis: re.compile("|".join(rf"\b{word.replace('*', '[^ ]*')}\b" for word in words))
    for basis, words in tomllib.loads(files("tasks.figures").joinpath("plan_names.toml").read_text("utf-8")).items()
}


@lru_cache(maxsize=4096)
def find_named_basis(name: str) -> Named | None:
    """What a name says figures are; `except` if it also mentions others, None if it says nothing."""
    words = " ".join(_PARTED.sub(" ", name[:_LONGEST_NAME]).lower().split())
    return next((cast("Named", basis) for basis, says in _SAYS.items() if says.search(words)), None)


def without_basis(text: str) -> str:
    """The text without its words of basis: "EBITDA" of "Adjusted EBITDA"."""
    for _, words in _BASIS:
        text = words.sub(" ", text)
    return " ".join(WORDS.no_basis.sub(" ", text).split()).strip(" ,:()-–")


def find_variant(header: str) -> str:
    """The variant "restated" or "as previously reported", if a column's header says so, otherwise ""."""
    if WORDS.as_before.search(header):
        return "as previously reported"
    return "restated" if WORDS.restated.search(header) else ""


_BLANKS: Final = "\xa0\u202f\u2009"
_RAISED: Final = re.compile(
    r"(?<![\d.,])10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|(?!(?:(?<=\b[kcd]m)|(?<=\bm)|(?<=\bft))[²³])[⁽⁰¹²³⁴⁵⁶⁷⁸⁹]+[,⁰¹²³⁴⁵⁶⁷⁸⁹⁾]*"
)


def plain_blanks(text: str) -> str:
    """The text with ordinary spaces in place of no-break spaces and raised marks.

    Each character keeps its offset. A raised mark is a footnote's, except the exponent of a power of ten, which is
    dropped together with its ten, and that of an area ("m²").
    """
    if text.isascii():
        return text
    for mark in _BLANKS:
        text = text.replace(mark, " ")
    return _RAISED.sub(lambda match: " " * len(match[0]), text) if re.search("[⁽⁰¹²³⁴⁵⁶⁷⁸⁹]", text) else text


def lower_text(text: str) -> str:
    """The text in lower case, with each character at the same offset."""
    return text.replace("İ", "i").lower()  # the one character whose small form is longer


def spots(lower: str, words: Iterable[str], *, before: int = 0) -> list[int]:
    """The offsets of these words in a lower-case text, in order, each moved back by `before` characters."""
    found: set[int] = set()
    for word in words:
        at = lower.find(word)
        while at >= 0:
            if at >= before:
                found.add(at - before)
            at = lower.find(word, at + 1)
    return sorted(found)


def matches(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """The same as `pattern.finditer(text)`, but only trying these offsets, which are in order."""
    end = 0
    for start in starts:
        if start >= end:
            match = pattern.match(text, start)
            if match is not None:
                yield match
                end = match.end()


def count_words(text: str, word: str) -> int:
    """How often a word stands in a text and not within another."""
    count, at = 0, text.find(word)
    while at >= 0:
        end = at + len(word)
        inside = (word[0].isalnum() and at and _in_word(text[at - 1])) or (
            word[-1].isalnum() and _in_word(text[end : end + 1])
        )
        count += not inside
        at = text.find(word, at + 1)
    return count


def _in_word(mark: str) -> bool:
    return mark.isalnum() or mark == "_"


class FigureSettings(Settings):
    """The settings of the ledger of figures."""

    figure_concepts: Path | None = Field(
        None, description="a TOML or YAML file of concepts and labels that are added to those of the ledger"
    )


_FOLDER: Final = Path(__file__).parent
_LANGUAGES: Final = tomllib.loads((_FOLDER / "languages.toml").read_text("utf-8"))
SHORT_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    language: said["short"] for language, said in _LANGUAGES.items() if "short" in said
}
"""By language, as the taxonomy writes labels: in lower case and without accents."""
_WORDS: Final = {language: frozenset(said["words"].split()) for language, said in _LANGUAGES.items()}
_WORD: Final = re.compile(r"[^\W\d_]+")
_HEAD: Final = 6000
"""Characters by which a document's language is told."""
_FEWEST: Final = 3


def name_in_words(name: str) -> str:
    """The name of a concept, or of a computed figure, as sentences have it: `EBITDA margin`, `monthly burn`."""
    return name.replace("_", " ").replace("ebitda", "EBITDA")


def guess_language(text: str) -> str:
    """The language whose common words are most frequent at the beginning of a text; "" if there are few, or a tie."""
    head = lower_text(text[:_HEAD])
    counts = Counter(re.findall("[a-z]+", head) if head.isascii() else _WORD.findall(head))
    found = sorted(
        ((sum(counts[word] for word in words & counts.keys()), language) for language, words in _WORDS.items()),
        reverse=True,
    )
    (most, language), (second, _) = found[:2]
    return language if most >= _FEWEST and most > second else ""


_DATA: Final = _FOLDER / "concepts.toml"
_LAWS: Final = _FOLDER / "laws"
_KIND: Final = "file of concepts"
_MOST_SPELLINGS: Final = 20_000
"""Spellings that a label may stand for."""
_FIELDS: Final = {"kind", "units", "sign", "labels", "weak", "instant", "mentions", "tags"}
_UNITS: Final = {"money", "percent", "count", "ratio", "months"}
_MARK: Final = re.compile(r"[\[\]{}|]")
_PIECE: Final = re.compile(r"[\[\]{}|]|[^\[\]{}|]+")
_WRITTEN: Final = re.compile(r"(?!\*(?:[\s\[\]{}|]|$))[^\s\[\]{}|]+")
"""A word of a written label, between blanks and marks of choice; "*" stays as it is."""
_LABEL_WORD: Final = re.compile(r"[^\W_]+|%")

Kind = Literal["duration", "instant", "either"]


@dataclass(frozen=True)
class Concept:
    """What a figure can mean; the fields are described in `concepts.toml`."""

    id: str
    kind: Kind
    units: frozenset[str]
    sign: str = "any"
    labels: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    instant: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a label means: the concept, whether it is a stock, and how certain that is (0 is the most certain)."""

    concept: Concept
    kind: Kind
    rank: int


@dataclass(frozen=True, eq=False)  # told apart by what it is: caches keep it
class Taxonomy:
    """Concepts by id, and their labels. `added` is a hash of what a user's file adds, empty without one.

    `codes` maps, by language, the codes that forms print beside their figures; `tags` maps local names of tags, most
    certain meaning first.
    """

    concepts: Mapping[str, Concept]
    added: str
    codes: Mapping[str, Mapping[str, Meaning]] = field(repr=False)
    tags: Mapping[str, Concept] = field(repr=False)
    _labels: Mapping[str, Meaning] = field(repr=False)
    _wildcards: tuple[tuple[re.Pattern[str], str, Meaning], ...] = field(repr=False)
    _speaking: frozenset[str] = field(repr=False)

    def may_speak(self, words: str) -> bool:
        """Whether a plain label contains the longest word of any concept's label; without one it has no meaning."""
        return not self._speaking.isdisjoint(words.split())

    def meaning(self, label: str) -> Meaning | None:
        """What a plain label (see `plain_label`) means; None if it belongs to no concept."""
        found = self._labels.get(label)
        if found is None:
            for pattern, word, meaning in self._wildcards:
                if word in label and pattern.fullmatch(label) and not WORDS.no_wildcard.search(label):
                    return meaning
        return found


@lru_cache(maxsize=65536)
def plain_label(label: str) -> str:
    """A label in the taxonomy's form: lower case, without accents, punctuation and footnote marks."""
    if not label.isascii():
        label = unicodedata.normalize("NFKD", label.replace("ß", "ss").replace("æ", "ae").replace("ø", "o"))
        label = "".join(mark for mark in label if not unicodedata.combining(mark))
    return " ".join(_LABEL_WORD.findall(WORDS.label_note.sub(" ", label.replace(" & ", " and ")).lower()))


def taxonomy(file: Path | None = None) -> Taxonomy:
    """The published taxonomy with the additions of `file`, or else of the file in the current settings.

    Raises:
        BadRequest: the file cannot be read, or a concept in it is written wrongly; the message says which.
    """
    return read_taxonomy(file or concepts_file())


def concepts_file() -> Path | None:
    """The file of the settings that adds concepts."""
    file = FigureSettings.current().figure_concepts
    return file.absolute() if file is not None else None


def read_taxonomy(file: Path | None) -> Taxonomy:
    """The published taxonomy with the additions of this file, whatever the settings say.

    Raises:
        BadRequest: as `taxonomy`.
    """
    if file is None:
        return _load_published()
    try:
        state = file.stat()
    except (OSError, ValueError):
        return _with_file(file, (0, 0))  # says why it cannot be opened
    return _with_file(file, (state.st_mtime_ns, state.st_size))


@cache
def _load_published() -> Taxonomy:
    concepts = {name: _concept(name, content, _DATA) for name, content in tomllib.loads(_DATA.read_text()).items()}
    for name, tags in tomllib.loads((_FOLDER / "tags.toml").read_text()).items():
        concepts[name] = replace(concepts[name], tags=tuple(tags))
    codes: dict[str, dict[str, Meaning]] = {}
    for file in sorted(_LAWS.glob("*.toml")):
        law = tomllib.loads(file.read_text("utf-8"))
        languages = law.pop("languages", ())
        for paragraph in law.values():
            of_codes, weak = paragraph.pop("codes", {}), paragraph.pop("weak", {})
            for name, labels in paragraph.items():
                concepts[name] = replace(concepts[name], labels=(*concepts[name].labels, *labels))
            for name, labels in weak.items():
                concepts[name] = replace(concepts[name], weak=(*concepts[name].weak, *labels))
            is_unmistakable = any("/" in code for code in of_codes)
            for language in (*languages, "") if is_unmistakable else languages:
                of_language = codes.setdefault(language, {})
                of_language |= {
                    code: Meaning(concepts[name], concepts[name].kind, 1) for code, name in of_codes.items()
                }
    return _taxonomy(concepts, "", codes)


@lru_cache(maxsize=8)
def _with_file(file: Path, _state: tuple[int, int]) -> Taxonomy:
    published, written = _load_published(), read_concepts(file)
    concepts = dict(published.concepts)
    for name, content in written.items():
        known = concepts.get(name)
        usual = {"kind": known.kind, "units": sorted(known.units), "sign": known.sign} if known else {}
        fields = {**usual, **content} if isinstance(content, dict) else content
        concept = _concept(name, fields, file)
        concepts[name] = concept if known is None else _join_concepts(known, concept)
    added = hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()[:12]
    return _taxonomy(concepts, added, published.codes)


def read_concepts(file: Path) -> dict[str, Any]:
    """The contents of a user's file by concept id: TOML, or YAML (or JSON) according to its extension.

    Raises:
        BadRequest: it cannot be read, or it holds no concepts.
    """
    if file.suffix.lower() in {".yaml", ".yml", ".json"}:
        written = UserFile(file, _KIND)
        written.mistakes.check()
        content = written.content
    else:
        try:
            content = tomllib.loads(read_user_text(file, _KIND))
        except tomllib.TOMLDecodeError as error:
            raise BadRequest(f"{file.name}: the {_KIND} is no TOML: {error}.") from error
    if not isinstance(content, dict):
        raise BadRequest(f"{file.name}: the {_KIND} must be a mapping of concepts, each with its fields.")
    return content


def _concept(name: Any, content: Any, file: Path) -> Concept:
    name = str(name)
    if not isinstance(content, dict) or not {*content} <= _FIELDS or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise BadRequest(f"{file.name}, {name}: a concept has the fields {', '.join(sorted(_FIELDS))} and no other.")
    kind, units, sign = content.get("kind"), content.get("units", ["money"]), content.get("sign", "any")
    if kind not in ("duration", "instant", "either"):
        raise BadRequest(f"{file.name}, {name}, kind: must be duration, instant or either.")
    if not isinstance(units, list) or not units or not all(unit in _UNITS for unit in map(str, units)):
        raise BadRequest(f"{file.name}, {name}, units: must list some of {', '.join(sorted(_UNITS))}.")
    if sign not in ("any", "positive", "loss"):
        raise BadRequest(f"{file.name}, {name}, sign: must be any, positive or loss.")
    words: dict[str, tuple[str, ...]] = {}
    for key in ("labels", "weak", "instant", "mentions", "tags"):
        listed = content.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(label, str) and label.strip() for label in listed):
            raise BadRequest(f"{file.name}, {name}, {key}: must be a list of texts.")
        words[key] = tuple(listed)
    return Concept(name, kind, frozenset(units), sign, **words)


def _join_concepts(known: Concept, added: Concept) -> Concept:
    return Concept(
        known.id, added.kind, added.units, added.sign, known.labels + added.labels, known.weak + added.weak,
        known.instant + added.instant, known.mentions + added.mentions, added.tags + known.tags,
    )  # fmt: skip


def _taxonomy(concepts: Mapping[str, Concept], added: str, codes: Mapping[str, Mapping[str, Meaning]]) -> Taxonomy:
    labels: dict[str, Meaning] = {}
    wildcards: list[tuple[re.Pattern[str], str, Meaning]] = []
    for concept in concepts.values():
        for plain, meaning in _meanings(concept):
            if "*" in plain:
                written = re.escape(plain).replace(r"\*", r"\w+(?: \w+){0,11}")
                longest = max(plain.replace("*", " ").split(), key=len)
                wildcards.append((re.compile(written), longest, meaning))
            else:
                labels.setdefault(plain, meaning)
    speaking = {max(label.split(), key=len) for label in labels} | {word for _, word, _ in wildcards}
    tags = {tag: concept for concept in concepts.values() for tag in concept.tags}
    return Taxonomy(concepts, added, codes, tags, labels, tuple(wildcards), frozenset(speaking))


def _meanings(concept: Concept) -> Iterator[tuple[str, Meaning]]:
    """The plain labels of a concept, each with its meaning."""
    ranks: tuple[tuple[tuple[str, ...], Kind, int], ...] = (
        (concept.instant, "instant", 1), (concept.labels, concept.kind, 1), (concept.weak, concept.kind, 2),
    )  # fmt: skip
    for written, kind, rank in ranks:
        surest, usual = Meaning(concept, kind, 0), Meaning(concept, kind, rank)  # shared by thousands of labels
        labels = (_WRITTEN.sub(lambda part: plain_label(part[0]), label) for label in written)
        for plain in chain.from_iterable(map(spellings, labels)):
            yield plain, surest if rank == 1 and WORDS.total_label.match(plain) else usual


def spellings(label: str) -> Iterator[str]:
    """All labels that a written one stands for, at most 20,000: "[total] {revenue|sales}" is four.

    Unpaired brackets are removed.
    """
    levels = [[[""]]]  # for each open bracket its choices, each with its spellings; the last one is being written
    closed_late = ["]"] * sum(map(label.count, "[{"))
    for piece in (*_PIECE.findall(label), *closed_late):
        if piece in "[{":
            levels.append([[""], [""]] if piece == "[" else [[""]])
        elif piece == "|" and len(levels) > 1:
            levels[-1].append([""])
        else:
            is_closed = piece in "]}" and len(levels) > 1
            chosen = list(chain(*levels.pop())) if is_closed else [" " if _MARK.match(piece) else piece]
            joined = (begun + choice for begun in levels[-1][-1] for choice in chosen)
            levels[-1][-1] = list(islice(joined, _MOST_SPELLINGS))
    yield from (" ".join(spelling.split()) for spelling in levels[0][0])
