"""The answerer that asks a language model, at any address that speaks OpenAI's protocols.

Servers differ: not all know the Responses protocol, not all take a JSON schema or a JSON mode, few say how
much they take at once. What one is able to do is found out by asking, best way first, once for each address
and model. Whatever the server promises, each judgement is validated here.

The AI server's own web search: a request with the tool `web_search`, and the pages that it came by.

Only servers that speak the Responses protocol have it. Nothing confidential is sent, and nothing is kept there.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ValidationError

from tasks.ai import answerer
from tasks.ai.answerer import Answer, AnswererFailed, Judged, NoJson, Source, T, Usage
from tasks.ai.openai.client import Endpoint, Way
from tasks.ai.openai.errors import BeyondWindow, NotSpoken
from tasks.ai.openai.long_context import LongReading
from tasks.ai.openai.responses import Reply
from tasks.ai.prompts import Messages, judgement_prompt, question_prompt, repair_prompt, without_addressing
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured, SourceFailed
from tasks.text.tokens import most_model_tokens, usual_model_tokens

if TYPE_CHECKING:
    from tasks.ai.budget import Ledger


OPENAI = "https://api.openai.com/v1"

_WAYS = {
    "auto": (Way.RESPONSES, Way.SCHEMA, Way.OBJECT, Way.CHAT),
    "responses": (Way.RESPONSES,),
    "chat": (Way.SCHEMA, Way.OBJECT, Way.CHAT),
}
_ANY_MODEL = 1_000_000  # tokens; few models take more at once, so what is longer is not even tried whole
_MANY_MODELS = 128_000  # tokens that parts are then made for, until the model shows that it takes fewer


class OpenAiAnswerer:
    """Asks `model` at `base_url` (OpenAI's own when None).

    `timeout`, `pause` and `patience` are in seconds and as for `Endpoint`; `window` is how many tokens the model
    takes at once, None where that is to be found out.
    """

    judges = True

    def __init__(
        self,
        model: str,
        api: Literal["auto", "responses", "chat"] = "auto",
        key: str | None = None,
        base_url: str | None = None,
        timeout: float = 120,
        pause: float = 0.5,
        patience: float | None = None,
        window: int | None = None,
    ) -> None:
        self.model = model
        self.name = f"openai-compatible {model}"
        self.address = base_url or OPENAI
        self._ways = _WAYS[api]
        self._window = window
        self._endpoint = Endpoint(model, self.address, key, timeout, pause, patience)

    @property
    def side_by_side(self) -> int:
        """How many questions at once make sense; fewer once the server has complained."""
        return self._endpoint.limiter.useful_at_once

    @property
    def window(self) -> int | None:
        """Tokens that the model takes at once, as set or as it has shown; None where neither is known."""
        return min(filter(None, (self._window, self._endpoint.abilities.window)), default=None)

    def answer(self, question: str, sources: Sequence[Source], *, ledger: "Ledger | None" = None) -> Answer:
        """What the model says to `question`, with the sources as fenced data.

        Passages of the sources that address the model are left out. Sources that are longer than it takes at
        once are read whole, in parts. The answer's notes say both.

        Raises:
            ModelRefused, AnswerCut, AnswererFailed: no answer, though the model was reached.
            NotConfigured: key, address or model are wrong.
            TooLarge: question and sources are longer than the model takes, also in parts.
            BudgetSpent: the ledger leaves nothing for it.
            TooManyRequests, Unavailable, TookTooLong, SourceFailed: the server's state.
        """
        sources, warnings = without_addressing(sources)
        prompt = question_prompt(question, sources)
        size = usual_model_tokens(*(message["content"] for message in prompt))
        window, supposed = self.window, _MANY_MODELS
        spent = Usage()
        if size <= (window or _ANY_MODEL) or not sources:
            try:
                reply = self._free_text(prompt, ledger)
                return Answer(reply.text, reply.usage, warnings)
            except BeyondWindow as beyond:
                if not sources:
                    raise
                spent = beyond.usage
                window, supposed = beyond.window, most_model_tokens(*(message["content"] for message in prompt)) // 2
        reading = LongReading(lambda messages: self._free_text(messages, ledger), question, self.side_by_side)
        try:
            reply = reading.answer(sources, window or supposed)
        except (AnswererFailed, BeyondWindow) as failure:
            failure.usage += spent
            raise
        if reading.window < (window or _MANY_MODELS):
            self._endpoint.abilities.narrow(reading.window)  # the next question need not find it out
        read = f"The context was longer than the model takes at once; it was read whole in {reading.parts} parts."
        return Answer(reply.text, spent + reply.usage, (read, *warnings))

    def judge(self, instructions: str, material: str, schema: type[T], *, ledger: "Ledger | None" = None) -> Judged[T]:
        """What the model makes of `material`, checked against `schema`; one second attempt if it does not fit.

        Raises:
            NoJson: neither attempt fits.
            TooLarge: the material is longer than the model takes at once; it is never read in parts.
            And as `answer`.
        """
        messages = judgement_prompt(instructions, material, schema)
        if self.window is not None and usual_model_tokens(*(message["content"] for message in messages)) > self.window:
            raise BeyondWindow(
                f"What is to be judged is longer than the {self.window} tokens that the model takes at once. Name a "
                "model with a larger window in DILIGENCE_AI_MODEL, or raise the server's context size.",
                self.window,
            )
        reply = self._judgement(messages, schema, ledger)
        try:
            return Judged(_read(reply, schema), reply.usage)
        except ValidationError as misfit:
            problems = _problems(misfit) if reply.text else [reply.instead]
            repair = repair_prompt(messages, reply.text, problems)
        try:
            second = self._judgement(repair, schema, ledger)
        except (AnswererFailed, BeyondWindow) as failure:
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

    def _free_text(self, messages: Messages, ledger: "Ledger | None") -> Reply:
        """The model's words; asked once more where it gives none."""
        ways = [way for way in self._ways if not way.json_only]
        first = self._first_that_works(ways, lambda way: self._endpoint.ask(way, messages, ledger=ledger))
        if first.text:
            return first
        try:
            second = self._first_that_works(ways, lambda way: self._endpoint.ask(way, messages, ledger=ledger))
        except (AnswererFailed, BeyondWindow) as failure:
            failure.usage += first.usage
            raise
        usage = first.usage + second.usage
        if not second.text:
            raise AnswererFailed(f"{second.instead} Ask again, or name another model.", usage)
        return Reply(second.text, usage)

    def _judgement(self, messages: Messages, schema: type[T], ledger: "Ledger | None") -> Reply:
        return self._first_that_works(self._ways, lambda way: self._endpoint.ask(way, messages, schema, ledger))

    def _first_that_works(self, ways: Sequence[Way], ask: Callable[[Way], Reply]) -> Reply:
        """The reply by the best way that the server knows. What it lacks is remembered once another way worked."""
        abilities = self._endpoint.abilities
        known = [way for way in ways if way not in abilities.lacking] or list(ways)
        passed: list[Way] = []
        failure: NotSpoken | None = None
        for way in known:
            if failure is not None and failure.path_missing and passed[-1].path == way.path:
                continue
            try:
                reply = ask(way)
            except NotSpoken as error:
                failure = error
                passed.append(way)
            else:
                abilities.lacks(set(passed))
                return reply
        assert failure is not None, "there is always a way to try"
        abilities.start_anew()
        raise failure.error from failure


def _read(reply: Reply, schema: type[T]) -> T:
    """The judgement in the reply, also where words or a code fence stand around the JSON."""
    text = reply.text
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


_ASKED: Final = "Search the web for pages that tell this, and cite each page that does:\n"


class WebSearch:
    """The search of the model at an address."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    def find(self, query: str) -> list[dict[str, str]]:
        """The pages found: `url`, `title`, and as `content` what the model cites them for (or empty).

        Those that are cited come first, then those that were looked at besides; each address once.

        Raises:
            NotConfigured: the server has no such tool.
            DiligenceError: it could not be asked, or answered wrongly.
        """
        request = {
            "model": self._model,
            "input": [{"role": "user", "content": _ASKED + query}],
            "tools": [{"type": "web_search"}],
            "include": ["web_search_call.action.sources"],
            "store": False,
        }
        try:
            body = self._endpoint.send(Way.RESPONSES, request)
        except NotSpoken:
            raise NotConfigured(
                "The AI server has no web search of its own. Set DILIGENCE_SEARCH to another provider."
            ) from None
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            said = None
        output = said.get("output") if isinstance(said, dict) else None
        if not isinstance(output, list):
            raise SourceFailed("The AI server's answer to a web search cannot be read. Check OPENAI_BASE_URL.")
        items = _list(output)
        found: dict[str, dict[str, str]] = {}
        for each in (*_cited(items), *_looked_at(items)):
            found.setdefault(each["url"], each)
        return list(found.values())


def open_web_search() -> WebSearch:
    """The web search of the model that the settings name.

    Raises:
        NotConfigured: none is named, or nothing says where to ask it.
    """
    model = answerer.current()  # checks address and key
    if model.model is None:
        raise NotConfigured(
            "DILIGENCE_SEARCH is hosted, which is the AI server's own search, and no model is configured. Set "
            "DILIGENCE_AI_MODEL and OPENAI_API_KEY."
        )
    return _build(AiSettings.current())


@lru_cache(maxsize=8)
def _build(settings: AiSettings) -> WebSearch:
    assert settings.ai_model
    key = settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else None
    address = settings.openai_base_url or OPENAI
    return WebSearch(Endpoint(settings.ai_model, address, key, settings.ai_timeout, pause=0.5), settings.ai_model)


def _cited(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The pages that the answer cites, each with the words before the citation."""
    found = []
    parts = [part for item in items if item.get("type") == "message" for part in _list(item.get("content"))]
    for part in parts:
        text = str(part.get("text") or "")
        for note in _list(part.get("annotations")):
            url, start = note.get("url"), note.get("start_index")
            if note.get("type") == "url_citation" and isinstance(url, str):
                words = text[max(start - 300, 0) : start] if isinstance(start, int) else ""
                found.append({"url": url, "title": str(note.get("title") or ""), "content": words})
    return found


def _looked_at(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    actions = [item.get("action") for item in items if item.get("type") == "web_search_call"]
    sources = [each for action in actions if isinstance(action, dict) for each in _list(action.get("sources"))]
    return [
        {"url": source["url"], "title": "", "content": ""} for source in sources if isinstance(source.get("url"), str)
    ]


def _list(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
