"""When two names mean the same company: exactly, but for case, spacing, punctuation and the legal form left out.

Text from the web as plain text: nothing in it that is not read, and nothing that changes how the rest looks.

A text folded to what it says: its words and figures in one form, each knowing where it stands.

White space, punctuation, capitals, ligatures and hyphens between letters are typesetting and fall
away. Figures keep their separators and their signs: neither `-3.7` nor `< 3.7 %` is 3.7, and
accountants' `(3,700)` is -3,700. Two quotations that say the same fold to the same.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.documents.extract.text_writer import clean

_FORMS = frozenset(
    "ab ag aps as asa bv co company corp corporation gmbh inc incorporated kft kg kgaa kk limited llc llp lp "  # noqa: SIM905 - a list of words reads best as words
    "ltd mbh nv ohg oy oyj plc pte pty sa sarl sas se sl spa sro srl ug".split()
)


def same_name(asked: str, known: str) -> bool:
    """Whether `asked` is the company's name `known`, or that name without its legal form (`Alpha` for `Alpha GmbH`).

    `Alpha AG` is not `Alpha GmbH`, and nothing is guessed: `Alpha` is not `Alpha Industries`.
    """
    wanted, words = _words(asked), _words(known)
    while words:
        if words == wanted:
            return True
        if words[-1] not in _FORMS or len(words) == 1:
            return False
        words.pop()
    return False


def _words(name: str) -> list[str]:
    """`S.p.A.` and `A/S` are one word each, `&` and commas none."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.findall(r"\w+", re.sub(r"(?<=\b\w)[./](?=\w\b)", "", folded))


MARK: Final = "\ue000"
"""A character for private use that no plain text holds: what needs a mark of its own in a text may take it."""
_UNSEEN: Final = re.compile(
    "[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ue000\U000e0000-\U000e007f]"
)
"""Controls, directions, and characters without width or shape, in which texts for machines alone are hidden.

The joiners U+200C and U+200D stay: Persian and the scripts of India are written with them.
"""


def plain(text: str) -> str:
    r"""`text` without controls (line ends are `\n`) and without what nobody sees."""
    return _UNSEEN.sub("", clean(text))


def one_line(text: str) -> str:
    """`plain` in one line, with single spaces."""
    return " ".join(plain(text).split())


_MARKS = "".join(chr(code) for code in range(0x300, 0x3000) if unicodedata.category(chr(code)).startswith("M"))
_DASHES = "‐‑‒–—−\\-"
_HYPHENS = frozenset("-‐‑\u00ad\ufffe\x02")  # PDFium writes U+FFFE or U+0002 where a hyphen parts a word
CURRENCIES = "$€£¥"
# The order decides: what is a figure's sign is taken before it counts as punctuation.
_TOKEN = re.compile(
    rf"""
      (?P<number> (?<![\w.,)])\.\d+ | \d{{1,3}}(?:[\u00a0\u2009\u202f]\d{{3}})+(?!\d)(?:[.,]\d+)* | \d+(?:[.,'’]\d+)* )
    | (?P<minus>  (?<![^\W_])[{_DASHES}](?=[{CURRENCIES}]?\.?\d) )
    | (?P<limit>  [<>≤≥≠±]=?\s*(?=[{CURRENCIES}]?\s?\.?\d) )
    | (?P<debit>  \(\s*[{CURRENCIES}]?\s*(?=\d[\d.,'’]*\s*%?\s*\)) )
    | (?P<range>  (?<=\d)(?:[{_DASHES}]\s*|\s+[{_DASHES}]\s+)(?=\d) )
    | (?P<share>  (?<=\d)\s*[%‰] )
    | (?P<sign>   [\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff] )
    | (?P<word>   [^\W\d_]+(?:[{_MARKS}]+[^\W\d_]*)* )
    """,
    re.VERBOSE,
)
_NUMBER, _MINUS, _LIMIT, _DEBIT, _RANGE, _SHARE, _SIGN, _WORD = range(1, 9)
_RAISED = dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹"))  # footnote marks
_NUMBER_FORM = str.maketrans({"’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " "})
_MULTIPLES = frozenset(
    "hundred thousand million billion trillion bn mn mio mrd millionen milliarden percent per".split()  # noqa: SIM905 - a list of words reads best as words
)
ONE, OF = 1, 2
_MOST_TRIES = 10_000  # a text made of one syllable must not keep us for minutes


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and its tokens: their spans in it (`starts`, `stops`) and in the original (`first`, `last`).

    `hangs` says of each token whether it belongs to the one before: no quotation may end between them,
    nor begin there where they are one word or figure (`ONE`) and not a figure with its multiple (`OF`).
    """

    text: str
    starts: "array[int]"
    stops: "array[int]"
    first: "array[int]"
    last: "array[int]"
    hangs: bytearray

    def occurrences(self, needle: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where a folded text stands between two offsets of this one, whole tokens only: (token, token behind)."""
        for _ in range(_MOST_TRIES):
            at = self.text.find(needle, start, end)
            if at < 0:
                return
            token = bisect_right(self.starts, at)
            if self.starts[token - 1] == at and self.hangs[token - 1] != ONE:
                behind = bisect_left(self.stops, at + len(needle)) + 1
                ends = self.stops[behind - 1] == at + len(needle)
                if ends and (behind == len(self.hangs) or not self.hangs[behind]):
                    yield token - 1, behind
            if token == len(self.starts):
                return
            start = self.starts[token]

    def at(self, offset: int) -> int:
        """The offset in the folded text of what stands at or behind an offset of the original."""
        token = bisect_left(self.first, offset)
        return self.starts[token] if token < len(self.starts) else len(self.text)


def fold(text: str) -> Folded:
    """Fold a text; in a time that grows with its length alone, some 2.5 million characters a second."""
    starts, stops, first, last, hangs = array("I"), array("I"), array("I"), array("I"), bytearray()
    pieces: list[str] = []
    length = before = behind = 0  # the folded length so far; the kind and the end of the token before
    for found in _TOKEN.finditer(text):
        kind, start = found.lastindex or 0, found.start()
        if kind == _WORD:
            piece = _letters(found.group())
            if not piece:
                continue
        elif kind == _NUMBER:
            piece = found.group().translate(_NUMBER_FORM)
            if before == _NUMBER:  # `1 2` is not 12
                pieces.append(" ")
                length += 1
        elif kind in {_SIGN, _LIMIT}:
            piece = unicodedata.normalize("NFC", found.group().strip())
        else:
            piece = "%" if kind == _SHARE else "-"
        gap = start - behind
        if gap == 0 and behind:
            apart = _RANGE in {kind, before} and text[start if kind == _RANGE else start - 1].isspace()
            hanging = ONE if _SIGN not in {kind, before} and not apart else 0
        elif before == _NUMBER and piece in _MULTIPLES:
            hanging = OF
        else:
            hanging = (
                ONE if gap > 0 and text[behind] != " " and _is_one(text[behind : min(start, behind + 40)], piece) else 0
            )
        pieces.append(piece)
        starts.append(length)
        length += len(piece)
        stops.append(length)
        first.append(start)
        last.append(found.end())
        hangs.append(ONE if kind == _SHARE or before in {_MINUS, _LIMIT, _DEBIT} else hanging)
        before, behind = kind, found.end()
    return Folded("".join(pieces), starts, stops, first, last, hangs)


def _is_one(between: str, piece: str) -> bool:
    """Whether what stands between two tokens leaves them one word."""
    mark, rest = between[0], between[1:]
    if mark in _HYPHENS:
        return not rest or (rest.isspace() and ("\n" in rest or mark == "\u00ad"))
    return mark in "'’" and not rest and piece == "t"  # can't


@lru_cache(maxsize=65_536)
def _letters(word: str) -> str:
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word.translate(_RAISED)).casefold()
