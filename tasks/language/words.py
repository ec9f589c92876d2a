"""Words: how a text is cut into them, which language they are in, and what those of business prose mean.

Stems, synonyms, opposites and words that only connect are those of English, in `vocabulary.toml`. A statement in
another language is only supported by its source's own words, because no synonyms are known for it. Months and
currencies of all languages come from the Unicode CLDR with Babel
(https://babel.pocoo.org/en/latest/api/localedata.html); a language takes some 5 ms of processor time, once per process.
What people write and the CLDR does not list is in `currencies.toml`.

There are two kinds of token: the words by which a text is searched, and what a language model counts. Words are
case-folded, without English endings; other languages work too, except that their endings stay.

What a model counts is estimated without its vocabulary, because vocabularies are downloaded on first use, and each
model has its own. Estimates are based on the length in UTF-8: a token has 4.4 bytes on average and, in dense tables,
2.3 (the first percentile over filings and contracts is 2.31 characters).

Languages are detected well enough to say in which words a text can be searched. A language in Latin letters is
recognised by its commonest words, any other by its script. Very short texts, tables of figures and lists of names tell
nothing and are left out.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Any, Final, TypeVar

from babel.core import get_global
from babel.localedata import LocaleDataDict, load

_Entry = TypeVar("_Entry")

_SHORT_MONTHS: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb")
LANGUAGES: Final = (*_SHORT_MONTHS, "pl", "cs", "fi")
"""The languages in which numbers and periods are read; short months of the last are words of others: "led 2023"."""

_AUSTRIAN: Final = {"jänner": 1, "jän": 1, "feber": 2}
_ALSO_WRITTEN: Final = {"sept": 9, "märz": 3, **_AUSTRIAN}
_OTHER_WORDS: Final = frozenset(
    {"des", "marco", "marca", "maja", "maer", "set", "out", "mag", "gen", "ago", "lug", "ene"}
)
"""Forms of months that are ordinary words of another language, or names: "set 5 targets", "marca 1" (a brand)."""

_CURRENCIES: Final = tomllib.loads(Path(__file__).with_name("currencies.toml").read_text("utf-8"))

NAMED: Final[Sequence[str]] = tuple(_CURRENCIES["named"])
"""Currencies that are known by their whole names too: "Swiss francs", "dollars canadiens"."""

ORDINARY_NAMES: Final = frozenset(_CURRENCIES["ordinary"])
"""Names of currencies, in lower case, that are other words too: "diritti reali", "we won"."""

DOLLARS: Final[Mapping[str, Sequence[str]]] = _CURRENCIES["dollars"]
"""By currency that is written with a bare dollar sign how it is named where that is told apart, in lower case."""

RUPEES: Final[Mapping[str, Sequence[str]]] = _CURRENCIES["rupees"]
"""By currency of rupees how it is named, in lower case: by its code or mark, and by its country."""

PESOS: Final[Mapping[str, Sequence[str]]] = _CURRENCIES["pesos"]
"""By currency of pesos how it is named, in lower case: by its code or mark, and by its country."""

CROWNS: Final[Mapping[str, str]] = _CURRENCIES["crowns"]
"""By language the currency of crowns whose country nobody names."""

_NAME_LANGUAGES: Final = (*LANGUAGES, "hu", "ro", "tr")
_ALSO_WORDS: Final = frozenset({"ALL", "TOP", "XXX", "XTS"})
"""Codes of currencies that are words of headings in capitals, or of none."""


def look_up(table: Mapping[str, _Entry], word: str) -> _Entry:
    """The entry of a word that a pattern of the table's words has found in any case.

    `re.IGNORECASE` takes some letters for others that `str.lower` keeps: "ı" for "i", "ſ" for "s", "σ" for "ς".
    """
    found = table.get(word.lower())
    return found if found is not None else {_fold(name): entry for name, entry in table.items()}[_fold(word)]


def _fold(word: str) -> str:
    return word.casefold().replace("ı", "i").replace("\u0307", "")


def alternation(words: Iterable[str], *, as_written: bool = False) -> str:
    """A pattern that matches any of the words, in capitals or not, preferring the longest; fast for hundreds of them.

    A search looks at the first letter alone, unless the words are meant `as_written`, where capitals count anyway.
    """
    groups = groupby(sorted(words, key=lambda word: (word[0], -len(word), word)), key=lambda word: word[0])
    return "|".join(
        (re.escape(first) if as_written or not first.isalpha() else f"(?-i:[{first.lower()}{first.upper()}])")
        + f"(?:{'|'.join(re.escape(word[1:]) for word in same)})"
        for first, same in groups
    )


def spell_out(words: Iterable[str]) -> str:
    """A pattern that matches the longest of the words as written; it takes longer to compile, and less to search."""
    behind: dict[str, list[str]] = {}
    for word in words:
        behind.setdefault(word[:1], []).append(word[1:])
    may_end = "?" * (behind.pop("", None) is not None)
    rest = "|".join(re.escape(letter) + spell_out(tails) for letter, tails in behind.items())
    return f"(?:{rest}){may_end}" if rest else ""


def words_ahead(words: Iterable[str]) -> str:
    """A pattern for where one of the words begins, in capitals or not, or a number."""
    return rf"(?:(?=\d)|(?<!\w)(?={alternation(words)}))"


@cache
def _data(language: str) -> Mapping[str, Any]:
    return LocaleDataDict(load(language))  # type: ignore[arg-type] # its keys are words here


@cache
def months() -> Mapping[str, int]:
    """The number of each month by its lower-case names, also without accents: "march", "maerz", "déc", "fevrier"."""
    found = dict(_ALSO_WRITTEN)
    for language in LANGUAGES:
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated") if language in _SHORT_MONTHS else ("wide",):
                for number, name in _data(language)["months"][form][width].items():
                    found.update(dict.fromkeys(_spellings(name.lower().rstrip(".")), number))
    return {name: number for name, number in found.items() if name not in _OTHER_WORDS}


def _spellings(name: str) -> Iterator[str]:
    yield name
    plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
    if plain != name:
        yield name.replace("ä", "ae") if "ä" in name else plain


@cache
def month_names(language: str = "en", width: str = "wide") -> tuple[str, ...]:
    """The names of the months, January first; with a width of `abbreviated` "Jan", "Feb"."""
    return tuple(_data(language)["months"]["format"][width][number] for number in range(1, 13))


def decimal_mark(language: str) -> str:
    """The decimal mark of a language by its code ("de": ","); "" if it is not one of `LANGUAGES`."""
    language = {"no": "nb"}.get(language, language)
    return f"{_data(language)['number_symbols']['latn']['decimal']}" if language in LANGUAGES else ""


@cache
def currency_codes() -> frozenset[str]:
    """The ISO 4217 codes of present legal tender, without those that are also words."""
    current = (
        code for entries in get_global("territory_currencies").values() for code, _, end, tender in entries
        if end is None and tender
    )  # fmt: skip
    return frozenset(current) - _ALSO_WORDS


@cache
def currency_marks() -> Mapping[str, str]:
    """The currency code for each mark: "€", "US$", "zł"; a bare dollar sign is USD."""
    marks = {
        _data("en")["currency_symbols"][code]: code
        for code in currency_codes() & _data("en")["currency_symbols"].keys()
    }
    marks |= {_data(language)["currency_symbols"][code]: code for code, language in _CURRENCIES["homes"].items()}
    written: Mapping[str, str] = _CURRENCIES["marks"]
    return {**{mark: code for mark, code in marks.items() if mark != code and mark.isprintable()}, **written}


@cache
def currency_names() -> Mapping[str, str]:
    """The currency code for each lower-case name, singular and plural: "swiss francs", "dólares"."""
    names: dict[str, str] = {}
    for language in _NAME_LANGUAGES:
        data = _data(language)
        for code in NAMED:
            written = {data["currency_names"].get(code, ""), *data["currency_names_plural"].get(code, {}).values()}
            names |= {name.lower(): code for name in written if name and name != code}
    short: Mapping[str, str] = _CURRENCIES["names"]
    return {**names, **short}


_DATA: Final = tomllib.loads(files("tasks.language").joinpath("vocabulary.toml").read_text(encoding="utf-8"))


def _irregular_forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    waiting: list[str] = []
    for word in _DATA["irregular"].split():
        form, _, stem = word.partition("=")
        waiting.append(form)
        if stem:
            forms.update(dict.fromkeys(waiting, stem))
            waiting.clear()
    return forms


_IRREGULAR: Final = _irregular_forms()
_SUFFIXES: Final = tuple(_DATA["lists"]["suffixes"].split())
_NO_ADVERBS: Final = frozenset(_DATA["lists"]["no_adverbs"].split())
_KEPT: Final = frozenset(_DATA["lists"]["kept"].split())


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word without its ending: `acquired`, `acquires`, `acquiring` and `acquisition` have one stem.

    Words of opposite meaning keep different stems: prefixes (`un-`, `non-`) are not removed.
    """
    word = word.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    if len(word) <= 3 or not word.isalpha() or word in _KEPT:
        return word
    if word.endswith("ional") and len(word) > 8:
        word = word.removesuffix("al")
    if word.endswith("ceed"):
        return word
    if word.endswith("quisition"):
        return word.removesuffix("isition") + "ir"
    for suffix in _SUFFIXES:
        if suffix == "ly" and word in _NO_ADVERBS:
            continue
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            if suffix in {"ies", "ied"}:
                rest += "y"
            elif suffix == "ss":
                rest = word
            elif suffix == "sses":
                rest += "ss"
            elif len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsze":
                rest = rest[:-1]
            word = rest
            break
    word = word.removesuffix("e")
    if word.endswith("at") and len(word) > 5:  # terminate, termination
        word = word.removesuffix("at")
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_GROUPS: Final = [_stems(group) for group in _DATA["same"]]
_GROUPS_OF: Final[dict[str, frozenset[int]]] = {
    word: frozenset(number for number, group in enumerate(_GROUPS) if word in group)
    for word in frozenset().union(*_GROUPS)
}
FREE: Final = frozenset(_DATA["free"].split())
FREE_VERBS: Final = _stems(_DATA["free_verbs"])
RESTRICTING: Final = frozenset(_DATA["restrict"].split())
ACTING: Final = _stems(_DATA["act"])
CHANGING: Final = _stems(_DATA["change"])
_PAIRS: Final = [tuple(stem(word) for word in pair.split()) for pair in _DATA["opposite"]]
_OPPOSITES: Final[dict[str, set[str]]] = {}
for _one, _other in _PAIRS:
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)
_PHRASES: Final = {
    before.strip(): after.strip() for before, _, after in (entry.partition("=") for entry in _DATA["phrases"])
}
_PHRASE: Final = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(phrase) for phrase in sorted(_PHRASES, key=len, reverse=True)) + r")(?!\w)",
    re.IGNORECASE,
)


def load_words(name: str) -> frozenset[str]:
    """One of the vocabulary's word lists."""
    return frozenset(_DATA["lists"][name].split())


def load_stems(name: str) -> frozenset[str]:
    """One of the vocabulary's word lists as stems."""
    return _stems(_DATA["lists"][name])


def figure_words(name: str) -> str:
    """One of the vocabulary's lists of words used with figures."""
    words: str = _DATA["figures"][name]
    return words


def limits() -> Mapping[str, str]:
    """The kinds of words that limit a statement, each with its words."""
    by_kind: Mapping[str, str] = _DATA["limits"]
    return by_kind


def in_one_word(text: str) -> str:
    """The text with each known phrase as one word (`per cent` becomes `percent`, `set up` becomes `set_up`)."""
    return _PHRASE.sub(lambda match: look_up(_PHRASES, match.group()), text)


def write_out(text: str, start: int, end: int) -> str:
    """What a text has where `in_one_word` of it has the stretch from `start` to `end`."""
    first, last, longer = start, end, 0
    for match in _PHRASE.finditer(text):
        word = _PHRASES[match.group().lower()]
        opens, extra = match.start() - longer, len(match.group()) - len(word)
        first += extra * (opens < start)
        last += extra * (opens < end)
        longer += extra
    return text[first:last]


def is_known(word: str) -> bool:
    """Whether the vocabulary contains a stem."""
    return (
        word in _GROUPS_OF
        or word in _OPPOSITES
        or word in FREE
        or word in FREE_VERBS
        or word in ACTING
        or word in RESTRICTING
    )


@lru_cache(maxsize=100_000)
def say_the_same(one: str, other: str) -> bool:
    """Whether two stems are synonyms."""
    return one == other or not _GROUPS_OF.get(one, frozenset()).isdisjoint(_GROUPS_OF.get(other, frozenset()))


@lru_cache(maxsize=100_000)
def are_opposite(one: str, other: str) -> bool:
    """Whether two stems, or synonyms of them, are opposites."""
    if one == other:
        return False
    for word in _alike(one):
        for against in _OPPOSITES.get(word, ()):
            if against == other or (say_the_same(against, other) and word == one) or (against in _alike(other)):
                return True
    return any(
        one == prefix + other or other == prefix + one
        for prefix in ("un", "non", "in", "im", "dis", "ir", "il", "de", "mis")
    )


def has_opposite(word: str) -> bool:
    """Whether a stem has an opposite, so that it must not be taken from elsewhere in a sentence."""
    return any(alike in _OPPOSITES for alike in _alike(word))


@lru_cache(maxsize=100_000)
def _alike(word: str) -> frozenset[str]:
    return frozenset({word}).union(*(_GROUPS[number] for number in _GROUPS_OF.get(word, ())))


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
_ASCII_TOKEN = re.compile(r"[a-z][a-z0-9]*|[0-9]+(?:[.,][0-9]+)+|[a-z0-9]+")  # the same, in half the time
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
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
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


_READ = 2_000  # characters of a text that are looked at
_LEAST_WORDS = 4  # common words of a language that a text must have to be in it
_LEAST_SHARE = 0.1  # of the texts that tell a language; fewer are quotations, addresses, a foreign clause
_MOST = 4  # languages
_LEAST_LETTERS = 20  # of a script

_LANGUAGES: Final = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
_SCRIPTS: Final = {language: re.compile(letters) for language, letters in _LANGUAGES["scripts"].items()}
COMMON_WORDS: Final = {language: frozenset(words.split()) for language, words in _LANGUAGES["common"].items()}
"""The commonest words of languages in Latin letters."""
ASKING_WORDS: Final = frozenset(" ".join(_LANGUAGES["asking"].values()).split())
"""Words by which questions ask, of several languages."""
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str | None:
    """The English name of a text's language; None if the text does not tell."""
    text = text[:_READ]
    if not text.isascii():
        letters = {script: len(pattern.findall(text)) for script, pattern in _SCRIPTS.items()}
        most = max(letters, key=lambda script: letters[script])
        if letters[most] >= _LEAST_LETTERS and letters[most] * 5 > len(text):
            # Japanese is written with Chinese characters too, Chinese without kana.
            return "Japanese" if most == "Chinese" and letters["Japanese"] >= _LEAST_LETTERS else most
    words = Counter(_WORD.findall(text.lower()))
    counts = {language: sum(words[word] for word in common) for language, common in COMMON_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= max(_LEAST_WORDS, words.total() / 12) else None


def detect_script_language(letter: str) -> str | None:
    """The language of a non-Latin letter; None for Latin letters and for unknown scripts."""
    if letter.isascii():
        return None
    return next((language for language, pattern in _SCRIPTS.items() if pattern.match(letter)), None)


def detect_languages(texts: Sequence[str]) -> tuple[str, ...]:
    """The languages of at least a tenth of the texts, the commonest first; at most four."""
    counts = Counter(language for language in map(detect_language, texts) if language)
    common = [language for language, count in counts.most_common(_MOST) if count >= _LEAST_SHARE * counts.total()]
    return tuple(common)
