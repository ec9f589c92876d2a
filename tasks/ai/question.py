"""General AI Question: answers a question in free text, from a context if one is given.

With a context, the model's statements are checked against it (`statement_check`). If the question asks for the model's
own words (a score, a draft, a calculation), those that the context does not contradict are kept.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from tasks.ai.answerer import Answer, Answerer, Source
from tasks.ai.calls import answer_once
from tasks.ai.extractive import nearby, quote_sentences
from tasks.ai.prompt_injection import without_injections
from tasks.ai.registry import current_answerer, with_names
from tasks.ai.statement_check import LEFT_OUT, check_answer
from tasks.errors import BadRequest
from tasks.language.sentences import sentences
from tasks.offload import offload
from tasks.operation import operation
from tasks.privacy.pseudonyms import signature_names
from tasks.spending.budget import Ledger, make_question_ledger
from tasks.statements.answers import Ground

_ASKS_FOR_OWN_WORDS: Final = re.compile(
    r"\b(?:scor\w*|rat(?:e|es|ing|ings)|rank\w*|grad(?:e|es|ing)|assess\w*|evaluat\w*|judg\w*|opinion|think|recommend\w*|suggest\w*|"
    r"should|draft\w*|write|rewrite|rephrase|translat\w*|calculat\w*|comput\w*|estimat\w*|compare|propos\w*|imagine|brainstorm|"
    r"bewert\w*|beurteil\w*|schreib\w*|übersetz\w*|berechn\w*|empfiehl\w*|empfehl\w*)\b",
    re.IGNORECASE,
)


class AiAnswer(BaseModel):
    """The answer, with the question and context as they were sent. Without a context the JSON has no `context`."""

    question: str
    context: str | None = None
    answer: str

    @model_serializer(mode="wrap")
    def _without_absent_context(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = handler(self)
        if self.context is None:
            fields.pop("context", None)
        return fields


@operation(name="ai_question")
def ai_question(question: str, context: str | None = None) -> AiAnswer:
    """Answer `question`, with `context` as the text to answer from.

    Without a model the answer is quoted from the context, and says so. From a model's answer, only what a sentence of
    the context supports is kept; the rest is replaced by the sentence on the same subject, or left out and counted at
    the end of the answer. The answer also says where words of the context give orders to a model, and whether a context
    longer than the model accepts was read in parts. The same question with the same context is paid for only once.
    Answer and check together stay within the budget of a run; what it has too little left for is not asked.

    Raises:
        BadRequest: the question is blank.
        tasks.spending.budget.BudgetSpent: the answer alone could cost more.
        tasks.errors.DiligenceError: the model could not be called, or gave no answer.
    """
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {"question": "must not be empty"})
    sources = [Source(1, "context", None, context)] if context and context.strip() else []
    answerer = with_names(current_answerer(), lambda: signature_names(context or ""))
    ledger = make_question_ledger()
    answer = answer_once(answerer, question, sources, ledger=ledger)
    if sources and answerer.model is not None:
        answer = _check(answer, question, sources, answerer, ledger)
    return AiAnswer(question=question, context=context, answer=answer.text_with_notes)


def _choose_proof(statements: Sequence[str], text: str) -> str:
    """The part of a text that the statements are checked against."""
    return nearby(statements, without_injections(text)[0])


def _check(answer: Answer, question: str, sources: list[Source], answerer: Answerer, ledger: Ledger | None) -> Answer:
    """The answer reduced to what the context supports, with notes on the check before the answerer's own."""
    # The model is given all of the context. Words that give it orders prove nothing of what it answers.
    statements = sentences(answer.text)
    texts = [(source.number, offload(_choose_proof, statements, source.text)) for source in sources]
    grounds = [Ground(number, None, text, text) for number, text in texts]
    own_words = _ASKS_FOR_OWN_WORDS.search(question) is not None
    proof = check_answer(answer.text, question, "", grounds, answerer, ledger=ledger, keeps_own=own_words)
    if proof.stands:
        return replace(answer, text=proof.answer.shown, notes=(*proof.notes, *answer.notes))
    text = offload(quote_sentences, question, sources)
    parts = (LEFT_OUT.format("context does"), proof.answer.shown, text)
    return replace(answer, text="\n\n".join(filter(None, parts)))
