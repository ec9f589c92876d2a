"""General AI Question: a free text that answers a question, from a context where one is given."""

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from tasks.ai.answer_cache import answer_once
from tasks.ai.answerer import Source, current
from tasks.errors import BadRequest
from tasks.operation import operation


class AiAnswer(BaseModel):
    """The answer with what was asked, as given. `context` is absent in the JSON when none was given."""

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

    Without a model the answer is taken from the context, word for word, and says so. What the context says to a
    model is left out, and a context that is longer than the model takes is read in parts; the answer's end says so.
    The same question with the same context is paid for once.

    Raises:
        BadRequest: the question is blank.
        tasks.errors.DiligenceError: the model could not be asked, or gave no answer.
    """
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {"question": "must not be empty"})
    sources = [Source(1, "context", None, context)] if context and context.strip() else []
    return AiAnswer(question=question, context=context, answer=answer_once(current(), question, sources).whole)
