"""One address of an AI server: a prompt goes out one of four ways, an answer comes back, or one clear error.

The `openai` client carries the connection. The body is read in `replies.py`, because the client takes a
web page with status 200 for an answer and lets an empty one through as a raw exception (measured on
3.52). Waiting and trying again happen here: the client would also repeat what has timed out.
"""

import logging
import random
import re
import time
import weakref
from enum import Enum
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from tasks.ai.failures import Again, empty, not_the_protocol, what_failed
from tasks.ai.prompt import Messages
from tasks.ai.replies import Reply, read_completion, read_response

if TYPE_CHECKING:
    from openai import OpenAI

PATIENCE = 60.0  # seconds that one question may spend waiting for a busy server

log = logging.getLogger(__name__)


class Way(Enum):
    """How to ask. The first and the last are also for free text; the others are ways to ask for JSON."""

    RESPONSES = "the Responses protocol, with the schema"
    SCHEMA = "a chat completion with the schema"
    OBJECT = "a chat completion in JSON mode"
    CHAT = "a chat completion with the schema in words only"

    @property
    def path(self) -> str:
        return "responses" if self is Way.RESPONSES else "chat/completions"

    @property
    def json_only(self) -> bool:
        return self in {Way.SCHEMA, Way.OBJECT}


class Endpoint:
    """A model at an address. `timeout` is for one answer, `pause` the first wait before trying again (seconds)."""

    def __init__(self, model: str, address: str, key: str | None, timeout: float, pause: float) -> None:
        self._model = model
        self._address = address
        self._key = key
        self._timeout = timeout
        self._pause = pause

    def ask(self, way: Way, messages: Messages, schema: type[BaseModel] | None = None) -> Reply:
        """Send `messages` that way; with `schema`, ask for JSON as far as that way can.

        Raises:
            NotSpoken: the server does not know this way.
            ModelRefused, AnswerCut: it does, and gave no whole answer.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        # A lone surrogate, from a broken file name or escape, would fail deep inside the client.
        said = [{**message, "content": _plain(message["content"])} for message in messages]
        body = self.send(way, _request(way, self._model, said, schema))
        try:
            return read_response(body) if way is Way.RESPONSES else read_completion(body)
        except ValueError:
            raise not_the_protocol(body) from None

    def send(self, way: Way, request: dict[str, Any]) -> bytes:
        """The body that answers a request of that way's protocol; a busy server is asked again for a while.

        Raises:
            NotSpoken: the server does not know this way.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        waited = 0.0
        for attempt in count(1):
            try:
                return self._send(way, request)
            except Again as again:
                pause = self._pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
                pause = pause if again.after is None else again.after
                if attempt >= again.attempts or waited + pause > PATIENCE:
                    raise again.error from None
                log.info("%s Trying again in %.1f s.", again.error.message, pause)
            time.sleep(pause)
            waited += pause
        raise AssertionError("counting does not end")

    def _send(self, way: Way, request: dict[str, Any]) -> bytes:
        from openai import OpenAIError  # noqa: PLC0415 - 0.8 s

        try:
            if way is Way.RESPONSES:
                body = self._client.responses.with_raw_response.create(**request).content
            else:
                body = self._client.chat.completions.with_raw_response.create(**request).content
        except OpenAIError as error:
            # Without its cause: the server's words, which a traceback would show, can hold key and prompt.
            raise what_failed(error, self._timeout) from None
        if not body.strip():
            raise empty()
        return body

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import DefaultHttpxClient, OpenAI, Timeout  # noqa: PLC0415 - 0.8 s

        timeout = Timeout(self._timeout, connect=min(10.0, self._timeout))
        client = OpenAI(
            api_key=self._key or "none",  # a server that needs no key still gets a header
            base_url=self._address,
            timeout=timeout,
            max_retries=0,
            http_client=DefaultHttpxClient(base_url=self._address, timeout=timeout, follow_redirects=False),
        )
        weakref.finalize(self, client.close)  # its open connections end with this endpoint, or with the process
        return client


def _request(way: Way, model: str, messages: Messages, schema: type[BaseModel] | None) -> dict[str, Any]:
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
