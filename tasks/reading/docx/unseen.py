"""Words of a Word document that nobody sees: hidden, tiny, or white where nothing coloured stands behind them.

They are enclosed as `xml.UNSEEN_WORDS`.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple

from tasks.reading.docx.styles import Styles, find_look
from tasks.reading.ooxml import xml

_SIGNS: Final = {
    b"<w:vanish": b"",
    **{b'<w:sz w:val="%d"' % half_points: b"" for half_points in (1, 2, 3)},
    b'<w:color w:val="F': b"[A-F]F",
    b'<w:color w:val="f': b"[a-f]f",
}
"""What every part with unseen words holds, and the pattern behind it: the first is found in no time."""

_TINY: Final = re.compile(rb"""<w:sz w:val="[0-3]"\s*+/>""")
"""No larger than 1.5 points (ISO/IEC 29500-1, 17.3.2.38)."""

_WORDS: Final = re.compile(rb"(<w:t(?:\s[^<>]*+)?>)([^<]++)(?=</w:t>)")
_STYLE: Final = re.compile(rb"""<w:(?:p|r|tbl)Style\s++w:val="([^"<]*+)""")
_FRAME: Final = re.compile(rb"<(/?)w:(tbl|tc|txbxContent)(?=[\s>])[^<>]*+>")
_PROPERTIES: Final = re.compile(
    rb"<[^<>]*+>\s*+(?:</?w:(?:bookmark|comment|customXml|move|perm|proof)[^<>]*+>\s*+)*+"
    rb"<w:(r|p|tc|tbl)Pr(?:\s[^<>]*+)?+(?<!/)>"
)
"""A tag, and where the properties of what it opens begin."""

_NOT_ITS_OWN: Final = re.compile(rb"<w:(?:rPr|\w++(?<=PrChange))[\s>]")
"""What follows are the properties of a paragraph's mark, or those before a tracked change."""

_LONGEST_PROPERTIES: Final = 4_000
_BEHIND: Final = (b'behindDoc="1"', b"<w:pict", b"<w:background")
"""Pictures and shapes behind the words of a page, and the colour of all pages."""


def may_lie_behind(part: bytes) -> bool:
    """Whether a part has pictures or shapes that may lie behind words, or colours the pages."""
    return any(xml.holds(part, sign) for sign in _BEHIND)


class _Ground(NamedTuple):
    """A table, cell or text box that words stand in, and whether it or what it stands in may be coloured."""

    name: bytes
    is_coloured: bool


class UnseenWords:
    """Finds such words in the parts of one document.

    `has_background` says whether pictures or a colour may lie behind all words; it is asked only if that matters.
    """

    def __init__(self, styles: Styles, has_background: Callable[[], bool]) -> None:
        self._styles = styles
        self._has_background = cache(has_background)

    def mark(self, data: bytes, styles: Iterable[bytes]) -> bytes:
        """A part with its unseen words enclosed; itself if it has none. Words in these styles may be unseen."""
        signs = _SIGNS | {b'Style w:val="%b"' % style: b"" for style in styles}
        used = [re.escape(sign) + behind for sign, behind in signs.items() if xml.holds(data, sign)]
        is_likely = re.compile(b"|".join(used)).search
        if not used or is_likely(data) is None:
            return data
        pieces = data.split(b"</w:r>")
        grounds: list[_Ground] = []
        paragraph: bytes | None = b""
        followed = end = 0
        goes_on = False  # the paragraph with something likely
        for number, piece in enumerate(pieces):
            begin, end = end, end + len(piece) + len(b"</w:r>")
            goes_on = (goes_on and b"<w:p>" not in piece and b"<w:p " not in piece) or is_likely(piece) is not None
            start = max(piece.rfind(b"<w:r>"), piece.rfind(b"<w:r ")) if goes_on else -1
            if start < 0:
                continue
            at = begin + start
            opened = max(data.rfind(b"<w:p>", followed, at), data.rfind(b"<w:p ", followed, at))
            if opened >= 0:
                paragraph = _properties(data, opened)
            self._follow(data, followed, at, grounds)
            followed = at
            if self._hides(_properties(data, at), paragraph, bool(grounds) and grounds[-1].is_coloured):
                pieces[number] = piece[:start] + _WORDS.sub(xml.MARK_UNSEEN, piece[start:])
        return b"</w:r>".join(pieces)

    def _follow(self, data: bytes, start: int, end: int, grounds: list[_Ground]) -> None:
        """Open and close the tables, cells and text boxes there; what is in a text box may always be coloured."""
        for frame in _FRAME.finditer(data, start, end):
            closes, name = frame.groups()
            if not closes:
                is_coloured = name == b"txbxContent" or (bool(grounds) and grounds[-1].is_coloured)
                is_coloured = is_coloured or self._is_coloured(_properties(data, frame.start()))
                grounds.append(_Ground(name, is_coloured))
            elif grounds and grounds[-1].name == name:
                grounds.pop()

    def _hides(self, run: bytes | None, paragraph: bytes | None, is_on_colour: bool) -> bool:
        """Whether the words of a run cannot be seen, given its properties and those of its paragraph."""
        if run is None:
            return False
        look = find_look(run)
        for style in (*_STYLE.findall(run), *_STYLE.findall(paragraph or b"")):
            look = look.over(self._styles.look(style))
        if look.hides or _TINY.search(run):
            return True
        if not look.is_white or look.is_shaded or is_on_colour or self._is_coloured(paragraph):
            return False
        return not self._has_background()

    def _is_coloured(self, properties: bytes | None) -> bool:
        """Whether properties put a colour behind words; those that are not known may do so."""
        return (
            properties is None
            or find_look(properties).is_shaded
            or any(self._styles.look(style).is_shaded for style in _STYLE.findall(properties))
        )


def _properties(data: bytes, start: int) -> bytes | None:
    """The properties of what a tag at `start` opens, as they are now; None if they are too long to be read."""
    opened = _PROPERTIES.match(data, start)
    if opened is None:
        return b""
    end = data.find(b"</w:%bPr>" % opened[1], opened.end(), opened.end() + _LONGEST_PROPERTIES)
    own = _NOT_ITS_OWN.search(data, opened.end(), opened.end() + _LONGEST_PROPERTIES if end < 0 else end)
    return data[opened.end() : own.start() if own else end] if own or end >= 0 else None
