"""What an outcome rests on, as a hash: while it is the same, the criterion need not be scored again.

It holds the criterion, what it is scored by (the documents, the profile, the model, the ledger of figures), and the
program itself: what another version of the program would score in another way is scored again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sqlmodel import Session

from storage import companies, database, run_documents, runs
from storage.companies import StoredClaim, StoredProfile
from storage.figures import cut_off_ledgers
from storage.run_documents import RunDocument
from storage.runs import ModelTrial, RunCompany
from tasks.ai.answerer import Answerer
from tasks.ai.settings import AiSettings
from tasks.code_version import code_version
from tasks.figures.ledger import ledger_version
from tasks.ranking.settings import EmbeddingSettings
from tasks.scoring.criteria import SHOWN_ONLY, Criteria, Criterion, DocumentCheck, FactRule, FigureRule, isolates
from tasks.scoring.model_trial import find_standing

_NOT_SCORED: Final = SHOWN_ONLY | {"weight"}
"""Fields of a criterion that change no outcome."""
_PROGRAM: Final = ("tasks.ai", "tasks.figures", "tasks.ranking", "tasks.scoring", "tasks.statements", "tasks.language")


@dataclass(frozen=True)
class Inputs:
    """All that the outcomes of a run's company rest on but for the criteria themselves."""

    company: RunCompany
    criteria: Criteria
    documents: Sequence[RunDocument]
    profile: StoredProfile | None
    claims: Sequence[StoredClaim]

    @classmethod
    def of(cls, session: Session, company_id: int) -> "Inputs":
        """Those of a company as storage has them now."""
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
        """The hash of each criterion, by its id, in hex."""
        return {criterion.id: self._hash(criterion, answerer) for criterion in self.criteria.criteria}

    def _hash(self, criterion: Criterion, answerer: Answerer) -> str:
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
            rest += [answerer.name, answerer.address, find_standing(answerer) is ModelTrial.WEAK, *_ways_of_judging()]
        return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()

    @cached_property
    def cut_off(self) -> Sequence[int]:
        """The texts whose figures were not looked for."""
        with database.reading() as session:
            return [*cut_off_ledgers(session, (row.text_id for row in self.documents if row.text_id is not None))]

    @cached_property
    def room(self) -> str:
        """The same while the same documents hold the same content, in hex."""
        listed = [
            [document.document_id, document.path, document.name, document.url, document.text_id, document.content_hash]
            for document in self.documents
        ]
        return hashlib.sha256(repr(listed).encode(errors="surrogatepass")).hexdigest()


def _ways_of_judging() -> list[object]:
    ai, ranking = AiSettings.current(), EmbeddingSettings.current()
    return [ai.ai_search_plan, ai.ai_statement_check, ai.ai_window, ranking.embeddings, ranking.embeddings_url]
