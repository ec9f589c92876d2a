"""How the cells of a workbook are shown: for each kind of cell (type and format), its texts by stored value.

Values repeat, so each result is computed once and cached. Texts are UTF-8 bytes, because they are joined to rows many
at a time before they are decoded. `ooxml/number_formats.py` says how numbers are shown.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.ooxml.number_formats import TELLING_LENGTH, show_number, without_noise
from tasks.reading.ooxml.xml import TAG_END, unescape

LONGEST: Final = 1 << 20
"""Bytes of a cell that are read. Excel lets one hold 32,767 characters."""

_ROOM: Final = 64 << 20
"""Bytes of texts that are kept at a time."""

_ENTRY: Final = 200
"""What keeping a text costs besides its characters, and those of its value, in bytes."""

_MOST_KNOWN: Final = 50_000
_ATTRIBUTE: Final = re.compile(rb"""\s([ts])\s*+=\s*+["']([^"'<]*)["']""")

_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_PHONETIC: Final = re.compile(rb"<rPh%(end)b\s*+(?:<t%(end)b[^<]*+</t>\s*+)?+</rPh>" % {b"end": TAG_END})
_WORDS: Final = re.compile(rb"<t" + TAG_END + rb"([^<]*+)")
_MOMENT: Final = re.compile(rb"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.0*+)?+Z?")
_INDICES: Final[list[bytes]] = []


class CellTexts(dict[bytes, bytes]):
    """The texts of one kind of cell by stored value."""

    def __init__(self, work_out: Callable[[bytes], bytes], kinds: "CellKinds") -> None:
        super().__init__()
        self._work_out = work_out
        self._kinds = kinds

    def __missing__(self, value: bytes) -> bytes:
        text = self[value] = self._work_out(value)
        kinds = self._kinds
        kinds.bytes_held += len(value) + len(text) + _ENTRY
        if kinds.bytes_held > _ROOM:
            kinds.forget()
        if len(value) > LONGEST:
            kinds.clipped = True
        return text

    def column(self, values: list[bytes]) -> Iterable[bytes]:
        """The texts of cells one below the other."""
        return map(self.__getitem__, values)


class _PlainNumbers(CellTexts):
    """Numbers that no format changes: most are shown as they are stored."""

    def column(self, values: list[bytes]) -> Iterable[bytes]:
        joined = b"\t".join(values)
        is_plain = max(map(len, values)) < TELLING_LENGTH and not any(sign in joined for sign in (b"E", b"&", b".0\t"))
        return values if is_plain and not joined.endswith(b".0") else super().column(values)


class CellKinds(dict[bytes, CellTexts]):
    """The texts of a cell by its attributes, such as ` s="3" t="s">`.

    `strings` and `codes` (see `Workbook`) are called when the first cell needs them. `longest` is the length in bytes
    of the longest string that cells refer to, `bytes_held` that of the cached texts; `clipped`: a cell was longer than
    LONGEST; `from_1904`: days are counted from that year.
    """

    def __init__(
        self,
        strings: Callable[[], Sequence[bytes]],
        codes: Callable[[], Mapping[bytes, str]],
        *,
        from_1904: bool,
    ) -> None:
        super().__init__()
        self.longest = 0
        self.clipped = False
        self.bytes_held = 0
        self._strings = strings
        self._codes = codes
        self.from_1904 = from_1904
        self._texts: dict[tuple[bytes, str], CellTexts] = {}

    def __missing__(self, attributes: bytes) -> CellTexts:
        pairs = dict(_ATTRIBUTE.findall(attributes))
        kind = pairs.get(b"t", b"n")
        code = self._codes().get(pairs.get(b"s", b"0"), "") if kind == b"n" else ""
        texts = self._of(kind, code)
        self.bytes_held += len(attributes) + _ENTRY
        if self.bytes_held > _ROOM:
            self.forget()
        self[attributes] = texts
        return texts

    def _of(self, kind: bytes, code: str) -> CellTexts:
        if (kind, code) in self._texts:
            return self._texts[kind, code]
        work_out: Callable[[bytes], bytes] = characters
        if kind == b"s":
            work_out = self.string
            self.longest = max(map(len, self._strings()), default=0)
        elif kind == b"b":
            work_out = _truth
        elif kind == b"d":
            work_out = _date
        elif kind == b"n":
            work_out = partial(_format, code=code, from_1904=self.from_1904) if code else number
        texts = self._texts[kind, code] = (_PlainNumbers if work_out is number else CellTexts)(work_out, self)
        if kind == b"s" and len(self._strings()) <= _MOST_KNOWN:
            texts.update(zip(_indices(len(self._strings())), self._strings(), strict=False))
        return texts

    def code(self, style: bytes) -> str:
        """The format code of a style by its number; "" for the general format."""
        return self._codes().get(style, "")

    def string(self, index: bytes) -> bytes:
        """The shared string with that number; b"" if there is none."""
        index, strings = _plain(index).strip(), self._strings()
        return strings[int(index)] if index.isdigit() and len(index) < 9 and int(index) < len(strings) else b""

    def forget(self) -> None:
        """Clear the cache, which has exceeded _ROOM."""
        self.bytes_held = 0
        self.clear()
        for texts in self._texts.values():
            texts.clear()


def _indices(count: int) -> list[bytes]:
    """At least `count` indices in the form that cells use, made once: they are the same in all workbooks."""
    if len(_INDICES) < count:
        _INDICES.extend(b"%d" % index for index in range(len(_INDICES), count))
    return _INDICES


def _format(raw: bytes, *, code: str, from_1904: bool) -> bytes:
    stored = _plain(raw).decode("utf-8", "replace")
    shown = show_number(stored, code, from_1904=from_1904)
    return shown.encode() if shown is not stored else characters(raw)


def _truth(raw: bytes) -> bytes:
    return b"TRUE" if _plain(raw).strip() in (b"1", b"true") else b"FALSE" if raw else b""


def _date(raw: bytes) -> bytes:
    """An ISO date in the form used elsewhere: 2024-01-31, or 2024-01-31 14:30:00."""
    text = characters(raw)
    moment = _MOMENT.fullmatch(text)
    return text if moment is None else moment[1] if moment[2] == b"00:00:00" else b"%b %b" % moment.groups()


def _plain(value: bytes) -> bytes:
    """A stored number without character references, which a writer may use even there."""
    return unescape(value.decode("utf-8", "replace")).encode("utf-8", "replace") if b"&" in value else value


def characters(raw: bytes) -> bytes:
    """Raw text from a part on one line, with entities and `_x000D_` decoded."""
    raw = raw[:LONGEST]
    if raw.isascii() and b"&" not in raw and b"_x" not in raw:
        return b" ".join(raw.split())
    text = unescape(raw.decode("utf-8", "replace"))
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return one_line(text).encode("utf-8", "replace")


def rich_text(item: bytes) -> bytes:
    """The words of a string item (`si`, `is`, `text`), still escaped, without the phonetic guides
    of East Asian text.
    """
    if b"<rPh" in item:
        item = _PHONETIC.sub(b"", item)
    return b"".join(_WORDS.findall(item))


def number(raw: bytes) -> bytes:
    """A stored number that no format changes, tidied up."""
    if len(raw) < TELLING_LENGTH and raw[-2:] != b".0" and b"E" not in raw and b"&" not in raw:
        return raw
    return without_noise(_plain(raw).decode("utf-8", "replace")).encode()
