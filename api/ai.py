"""General AI Question over HTTP."""

from litestar import Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from pydantic import Field

from api.openapi import describe
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
    **describe("ai_question"),
)
async def ask(data: JSONBody[AiQuestion], calls: NamedDependency[Calls]) -> Response[AiAnswer]:
    answer = await calls(ai_question, data.question, data.context)
    return take_answered(answer)
