"""The result of one criterion, before it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from storage.runs import RunDocument
from storage.scores import ScoreStatus
from tasks.scoring.evidence import Excerpt

Stance = Literal["for", "against"]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a reason rests on. `excerpt` is where they stand; None for words that stand nowhere.

    `stance` says whether they speak for or against what the criterion asks; None where no judgement was made.
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
    """Two places of the data room that say different things of the same matter."""

    about: str
    one: Excerpt
    other: Excerpt

    def as_json(self) -> dict[str, Any]:
        """The form that storage keeps: `{about, quotes: [two of {text, document_*, place, text_id, start, end}]}`."""
        quotes = [
            {
                "text": excerpt.text,
                **_named(excerpt.document),
                "place": excerpt.place,
                "text_id": excerpt.text_id,
                "start": excerpt.start,
                "end": excerpt.end,
            }
            for excerpt in (self.one, self.other)
        ]
        return {"about": self.about, "quotes": quotes}


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document that comes near to one that is missing, and why."""

    document: RunDocument
    why: str

    def as_json(self) -> dict[str, Any]:
        """The form that storage keeps: `{document_id, document_name, document_url, why}`."""
        return {**_named(self.document), "why": self.why}


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """The result of one criterion.

    `quotes` that stand in their documents come first: the reason's `[1]` is the first of them. `missing`
    says what to request from the company, `nearest` which documents come close. `failed` marks a judgement that
    a model's failure prevented, `unfinished` one that is made when the run continues.
    `confidence` and `agreement` are shares from 0 to 1: the judge's own, and that of repeated judgements
    which came out like this one.
    """

    status: ScoreStatus
    reason: str
    score: float | None = None
    quotes: Sequence[Quotation] = ()
    missing: str | None = None
    failed: bool = False
    unfinished: bool = False
    confidence: float | None = None
    agreement: float | None = None
    contradictions: Sequence[ProvenContradiction] = ()
    nearest: Sequence[NearDocument] = ()


def _named(document: RunDocument) -> dict[str, Any]:
    return {"document_id": document.document_id, "document_name": document.name, "document_url": document.url}
