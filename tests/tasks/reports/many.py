"""Reports of any size, made without a database: 1, 30 or 300 companies, and the worst that one can be."""

from datetime import UTC, datetime
from typing import Any

from storage.runs import CompanyStatus, RunStatus
from storage.scores import ScoreStatus
from tasks.companies.claims import Claim, ClaimConflict
from tasks.reports.changes import Change
from tasks.reports.models import (
    CompanyReport,
    Cost,
    CriterionReport,
    CriterionSummary,
    DocumentReport,
    NearestDocument,
    Report,
    ReportedContradiction,
    ReportedQuote,
    RunSummary,
    StandingReport,
)

BEGAN = datetime(2025, 11, 20, 21, 4, 30, tzinfo=UTC)
SCALE = (0.0, 5.0)
_STATUSES = [ScoreStatus.SCORED] * 6 + [ScoreStatus.MISSING, ScoreStatus.SCORED, ScoreStatus.UNSUPPORTED]
_REASON = (
    "The audited accounts and the board minutes agree that this holds for the year; the customer list of December says "
    "otherwise for the largest contract, which weighs on the score [1]. It was signed in 2022 and runs for three years."
)


def report_of(companies: int, criteria: int = 16, *, text: str = "", judged: bool = True) -> Report:
    """A report of so many companies and criteria. `text` stands in every place where a user's or document's words can.

    Without `judged` no model was there: passages, and no score for what needs a judgement.
    """
    summaries = [
        CriterionSummary(
            id=f"criterion_{number}",
            kind="judged" if number % 4 else "document",
            weight=float(1 + number % 3),
            label=f"How well does the company do in respect {number}? {text}",
            guide=f"5: very well; 0: not at all. {text}",
            title=f"Respect {number} {text}".strip(),
            severity=(None, "high", "medium", "low")[number % 4],
            recommend=f"Ask for the contracts behind respect {number} and have counsel read them. {text}",
        )
        for number in range(1, criteria + 1)
    ]
    run = RunSummary(
        id="20251120-210430-abcd",
        name=f"Autumn screen {text}".strip(),
        started_at=BEGAN,
        finished_at=BEGAN,
        status=RunStatus.FINISHED,
        cost=Cost(calls=210, input_tokens=1_000_000, output_tokens=40_000, usd=3.1),
        budget=None,
        answerer="a model" if judged else "extractive",
        scale=SCALE,
        criteria=summaries,
        previous=None,
        sensitivity=None,
    )
    return Report(run=run, companies=[_company(run, number, text, judged) for number in range(companies)])


def _company(run: RunSummary, number: int, text: str, judged: bool) -> CompanyReport:
    criteria = [_criterion(summary, number, at, text, judged) for at, summary in enumerate(run.criteria)]
    scored = [criterion for criterion in criteria if criterion.status is ScoreStatus.SCORED]
    weight, whole = (sum(criterion.weight for criterion in some) for some in (scored, criteria))
    earned = sum(criterion.weight * (criterion.score or 0) / SCALE[1] for criterion in scored)
    return CompanyReport(
        name=f"Company {number + 1} {text}".strip(),
        domain=f"company-{number + 1}.example",
        folder_id="root",
        total=earned / weight if weight else None,
        coverage=weight / whole,
        standing=StandingReport(
            proven=earned / whole,
            low=earned / whole,
            high=(earned + whole - weight) / whole,
            ranked=2 * weight >= whole,
            why_not=None if 2 * weight >= whole else "Not ranked: too little is scored.",
            gates_failed=[],
        ),
        rank=number + 1 if 2 * weight >= whole else None,
        criteria=criteria,
        missing=[criterion.missing for criterion in criteria if criterion.missing],
        conflicts=[_conflict(text) for _ in range(12 if text else 1)],
        documents=[
            DocumentReport(
                document_id=f"d{at}",
                document_name=f"{at} {text or 'accounts'}.pdf",
                status="failed" if at % 5 == 1 else "read",
                characters=1200,
                warning=f"The file is damaged. {text}" if at % 5 == 1 else None,
                path="Finance",
                document_url=f"http://127.0.0.1:8000/documents/d{at}",
            )
            for at in range(60 if text else 15)
        ],
        changes=[
            Change(kind="score_moved", text=f"Respect {at} went from 3 to 4. {text}", why=f"Quotes changed. {text}")
            for at in range(30 if text else 3)
        ],
        status=CompanyStatus.FINISHED,
        problem=None,
        warnings=[f"Words in a document are meant for a model. {text}"] * (20 if text else 1),
        compared_with="earlier",
    )


def _criterion(summary: CriterionSummary, company: int, at: int, text: str, judged: bool) -> CriterionReport:
    status = _STATUSES[(at + company) % len(_STATUSES)]
    if not judged and summary.kind == "judged":
        status = ScoreStatus.UNSCORED
    score = float((at * 7 + company) % 6) if status in (ScoreStatus.SCORED, ScoreStatus.UNSUPPORTED) else None
    missing = status is ScoreStatus.MISSING
    place: dict[str, Any] = {
        "document_id": f"d{at}",
        "document_name": f"{text or 'Annual report 2024 - audited financial statements'}.pdf",
        "document_url": f"http://127.0.0.1:8000/documents/d{at}",
        "place": f"page {at + 1}",
        "evidence_url": f"evidence/{at:024x}.html#c1-{at + 2}",
    }
    words = f"Subscriptions made up {at} % of revenue in the year, and maintenance the rest of it. {text}"
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=score,
        status=status,
        reason="No model is configured." if status is ScoreStatus.UNSCORED else f"{_REASON} {text}",
        quotes=[]
        if missing
        else [
            ReportedQuote(
                text=f"{side}: {words}",
                verified=status is not ScoreStatus.UNSUPPORTED,
                stance=None if status is ScoreStatus.UNSCORED else ("for", "against")[number],
                **place,
            )
            for number, side in enumerate(("One", "Other"))
        ],
        missing=f"The document on respect {at + 1}. {text}" if missing else None,
        nearest=[NearestDocument(document_id="d", document_name="x.pdf", document_url="", why="by name")]
        if missing
        else [],
        contradictions=[
            ReportedContradiction.model_validate(
                {"about": f"revenue {text}", "quotes": [{"text": f"{side} {words}", **place} for side in ("A", "B")]}
            )
        ]
        if at % 6 == 0
        else [],
    )


def _conflict(text: str) -> ClaimConflict:
    claims = [
        Claim(field="extra.operating_status", value=f"{value} {text}".strip(), source=source, retrieved_at=BEGAN)
        for value, source in (("Active", "files"), ("Dissolved", "register"))
    ]
    return ClaimConflict(field="extra.operating_status", claims=claims)
