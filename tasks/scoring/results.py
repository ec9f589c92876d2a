"""The result of one criterion, before it is stored."""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from storage.run_documents import RunDocument
from storage.scores import Absence, ScoreStatus
from tasks.ai.answerer import NotAsked
from tasks.ai.budget import BudgetSpent
from tasks.errors import DiligenceError
from tasks.scoring.evidence import Excerpt
from tasks.statements.answers import CheckedStatement

Stance = Literal["for", "against"]
_KEPT: Final = "The quotations that were made before that, and verified, are kept."
ORDERS: Final = "words that give orders to a model"
OTHERS: Final = "words of other passages"
"""What may move a score: orders that were recognised, or whatever else is said beside what speaks against it."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a reason rests on. `excerpt` is their place; None if they are nowhere.

    `stance` says whether they speak for or against what the criterion asks; None if no judgement was made.
    """

    text: str
    stance: Stance | None = None
    excerpt: Excerpt | None = None

    @classmethod
    def of(cls, excerpt: Excerpt, stance: Stance | None = None) -> "Quotation":
        """The quotation of an excerpt."""
        return cls(excerpt.text, stance, excerpt)


@dataclass(frozen=True, slots=True)
class ProvenContradiction:
    """Two places in the data room that say different things about the same matter."""

    about: str
    one: Excerpt
    other: Excerpt

    def as_json(self) -> dict[str, Any]:
        """The stored form: `{about, quotes: [two of {text, document_*, place, text_id, start, end}]}`."""
        quotes = [FoundOrder.at(excerpt).as_json() for excerpt in (self.one, self.other)]
        return {"about": self.about, "quotes": quotes}


@dataclass(frozen=True, slots=True)
class FoundOrder:
    """Words that give orders to a model: `excerpt` is their place; None for words in a document's name."""

    document: RunDocument
    text: str
    place: str
    excerpt: Excerpt | None = None

    def __hash__(self) -> int:
        return hash((self.document.document_id, self.text, self.place))

    @classmethod
    def at(cls, excerpt: Excerpt) -> "FoundOrder":
        """The words of an excerpt."""
        return cls(excerpt.document, excerpt.text, excerpt.place, excerpt)

    def as_json(self) -> dict[str, Any]:
        """The stored form: `{text, document_*, place, text_id, start, end}`, the last three may be null."""
        span = self.excerpt
        return {
            "text": self.text,
            **_write_name(self.document),
            "place": self.place,
            "text_id": span and span.text_id,
            "start": span and span.start,
            "end": span and span.end,
        }


@dataclass(frozen=True, slots=True)
class Contested:
    """The scores with words that may influence a model, and without these `words`; None where there is none."""

    with_orders: float | None
    without: float | None
    words: str = ORDERS

    @property
    def in_words(self) -> str:
        """`5 with words that give orders to a model, 1 without them`."""
        one, other = ("no score" if score is None else f"{score:g}" for score in (self.with_orders, self.without))
        return f"{one} with {self.words}, {other} without them"

    def as_json(self) -> dict[str, float | None]:
        """The stored form: `{with, without}`."""
        return {"with": self.with_orders, "without": self.without}


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document that comes close to one that is missing, and why."""

    document: RunDocument
    why: str

    def as_json(self) -> dict[str, Any]:
        """The stored form: `{document_id, document_name, document_url, why}`."""
        return {**_write_name(self.document), "why": self.why}


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """The result of one criterion.

    Verified `quotes` come first: the reason's `[1]` is the first of them. `missing` says what to request from the
    company, `absence` why nothing is said (None: nothing is missing, or it may be in what could not be read), `nearest`
    which documents come close. `failed` marks a judgement that a failure of the model prevented, `unfinished` one that
    will be made when the run continues. `confidence` and `agreement` are shares from 0 to 1: the judge's own, and that
    of repeated judgements with this result. `orders` are words in its passages that give orders to a model, `contested`
    their effect on the score, if any, and `warning` what a reader must know about how it was judged. `unproved` are
    statements of the reason that no passage makes in its words, `estimated` marks a judgement whose calls were only
    counted; neither is stored. `given` are the ids of the documents that played a part in the result: shown to a model,
    quoted, or counted. None means the whole room, as for a result that rests on what no document says.
    """

    status: ScoreStatus
    reason: str
    score: float | None = None
    quotes: Sequence[Quotation] = ()
    missing: str | None = None
    absence: Absence | None = None
    failed: bool = False
    unfinished: bool = False
    confidence: float | None = None
    agreement: float | None = None
    contradictions: Sequence[ProvenContradiction] = ()
    nearest: Sequence[NearDocument] = ()
    orders: Sequence[FoundOrder] = ()
    contested: Contested | None = None
    warning: str | None = None
    unproved: Sequence[CheckedStatement] = ()
    given: Collection[str] | None = None
    estimated: bool = False

    @classmethod
    def without_answer(cls, error: DiligenceError, kept: Sequence[Quotation] = ()) -> "CriterionResult":
        """The result if the model gave no answer; what the budget did not reach is asked when the run continues.

        The verified ones among the quotations `kept` are shown: they were complete in a truncated answer, or were read
        before the answer failed.
        """
        spent = isinstance(error, BudgetSpent)
        estimated = isinstance(error, NotAsked)
        quotes = [quote for quote in kept if quote.excerpt]
        reason = f"{error.message} {_KEPT}" if quotes else error.message
        return cls(ScoreStatus.UNSCORED, reason, None, quotes, failed=not spent, unfinished=spent, estimated=estimated)

    def add_warning(self, warning: str) -> "CriterionResult":
        """The result with a warning behind those that it has; the result where that does not tell."""
        return replace(self, warning=" ".join(filter(None, (self.warning, warning)))) if warning else self


Steps = Generator[Callable[[], Any], Any, CriterionResult]
"""One judgement: yields each call that takes long, to be made in a thread, is sent its result, and returns its own."""


def _write_name(document: RunDocument) -> dict[str, Any]:
    return {"document_id": document.document_id, "document_name": document.name, "document_url": document.url}
