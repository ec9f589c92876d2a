"""What documents are called, and how much of a wanted document's name stands there.

`CapTable_2024.xlsx` says cap, table, 2024; ü, ue and u are the same.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from sys import intern

from storage.runs import RunDocument
from tasks.ranking import tokens
from tasks.scoring.evidence import Evidence

_OPENING = 600  # characters: a title page, not a body that only mentions other documents
_TITLE = 120  # characters; a longer line is a sentence
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ALIKE = str.maketrans({"ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "œ": "oe"})


@lru_cache(maxsize=10_000)  # every criterion asks for those of all documents: 0.8 s for 2,000 without it
def words(text: str) -> tuple[str, ...]:
    """The words of a name that count, in one form."""
    parted = _HUMP.sub(" ", unicodedata.normalize("NFC", text).replace("_", " "))
    return tuple(intern(_letters(word)) for word in tokens(parted))


def share(wanted: Sequence[str], told: str) -> float:
    """The share of the wanted words that stand in what is told; names are often run together, as in `captable`."""
    if not wanted:
        return 0.0
    found = words(told)
    if "".join(wanted) in found:
        return 1.0
    return len(set(wanted) & set(found)) / len(set(wanted))


def shared(wanted: str, told: str) -> list[str]:
    """The words of a wanted name, as they are written, that stand in what is told."""
    found = set(words(told))
    return [word for word in wanted.split() if _stands(words(word), found)]


def name(document: RunDocument) -> str:
    """A document's name without its ending."""
    return document.name.rsplit(".", 1)[0]


def title(document: RunDocument, evidence: Evidence) -> str:
    """The document's name, its folder, and the short lines of its opening: titles, not sentences."""
    opening = [line.strip() for line in evidence.beginning(document, _OPENING).splitlines()]
    lines = [line for line in opening if len(line) <= _TITLE and not line.endswith((".", ";", ","))]
    return "\n".join([document.path, name(document), *lines])


def _stands(wanted: Sequence[str], found: Collection[str]) -> bool:
    return bool(wanted) and all(word in found for word in wanted)


def _letters(word: str) -> str:
    plain = "".join(each for each in unicodedata.normalize("NFD", word) if not unicodedata.combining(each))
    plain = plain.translate(_ALIKE)
    return re.sub("([aou])e", r"\1", plain)
