"""General AI Question over HTTP."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from pydantic import Field

from api.openapi import failures
from api.requests import Body, Calls, NotBlank, make_text_field, take_answered
from tasks.answers import AiAnswer, ai_question


class AiQuestion(Body):
    """A question, and the text to answer it from."""

    question: NotBlank = make_text_field("The question.", "Is the revenue mostly recurring?")
    context: str | None = Field(
        None,
        description="Background that makes the answer more precise; may be long.",
        examples=["Alpha sells subscriptions. In 2025 these were 91 % of its revenue."],
    )


@post(
    "/question",
    status_code=200,
    operation_id="ai_question",
    tags=["AI"],
    summary="General AI Question",
    description="Answers a free-form question. Without a configured model the answer is taken word for word "
    "from the context, and says so.",
    response_description="The answer, with the question and, where one was given, the context.",
    responses=failures(400, 401, 413, 415, 429, 500, 502, 503, 504),
)
async def ask(data: JSONBody[AiQuestion], calls: NamedDependency[Calls]) -> Response[AiAnswer]:
    answer = await calls(ai_question, data.question, data.context)
    return take_answered(answer)
