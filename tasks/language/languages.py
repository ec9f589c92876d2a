"""Detects the languages of texts, well enough to say in which words they can be searched.

A language in Latin letters is recognised by its commonest words, any other by its script. Very short texts, tables of
figures and lists of names tell nothing and are left out.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_READ = 2_000  # characters of a text that are looked at
_LEAST_WORDS = 4  # common words of a language that a text must have to be in it
_LEAST_SHARE = 0.1  # of the texts that tell a language; fewer are quotations, addresses, a foreign clause
_MOST = 4  # languages
_LEAST_LETTERS = 20  # of a script

_DATA: Final = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))
_SCRIPTS: Final = {language: re.compile(letters) for language, letters in _DATA["scripts"].items()}
COMMON_WORDS: Final = {language: frozenset(words.split()) for language, words in _DATA["common"].items()}
"""The commonest words of languages in Latin letters."""
ASKING_WORDS: Final = frozenset(" ".join(_DATA["asking"].values()).split())
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
