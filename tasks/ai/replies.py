"""What AI servers send back: the part of both protocols that counts here, read leniently, judged strictly.

Servers leave fields out, add their own and send null where a number belongs; none of that matters. A
refusal, a cut answer and an error in an answer with status 200 do.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from tasks.ai.answerer import AnswerCut, ModelRefused, Usage
from tasks.ai.failures import NotSpoken, is_too_long, too_long
from tasks.errors import SourceFailed


@dataclass(frozen=True)
class Reply:
    """A whole answer of the model, with what it cost."""

    text: str
    usage: Usage


class _Tokens(BaseModel):
    input: int | None = Field(None, validation_alias=AliasChoices("input_tokens", "prompt_tokens"))
    output: int | None = Field(None, validation_alias=AliasChoices("output_tokens", "completion_tokens"))


class _Reply(BaseModel):
    usage: _Tokens | None = None
    error: Any = None

    def spent(self) -> Usage:
        tokens = self.usage or _Tokens.model_construct(input=0, output=0)
        return Usage(1, tokens.input or 0, tokens.output or 0)


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(_Reply):
    choices: list[_Choice] = []


class _Part(BaseModel):
    type: str
    text: str | None = None


class _Item(BaseModel):
    type: str
    content: list[_Part] | None = None


class _Incomplete(BaseModel):
    reason: str | None = None


class _Response(_Reply):
    output: list[_Item] = []
    status: str | None = None
    incomplete_details: _Incomplete | None = None


def read_completion(body: bytes) -> Reply:
    """The answer in the body of a chat completion.

    Raises:
        ValueError: the body is none.
        NotSpoken: it reports an error.
        ModelRefused, AnswerCut, TooLarge: it is one without a whole answer.
    """
    completion = _read(_Completion, body)
    if not completion.choices:
        raise ValueError("no choices")
    choice, usage = completion.choices[0], completion.spent()
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise _refused(usage)
    if choice.finish_reason == "length":
        raise _cut(usage)
    return Reply(choice.message.content or "", usage)


def read_response(body: bytes) -> Reply:
    """The answer in the body of a response. Raises as `read_completion`."""
    response = _read(_Response, body)
    usage = response.spent()
    reason = response.incomplete_details.reason if response.incomplete_details else None
    parts = [part for item in response.output if item.type == "message" for part in item.content or []]
    if reason == "content_filter" or any(part.type == "refusal" for part in parts):
        raise _refused(usage)
    if response.status == "incomplete":
        raise _cut(usage)
    if response.status not in {"completed", None} or not response.output:
        raise ValueError("no output")
    return Reply("".join(part.text or "" for part in parts if part.type == "output_text"), usage)


def _read(shape: type[Any], body: bytes) -> Any:
    try:
        reply = shape.model_validate_json(body)
    except ValidationError:
        # Its message quotes the body.
        raise ValueError("not the protocol") from None
    if reply.error:
        if is_too_long(str(reply.error)):
            raise too_long()
        # Some servers (LM Studio, OpenRouter) report with status 200 what others do with 4xx.
        raise NotSpoken(
            SourceFailed("The AI server answered with an error of its own. Try again later, or look into its log."),
            path_missing=False,
        )
    return reply


def _refused(usage: Usage) -> ModelRefused:
    return ModelRefused("The model refused to answer. Ask in another way, or name another model.", usage)


def _cut(usage: Usage) -> AnswerCut:
    return AnswerCut(
        "The model's answer was cut off before its end. Ask for less at once, or raise the server's limit on an "
        "answer's length.",
        usage,
    )
