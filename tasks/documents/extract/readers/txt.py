"""Plain text in any encoding: by its mark, by where its NULs stand, as strict UTF-8, or by its look."""

import re
from typing import Final

from charset_normalizer import from_bytes

from tasks.documents.extract.reading import Reading, Source, clean

VERSION: Final = "txt-1"

_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_LATIN: Final = re.compile(
    "cp125[02478]|cp(?:437|85.|865|1140)|latin|iso8859_(?:1|2|3|4|9|10|13|14|15|16)$|mac_(?!cyr|gre)|hp_roman"
)
_SIGNS: Final = "\xa0‘’“”„‚«»‹›–—…•·€£§°©®™¿¡"
_LETTERS: Final = {
    "cp1252": _SIGNS + "àâäáãåæçèéêëíîïñòóôöõøœùúûüÿßÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÒÓÔÖÕØŒÙÚÛÜŸªº",
    "cp1250": _SIGNS + "áâăäąćčçďđéęěëíîĺľłńňóôőöŕřśşšťţúůűüýźżžßÁÂĂÄĄĆČÇĎĐÉĘĚËÍÎĹĽŁŃŇÓÔŐÖŔŘŚŞŠŤŢÚŮŰÜÝŹŻŽ",
    "cp1254": _SIGNS + "çğıöşüâîûÇĞİÖŞÜÂÎÛ",
    "cp1257": _SIGNS + "āčēģīķļņšūžąčęėįšųūžõäöüĀČĒĢĪĶĻŅŠŪŽĄČĘĖĮŠŲŪŽÕÄÖÜ",
    "mac_roman": _SIGNS + "àâäáãåæçèéêëíîïñòóôöõøœùúûüÿßÀÂÄÁÃÅÆÇÈÉÊËÍÎÏÑÒÓÔÖÕØŒÙÚÛÜŸªº",
}
_FITS: Final = 0.8
_SAMPLE: Final = 1 << 16
_BEFORE, _AFTER = 2_000, 14_000
"""The window that the detector sees, in bytes round the first one that is not ASCII."""


def read(source: Source) -> Reading:
    """The text of the file in `source`, to the character but for its line ends. An empty file is an empty text."""
    text, sure = decoded(source if isinstance(source, bytes) else source.read_bytes())
    doubt = "The file does not say how its characters are encoded: some may be wrong."
    return Reading(clean(text), warnings=[] if sure else [doubt])


def decoded(data: bytes) -> tuple[str, bool]:
    """The text in `data`, and whether its encoding is certain."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), True
    wide = _wide_encoding(data[:_SAMPLE])
    if wide is not None:
        return data.decode(wide, "replace"), True
    if b"\x1b$" in data[:_SAMPLE]:
        try:
            return data.decode("iso2022_jp_2"), True
        except UnicodeDecodeError:
            pass
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode(_likely_encoding(data), "replace"), False


def _wide_encoding(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: ASCII characters leave NULs at every second byte, or at three of four."""
    if len(sample) < 4 or sample.count(0) * 5 < len(sample):
        return None
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
    return None


def _likely_encoding(data: bytes) -> str:
    """What the detector says of the text round the first byte that is not ASCII, else Windows' Western code page.

    Among the code pages of Latin letters, which the detector mixes up, the one whose letters fit best is taken.
    """
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, (first.start() if first else 0) - _BEFORE)
    window = data[start : start + _BEFORE + _AFTER]
    best = from_bytes(window).best()
    if best is not None and not _LATIN.match(best.encoding):
        return best.encoding
    fits = {encoding: _fit(window, encoding, letters) for encoding, letters in _LETTERS.items()}
    fitting = max(fits, key=lambda encoding: fits[encoding])
    return best.encoding if best is not None and fits[fitting] < _FITS else fitting


def _fit(window: bytes, encoding: str, letters: str) -> float:
    """The share of the characters beyond ASCII that the languages of a code page use."""
    beyond = [character for character in window.decode(encoding, "replace") if character > "\x7f"]
    return sum(character in letters for character in beyond) / max(1, len(beyond))
