"""How much of what a question asks the sentences of a text speak to: whether there is an answer to be quoted at all.

Ranking puts sentences in order, however little the best of them has to do with the question. Here the words of a
question that carry its subject are looked for in each sentence and those beside it. A word counts by its rarity in the
text, so one that is nowhere counts most, and the name of a company that is everywhere hardly.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from math import log
from typing import Final

from tasks.language.languages import ASKING_WORDS, COMMON_WORDS, detect_language, detect_script_language
from tasks.language.tokens import STOP_WORDS, tokens
from tasks.ranking.query import find_meant_phrases
from tasks.ranking.words import stem

LEAST: Final = 0.48
"""The share of a question that what answers it covers. Chosen on 52 questions of eight documents in three languages."""
_COMMON: Final = frozenset().union(*COMMON_WORDS.values()) | STOP_WORDS | ASKING_WORDS
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_GROUPS: Final = re.compile(r"(?<=\d)(?=(?:\d{3}){1,6}$)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_TIME: Final = re.compile(
    r"\b(?:in|for|during|fy|year|im|jahr|für|en|pour|exercice) ?(?:the |year |fiscal |fy ?|jahr |l'exercice ){0,3}"
    r"(?P<year>(?:19|20)\d\d)(?![\d/-])",
    re.IGNORECASE,
)
"""A year that an answer has to be of; others are bounds ("before 2030"), ends of a span, or no years."""
_FEWEST: Final = 50  # sentences that a text is taken to have: in five of them each word is common
_MOST: Final = 30  # words of a question that no sentence can be asked to cover; a longer one sets a task
_NONE: Final = 0.75  # times that a word is taken to stand in a text that has it not
_SHORTEST: Final = 3  # letters of a word that carries a subject
_SHORT: Final = 6  # letters from which on a stem may stand inside a compound; a shorter one begins a word
_SMALL: Final = 0.3
"""The weight of a verb or an adjective in German, which writes its nouns with capitals."""


def measure_coverage(
    question: str, texts: Sequence[str], known: str = "", likeliest: Iterable[int] = ()
) -> Sequence[float]:
    """For each text, the share of the question, 0 to 1, that it and those beside it speak to.

    It is 1 where nothing is asked, or so much that it is a task.

    Args:
        question: in any language; words of scripts without Latin letters are not looked at.
        texts: the sentences of a source, in order.
        known: words that need not be there, such as the name of the company that all texts are about.
        likeliest: the places of texts in which what documents call the thing that is asked for counts as well.
    """
    folded = list(map(_fold, texts))
    language = _find_language(question, texts)
    weights: dict[str, float] = {}
    having: dict[str, list[bool]] = {}
    names = _asked_names(question, set(tokens(known)), language)
    years = {match["year"] for match in _TIME.finditer(question)}
    for name, weight in names.items() if len(names) <= _MOST else ():
        if _YEAR.fullmatch(name) and name not in years:
            continue  # a bound or the end of a span, which need not be said
        patterns = [_word_pattern(word, language) for word in name.split()]
        having[name] = [all(pattern.search(text) for pattern in patterns) for text in folded]
        count = sum(having[name])
        weights[name] = weight * log(1 + max(len(texts), _FEWEST) / (count or _NONE))
    if years & having.keys() and not any(any(having[year]) for year in years & having.keys()):
        return [0.0] * len(texts)  # nothing is said of that year
    total = sum(weights.values())
    if not total:
        return [1.0] * len(texts)
    covered = [{word for word, has in having.items() if any(has[max(0, at - 1) : at + 2])} for at in range(len(texts))]
    meant = find_meant_phrases(question)
    for at in likeliest if meant else ():
        covered[at] |= _find_meant(meant, " ".join(texts[max(0, at - 1) : at + 2]), weights)
    return [sum(map(weights.__getitem__, words)) / total for words in covered]


def _find_language(question: str, texts: Sequence[str]) -> str:
    """The language whose commonest words a question has most of, if it has any; otherwise that of the texts."""
    said = _WORD.findall(question.casefold())
    counts = {language: sum(map(common.__contains__, said)) for language, common in COMMON_WORDS.items()}
    most = [language for language, count in counts.items() if count and count == max(counts.values())]
    told = most[0] if len(most) == 1 else detect_language("\n".join(texts[:100]))
    return told or next(iter(most), "English")


def _asked_names(question: str, known: set[str], language: str) -> dict[str, float]:
    """The words that carry a question's subject, those of one name together, each with its weight."""
    names: dict[str, float] = {}
    last, end = "", 0
    for match in _WORD.finditer(question):
        word, spelling = match[0].casefold(), match[0]
        is_short = len(word) < _SHORTEST and word.isalpha() and not (spelling.isupper() and len(word) > 1)
        if word in _COMMON or is_short or detect_script_language(word[0]) is not None:
            continue
        if not known.isdisjoint(tokens(word)):
            continue
        if last and last.istitle() and spelling.istitle() and question[end : match.start()].isspace():
            before, weight = names.popitem()
            names[f"{before} {word}"] = weight
        else:
            names[word] = _SMALL if language == "German" and spelling.islower() else 1.0
        last, end = spelling, match.end()
    return names


def _find_meant(meant: Sequence[tuple[frozenset[str], Sequence[str]]], text: str, words: Iterable[str]) -> set[str]:
    """The words of a question by which it means something that the text calls by another name."""
    said = f" {' '.join(tokens(text))} "
    asked = {word for asks, says in meant if any(f" {phrase} " in said for phrase in says) for word in asks}
    return {word for word in words if not asked.isdisjoint(tokens(word))}


def _word_pattern(word: str, language: str) -> re.Pattern[str]:
    """The pattern of a word in folded text, with any ending and in compounds; of a number, however it is grouped."""
    if _YEAR.fullmatch(word):
        spelled = rf"{word[0]}[,.’ ]?{word[1:]}"
        return re.compile(
            rf"(?:(?<!\d){spelled}|(?:\bfy ?|['’]|\b\d\d\d\d[/-]|\b\d\d?[./-]\d\d?[./-]){word[2:]})(?!\d)"
        )
    if word[0].isdigit():
        digits = re.sub(r"[.,](?=\d{3}(?!\d))", "", word)
        return re.compile(rf"(?<!\d){_GROUPS.sub('[,.’ ]?', digits) if digits.isdigit() else re.escape(word)}(?!\d)")
    base = _fold(stem(word, language))
    if len(base) >= _SHORT:
        return re.compile(re.escape(base[: max(_SHORT, len(base) - 1)]))
    behind = r"(?!ers?\b)" * (language == "English" and word.rstrip("s") == f"{base}e")  # an office is no officer
    return re.compile(
        rf"\b{re.escape(base if len(base) > 3 else _fold(word))}{behind}" + r"\b" * (len(word) < _SHORTEST)
    )


def _fold(text: str) -> str:
    """The text in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return decomposed if decomposed.isascii() else re.sub("[\u0300-\u036f]", "", decomposed)
