"""Characters of symbol fonts, which a Word document names by their place in the font: `w:sym w:char="F0B3"`.

Symbol holds Greek and mathematics, in the order of Adobe's encoding (PDF 32000-1, annex D.5). Of Wingdings and its kin
those are given that tell something: ticks, crosses, boxes, arrows, bullets. What is a mere picture is left out.
"""

from typing import Final

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


def symbol(font: str, code: int) -> str:
    """The character with that code in a font; "" where it is a picture that tells nothing."""
    if _PRIVATE <= code < _PRIVATE + 0x100:
        return _SIGNS.get(font.lower(), {}).get(code - _PRIVATE, "")
    return "" if 0xD800 <= code <= 0xF8FF or not 0 < code <= 0x10FFFF else chr(code)
