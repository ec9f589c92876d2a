"""Which code page a text in other letters than Latin is in: the one in which its characters are those of a language.

Each code page gives the bytes other characters. How likely these are is told by the letters of a language in the order
of their frequency, by capitals where words begin, and for the Far East by its most frequent characters. Detectors that
look at longer texts take five words of Greek for Chinese.
"""

import codecs
from collections.abc import Callable, Mapping
from functools import cache
from math import log2
from typing import Final

_LETTERS: Final = {
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

_CODE_PAGES: Final = {
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
_SIGNS: Final = frozenset("\xa0«»—–“”„‘’…•§№°·，。、：；（）《》「」・ー！？％　")

_LIKELY: Final = -11.0
"""The likelihood of a byte beyond ASCII, as a power of two, from which on a text is taken for one of a language."""

_ASCII: Final = -5.0
_ODD: Final = -17.0
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

_SAMPLE: Final = 2_000
_Likelihood = Callable[[str], float]


def code_page(sample: bytes) -> str | None:
    """The code page of a text in other letters than Latin; None where none makes a language of it."""
    start = next((at for at, byte in enumerate(sample) if byte > 127), len(sample))
    sample = sample[max(0, start - 1) : start + _SAMPLE]
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
        for languages in _LETTERS.values()
        for letters in languages
    }

    def likelihood(languages: tuple[str, ...]) -> _Likelihood:
        return lambda text: max(_in_letters(text, by_language[letters]) for letters in languages)

    return tuple((page, likelihood(_LETTERS[script])) for page, script in _CODE_PAGES.items())


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
        if character in _SIGNS:
            return _SIGN
        raw = character.encode(encoding)
        if len(raw) == 2 and first <= int.from_bytes(raw, "big") <= last and (raw[1] > 0xA0 or not whole):
            return likely
        return _ODD * len(raw)

    return lambda text: sum(map(likelihood, text))
