"""Numbers that are written as signs: those of lists (letters, Roman numerals, ordinals, words), and raised marks.

Lists are numbered as Word, PowerPoint and browsers do it. ISO/IEC 29500-1, 17.18.59 (ST_NumberFormat) names the
formats. Words are English; what is not known here, as other alphabets, and what is too large for its format, is written
in digits, as Word does where a language has no such words.

Raised marks are footnote numbers and exponents, written as Unicode superscripts so that nobody reads them as part of a
number: "1,234" followed by a raised 3 reads `1,234³`, ten to the sixth `10⁶`. Raised words ("1st") are left alone.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_MOST_LETTERS: Final = 30
"""Word goes on with aa, bb, aaa … up to this many."""

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN: Final = 32_767

_ONES: Final = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS: Final = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
                    "nine": "ninth", "twelve": "twelfth"}  # fmt: skip
_FOOTNOTES: Final = "*†‡§"
_CIRCLES: Final = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


@lru_cache(maxsize=4096)
def numeral(number: int, number_format: str) -> str:
    """`number` in a format of that name; in digits where it has none in it.

    Cached, since each paragraph of a list shows the numbers of the levels above it again.
    """
    if number_format == "none":
        return ""
    write = _FORMATS.get(number_format, str)
    return write(number) or str(number)


@lru_cache(maxsize=1024)
def column_letters(column: int) -> str:
    """The name of a column, AB for 28; also how browsers letter lists (CSS Counter Styles 3, 6.1)."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _letters(alphabet: str) -> Callable[[int], str]:
    def letters(number: int) -> str:
        times, position = divmod(number - 1, len(alphabet))
        return alphabet[position] * (times + 1) if 0 <= times < _MOST_LETTERS else ""

    return letters


def _roman(number: int) -> str:
    if not 1 <= number <= _LARGEST_ROMAN:
        return ""
    pieces: list[str] = []
    for value, letters in _ROMAN:
        times, number = divmod(number, value)
        pieces.append(letters * times)
    return "".join(pieces)


def _ordinal(number: int) -> str:
    tens, ones = divmod(abs(number) % 100, 10)
    return f"{number}{'th' if tens == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(ones, 'th')}"


def _cardinal_words(number: int) -> str:
    if not 1 <= number < 100:
        return ""
    return _ONES[number] if number < 20 else "-".join(filter(None, (_TENS[number // 10], _ONES[number % 10])))


def _ordinal_words(number: int) -> str:
    tens, hyphen, last = _cardinal_words(number).rpartition("-")
    if not last:
        return ""
    return tens + hyphen + _ORDINALS.get(last, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


_FORMATS: Final[dict[str, Callable[[int], str]]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": _letters(_LATIN),
    "upperLetter": _letters(_LATIN.upper()),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "cardinalText": lambda number: _cardinal_words(number).capitalize(),
    "ordinalText": lambda number: _ordinal_words(number).capitalize(),
    "chicago": _letters(_FOOTNOTES),
    "hex": lambda number: f"{number:X}",
    "numberInDash": lambda number: f"- {number} -",
    "decimalEnclosedCircle": lambda number: _CIRCLES[number - 1 : number] if number > 0 else "",
}


_RAISED: Final = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_MARK: Final = re.compile(r"\s*[0-9(+−-][0-9(),;+−* -]{0,11}\s*")
TEXT_OF_RUN: Final = rb"(?:<(?!/?(?:[aw]:)?[rt][\s>])[^<>]*+>\s*+){0,60}+<(?:[aw]:)?t(?:\s[^<>]*+)?>)([^<]{1,16})(?=</)"
"""What follows a property of a run in Office documents, up to its text: the end of one group, and another."""

_RAISED_RUN: Final = re.compile(
    rb"""(<(?:(?:w:)?vertAlign\s(?:w:)?val="superscript"\s*+/>|a:rPr\s(?:[^<>]*?\s)?baseline="[1-9]\d*+"[^<>]*+>)"""
    + TEXT_OF_RUN
)


def raise_text(text: str) -> str:
    """A raised text in superscript digits if it is a mark, otherwise unchanged; the length is the same."""
    return text.translate(_RAISED) if _MARK.fullmatch(text) else text


def raise_words(words: bytes) -> bytes:
    """`raise_text` of words in UTF-8."""
    return raise_text(words.decode("utf-8", "replace")).encode()


def with_raised_runs(data: bytes) -> bytes:
    """A part of an Office document with the raised marks in its runs as superscripts.

    ISO/IEC 29500-1: `w:vertAlign` (17.3.2.42), `vertAlign` of rich text (18.4.14), `baseline` (21.1.2.3.9).
    """
    if data.rfind(b'"superscript"') < 0 and data.rfind(b' baseline="') < 0:  # from the end, as in `xml.holds`
        return data
    return _RAISED_RUN.sub(lambda run: run[1] + raise_words(run[2]), data)
