"""How much room text takes in Arial: its lines, and what fits on them. No library of slides is needed to know it."""

from typing import Final
from unicodedata import combining, east_asian_width

from tasks.reports.wording import xml_text

_BY_WIDTH: Final = {
    0.191: "'",
    0.222: "ijl",
    0.26: "|",
    0.278: " !,./:;I[\\]ft\xa0·",
    0.333: "()-`r“”‘’",
    0.355: '"{}',
    0.389: "*",
    0.469: "^",
    0.5: "Jcksvxyz\u202f",
    0.556: "#$0123456789?L_abdeghnopqu–",
    0.584: "+<=>~",
    0.611: "FTZß",
    0.667: "&ABEKPSVXY",
    0.722: "CDHNRUw",
    0.778: "GOQ",
    0.833: "Mm",
    0.889: "%",
    0.944: "W",
    1.015: "@…—",
}
_OTHER: Final = 0.69
"""The width of any other character that is not as wide as high: rather too much than too little."""
_NARROWEST: Final = 0.19


class _Widths(dict[str, float]):
    """Character widths in ems; missing ones are computed on demand."""

    def __missing__(self, character: str) -> float:
        wide = east_asian_width(character) in "WF"
        width = 0.0 if combining(character) else 1.0 if wide else _OTHER
        self[character] = width
        return width


_WIDTHS: Final = _Widths({character: width for width, group in _BY_WIDTH.items() for character in group})


def wrap_text(text: str, width: float, size: float) -> list[str]:
    """The text as lines of at most `width` points; a word longer than a line breaks anywhere."""
    room = width / size
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line: list[str] = []
        used = 0.0
        for word in paragraph.split(" "):
            wide = sum(map(_WIDTHS.__getitem__, word))
            if line and used + _WIDTHS[" "] + wide > room:
                lines.append(" ".join(line))
                line, used = [], 0.0
            if wide > room:
                *pieces, word = _broken(word, room)  # noqa: PLW2901 - what is left of it
                lines += pieces
                wide = sum(map(_WIDTHS.__getitem__, word))
            used += wide + (_WIDTHS[" "] if line else 0.0)
            line.append(word)
        lines.append(" ".join(line))
    return lines


def _broken(word: str, room: float) -> list[str]:
    """A word in pieces that fit into that many ems, each with at least one character."""
    pieces, begin, used = [], 0, 0.0
    for at, character in enumerate(word):
        used += _WIDTHS[character]
        if used > room and at > begin:
            pieces.append(word[begin:at])
            begin, used = at, _WIDTHS[character]
    return [*pieces, word[begin:]]


def line_count(text: str, width: float, size: float) -> int:
    """How many lines of `width` points the text takes; an empty text takes one."""
    return len(wrap_text(text, width, size))


def fit_text(text: str, width: float, size: float, lines: int = 1) -> str:
    """The text on at most that many lines, with its white space normalised; if it is too long it ends in an ellipsis.

    Characters that an Office file cannot contain are left out.
    """
    text = " ".join(xml_text(text).split())
    longest = int(lines * width / size / _NARROWEST) + 1
    rows = wrap_text(text[:longest], width, size)
    if len(rows) <= lines and len(text) <= longest:
        return text
    begin = 0
    for row in rows[: lines - 1]:
        begin = text.index(row, begin) + len(row)
    begin += text[begin : begin + 1] == " "
    rest = text[begin:longest]
    last = _broken(rest, width / size - _WIDTHS["…"] - _WIDTHS[" "])[0]
    words, _, cut = last.rpartition(" ")
    last = words if words and len(cut) < len(last) / 2 else last
    return (text[:begin] + last).rstrip(" ,;:–-") + " …"
