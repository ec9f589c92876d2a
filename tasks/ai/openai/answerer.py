"""The answerer that calls a language model.

Servers differ: not all support the Responses protocol, not all accept a JSON schema or a JSON mode, and few say how
much they take at once. The best request format is tried first; what works is remembered for each address and model.
Whatever the server promises, each judgement is validated here.

What a server and its model can do is found out by asking once, and kept with the answers. A small judgement is
requested in each request format, best first, until an answer keeps to its schema: a status of 200 alone says nothing,
as some servers accept a schema and ignore it. The requests also show which parts of a request the server refuses,
whether it counts tokens, and how fast it reads and writes.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from math import ceil
from threading import Lock
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storage.database import locked
from storage.settings import is_web_address
from tasks.ai.answerer import AiSettings, Answer, AnswerCut, Answerer, AnswererFailed, NoJson, Source, T, Verdict
from tasks.ai.calls import (
    Messages,
    find_answer,
    find_replies,
    judgement_prompt,
    keep_answer,
    order_warnings,
    question_prompt,
    repair_prompt,
)
from tasks.ai.openai.answers import Capabilities, LongContext, Misfit, read_object
from tasks.ai.openai.client import SERVER_LIMIT, Endpoint
from tasks.ai.openai.errors import ContextWindowExceeded, EndlessAnswer, adding_to_failures
from tasks.ai.openai.protocols import Reply, RequestFormat, longest_answer
from tasks.errors import NotConfigured
from tasks.language.sentences import sentences
from tasks.language.words import most_model_tokens, usual_model_tokens
from tasks.offload import offload
from tasks.remote.environment import check_connection
from tasks.remote.openai_client import AzureAddress
from tasks.spending.budget import BudgetSpent, Ledger
from tasks.spending.money import Pace, Usage

INSTRUCTIONS = "Say which bird the text names, and how many there are."
_TEXT = "Seven herons stood in the shallow water beside the mill."
_LONGEST = 256  # tokens; an answer that keeps to the schema has some thirty
_VERSION = 2  # raised when the question changes, or what is learned of it

log = logging.getLogger(__name__)
_asking = Lock()


class Sighting(BaseModel):
    """The answer: any bird will do, but nothing else."""

    model_config = ConfigDict(extra="forbid")

    bird: Literal["heron", "crane", "stork"] = Field(description="the bird")
    number: int = Field(description="how many there are")


def find_out(endpoint: Endpoint, formats: Sequence[RequestFormat], ledger: Ledger | None) -> None:
    """Learn what the server can do, from what is stored or by asking it, unless this process knows it already.

    Raises:
        tasks.errors.DiligenceError: the server cannot be asked at all.
    """
    if endpoint.capabilities.known:
        return
    key = _key(endpoint, formats)
    with _asking, locked(f"answer {key}"):  # processes that start together ask once
        if recall(endpoint, formats):
            return
        endpoint.describe()
        try:
            usage = _ask(endpoint, formats, ledger and ledger.keeping(find_replies(key, endpoint.model)))
        except BudgetSpent:
            return
        keep_answer(key, endpoint.model, endpoint.capabilities.model_dump(mode="json"), usage)
        endpoint.capabilities.known = True


def recall(endpoint: Endpoint, formats: Sequence[RequestFormat]) -> bool:
    """Load what is stored about the server, unless this process knows it already; False if nothing is stored."""
    if endpoint.capabilities.known:
        return True
    stored = find_answer(_key(endpoint, formats))
    if stored is None:
        return False
    endpoint.capabilities.load(stored)
    endpoint.allow_slots()
    return True


def _key(endpoint: Endpoint, formats: Sequence[RequestFormat]) -> str:
    parts = ["probe", _VERSION, endpoint.address, endpoint.model, *(request_format.name for request_format in formats)]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _ask(endpoint: Endpoint, formats: Sequence[RequestFormat], ledger: Ledger | None) -> Usage:
    """Ask in each format until one follows the schema; if none does, this is held against none of them."""
    messages = judgement_prompt(INSTRUCTIONS, _TEXT, Sighting)

    def ask(request_format: RequestFormat) -> tuple[str, Usage]:
        try:
            reply = endpoint.ask(request_format, messages, Sighting, ledger, most=_LONGEST)
        except (AnswererFailed, ContextWindowExceeded) as failure:
            return "", failure.usage
        return reply.text, reply.usage

    usage = Usage()
    ignored: list[RequestFormat] = []
    for request_format, (text, used) in endpoint.replies(formats, ask):
        usage += used
        if _fits(text):
            endpoint.capabilities.keeps = request_format
            endpoint.capabilities.loose.update(ignored)
            return usage
        if request_format.takes_schema:
            ignored.append(request_format)
    log.warning("The AI server's model followed no schema when it was tested: its answers may not be JSON.")
    return usage


def _fits(text: str) -> bool:
    try:
        Sighting.model_validate_json(text)
    except ValidationError:
        return False
    return True


OPENAI = "https://api.openai.com/v1"

_FORMATS = {
    "auto": (RequestFormat.RESPONSES, RequestFormat.SCHEMA, RequestFormat.OBJECT, RequestFormat.CHAT),
    "responses": (RequestFormat.RESPONSES,),
    "chat": (RequestFormat.SCHEMA, RequestFormat.OBJECT, RequestFormat.CHAT),
}
_ANY_MODEL = 1_000_000  # tokens; few models take more at once, so what is longer is read in parts from the start
_MANY_MODELS = 128_000  # tokens that parts are then made for, until the model shows that it takes fewer
_LEAST: Final = 448  # tokens of an answer in words of its own, such as a search plan
_KEY: Final = 8  # tokens of a key of an answer with its marks, and of a number or a choice as its value
_CUT: Final = "The model's answer exceeded its limit: what follows its last complete sentence is missing."


def from_settings(settings: AiSettings) -> "OpenAiAnswerer":
    """The answerer for the model that the settings name.

    Raises:
        NotConfigured: the settings do not say where to call it, or address or key cannot be right.
    """
    assert settings.ai_model
    address, key = find_server(settings)
    return OpenAiAnswerer(
        settings.ai_model,
        settings.ai_api,
        key,
        address,
        settings.ai_timeout,
        window=settings.ai_window,
        probes=settings.ai_probe,
    )


def find_server(settings: AiSettings) -> tuple[str, str | None]:
    """The address and key of the AI server. Raises the same errors as `from_settings`."""
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise NotConfigured(
            "DILIGENCE_AI_MODEL names a model, but nothing says where to ask it. Set OPENAI_API_KEY for OpenAI, "
            "OPENAI_BASE_URL for another server, or both."
        )
    if settings.openai_base_url is not None and not is_web_address(settings.openai_base_url):
        raise NotConfigured(
            "OPENAI_BASE_URL is not a web address. Set it to one such as http://127.0.0.1:11434/v1, or leave it out."
        )
    key = settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise NotConfigured(
            "OPENAI_API_KEY holds characters that no key has. Set it again, without quotation marks or line breaks."
        )
    address = settings.openai_base_url or OPENAI
    check_connection(address)
    return address, key


class OpenAiAnswerer(Answerer):
    """Calls `model` at `base_url` (OpenAI's own address if None).

    `timeout`, `pause` and `patience` are in seconds and as for `Endpoint`. `window` is how many tokens the model takes
    at once; if None, that is found out. With `probes`, the server is asked once what it can do, before its first
    question.
    """

    judges = True
    model: str
    address: str

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
        *,
        probes: bool = False,
    ) -> None:
        self.model = model
        self.name = f"openai-compatible {model}"
        self.address = base_url or OPENAI
        # Azure's older versions know no Responses protocol, and all know chat.
        self._formats = _FORMATS["chat" if api == "auto" and AzureAddress.parse(self.address) else api]
        self._window = window
        self._probes = probes
        self._endpoint = Endpoint(model, self.address, key, timeout, pause, patience)

    @property
    def side_by_side(self) -> int:
        """How many questions are worth asking at once; fewer after the server has answered 429."""
        return self._endpoint.limiter.useful_at_once

    @property
    def pace(self) -> Pace | None:
        """As `Answerer.pace`."""
        recall(self._endpoint, self._formats)
        found = self.capabilities
        if found.reading is None or found.writing is None:
            return None
        return Pace(found.reading, found.writing, min(filter(None, (found.slots, SERVER_LIMIT.at_once)), default=1))

    @property
    def window(self) -> int | None:
        """How many tokens the model takes at once, as set or as it has shown; None if neither is known."""
        return min(filter(None, (self._window, self.capabilities.window)), default=None)

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        """The model's answer to `question`, with the sources as fenced data.

        Sources that are longer than the model accepts at once are read completely, in parts. Of an answer that was cut
        at the limit on its length the whole sentences are kept. The answer's notes say both, and name the places of
        words in the sources that give orders to a model.

        Raises:
            ModelRefused, AnswerCut, AnswererFailed: the model was reached and gave no answer.
            NotConfigured: key, address or model are wrong.
            TooLarge: question and sources are longer than the model accepts, also in parts.
            BudgetSpent: the ledger leaves nothing for it.
            TooManyRequests, Unavailable, TookTooLong, SourceFailed: the server's state.
        """
        self.prepare(ledger)
        warnings = offload(order_warnings, sources)
        window, assumed = self.window, _MANY_MODELS
        spent = Usage()
        # A prompt of what is far too long is not even made.
        prompt = question_prompt(question, sources) if self._fits(*(source.text for source in sources)) else []
        if prompt and (not sources or self._fits(*(message["content"] for message in prompt))):
            try:
                reply = self._free_text(prompt, ledger)
                return Answer(reply.text, reply.usage, (*_note_on_cut(reply), *warnings))
            except ContextWindowExceeded as error:
                if not sources:
                    raise
                spent = error.usage
                window, assumed = error.window, most_model_tokens(*(message["content"] for message in prompt)) // 2
        reading = LongContext(lambda messages: self._free_text(messages, ledger), question, self.side_by_side)
        with adding_to_failures(spent):
            reply = reading.answer(sources, window or assumed)
        if reading.window < (window or _MANY_MODELS):
            self.capabilities.narrow_window(reading.window)  # so that the next question starts with it
        note = f"The context was longer than the model accepts at once; it was read whole in {reading.parts} parts."
        return Answer(reply.text, spent + reply.usage, (note, *_note_on_cut(reply), *warnings))

    def prepare(self, ledger: Ledger | None = None) -> None:
        """As `Answerer.prepare`."""
        if self._probes:
            find_out(self._endpoint, self._formats, ledger)

    @property
    def capabilities(self) -> Capabilities:
        """What is known about the server."""
        return self._endpoint.capabilities

    def _fits(self, *texts: str) -> bool:
        """Whether the texts are short enough to be sent whole."""
        return usual_model_tokens(*texts) <= (self.window or _ANY_MODEL)

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,
        one_attempt: bool = False,
    ) -> Verdict[T]:
        """The model's judgement of `material`, validated against `schema`; a second attempt is made if it does not fit.

        With `one_attempt` there is no second one, and a server that fails is not asked again. A busy server is still
        waited for, and the right request format is still looked for.

        Raises:
            NoJson: no attempt fits.
            TooLarge: the material is longer than the model accepts at once; it is never read in parts.
            As `answer`, besides.
        """
        self.prepare(ledger)
        messages = judgement_prompt(instructions, material, schema)
        if self.window is not None and usual_model_tokens(*(message["content"] for message in messages)) > self.window:
            raise ContextWindowExceeded(
                f"What is to be judged is longer than the {self.window} tokens that the model takes at once. Name a "
                "model with a larger window in DILIGENCE_AI_MODEL, or raise the server's context size.",
                self.window,
            )
        # A judgement has no need to say more than its sources do, nor more than the bounds of its schema allow.
        characters, keys = longest_answer(schema)
        copied = usual_model_tokens(material) * min(1.0, characters / max(len(material), 1))
        most = max(ceil(copied) + keys * _KEY, _LEAST)
        usage = Usage()
        for _ in range(1 if one_attempt else 2):
            ask = partial(
                self._endpoint.ask, messages=messages, schema=schema, ledger=ledger, most=most, one_attempt=one_attempt
            )
            with adding_to_failures(usage):
                used, reply = self._in_best_format(self._formats, ask)
            usage += reply.usage
            try:
                texts = [reply.text] if reply.text else reply.arguments
                return Verdict(read_object(texts, schema, material, reply.reasoning), usage)
            except Misfit as misfit:
                takes_no_schema = used.takes_schema and misfit.is_prose
                if takes_no_schema:  # a server that takes a schema and ignores it; the next format may hold to it
                    self.capabilities.loose.add(used)
                if not takes_no_schema or self._candidates(self._formats)[0] is used:
                    problems = misfit.problems if reply.text else [reply.instead]
                    messages = repair_prompt(messages, reply.text, problems)
        twice = ", twice. Name a model that is able to give JSON in DILIGENCE_AI_MODEL."
        # Without its cause, which would show the model's words, and these may quote a document.
        raise NoJson(f"The model's answer was not the JSON asked for{'.' if one_attempt else twice}", usage)

    def _free_text(self, messages: Messages, ledger: Ledger | None) -> Reply:
        """The model's text; if it is empty, the model is asked once more."""
        formats = [used for used in self._formats if used in {RequestFormat.RESPONSES, RequestFormat.CHAT}]

        def ask(request_format: RequestFormat) -> Reply:
            try:
                return self._endpoint.ask(request_format, messages, ledger=ledger)
            except EndlessAnswer:
                raise
            except AnswerCut as cut:
                whole = _whole_sentences(cut.text)
                if not whole:
                    raise
                return Reply(whole, cut.usage, is_cut=True)

        usage = Usage()
        for _ in range(2):
            with adding_to_failures(usage):
                _, reply = self._in_best_format(formats, ask)
            usage += reply.usage
            if reply.text:
                return replace(reply, usage=usage)
        raise AnswererFailed(f"{reply.instead} Ask again, or name another model.", usage)

    def _candidates(self, formats: Sequence[RequestFormat]) -> Sequence[RequestFormat]:
        """The formats not known to be unsupported; those in which the server follows a schema come first."""
        capabilities = self.capabilities
        known = [candidate for candidate in formats if candidate not in capabilities.unsupported] or list(formats)
        return sorted(known, key=lambda candidate: candidate in capabilities.loose)

    def _in_best_format(
        self, formats: Sequence[RequestFormat], ask: Callable[[RequestFormat], Reply]
    ) -> tuple[RequestFormat, Reply]:
        """The reply in the first format that the server supports. Formats that failed are skipped from then on."""
        return next(self._endpoint.replies(self._candidates(formats), ask))


def _whole_sentences(text: str) -> str:
    """The text without its last sentence, which may be cut off."""
    *whole, last = sentences(text) or [""]
    return text[: text.rfind(last)].rstrip() if whole else ""


def _note_on_cut(reply: Reply) -> Sequence[str]:
    return (_CUT,) if reply.is_cut else ()
