"""What is taken down of a text besides the signs of its kind: what it names, what it lacks, and a sketch of its words.

It names agreements by kind and date, and annexes, which the room may have or not. It lacks what documents of some kinds
cannot do without: then it is no such document, but speaks of them. By sketches near copies are found.
"""

import re
import zlib
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Final

import numpy as np

from tasks.documents.kinds.catalogue import find_kinds, marks, names, plain_words, read_file
from tasks.documents.kinds.titles import ANNEXES, BETWEEN, SUBTITLE
from tasks.language.periods import dates, dates_in

_WORD: Final = re.compile(r"\w+")
_TOGETHER: Final = 250
"""Shingles that are computed together: the C library maps more than 128 KB anew each time, which takes far longer."""
_CHANCES: Final = np.random.default_rng(20_261_128).integers(1, 2**61, size=(2, 64), dtype=np.uint64) | np.uint64(1)


@lru_cache(maxsize=1)  # its signs are told by them too
def fold_words(text: str) -> list[str]:
    """The words at the beginning of a text, 400,000 characters, in small letters."""
    return _WORD.findall(text[:400_000].casefold())


def sketch(text: str) -> bytes:
    """A small sketch of a text: two sketches share about as large a part of their 64 numbers as the texts share
    shingles.

    MinHash over runs of four words (Broder, On the resemblance and containment of documents, 1997). Empty for fewer
    than twenty words.
    """
    words = fold_words(text)
    if len(words) < 20:
        return b""
    numbers = np.fromiter(map(zlib.crc32, map(str.encode, words)), dtype=np.uint64, count=len(words))
    shingles = numbers[:-3] * 31**3 + numbers[1:-2] * 31**2 + numbers[2:-1] * 31 + numbers[3:]
    shingles *= np.uint64(0x9E3779B97F4A7C15)
    factors, shifts = _CHANCES[:, :, None]
    parts = (shingles[at : at + _TOGETHER] * factors + shifts for at in range(0, len(shingles), _TOGETHER))
    lowest = np.min([part.min(axis=1) for part in parts], axis=0)
    return (np.asarray(lowest, dtype=np.uint64) >> np.uint64(32)).astype("<u4").tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """The approximate share of shingles that two texts have in common, 0 to 1, from their sketches."""
    if not one or not other:
        return 0.0
    return float((np.frombuffer(one, "<u4") == np.frombuffer(other, "<u4")).mean())


Cited = tuple[str | None, str | None, str, int, int]
"""Its kind and day where it has them, its words, and where they begin and end."""
_LOOKED_AT: Final = 400_000
_CITED_PART: Final = re.compile(
    rf"\b({'|'.join(ANNEXES)})\s+([A-Z](?:-\d{{1,2}})?+|[IVX]+|\d{{1,2}}(?:\.\d{{1,2}})?+)\b(?![’'])"
    r"(?!\s+(?:\([^)]{0,60}\)\s+)?attached\s+to\s+(?:the\s+|that\s+)?(?-i:(?:[A-Z]\w+\s+){1,4})(?:no\.?\s*\d|dated\s))",
    re.IGNORECASE,
)


def find_cited(text: str, title: str | None, days: Collection[str]) -> Iterator[Cited]:
    """The agreements that a text names by kind and date, and annexes that it refers to but does not contain.

    A document of the kind `title` with one of the `days` (ISO 8601) is the text itself, and not a reference.
    """
    present = frozenset(fold_words(text))  # a pattern takes as long as all words
    yield from _find_agreements(text, present, title, days)
    if not present.isdisjoint(ANNEXES):
        yield from _find_annexes(text)


def _find_agreements(text: str, present: frozenset[str], title: str | None, days: Collection[str]) -> Iterator[Cited]:
    known: set[tuple[str, str]] = set()
    pattern, phrases = _date_pattern()
    for match in pattern.finditer(text, 0, _LOOKED_AT) if any(map(present.issuperset, phrases)) else ():
        before = text[max(0, match.start() - 90) : match.start()].split()
        words = plain_words(" ".join(before[-8:]))
        named = find_kinds(words)
        when = next((when for when in dates(text[match.end() : match.end() + 24].partition("\n")[0]) if when.end), None)
        if not named or not named[-1].kind.signed or len(words) - named[-1].end > 12 or when is None or not when.end:
            continue
        key = (named[-1].kind.id, when.end.isoformat())
        if key in known or (key[0] == title and key[1] in days):
            continue
        known.add(key)
        end = match.end() + when.stop
        if len(text[text.rfind("\n", 0, match.start()) + 1 : end].split()) <= 4 and text[end : end + 1] in {"", "\n"}:
            continue  # the heading of a part of this text
        name = words[named[-1].start : named[-1].end]
        written = next(part for at in range(1, 9) if name in plain_words(part := " ".join(before[-at:])))
        yield *key, f"{written} {text[match.start() : end]}", match.start(), end


def _find_annexes(text: str) -> Iterator[Cited]:
    known: set[str] = set()
    annexed = read_file("marks.toml")["text"]["annexed"]
    for match in _CITED_PART.finditer(text, 0, _LOOKED_AT):
        label = f"{match[1].capitalize()} {match[2]}"
        around = text[max(0, match.start() - 60) : match.end() + 40].casefold()
        if label in known or not any(words in around for words in annexed):
            continue
        known.add(label)
        heading = rf"[ \t#*_>|\[(]*{re.escape(match[1])}\s+{re.escape(match[2])}\b[^\n]{{0,100}}$"
        if not any(re.search(f"(?im){begin}{heading}", text) for begin in "^\f"):  # each soon found
            yield None, None, label, match.start(), match.end()


@cache
def _date_pattern() -> tuple[re.Pattern[str], frozenset[frozenset[str]]]:
    """The pattern for the words before a date, and the words that each of its phrases has."""
    phrases = read_file("marks.toml")["text"]["dated"]
    words = "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))
    parts = frozenset(frozenset(fold_words(phrase)) for phrase in phrases)
    return re.compile(rf"\b(?:{words})\s+(?=[^\n]{{0,12}}\d)", re.IGNORECASE), parts


_BODY: Final = 8000

_DIGIT: Final = re.compile(r"\d")
_FEW_AMOUNTS: Final = 7
"""Amounts of money: what explains accounts, or asks for them, has no more."""
_FEW_DOCUMENTS: Final = 3
_AMOUNT: Final = re.compile(
    r"[\d$€£¥UEGC](?:(?<=\d)(?<![\w.,/:-]\d)(?:(?<=(?!(?:19|20)\d\d(?!\d))\d)"
    r"(?:\d{0,2}(?:[.,'’٬ \u00a0\u202f]\d{3})+|\d*[.,٫]\d\d|\d{3,})(?![\w/:-])"
    r"|\d*(?:[.,]\d+)?\)?[ \t|]+[-–(]?\d+(?:[.,]\d+)?\)?(?:[ \t|]|$)|\d*(?:[.,]\d+)?[ \t]?%(?=[ \t]*(?:[\t|]|$)))"
    r"|(?:(?<=[$€£¥])|(?<=\b[UEGC])(?:(?<=U)SD|(?<=E)UR|(?<=G)BP|(?<=C)HF) )"
    r"\d[\d.,]* ?(?:[mkbMKB]n?|[mb]illion|Mio\.?|Mrd\.?)\b)",
    re.MULTILINE,
)
"""A number of four digits or more, or with cents, that is no year and no part of a date; two, or one in percent at the
end, in a row of a table; money in millions."""
_TOLD: Final = re.compile(r"[^\n]{1,100}\n\n(?:[^\t|#.!?]++[.!?]\s++){4,}")
_NUMBER: Final = re.compile(r"\b(?!(?:19|20)\d\d\b)\d+")
_FEW_NUMBERS: Final = 2  # without those of years
_DAY: Final = re.compile(
    r"\d(?:月\d|(?<=\b\d)(?<=(?=\d{1,2}-[A-Za-z]{3}-\d\d\b|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b"
    r"|(?:(?:0?[1-9]|1[0-2])/(?:19|20)\d\d|(?:19|20)\d\d-(?:0[1-9]|1[0-2]))\b)\d))"
)
"""Days and months that are written for machines, or with characters."""
_ROLES: Final = re.compile(
    r"[(CPSV\u0370-\u1dff\u3040-\ud7af](?<=(?=\(\W{0,3}(?:the |hereinafter )?[\"“][A-Z][a-z]+"
    r"|\b(?:Client|Company|Consultant|Contractor|Customer|Participant|Provider|Purchaser|Seller|Supplier|Vendor)s?"
    r"(?: (?:shall|agrees|undertakes)\b|: )"
    r"|(?:[\u0370-\u1dff\u3040-\ud7af][^\u0370-\u1dff\u3040-\ud7af]{0,99}){20}).)"
)
"""How an agreement calls those who conclude it; in other alphabets it may call them anything.

The first characters of all ways stand in front, so that the search goes on quickly to the next of them.
"""
_LISTED: Final = re.compile(
    rf"\W*(?:(?:{'|'.join(ANNEXES)}|pièce|doc) ?\w{{1,3}}[.:)]?(?:\s|$)"
    r"|.{1,90}\.(?:pdf|docx?|xlsx?|pptx?|txt|eml|msg|zip)\b)",
    re.IGNORECASE,
)
"""A line of a list of documents: an annex, or the name of a file."""
THIS: Final = r"\b(?:this|dies\w{0,2}|vorliegend\w{1,2}|cette|ce|presente?|esta|este|questa|deze|dit|denne|denna)"
AGREEMENT: Final = re.compile(
    rf"{THIS} (?:\w+ ){{0,5}}?(?:agreement|contract|deed|lease|note|assignment|undertaking|guarantee|licen[cs]e"
    r"|nda|dpa|spa|\w*vertrag|\w*vereinbarung|contrat|convention|accord|bail|contrato|contratto|accordo|scrittura|patto"
    r"|\w*overeenkomst|\w*aftale|\w*avtal|\w*avtale)\b"
    r"(?! \w+ policy| policy)"
)
"""What a text calls itself in plain words."""
_SUM: Final = re.compile(
    r"(?m)^\W*[^\W\d_](?:[^\n.!?]|\.(?=\d))*[ \t|:][-–(]{0,2}(?:[€$£](?=[\d.,']{5})|(?=\d+[.,'\d]\d))"
    r"(?!(?:19|20)\d\d\b)\d[\d.,']*+[mk]?\)?(?: ?(?:[A-Z]{3}|[€$£]))?[ \t|]*$"
)
"""A line that ends with an amount: such a text gives figures, and does not say what a document has to contain."""


def only_tells(text: str) -> bool:
    """Whether a text is a title and sentences with hardly a number, which say what accounts or a budget are for."""
    few = len(set(_NUMBER.findall(text[:_BODY]))) <= _FEW_NUMBERS
    return few and _TOLD.fullmatch(f"{text[:_BODY].strip()}\n") is not None


def gives_figures(text: str) -> bool:
    """Whether a text has a year and amounts of its own, and so does not only prescribe what others give."""
    return re.search(r"\b(?:19|20)\d\d\b", text) is not None and _SUM.search(text) is not None


def find_lacks(text: str, body: str, *, is_opinion: bool, are_told: bool) -> Iterator[str]:
    """What a text has not that documents of some kinds cannot do without, as `needs` of the catalogue names it.

    Args:
        text: all of it.
        body: its first words, plain.
        is_opinion: auditors give their opinion in it, who need no amounts for that.
        are_told: the parties to an agreement are told by a signature, or by whom a letter is to.
    """
    numbered = [line for line in text[:_LOOKED_AT].split("\n") if _DIGIT.search(line)]
    amounts = chain.from_iterable(map(_AMOUNT.finditer, numbered))
    if not is_opinion and next(islice(amounts, _FEW_AMOUNTS, None), None) is None:
        yield "amounts"
    if not any(dates_in(line, of_any_span=True) or _DAY.search(line) for line in numbered):
        yield "day"
    are_told = are_told or any(pattern.search(body) for pattern in (BETWEEN, AGREEMENT))
    if not (are_told or _ROLES.search(text[:_BODY]) or marks("", "parties").stand_in(body)):
        yield "parties"
    lines = (line for line in text[:_BODY].splitlines() if len(line) < SUBTITLE)
    listed = (line for line in lines if _LISTED.match(line) or names().stand_in(plain_words(line)))
    if next(islice(listed, _FEW_DOCUMENTS, None), None) is None:
        yield "documents"
