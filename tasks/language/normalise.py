"""Normalising text: storable characters, one line, names that compare, and tokens that quotations are matched by.

clean, plain      what may be stored, and what people can see of it
one_line          white space as single spaces; `plain_line` and `caseless` build on it
cut_line          the beginning of a text on one line
join_first        a list of names, cut, with how many more there are
same_name         whether two names mean the same company
normalise         a text as the words and figures that it says, each knowing where it stands: for matching quotations

escape_text       text from elsewhere, safe to show: characters that move a cursor or are invisible are spelled out
"""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_UNWANTED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_CONTROLS: Final = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])
_LINE_BREAKS: Final = {"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\x1c": "\n", "\x1d": "\n", "\x1e": "\n"}

MARK: Final = "\ue000"
"""A character for private use that no plain text holds: what needs its own mark in a text may take it."""
_UNSEEN: Final = re.compile(
    "[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ue000\U000e0000-\U000e007f]"
)
"""Controls, directions, and characters without width or shape, in which texts for machines alone are hidden.

The joiners U+200C and U+200D stay: Persian and the scripts of India are written with them.
"""


def clean(text: str) -> str:
    r"""`text` in the form that UTF-8 and PostgreSQL accept: `\n` line ends, no NUL or other control characters, no half
    character.
    """
    try:
        raw = text.encode()
        if len(raw.translate(None, _CONTROLS)) == len(raw):  # 1.8 GB/s, a search for the pattern 0.3
            return text
    except UnicodeEncodeError:  # there are half characters
        pass
    return _UNWANTED.sub(
        lambda sign: _LINE_BREAKS.get(sign[0], "\ufffd" if sign[0] >= "\ud800" else ""), text.replace("\r\n", "\n")
    )


def plain(text: str) -> str:
    r"""`text` without control characters (except `\n` line ends) and without invisible characters."""
    return _UNSEEN.sub("", clean(text))


def one_line(text: str) -> str:
    """`text` on one line with single spaces: no line ends, no tabs, trimmed."""
    return " ".join(text.split())


def cut_line(text: str, longest: int) -> str:
    """`text` on one line, cut after `longest` characters."""
    line = one_line(text)
    return line if len(line) <= longest else f"{line[:longest].rstrip()} …"


def join_first(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first `most` names, and how many more there are: "Lease, Deed and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def plain_line(text: str) -> str:
    """`plain` text on one line."""
    return one_line(plain(text))


def caseless(text: str) -> str:
    """`text` on one line and case-folded, for comparisons."""
    return one_line(text).casefold()


LEGAL_FORMS: Final = frozenset(
    "ab ag akcyjna aps as asa bhd bv co company corp corporation doo gmbh inc incorporated kft kg kgaa kk lda limitada "  # noqa: SIM905 - a list of words reads best as words
    "limited llc llp lp ltd ltda mbh nv odpowiedzialnością ohg oo oy oyj plc pte pty sa sarl sas se sl spa sro srl tbk "
    "uab ug zoo".split()
)
"""The last words of companies' names, without points."""

_PARTS_OF_FORMS: Final = frozenset("ograniczoną private pvt sdn sp spółka z".split())  # noqa: SIM905 - as above


def same_name(name: str, full_name: str) -> bool:
    """Whether `name` is a company's `full_name`, or that name without its legal form (`Alpha` for `Alpha GmbH`).

    Case, spacing and punctuation are ignored. `Alpha AG` is not `Alpha GmbH`, and nothing is guessed: `Alpha` is not
    `Alpha Industries`.
    """
    words, full_words = _name_words(name), _name_words(full_name)
    while full_words:
        if full_words == words:
            return True
        if full_words[-1] not in LEGAL_FORMS or len(full_words) == 1:
            return False
        full_words.pop()
    return False


def read_name(name: str) -> tuple[str, ...]:
    """The words of a company's name without its legal form, in lower case: `alpha` and `robotics`."""
    words = _name_words(name)
    while len(words) > 1 and words[-1] in LEGAL_FORMS | _PARTS_OF_FORMS:
        words.pop()
    return tuple(words)


def _name_words(name: str) -> list[str]:
    """The words of a name. `S.p.A.` and `A/S` are one word; `&` and commas are not words."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.findall(r"\w+", re.sub(r"(?<=\b\w)[./](?=\w\b)", "", folded))


_MARKS: Final = "".join(chr(code) for code in range(0x300, 0x3000) if unicodedata.category(chr(code)).startswith("M"))
_DASHES: Final = "‐‑‒–—−\\-"
_HYPHENS: Final = frozenset("-‐‑\u00ad\ufffe\x02")  # PDFium writes U+FFFE or U+0002 where a hyphen parts a word
CURRENCIES: Final = "$€£¥₹₩₽₺₪₫฿"
_NUMBER_AHEAD: Final = rf"[(]?\s?[{_DASHES}]?\s?\.?\d"
# The order decides: a figure's sign is matched before it would count as punctuation.
_TOKEN: Final = re.compile(
    rf"""
      (?P<number> (?<![\w.,)])\.\d+ | \d{{1,3}}(?:[\u00a0\u2009\u202f]\d{{3}})+(?!\d)(?:[.,]\d+)* | \d+(?:[.,'’]\d+)* )
    | (?P<minus>  (?<![^\W_])[{_DASHES}](?=(?:[A-Z]{{1,2}})?(?:[{CURRENCIES}]\s?)?\.?\d) )
    | (?P<limit>  [<>≤≥≠±~≈∼]=?\s*(?=(?:[A-Z]{{1,2}})?[{CURRENCIES}]?\s?\.?\d) )
    | (?P<debit>  \(\s*(?=(?:[A-Z]{{1,2}})?[{CURRENCIES}]?\s*\d[\d.,'’]*\s*%?\s*\)) )
    | (?P<range>  (?<=\d)(?:[{_DASHES}]\s*|\s+[{_DASHES}]\s+)(?=\d) )
    | (?P<behind> (?<=\d)[{_DASHES}](?=\s|$|[|)]) )
    | (?P<share>  (?:(?<=\d)|(?<=\d\*)|(?<=\d\*\*))\s*(?:[%‰]|[Pp]er\s?cent\b|PER\s?CENT\b|pct\b) )
    | (?P<money>  (?:(?<![^\W_])[A-Z]{{1,2}})?[{CURRENCIES}](?=\s?{_NUMBER_AHEAD}) )
    | (?P<sign>   [\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff] )
    | (?P<word>   [^\W\d_]+(?:[{_MARKS}]+[^\W\d_]*)* )
    """,
    re.VERBOSE,
)
_NUMBER, _MINUS, _LIMIT, _DEBIT, _RANGE, _BEHIND, _SHARE, _MONEY, _SIGN, _WORD = range(1, 11)
_SIGN_OF_MINUS: Final = "-"
_PARTS_OF_FIGURES: Final = frozenset({_SHARE, _BEHIND})
_SIGNS_OF_FIGURES: Final = frozenset({_MINUS, _LIMIT, _DEBIT})
_FOOTNOTES: Final = dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹"))  # raised figures fall away
_NUMBER_SPELLING: Final = str.maketrans({"’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " "})
_MULTIPLES: Final = frozenset(
    "hundred thousand million billion trillion bn mn mio mrd mln tn k m b millionen milliarden lakh lakhs crore "  # noqa: SIM905 - as above
    "crores per "
    "percentage bps bp pp ppt ppts basis m2 m3 km km2 kg mw gw kwh mwh gwh ha sqm days weeks months years hours "
    "t kt mt tonnes tons barrels litres hectares acres".split()
)
_AREAS: Final = re.compile(r"(?:[kcdm]?m|ft|yd|mi|in)[²³]")
"""A raised figure that belongs to its unit; behind other words it is a footnote's."""
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?")
_SAME_WORD, _MULTIPLE_OF = 1, 2  # what joins a token to the one before it
_MAX_TRIES: Final = 10_000  # a text made of one syllable must not keep us for minutes


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """The tokens of a text joined into one string.

    Attributes:
        text: the tokens, one behind the other.
        starts, stops: the span of each token in `text`.
        first, last: its span in the original.
        joined: whether a token belongs to the one before it. No quotation may end between the two. None may begin
            there either where they are one word or figure; it may where they are a figure with its multiple, as in
            `3 million`.
    """

    text: str
    starts: "array[int]"
    stops: "array[int]"
    first: "array[int]"
    last: "array[int]"
    joined: bytearray

    def occurrences(self, needle: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where a normalised text occurs between two offsets of this one, as whole tokens: (first
        token, token after).
        """
        for _ in range(_MAX_TRIES):
            offset = self.text.find(needle, start, end)
            if offset < 0:
                return
            token = bisect_right(self.starts, offset)
            if self.starts[token - 1] == offset and self.joined[token - 1] != _SAME_WORD:
                behind = bisect_left(self.stops, offset + len(needle)) + 1
                ends = self.stops[behind - 1] == offset + len(needle)
                if ends and (behind == len(self.joined) or not self.joined[behind]):
                    yield token - 1, behind
            if token == len(self.starts):
                return
            start = self.starts[token]

    def find_offset(self, original: int) -> int:
        """The offset in `text` of the first token at or after an offset of the original."""
        token = bisect_left(self.first, original)
        return self.starts[token] if token < len(self.starts) else len(self.text)


def normalise(text: str) -> NormalisedText:
    """The text reduced to its words and figures; two quotations that say the same are equal in this form.

    White space, punctuation, capitals, ligatures and hyphens between letters are typesetting and are dropped. Figures
    keep their separators and signs: neither `-3.7` nor `< 3.7 %` is 3.7, and accountants' `(3,700)` is -3,700.

    Time is linear in the text's length: some 2.5 million characters a second.
    """
    starts, stops, first, last, joins = array("I"), array("I"), array("I"), array("I"), bytearray()
    parts: list[str] = []
    length = previous_kind = previous_end = 0  # `length` of the parts so far
    for match in _TOKEN.finditer(text):
        kind, start = match.lastindex or 0, match.start()
        token = _SPELL[kind](match.group()) if kind in _SPELL else _SIGN_OF_MINUS
        if not token:
            continue
        if kind == previous_kind == _NUMBER:  # `1 2` is not 12
            parts.append(" ")
            length += 1
        if kind in _PARTS_OF_FIGURES or previous_kind in _SIGNS_OF_FIGURES:
            join = _SAME_WORD
        else:
            join = _find_join(text, previous_kind, previous_end, kind, start, token) if previous_end else 0
        parts.append(token)
        starts.append(length)
        length += len(token)
        stops.append(length)
        first.append(start)
        last.append(match.end())
        joins.append(join)
        previous_kind, previous_end = kind, match.end()
    return NormalisedText("".join(parts), starts, stops, first, last, joins)


def _find_join(text: str, previous_kind: int, previous_end: int, kind: int, start: int, token: str) -> int:
    """How a token that begins at `start` is joined to the one before it: as one word, as its multiple, or not (0)."""
    gap = start - previous_end
    if _MONEY in {kind, previous_kind} and gap <= 1:
        return _MULTIPLE_OF if previous_kind == _MONEY else 0
    if gap == 0:
        is_spaced_range = _RANGE in {kind, previous_kind} and text[start if kind == _RANGE else start - 1].isspace()
        return _SAME_WORD if _SIGN not in {kind, previous_kind} and not is_spaced_range else 0
    if previous_kind == _NUMBER and token in _MULTIPLES:
        return _MULTIPLE_OF
    if text[previous_end] != " " and _is_one_word(text[previous_end : min(start, previous_end + 40)], token):
        return _SAME_WORD
    return 0


def _spell_number(number: str) -> str:
    """A number without thousands separators: 1,234 becomes 1234."""
    number = number.translate(_NUMBER_SPELLING)
    return number.replace(",", "") if "," in number and _THOUSANDS.fullmatch(number) else number


def _spell_limit(sign: str) -> str:
    return unicodedata.normalize("NFC", sign.strip())


def _is_one_word(between: str, ending: str) -> bool:
    """Whether two tokens separated by these characters are one word; `ending` is the second token."""
    mark, rest = between[0], between[1:]
    if mark in _HYPHENS:
        return not rest or (rest.isspace() and ("\n" in rest or mark == "\u00ad"))
    return mark in "'’" and not rest and ending == "t"  # can't


@lru_cache(maxsize=65_536)
def _normal_word(word: str) -> str:
    if _AREAS.fullmatch(word):
        return unicodedata.normalize("NFKC", word).casefold()
    return word.lower() if word.isascii() else unicodedata.normalize("NFKC", word.translate(_FOOTNOTES)).casefold()


_SPELL: Final[Mapping[int, Callable[[str], str]]] = {
    _WORD: _normal_word,
    _NUMBER: _spell_number,
    _SIGN: _spell_limit,
    _LIMIT: _spell_limit,
    _SHARE: lambda share: share.strip() if "‰" in share else "%",
    _MONEY: str,
}
"""How a token of each kind is spelt; the others are all signs of minus."""


_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_IN_A_LINE: Final = str.maketrans({"\n": "\\u000a", "\t": "\\u0009"})


def escape_text(text: str) -> str:
    r"""The text with control, directional and invisible characters written as in JSON, `\u001b`; `\n` and `\t` stay.

    JSON remains valid and keeps its names. Soft hyphens and the joiners of Persian and Indian scripts stay too.
    """
    # The pattern takes ten times as long to find out what most texts are.
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _UNSAFE.sub(lambda match: spell_characters(match.group()), text)


def escape_line(text: str) -> str:
    """The same without line breaks and tabs, so that nothing in a name can begin a new line."""
    return escape_text(text).translate(_IN_A_LINE)


def spell_characters(characters: str) -> str:
    r"""Each character as `\u1234`; those above U+FFFF as two."""
    units = characters.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
