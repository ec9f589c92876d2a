"""The result of one criterion, which of two judgements counts, and what the results of a company add up to.

Nothing that a document says is hidden from the model: to leave out the surroundings of an order would reward a seller
who plants one beside bad news. So such a criterion is judged twice: from the passages as they are, and from what each
document says when it is read by itself, without the words of the orders (`isolation`). If both judgements agree, the
orders had no effect. Otherwise the score is contested:

- Of two scores the lower counts.
- A score without the words counts also where there is none with them: an order may have silenced the model.
- A score with the words alone counts only in the lower half of the scale: nobody orders that, and it may rest on
  words beside the order. One in the upper half may be what the order asked for, so it does not count.

A company's standing is the share of all weight that it has proven, and what is still open:

stand    a company's outcomes added up
rank     companies by their proven shares
"""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel

from storage.documents import RunDocument
from storage.runs import RunCompany
from storage.scores import Absence, CriterionOutcome, ScoreStatus
from tasks.ai.answerer import NotAsked, Source
from tasks.ai.prompt_injection import without_injections
from tasks.errors import DiligenceError
from tasks.scoring.criteria import Criteria, Criterion, Severity
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.spending.budget import BudgetSpent
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
        return cls(excerpt.cells or excerpt.text, stance, excerpt)


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
        return cls(excerpt.document, excerpt.cells or excerpt.text, excerpt.place, excerpt)

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


NAME_OF_DOCUMENT = "the document's name"
LEDGER = "figures of the documents"  # the source that holds rows of the ledger


@dataclass(frozen=True, slots=True)
class Passages:
    """Passages as sources for a judgement: as they are, and without `orders`, the words that give orders.

    Rows of the ledger are the last source of both.
    """

    sources: list[Source]
    without: list[Source]
    orders: list[FoundOrder]

    @classmethod
    def of(cls, excerpts: Sequence[Excerpt], evidence: Evidence, figures: str = "") -> "Passages":
        """The sources of these excerpts, numbered from 1; `figures` are rows of the ledger."""
        sources, without = [], []
        found: dict[FoundOrder, None] = {}
        for number, excerpt in enumerate(excerpts, 1):
            document, place = excerpt.document, excerpt.place
            sources.append(Source(number, document.name, place, excerpt.with_header))
            name, of_name = without_injections(document.name)
            header, of_header = without_injections(excerpt.header or "")
            text = without_injections(excerpt.text)[0]
            text = f"{header}\n{text}" if header else text
            without.append(Source(number, name, without_injections(place)[0], text))
            if of_name:
                found[FoundOrder(document, document.name, NAME_OF_DOCUMENT)] = None
            for order in of_header:
                found[FoundOrder(document, (excerpt.header or "")[order.start : order.end], place)] = None
            found.update(dict.fromkeys(FoundOrder.at(order) for order in evidence.orders_in(excerpt)))
        if figures:
            sources.append(Source(len(sources) + 1, LEDGER, None, figures))
            without.append(Source(len(sources), LEDGER, None, without_injections(figures)[0]))
        return cls(sources, without, list(found))

    @property
    def have_orders(self) -> bool:
        """Whether they, including names and headers, contain words that give orders to a model."""
        return self.sources != self.without


def pick_counted(
    with_words: CriterionResult, without: CriterionResult, scale: tuple[float, float], words: str = ORDERS
) -> CriterionResult:
    """Which of two judgements counts: the one with words that may influence a model, or the one without these `words`.

    If one of them failed, or the budget did not reach it, the result's warning says so, and the other one counts as if
    that one had given no score.
    """
    if without.status is with_words.status is ScoreStatus.UNSCORED:
        return without
    result = _lower(with_words, without, scale)
    missed = next((one for one in (without, with_words) if one.status is ScoreStatus.UNSCORED), None)
    if missed is not None:
        made, other = ("with", "without") if missed is without else ("without", "with")
        warning = (
            f"It was judged {made} the {words}, not {other} them. {missed.reason} "
            "A score in the upper half of the scale that only these words support does not count."
        )
        return replace(result.add_warning(warning), unfinished=missed.unfinished)
    if with_words.score == without.score:
        return with_words
    scores = Contested(with_words.score, without.score, words)
    if result.score is None:
        reason = (
            f"{result.reason} (Judged {scores.in_words}: a score in the upper half of the scale that only these words "
            "support does not count.)"
        )
        return replace(result, contested=scores, reason=reason)
    reason = f"{result.reason} (Contested: judged {scores.in_words}; {result.score:g} counts.)"
    return replace(result, status=ScoreStatus.CONTESTED, contested=scores, reason=reason)


def _lower(with_words: CriterionResult, without: CriterionResult, scale: tuple[float, float]) -> CriterionResult:
    """Of two results with different scores, the one that is safe to count."""
    if with_words.score is None:
        return without
    if without.score is not None:
        return min(with_words, without, key=lambda result: result.score or 0.0)
    return with_words if with_words.score <= sum(scale) / 2 else without


SHORT: Final = 0.4
"""Up to this share of the scale a score falls short."""
ENOUGH: Final = 0.5
"""From this share of the weight on what was scored is enough for a rank, and to recommend something."""
_EXACT: Final = 12  # decimals, so that equal scores give equal shares in any order
_SAME: Final = 9  # decimals; shares that differ less are equal


class Standing(BaseModel):
    """A company's standing. Shares are of the weight of all criteria, 0 to 1.

    `proven` is what its scores earned. `high` is what it would be if everything open turned out best; what is missing
    in a room that was read is not open. `coverage` is the share that was scored, `shares` the share with each status.
    `gates_failed` and `gates_open` are ids of criteria.
    """

    proven: float = 0.0
    high: float = 1.0
    coverage: float = 0.0
    shares: dict[ScoreStatus, float] = {}
    gates_failed: list[str] = []
    gates_open: list[str] = []

    @property
    def ranked(self) -> bool:
        """Whether the company has a rank."""
        return self.coverage > ENOUGH - 10**-_SAME and not self.gates_failed

    @classmethod
    def of(cls, company: RunCompany) -> "Standing":
        """The standing of a run's company; in runs of earlier releases everything that is not scored is open."""
        if company.standing is not None:
            return cls.model_validate(company.standing)
        coverage = company.coverage or 0.0
        proven = (company.total or 0.0) * coverage
        shares = {ScoreStatus.SCORED: coverage, ScoreStatus.UNSCORED: 1 - coverage}
        return cls(proven=proven, high=proven + 1 - coverage, coverage=coverage, shares=shares)


def is_open(criterion: Mapping[str, Any] | Criterion, outcome: CriterionOutcome | None) -> bool:
    """Whether a criterion may still turn out well: it was not scored, and is not known to be missing."""
    if outcome is None or outcome.status is not ScoreStatus.MISSING:
        return outcome is None or not outcome.status.counts
    leaves_open = criterion.get("missing") if isinstance(criterion, Mapping) else criterion.missing
    return leaves_open == "open" or (outcome.absence is not None and outcome.absence.is_open)


def is_short(score: float, severity: Severity | Mapping[Severity, float] | None, scale: tuple[float, float]) -> bool:
    """Whether a score is in the lower two fifths of the scale or, if there are bands of severity, in one of them."""
    if isinstance(severity, Mapping):
        return score <= max(severity.values())
    return score <= scale[0] + SHORT * (scale[1] - scale[0]) + 10**-_SAME


def stand(company: RunCompany, outcomes: Iterable[CriterionOutcome], criteria: Criteria) -> None:
    """Compute the company's standing from these outcomes; criteria without one are unscored."""
    low, high = criteria.scale
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    whole = sum(criterion.weight for criterion in criteria.criteria) or 1.0
    earned = unsettled = 0.0
    shares: Counter[ScoreStatus] = Counter()
    failed, unknown = [], []
    for criterion in criteria.criteria:
        outcome = by_criterion.get(criterion.id)
        may_turn_out_well = is_open(criterion, outcome)
        shares[outcome.status if outcome else ScoreStatus.UNSCORED] += criterion.weight / whole  # type: ignore[assignment]
        unsettled += criterion.weight * may_turn_out_well
        score = outcome.score if outcome and outcome.status.counts else None
        if score is not None:
            earned += criterion.weight * (score - low) / (high - low)
        if criterion.must and may_turn_out_well:
            unknown.append(criterion.id)
        elif criterion.must and (score is None or is_short(score, criterion.severity, criteria.scale)):
            failed.append(criterion.id)
    coverage = sum(share for status, share in shares.items() if status.counts)
    proven = round(earned / whole, _EXACT)
    company.total = round(earned / whole / coverage, _EXACT) if coverage else None
    company.coverage = round(coverage, _EXACT)
    company.standing = Standing(
        proven=proven,
        high=round((earned + unsettled) / whole, _EXACT),
        coverage=company.coverage,
        shares={status: round(share, _EXACT) for status, share in shares.items()},
        gates_failed=failed,
        gates_open=unknown,
    ).model_dump(mode="json")


class Ranked(Protocol):
    """What a rank depends on; see `Standing`."""

    @property
    def proven(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def ranked(self) -> bool: ...


def rank(standings: Sequence[Ranked]) -> list[int | None]:
    """The rank of each company, from 1; None if it has none.

    A company ranks behind those that have proven more, unless the range that one may still prove is wholly inside the
    other's: then they share a rank. Nobody ranks ahead of a company that has proven more.
    """
    ranges = [(round(one.proven, _SAME), round(one.high, _SAME)) if one.ranked else None for one in standings]
    ranks: dict[float, int] = {}
    highs: list[float] = []
    last = 1
    for low, group in groupby(sorted(filter(None, ranges), reverse=True), key=itemgetter(0)):
        of_group = [high for _, high in group]
        last = max(last, *(1 + len(highs) - bisect_right(highs, high) for high in of_group))
        ranks[low] = last
        for high in of_group:
            insort(highs, high)
    return [None if ends is None else ranks[ends[0]] for ends in ranges]


def rank_companies(companies: Sequence[RunCompany]) -> None:
    """Give each company of a run its rank."""
    for company, place in zip(companies, rank([Standing.of(one) for one in companies]), strict=True):
        company.rank = place
