"""The Answerer seam: who answers a question over sources, and who judges material against a schema.

Two answerers stand behind it: `openai.py` asks a language model, `extractive.py` asks none. What a
model got wrong is told apart here, so that a run can say why a judgement is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel

from storage.settings import is_web_address
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured, SourceFailed

if TYPE_CHECKING:
    from tasks.ai.budget import Ledger

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Source:
    """A text to answer from. `number` counts from 1; `place` is its page, slide, sheet or heading."""

    number: int
    name: str
    place: str | None
    text: str


@dataclass(frozen=True)
class Usage:
    """What was asked of a model: answered calls and tokens. All zero where none was asked."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls, self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


@dataclass(frozen=True)
class Answer:
    """A free text with what it cost, and what is to be known about it: one sentence a note."""

    text: str
    usage: Usage
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The text with its notes at the end, as a user is shown it."""
        return "\n\n".join((self.text, *self.notes))


@dataclass(frozen=True)
class Judged(Generic[T]):
    """A judgement that fits its schema, with what it cost."""

    value: T
    usage: Usage


class AnswererFailed(SourceFailed):
    """The model answered, but not with what was asked for. `usage` is what that cost all the same."""

    slug: ClassVar[str] = "model-failed"
    title: ClassVar[str] = "The model failed"

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.usage)


class ModelRefused(AnswererFailed):
    """The model, or a filter before it, declined to answer."""

    slug, title = "model-refused", "The model refused"


class AnswerCut(AnswererFailed):
    """The answer ended before it was whole."""

    slug, title = "answer-cut", "The model's answer was cut"


class NoJson(AnswererFailed):
    """The answer is no JSON, or none that fits the schema, even after a second attempt."""

    slug, title = "no-json", "The model's answer does not fit"


class Answerer(Protocol):
    """Answers questions and, where `judges` says so, judges."""

    @property
    def name(self) -> str:
        """How a report names it: `extractive`, or `openai-compatible MODEL`."""

    @property
    def model(self) -> str | None:
        """The model's name; None where none is asked."""

    @property
    def address(self) -> str | None:
        """The address that is asked; None where none is. It may hold a password: not to be shown."""

    @property
    def judges(self) -> bool:
        """Whether `judge` works."""

    @property
    def side_by_side(self) -> int:
        """How many questions at once make sense; more would only wait for each other."""

    def answer(self, question: str, sources: Sequence[Source], *, ledger: "Ledger | None" = None) -> Answer:
        """A free text that answers `question` from `sources` (or from none); each call is settled with `ledger`.

        Passages of the sources that address a model are left out, and the notes name their places.

        Raises:
            BudgetSpent: the ledger leaves nothing for a call.
            tasks.errors.DiligenceError: the model could not be asked, or gave no answer.
        """

    def judge(self, instructions: str, material: str, schema: type[T], *, ledger: "Ledger | None" = None) -> Judged[T]:
        """What the model makes of `material` by `instructions`, as a valid `schema`.

        `instructions` are ours and obeyed; `material` is data, whatever it says.

        Raises:
            NotConfigured: this answerer does not judge.
            ModelRefused, AnswerCut, NoJson: the model gave no judgement; the error holds the usage.
            TooLarge: the material is longer than the model takes at once.
            BudgetSpent: the ledger leaves nothing for a call.
            tasks.errors.DiligenceError: the model could not be asked.
        """


def current() -> Answerer:
    """The answerer that the settings ask for: a model when `DILIGENCE_AI_MODEL` names one, else extractive.

    Raises:
        NotConfigured: a model is named without a place to ask it, or address or key cannot be right.
    """
    return _build(AiSettings.current())


@lru_cache(maxsize=8)
def _build(settings: AiSettings) -> Answerer:
    """One answerer for the same settings: it keeps its connections and what the server is able to do."""
    if not settings.ai_model:
        from tasks.ai.extractive import ExtractiveAnswerer  # noqa: PLC0415 - the answerers import this module

        return ExtractiveAnswerer()
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
    from tasks.ai.openai.answerer import OpenAiAnswerer  # noqa: PLC0415 - the answerers import this module

    return OpenAiAnswerer(
        model=settings.ai_model,
        api=settings.ai_api,
        key=key,
        base_url=settings.openai_base_url,
        timeout=settings.ai_timeout,
        window=settings.ai_window,
    )
