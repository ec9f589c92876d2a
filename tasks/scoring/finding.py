"""What looking into one criterion gives, before it is written down."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.scores import ScoreStatus
from tasks.ai.answerer import Usage
from tasks.scoring.evidence import Found


@dataclass(frozen=True, slots=True)
class Finding:
    """How a criterion came out.

    `quotes` stand in their documents; `unverified` are words that a model called quotations and that
    stand nowhere. `missing` says what to ask the company for. `failed` marks a judgement that a
    model's failure prevented.
    """

    status: ScoreStatus
    reason: str
    score: float | None = None
    quotes: Sequence[Found] = ()
    unverified: Sequence[str] = ()
    missing: str | None = None
    failed: bool = False
    usage: Usage = field(default_factory=Usage)
