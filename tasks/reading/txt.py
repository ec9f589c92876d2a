"""Plain text in any encoding: by its byte order mark, the pattern of UTF-16, strict UTF-8, or its alphabet.

Text in Latin letters that is not UTF-8 is in the code page whose letters form one language's alphabet. Detectors by
frequency confuse these code pages (they take Italian for Czech and Hungarian for French); charset-normalizer is only
asked if no alphabet fits.

A text in other letters than Latin is in the code page in which its characters are those of a language. Each code page
gives the bytes other characters. How likely these are is told by the letters of a language in the order of their
frequency, by capitals where words begin, and for the Far East by its most frequent characters. Detectors that look at
longer texts take five words of Greek for Chinese.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import log2
from typing import Final

from charset_normalizer import from_bytes

from tasks.reading.limits import keep_memory
from tasks.reading.text_writer import Reading, Source

_FREQUENT: Final = {
    "cyrillic": (
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оанивіетрслкудмпяьзбгйчхцюїєжшщфґ", "аоиентрсвлкдпмузягъбчщжйцшхфюь",
        "аоиејнртсвудкпмлзгбчцжшћхђљњфџ",
    ),
    "greek": ("αοιετσνηυρπκμλςίόάγέήδωχθύφβώξζψϊϋΐΰ",),
    "hebrew": ("יוהלאתרבשמנכדקעחפםגסטזצןךץף",),
    "arabic": ("اليمونترهبدعفسحةكقجصشطأخىذضزثغئءظؤإآ",),
    "thai": ("านรอกเ่งท้มัยลวีดิส์ตะปบคืแจุหพชขใูไำโผซ็ณึศถฐภธษญฝฉฟฏฎฆฬฑฒฮๆฯ",),
}  # fmt: skip
"""The letters of one language each, the most frequent first."""

_SCRIPTS: Final = {
    "cp1251": "cyrillic", "koi8-r": "cyrillic", "koi8-u": "cyrillic", "cp866": "cyrillic", "iso8859-5": "cyrillic",
    "mac_cyrillic": "cyrillic", "cp1253": "greek", "iso8859-7": "greek", "cp737": "greek", "cp1255": "hebrew",
    "iso8859-8": "hebrew", "cp862": "hebrew", "cp1256": "arabic", "iso8859-6": "arabic", "cp874": "thai",
}  # fmt: skip
"""Of those that are equally likely the first is taken."""

_CHINESE: Final = (
    "的一是不了在人有我他这中大来上国和地到以说时要就出会可也你对生能而子得于着下自之年过发后作里用道行所然家种事成"
    "方多经么去法学如都同现当没动面起定分还进好小部其些主理心本前开但因只从想实日者力与长把机十民第公此已工使情明性"
    "知全三又关点正业外将两高间由问最重并物手应向头文体政相见被利二等产或新己制身果加月话合回特代内信表化司企营收"
    "入额价款股份董财务报资负债润税付购销售担保条约总名称金审计期末支"
)
_TRADITIONAL: Final = (
    "的一是不了在人有我他這中大來上國和地到以說時要就出會可也你對生能而子得於著下自之年過發後作里用道行所然家種事成"
    "方多經麼去法學如都同現當沒動面起定分還進好小部其些主理心本前開但因只從想實日者力與長把機十民第公此已工使情明性"
    "知全三又關點正業外將兩高間由問最重並物手應向頭文體政相見被利二等產或新己制身果加月話合回特代內信表化司企營收"
    "入額價款股份董財務報資負債潤稅付購銷售擔保條約總名稱金審計期末支"
)
_JAPANESE: Final = (
    "日一国会人年大十二本中長出三同時事自行社見月分議後前民生連五間対上部東者地合市業内方四定今回新場金員立開手力"
    "学高明円関決子動全目表経通外最言理現体当八六約主意法不来作性的要用制治度務気小七成期公取和以機平総加世区領多"
    "進正数報院女第産結支百教書先共解名交資予原件売額価益税株式契払収入高計監査役給"
)
_KOREAN: Final = (
    "이다는의에을가하고를한로은지도사기어서자나리시대인그있일해수정아보부전스과것들조주제성상라만구여우장원동공게세생"
    "면진유관신연회비안계경소용마니치선오중물개적와모당법무방실요행습입위미발반업국간통결같현표화산품증금매건약총액출내월"
    "말급본년차고및"
)
_KANA: Final = (
    "のにはをたがでとしてなれいもるあうかさこらりくまえきよせつんすけみそろわおめやちほどだぶへばゆひじずねむ"
)
_SHARED_SIGNS: Final = frozenset("\xa0«»—–“”„‘’…•§№°·，。、：；（）《》「」・ー！？％　")

_LIKELY: Final = -11.0
"""The likelihood of a byte beyond ASCII, as a power of two, from which on a text is taken for one of a language."""

_ASCII: Final = -5.0
_UNLIKELY: Final = -17.0
_SIGN: Final = -9.0
_BESIDE_LATIN: Final = -12.0
"""Letters of two alphabets in one word."""

_FALL: Final = 0.92
"""How much rarer each letter is than the one before it."""

_LAST: Final = frozenset("ςךםןףץةى")
_NOT_LAST: Final = frozenset("σכמנפצ")
_NOT_FIRST: Final = frozenset("ьыъ")
"""Letters that stand at the end of words alone, that have another form there, and that begin none."""

_MISPLACED: Final = -6.0

_FIRST: Final = log2(0.25)
_LOWER: Final = log2(0.9)
_NEXT_CAPITAL: Final = log2(0.85)
_ODD_CAPITAL: Final = -12.0
"""How likely a letter is to be a capital where a word begins, to be none, to be one behind one, and within a word."""

_LETTERS_READ: Final = 2_000
_Likelihood = Callable[[str], float]


def code_page_by_letters(sample: bytes) -> str | None:
    """The code page of a text in other letters than Latin; None where none makes a language of it."""
    start = next((at for at, byte in enumerate(sample) if byte > 127), len(sample))
    sample = sample[max(0, start - 1) : start + _LETTERS_READ]
    high = sum(byte > 127 for byte in sample)
    if not high:
        return None
    best, most = None, _LIKELY * high
    for encoding, likelihood in (*_alphabets(), *_characters()):
        text = _decode(sample, encoding)
        if text is not None:
            likely = likelihood(text) - _ASCII * (len(sample) - high)
            if likely > most:
                best, most = encoding, likely
    return best


def _decode(sample: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)  # its last character may be cut
    except UnicodeDecodeError:
        return None


@cache
def _alphabets() -> tuple[tuple[str, _Likelihood], ...]:
    by_language = {
        letters: {letter: log2((1 - _FALL) * _FALL**rank) for rank, letter in enumerate(letters)}
        for languages in _FREQUENT.values()
        for letters in languages
    }

    def likelihood(languages: tuple[str, ...]) -> _Likelihood:
        return lambda text: max(_in_letters(text, by_language[letters]) for letters in languages)

    return tuple((page, likelihood(_FREQUENT[script])) for page, script in _SCRIPTS.items())


def _in_letters(text: str, letters: Mapping[str, float]) -> float:
    """The probability of a text in one alphabet, as a power of two."""
    likely = 0.0
    for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if character < "\x80":
            likely += _ASCII + (_BESIDE_LATIN if before > "\x7f" and character.isalpha() and before.isalpha() else 0)
            continue
        lower = character.lower()
        likely += letters.get(lower, _SIGN if character in _SHARED_SIGNS else _UNLIKELY)
        if before < "\x80" and before.isalpha() and character.isalpha():
            likely += _BESIDE_LATIN
        if lower != character.upper():
            likely += _case(before, character)
        ends = not after.isalpha()
        if lower in (_NOT_LAST if ends else _LAST) or (lower in _NOT_FIRST and not before.isalpha()):
            likely += _MISPLACED
    return likely


def _case(before: str, character: str) -> float:
    """The probability that a letter has this case after that character, as a power of two."""
    if character.islower():
        return _LOWER
    if before.islower():
        return _ODD_CAPITAL
    return _NEXT_CAPITAL if before.isupper() else _FIRST


@cache
def _characters() -> tuple[tuple[str, _Likelihood], ...]:
    kana = dict.fromkeys(_KANA, log2(0.5 / len(_KANA)))
    katakana = {chr(code): log2(0.1 / 86) for code in range(0x30A1, 0x30F7)}
    wide = {chr(code): log2(0.05 / 94) for code in range(0xFF01, 0xFF5F)}
    usual = wide | kana | katakana | dict.fromkeys(_JAPANESE, log2(0.2 / len(_JAPANESE)))
    chinese = dict.fromkeys(_CHINESE, log2(0.45 / len(_CHINESE)))
    traditional = dict.fromkeys(_TRADITIONAL, log2(0.45 / len(_TRADITIONAL)))
    korean = dict.fromkeys(_KOREAN, log2(0.7 / len(_KOREAN)))
    return (
        ("cp932", _in_characters(usual, "cp932", (0x889F, 0x9872), log2(0.15 / 2965))),
        ("euc_jp", _in_characters(usual, "euc_jp", (0xB0A1, 0xCFD3), log2(0.15 / 2965))),
        ("gb18030", _in_characters(chinese, "gb18030", (0xB0A1, 0xD7F9), log2(0.45 / 3755))),
        ("big5", _in_characters(traditional, "big5", (0xA440, 0xC67E), log2(0.45 / 5401))),
        ("cp949", _in_characters(korean, "cp949", (0xB0A1, 0xC8FE), log2(0.25 / 2350))),
    )


def _in_characters(usual: Mapping[str, float], encoding: str, common: tuple[int, int], likely: float) -> _Likelihood:
    """The likelihood of a text: of its most usual characters, and of those that its character set has in front."""
    first, last = common
    whole = encoding in ("gb18030", "cp949")  # rare characters stand between these

    def likelihood(character: str) -> float:
        if character < "\x80":
            return _ASCII
        if character in usual:
            return usual[character]
        if character in _SHARED_SIGNS:
            return _SIGN
        raw = character.encode(encoding)
        if len(raw) == 2 and first <= int.from_bytes(raw, "big") <= last and (raw[1] > 0xA0 or not whole):
            return likely
        return _UNLIKELY * len(raw)

    return lambda text: sum(map(likelihood, text))


keep_memory()

_ALPHABETS: Final = {
    "western": (
        "éèàêç âæëîïôœùûüÿ", "äöüß é", "áéíñóú üªº", "àèéóòíç ïúü·", "ãçáéíóõêú àâôüªº", "àèéìòù íîóú",
        "ëéï áèêíóöüú", "åäö éü", "æøå éäüöòôè", "áéíóúæö ðýþ", "ŵŷ âêîôûáéïö", "çë",
    ),
    "central": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß é"),
    "turkish": ("çğıiöşü",),
    "baltic": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöü šž"),
}  # fmt: skip
"""The letters beyond ASCII of one language each; after a space those that are rare in it, or what another code page has
there: Turkish for Icelandic."""

_CODE_PAGES: Final = {
    "cp1252": "western", "cp1250": "central", "iso8859-2": "central", "cp1254": "turkish", "cp1257": "baltic",
    "iso8859-15": "western", "mac_roman": "western", "cp850": "western", "cp437": "western", "cp852": "central",
    "mac_latin2": "central",
}  # fmt: skip
"""Of those that fit equally well the first is taken."""

_SIGNS: Final = frozenset("\xa0‘“”„‚«»‹›–—…•·€£§°©®™¿¡²³½¼¾×±µ†")
_PLACES: Final = re.compile(rb"(?s)(?=(.[\x80-\xff].))")
_FITS: Final = 0.9
_OF_SEVERAL: Final = 0.95
"""What letters of several languages of a code page count, as a share of those of one."""

_RARE: Final = 0.97
"""What rare letters count: Latvian would be French otherwise."""

_SPARSE: Final = 0.4
"""A share of letters beyond ASCII that no language in Latin letters has."""

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_MOST: Final = 64 << 20
"""Bytes that are read, a whole number of characters in UTF-16 and UTF-32: their text may take four times as much."""

UNSURE: Final = "The file does not say how its characters are encoded: some may be wrong."
TOO_LONG: Final = f"The file is too long: its first {_MOST >> 20} MB were read."

SLOW_CODECS: Final = frozenset({"idna", "punycode", "utf-7"})
"""Codecs of Python that take a time that grows with the square of the length."""

_SAMPLE: Final = 1 << 16
_BEFORE, _AFTER = 2_000, 14_000
"""The window that is judged, in bytes round the first one that is not ASCII."""

_ODD: Final = bytes([*range(1, 9), *range(14, 27), 28, 29, 30, 31])
_HIGH: Final = bytes(range(128, 256))
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CONTROLS: Final = bytes([*range(9), *range(11, 32), 127])
"""All but the tab and the line feed."""

_GONE: Final = bytes([*range(1, 9), *range(14, 28), 31, 127])
_INSTEAD: Final = bytes.maketrans(b"\0\r\x0b\x0c\x1c\x1d\x1e", b" \n\n\n\n\n\n")


def read(source: Source, declared_encoding: Callable[[bytes], str | None] = lambda _: None) -> Reading:
    """The text of the file in `source`, exact except for line ends and control characters; a NUL becomes a space.

    Of a file above 64 MB the first 64 MB are read, with a warning: the rest would not fit into memory. An empty file
    gives an empty text. `declared_encoding` finds the encoding that a file of some format declares.
    """
    text, warnings = text_and_warnings(source, declared_encoding)
    return Reading("" if text.isspace() else text, warnings=warnings)


def text_and_warnings(
    source: Source, declared_encoding: Callable[[bytes], str | None] = lambda _: None
) -> tuple[str, list[str]]:
    """The text and what a user should know about it, for readers of structured text."""
    data, complete = read_beginning(source)
    text, sure = tidy_text(data, declared_encoding(data))
    warnings = [] if sure else [UNSURE]
    if not complete:
        warnings.append(TOO_LONG)
    return text, warnings


def tidy_text(data: bytes, declared: str | None = None) -> tuple[str, bool]:
    r"""The text as by `decode_text`, with `\n` line ends and without control characters."""
    text, sure = decode_text(data, declared)
    raw = text.encode()
    tidy = _tidy(raw)
    if tidy is raw:
        return text, sure
    del text, raw  # of a file of 64 MB they take up to 320
    return tidy.decode(), sure


def decode_text(data: bytes, declared: str | None = None) -> tuple[str, bool]:
    """The text in `data`, and whether its encoding is certain.

    A declared encoding counts if no byte order mark contradicts it and its bytes agree.
    """
    mark, encoding, sure = _find_marked_encoding(data)
    if encoding is None and declared is not None and declared.lower() not in SLOW_CODECS:
        with suppress(UnicodeError, LookupError):
            return data.decode(declared).encode().decode(), True  # some codecs give halves of characters
    if encoding is None:
        try:
            return data.decode(), True
        except UnicodeDecodeError:
            encoding, sure = _likely_encoding(data), False
    return str(memoryview(data)[mark:], encoding, "replace"), sure


def _tidy(data: bytes) -> bytes:
    """`data` with uniform line ends and no control characters; the same object if it has none."""
    if _is_clean(data):
        return data
    tidy = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\f", b"\n")
    return tidy if _is_clean(tidy) else tidy.translate(_INSTEAD, _GONE)


def _is_clean(data: bytes) -> bool:
    """Whether there are no control characters except tabs and line feeds."""
    return len(data.translate(None, _CONTROLS)) == len(data)


def _find_marked_encoding(data: bytes) -> tuple[int, str | None, bool]:
    """The length of the byte order mark, the encoding if the mark or the bytes show it, and whether it is certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return len(mark), encoding, True
    sample = data[:_SAMPLE]
    if _is_clean(sample.replace(b"\r", b"")):
        return 0, None, False
    wide = _wide_encoding(sample)
    if wide is not None:
        return 0, wide, True
    if b"\x1b$" in sample:
        try:
            data.decode("iso2022_jp_2")
        except UnicodeDecodeError:
            pass
        else:
            return 0, "iso2022_jp_2", True
    return 0, None, False


def read_beginning(source: Source) -> tuple[bytes, bool]:
    """The bytes to read, and whether they are all. They end with a complete line, except in UTF-16 and UTF-32."""
    if isinstance(source, bytes):
        data = source
    elif source.stat().st_size <= _MOST:
        return source.read_bytes(), True
    else:
        with source.open("rb") as file:
            data = file.read(_MOST + 1)
    if len(data) <= _MOST:
        return data, True
    data = data[:_MOST]
    return data if b"\0" in data[:_SAMPLE] else data[: data.rfind(b"\n") + 1] or data, False


def _wide_encoding(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: ASCII characters leave NULs in every second byte, or in three of four.

    Other letters leave control characters, which no other text has, and make sense in only one byte order.
    """
    if len(sample) < 4:
        return None
    if sample.count(0) * 5 >= len(sample):
        nuls = [sample[offset::4].count(0) / len(sample[offset::4]) for offset in range(4)]
        if nuls[1] > 0.5 and nuls[2] > 0.9 and nuls[3] > 0.9 and nuls[0] < 0.1:
            return "utf-32-le"
        if nuls[0] > 0.9 and nuls[1] > 0.9 and nuls[2] > 0.5 and nuls[3] < 0.1:
            return "utf-32-be"
        even, odd = nuls[0] + nuls[2], nuls[1] + nuls[3]
        if odd > 0.4 and even < odd / 8:
            return "utf-16-le"
        if even > 0.4 and odd < even / 8:
            return "utf-16-be"
    if (len(sample) - len(sample.translate(None, _ODD))) * 50 > len(sample):
        sense = {encoding: _sense(sample, encoding) for encoding in ("utf-16-le", "utf-16-be")}
        best = max(sense, key=lambda encoding: sense[encoding])
        return best if sense[best] > 0.9 else None
    return None


def _sense(sample: bytes, encoding: str) -> float:
    """The share of characters that are letters, digits, spaces, ASCII or East Asian punctuation."""
    text = sample[: len(sample) & ~1].decode(encoding, "replace")
    return sum(
        character.isalnum() or character.isspace() or " " <= character <= "~" or "\u2010" <= character <= "\u303f"
        for character in text
    ) / len(text)


def _likely_encoding(data: bytes) -> str:
    """The code page that yields an alphabet around the first non-ASCII byte, otherwise the detector's guess."""
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, (first.start() if first else 0) - _BEFORE)
    window = data[start : start + _BEFORE + _AFTER]
    known = guess_code_page(window)
    if known is not None:
        return known
    best = from_bytes(window).best()
    return "cp1252" if best is None else best.encoding


def guess_code_page(sample: bytes, first: Sequence[str] = ()) -> str | None:
    """The code page of a text by its letters; None if it makes a text of no language. `first` is as in `code_page`."""
    return code_page(sample, first) or code_page_by_letters(sample)


def code_page(sample: bytes, first: Sequence[str] = ()) -> str | None:
    """The code page of a text in Latin letters; None if none fits, as for text in other letters.

    Of several that fit equally well one of `first` is taken.
    """
    high = len(sample) - len(sample.translate(None, _HIGH))
    if high > _SPARSE * (high + len(sample) - len(sample.translate(None, _LETTERS))):
        return None
    places = Counter(_PLACES.findall(b" " + sample + b" "))
    fits = {encoding: _fit(places, encoding) for encoding in (*first, *_CODE_PAGES)}
    best = max(fits, key=lambda encoding: fits[encoding])
    return best if fits[best] >= _FITS else None


def _fit(places: Counter[bytes], encoding: str) -> float:
    """The share of non-ASCII characters that one language would use between these neighbours."""
    signs = 0
    letters: Counter[str] = Counter()
    for place, count in places.items():
        before, character, after = tuple(place.decode(encoding, "replace"))
        if character == "’" or (character in _SIGNS and not (before.isalpha() and after.isalpha())):
            signs += count
        elif character.isalpha() and not (
            (character.isupper() and before.islower()) or (character.islower() and after.isupper())
        ):
            letters[character.lower()[0]] += count
    alphabets = _ALPHABETS[_CODE_PAGES[encoding]]
    one = max(_count(letters, *alphabet.split()) for alphabet in alphabets)
    several = sum(letters[letter] for letter in set("".join(alphabets)))
    return (signs + max(one, _OF_SEVERAL * several)) / places.total()


def _count(letters: Counter[str], common: str, rare: str = "") -> float:
    return sum(letters[letter] for letter in common) + _RARE * sum(letters[letter] for letter in rare)
