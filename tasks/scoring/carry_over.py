"""Outcomes that are taken over from the run before, since all that they rest on is the same (`inputs`).

What failed, and what something else than its inputs had a part in (a model that gave no search plan, say), is scored
again.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from storage import database, runs, scores
from storage.runs import RunCompany
from storage.scores import CriterionOutcome
from tasks.scoring.criteria import Criteria
from tasks.scoring.inputs import Inputs


class CarriedOver(NamedTuple):
    """A company whose outcomes are all stored: the run they come from, and what its evidence warns of."""

    run: str
    evidence_warnings: Sequence[str]


def carry_over(company_id: int, inputs: Inputs, hashes: Mapping[str, str]) -> CarriedOver | None:
    """Take over what rests on the same from the company's last run; None unless that is all of the company.

    Args:
        company_id: the company of this run.
        inputs: what its outcomes rest on.
        hashes: the hash of each criterion, by its id.
    """
    with database.reading() as session:
        earlier = runs.earlier_company(session, inputs.company)
        if earlier is None or earlier.id is None or earlier.evidence_warnings is None:
            return None
        weights = {criterion.id: criterion.weight for criterion in inputs.criteria.criteria}
        stored = {
            outcome.criterion_id
            for outcome in resting_on(scores.company_outcomes(session, company_id), hashes)
            if outcome.weight == weights[outcome.criterion_id]
        }
        of_earlier = {
            outcome.criterion_id for outcome in resting_on(scores.company_outcomes(session, earlier.id), hashes)
        }
    ready = of_earlier - stored
    if ready:
        with database.writing() as session:
            scores.carry_outcomes(session, {earlier.id: company_id}, places_of(inputs.criteria, ready))
    if len(of_earlier) < len(hashes):  # what an interrupted run scored itself is not of the run before
        return None
    return CarriedOver(first_run(earlier), earlier.evidence_warnings)


def resting_on(outcomes: Iterable[CriterionOutcome], hashes: Mapping[str, str]) -> list[CriterionOutcome]:
    """Those outcomes that rest on what they would rest on now, and that nothing else had a part in."""
    return [
        outcome
        for outcome in outcomes
        if outcome.evidence == hashes.get(outcome.criterion_id) and not outcome.failed and outcome.warning is None
    ]


def places_of(criteria: Criteria, ids: Container[str]) -> dict[str, tuple[int, float]]:
    """The place of each of these criteria among all (from 0), and its weight, by id."""
    return {
        criterion.id: (place, criterion.weight)
        for place, criterion in enumerate(criteria.criteria)
        if criterion.id in ids
    }


def first_run(company: RunCompany) -> str:
    """The run in which a company's outcomes were found."""
    return company.carried_from or company.run_id
