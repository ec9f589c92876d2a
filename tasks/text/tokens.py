"""How many tokens a text is, without the vocabulary of any model.

Vocabularies are fetched from a network when first used, and each model has its own. What texts cost is
told by their length in UTF-8: a token holds 4.4 bytes on average and, in dense tables, 2.3 (the first
percentile over filings and contracts is 2.31 characters).

What counts as a word of a text or a question.

Text in another language than English works too, only without its endings taken off.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from math import ceil

_FEWEST_BYTES, _USUAL_BYTES = 2.3, 4.4


def at_most(*texts: str) -> int:
    """More tokens than these texts will be: for limits."""
    return ceil(_bytes(texts) / _FEWEST_BYTES)


def about(*texts: str) -> int:
    """As many tokens as these texts usually are: for costs foretold."""
    return ceil(_bytes(texts) / _USUAL_BYTES)


def _bytes(texts: tuple[str, ...]) -> int:
    return sum(len(text.encode(errors="replace")) for text in texts)


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
_UNREAD = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹\u00ad]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # scripts that write without spaces


def tokens(text: str) -> list[str]:
    """The words of `text` that count, in order: case folded, English endings off, numbers whole.

    `1,234.5` and `1.234,50` are numbers with separators and lose them; a lone decimal comma becomes a point.
    """
    return [token for form in spelled(text) for token in read(form)]


def spelled(text: str) -> list[str]:
    """The words of a text in order, stop words among them, as they are spelled but for case."""
    if not text.isascii():
        if _UNREAD.search(text):
            text = text.translate(_RAISED)
        text = unicodedata.normalize("NFKC", text)  # looks first whether there is anything to do
    return _TOKEN.findall(text.casefold())


def read(word: str) -> Iterator[str]:
    """The tokens that one of `spelled` words stands for: none for a stop word, several where none are spaced."""
    if word in STOP_WORDS:
        return
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
