"""The answerer without a model: the sentences of the sources that speak to a question, word for word.

BM25 ranks them (`tasks.ranking`); nothing is written, joined or shortened, and nothing is judged.
"""

from collections.abc import Sequence

from tasks.ai.answerer import Answer, Judged, Source, T, Usage
from tasks.ai.sentences import sentences
from tasks.errors import NotConfigured
from tasks.ranking import rank

OPENING = "This answer is extractive: no model was asked."
SHOWN = 6  # sentences an answer holds: about what one reads at a glance


class ExtractiveAnswerer:
    """Takes answers from the sources given, or says that there is nothing to take one from."""

    name = "extractive"
    model: str | None = None
    address: str | None = None
    judges = False

    def answer(self, question: str, sources: Sequence[Source]) -> Answer:
        """The best sentences first, each with the source and place it comes from; costs nothing."""
        return Answer(_answer(question, sources), Usage())

    def judge(self, instructions: str, material: str, schema: type[T]) -> Judged[T]:  # noqa: ARG002 - the seam's
        """Never: a judgement needs a model.

        Raises:
            NotConfigured: always.
        """
        raise NotConfigured(
            "No model is configured, so nothing can be judged. Set DILIGENCE_AI_MODEL, and OPENAI_API_KEY or "
            "OPENAI_BASE_URL."
        )


def _answer(question: str, sources: Sequence[Source]) -> str:
    candidates: dict[str, Source] = {}
    for source in sources:
        for sentence in sentences(source.text):
            candidates.setdefault(sentence, source)  # said twice, shown once: where it stands first
    if not candidates:
        return f"{OPENING} No text was given with the question, so there is nothing to take an answer from."
    # A heading holds few words, so BM25 puts it above the sentences it announces, yet it says nothing.
    telling = [sentence for sentence in candidates if len(sentence.split()) > 3 or any(map(str.isdigit, sentence))]
    best = _ranked(question, telling) or _ranked(question, list(candidates))
    if not best:
        return f"{OPENING} No sentence in what was given speaks to the question, so there is nothing to take from it."
    lines = [f"{number}. {sentence}\n   — {_where(candidates[sentence])}" for number, sentence in enumerate(best, 1)]
    return f"{OPENING} These sentences speak to the question, word for word:\n\n" + "\n\n".join(lines)


def _ranked(question: str, texts: Sequence[str]) -> list[str]:
    return [texts[index] for index, _ in rank(texts, question, SHOWN)]


def _where(source: Source) -> str:
    return f"{source.name}, {source.place}" if source.place else source.name
