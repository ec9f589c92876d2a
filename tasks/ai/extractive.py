"""The answerer without a model: the sentences of the sources that match a question, word for word.

BM25 ranks them (`tasks.ranking`); nothing is written, joined or shortened, and nothing is judged.
"""

import re
from collections.abc import Sequence

from tasks import cancellation
from tasks.ai.answerer import Answer, Source, T, Verdict
from tasks.ai.budget import Ledger
from tasks.ai.money import Usage
from tasks.ai.prompt_injection import without_injections
from tasks.ai.prompts import order_warnings
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured
from tasks.ranking import rank
from tasks.text.sentences import sentences
from tasks.text.tokens import tokens

OPENING = "This answer is extractive: no model was asked."
_SLICE = 20_000  # sentences ranked at once: 2 to 3 MB of text, 0.4 to 1.6 s
SHOWN = 6  # sentences an answer holds: about what one reads at a glance


class ExtractiveAnswerer:
    """Takes answers from the sources, or says that there is nothing to take one from."""

    name = "extractive"
    model: str | None = None
    address: str | None = None
    judges = False
    side_by_side = 1

    def answer(
        self,
        question: str,
        sources: Sequence[Source],
        *,
        ledger: Ledger | None = None,  # noqa: ARG002 - part of the seam
    ) -> Answer:
        """The best sentences first, each with the source and place it comes from; costs nothing."""
        return Answer(_answer(question, sources), Usage(), order_warnings(sources))

    def judge(
        self,
        instructions: str,  # noqa: ARG002 - part of the seam
        material: str,  # noqa: ARG002
        schema: type[T],  # noqa: ARG002
        *,
        ledger: Ledger | None = None,  # noqa: ARG002
        one_attempt: bool = False,  # noqa: ARG002
    ) -> Verdict[T]:
        """Never: a judgement needs a model.

        Raises:
            NotConfigured: always.
        """
        raise NotConfigured(
            "No model is configured, so nothing can be judged. Set DILIGENCE_AI_MODEL, and OPENAI_API_KEY or "
            "OPENAI_BASE_URL."
        )


def from_settings(_settings: AiSettings) -> ExtractiveAnswerer:
    """The answerer; it has no settings of its own."""
    return ExtractiveAnswerer()


def _answer(question: str, sources: Sequence[Source]) -> str:
    candidates: dict[str, Source] = {}
    for source in sources:
        cancellation.check()
        for sentence in sentences(without_injections(source.text)[0]):  # an order to a model answers nothing
            candidates.setdefault(sentence, source)  # a repeated sentence is shown once, from its first place
    if not candidates:
        return f"{OPENING} No text was given with the question, so there is nothing to take an answer from."
    # A heading holds few words, so BM25 puts it above the sentences below it, yet it says nothing.
    statements = [sentence for sentence in candidates if len(sentence.split()) > 3 or any(map(str.isdigit, sentence))]
    best = _ranked(question, statements) or _ranked(question, list(candidates))
    if not best:
        return f"{OPENING} No sentence in what was given speaks to the question, so there is nothing to take from it."
    lines = [f"{number}. {sentence}\n   — {_where(candidates[sentence])}" for number, sentence in enumerate(best, 1)]
    return f"{OPENING} These sentences speak to the question, word for word:\n\n" + "\n\n".join(lines)


def _ranked(question: str, texts: Sequence[str]) -> list[str]:
    """The best of `texts`; of very many only those that hold a word of the question, a slice of them at a time."""
    if len(texts) > _SLICE:
        words = _any_word_of(question)
        texts = [text for text in texts if words.search(text)] if words else texts
        slices = (texts[start : start + _SLICE] for start in range(0, len(texts), _SLICE))
        texts = [text for part in slices for text in _best(part, question)]
    return [texts[index] for index, _ in rank(texts, question, SHOWN)]


def _best(texts: Sequence[str], question: str) -> list[str]:
    cancellation.check()
    return [texts[index] for index, _ in rank(texts, question, 10 * SHOWN)]


def _any_word_of(question: str) -> re.Pattern[str] | None:
    """A pattern that matches texts which share a word with the question: its first letters, or a number in any form."""
    words = dict.fromkeys("[.,' ]?".join(word) if word.isdigit() else re.escape(word[:4]) for word in tokens(question))
    return re.compile("|".join(words), re.IGNORECASE) if words else None


def _where(source: Source) -> str:
    return f"{source.name}, {source.place}" if source.place else source.name
