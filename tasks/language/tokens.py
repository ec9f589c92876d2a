"""Two kinds of token: the words by which a text is searched, and what a language model counts.

Words are case-folded, without English endings; other languages work too, except that their endings stay.

What a model counts is estimated without its vocabulary, because vocabularies are downloaded on first use, and each
model has its own. Estimates are based on the length in UTF-8: a token has 4.4 bytes on average and, in dense tables,
2.3 (the first percentile over filings and contracts is 2.31 characters).
"""

import re
import unicodedata
from functools import lru_cache
from math import ceil

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
_REPLACED = dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹"), " ") | {0xAD: None}  # footnote marks; soft hyphens
_TO_REPLACE = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹\u00ad]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # scripts that write without spaces

_FEWEST_BYTES, _USUAL_BYTES = 2.3, 4.4  # of a model's token


def tokens(text: str) -> list[str]:
    """The significant words of `text` in order: case-folded, without English endings, numbers in one piece.

    `1,234.5` and `1.234,50` are numbers whose thousands separators are removed; a single decimal comma becomes a point.
    """
    return [token for form in word_forms(text) for token in split_form(form)]


def word_forms(text: str) -> list[str]:
    """The words of a text in order, including stop words, as spelled except for case."""
    if not text.isascii():
        if _TO_REPLACE.search(text):
            text = text.translate(_REPLACED)
        text = unicodedata.normalize("NFKC", text)  # looks first whether there is anything to do
    return _TOKEN.findall(text.casefold())


@lru_cache(maxsize=100_000)
def split_form(form: str) -> tuple[str, ...]:
    """The tokens of one of the `word_forms`: none for a stop word, several if a script has no spaces."""
    if form in STOP_WORDS:
        return ()
    if form[0].isdigit() and not form.isalnum():
        return (_number(form),)
    if form.isascii():
        return (_stem(form),)
    if _UNSPACED.search(form):
        return tuple(form[start : start + 2] for start in range(max(len(form) - 1, 1)))
    return (form,)


def _number(form: str) -> str:
    if _THOUSANDS.fullmatch(form):
        return form.replace(",", "")
    if _THOUSANDS_EUROPEAN.fullmatch(form):
        return form.replace(".", "").replace(",", ".")
    if form.count(",") == 1 and "." not in form:
        return form.replace(",", ".")
    return form  # a date, a version, a clause's number


def _stem(word: str) -> str:
    """Remove plural and verb endings from an English word, lightly, so that different words stay different."""
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
            is_doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            word = stem[:-1] if is_doubled else stem
            break
    return word.removesuffix("e") if len(word) > 3 else word


def most_model_tokens(*texts: str) -> int:
    """An upper bound for the tokens that a model counts in these texts: for limits."""
    return ceil(_bytes(texts) / _FEWEST_BYTES)


def usual_model_tokens(*texts: str) -> int:
    """The usual number of tokens that a model counts in these texts: for cost estimates."""
    return ceil(_bytes(texts) / _USUAL_BYTES)


def _bytes(texts: tuple[str, ...]) -> int:
    return sum(len(text.encode(errors="replace")) for text in texts)
