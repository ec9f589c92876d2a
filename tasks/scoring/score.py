"""Scoring the companies of a run.

score_criteria    each criterion of one company: its result is stored at once, then all are added up
rank_companies    the companies by their totals
stability         how much of the ranking depends on the weights
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from math import log
from random import Random

import numpy as np

from storage import companies, database, runs, scores
from storage.companies import StoredClaim, StoredProfile
from storage.runs import RunCompany
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.ai.answerer import Answerer
from tasks.ai.budget import Ledger, ledger_of
from tasks.ai.prompt_injection import without_injections
from tasks.ai.registry import current_answerer
from tasks.operation import operation
from tasks.remote.fan_out import FanOut, Leave, finished
from tasks.scoring.checks import check_document, check_fact
from tasks.scoring.criteria import SHOWN_ONLY, Criteria, Criterion, DocumentCheck, FactRule, Judged
from tasks.scoring.evidence import Evidence
from tasks.scoring.judge import Answers, Question, prepare
from tasks.scoring.results import CriterionResult, Quotation

DRAWS = 1000
_MOST = 2.0  # a weight is at most doubled and at least halved
_SAME = 9  # decimals; totals that differ less are equal, as in the ranking itself
_MAX_NAMED = 20  # passages with prompt injection that are named in a warning, each with its place
_MOST_AT_ONCE = 16  # judgements made side by side, whatever the answerer takes

Standing = Mapping[str, float]
"""One company's scored criteria: the id of each with its score as a share of the scale, 0 to 1."""

Scored = tuple[int, Criterion, CriterionResult, str]
"""A criterion's place among the criteria (from 0), the criterion, its result, a hash of what the result rests on."""


@operation(name="score_criteria")
def score_criteria(company_id: int) -> bool:
    """Score a run's company on all the run's criteria; returns False when a judgement failed.

    An outcome that was stored before an interruption stays when it rests on the same evidence.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        criteria = Criteria.from_json(runs.get_run(session, company.run_id).criteria)
    evidence = Evidence(company_id)
    for scored in criterion_results(company_id, evidence, current_answerer(), ledger_of(company.run_id)):
        _save(company_id, *scored)
    ids = {criterion.id for criterion in criteria.criteria}
    with database.reading() as session:
        outcomes = [outcome for outcome in scores.company_outcomes(session, company_id) if outcome.criterion_id in ids]
    company.total, company.coverage = add_up(outcomes, criteria.scale)
    company.warnings = list(dict.fromkeys([*company.warnings, *warnings_of(evidence)]))
    with database.writing() as session:
        runs.save_company(session, company)
    return not any(outcome.failed for outcome in outcomes)


def criterion_results(
    company_id: int, evidence: Evidence, answerer: Answerer, ledger: Ledger | None
) -> Iterator[Scored]:
    """The results of the criteria that have no stored outcome, or one that failed or rests on something else.

    Stores nothing. Facts and documents come first; judgements are made side by side, as many at once as the answerer
    takes (12 of a server that takes 0.2 s each: 2.8 s one by one, 0.4 s so), and come as they are made. The hash is
    empty where the criterion is to be scored again.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        criteria = Criteria.from_json(runs.get_run(session, company.run_id).criteria)
        profile = companies.get_profile(session, company.profile_id) if company.profile_id else None
        claims = companies.profile_claims(session, company.profile_id) if company.profile_id else []
        stored = {
            outcome.criterion_id: outcome.evidence
            for outcome in scores.company_outcomes(session, company_id)
            if not outcome.failed
        }
    judged: list[tuple[int, Judged, str]] = []
    for ordinal, criterion in enumerate(criteria.criteria):
        rests_on = _rests_on(criterion, criteria, evidence, profile, claims, answerer)
        if stored.get(criterion.id) == rests_on:
            continue
        if isinstance(criterion, FactRule):
            yield ordinal, criterion, check_fact(criterion, criteria.scale, profile, claims), rests_on
        elif isinstance(criterion, DocumentCheck):
            yield ordinal, criterion, check_document(criterion, criteria.scale, evidence), rests_on
        else:
            judged.append((ordinal, criterion, rests_on))
    yield from _judgements(judged, criteria, company.name, evidence, answerer, ledger)


def _judgements(
    judged: Sequence[tuple[int, Judged, str]],
    criteria: Criteria,
    company: str,
    evidence: Evidence,
    answerer: Answerer,
    ledger: Ledger | None,
) -> Iterator[Scored]:
    """The judged criteria. Only the asking is done in threads: evidence is read, and results are checked, in this one.

    After an error, calls under way are waited for: they are paid for. Only an interrupt leaves them behind.
    """
    limit = max(1, min(answerer.side_by_side, _MOST_AT_ONCE))
    under_way: dict[Future[Answers], tuple[int, Question, str]] = {}
    with FanOut(limit, "judging", Leave.ON_INTERRUPT) as threads:

        def answered(leaving: int) -> Iterator[Scored]:
            for (ordinal, question, rests_on), answers in finished(under_way, leaving):
                result = question.result(answers.result(), evidence)
                yield ordinal, question.criterion, result, "" if result.unfinished else rests_on

        for ordinal, criterion, rests_on in judged:
            question = prepare(criterion, criteria.scale, company, evidence, answerer, criteria.runs)
            if isinstance(question, CriterionResult):
                yield ordinal, criterion, question, rests_on
            else:
                under_way[threads.submit(question.ask, answerer, ledger)] = ordinal, question, rests_on
                yield from answered(leaving=limit - 1)
        yield from answered(leaving=0)


def warnings_of(evidence: Evidence) -> list[str]:
    """What a reader must know of the evidence: prompt injection, and a ranking by words alone."""
    warnings = [
        f"{excerpt.document.name}, {excerpt.place}: this passage contains instructions to a language model. It was not "
        "sent to any model, and quotations from it do not count."
        for excerpt in evidence.injected[:_MAX_NAMED]
    ]
    more = len(evidence.injected) - _MAX_NAMED
    if more > 0:
        warnings.append(f"{more} more passages contain instructions to a language model and were left out.")
    named = [document.name for document in evidence.documents if without_injections(document.name)[1]]
    warnings += [
        f"{name}: this document's name contains instructions to a language model. They were not sent to any model."
        for name in named[:_MAX_NAMED]
    ]
    if len(named) > _MAX_NAMED:
        warnings.append(
            f"The names of {len(named) - _MAX_NAMED} more documents contain instructions to a language model."
        )
    return warnings + ([evidence.warning] if evidence.warning else [])


def add_up(outcomes: Sequence[CriterionOutcome], scale: tuple[float, float]) -> tuple[float | None, float]:
    """The weighted total (0 to 1, of what could be scored; None when nothing was) and the share of weight scored."""
    low, high = scale
    scored = [outcome for outcome in outcomes if outcome.status is ScoreStatus.SCORED and outcome.score is not None]
    weight = sum(outcome.weight for outcome in scored)
    everything = sum(outcome.weight for outcome in outcomes)
    if not weight:
        return None, 0.0
    total = sum(outcome.weight * ((outcome.score or 0) - low) / (high - low) for outcome in scored) / weight
    return round(total, 12), weight / everything  # rounded, so that equal scores give equal totals in any order


def rank_companies(companies_of_run: Sequence[RunCompany]) -> None:
    """Give each company its rank by total, equal totals the same one; without a total there is none."""
    totals = sorted((company.total for company in companies_of_run if company.total is not None), reverse=True)
    for company in companies_of_run:
        company.rank = None if company.total is None else totals.index(company.total) + 1


def _rests_on(
    criterion: Criterion,
    criteria: Criteria,
    evidence: Evidence,
    profile: StoredProfile | None,
    claims: Sequence[StoredClaim],
    answerer: Answerer,
) -> str:
    """A hash of all that the outcome rests on: while it is the same, the criterion need not be scored again."""
    rest: list[object] = [criterion.model_dump_json(exclude=set(SHOWN_ONLY)), criteria.scale]
    if isinstance(criterion, FactRule):
        rest += [profile and profile.profile, [(claim.field, claim.source, claim.as_of) for claim in claims]]
    elif isinstance(criterion, DocumentCheck):
        rest += [evidence.fingerprint()]
    else:
        rest += [evidence.fingerprint(), answerer.name, answerer.address, criteria.runs]
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _save(company_id: int, ordinal: int, criterion: Criterion, result: CriterionResult, rests_on: str) -> None:
    outcome = CriterionOutcome(
        company_id=company_id,
        ordinal=ordinal,
        criterion_id=criterion.id,
        kind=criterion.kind,
        weight=criterion.weight,
        score=result.score,
        status=result.status,
        reason=result.reason,
        missing=result.missing,
        evidence=rests_on,
        failed=result.failed,
        confidence=result.confidence,
        agreement=result.agreement,
        contradictions=[contradiction.as_json() for contradiction in result.contradictions],
        nearest=[document.as_json() for document in result.nearest],
    )
    with database.writing() as session:
        scores.save_outcome(session, outcome, [_quote(quote) for quote in result.quotes])


def _quote(quotation: Quotation) -> Quote:
    quote = Quote(outcome_id=0, ordinal=0, text=quotation.text, verified=False, stance=quotation.stance)
    excerpt = quotation.excerpt
    if excerpt is not None:
        quote.verified = True
        quote.document_id, quote.document_name = excerpt.document.document_id, excerpt.document.name
        quote.document_url, quote.place = excerpt.document.url, excerpt.place
        quote.text_id, quote.start, quote.end = excerpt.text_id, excerpt.start, excerpt.end
    return quote


def stability(standings: Sequence[Standing], weights: Mapping[str, float]) -> list[float] | None:
    """The share of draws in which each company keeps its place, 0 to 1; the same for the same figures.

    The ranking is drawn up again a thousand times. In each draw every weight is multiplied by a factor of its own
    between a half and twice, halving as likely as doubling. A company that keeps its place in nearly all draws owes it
    to its scores.

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
    scored = np.array([[criterion in standing for criterion in criteria] for standing in standings], dtype=float)
    shares = np.array([[standing.get(criterion, 0.0) for criterion in criteria] for standing in standings])
    totals = -np.round((drawn @ shares.T) / (drawn @ scored.T), _SAME)
    places = np.array([np.searchsorted(np.sort(row), row) for row in totals])
    return [float(share) for share in (places[1:] == places[0]).mean(axis=0)]
