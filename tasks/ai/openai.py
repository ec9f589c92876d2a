"""The answerer that asks a language model, at any address that speaks OpenAI's protocols.

Servers differ: not all know the Responses protocol, not all take a JSON schema or a JSON mode. What
one is able to do is found out by asking, best way first, and kept for as long as this answerer lives.
Whatever the server promises, each judgement is validated here.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import ValidationError

from tasks.ai.answerer import Answer, AnswererFailed, Judged, NoJson, Source, T
from tasks.ai.endpoint import Endpoint, Way
from tasks.ai.failures import NotSpoken
from tasks.ai.prompt import Messages, judgement_prompt, question_prompt, repair_prompt
from tasks.ai.replies import Reply

OPENAI = "https://api.openai.com/v1"

_WAYS = {
    "auto": (Way.RESPONSES, Way.SCHEMA, Way.OBJECT, Way.CHAT),
    "responses": (Way.RESPONSES,),
    "chat": (Way.SCHEMA, Way.OBJECT, Way.CHAT),
}
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)  # local models that reason aloud


class OpenAiAnswerer:
    """Asks `model` at `base_url` (OpenAI's own when None). `timeout` and `pause` are in seconds."""

    judges = True

    def __init__(
        self,
        model: str,
        api: Literal["auto", "responses", "chat"] = "auto",
        key: str | None = None,
        base_url: str | None = None,
        timeout: float = 120,
        pause: float = 0.5,
    ) -> None:
        self.model = model
        self.name = f"openai-compatible {model}"
        self.address = base_url or OPENAI
        self._ways = _WAYS[api]
        self._lacking: set[Way] = set()
        self._endpoint = Endpoint(model, self.address, key, timeout, pause)

    def answer(self, question: str, sources: Sequence[Source]) -> Answer:
        """What the model says to `question`, with the sources as fenced data.

        Raises:
            ModelRefused, AnswerCut, AnswererFailed: no answer, though the model was reached.
            NotConfigured: key, address or model are wrong.
            TooLarge: question and sources are longer than the model takes.
            TooManyRequests, Unavailable, TookTooLong, SourceFailed: the server's state.
        """
        messages = question_prompt(question, sources)
        ways = [way for way in self._ways if not way.json_only]
        reply = self._first_that_works(ways, lambda way: self._endpoint.ask(way, messages))
        text = _said(reply)
        if not text:
            raise AnswererFailed("The model gave an empty answer. Ask again, or name another model.", reply.usage)
        return Answer(text, reply.usage)

    def judge(self, instructions: str, material: str, schema: type[T]) -> Judged[T]:
        """What the model makes of `material`, checked against `schema`; one second attempt if it does not fit.

        Raises:
            NoJson: neither attempt fits.
            And as `answer`.
        """
        messages = judgement_prompt(instructions, material, schema)
        reply = self._judgement(messages, schema)
        try:
            return Judged(_read(reply, schema), reply.usage)
        except ValidationError as misfit:
            repair = repair_prompt(messages, _said(reply), _problems(misfit))
        try:
            second = self._judgement(repair, schema)
        except AnswererFailed as failure:
            failure.usage += reply.usage
            raise
        usage = reply.usage + second.usage
        try:
            return Judged(_read(second, schema), usage)
        except ValidationError:
            # The cause would show what the model said, which may quote a document.
            raise NoJson(
                "The model's answer was not the JSON asked for, twice. Name a model that is able to give JSON in "
                "DILIGENCE_AI_MODEL.",
                usage,
            ) from None

    def _judgement(self, messages: Messages, schema: type[T]) -> Reply:
        return self._first_that_works(self._ways, lambda way: self._endpoint.ask(way, messages, schema))

    def _first_that_works(self, ways: Sequence[Way], ask: Callable[[Way], Reply]) -> Reply:
        """The reply by the best way that the server knows. What it lacks is remembered once another way worked."""
        passed: list[Way] = []
        failure: NotSpoken | None = None
        for way in ways:
            gone = failure is not None and failure.path_missing and passed[-1].path == way.path
            if way in self._lacking or gone:
                continue
            try:
                reply = ask(way)
            except NotSpoken as error:
                failure = error
                passed.append(way)
            else:
                self._lacking.update(passed)
                return reply
        assert failure is not None, "the last way is never found lacking, because none works after it"
        raise failure.error from failure


def _said(reply: Reply) -> str:
    return _THOUGHT.sub("", reply.text).strip()


def _read(reply: Reply, schema: type[T]) -> T:
    """The judgement in the reply, also where words or a code fence stand around the JSON."""
    text = _said(reply)
    try:
        return schema.model_validate_json(text)
    except ValidationError:
        start, end = text.find("{"), text.rfind("}") + 1
        if text[start:end] in {"", text}:
            raise
        return schema.model_validate_json(text[start:end])


def _problems(misfit: ValidationError) -> list[str]:
    errors = misfit.errors(include_url=False, include_context=False, include_input=False)[:8]
    return [f"{'.'.join(map(str, error['loc'])) or 'the answer'}: {error['msg']}" for error in errors]
