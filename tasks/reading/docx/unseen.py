"""What a Word document holds and nobody reads there: prompts of fields that were never filled in, hidden words.

Prompts ("Click or tap here to enter text.") are left out, hidden words stand in brackets that say so.
"""

import re
from typing import Final

from tasks.reading.ooxml import xml

_PROMPT: Final = re.compile(
    rb"""(<w:showingPlcHdr\s*+(?:w:val="(?:1|true|on)"\s*+)?/>(?:(?!<w:sdt[\s>]|<w:sdtContent[\s/>]).){0,4000}?<w:sdtContent>)"""
    rb"((?:(?!</?w:sdt[\s>]|</w:sdtContent>).)*+)",
    re.DOTALL,
)
_WORDS: Final = re.compile(rb"(<w:t(?:\s[^<>]*+)?>)([^<]*+)(?=</w:t>)")
_HIDDEN: Final = re.compile(
    rb"""<w:vanish\s*+(?:w:val="(?:1|true|on)"\s*+)?/>(?:<(?!/?w:(?:r|t|p|pPr)[\s/>])[^<>]*+>\s*+){0,60}+"""
    rb"""<w:t(?:\s[^<>]*+)?>(?=[^<])"""
)
_OPENING: Final = "[hidden: "
_BETWEEN: Final = re.compile(r"\]\[hidden: ")


def without_prompts(data: bytes) -> bytes:
    """A part without the words of fields that show their prompt (`w:showingPlcHdr`, ISO/IEC 29500-1, 17.5.2.39)."""
    if b"<w:showingPlcHdr" not in data:
        return data
    return _PROMPT.sub(lambda match: match[1] + _WORDS.sub(rb"\1", match[2]), data)


def with_hidden_marked(data: bytes) -> bytes:
    """A part whose hidden words (`w:vanish`, 17.3.2.41) stand in brackets, run by run; see `join_hidden`."""
    if b"<w:vanish" not in data:
        return data
    pieces: list[bytes] = []
    done = 0
    for match in _HIDDEN.finditer(data):
        end = data.find(b"<", match.end())
        if end < 0:
            break
        words = xml.escape(_OPENING), data[match.end() : end], b"]"
        pieces += (data[done : match.end()], *words)
        done = end
    return b"".join((*pieces, data[done:]))


def join_hidden(line: str) -> str:
    """A line whose neighbouring hidden words stand in the same brackets."""
    return _BETWEEN.sub("", line)
