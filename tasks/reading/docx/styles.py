"""What the styles and tags of a Word document mean: headings, lists, header rows, raised marks, unseen words.

Words are unseen if they are hidden, tiny, or white where nothing coloured stands behind them. They are enclosed as
`xml.UNSEEN_WORDS`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.reading.numerals import TEXT_OF_RUN, raise_words
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.xml import ATTRIBUTES

_HEADINGS: Final = re.compile(rb"Heading[1-9]|Title")
_OTHERS: Final = re.compile(rb"Normal|NormalWeb|NoSpacing|ListParagraph|Header|Footer|CommentText|TOC[1-9]")
"""Word's own styles: with what is known of them, 18 of 142 public documents need to have their styles inflated."""

_STYLE: Final = b"<w:style"
_FACT: Final = re.compile(
    rb"""<(?:w:(name|basedOn|outlineLvl|numId|ilvl)\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)|w:(tblStylePr)(?=\s)([^<]*+))"""
)
_FIRST_ROW: Final = re.compile(rb"""\sw:type\s*+=\s*+["']firstRow["']""")
_VANISH: Final = re.compile(rb"""<w:vanish\s*+(?:w:val="([^"<]*+)"\s*+)?/>""")
"""What hides words (ISO/IEC 29500-1, 17.3.2.41)."""

_COLOUR: Final = re.compile(rb"""<w:color\s(?:[^<>]*?\s)?w:val="([^"<]*+)""")
_SHADE: Final = re.compile(
    rb"""<w:(?:highlight\s(?![^<>]*?w:val="(?:none|white)")"""
    rb"""|shd\s(?=[^<>]*?w:(?:fill="(?!auto"|(?:F[A-F]){3}")|val="(?!clear"|nil"))))""",
    re.IGNORECASE,
)
"""What puts a colour behind words (ISO/IEC 29500-1, 17.3.2.15 and 17.3.5)."""

_LEVEL: Final = re.compile(
    rb'<w:((?:position|sz)(?=\s++w:val="-?[0-9])|vertAlign(?=\s++w:val="[a-z]))\s++w:val="(-?[0-9]{1,4}|[a-z]{1,20})"'
)
"""How words are raised or lowered, and their size (ISO/IEC 29500-1, 17.3.2.24, 38 and 42)."""

_WHITE: Final = re.compile(rb"(?:F[A-F]){3}", re.IGNORECASE)
_HIDES: Final = re.compile(rb"""<w:(?:vanish[\s/]|color\s(?:[^<>]*?\s)?w:val="(?:F[A-F]){3}")""", re.IGNORECASE)
SIGNS_IN_STYLES: Final = (b"<w:vanish", b'"FFFFFF"', b'"ffffff"')
"""One of them is in every part with styles that hide words."""

_USUAL: Final = b"<"  # stands for the name of a style where none says how words stand on the line
_BASE: Final = re.compile(rb"""<w:basedOn\s++w:val="([^"<]*+)""")
_MOST_HIDING: Final = 20
"""Each costs a search through the document."""

_MOST_BASES: Final = 20
"""Styles may be based on each other in a circle."""

_LONGEST_STYLE: Final = 100_000

_LONGEST_PROPERTIES: Final = 4_000
_TABLE_STYLE: Final = re.compile(rb"""<w:tblStyle\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)""")
_LOOK: Final = re.compile(rb"<w:tblLook(?=\s)(%b)/?>" % ATTRIBUTES)
_FIRST_ROW_FLAG: Final = 0x20  # of `w:tblLook`: the first row looks like a header (ISO/IEC 29500-4, 14.4.2)

_PLAIN_TABLES: Final = (b"TableGrid", b"TableNormal")
_HEADED_TABLES: Final = re.compile(
    rb"(?:Light|Medium|Dark|Colorful)(?:Shading|List|Grid)[1-3]?.*|(?:Grid|List|Plain)Table[1-7].*"
)
"""Word's own styles whose first row is set off; of others it is looked up."""


class StyleNumber(NamedTuple):
    """The list that a style belongs to; `level` is None if it names none; `style` is the style that says so."""

    list_id: int
    level: int | None
    style: bytes


class StyleFacts(NamedTuple):
    """The effect of a style on a paragraph or table."""

    heading: bool = False
    number: StyleNumber | None = None
    header_row: bool = False


_HEADING: Final = StyleFacts(heading=True)
_NOTHING: Final = StyleFacts()


class Look(NamedTuple):
    """How words look, as far as a style or a run says so: hidden or not, their colour ("" if none is said), whether
    something coloured is behind them, and by name the properties that say how they stand on the line.
    """

    hides: bool | None = None
    colour: bytes = b""
    is_shaded: bool = False
    level: Mapping[bytes, bytes] = {}

    def over(self, base: "Look") -> "Look":
        """What a look says, and of what it does not say what the one that it is based on says."""
        hides = base.hides if self.hides is None else self.hides
        return Look(hides, self.colour or base.colour, self.is_shaded or base.is_shaded, {**base.level, **self.level})

    @property
    def is_white(self) -> bool:
        """Whether words of that colour cannot be told from white paper."""
        return _WHITE.fullmatch(self.colour) is not None


def find_look(properties: bytes, start: int = 0, end: int | None = None) -> Look:
    """What the properties between `start` and `end` of a part say themselves; a colour that was behind words before a
    tracked change counts as well.
    """
    bounds = start, len(properties) if end is None else end
    before = properties.find(b"<w:rPrChange", *bounds)
    now = start, before if before >= 0 else bounds[1]
    vanish, colour = _VANISH.search(properties, *now), _COLOUR.search(properties, *now)
    hides = None if vanish is None else is_on((vanish[1] or b"").decode("utf-8", "replace"))
    is_shaded, level = _SHADE.search(properties, *bounds) is not None, dict(reversed(_LEVEL.findall(properties, *now)))
    return Look(hides, colour[1] if colour else b"", is_shaded, level)


class _Own(NamedTuple):
    """What a style itself specifies, and the id of the style that it is based on."""

    base: bytes
    heading: bool | None
    list_id: int | None
    level: int | None
    header_row: bool


class Styles(dict[bytes, StyleFacts | None]):
    """Facts by style id, as written in the parts; None for a style without any effect.

    The styles are only unpacked when one is needed that Word does not name itself; in a document with lists also for
    headings and for styles linked to a list.

    Attributes:
        in_lists: says whether a list is made for a style; None in a document without lists.
    """

    def __init__(self, load: Callable[[], bytes]) -> None:
        """`load` returns the styles, in the form for scanners."""
        self._load = load
        self.in_lists: Callable[[bytes], bool] | None = None

    def __missing__(self, style: bytes) -> StyleFacts | None:
        is_heading = _HEADINGS.fullmatch(style) is not None
        if not is_heading and _OTHERS.fullmatch(style) is not None:
            if self.in_lists is None or not self.in_lists(style):
                return self.setdefault(style, None)
        elif is_heading and (self.in_lists is None or not self._numbers or style not in self._starts):
            return self.setdefault(style, _HEADING)
        return self._by_definition(style)

    @cached_property
    def hiding(self) -> list[bytes]:
        """The styles of paragraphs and characters that make words unseen; of very many the first ones."""
        offsets = [*self._starts.values()]
        own = {bisect_right(offsets, match.start()) - 1 for match in _HIDES.finditer(self._data)}
        tags = (self._data.rfind(_STYLE, 0, offsets[number]) for number in own if number >= 0)
        if all(b'w:type="table"' in xml.read_tag_rest(self._data, tag + len(_STYLE)) for tag in tags):
            return []
        looks = ((name, self.look(name)) for name in self._starts)
        return [name for name, look in looks if look.hides or (look.is_white and not look.is_shaded)][:_MOST_HIDING]

    def look(self, style: bytes) -> Look:
        """How a style makes words look, by itself or by what it is based on."""
        look = Look()
        for _ in range(_MOST_BASES):
            if style not in self._looks:
                break
            style, base = self._looks[style]
            look = look.over(base)
        return look

    def look_of_words(self, run: bytes, paragraph: bytes | None) -> Look:
        """How words look with the properties of their run and paragraph."""
        look = find_look(run)
        for style in (*_STYLE_NAME.findall(run), *_STYLE_NAME.findall(paragraph or b""), _USUAL):
            look = look.over(self.look(style))
        return look

    @cached_property
    def _looks(self) -> dict[bytes, tuple[bytes, Look]]:
        """The base of each style, and how it makes words look by itself; and the defaults with the first style."""
        usual = dict(_LEVEL.findall(self._data, 0, self._data.find(b"</w:style>")))
        looks: dict[bytes, tuple[bytes, Look]] = {_USUAL: (b"", Look(level=usual))}
        for (name, at), (_, end) in pairwise([*self._starts.items(), (b"", len(self._data))]):
            base = _BASE.search(self._data, at, end)
            looks[name] = base[1] if base else b"", find_look(self._data, at, end)
        return looks

    @cached_property
    def _data(self) -> bytes:
        return self._load()

    @cached_property
    def _numbers(self) -> bool:
        return xml.holds(self._data, b"<w:numPr")

    @cached_property
    def _starts(self) -> dict[bytes, int]:
        """The offset at which the content of each style begins."""
        return xml.find_elements(self._data, _STYLE, b"w:styleId")

    def _by_definition(self, style: bytes) -> StyleFacts | None:
        asked = style
        chain: dict[bytes, _Own] = {}
        while style not in self and style not in chain and len(chain) <= _MOST_BASES:
            start = self._starts.get(style, -1)
            if start < 0:
                break
            chain[style] = self._own(start)
            style = chain[style].base
        facts = self.get(style)
        for name, own in reversed(chain.items()):
            facts = _together(name, own, facts or _NOTHING)
            self[name] = facts if facts != _NOTHING else None
        return self.setdefault(asked, None)

    def _own(self, at: int) -> _Own:
        """What the style at the offset `at` itself specifies."""
        heading: bool | None = None
        values: dict[bytes, bytes] = {}
        header_row = False
        end = at + _LONGEST_STYLE
        for bound in (b"</w:style", _STYLE):
            found = self._data.find(bound, at, end)
            end = found if found >= 0 else end
        for kind, value, _, condition in _FACT.findall(self._data, at, end):
            if condition:
                header_row |= _FIRST_ROW.search(condition) is not None
            elif kind == b"outlineLvl":
                heading = heading or b"0" <= value < b"9"
            elif kind == b"name":
                name = value.lower()
                heading = heading or name.startswith(b"heading ") or name == b"title" or heading
            else:
                values.setdefault(kind, value)
        return _Own(
            values.get(b"basedOn", b""), heading, _number(values, b"numId"), _number(values, b"ilvl"), header_row
        )


def has_header_row(data: bytes, at: int, styles: Mapping[bytes, StyleFacts | None]) -> bool:
    """Whether the table whose properties are at `at` sets off its first row, and its style does so too."""
    end = data.find(b"</w:tblPr", at, at + _LONGEST_PROPERTIES)
    style = _TABLE_STYLE.search(data, at, max(at, end))
    if style is None or style[1] in _PLAIN_TABLES:
        return False
    look = _LOOK.search(data, style.end(), end)
    if look is None:
        return False
    first_row = xml.attribute(look[1], b"w:firstRow")
    if not (is_on(first_row) if first_row else hexadecimal(xml.attribute(look[1], b"w:val")) & _FIRST_ROW_FLAG):
        return False
    if _HEADED_TABLES.fullmatch(style[1]) is not None:
        return True
    facts = styles[style[1]]
    return facts is not None and facts.header_row


def is_on(value: str) -> bool:
    """Whether a property is on: its presence means yes, unless its value says otherwise."""
    return value not in ("0", "false", "off")


def hexadecimal(value: str) -> int:
    """`value` as a number; 0 if it is not one."""
    try:
        return int(value, 16)
    except ValueError:
        return 0


def _together(name: bytes, own: _Own, base: StyleFacts) -> StyleFacts:
    number = base.number
    if own.list_id is not None:
        level = own.level if own.level is not None or number is None else number.level
        number = StyleNumber(own.list_id, level, name)
    elif own.level is not None and number is not None:
        number = number._replace(level=own.level, style=name)
    return StyleFacts(base.heading if own.heading is None else own.heading, number, own.header_row or base.header_row)


def _number(values: dict[bytes, bytes], kind: bytes) -> int | None:
    value = values.get(kind, b"")
    return int(value) if value.isdigit() and len(value) < 10 else None


TAGS: Final = re.compile(
    rb"""<(?:
        w:(?:
            t(?:(?:>|\sxml:space="preserve">|(?=\s)%b(?<!/)>)(?P<text>[^<]*+)
                (?:</w:t></w:r>(?:</w:p>(?P<last>)(?:<w:p(?=[\s/>]))?+)?+)?+  # what mostly follows, in the same step
              | ab\s*+/?>(?P<tab>)  # with attributes it is a tab stop
              | c(?:(?=[\s/>])(?P<cell>) | PrChange(?=[\s>])(?P<tcPrChange>))
              | r(?:(?=[\s>])(?P<row>) | PrChange(?=[\s>])(?P<trPrChange>))
              | bl(?:(?=[\s>])(?P<table>) | Header(?=[\s/>])(?P<repeated>))
              | xbxContent(?=[\s>])(?P<box>))
          | p(?:(?=[\s>])(?P<paragraph>)
              | Style\s(?:[^<]*?\s)??w:val\s*+=\s*+["'](?P<style>[^"'<]*+)
              | tab(?=[\s/>])(?P<ptab>)
              | PrChange(?=[\s>])(?P<pPrChange>))
          | n(?:umPr(?=[\s>])%b(?<!/)>(?P<number>[^<]*+(?:</?w:(?:ilvl|numId)[\s>][^<]*+)*+)
              | oBreakHyphen(?=[\s/>])(?P<hyphen>))
          | grid(?:Span | Before)(?=[\s/>])(?P<columns>)
          | br(?=[\s/>])(?P<br>)
          | c(?:r(?=[\s/>])(?P<cr>) | ommentReference(?=[\s/>])(?P<comments>)
              | heckBox(?=[\s>])(?P<checkbox>))
          | outlineLvl(?=[\s/>])(?P<level>)
          | sym(?=[\s/>])(?P<symbol>)
          | d(?:el(?=[\s>])(?P<del>) | dList(?=[\s>])(?P<choice>))
          | ins(?=[\s>])(?P<ins>)
          | move(?:From(?=[\s>])(?P<moveFrom>) | To(?=[\s>])(?P<moveTo>))
          | footnoteReference(?=[\s/>])(?P<footnotes>)
          | endnoteReference(?=[\s/>])(?P<endnotes>)
          | altChunk(?=[\s/>])(?P<chunk>)
        )
      | /w:(?:p\s*+>(?P<paragraph_end>)(?:<w:p(?=[\s/>]))?+
              | t(?:c\s*+>(?P<cell_end>) | r\s*+>(?P<row_end>) | bl\s*+>(?P<table_end>)
                  | xbxContent\s*+>(?P<box_end>))
              | ins\s*+>(?P<ins_end>)
              | moveTo\s*+>(?P<moveTo_end>))
      | a:(?:t(?:>|\s[^<>]*+(?<!/)>)(?P<drawn>[^<]*+)
           | p(?=[\s>])(?P<drawn_paragraph>)
           | br(?=[\s/>])(?P<drawn_br>))
      | /a:p\s*+>(?P<drawn_end>)
      | wp:docPr(?=\s)(?P<picture>)
      | pic:cNvPr(?=[\s/>])(?P<inner_picture>)
      | m:oMath(?=[\s>])(?P<formula>)
      | c(?:x:|:)chart(?=[\s/>])(?P<chart>)
      | dgm:relIds(?=[\s/>])(?P<diagram>)
      | v:(?:textpath(?=[\s/>])(?P<textpath>) | (?:shape|rect|group)(?=[\s/>])(?P<shape>))
    )"""
    % (ATTRIBUTES, ATTRIBUTES),
    re.VERBOSE,
)
"""The branches begin with different letters, so that most tags are passed over at the first or second."""

LEFT_OUT: Final = {
    name: re.compile(rb"<(/?)w:%b(?=[\s/>])(%b/?)>" % (name.encode(), ATTRIBUTES))
    for name in ("del", "moveFrom", "pPrChange", "tcPrChange", "trPrChange")
}
DELETED_WORDS: Final = re.compile(rb"<w:(?:delText|t)(?:\s[^<>]*+)?>[^<]")
_CHOICE: Final = re.compile(rb"""<w:(result|default|listEntry)\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)["']""")
_BOX_STATE: Final = re.compile(rb"<w:(checked|default)(?=[\s/>])(%b/?>)" % ATTRIBUTES)
_FIELD_END: Final = re.compile(rb"""w:fldCharType\s*+=\s*+["']end""")
_LONGEST_BOX: Final = 4_000
FORMULA_END: Final = re.compile(rb"</m:oMath\s*+>|(?=</?[wa]:p[\s>])")

_PRIVATE: Final = 0xF000
"""Where the characters of symbol fonts begin; what is named below is that character itself."""

_GREEK: Final = dict(
    enumerate(
        " !∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        start=0x20,
    )
) | dict(
    enumerate(
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
        start=0xA0,
    )
)
_SIGNS: Final[dict[str, dict[int, str]]] = {
    "symbol": _GREEK,
    "wingdings": {
        0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x72: "❒", 0x76: "❖", 0x78: "☒", 0x9F: "•",
        0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨",
        0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    },
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xA3: "☐"},
    "wingdings 3": {0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓"},
    "webdings": {0x61: "✓", 0x63: "☐", 0x67: "■", 0x72: "✗"},
}  # fmt: skip
"""Characters by their place in a symbol font, by which a Word document names them: `w:sym w:char="F0B3"`.

Symbol holds Greek and mathematics, in the order of Adobe's encoding (PDF 32000-1, annex D.5). Of Wingdings and its kin
those are given that tell something: ticks, crosses, boxes, arrows, bullets. What is a mere picture is left out.
"""


def symbol(font: str, code: int) -> str:
    """The character with that code in a font; "" for an uninformative picture."""
    if _PRIVATE <= code < _PRIVATE + 0x100:
        return _SIGNS.get(font.lower(), {}).get(code - _PRIVATE, "")
    return "" if 0xD800 <= code <= 0xF8FF or not 0 < code <= 0x10FFFF else chr(code)


def is_ticked(data: bytes, at: int) -> bool:
    """Whether a legacy check box, whose tag ends at `at`, is ticked: it is drawn and has no character."""
    end = data.find(b"</w:checkBox", at, at + _LONGEST_BOX)
    states = dict(_BOX_STATE.findall(data, at, max(end, at)))
    state = states.get(b"checked", states.get(b"default"))
    return state is not None and is_on(xml.attribute(state, b"w:val"))


def chosen_entry(data: bytes, at: int, stop: int) -> bytes:
    """The selected entry of a legacy list field, whose tag ends at `at`; escaped as in the part.

    Empty if the field has its own words, which are the same.
    """
    end = data.find(b"</w:ddList", at, stop)
    behind = _FIELD_END.search(data, max(end, at), stop)
    if end < 0 or (behind is not None and DELETED_WORDS.search(data, end, behind.start())):
        return b""
    chosen, entries = 0, []
    for name, value in _CHOICE.findall(data, at, end):
        if name == b"listEntry":
            entries.append(value)
        elif value.isdigit() and len(value) < 4 and (name == b"result" or not chosen):
            chosen = int(value)
    return entries[chosen] if chosen < len(entries) else b""


_HIDING: Final = {
    b"<w:vanish": b"",
    **{b'<w:sz w:val="%d"' % half_points: b"" for half_points in (1, 2, 3)},
    b'<w:color w:val="F': b"[A-F]F",
    b'<w:color w:val="f': b"[a-f]f",
}
"""What every part with unseen words holds, and the pattern behind it: the first is found in no time."""

_TINY: Final = re.compile(rb"""<w:sz w:val="[0-3]"\s*+/>""")
"""No larger than 1.5 points (ISO/IEC 29500-1, 17.3.2.38)."""

_WORDS: Final = re.compile(rb"(<w:t(?:\s[^<>]*+)?>)([^<]++)(?=</w:t>)")
_STYLE_NAME: Final = re.compile(rb"""<w:(?:p|r|tbl)Style\s++w:val="([^"<]*+)""")
_FRAME: Final = re.compile(rb"<(/?)w:(tbl|tc|txbxContent)(?=[\s>])[^<>]*+>")
_PROPERTIES: Final = re.compile(
    rb"<[^<>]*+>\s*+(?:</?w:(?:bookmark|comment|customXml|move|perm|proof)[^<>]*+>\s*+)*+"
    rb"<w:(r|p|tc|tbl)Pr(?:\s[^<>]*+)?+(?<!/)>"
)
"""A tag, and where the properties of what it opens begin."""

_NOT_ITS_OWN: Final = re.compile(rb"<w:(?:rPr|\w++(?<=PrChange))[\s>]")
"""What follows are the properties of a paragraph's mark, or those before a tracked change."""

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
        signs = _HIDING | {b'Style w:val="%b"' % style: b"" for style in styles}
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
        look = self._styles.look_of_words(run, paragraph)
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
            or any(self._styles.look(style).is_shaded for style in _STYLE_NAME.findall(properties))
        )


def _properties(data: bytes, start: int) -> bytes | None:
    """The properties of what a tag at `start` opens, as they are now; None if they are too long to be read."""
    opened = _PROPERTIES.match(data, start)
    if opened is None:
        return b""
    end = data.find(b"</w:%bPr>" % opened[1], opened.end(), opened.end() + _LONGEST_PROPERTIES)
    own = _NOT_ITS_OWN.search(data, opened.end(), opened.end() + _LONGEST_PROPERTIES if end < 0 else end)
    return data[opened.end() : own.start() if own else end] if own or end >= 0 else None


_PERHAPS_RAISED: Final = {
    sign: re.compile(b"(%b" % sign + b"[^<>/]*+/>" + TEXT_OF_RUN) for sign in (b"<w:position", b"<w:rStyle")
}
_LAST_WORDS: Final = re.compile(rb"(</w:rPr>\s*+)?+<w:t(?:\s[^<>]*+)?>([^<]++)</w:t>\s*+\Z")


def with_raised_marks(data: bytes, styles: Styles) -> bytes:
    """A part with superscript digits for those that a character style raises, and for those that stand higher by their
    `position` than the words of their paragraph that they follow without a space.
    """
    used = [pattern for sign, pattern in _PERHAPS_RAISED.items() if xml.holds(data, sign)]
    perhaps = {one[1] for pattern in used for one in pattern.finditer(data) if raise_words(one[2]) != one[2]}

    @cache
    def find(run: bytes, paragraph: bytes = b"") -> tuple[int, int, bool]:
        level = styles.look_of_words(run, paragraph).level
        return int(level.get(b"position", 0)), int(level.get(b"sz", 20)), level.get(b"vertAlign") == b"superscript"

    if not any(position > 0 or is_superscript for position, _, is_superscript in map(find, perhaps)):
        return data
    pieces = data.split(b"</w:r>")
    paragraph, before, follows = b"", None, False
    for number, piece in enumerate(pieces):
        opened = max(piece.rfind(b"<w:p>"), piece.rfind(b"<w:p "))
        if opened >= 0:
            paragraph, before = _properties(piece, opened) or b"", None
        start = max(piece.rfind(b"<w:r>"), piece.rfind(b"<w:r "), 0)
        words, properties = _LAST_WORDS.search(piece, start), _properties(piece, start)
        if words is None or properties is None:
            before = None
            continue
        position, size, is_superscript = own = find(properties, paragraph)
        low, other, other_is_superscript = before = before or own  # of the words of the line that are no marks
        least = (0.16 if size <= 0.85 * other else 0.25) * other  # words are raised for looks as well, but by little
        is_raised = follows and position > 0 and least <= position - low < other >= size
        if words[1] and (is_raised or is_superscript > other_is_superscript):
            pieces[number] = piece[: words.start(2)] + raise_words(words[2]) + piece[words.end(2) :]
        elif position == low or size >= other:
            before = own
        follows = not words[2].endswith((b" ", b"\xc2\xa0"))
    return b"</w:r>".join(pieces)
