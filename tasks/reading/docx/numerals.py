"""The numbers of lists as Word writes them: letters, Roman numerals, ordinals, words, other alphabets.

ISO/IEC 29500-1, 17.18.59 (ST_NumberFormat) names the formats. Words are English; what is not known here, and what is
too large for its format, is written in digits, as Word does where a language has no such words.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN: Final = "абвгдежзиклмнопрстуфхцчшщыэюя"
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
_CHINESE_DIGITS: Final = "〇一二三四五六七八九"
_CHINESE_UNITS: Final = ("", "十", "百", "千")
_HEBREW_ONES: Final = ("", "א", "ב", "ג", "ד", "ה", "ו", "ז", "ח", "ט")
_HEBREW_TENS: Final = ("", "י", "כ", "ל", "מ", "נ", "ס", "ע", "פ", "צ")
_HEBREW_HUNDREDS: Final = ("", "ק", "ר", "ש")
_SEQUENCES: Final = {
    "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "decimalEnclosedCircleChinese": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "ideographEnclosedCircle": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "aiueo": "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "thaiLetters": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
}
"""Formats that count through a row of characters. What lies beyond its end is written in digits."""


@lru_cache(maxsize=4096)
def numeral(number: int, number_format: str) -> str:
    """`number` in a format of that name; in digits where it has none in it.

    Cached, since each paragraph of a list shows the numbers of the levels above it again.
    """
    if number_format == "none":
        return ""
    write = _FORMATS.get(number_format)
    if write is not None:
        return write(number) or str(number)
    sequence = _SEQUENCES.get(number_format, "")
    return sequence[number - 1] if 1 <= number <= len(sequence) else str(number)


def pad_number(number: int, width: int) -> str:
    """`number` with zeros in front, so that it has as many digits: 7 as "007"."""
    return str(number).zfill(width)


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
    if not 1 <= number < 10_000:
        return ""
    thousands, rest = divmod(number, 1000)
    hundreds, rest = divmod(rest, 100)
    pieces = [f"{_ONES[thousands]} thousand" if thousands else "", f"{_ONES[hundreds]} hundred" if hundreds else ""]
    pieces.append(_ONES[rest] if rest < 20 else "-".join(filter(None, (_TENS[rest // 10], _ONES[rest % 10]))))
    return " ".join(filter(None, pieces))


def _ordinal_words(number: int) -> str:
    words = _cardinal_words(number)
    start = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[start:]
    if not last:
        return ""
    return words[:start] + _ORDINALS.get(last, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def _chinese(number: int) -> str:
    if not 1 <= number < 10_000:
        return ""
    pieces: list[str] = []
    digits = str(number)
    for units, digit in zip(range(len(digits) - 1, -1, -1), digits, strict=True):
        if digit != "0":
            pieces.append(_CHINESE_DIGITS[int(digit)] + _CHINESE_UNITS[units])
        elif pieces and pieces[-1] != "〇":
            pieces.append("〇")
    text = "".join(pieces).rstrip("〇")
    return text[1:] if text.startswith("一十") else text


def _chinese_digits(number: int) -> str:
    return "".join(_CHINESE_DIGITS[int(digit)] for digit in str(number)) if number >= 0 else ""


def _hebrew(number: int) -> str:
    """Letters whose values make the number; 15 and 16 without those of a name of God."""
    if not 1 <= number < 400:
        return ""
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    low = {15: "טו", 16: "טז"}.get(rest, _HEBREW_TENS[tens] + _HEBREW_ONES[ones])
    return _HEBREW_HUNDREDS[hundreds] + low


def _digits(zero: str) -> Callable[[int], str]:
    """Decimal digits of another script, given its zero."""
    return lambda number: "".join(chr(ord(digit) - ord("0") + ord(zero)) for digit in str(number))


_FORMATS: Final[dict[str, Callable[[int], str]]] = {
    "decimal": str,
    "decimalZero": lambda number: pad_number(number, 2),
    "lowerLetter": _letters(_LATIN),
    "upperLetter": _letters(_LATIN.upper()),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "cardinalText": lambda number: _cardinal_words(number).capitalize(),
    "ordinalText": lambda number: _ordinal_words(number).capitalize(),
    "russianLower": _letters(_RUSSIAN),
    "russianUpper": _letters(_RUSSIAN.upper()),
    "chicago": _letters(_FOOTNOTES),
    "hex": lambda number: f"{number:X}",
    "numberInDash": lambda number: f"- {number} -",
    "decimalFullWidth": _digits("０"),
    "decimalFullWidth2": _digits("０"),
    "thaiNumbers": _digits("๐"),
    "hindiNumbers": _digits("०"),
    "hebrew1": _hebrew,
    "chineseCounting": lambda number: _chinese(number) if number < 100 else _chinese_digits(number),
    "chineseCountingThousand": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "taiwaneseCounting": lambda number: _chinese(number) if number < 100 else _chinese_digits(number),
    "japaneseCounting": lambda number: _chinese(number) if number < 100 else "",
    "ideographDigital": _chinese_digits,
    "taiwaneseDigital": _chinese_digits,
    "japaneseDigitalTenThousand": _chinese_digits,
}
