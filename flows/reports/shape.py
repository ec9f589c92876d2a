"""The shape of a report: one run, its companies, and for each of them all that the run found out.

`report --format json` is this object word for word, and every other format shows the same. Times
are UTC; in JSON they end in `Z`.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from flows.reports.changes import Change
from storage.runs import CompanyStatus, RunStatus
from storage.scores import ScoreStatus
from tasks.companies.merge import Conflict

Kind = Literal["judged", "fact", "document"]


class Cost(BaseModel):
    """What the run asked of a model. `usd` is null while the model's price is not known."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None = None


class CriterionAsked(BaseModel):
    """A criterion as the batch asks it. `label` is the question, the rule or the document in words."""

    id: str
    kind: Kind
    weight: float
    label: str
    guide: str | None = None


class PreviousRun(BaseModel):
    """The run that this one is compared with."""

    id: str
    started_at: datetime


class RunSummary(BaseModel):
    """The run itself. `scale` is the lowest and the highest score."""

    id: str
    name: str
    started_at: datetime
    finished_at: datetime | None
    status: RunStatus
    cost: Cost
    answerer: str
    scale: tuple[float, float]
    criteria: list[CriterionAsked]
    previous: PreviousRun | None


class Quote(BaseModel):
    """Words of a document. `verified`: they stand in its text, at `place`."""

    text: str
    verified: bool
    document_id: str | None
    document_name: str | None
    document_url: str | None
    place: str | None


class Criterion(BaseModel):
    """How one criterion came out for one company. Only a `scored` one counts in the total."""

    id: str
    kind: Kind
    weight: float
    score: float | None
    status: ScoreStatus
    reason: str
    quotes: list[Quote]
    label: str


class Document(BaseModel):
    """What became of one document. `path` is its folder's path in the data room."""

    document_id: str
    document_name: str
    status: Literal["read", "unchanged", "empty", "failed", "unsupported"]
    characters: int
    warning: str | None
    path: str
    document_url: str


class Company(BaseModel):
    """One company. `total` is 0..1 of what could be scored (null if nothing), `coverage` the share of weight scored.

    `missing` says what to ask the company for, an entry a thing. `compared_with` is the id of the
    last run that had the company too; without one `changes` is empty and says nothing.
    """

    name: str
    domain: str
    folder_id: str | None
    total: float | None
    coverage: float | None
    rank: int | None
    criteria: list[Criterion]
    missing: list[str]
    conflicts: list[Conflict]
    documents: list[Document]
    changes: list[Change]
    status: CompanyStatus
    problem: str | None
    warnings: list[str]
    compared_with: str | None


class Report(BaseModel):
    """A run and its companies: the ranked ones first, the rest in the order of the batch."""

    run: RunSummary
    companies: list[Company]
