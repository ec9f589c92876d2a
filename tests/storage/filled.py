"""Databases with something in every table, and what of it can be read again."""

from typing import Any

from sqlalchemy import select
from sqlmodel import Session, SQLModel

from storage import database, documents, logins, model_calls, runs, scores, texts
from storage.columns import now, row_values
from storage.documents import DocumentStatus, RoomFolder, RunDocument
from storage.logins import AuditedCall, StoredLogin, Whose
from storage.model_calls import SourceBudget, add_call
from storage.runs import RequestKind, RunRequest, RunStatus, WebhookDelivery
from storage.scores import (
    CriterionOutcome,
    Decision,
    DecisionKind,
    Quote,
    ScoreStatus,
    SourceAnswer,
    StoredClaim,
    StoredProfile,
    save_answer,
    save_profile,
)
from storage.texts import NewLedger, Passage, StoredLedger, StoredPage
from tests.storage import rows

REFRESH_TOKEN = "1//refresh"


def fill() -> None:
    """Write a row at least into every table, as the program does."""
    add_finished("r1")
    with database.writing() as session:
        add_call(session, "r1", "key", "request")
        login = StoredLogin(
            whose=Whose.WEB, account_id="7", client_id="c", refresh_token=logins.seal(REFRESH_TOKEN, "refresh")
        )
        logins.start_session(session, "cookie", login)
        logins.spend_state(session, "state")
        logins.add_key(session, "reporting", ["ai"])
        logins.add_audited_call(session, AuditedCall(key="reporting", operation="ask", status=200))
        model_calls.save_answer(
            session, model_calls.StoredAnswer(key="k", model="m", answer={"umsätze": [1, None, "🙂"]})
        )
        answer = SourceAnswer(source="sec", origin="https://sec.example", domain="a.example", retrieved_at=now())
        save_answer(session, answer)
        session.add(SourceBudget(server="sec", next_at=1.5))
        logins.add_user(session, "ada", logins.Role.ADMIN, None)  # to hash a password takes 0.2 s
        session.flush()
        ada = logins.find_user(session, "ada")
        assert ada is not None
        assert ada.id is not None
        logins.start_user_session(session, "secret", ada.id)
        scores.add_decision(
            session, Decision(batch="b", domain="a.example", kind=DecisionKind.FLAG, by="ada", run_id="r1")
        )
        runs.add_request(session, RunRequest(kind=RequestKind.STOP, by="ada", run_id="r1"))
        runs.save_definition(session, {"name": "b"})
        page = StoredPage(content_hash="c1", page="1", engine="tesseract", seconds=60, packed="{}")
        texts.save_page(session, page)
        delivery = WebhookDelivery(message="msg_1", event="run.finished", url="https://hook.example", body="{}")
        runs.add_delivery(session, delivery)


def add_finished(run_id: str, *, document: str = "d1", content: str = "c1", text: str = "", **given: Any) -> None:
    """A run that came to its report: one company with a document, its text, a score and a quote."""
    with database.writing() as session:
        folder = RoomFolder(room_id=0, folder_id="f", name="f", path="f")
        listed = row_values(rows.document(document))
        listed.pop("room_id")
        room = documents.replace_room(session, rows.room(), [folder], [listed])
        saved = texts.save_text(session, rows.text(content, text=text or "Revenue grew."))
        documents.save_contents(session, "local:1", {document: ("1", content)})
        texts.save_passages(
            session, "cut-1", {saved.id: [Passage(text_id=saved.id, ordinal=0, start=0, end=7, place="p")]}
        )
        model_calls.save_vectors(
            session, [model_calls.TextVector(text_id=saved.id, model="m", start=0, end=7, vector=b"\0\1" * 50)]
        )
        assert saved.id is not None
        texts.save_signs(session, {saved.id: texts.NewSigns("1", {"kind": "lease"}, b"\0\1")})
        texts.save_span_pages(session, [texts.SpanPages(text_id=saved.id, start=0, end=7, pages=[{"page": 1}])])
        ledger = StoredLedger(text_id=saved.id, version="1", basis="reported")
        figure = {
            "concept": "revenue", "label": "Revenue", "value": "1.10", "unit": "EUR", "scale": "1", "step": "0.01",
            "period": "2025", "entity": None, "basis": None, "variant": "", "place": "p", "start": 0, "end": 7,
        }  # fmt: skip
        texts.save_ledgers(session, [NewLedger(ledger, [figure])])
        claim = StoredClaim(
            profile_id=0, ordinal=0, field="hq.city", value=None, source="sec", retrieved_at=rows.MORNING
        )
        profile = save_profile(
            session, StoredProfile(domain="a.example", retrieved_at=now(), profile={"name": "A"}), [claim]
        )
        values = {"status": RunStatus.FINISHED, "finished_at": now(), "reported_at": now()}
        company = rows.company(run_id, room_id=room, profile_id=profile)
        runs.add_run(session, rows.run(run_id, **values | given), [company])
        session.flush()
        texts.save_cells(session, "1", {saved.id: {"parties": None}})
        company_id = runs.run_companies(session, run_id)[0].id
        assert company_id is not None
        documents.place_documents(
            session,
            company_id,
            [RunDocument(company_id=company_id, document_id=document, name="d.pdf", path="", url="u")],
        )
        read = documents.DocumentOutcome(document, DocumentStatus.READ, content, saved.id)
        documents.save_document_outcomes(session, company_id, [read])
        outcome = CriterionOutcome(
            company_id=company_id, ordinal=0, criterion_id="growth", kind="judged", weight=1.0, score=4.0,
            status=ScoreStatus.SCORED, reason="It grew.", evidence="e",
        )  # fmt: skip
        quote = Quote(outcome_id=0, ordinal=0, text="Revenue", verified=True, text_id=saved.id, start=0, end=7)
        scores.save_outcomes(session, outcome.company_id, [(row_values(outcome), [row_values(quote)])])


def contents() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, by the table's name."""
    with database.reading() as session:
        return rows_of(session)


def rows_of(session: Session) -> dict[str, list[dict[str, Any]]]:
    return {
        table.name: sorted((dict(row) for row in session.connection().execute(select(table)).mappings()), key=str)
        for table in SQLModel.metadata.sorted_tables
    }


def run_ids() -> list[str]:
    """The runs, oldest first."""
    with database.reading() as session:
        return [run.id for run in reversed(runs.newest_runs(session, 1000))]
