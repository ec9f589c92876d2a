"""What looking into one criterion gives, before it is written down."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from storage.runs import RunDocument
from storage.scores import ScoreStatus
from tasks.scoring.evidence import Found

Stance = Literal["for", "against"]


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a reason rests on. `found` is where they stand; None for words that stand nowhere.

    `stance` says whether they speak for or against what the criterion asks; None where nobody judged.
    """

    text: str
    stance: Stance | None = None
    found: Found | None = None

    @classmethod
    def of(cls, found: Found, stance: Stance | None = None) -> "Quotation":
        """The quotation of words that were found."""
        return cls(found.text, stance, found)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two places of the data room that say different things of the same matter."""

    about: str
    one: Found
    other: Found

    def as_json(self) -> dict[str, Any]:
        """The form that storage keeps: `{about, quotes: [two of {text, document_*, place}]}`."""
        quotes = [
            {"text": found.text, **_named(found.document), "place": found.place} for found in (self.one, self.other)
        ]
        return {"about": self.about, "quotes": quotes}


@dataclass(frozen=True, slots=True)
class Near:
    """A document that comes near to one that is missing, and why."""

    document: RunDocument
    why: str

    def as_json(self) -> dict[str, Any]:
        """The form that storage keeps: `{document_id, document_name, document_url, why}`."""
        return {**_named(self.document), "why": self.why}


@dataclass(frozen=True, slots=True)
class Finding:
    """How a criterion came out.

    `quotes` that stand in their documents come first: the reason's `[1]` is the first of them. `missing`
    says what to ask the company for, `nearest` what was found instead. `failed` marks a judgement that
    a model's failure prevented, `unfinished` one that is to be asked for when the run goes on.
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
    contradictions: Sequence[Contradiction] = ()
    nearest: Sequence[Near] = ()


def _named(document: RunDocument) -> dict[str, Any]:
    return {"document_id": document.document_id, "document_name": document.name, "document_url": document.url}
