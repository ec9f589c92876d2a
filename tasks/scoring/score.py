"""Scoring one company of a run: every criterion looked into, written down at once, and added up.

How much of a ranking is the weights' doing: it is drawn up again a thousand times under other weights.

In each draw every weight is multiplied by a factor of its own between a half and twice, halving as
likely as doubling. A company that keeps its place in nearly all draws owes it to its scores.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from math import log
from random import Random

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
from tasks.scoring.criteria import Criteria, Criterion, DocumentCheck, FactRule, Judged
from tasks.scoring.evidence import Evidence
from tasks.scoring.judge import Answers, Question, prepare
from tasks.scoring.results import Finding, Quotation

_TOLD = 20  # passages with orders that are named, each with its place
_MOST_AT_ONCE = 16  # judgements asked for side by side, whatever the answerer takes

Looked = tuple[int, Criterion, Finding, str]


@operation(name="score_criteria")
def score_criteria(company_id: int) -> bool:
    """Score a run's company on all the run's criteria; gives False when a judgement failed.

    What was written down before an interruption is kept when it rests on the same evidence.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        criteria = Criteria.from_json(runs.get_run(session, company.run_id).criteria)
    evidence = Evidence(company_id)
    for looked in findings(company_id, evidence, current_answerer(), ledger_of(company.run_id)):
        _write_down(company_id, *looked)
    asked = {criterion.id for criterion in criteria.criteria}
    with database.reading() as session:
        outcomes = [
            outcome for outcome in scores.company_outcomes(session, company_id) if outcome.criterion_id in asked
        ]
    company.total, company.coverage = add_up(outcomes, criteria.scale)
    company.warnings = list(dict.fromkeys([*company.warnings, *warnings_of(evidence)]))
    with database.writing() as session:
        runs.save_company(session, company)
    return not any(outcome.failed for outcome in outcomes)


def findings(company_id: int, evidence: Evidence, answerer: Answerer, ledger: Ledger | None) -> Iterator[Looked]:
    """Look into the criteria of which no outcome is written down, or one that rests on something else or failed.

    Writes no outcome. Facts and documents come first; judgements are asked for side by side, as many at
    once as the answerer takes (12 of a server that takes 0.2 s each: 2.8 s one by one, 0.4 s so), and come
    as they are made. Each with its place among the criteria (from 0) and a hash of what it rests on,
    empty where it is to be looked into again.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        criteria = Criteria.from_json(runs.get_run(session, company.run_id).criteria)
        profile = companies.get_profile(session, company.profile_id) if company.profile_id else None
        claims = companies.profile_claims(session, company.profile_id) if company.profile_id else []
        kept = {
            outcome.criterion_id: outcome.evidence
            for outcome in scores.company_outcomes(session, company_id)
            if not outcome.failed
        }
    judged: list[tuple[int, Judged, str]] = []
    for ordinal, criterion in enumerate(criteria.criteria):
        rests_on = _rests_on(criterion, criteria, evidence, profile, claims, answerer)
        if kept.get(criterion.id) == rests_on:
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
) -> Iterator[Looked]:
    """The judged criteria. Only the asking is done in threads: evidence is read, and findings written, in this one.

    After an error, calls under way are waited for: they are paid for. Only an interrupt leaves them behind.
    """
    limit = max(1, min(answerer.side_by_side, _MOST_AT_ONCE))
    under_way: dict[Future[Answers], tuple[int, Question, str]] = {}
    with FanOut(limit, "judging", Leave.ON_INTERRUPT) as threads:

        def answered(leaving: int) -> Iterator[Looked]:
            for (ordinal, question, rests_on), answers in finished(under_way, leaving):
                finding = question.finding(answers.result(), evidence)
                yield ordinal, question.criterion, finding, "" if finding.unfinished else rests_on

        for ordinal, criterion, rests_on in judged:
            question = prepare(criterion, criteria.scale, company, evidence, answerer, criteria.runs)
            if isinstance(question, Finding):
                yield ordinal, criterion, question, rests_on
            else:
                under_way[threads.submit(question.ask, answerer, ledger)] = ordinal, question, rests_on
                yield from answered(leaving=limit - 1)
        yield from answered(leaving=0)


def warnings_of(evidence: Evidence) -> list[str]:
    """What a reader must know of the evidence: words that give orders to a model, and a ranking that fell back."""
    told = [
        f"{found.document.name}, {found.place}: this passage gives orders to a language model. It was left out of "
        "everything that a model was asked, and proves nothing."
        for found in evidence.orders[:_TOLD]
    ]
    if len(evidence.orders) > _TOLD:
        told.append(f"{len(evidence.orders) - _TOLD} more passages give orders to a language model and were left out.")
    named = [document.name for document in evidence.documents if without_injections(document.name)[1]]
    told += [
        f"{name}: this document's name gives orders to a language model. No model was shown them."
        for name in named[:_TOLD]
    ]
    if len(named) > _TOLD:
        told.append(f"The names of {len(named) - _TOLD} more documents give orders to a language model.")
    return told + ([evidence.warning] if evidence.warning else [])


def add_up(outcomes: Sequence[CriterionOutcome], scale: tuple[float, float]) -> tuple[float | None, float]:
    """The weighted total (0 to 1, of what could be scored; None when nothing was) and the share of weight scored."""
    low, high = scale
    scored = [outcome for outcome in outcomes if outcome.status is ScoreStatus.SCORED and outcome.score is not None]
    weight = sum(each.weight for each in scored)
    everything = sum(outcome.weight for outcome in outcomes)
    if not weight:
        return None, 0.0
    total = sum(each.weight * ((each.score or 0) - low) / (high - low) for each in scored) / weight
    return round(total, 12), weight / everything  # rounded, so that equal scores give equal totals in any order


def rank_companies(listed: Sequence[RunCompany]) -> None:
    """Give each company its rank by total, equal totals the same one; without a total there is none."""
    totals = sorted((each.total for each in listed if each.total is not None), reverse=True)
    for each in listed:
        each.rank = None if each.total is None else totals.index(each.total) + 1


def _rests_on(
    criterion: Criterion,
    criteria: Criteria,
    evidence: Evidence,
    profile: StoredProfile | None,
    claims: Sequence[StoredClaim],
    answerer: Answerer,
) -> str:
    """A hash of all that the outcome rests on: with the same one it need not be looked into again."""
    rest: list[object] = [criterion.model_dump_json(), criteria.scale]
    if isinstance(criterion, FactRule):
        rest += [profile and profile.profile, [(claim.field, claim.source, claim.as_of) for claim in claims]]
    elif isinstance(criterion, DocumentCheck):
        rest += [evidence.fingerprint()]
    else:
        rest += [evidence.fingerprint(), answerer.name, answerer.address, criteria.runs]
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _write_down(company_id: int, ordinal: int, criterion: Criterion, finding: Finding, rests_on: str) -> None:
    outcome = CriterionOutcome(
        company_id=company_id,
        ordinal=ordinal,
        criterion_id=criterion.id,
        kind=criterion.kind,
        weight=criterion.weight,
        score=finding.score,
        status=finding.status,
        reason=finding.reason,
        missing=finding.missing,
        evidence=rests_on,
        failed=finding.failed,
        confidence=finding.confidence,
        agreement=finding.agreement,
        contradictions=[contradiction.as_json() for contradiction in finding.contradictions],
        nearest=[each.as_json() for each in finding.nearest],
    )
    with database.writing() as session:
        scores.save_outcome(session, outcome, [_quote(quote) for quote in finding.quotes])


def _quote(quotation: Quotation) -> Quote:
    quote = Quote(outcome_id=0, ordinal=0, text=quotation.text, verified=False, stance=quotation.stance)
    found = quotation.found
    if found is not None:
        quote.verified = True
        quote.document_id, quote.document_name = found.document.document_id, found.document.name
        quote.document_url, quote.place = found.document.url, found.place
        quote.text_id, quote.start, quote.end = found.text_id, found.start, found.end
    return quote


DRAWS = 1000
_MOST = 2.0  # a weight is at most doubled and at least halved
_SAME = 9  # decimals; totals that differ less are equal, as in the ranking itself

Standing = Mapping[str, float]
"""One company's scored criteria: the id of each with its score as a share of the scale, 0 to 1."""


def stability(standings: Sequence[Standing], weights: Mapping[str, float]) -> list[float] | None:
    """The share of draws in which each company keeps its place, 0 to 1; the same for the same figures.

    Args:
        standings: the ranked companies, none without a scored criterion.
        weights: each criterion's weight, above 0.

    Returns:
        A share a company, in their order; None where there is nothing to vary: fewer than two
        companies, or fewer than two criteria.
    """
    asked = sorted({criterion for standing in standings for criterion in standing})
    if len(standings) < 2 or len(asked) < 2:
        return None
    import numpy as np  # noqa: PLC0415 - 0.1 s that only a report of several companies need pay

    chosen = Random(0)  # noqa: S311 - drawn anew, a report must say the same
    spread = log(_MOST)
    factors = np.exp([[chosen.uniform(-spread, spread) for _ in asked] for _ in range(DRAWS)])
    given = np.array([weights[criterion] for criterion in asked])
    drawn = np.vstack([given, given * factors])  # the first row is the ranking as it is
    scored = np.array([[criterion in standing for criterion in asked] for standing in standings], dtype=float)
    shares = np.array([[standing.get(criterion, 0.0) for criterion in asked] for standing in standings])
    totals = -np.round((drawn @ shares.T) / (drawn @ scored.T), _SAME)
    places = np.array([np.searchsorted(np.sort(row), row) for row in totals])
    return [float(share) for share in (places[1:] == places[0]).mean(axis=0)]
