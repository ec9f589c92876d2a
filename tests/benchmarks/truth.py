"""How much of a document's words an extractor gives, and how much of what it gives is the document's.

The ground truth of `NAME` is a file `NAME.json`: `{"cats": {category: {word: count}}}`. Words of `neutral` and
of the categories that are counted apart may come and need not.
"""

import html
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

_ASIAN: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u3040-\u30ff\uff66-\uff9f"
_WORD: Final = re.compile(rf"[{_ASIAN}]|[^\s{_ASIAN}]+")
_EDGE: Final = re.compile(r"^[\W_]+|[\W_]+$")
_UNSEEN: Final = re.compile("[\\\\\u00ad\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_WANTED: Final = {
    "body", "headerfooter", "notes", "comments", "textbox", "chart", "diagram", "math", "hiddenslide", "str",
    "hidden_str",
}  # fmt: skip
_APART: Final = {"widget": "form values", "annot": "annotations", "outline": "outline", "printhf": "print headers"}


class Score(NamedTuple):
    """Of one document: how many wanted words were found, and how many given ones are wanted or allowed.

    `apart` has the same for what a document may hold beside its text, by name: (found, wanted).
    """

    found: int
    wanted: int
    right: int
    given: int
    apart: dict[str, tuple[int, int]]


def words(text: str) -> list[str]:
    """The words of a text in order: normalised, without punctuation at their edges; Asian text by character."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", html.unescape(text)))
    return [word for each in _WORD.findall(plain) if (word := _EDGE.sub("", each))]


def score(truth: Path, text: str) -> Score | None:
    """A document's text beside its ground truth; None when there is none to compare with."""
    if not truth.exists():
        return None
    categories: dict[str, dict[str, int]] = json.loads(truth.read_text())["cats"]
    wanted: Counter[str] = Counter()
    allowed: Counter[str] = Counter()
    for name, counts in categories.items():
        if name in _WANTED:
            wanted.update(counts)
        elif not name.endswith("num"):
            allowed.update(counts)
    if not categories:
        return None
    given = Counter(words(text))
    right = given & (wanted + allowed)
    if truth.name.endswith(".xlsx.json"):  # a workbook's numbers are written in many ways
        right = Counter({word: n for word, n in given.items() if word in right or any(map(str.isdigit, word))})
    apart = {
        label: ((given & Counter(categories[name])).total(), sum(categories[name].values()))
        for name, label in _APART.items()
        if name in categories
    }
    return Score((given & wanted).total(), wanted.total(), right.total(), given.total(), apart)
