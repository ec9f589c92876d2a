"""What AI servers send back: the part of both protocols that counts here, read leniently, judged strictly.

Servers leave fields out, add their own and send null where a number belongs; none of that matters. A
refusal, a cut answer, a call of a tool and an error in an answer with status 200 do.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from tasks.ai.answerer import AnswerCut, ModelRefused, Usage
from tasks.ai.openai.errors import NotSpoken, by_status, is_too_long, too_long
from tasks.errors import SourceFailed

_MOST_TOKENS = 20_000_000  # of a call; no model reads or writes more, so a larger count is none
_THINKING = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_STATUS = {"rate_limit_exceeded": 429, "server_error": 500}  # of an error that names no number

TOOL = "The model called a tool instead of answering."
THOUGHT = "The model thought aloud and gave no answer."
NOTHING = "The model gave an empty answer."


@dataclass(frozen=True)
class Reply:
    """What the model said, without what it thought; its cost as the server told it, 0 where it did not.

    Where `text` is empty, `instead` says what came in its place.
    """

    text: str
    usage: Usage
    instead: str = NOTHING


class _Reply(BaseModel):
    usage: Any = None
    error: Any = None


class _Message(BaseModel):
    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None
    error: Any = None


class _Completion(_Reply):
    choices: list[_Choice] = []


class _Item(BaseModel):
    type: str
    content: Any = None


class _Response(_Reply):
    output: list[_Item] = []
    status: str | None = None
    incomplete_details: Any = None


def read_completion(body: bytes) -> Reply:
    """The answer in the body of a chat completion.

    Raises:
        ValueError: the body is none.
        NotSpoken, TryAgain: it reports an error.
        ModelRefused, AnswerCut, BeyondWindow: it is one without a whole answer.
    """
    completion = _read(_Completion, body)
    if not completion.choices:
        raise ValueError("no choices")
    choice, usage = completion.choices[0], _spent(completion.usage)
    message = choice.message
    if choice.error or choice.finish_reason == "error":
        raise _error(choice.error)
    if message.refusal or choice.finish_reason == "content_filter":
        raise _refused(usage)
    if choice.finish_reason == "length":
        raise _cut(usage)
    text = without_thoughts(_text(message.content))
    thought = message.reasoning_content or message.reasoning or _text(message.content).strip()
    return Reply(text, usage, _instead(bool(message.tool_calls or message.function_call), bool(thought)))


def read_response(body: bytes) -> Reply:
    """The answer in the body of a response. Raises as `read_completion`."""
    response = _read(_Response, body)
    usage = _spent(response.usage)
    reason = response.incomplete_details.get("reason") if isinstance(response.incomplete_details, dict) else None
    parts = [part for item in response.output if item.type == "message" for part in _list(item.content)]
    if reason == "content_filter" or any(part.get("type") == "refusal" for part in parts):
        raise _refused(usage)
    if response.status == "incomplete":
        raise _cut(usage)
    if response.status not in {"completed", None} or not response.output:
        raise ValueError("no output")
    said = _text(parts)
    called = any(item.type.endswith("_call") for item in response.output)
    thought = bool(said.strip()) or (not parts and any(item.type == "reasoning" for item in response.output))
    return Reply(without_thoughts(said), usage, _instead(called, thought))


def without_thoughts(text: str) -> str:
    """What local models that reason aloud say after their thoughts; nothing where these do not end."""
    ends = list(_THOUGHT_ENDS.finditer(text))
    if _THINKING.match(text):
        return text[ends[0].end() :].strip() if ends else ""
    # Some templates open the thought themselves: only its end stands in the answer.
    if ends and "<think" not in text[: ends[0].start()].lower():
        return text[ends[0].end() :].strip()
    return text.strip()


def _instead(called: bool, thought: bool) -> str:
    return TOOL if called else THOUGHT if thought else NOTHING


def _text(content: Any) -> str:
    """The text of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in _list(content) if part.get("type", "text") in {"text", "output_text"}]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _list(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _spent(told: Any) -> Usage:
    """One call, with its tokens where the server tells numbers that can be right."""
    told = told if isinstance(told, dict) else {}
    # Those that tell what they had read before apart do not count it in.
    read = _count(told, "input_tokens", "prompt_tokens")
    read += _count(told, "cache_read_input_tokens") + _count(told, "cache_creation_input_tokens")
    return Usage(1, read, _count(told, "output_tokens", "completion_tokens"))


def _count(told: dict[str, Any], *names: str) -> int:
    for name in names:
        value = told.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS:
            return int(value)
    return 0


def _read(shape: type[Any], body: bytes) -> Any:
    try:
        try:
            reply = shape.model_validate_json(body)
        except ValidationError:
            # Half of a surrogate pair, as models write at times, is an error there and none for `json`.
            whole = json.dumps(json.loads(body), ensure_ascii=False).encode(errors="replace")
            reply = shape.model_validate_json(whole)
    except (ValueError, RecursionError):  # a ValidationError is the former, and its message quotes the body
        raise ValueError("not the protocol") from None
    if reply.error:
        raise _error(reply.error)
    return reply


def _error(error: Any) -> Exception:
    """What an error in an answer with status 200 means: LM Studio and OpenRouter send such."""
    said = str(error)[:4000].lower()
    if is_too_long(said):
        return too_long(said)
    code = error.get("code") if isinstance(error, dict) else None
    status = _STATUS.get(code, 0) if isinstance(code, str) else code
    if isinstance(status, int) and (status == 429 or 500 <= status < 600):
        return by_status(status, {}, said)
    return NotSpoken(
        SourceFailed("The AI server answered with an error of its own. Try again later, or look into its log."),
        path_missing=False,
    )


def _refused(usage: Usage) -> ModelRefused:
    return ModelRefused("The model refused to answer. Ask in another way, or name another model.", usage)


def _cut(usage: Usage) -> AnswerCut:
    return AnswerCut(
        "The model's answer was cut off before its end. Ask for less at once, or raise the server's limit on an "
        "answer's length.",
        usage,
    )
