"""How an annotation of a PDF looks, as far as its words go, without drawing it."""

import re
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf import calls
from tasks.documents.extract.pdf.pdfium import string

_STRING: Final = r"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+(?:\)|\Z)"
_SHOWN: Final = re.compile(rf"({_STRING})(?:\s*+(Tj|['\"]))?|(\[[^\[\]<>]*+\])\s*+TJ", re.DOTALL)
"""A string is passed over even where nothing shows it: whoever looks within it again and again never ends."""
_WORDS: Final = re.compile(_STRING, re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(\r\n|[0-7]{1,3}|.)", re.DOTALL)
_OPERATORS: Final = re.compile(r"T[jJ]\b|\bDo\b")
"""Those that draw text, and the one that draws another stream, which may do so."""
_CHARACTERS: Final = {"n": "\n", "r": "\n", "t": " ", "b": "", "f": "", "\n": "", "\r": "", "\r\n": ""}


class Looks(NamedTuple):
    """The words that an annotation shows; not `readable` where only drawing it can tell."""

    words: str
    show_words: bool
    readable: bool


def looks_of(annotation: Any) -> Looks:
    """The looks of an open annotation."""
    stream = string(calls.appearance, annotation, pdfium.FPDF_ANNOT_APPEARANCEMODE_NORMAL)
    operators = len(_OPERATORS.findall(stream))
    if not operators:
        return Looks("", show_words=False, readable=True)
    found = _SHOWN.finditer(stream)
    shown = [match[1] or "".join(_WORDS.findall(match[3])) for match in found if match[2] or match[3]]
    return Looks(" ".join(_unescaped(text) for text in shown), show_words=True, readable=len(shown) >= operators)


def _unescaped(strings: str) -> str:
    """One or several strings as they stand in a stream, in their brackets, as one."""
    return "".join(_ESCAPED.sub(_character, string[1:-1]) for string in _WORDS.findall(strings))


def _character(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped, 8)) if escaped[0] in "01234567" else _CHARACTERS.get(escaped, escaped)
