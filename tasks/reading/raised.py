"""Raised marks: footnote numbers and exponents, written as Unicode superscripts so that nobody reads them as part of a
number.

"1,234" followed by a raised 3 reads `1,234³`, ten to the sixth `10⁶`, square metres `m²`. Raised words ("1st", a
trademark's letters) are left alone.
"""

import re
from typing import Final

_RAISED: Final = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_MARK: Final = re.compile(r"\s*[0-9(+−-][0-9(),;+−* -]{0,11}\s*")
_SPREADSHEET_OR_WORD: Final = re.compile(
    rb"""(<(?:w:)?vertAlign\s(?:w:)?val="superscript"\s*+/>(?:<(?!/?(?:w:)?[rt][\s>/])[^<>]*+>\s*+){0,60}+"""
    rb"""<(?:w:)?t(?:\s[^<>]*+)?>)([^<]{1,16})(?=</)"""
)
_DRAWING: Final = re.compile(
    rb"""(<a:rPr\s(?:[^<>]*?\s)?baseline="[1-9]\d*+"[^<>]*+>(?:<(?!/?a:[rt][\s>/])[^<>]*+>\s*+){0,60}+"""
    rb"""<a:t(?:\s[^<>]*+)?>)([^<]{1,16})(?=</)"""
)


def raise_text(text: str) -> str:
    """A raised text in superscript digits if it is a mark, otherwise unchanged; the length is the same."""
    return text.translate(_RAISED) if _MARK.fullmatch(text) else text


def with_raised_runs(data: bytes) -> bytes:
    """A part of an Office document with the raised marks in its runs as superscripts.

    ISO/IEC 29500-1: `w:vertAlign` (17.3.2.42), `vertAlign` of rich text (18.4.14), `baseline` (21.1.2.3.9).
    """
    if data.rfind(b'"superscript"') >= 0:  # from the end, as in `xml.holds`
        data = _SPREADSHEET_OR_WORD.sub(_raise_run, data)
    if data.rfind(b' baseline="') >= 0:
        data = _DRAWING.sub(_raise_run, data)
    return data


def _raise_run(match: re.Match[bytes]) -> bytes:
    return match[1] + raise_text(match[2].decode("utf-8", "replace")).encode()
