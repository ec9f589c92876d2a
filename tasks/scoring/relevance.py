"""Whether words bear on a question, told by the words that they share with it: those of passages and of reasons.

Words that say nothing of what a text is about do not count, and endings are taken off (`tasks.ranking.words`), so that
it holds for each language that ranking knows. No list of words is needed beyond those of `tasks.language`.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from tasks.language.languages import COMMON_WORDS, language_of, language_of_script
from tasks.language.tokens import word_forms
from tasks.ranking.words import stem, words_of_form

_DEFAULT_LANGUAGE: Final = "English"
_COMMON: Final = frozenset().union(*COMMON_WORDS.values())
"""The commonest words of any language: a question of six words does not tell which one it is in."""
_CLEAR_WORDS, _CLEAR_SHARE = 3, 0.4
"""Words of a question, and their share of all of its words, that a passage has which clearly speaks to it.

Measured on the sample: of 15 pairs of a question and a room that answers it 15 have such a passage, of 39 pairs with a
room that does not, one; of the trial's cases without an answer none has one.
"""
_OF_ITS_OWN: Final = 3
"""Words of a reason that show that it speaks of something. With fewer, it says that something is not said."""


def speaks_clearly(question: str, passages: Iterable[str]) -> bool:
    """Whether one of the passages clearly speaks to a question: it has most of the question's words, or all of few."""
    passages = list(passages)
    language = language_of("\n".join((question, *passages))) or _DEFAULT_LANGUAGE
    asked = {word for word in _words(question, language) if not word[0].isdigit()}
    least = max(min(_CLEAR_WORDS, len(asked)), _CLEAR_SHARE * len(asked))
    return bool(asked) and any(len(asked & _words(passage, language)) >= least for passage in passages)


def is_reason(reason: str, asked: str, passages: Sequence[str], rules: str = "") -> bool:
    """Whether a reason can be one for a judgement of `passages` by what is `asked` (question, guide, company).

    It can where it has a word of theirs. It can too where it names nothing of its own and is in their language ("The
    sources do not tell.") or in that of the `rules` by which the model was told to judge ("Nothing."). It cannot where
    its words are of no language that is known here, or of something else.
    """
    language = language_of("\n".join((asked, *passages))) or _DEFAULT_LANGUAGE
    said = _words(reason, language)
    if any(said & _words(text, language) for text in (asked, *passages)):
        return True
    is_told = not all(map(_counts, word_forms(reason))) or bool(said & _words(rules, language))
    return len(said) < _OF_ITS_OWN and is_told


def _words(text: str, language: str) -> set[str]:
    """The words of a text that say what it is about, without their endings."""
    return {stem(word.spelling, language) for form in word_forms(text) if _counts(form) for word in words_of_form(form)}


def _counts(form: str) -> bool:
    """Whether a word may say what a text is about: none of the commonest ones, nor one of two Latin letters."""
    is_short = len(form) < 3 and form.isalpha() and language_of_script(form[0]) is None
    return not is_short and form not in _COMMON and any(True for _ in words_of_form(form))
