"""Plain text in any encoding: by its byte order mark, the pattern of UTF-16, strict UTF-8, or its alphabet.

Text in Latin letters that is not UTF-8 is in the code page whose letters form one language's alphabet. Detectors by
frequency confuse these code pages (they take Italian for Czech and Hungarian for French); charset-normalizer is only
asked if no alphabet fits.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from charset_normalizer import from_bytes

from tasks.reading.limits import keep_memory
from tasks.reading.text_writer import Reading, Source
from tasks.reading.txt import scripts

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
    return code_page(sample, first) or scripts.code_page(sample)


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
