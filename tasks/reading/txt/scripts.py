"""Which code page a text in Cyrillic or Greek letters is in: the one in which its characters are those of a language.

Each code page gives the bytes other characters. How likely these are is told by the letters of a language in the order
of their frequency, and by capitals where words begin. Detectors that look at longer texts take five words of Greek for
Chinese; texts in other scripts are left to them.
"""

import codecs
from collections.abc import Mapping
from functools import cache
from math import log2
from typing import Final

_LETTERS: Final = {
    "cyrillic": (
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оанивіетрслкудмпяьзбгйчхцюїєжшщфґ", "аоиентрсвлкдпмузягъбчщжйцшхфюь",
        "аоиејнртсвудкпмлзгбчцжшћхђљњфџ",
    ),
    "greek": ("αοιετσνηυρπκμλςίόάγέήδωχθύφβώξζψϊϋΐΰ",),
}  # fmt: skip
"""The letters of one language each, the most frequent first."""

_CODE_PAGES: Final = {
    "cp1251": "cyrillic", "koi8-r": "cyrillic", "koi8-u": "cyrillic", "cp866": "cyrillic", "iso8859-5": "cyrillic",
    "mac_cyrillic": "cyrillic", "cp1253": "greek", "iso8859-7": "greek", "cp737": "greek",
}  # fmt: skip
"""Of those that are equally likely the first is taken."""

_SIGNS: Final = frozenset("\xa0«»—–“”„‘’…•§№°·，。、：；（）《》「」・ー！？％　")

_LIKELY: Final = -8.0
"""The likelihood of a byte beyond ASCII, as a power of two, from which on a text is taken for one of a language."""

_ASCII: Final = -5.0
_ODD: Final = -17.0
_SIGN: Final = -9.0
_BESIDE_LATIN: Final = -12.0
"""Letters of two alphabets in one word."""

_FALL: Final = 0.92
"""How much rarer each letter is than the one before it."""

_NOT_FIRST: Final = frozenset("ьыъ")
"""Letters that begin no word."""

_MISPLACED: Final = -6.0

_FIRST: Final = log2(0.25)
_LOWER: Final = log2(0.9)
_NEXT_CAPITAL: Final = log2(0.85)
_ODD_CAPITAL: Final = -12.0
"""How likely a letter is to be a capital where a word begins, to be none, to be one behind one, and within a word."""

_SAMPLE: Final = 2_000


def code_page(sample: bytes) -> str | None:
    """The code page of a text in Cyrillic or Greek letters; None where none makes a language of it."""
    start = next((at for at, byte in enumerate(sample) if byte > 127), len(sample))
    sample = sample[max(0, start - 1) : start + _SAMPLE]
    high = sum(byte > 127 for byte in sample)
    if not high:
        return None
    best, most = None, _LIKELY * high
    for encoding, script in _CODE_PAGES.items():
        text = _decode(sample, encoding)
        if text is not None:
            likely = max(_in_letters(text, letters) for letters in _alphabets(script)) - _ASCII * (len(sample) - high)
            if likely > most:
                best, most = encoding, likely
    return best


def _decode(sample: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)  # its last character may be cut
    except UnicodeDecodeError:
        return None


@cache
def _alphabets(script: str) -> list[dict[str, float]]:
    """The probability of each letter in the languages of a script, as a power of two."""
    return [
        {letter: log2((1 - _FALL) * _FALL**rank) for rank, letter in enumerate(letters)} for letters in _LETTERS[script]
    ]


def _in_letters(text: str, letters: Mapping[str, float]) -> float:
    """The probability of a text in one alphabet, as a power of two."""
    likely = 0.0
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if character < "\x80":
            likely += _ASCII + (_BESIDE_LATIN if before > "\x7f" and character.isalpha() and before.isalpha() else 0)
            continue
        lower = character.lower()
        likely += letters.get(lower, _SIGN if character in _SIGNS else _ODD)
        if before < "\x80" and before.isalpha() and character.isalpha():
            likely += _BESIDE_LATIN
        if lower != character.upper():
            likely += _case(before, character)
        if lower == ("σ" if not after.isalpha() else "ς") or (lower in _NOT_FIRST and not before.isalpha()):
            likely += _MISPLACED
    return likely


def _case(before: str, character: str) -> float:
    """The probability that a letter has this case after that character, as a power of two."""
    if character.islower():
        return _LOWER
    if before.islower():
        return _ODD_CAPITAL
    return _NEXT_CAPITAL if before.isupper() else _FIRST
