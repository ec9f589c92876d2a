"""A hash of everything that an outcome rests on: while it is the same, the criterion need not be scored again.

It covers the criterion, what it is scored by (documents, profile, model, ledger of figures), and the program itself:
what another version of the program would score differently is scored again.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from sqlmodel import Session

from storage import companies, database, run_documents, runs, scores
from storage.companies import StoredClaim, StoredProfile
from storage.figures import cut_off_ledgers
from storage.run_documents import RunDocument
from storage.runs import ModelTrial, RunCompany
from storage.scores import CriterionOutcome
from tasks.ai.answerer import Answerer
from tasks.ai.privileged import privileged_rules
from tasks.ai.settings import AiSettings
from tasks.code_version import code_version
from tasks.figures.ledger import ledger_version
from tasks.ranking.semantic import EmbeddingSettings
from tasks.scoring.criteria import (
    ADDED_UP,
    SHOWN_ONLY,
    Criteria,
    Criterion,
    DocumentCheck,
    FactRule,
    FigureRule,
    isolates,
)
from tasks.scoring.model_trial import find_standing

_NOT_SCORED: Final = SHOWN_ONLY | ADDED_UP
"""Fields of a criterion that change no outcome."""
_PROGRAM: Final = (
    *("tasks.ai", "tasks.documents.kinds", "tasks.figures", "tasks.ranking", "tasks.scoring", "tasks.statements"),
    "tasks.language",
)


@dataclass(frozen=True)
class Inputs:
    """Everything that the outcomes of a run's company rest on, apart from the criteria themselves."""

    company: RunCompany
    criteria: Criteria
    documents: Sequence[RunDocument]
    profile: StoredProfile | None
    claims: Sequence[StoredClaim]

    @classmethod
    def of(cls, session: Session, company_id: int) -> "Inputs":
        """The present inputs of a company, from storage."""
        company = runs.get_company(session, company_id)
        has_profile = company.profile_id is not None
        return cls(
            company,
            Criteria.from_json(runs.get_run(session, company.run_id).criteria),
            run_documents.company_documents(session, company_id),
            companies.get_profile(session, company.profile_id) if has_profile and company.profile_id else None,
            companies.profile_claims(session, company.profile_id) if has_profile and company.profile_id else [],
        )

    def hashes(self, answerer: Answerer) -> Mapping[str, str]:
        """The hash for each criterion, by its id, in hex."""
        judging = [answerer.name, answerer.address, find_standing(answerer) is ModelTrial.WEAK, *_ways_of_judging()]
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
            rest += [self.room, *self.cut_off, ledger_version(), criteria.figure_rule]
        else:
            rest += [self.room, *self.cut_off, ledger_version(), criteria.figure_rule, self.company.name, criteria.runs]
            rest += [criteria.isolate != "off" and isolates(criteria.isolate, criterion)]
            rest += judging
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()

    @cached_property
    def cut_off(self) -> Sequence[int]:
        """The texts whose figures were not looked for."""
        with database.reading() as session:
            return [*cut_off_ledgers(session, (row.text_id for row in self.documents if row.text_id is not None))]

    @cached_property
    def room(self) -> str:
        """A hash in hex that stays the same while the same documents have the same content."""
        listed = [
            [document.document_id, document.path, document.name, document.url, document.text_id, document.content_hash]
            for document in self.documents
        ]
        return hashlib.sha256(repr(listed).encode(errors="surrogatepass")).hexdigest()


def _ways_of_judging() -> list[object]:
    ai, ranking = AiSettings.current(), EmbeddingSettings.current()
    ways: list[object] = [ai.ai_search_plan, ai.ai_statement_check, ai.ai_window]
    return [*ways, ranking.embeddings, ranking.embeddings_url, privileged_rules(), ai.ai_privileged_model]


class CarriedOver(NamedTuple):
    """A company whose outcomes have all been copied: the run that they come from, and the warnings of its evidence."""

    run: str
    evidence_warnings: Sequence[str]


def carry_over(company_id: int, inputs: Inputs, hashes: Mapping[str, str]) -> CarriedOver | None:
    """Copy the company's last outcomes whose inputs are the same; None unless these are all of its outcomes.

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
            for outcome in keep_unchanged(scores.company_outcomes(session, company_id), hashes)
            if outcome.weight == weights[outcome.criterion_id]
        }
        of_earlier = {
            outcome.criterion_id for outcome in keep_unchanged(scores.company_outcomes(session, earlier.id), hashes)
        }
    ready = of_earlier - stored
    if ready:
        with database.writing() as session:
            scores.carry_outcomes(session, {earlier.id: company_id}, place_criteria(inputs.criteria, ready))
    if len(of_earlier) < len(hashes):  # what an interrupted run scored itself is not of the run before
        return None
    return CarriedOver(first_run(earlier), earlier.evidence_warnings)


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


def first_run(company: RunCompany) -> str:
    """The run that found a company's outcomes."""
    return company.carried_from or company.run_id
