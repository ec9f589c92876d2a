"""The Answerer interface: it answers a question from sources, and judges material against a schema.

This module has the settings, the protocol, its data classes and its errors; `registry.py` names the implementations.
Each thing that can be wrong with a model's answer is an error class, so that a run can say why a judgement is missing:

    AnswererFailed         the model answered, but not with what was asked for
    ├── ModelRefused       it declined to answer
    ├── AnswerCut          the answer ended too early
    └── NoJson             the answer does not fit the schema
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from storage.settings import Settings
from tasks.errors import NotConfigured, SourceFailed
from tasks.spending.budget import Ledger
from tasks.spending.money import Pace, Usage

T = TypeVar("T", bound=BaseModel)


class AiSettings(Settings):
    """Which model to ask, where, and how; without `ai_model` none is.

    The two `OPENAI_` variables are the ones that every such tool reads.
    """

    model_config = SettingsConfigDict(populate_by_name=True, str_strip_whitespace=True)

    openai_api_key: SecretStr | None = Field(
        None, validation_alias="OPENAI_API_KEY", description="the key of the AI server"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias="OPENAI_BASE_URL",
        description="the AI server's address, usually ending in /v1; OpenAI's own if only a key is set",
    )
    ai_model: str | None = Field(None, description="the model's name as the server knows it")
    ai_api: Literal["auto", "responses", "chat"] = Field("auto", description="the protocol; auto detects it")
    ai_timeout: float = Field(
        120,
        gt=0,
        description="seconds that a model may be silent (besides reading), and that a busy server is waited for",
    )
    ai_window: int | None = Field(
        None, ge=512, description="tokens that the model accepts at once; detected if not set"
    )
    ai_probe: bool = Field(
        True, description="whether an AI server is tested once, with a small question, for what it can do"
    )
    ai_search_plan: bool = Field(
        True, description="whether the model is asked, once for each criterion, how documents would put it"
    )
    ai_statement_check: bool = Field(
        True, description="whether the model checks, in a separate call, what answers and reasons state"
    )


@dataclass(frozen=True)
class Source:
    """A text to answer from. `number` counts from 1; `place` is its page, slide, sheet or heading."""

    number: int
    name: str
    place: str | None
    text: str


@dataclass(frozen=True)
class Answer:
    """A free text with what it cost, and notes for the reader, one sentence each."""

    text: str
    usage: Usage
    notes: tuple[str, ...] = ()

    @property
    def text_with_notes(self) -> str:
        """The text followed by its notes, as it is shown to users."""
        return "\n\n".join((self.text, *self.notes))


@dataclass(frozen=True)
class Verdict(Generic[T]):
    """A judgement that fits its schema, with what it cost."""

    value: T
    usage: Usage


class AnswererFailed(SourceFailed):
    """The model answered, but not with what was asked for. `usage` is what that cost."""

    slug: ClassVar[str] = "model-failed"
    title: ClassVar[str] = "The model failed"

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class ModelRefused(AnswererFailed):
    """The model, or a filter before it, declined to answer."""

    slug, title = "model-refused", "The model refused"


class AnswerCut(AnswererFailed):
    """The answer ended before it was complete. `text` is the part that arrived."""

    slug, title = "answer-cut", "The model's answer was cut"

    def __init__(self, message: str, usage: Usage | None = None, text: str = "") -> None:
        super().__init__(message, usage)
        self.text = text


class NoJson(AnswererFailed):
    """Even after a second attempt, the answer is not JSON, or none that fits the schema."""

    slug, title = "no-json", "The model's answer does not fit"


class NotAsked(AnswererFailed):
    """No model was called; the call was only counted for an estimate."""


class Answerer(Protocol):
    """Answers questions and, where `judges` is true, judges. Safe to use from several threads.

    An answerer that derives from this class need not define what is the same for all that ask no server.

    Attributes:
        name: its name in reports: `extractive`, or `openai-compatible MODEL`.
        model: the model's name; None where no model is called.
        address: the address of the model's server; None if there is none. It may hold a password, so it must not be
            shown.
        judges: whether `judge` works.
        inner: the answerer that this one asks, and whose server it has; None where it asks no other.
    """

    inner: "Answerer | None" = None
    name: str
    model: str | None = None
    address: str | None = None
    judges: bool = False

    @property
    def window(self) -> int | None:
        """How many tokens the model takes at once, prompt and answer together; None if that is not known."""
        return self.inner.window if self.inner else None

    @property
    def side_by_side(self) -> int:
        """How many questions are worth asking at once; more would only wait for each other."""
        return self.inner.side_by_side if self.inner else 1

    @property
    def pace(self) -> Pace | None:
        """How fast the model was measured to be, by this or an earlier process; None if it was not. Sends nothing."""
        return self.inner.pace if self.inner else None

    def prepare(self, ledger: Ledger | None = None) -> None:
        """Find out what the server is able to do, and how fast it is, where that is not known and wanted.

        Raises:
            tasks.errors.DiligenceError: the server cannot be asked.
        """
        if self.inner:
            self.inner.prepare(ledger)

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        """A text that answers `question` from `sources` (or from none); each call is settled with `ledger`.

        The notes name the places in the sources where words give orders to a model.

        Raises:
            BudgetSpent: the ledger leaves nothing for a call.
            tasks.errors.DiligenceError: the model could not be called, or gave no answer.
        """

    def judge(
        self,
        instructions: str,  # noqa: ARG002 - of answerers that judge
        material: str,  # noqa: ARG002
        schema: type[T],  # noqa: ARG002
        *,
        ledger: Ledger | None = None,  # noqa: ARG002
        one_attempt: bool = False,  # noqa: ARG002
    ) -> Verdict[T]:
        """The model's judgement of `material` according to `instructions`, as a valid `schema`.

        `instructions` are the program's own and are obeyed; `material` is data, whatever it says. With `one_attempt`,
        the model is not asked again if its answer does not fit or its server fails; only a busy server is waited for.

        Raises:
            NotConfigured: this answerer does not judge.
            ModelRefused, AnswerCut, NoJson: the model gave no judgement; the error holds the usage.
            TooLarge: the material is longer than the model accepts at once.
            BudgetSpent: the ledger leaves nothing for a call.
            tasks.errors.DiligenceError: the model could not be called.
        """
        raise NotConfigured(
            "No model is configured, so nothing can be judged. Set DILIGENCE_AI_MODEL, and OPENAI_API_KEY or "
            "OPENAI_BASE_URL."
        )
