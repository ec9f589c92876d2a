"""General AI Question: a free text that answers a question, from a context where one is given."""

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from tasks.ai.answer_cache import answer_once
from tasks.ai.answerer import Source
from tasks.ai.registry import current_answerer
from tasks.errors import BadRequest
from tasks.operation import operation


class AiAnswer(BaseModel):
    """The answer with its question and context as they were sent. Without a context the JSON has no `context`."""

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

    Without a model the answer is taken from the context, word for word, and says so. Passages of the context that
    address a model are left out, and a context that is longer than the model takes is read in parts; the end of the
    answer says so. The same question with the same context is paid for once.

    Raises:
        BadRequest: the question is blank.
        tasks.errors.DiligenceError: the model could not be called, or gave no answer.
    """
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {"question": "must not be empty"})
    sources = [Source(1, "context", None, context)] if context and context.strip() else []
    answer = answer_once(current_answerer(), question, sources)
    return AiAnswer(question=question, context=context, answer=answer.text_with_notes)
