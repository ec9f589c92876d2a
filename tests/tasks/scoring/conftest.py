"""A run with one company whose data room holds stored texts, as reading them leaves it."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from storage.columns import now
from storage.database import reading, writing
from storage.documents import DocumentOutcome, DocumentStatus, RunDocument, place_documents, save_document_outcomes
from storage.runs import Run, RunCompany, add_run, get_company, get_run, run_companies
from storage.scores import (
    CriterionOutcome,
    Quote,
    StoredClaim,
    StoredProfile,
    company_outcomes,
    outcome_quotes,
    save_profile,
)
from storage.texts import Outcome, StoredText, save_text
from tasks.ai.answerer import Answerer
from tasks.ai.registry import current_answerer
from tasks.scoring.criteria import read_criteria
from tasks.scoring.evidence import Evidence
from tasks.scoring.judge import Question
from tasks.scoring.results import CriterionResult
from tasks.spending.budget import Ledger

Places = Sequence[tuple[int, int, str, str]]


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """Every test of this room has a database of its own, and no settings."""


class Room:
    """A company of a run and its data room."""

    def __init__(self, folder: Path, run_id: str = "run-1") -> None:
        self._folder = folder
        self._run_id = run_id
        self._documents: dict[str, RunDocument] = {}
        with writing() as session:
            run = Run(id=run_id, batch="Screen", fingerprint="f", answerer="extractive", criteria={})
            add_run(
                session,
                run,
                [RunCompany(run_id=run_id, ordinal=0, name="Alpha", domain="alpha.example", folder="rooms/alpha")],
            )
        with reading() as session:
            self.id = run_companies(session, run_id)[0].id or 0

    def asks(self, *criteria: dict[str, Any], scale: Sequence[float] = (0, 5), runs: int = 1, **more: Any) -> None:
        """The run's criteria, as a user writes them (JSON is YAML too)."""
        path = self._folder / "criteria.yaml"
        path.write_text(
            json.dumps({"scale": list(scale), "runs": runs, "criteria": criteria, **more}), encoding="utf-8"
        )
        with writing() as session:
            get_run(session, self._run_id).criteria = read_criteria(path).as_json()

    def holds(self, name: str, text: str = "", places: Places = (), path: str = "") -> None:
        """Put a document into the room; without a text it is one that could not be read."""
        self.holds_all({name: text}, places, path)

    def holds_all(self, documents: Mapping[str, str], places: Places = (), path: str = "") -> None:
        """Put documents into the room, whose texts are given by their names."""
        outcomes = []
        with writing() as session:
            for name, text in documents.items():
                document_id, content_hash, text_id = f"{path}/{name}", f"{name} {text}", None
                if text:
                    stored = StoredText(
                        content_hash=content_hash,
                        reader="test-1",
                        outcome=Outcome.READ,
                        text=text,
                        places=list(places),
                        characters=len(text),
                    )
                    text_id = save_text(session, stored).id
                self._documents[document_id] = RunDocument(
                    company_id=self.id, document_id=document_id, name=name, path=path, url=f"http://x/{name}"
                )
                status = DocumentStatus.READ if text else DocumentStatus.FAILED
                outcomes.append(DocumentOutcome(document_id, status, content_hash, text_id, characters=len(text)))
            place_documents(session, self.id, self._documents.values())
            save_document_outcomes(session, self.id, outcomes)

    def is_known_as(self, *claims: tuple[str, Any, str], **profile: Any) -> None:
        """The company's profile; claims are (field, value, source)."""
        stored = StoredProfile(domain="alpha.example", retrieved_at=now(), profile=profile, sources=["files"])
        listed = [
            StoredClaim(
                profile_id=0,
                ordinal=0,
                field=field,
                value=value,
                source=source,
                retrieved_at=now(),
                as_of="2025-03-31T00:00:00Z",
            )
            for field, value, source in claims
        ]
        with writing() as session:
            company = get_company(session, self.id)
            company.profile_id = save_profile(session, stored, listed)

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.id)

    @property
    def company(self) -> RunCompany:
        with reading() as session:
            return get_company(session, self.id)

    @property
    def run(self) -> Run:
        with reading() as session:
            return get_run(session, self._run_id)

    @property
    def outcomes(self) -> dict[str, CriterionOutcome]:
        with reading() as session:
            return {outcome.criterion_id: outcome for outcome in company_outcomes(session, self.id)}

    def quotes(self, criterion_id: str) -> list[Quote]:
        with reading() as session:
            return outcome_quotes(session, self.id).get(self.outcomes[criterion_id].id or 0, [])


def judged(
    question: Question, evidence: Evidence, ledger: Ledger | None = None, answerer: Answerer | None = None
) -> CriterionResult:
    """What a question comes to, each call made as soon as it is asked for."""
    steps, answer = question.judge(answerer or current_answerer(), ledger, evidence), None
    while True:
        try:
            answer = steps.send(answer)()
        except StopIteration as end:
            result: CriterionResult = end.value
            return result


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[[str], Room]:
    """Another run on the same database."""
    return lambda run_id: Room(tmp_path, run_id)
