"""Which of many texts speak to a question: BM25, without a model and without a network.

The library bm25s does the scoring; what counts as a word is decided here. A text or a question in
another language than English works too, only without its endings taken off.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

# Words that say nothing about what a text is about, question words among them.
STOP_WORDS = frozenset(
    "a about above after all also am an and any are as at be because been before being below between both but by can "  # noqa: SIM905 - a list of words reads best as words
    "could did do does doing down during each either etc for from further had has have having he her here hers him his "
    "how i if in into is it its itself may me might more most must my neither no nor not of off on once only or other "
    "our ours out over own s same shall she should so some such t than that the their theirs them then there these "
    "they this those through to too under until up upon us very was we were what when where whether which while who "
    "whom whose why will with within without would you your yours".split()
)

_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+")
_RAISED = dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹"), " ") | {0xAD: None}  # footnote marks; soft hyphens
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # scripts that write without spaces


class Index:
    """Texts made ready for many questions. Building takes time with their length, a question hardly any."""

    def __init__(self, texts: Sequence[str]) -> None:
        vocabulary: dict[str, int] = {}
        found = [[vocabulary.setdefault(token, len(vocabulary)) for token in _tokens(text)] for text in texts]
        self._vocabulary = vocabulary
        self._scorer = _scorer(found, vocabulary) if vocabulary else None

    def rank(self, question: str, k: int) -> list[tuple[int, float]]:
        """The `k` best texts as (position in `texts`, score), best first.

        Only texts that share a word with the question are given, so there may be fewer, or none.
        Equal scores keep the order of the texts. A score compares texts for one question, no more.
        """
        import numpy as np  # noqa: PLC0415 - 0.1 s that a command which ranks nothing need not pay

        asked = [self._vocabulary[token] for token in dict.fromkeys(_tokens(question)) if token in self._vocabulary]
        if self._scorer is None or not asked or k <= 0:
            return []
        scores = self._scorer.get_scores_from_ids(asked)
        positive = np.flatnonzero(scores > 0)
        order = positive[np.argsort(-scores[positive], kind="stable")][:k]
        return [(int(position), float(scores[position])) for position in order]


def rank(texts: Sequence[str], question: str, k: int) -> list[tuple[int, float]]:
    """`Index(texts).rank(question, k)` for a single question."""
    return Index(texts).rank(question, k)


def tokens(text: str) -> list[str]:
    """The words of `text` that count, in order: case folded, English endings off, numbers whole.

    `1,234.5` and `1.234,50` are numbers with separators and lose them; a lone decimal comma becomes a point.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[str]:
    for word in _TOKEN.findall(unicodedata.normalize("NFKC", text.translate(_RAISED)).casefold()):
        if word in STOP_WORDS:
            continue
        if word[0].isdigit() and not word.isalnum():
            yield from _number(word)
        elif word.isascii():
            yield _stem(word)
        elif _UNSPACED.search(word):
            yield from (word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        else:
            yield word


def _number(word: str) -> Iterator[str]:
    if _THOUSANDS.fullmatch(word):
        yield word.replace(",", "")
    elif _THOUSANDS_EUROPEAN.fullmatch(word):
        yield word.replace(".", "").replace(",", ".")
    elif word.count(",") == 1 and "." not in word:
        yield word.replace(",", ".")
    else:
        yield word  # a date, a version, a clause's number


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """Takes plural and verb endings off an English word; light, so that different words stay different."""
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) > 2 and re.search("[aeiouy]", stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            word = stem[:-1] if doubled else stem
            break
    return word.removesuffix("e") if len(word) > 3 else word


def _scorer(found: list[list[int]], vocabulary: dict[str, int]) -> Any:
    import bm25s  # noqa: PLC0415 - with numpy 0.3 s that a command which ranks nothing need not pay

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG when imported
    scorer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    scorer.index((found, vocabulary), show_progress=False)
    return scorer
