"""Scoring the companies of a run.

score_criteria    each criterion of one company: its result is stored at once, then all are added up
stability         how much of the ranking depends on the weights

A criterion need not be scored again while a hash of everything that its outcome rests on is the same. It covers the
criterion, what it is scored by (documents, profile, model, ledger of figures), and the program itself: what another
version of the program would score differently is scored again.
"""

import hashlib
import json
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import log
from random import Random
from typing import Any, Final

import numpy as np
from sqlmodel import Session

from storage import database, runs, scores
from storage.documents import RunDocument, company_documents
from storage.runs import ModelTrial, RunCompany
from storage.scores import (
    Absence,
    CriterionOutcome,
    ScoreStatus,
    StoredClaim,
    StoredProfile,
    get_profile,
    profile_claims,
)
from storage.texts import cut_off_ledgers
from tasks.ai.answerer import AiSettings, Answerer
from tasks.ai.registry import current_answerer, with_names
from tasks.cancellation import FanOut, Leave, take_finished
from tasks.documents.kinds.catalogue import may_be_document
from tasks.errors import DiligenceError
from tasks.figures.conflicts import RoomFigure, find_conflicts
from tasks.figures.ledger import ledger_version
from tasks.files import code_version
from tasks.language.normalise import cut_line, join_first
from tasks.operation import operation
from tasks.privacy import Names, PrivacySettings, privileged_rules, profile_names, say_kept, stored_names
from tasks.ranking.semantic import EmbeddingSettings
from tasks.scoring.ask import SLOW, SearchPlan, SearchPlans, Width, search_plans
from tasks.scoring.checks import check_document, check_fact
from tasks.scoring.criteria import (
    ADDED_UP,
    SHOWN_ONLY,
    Criteria,
    Criterion,
    DocumentCheck,
    FactRule,
    FigureRule,
    Judged,
    isolates,
)
from tasks.scoring.evidence import Evidence
from tasks.scoring.figure_checks import RoomFigures, check_figure, load_figures
from tasks.scoring.judge import Question, ReasonChecks, find_standing, prepare, with_opinions
from tasks.scoring.results import NAME_OF_DOCUMENT, CriterionResult, Quotation, Steps, stand
from tasks.spending.budget import Ledger, find_ledger

_NOT_SCORED: Final = SHOWN_ONLY | ADDED_UP
"""Fields of a criterion that change no outcome."""
_PROGRAM: Final = (
    *("tasks.ai", "tasks.documents.kinds", "tasks.figures", "tasks.ranking", "tasks.scoring", "tasks.statements"),
    *("tasks.answers", "tasks.language", "tasks.privacy", "tasks.spending"),
)


@dataclass(frozen=True)
class Inputs:
    """Everything that the outcomes of a run's company rest on, apart from the criteria themselves.

    `cut_off` are the texts whose figures were not looked for.
    """

    company: RunCompany
    criteria: Criteria
    documents: Sequence[RunDocument]
    cut_off: Sequence[int] = ()
    profile: StoredProfile | None = None
    claims: Sequence[StoredClaim] = ()

    @classmethod
    def of(cls, session: Session, company_id: int) -> "Inputs":
        """The present inputs of a company, from storage."""
        company, run = runs.company_and_run(session, company_id)
        criteria, documents = Criteria.from_json(run.criteria), company_documents(session, company_id)
        cut_off = [*cut_off_ledgers(session, (row.text_id for row in documents if row.text_id is not None))]
        return cls(company, criteria, documents, cut_off).with_profile(session, company.profile_id)

    def with_profile(self, session: Session, profile_id: int | None) -> "Inputs":
        """The same with what that profile says."""
        if profile_id is None:
            return self
        return replace(self, profile=get_profile(session, profile_id), claims=profile_claims(session, profile_id))

    def hashes(self, answerer: Answerer) -> Mapping[str, str]:
        """The hash for each criterion, by its id, in hex."""
        ai, ranking = AiSettings.current(), EmbeddingSettings.current()
        judging: list[object] = [answerer.name, answerer.address, find_standing(answerer)]
        judging += [ai.ai_search_plan, ai.ai_statement_check, ai.ai_window, ranking.embeddings, ranking.embeddings_url]
        judging += [privileged_rules(), PrivacySettings.current().ai_privileged_model]
        return {criterion.id: self._hash(criterion, judging) for criterion in self.criteria.criteria}

    def _hash(self, criterion: Criterion, judging: Sequence[object]) -> str:
        criteria = self.criteria
        rest: list[object] = [
            code_version(*_PROGRAM),
            criterion.model_dump_json(exclude=set(_NOT_SCORED)),
            criteria.scale,
        ]
        if isinstance(criterion, FactRule):
            said = [(claim.field, claim.value, claim.source, claim.as_of) for claim in self.claims]
            rest += [self.profile and self.profile.profile, said]
        elif isinstance(criterion, DocumentCheck):
            rest += [self.room]
        elif isinstance(criterion, FigureRule):
            rest += [self.room, *self.cut_off, ledger_version(), criteria.figure_rule, self.company.name]
        else:
            rest += [self.room, *self.cut_off, ledger_version(), criteria.figure_rule, self.company.name, criteria.runs]
            rest += [criteria.isolate != "off" and isolates(criteria.isolate, criterion)]
            rest += judging
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()

    @cached_property
    def room(self) -> str:
        """A hash in hex that stays the same while the same documents have the same content."""
        listed = [
            [document.document_id, document.path, document.name, document.url, document.text_id, document.content_hash]
            for document in self.documents
        ]
        return hashlib.sha256(repr(listed).encode(errors="surrogatepass")).hexdigest()


def keep_unchanged(outcomes: Iterable[CriterionOutcome], hashes: Mapping[str, str]) -> list[CriterionOutcome]:
    """The outcomes whose inputs are unchanged and that nothing else had a part in."""
    return [
        outcome
        for outcome in outcomes
        if outcome.evidence == hashes.get(outcome.criterion_id) and not outcome.failed and outcome.warning is None
    ]


def place_criteria(criteria: Criteria, ids: Container[str]) -> dict[str, tuple[int, float]]:
    """The position of each of these criteria among all (from 0), and its weight, by id."""
    return {
        criterion.id: (place, criterion.weight)
        for place, criterion in enumerate(criteria.criteria)
        if criterion.id in ids
    }


DRAWS = 1000
_MOST = 2.0  # a weight is at most doubled and at least halved
_SAME = 9  # decimals; totals that differ less are equal, as in the ranking itself
_MAX_NAMED = 20  # places of words that give orders to a model, each with a warning of its own
_LONGEST_ORDER = 160  # characters of such words in a warning
_MOST_UNREAD = 3  # names of documents that could not be read
_MOST_AT_ONCE = 16  # judgements made side by side, whatever the answerer takes

_STORED = ("score", "status", "reason", "missing", "absence", "failed", "confidence", "agreement", "warning")
"""Attributes of a result that are stored as they are."""

Scores = Mapping[str, float]
"""One company's scored criteria: the id of each with its score as a share of the scale, 0 to 1."""

Scored = tuple[int, Criterion, CriterionResult, str]
"""A criterion's place among the criteria (from 0), the criterion, its result, a hash of what the result rests on."""


@operation(name="score_criteria")
def score_criteria(company_id: int, *, is_new: bool = False) -> bool:
    """Score a run's company on all the run's criteria; returns False if a judgement failed.

    An outcome stored by an interrupted run, or by the last one, stays if its inputs are the same.

    Args:
        company_id: the company of a run.
        is_new: what can be taken over from the run before was just taken over, and that was not all of it.
    """
    if not is_new and take_over(company_id):
        return True
    with database.reading() as session:
        inputs = Inputs.of(session, company_id)
    inputs.company.carried_from = None
    return _score(inputs, current_answerer())


def take_over(company_id: int) -> bool:
    """Copy outcomes with unchanged inputs from the previous run; returns whether these are all of the company's."""
    with database.reading() as session:
        earlier = runs.earlier_company(session, company_id)
        if earlier is None or earlier.id is None or earlier.evidence_warnings is None:
            return False
        inputs = Inputs.of(session, company_id)
        hashes = inputs.hashes(current_answerer())
        of_earlier = {row.criterion_id for row in keep_unchanged(scores.company_outcomes(session, earlier.id), hashes)}
        weights = {criterion.id: criterion.weight for criterion in inputs.criteria.criteria}
        stored = {
            outcome.criterion_id
            for outcome in keep_unchanged(scores.company_outcomes(session, company_id), hashes)
            if outcome.weight == weights[outcome.criterion_id]
        }
    with database.writing() as session:
        if ready := of_earlier - stored:
            scores.carry_outcomes(session, {earlier.id: company_id}, place_criteria(inputs.criteria, ready))
        if len(of_earlier) < len(hashes):  # what an interrupted run scored itself is not of the run before
            return False
        company = inputs.company
        company.carried_from = earlier.carried_from or earlier.run_id
        company.evidence_warnings = list(earlier.evidence_warnings)
        company.warnings = list(dict.fromkeys([*company.warnings, *company.evidence_warnings]))
        company.search_warnings = []
        return _add_up(session, inputs, scores.company_outcomes(session, company_id))


def _add_up(session: Session, inputs: Inputs, outcomes: Sequence[CriterionOutcome]) -> bool:
    """Store where a company stands, and its warnings; gives False where a judgement failed."""
    stand(inputs.company, outcomes, inputs.criteria)
    runs.save_companies(session, [inputs.company])
    ids = {criterion.id for criterion in inputs.criteria.criteria}
    return not any(outcome.failed for outcome in outcomes if outcome.criterion_id in ids)


def _score(inputs: Inputs, answerer: Answerer) -> bool:
    """Score what is left to score, and store what readers must know of how it was done; as `_add_up`."""
    company = inputs.company
    assert company.id is not None
    evidence, ledger = Evidence(company.id, inputs.documents), find_ledger(company.run_id)
    open_evidence = evidence.open_to(answerer)
    answerer = with_names(answerer, partial(_find_names, inputs, open_evidence))
    plans = search_plans(open_evidence, answerer, ledger)
    unsaved: list[Scored] = []
    results = criterion_results(inputs, evidence, answerer, ledger, plans)
    for scored in results:
        unsaved.append(scored)
        if answerer.judges:  # what comes next may take a while
            try:
                with database.writing() as session:
                    _save(session, company.id, unsaved)
            except KeyboardInterrupt as interrupt:  # calls under way are left behind, as where they are waited for
                results.throw(interrupt)
            unsaved = []
    trouble = (open_evidence.warning, plans.warning if plans else None)
    company.search_warnings = [warning for warning in trouble if warning]
    with database.writing() as session:
        _save(session, company.id, unsaved)
        outcomes = scores.company_outcomes(session, company.id)
        warnings = list_passage_warnings(outcomes)
        warnings += filter(None, [say_kept([row.name for row in open_evidence.kept])])
        if Width.of(answerer).is_narrow and any(isinstance(one, Judged) for one in inputs.criteria.criteria):
            warnings.append(SLOW)
        company.evidence_warnings = None if company.search_warnings else warnings
        company.warnings = list(dict.fromkeys([*company.warnings, *warnings]))
        return _add_up(session, inputs, outcomes)


def _find_names(inputs: Inputs, evidence: Evidence) -> Names:
    """The names of people and companies that the company's room and its profile tell."""
    company, profile = inputs.company, inputs.profile.profile if inputs.profile else None
    texts = [row.text_id for row in evidence.documents if row.text_id is not None]
    return profile_names(company.name, company.domain, profile) | stored_names(texts)


def criterion_results(
    inputs: Inputs,
    evidence: Evidence,
    answerer: Answerer,
    ledger: Ledger | None,
    plans: SearchPlans | None = None,
) -> Generator[Scored, None, None]:
    """The results of the criteria without a stored outcome, or with one that failed or has other inputs.

    Stores nothing but the model's answers. Without `plans`, passages are found by the criteria's words alone. Facts,
    documents and figures come first; judgements are made concurrently, as many as the answerer takes (12 on a server
    that takes 0.2 s each: 2.8 s one by one, 0.4 s concurrently), and yielded as they are made. The hash is empty if the
    criterion is to be scored again.
    """
    assert inputs.company.id is not None
    with database.reading() as session:
        stored = {
            outcome.criterion_id: (outcome.evidence, outcome.weight)
            for outcome in scores.company_outcomes(session, inputs.company.id)
            if not outcome.failed
        }
    criteria, hashes = inputs.criteria, inputs.hashes(answerer)
    judged: list[tuple[int, Judged, str]] = []
    open_evidence = evidence.open_to(answerer)
    room = _figures(evidence, inputs)
    conflicts = cache(lambda: find_conflicts(room(), criteria.figure_rule))

    for ordinal, criterion in enumerate(criteria.criteria):
        rests_on = hashes[criterion.id]
        if stored.get(criterion.id) == (rests_on, criterion.weight):
            continue
        if isinstance(criterion, Judged):
            judged.append((ordinal, criterion, rests_on))
            continue
        if isinstance(criterion, FactRule):
            result = check_fact(criterion, criteria.scale, inputs.profile, inputs.claims)
        elif isinstance(criterion, DocumentCheck):
            result = check_document(criterion, criteria.scale, evidence)
        else:
            result = check_figure(criterion, criteria.scale, room(), evidence, criteria.figure_rule, conflicts)
        yield ordinal, criterion, _with_unread(result, evidence), rests_on
    if judged:
        with suppress(DiligenceError):  # each judgement will say why the server cannot be asked
            answerer.prepare(ledger)
    reasons = ReasonChecks(inputs.company.name, answerer, ledger)
    judge = _Judge(
        *(criteria, inputs.company.name, open_evidence, answerer, ledger, plans),
        *(room if open_evidence is evidence else _figures(open_evidence, inputs), reasons, find_standing(answerer)),
    )
    yield from _judgements(judged, judge)


def _figures(evidence: Evidence, inputs: Inputs) -> RoomFigures:
    """The figures of a company's room, looked up when the first criterion needs them."""
    looked_up = cache(partial(load_figures, evidence, inputs.company.name, inputs.criteria.figure_rule))

    def room() -> Sequence[RoomFigure]:
        evidence.record(row.document_id for row in looked_up())
        return looked_up()

    return room


@dataclass(frozen=True, slots=True)
class _Judge:
    """What all judgements of a company share."""

    criteria: Criteria
    company: str
    evidence: Evidence
    answerer: Answerer
    ledger: Ledger | None
    plans: SearchPlans | None
    room: RoomFigures
    reasons: ReasonChecks
    trial: ModelTrial | None

    def steps(self, criterion: Judged) -> Steps:
        """Search by a plan and judge; where nothing is found, search once more by another plan.

        A slow server is not asked for plans: one takes as long as half a judgement.
        """
        plans = None if self.evidence.is_empty or Width.of(self.answerer).is_narrow else self.plans
        plan: SearchPlan | None = (yield partial(plans.plan, criterion)) if plans else None
        question = self._question(criterion, plan)
        result = yield from self._judge(question)
        if plans is not None and plan is not None and result.status is ScoreStatus.MISSING:
            other: SearchPlan | None = yield partial(plans.another, criterion, plan)
            if other is not None:
                second = yield from self._judge(self._question(criterion, other))
                result = result if second.score is None else second
        return question.doubt(result, self.trial) if isinstance(question, Question) else result

    def _question(self, criterion: Judged, plan: SearchPlan | None) -> Question | CriterionResult:
        criteria = self.criteria
        return prepare(
            *(criterion, criteria.scale, self.company, self.evidence, self.answerer, criteria.runs, plan, self.room),
            isolate=criteria.isolate,
        )

    def _judge(self, question: Question | CriterionResult) -> Steps:
        if isinstance(question, CriterionResult):
            return question
        result = yield from question.judge(self.answerer, self.ledger, self.evidence)
        statements = self.reasons.left(question, result)
        if not statements:
            return result
        return with_opinions(result, statements, (yield partial(self.reasons.ask, statements, question)))


def _judgements(judged: Sequence[tuple[int, Judged, str]], judge: _Judge) -> Iterator[Scored]:
    """The judged criteria. Only the asking is done in threads: evidence is read, and results are checked, in this one.

    After an error, calls under way are waited for: they are paid for. Only an interrupt leaves them behind.
    """
    limit = max(1, min(judge.answerer.side_by_side, _MOST_AT_ONCE))
    under_way: dict[Future[object], tuple[int, Judged, str, Steps]] = {}
    given: dict[int, set[str]] = {ordinal: set() for ordinal, *_ in judged}
    with FanOut(limit, "judging", Leave.ON_INTERRUPT) as threads:

        def go_on(ordinal: int, criterion: Judged, rests_on: str, steps: Steps, answer: object) -> Iterator[Scored]:
            try:
                with judge.evidence.recorded(given[ordinal]):
                    call = steps.send(answer)
            except StopIteration as end:
                result = _with_unread(replace(end.value, given=given[ordinal]), judge.evidence)
                yield ordinal, criterion, result, "" if result.unfinished else rests_on
            else:
                under_way[threads.submit(call)] = ordinal, criterion, rests_on, steps

        def answered(leaving: int) -> Iterator[Scored]:
            for under_judgement, call in take_finished(under_way, leaving):
                yield from go_on(*under_judgement, call.result())

        for ordinal, criterion, rests_on in judged:
            yield from go_on(ordinal, criterion, rests_on, judge.steps(criterion), None)
            yield from answered(leaving=limit - 1)
        yield from answered(leaving=0)


def _with_unread(result: CriterionResult, evidence: Evidence) -> CriterionResult:
    """The result; what is missing, and nobody knows why, may lie in the documents that could not be read."""
    if result.status is not ScoreStatus.MISSING or result.absence is not None:
        return result
    if evidence.kept:
        kept = say_kept([document.name for document in evidence.kept])
        result = replace(result, reason=f"{result.reason} {kept} It may lie there.", absence=Absence.UNREAD)
    if not (unread := [row for row in evidence.unread if may_be_document(row.name)]):
        return result if evidence.kept else replace(result, absence=Absence.SILENT)
    named = join_first([_in_part(row) for row in unread], _MOST_UNREAD)
    count = "1 document" if len(unread) == 1 else f"{len(unread)} documents"
    whole = all(not document.characters for document in unread)
    what = "could not be read" if whole else "was not read whole" if len(unread) == 1 else "were not read whole"
    reason = f"{result.reason} It may lie in {count} that {what}: {named}."
    return replace(result, absence=Absence.UNREAD, reason=reason)


def _in_part(document: RunDocument) -> str:
    """A document's name, and how much of it was read where that is a part."""
    in_part = bool(document.pages and document.characters)
    return f"{document.name} ({document.pages_read} of {document.pages} pages)" if in_part else document.name


def list_passage_warnings(outcomes: Sequence[CriterionOutcome]) -> list[str]:
    """What a reader must know about the passages judged: words in them, and in names, that give orders to a model."""
    found = {
        f"{order['document_name']}: this document's name gives orders to a language model. Check what rests on it."
        if order["place"] == NAME_OF_DOCUMENT
        else f"{order['document_name']}, {order['place']}: words that give orders to a language model: "
        f"“{cut_line(order['text'], _LONGEST_ORDER)}” "
        "Check what rests on their passage; quotations of them do not count."
        for outcome in outcomes
        for order in outcome.orders
    }
    warnings = sorted(found)[:_MAX_NAMED]
    if len(found) > _MAX_NAMED:
        warnings.append(f"In {len(found) - _MAX_NAMED} more places words give orders to a language model.")
    return warnings


def _save(session: Session, company_id: int, scored: Sequence[Scored]) -> None:
    if not scored:
        return
    rows = [
        (_outcome(company_id, ordinal, criterion, result, rests_on), [_quote(quote) for quote in result.quotes])
        for ordinal, criterion, result, rests_on in scored
    ]
    scores.save_outcomes(session, company_id, rows)


def _outcome(
    company_id: int, ordinal: int, criterion: Criterion, result: CriterionResult, rests_on: str
) -> dict[str, Any]:
    return {name: getattr(result, name) for name in _STORED} | {
        "company_id": company_id,
        "ordinal": ordinal,
        "criterion_id": criterion.id,
        "kind": criterion.kind,
        "weight": criterion.weight,
        "evidence": rests_on,
        "contradictions": [contradiction.as_json() for contradiction in result.contradictions],
        "nearest": [document.as_json() for document in result.nearest],
        "orders": [order.as_json() for order in result.orders],
        "contested": result.contested.as_json() if result.contested else None,
        "given": _list_given(criterion, result),
    }


def _list_given(criterion: Criterion, result: CriterionResult) -> list[str] | None:
    """The documents that an outcome rests on; None, which is all of the room, where it says what no document has."""
    if isinstance(criterion, FactRule):
        return []
    if result.given is None or result.status is ScoreStatus.MISSING:
        return None
    return sorted(result.given)


def _quote(quotation: Quotation) -> dict[str, Any]:
    excerpt = quotation.excerpt
    document = excerpt.document if excerpt else None
    found = {name: getattr(excerpt, name, None) for name in ("place", "text_id", "start", "end")}
    found |= {f"document_{name}": getattr(document, name, None) for name in ("name", "url")}
    found["document_id"] = document.document_id if document else None
    return found | {"text": quotation.text, "verified": excerpt is not None, "stance": quotation.stance}


def stability(standings: Sequence[Scores], weights: Mapping[str, float]) -> list[float] | None:
    """The share of draws in which each company keeps its place, 0 to 1; the same figures always give the same shares.

    The ranking is recomputed a thousand times. In each draw every weight is multiplied by a factor between a half and
    two, halving as likely as doubling. A company that keeps its place in nearly all draws owes it to its scores.

    Args:
        standings: the ranked companies, none without a scored criterion.
        weights: each criterion's weight, above 0.

    Returns:
        A share a company, in their order; None where there is nothing to vary: fewer than two
        companies, or fewer than two criteria.
    """
    criteria = sorted({criterion for standing in standings for criterion in standing})
    if len(standings) < 2 or len(criteria) < 2:
        return None
    chosen = Random(0)  # noqa: S311 - drawn anew, a report must say the same
    spread = log(_MOST)
    factors = np.exp([[chosen.uniform(-spread, spread) for _ in criteria] for _ in range(DRAWS)])
    own_weights = np.array([weights[criterion] for criterion in criteria])
    drawn = np.vstack([own_weights, own_weights * factors])  # the first row is the ranking as it is
    shares = np.array([[standing.get(criterion, 0.0) for criterion in criteria] for standing in standings])
    totals = -np.round((drawn @ shares.T) / drawn.sum(axis=1, keepdims=True), _SAME)
    places = np.array([np.searchsorted(np.sort(row), row) for row in totals])
    return [float(share) for share in (places[1:] == places[0]).mean(axis=0)]
