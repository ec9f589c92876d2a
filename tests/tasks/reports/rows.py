"""Runs written to a real SQLite through storage, as a batch writes them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from storage.columns import row_values
from storage.database import writing
from storage.documents import DocumentOutcome, DocumentStatus, RunDocument, place_documents, save_document_outcomes
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus, add_run, run_companies
from storage.scores import CriterionOutcome, Quote, ScoreStatus, StoredClaim, StoredProfile, save_outcomes, save_profile

BEGAN = datetime(2025, 11, 20, 21, 4, 30, tzinfo=UTC)

CRITERIA: dict[str, Any] = {
    "scale": [0, 5],
    "criteria": [
        {
            "id": "recurring",
            "kind": "judged",
            "weight": 3,
            "ask": "Is most of the revenue recurring?",
            "guide": "5: all",
        },
        {"id": "established", "kind": "fact", "weight": 1, "fact": "founded_year", "rule": "<= 2018"},
        {"id": "audited", "kind": "document", "weight": 2, "document": "audited financial statements"},
    ],
}


def company(name: str, ordinal: int = 0, **fields: Any) -> RunCompany:
    domain = fields.pop("domain", f"{name.lower()}.example")
    defaults: dict[str, Any] = {
        "folder": f"rooms/{name}",
        "folder_id": f"folder-{name}",
        "status": CompanyStatus.FINISHED,
    }
    return RunCompany(ordinal=ordinal, name=name, domain=domain, **defaults | fields)


def document(document_id: str, content_hash: str | None = "h1", **fields: Any) -> RunDocument:
    defaults: dict[str, Any] = {
        "name": f"{document_id}.pdf",
        "path": "Finance",
        "url": f"http://127.0.0.1:8000/documents/{document_id}",
        "status": DocumentStatus.READ,
        "characters": 1200,
    }
    return RunDocument(company_id=0, document_id=document_id, content_hash=content_hash, **defaults | fields)


def outcome(criterion_id: str, score: float | None, status: ScoreStatus, **fields: Any) -> CriterionOutcome:
    asked = next(criterion for criterion in CRITERIA["criteria"] if criterion["id"] == criterion_id)
    defaults: dict[str, Any] = {
        "ordinal": CRITERIA["criteria"].index(asked),
        "kind": asked["kind"],
        "weight": asked["weight"],
        "reason": f"The reason for {criterion_id}.",
        "evidence": "e",
    }
    return CriterionOutcome(company_id=0, criterion_id=criterion_id, score=score, status=status, **defaults | fields)


def quote(text: str = "Subscriptions made up 91 % of revenue.", **fields: Any) -> Quote:
    defaults: dict[str, Any] = {
        "verified": True,
        "document_id": "accounts",
        "document_name": "accounts.pdf",
        "document_url": "http://127.0.0.1:8000/documents/accounts",
        "place": "page 14",
    }
    return Quote(outcome_id=0, ordinal=0, text=text, **defaults | fields)


def claim(field: str, value: Any, source: str) -> StoredClaim:
    return StoredClaim(profile_id=0, ordinal=0, field=field, value=value, source=source, retrieved_at=BEGAN)


def write_company(
    run_id: str,
    domain: str,
    *,
    documents: Sequence[RunDocument] = (),
    outcomes: Sequence[tuple[CriterionOutcome, Sequence[Quote]]] = (),
    claims: Sequence[StoredClaim] = (),
    profile_warnings: Sequence[str] = (),
) -> None:
    """Write down what a run found out of one of its companies."""
    with writing() as session:
        row = next(row for row in run_companies(session, run_id) if row.domain == domain)
        assert row.id is not None
        for found in documents:
            found.company_id = row.id
        place_documents(session, row.id, documents)
        read = [
            DocumentOutcome(
                found.document_id,
                DocumentStatus(found.status),
                found.content_hash,
                found.text_id,
                found.characters,
                found.warning,
            )
            for found in documents
        ]
        save_document_outcomes(session, row.id, read)
        for scored, quotes in outcomes:
            scored.company_id = row.id
            save_outcomes(session, scored.company_id, [(row_values(scored), list(map(row_values, quotes)))])
        if claims:
            profile = StoredProfile(
                domain=domain, retrieved_at=BEGAN, profile={}, sources=["files"], warnings=list(profile_warnings)
            )
            row.profile_id = save_profile(session, profile, claims)
            session.add(row)


def write_run(run_id: str, companies: Sequence[RunCompany], *, days: int = 0, **fields: Any) -> str:
    """Write a run that began `days` after the first; gives its id."""
    defaults: dict[str, Any] = {
        "batch": "Autumn screen",
        "fingerprint": "f",
        "status": RunStatus.FINISHED,
        "started_at": BEGAN + timedelta(days=days),
        "finished_at": BEGAN + timedelta(days=days, minutes=17),
        "reported_at": BEGAN + timedelta(days=days, minutes=17),
        "answerer": "extractive",
        "criteria": CRITERIA,
    }
    with writing() as session:
        for each in companies:
            each.run_id = run_id
        add_run(session, Run(id=run_id, **defaults | fields), companies)
    return run_id
