"""What of WordprocessingML matters to its words: one pattern over the tags, some that look closer, signs of fonts.

All patterns take the form that `canonical` gives, and are linear in the bytes that they look at.
"""

import re
from typing import Final

from tasks.reading.docx.styles import is_on
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.xml import ATTRIBUTES

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
    """The character with that code in a font; "" where it is a picture that tells nothing."""
    if _PRIVATE <= code < _PRIVATE + 0x100:
        return _SIGNS.get(font.lower(), {}).get(code - _PRIVATE, "")
    return "" if 0xD800 <= code <= 0xF8FF or not 0 < code <= 0x10FFFF else chr(code)


def is_ticked(data: bytes, at: int) -> bool:
    """Whether a box of a form of the old kind is ticked, whose tag ends at `at`: it is drawn and has no character."""
    end = data.find(b"</w:checkBox", at, at + _LONGEST_BOX)
    states = dict(_BOX_STATE.findall(data, at, max(end, at)))
    state = states.get(b"checked", states.get(b"default"))
    return state is not None and is_on(xml.attribute(state, b"w:val"))


def chosen_entry(data: bytes, at: int, stop: int) -> bytes:
    """What is chosen from the list of a form of the old kind, whose tag ends at `at`; escaped as in the part.

    Nothing where the field has words of its own, which are the same.
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
