"""The structure of a report: one run, its companies, and everything that the run found out about each.

`report --format json` is exactly this object, and every other format shows the same. Times are in UTC; in JSON they end
in `Z`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from storage.runs import CompanyStatus, ModelTrial, RunStatus
from storage.scores import Absence, ScoreStatus
from tasks.companies.claims import Claim, ClaimConflict
from tasks.figures.conflicts import Step
from tasks.reports.changes import Change
from tasks.requests.match import RequestStatus
from tasks.table.columns import ColumnType

CriterionKind = Literal["judged", "fact", "document", "figure"]
Severity = Literal["high", "medium", "low"]


class Cost(BaseModel):
    """What the run asked of a model. `usd` is null while the model's price is not known.

    `unknown_calls` are calls whose answers were lost and that may have been billed; `calls` does not count them.
    """

    calls: int
    unknown_calls: int = 0
    input_tokens: int
    output_tokens: int
    usd: float | None = None


class CriterionInWords(BaseModel):
    """What the batch says about a criterion. `label` is the question, the rule or the document in words.

    `title` is its name for people, `severity` how severe it is to fall short of it, or the highest score of each
    severity, `recommend` what to do then; each null if the criteria file does not say. `must`: a company that falls
    short of it is not ranked.
    """

    id: str
    kind: CriterionKind
    weight: float
    label: str
    title: str | None = None
    severity: Severity | dict[Severity, float] | None = None
    recommend: str | None = None
    must: bool = False

    @property
    def name(self) -> str:
        """Its name for people: its title, otherwise its id with spaces."""
        return self.title or self.id.replace("_", " ")

    @property
    def heading(self) -> str:
        """Its name where there is room: its title, otherwise what it asks."""
        return self.title or self.label

    @property
    def severity_in_words(self) -> str:
        """`high`, or with bands `high up to 1, medium up to 2`."""
        if isinstance(self.severity, dict):
            return ", ".join(f"{severity} up to {score:g}" for severity, score in self.severity.items())
        return self.severity or "by score"


class CriterionSummary(CriterionInWords):
    """A criterion as the batch words it; `guide` says what a score means."""

    guide: str | None = None


class Sensitivity(BaseModel):
    """How a ranking was tested: `draws` times, with each weight varied as `varied` says."""

    draws: int
    varied: str


class PreviousRun(BaseModel):
    """The run that this one is compared with."""

    id: str
    started_at: datetime


class RunSummary(BaseModel):
    """The run itself. `scale` is the lowest and the highest score, `budget` the most it might spend, as written.

    `model_trial` is what was known about its model when it began: untried, weak or passed; null if no model judged.
    `sensitivity` is null if there is no ranking to test, or only one criterion was scored.
    """

    id: str
    name: str
    started_at: datetime
    finished_at: datetime | None
    status: RunStatus
    cost: Cost
    budget: str | None
    answerer: str
    model_trial: ModelTrial | None = None
    scale: tuple[float, float]
    criteria: list[CriterionSummary]
    previous: PreviousRun | None
    sensitivity: Sensitivity | None


class QuoteBox(BaseModel):
    """A rectangle on a page of a PDF (from 1), in points from the upper left corner of the page as it is shown."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


class ReportedQuote(BaseModel):
    """Words of a document. `verified`: they are in its text, at `place`.

    `stance`: whether they speak `for` or `against` what is asked; null if nobody judged that. `evidence_url` is the
    path of the page that shows them, relative to the report, null if none is written; `boxes` are their places on the
    pages of a PDF, one per line, empty if not certain or not known. `before` and `behind` are the words around it in
    its sentence or table row, as in the document; empty if it is a whole one. `decision` is a person's verdict on it,
    left out if there is none. `start` and `end` are offsets in the document's text, if they are known.
    """

    text: str
    before: str = ""
    behind: str = ""
    verified: bool
    document_id: str | None
    document_name: str | None
    document_url: str | None
    place: str | None
    stance: Literal["for", "against"] | None = None
    evidence_url: str | None = None
    boxes: list[QuoteBox] = []
    decision: Literal["accepted", "rejected"] | None = None
    start: int | None = Field(None, exclude=True)
    end: int | None = Field(None, exclude=True)

    @model_serializer(mode="wrap")
    def _without_empty_words(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = handler(self)
        return {name: value for name, value in fields.items() if value or name not in {"before", "behind", "decision"}}


class CitedWords(BaseModel):
    """Words of a document with their place."""

    text: str
    document_id: str
    document_name: str
    document_url: str
    place: str
    evidence_url: str | None = None
    boxes: list[QuoteBox] = []


class ContradictingQuote(CitedWords):
    """Verified words of one of two documents, or places, that contradict each other."""


class ReportedContradiction(BaseModel):
    """A contradiction in the data room: `about` what, and both places."""

    about: str
    quotes: tuple[ContradictingQuote, ContradictingQuote]


class OrderInDocument(CitedWords):
    """Words of a document that give orders to a model. Words in its name have no evidence page."""


class ContestedScores(BaseModel):
    """The scores with and without words that may have influenced a model; null if there is none."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    with_orders: float | None = Field(alias="with")
    without: float | None


class NearestDocument(BaseModel):
    """A document that comes close to one that is missing, and `why`."""

    document_id: str
    document_name: str
    document_url: str
    why: str


class CriterionReport(CriterionInWords):
    """The outcome of one criterion for one company. Only `scored` and `contested` ones count in the total.

    `confidence` is the judge's own, `agreement` the share of repeated judgements that gave this score, both 0..1 and
    null if there is none. `missing` is what to ask the company for, null if nothing is missing; `absence` is why it is
    missing, and `nearest` the documents closest to it. `orders` are words in the passages judged that give orders to a
    model, and `contested` the scores with and without them, if they differ. `open`: it may still turn out well, so its
    weight is in the range of what may be proven. `override` is the score that a person set: it counts in the totals in
    place of `score`, the program's own.
    """

    score: float | None
    status: ScoreStatus
    reason: str
    quotes: list[ReportedQuote]
    confidence: float | None = None
    agreement: float | None = None
    contradictions: list[ReportedContradiction] = []
    missing: str | None = None
    absence: Absence | None = None
    open: bool = False
    nearest: list[NearestDocument] = []
    orders: list[OrderInDocument] = []
    contested: ContestedScores | None = None
    override: float | None = None

    @property
    def counted(self) -> float | None:
        """The score that counts in the totals: a person's, otherwise the program's own if it counts."""
        return self.override if self.override is not None else self.score if self.status.counts else None


class ReportedDecision(BaseModel):
    """A person's decision on a criterion, or on the company if `criterion_id` is null.

    `value` is the score of an override or the name of an assignee. `is_open`: somebody must look at it: a sign-off that
    saw other evidence than this run has, a flag or an assignment on something not signed off, an override that this run
    cannot apply. For a cell of a table, `criterion_id` is its column, `document_id` its document, and an override has
    `{value, absence}`.
    """

    criterion_id: str | None
    kind: Literal["override", "comment", "sign_off", "flag", "assignment"]
    by: str
    at: datetime
    value: float | str | dict[str, Any] | None
    reason: str
    is_open: bool
    id: int = Field(0, exclude=True)
    document_id: str = Field("", exclude=True)


class DocumentReport(BaseModel):
    """The outcome of one document, and what it is. `path` is its folder's path in the data room.

    `kind` is the id of its kind in the catalogue, null if that is not certain, `kind_title` the kind's name for people;
    `date` is its own date, `family` the name of the newest signed one of its copies and versions, null if there are
    none. `pages` and `pages_read` are null if pages are not known.
    """

    document_id: str
    document_name: str
    status: Literal["read", "unchanged", "empty", "failed", "unsupported"]
    characters: int
    warning: str | None
    path: str
    document_url: str
    kind: str | None = None
    kind_title: str | None = None
    state: Literal["signed", "draft", "unsigned", "template", "superseded"] | None = None
    date: str | None = None
    family: str | None = None
    pages: int | None = None
    pages_read: int | None = None

    @property
    def what(self) -> str:
        """What it is in words: `Lease, signed, 2024-03-01`."""
        return ", ".join(filter(None, (self.kind_title, self.state, self.date if self.kind else None)))


class CitedElsewhere(BaseModel):
    """An agreement or annex that a document of the room refers to and the room lacks: `words` are the document's."""

    words: str
    kind: str | None
    document_id: str
    document_name: str


class ReportedFigure(BaseModel):
    """One figure of a document: `value` is decimal text in base units, `period` a day or the two days of a duration.

    `entity` is null for the company as a whole; `unit` an ISO currency, `percent`, `count`, `ratio` or `months`.
    """

    concept: str
    label: str
    value: str
    unit: str
    period: str
    entity: str | None
    basis: str
    document_id: str | None
    document_name: str | None
    place: str


class ReportedFigureConflict(BaseModel):
    """Figures that should agree and do not: the one that counts, the others, and the `rule` that decided.

    `step` and `kinds` say the same for the pages and are not in the JSON.
    """

    concept: str
    period: str
    counted: ReportedFigure
    others: list[ReportedFigure]
    rule: str
    step: Step | None = Field(None, exclude=True)
    kinds: tuple[str, str] = Field(("", ""), exclude=True)


class ReportedDerivedFigure(BaseModel):
    """A computed figure: its `formula`, and the figures that went into it."""

    name: str
    value: str
    unit: str
    period: str
    formula: str
    inputs: list[ReportedFigure]


class ComparedFigure(BaseModel):
    """What a public source says (`claim`), and the room's `figure` of that time, else the nearest; `why` is the
    verdict.
    """

    concept: str
    verdict: Literal["agrees", "differs", "not_comparable"]
    why: str
    claim: Claim
    figure: ReportedFigure


class UntiedSum(BaseModel):
    """A sum in a document that does not add up: what it states, and what its parts give, in the table's own units."""

    what: str
    stated: str
    computed: str
    place: str
    document_id: str
    document_name: str


class NamedDocument(BaseModel):
    """A document by its id and name."""

    document_id: str
    document_name: str


class ReportedRequest(BaseModel):
    """An item of the request list, or a document that answers none (`unexpected`, without a number).

    `sure` is 0 to 1, null if nothing was found; `why` says why an item is only answered in part.
    """

    number: str | None
    item: str
    status: RequestStatus
    documents: list[NamedDocument]
    section: str | None = None
    priority: str | None = None
    sure: float | None = None
    why: str | None = None


class ReportedColumn(BaseModel):
    """A column of a table of documents and questions."""

    id: str
    title: str
    type: ColumnType


class ProgramCell(BaseModel):
    """What the program says about a cell whose value a person set."""

    value: Any
    absence: Absence | None


class ReportedCell(BaseModel):
    """What a document says about a column, and who says so; without a value, `absence` is why there is none.

    Both are null if only a model could tell and none was asked, and if a person rejected the value. `program` is what
    the program says if a person's word counts, `decisions` are those in force, oldest first; both are left out if
    nobody decided.
    """

    value: Any
    absence: Absence | None
    sure: float
    by: Literal["text", "model", "person"] = "text"
    quotes: list[ReportedQuote] = Field(default_factory=list)  # copying [] takes longer, thousands of times
    program: ProgramCell | None = None
    decisions: list[ReportedDecision] = Field(default_factory=list)

    @model_serializer(mode="wrap")
    def _without_decisions(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = handler(self)
        return {name: value for name, value in fields.items() if value or name not in {"program", "decisions"}}


class ReportedRow(BaseModel):
    """A document with its cells by column."""

    document_id: str
    document_name: str
    kind: str | None
    cells: dict[str, ReportedCell]


class CalendarEntry(NamedDocument):
    """The day on which an agreement ends, or the last day on which notice can be given."""

    day: str
    event: Literal["expiry", "notice"]


class AtStake(NamedDocument):
    """A clause that may cost the company a customer's or partner's business, and the revenue that it brings in."""

    clause: str
    party: str
    figure: ReportedFigure


class ReportedTable(BaseModel):
    """A table of documents and questions, with the calendar and the money at stake that follow from it."""

    columns: list[ReportedColumn]
    rows: list[ReportedRow]
    calendar: list[CalendarEntry] = []
    at_stake: list[AtStake] = []


class StandingReport(BaseModel):
    """A company's standing: the share of all weight that it has proven, and the range still possible.

    `ranked` is false with less than half the weight scored, or if it falls short of a criterion that is a must;
    `gates_failed` are the ids of these. `why_not` says what is in the way.
    """

    proven: float
    low: float
    high: float
    ranked: bool
    why_not: str | None
    gates_failed: list[str]


class CompanyReport(BaseModel):
    """One company. `total` is 0..1 of what could be scored (null if nothing), `coverage` the share of weight scored.

    `rank` is by the proven share in `standing`, null if it has none.

    `missing` says what to ask the company for, one entry per item. `compared_with` is the id of the last run that had
    the company too; without one `changes` is empty and meaningless. `stability` is the share of draws in which it keeps
    its place when the weights vary (`run.sensitivity`). `facts` are those of its profile: for each field, the claim
    that the profile took. `figures_left_out` counts, by reason, numbers in the documents that were left out because
    something about them is not certain. `figure_versions` are plans for one period that differ between documents.
    `cited` are documents that others refer to and the room lacks; `missing` asks for them too. `requests` are the items
    of the batch's request list in its order, then documents that answer none. `decisions` are people's decisions in
    force, oldest first.
    """

    name: str
    domain: str
    folder_id: str | None
    total: float | None
    coverage: float | None
    standing: StandingReport
    rank: int | None
    criteria: list[CriterionReport]
    missing: list[str]
    conflicts: list[ClaimConflict]
    documents: list[DocumentReport]
    cited: list[CitedElsewhere] = []
    requests: list[ReportedRequest] = []
    tables: list[ReportedTable] = []
    decisions: list[ReportedDecision] = []
    changes: list[Change]
    status: CompanyStatus
    problem: str | None
    warnings: list[str]
    compared_with: str | None
    stability: float | None = None
    facts: list[Claim] = []
    figures: list[ReportedFigure] = []
    figure_conflicts: list[ReportedFigureConflict] = []
    figure_versions: list[ReportedFigureConflict] = []
    derived_figures: list[ReportedDerivedFigure] = []
    figure_comparisons: list[ComparedFigure] = []
    untied_sums: list[UntiedSum] = []
    figures_left_out: dict[str, int] = {}


class Report(BaseModel):
    """A run and its companies: the ranked ones first, the rest in the order of the batch."""

    run: RunSummary
    companies: list[CompanyReport]


@dataclass(frozen=True)
class ReportInParts:
    """A report that is read company by company, so that not all of them are in memory.

    `listed` are the names and domains of its companies in order; `companies` yields them, built anew each time.
    """

    run: RunSummary
    listed: Sequence[tuple[str, str]]
    companies: Callable[[], Iterator[CompanyReport]]

    @classmethod
    def of(cls, report: Report) -> Self:
        """A complete report in this form."""
        listed = [(company.name, company.domain) for company in report.companies]
        return cls(report.run, listed, lambda: iter(report.companies))

    def with_each(self, change: Callable[[CompanyReport], CompanyReport]) -> Self:
        """The same report with `change` applied to each company when it is read."""
        return replace(self, companies=lambda: map(change, self.companies()))


@dataclass(frozen=True)
class ReviewedCell:
    """A criterion with the decisions on it; the next decision must name `saw` and `follows`."""

    criterion: CriterionReport
    decisions: Sequence[ReportedDecision]
    saw: str
    follows: int
    is_signed: bool
    quote_keys: Sequence[str]


@dataclass(frozen=True)
class ReviewedCompany:
    """A company with its cells; `others` are decisions on criteria that this run does not have."""

    run: RunSummary
    company: CompanyReport
    cells: Sequence[ReviewedCell]
    decisions: Sequence[ReportedDecision]
    others: Sequence[ReportedDecision]
    follows: int
    is_signed: bool
    may_sign: bool


@dataclass(frozen=True)
class ReviewedLine:
    """A company in the overview of a review."""

    name: str
    domain: str
    cells: int
    signed: int
    open: int
    is_signed: bool
