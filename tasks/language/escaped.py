"""Makes text from elsewhere safe to show: characters that move a cursor, reverse a line or are invisible are spelled
out.
"""

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_IN_A_LINE: Final = str.maketrans({"\n": "\\u000a", "\t": "\\u0009"})


def escape_text(text: str) -> str:
    r"""The text with control, directional and invisible characters written as in JSON, `\u001b`; `\n` and `\t` stay.

    JSON remains valid and keeps its names. Soft hyphens and the joiners of Persian and Indian scripts stay too.
    """
    return _UNSAFE.sub(lambda match: spell_characters(match.group()), text)


def escape_line(text: str) -> str:
    """The same without line breaks and tabs, so that nothing in a name can begin a new line."""
    return escape_text(text).translate(_IN_A_LINE)


def spell_characters(characters: str) -> str:
    r"""Each character as `\u1234`; those above U+FFFF as two."""
    units = characters.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
