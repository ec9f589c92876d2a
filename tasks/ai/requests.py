"""What is sent to an AI server: one request for each way of asking."""

import re
from typing import Any

from pydantic import BaseModel

from tasks.ai.abilities import Way
from tasks.ai.prompt import Messages


def limit_of(way: Way, *, old: bool) -> str:
    """The name that the limit on an answer's length has, in tokens; `old` servers have another one."""
    if way is Way.RESPONSES:
        return "max_output_tokens"
    return "max_tokens" if old else "max_completion_tokens"


def request_of(way: Way, model: str, messages: Messages, schema: type[BaseModel] | None) -> dict[str, Any]:
    """The request that asks `messages` that way; with `schema`, for JSON as far as that way can."""
    # A lone surrogate, from a broken file name or escape, would fail deep inside the client.
    messages = [{**message, "content": _plain(message["content"])} for message in messages]
    if way is Way.RESPONSES:
        # Not to be kept by the server: the texts are confidential.
        request: dict[str, Any] = {"model": model, "input": messages, "store": False}
        if schema:
            request["text"] = {"format": {"type": "json_schema", **_strict(schema)}}
        return request
    request = {"model": model, "messages": messages}
    if schema and way is Way.SCHEMA:
        request["response_format"] = {"type": "json_schema", "json_schema": _strict(schema)}
    elif schema and way is Way.OBJECT:
        request["response_format"] = {"type": "json_object"}
    return request


def _strict(schema: type[BaseModel]) -> dict[str, Any]:
    """The schema as servers want it: every key required, no other allowed."""
    from openai import pydantic_function_tool  # noqa: PLC0415 - 0.8 s

    # The client's own way to make a strict schema is private, except for tools.
    tool = pydantic_function_tool(schema)["function"]
    return {"name": re.sub(r"\W", "_", schema.__name__)[:64], "strict": True, "schema": tool["parameters"]}


def _plain(text: str) -> str:
    return text.encode(errors="replace").decode()
