"""The numbers of fields (LISTNUM, AUTONUM), which a Word document does not hold: Word counts where it shows them.

ISO/IEC 29500-1, 17.16.5 says how they count, Microsoft's article 162895 which formats Word's own three lists have. What
follows from neither for certain, such as a list of the document's own, is left out, and said to be.
"""

import itertools
import re
from collections import defaultdict
from typing import Final

from tasks.reading.docx.numerals import numeral
from tasks.reading.ooxml import xml

_FIELD: Final = re.compile(
    rb"<w:instrText(?:\s[^<>]*+)?>\s*+((?:LISTNUM|AUTONUM(?:LGL|OUT)?+)(?=[\s<\"&\\])[^<]*+)</w:instrText\s*+>"
)
_ARGUMENT: Final = re.compile(r'"([^"]*+)"|(\\[a-z*])|([^\s"\\]++)', re.IGNORECASE)
_HEADING: Final = re.compile(rb"""<w:pStyle\s(?:[^<]*?\s)??w:val\s*+=\s*+["']heading ?([1-9])["']""", re.IGNORECASE)
_MOST: Final = 5_000
_MOST_CHARACTERS: Final = 500
_LONGEST: Final = 1 << 16
"""Bytes of a paragraph up to a field, and of a field."""

_DIGITS, _LETTERS, _ROMAN = "decimal", "lowerLetter", "lowerRoman"
_LEGAL: Final = "LegalDefault"
_LISTS: Final = {
    "NumberDefault": [(form, sign) for sign in ("{})", "({})", "{}.") for form in (_DIGITS, _LETTERS, _ROMAN)],
    "OutlineDefault": [
        ("upperRoman", "{}."), ("upperLetter", "{}."), (_DIGITS, "{}."), (_LETTERS, "{})"), (_DIGITS, "({})"),
        (_LETTERS, "({})"), (_ROMAN, "({})"), (_LETTERS, "({})"), (_ROMAN, "({})"),
    ],
    _LEGAL: [(_DIGITS, "{}.")] * 9,
}  # fmt: skip


def may_have(data: bytes) -> bool:
    """Whether a part may hold such a field; most hold no field at all."""
    return xml.holds(data, b"<w:instrText") and (xml.holds(data, b"LISTNUM") or xml.holds(data, b"AUTONUM"))


def with_numbers(data: bytes) -> tuple[bytes, int]:
    """A part, in the form that scanners take, with the numbers of its fields as text, and how many are left out."""
    counts = _Counts()
    pieces: list[bytes] = []
    at = unknown = 0
    for index, field in enumerate(_FIELD.finditer(data)):
        if index < _MOST and _has_result(data, field.end()):
            continue
        number = (
            counts.number(field[1][:_MOST_CHARACTERS].decode("utf-8", "replace"), _Place(data, field.start()))
            if index < _MOST
            else ""
        )
        if number:
            pieces += data[at : field.start()], b'<w:t xml:space="preserve">%b</w:t>' % number.encode()
            at = field.end()
        else:
            unknown += 1
    return b"".join((*pieces, data[at:])), unknown


def _has_result(data: bytes, at: int) -> bool:
    """Whether the document holds what the field shows: ISO/IEC 29500 forbids it, some programs write it."""
    end = data.find(b'fldCharType="end"', at, at + _LONGEST)
    return data.find(b'fldCharType="separate"', at, max(end, at)) >= 0


class _Place:
    """Where a field stands: where its paragraph begins, its level as a heading (0: none), what comes before it."""

    def __init__(self, data: bytes, at: int) -> None:
        low = max(0, at - _LONGEST)
        self.start = max(data.rfind(b"<w:p>", low, at), data.rfind(b"<w:p ", low, at), low)
        heading = _HEADING.search(data, self.start, at)
        self.heading = int(heading[1]) if heading else 0
        self.is_in_list = data.find(b"<w:numPr", self.start, at) >= 0
        self.is_behind_words = data.find(b"<w:t>", self.start, at) >= 0 or data.find(b"<w:t ", self.start, at) >= 0


class _Counts:
    """How far each kind of field and each list has counted."""

    def __init__(self) -> None:
        self._levels: defaultdict[str, list[int]] = defaultdict(lambda: [0] * 10)
        self._body: defaultdict[str, int] = defaultdict(int)
        self._list = "NumberDefault"
        self._lost: set[str] = set()
        self._last = (-1, 0)
        """The paragraph of the last LISTNUM, and its level."""

    def number(self, field: str, place: _Place) -> str:
        """What a field shows; "" where that cannot be said."""
        parts = _ARGUMENT.findall(field.replace("&quot;", '"'))
        name, *arguments = [quoted or switch or bare for quoted, switch, bare in parts]
        return (
            self._of_list(arguments, place) if name == "LISTNUM" else self._of_paragraph(name, arguments, place.heading)
        )

    def _of_list(self, arguments: list[str], place: _Place) -> str:
        switches = dict(itertools.pairwise(arguments))
        named = arguments[0] if arguments and not arguments[0].startswith("\\") else ""
        if named not in ("", *_LISTS) or (place.is_in_list and not named):
            return ""
        goes_on = self._last[0] == place.start
        level = switches.get(r"\l", str(self._last[1]) if goes_on else "" if place.is_behind_words else "1")
        start = switches.get(r"\s", "")
        self._list = named or self._list
        known = level in tuple("123456789") and (
            start.isdecimal() and len(start) < 6 if start else self._list not in self._lost
        )
        if not known:
            self._lost.add(self._list)  # how far it has counted is not known until a field says it
            return ""
        self._lost.discard(self._list)
        self._last = place.start, int(level)
        counts = self._levels[self._list]
        counts[int(level)] = int(start) if start else counts[int(level)] + 1
        counts[int(level) + 1 :] = [0] * (9 - int(level))
        return _shown(self._list, counts, int(level))

    def _of_paragraph(self, name: str, arguments: list[str], heading: int) -> str:
        if arguments not in ([], ["\\*", "MERGEFORMAT"], ["\\*", "Arabic"], ["\\e"]):
            return ""
        counts = self._levels[name]
        if heading:
            counts[heading] += 1
            counts[heading + 1 :] = [0] * (9 - heading)
            self._body[name] = 0
        else:
            self._body[name] += 1
        if name == "AUTONUMLGL":
            above = [count for count in counts[1:] if count]
            text = ".".join(map(str, above if heading else [*above, self._body[name]]))
            return text if arguments == ["\\e"] else f"{text}."
        if name == "AUTONUMOUT":
            return _shown("OutlineDefault", counts, heading) if heading else ""
        return f"{counts[heading] if heading else self._body[name]}."


def _shown(name: str, counts: list[int], level: int) -> str:
    if name == _LEGAL:
        return "".join(f"{max(1, count)}." for count in counts[1 : level + 1])
    form, sign = _LISTS[name][level - 1]
    return sign.format(numeral(counts[level], form))
