"""Reports of any size, made in memory: every status, severities, recommendations, passages, facts and documents."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Final

from storage.runs import CompanyStatus, RunStatus
from storage.scores import ScoreStatus
from tasks.companies.claims import Claim, ClaimConflict
from tasks.reports.changes import Change
from tasks.reports.html import HtmlReport
from tasks.reports.models import (
    CompanyReport,
    Cost,
    CriterionReport,
    CriterionSummary,
    DocumentReport,
    PreviousRun,
    Report,
    ReportedContradiction,
    ReportedQuote,
    ReportInParts,
    RunSummary,
    Sensitivity,
    StandingReport,
)
from tasks.reports.report import in_reports_order
from tasks.reports.wording import evidence_url
from tasks.scoring.results import rank
from tests.tasks.reports.rows import BEGAN

_TITLES: Final = (
    "Recurring revenue",
    "Customer retention",
    "Dependence on one customer",
    "Ownership of intellectual property",
    "Litigation",
    "Change of control",
    "Key people",
    "Founded by 2018",
    "Audited accounts",
    "Cap table",
)
_KINDS: Final = ("judged", "judged", "judged", "judged", "judged", "judged", "judged", "fact", "document", "document")
_SEVERITIES: Final = ("high", "medium", "low", None)
_TEXTS: Final = (
    "Subscriptions made up 91 % of revenue in the year to March.",
    "Either party may end the agreement by a notice of six months to the end of a year.",
    "Bridge\nARR bridge 2024\tEUR thousand\nARR 2023\t4,600\nNew\t3,100\nChurn\t-900\nARR 2024\t7,100",
)


def report_of(companies: int, criteria: int, *, judged: bool = True, seed: int = 1) -> Report:
    """A finished run of so many companies and criteria; not `judged`: no model was there."""
    random = Random(seed)
    asked = [
        CriterionSummary.model_validate(
            {
                "id": f"criterion_{n}",
                "kind": _KINDS[n % 10],
                "weight": 1 + n % 3,
                "label": f"What do the documents say about {_TITLES[n % 10].lower()}, question {n + 1}?",
                "title": f"{_TITLES[n % 10]} {n // 10 + 1}" if criteria > 10 else _TITLES[n % 10],
                "severity": _SEVERITIES[n % 4],
                "recommend": "Speak with the largest customer before signing." if n % 3 == 0 else None,
            }
        )
        for n in range(criteria)
    ]
    made = [_company(n, asked, random, judged=judged) for n in range(companies)]
    for company, place in zip(made, rank([company.standing for company in made]), strict=True):
        company.rank = place
    made.sort(key=in_reports_order)
    run = RunSummary(
        id="20251120-210430-0001",
        name="Autumn screen",
        started_at=BEGAN,
        finished_at=BEGAN + timedelta(minutes=17),
        status=RunStatus.FINISHED,
        cost=Cost(calls=criteria * companies, input_tokens=90_000, output_tokens=9_000, usd=1.25),
        budget="2.00 USD",
        answerer="gpt-large" if judged else "extractive",
        scale=(0, 5),
        criteria=asked,
        previous=PreviousRun(id="before", started_at=BEGAN - timedelta(days=7)),
        sensitivity=Sensitivity(draws=1000, varied="multiplied by a factor between a half and twice"),
    )
    return Report(run=run, companies=made)


def _company(n: int, asked: list[CriterionSummary], random: Random, *, judged: bool) -> CompanyReport:
    domain = f"company-{n}.example"
    criteria = [_criterion(summary, domain, random, judged=judged) for summary in asked]
    scored = [criterion for criterion in criteria if criterion.status.counts]
    weight, whole = (sum(criterion.weight for criterion in some) for some in (scored, criteria))
    earned = sum(criterion.weight * (criterion.score or 0) / 5 for criterion in scored)
    claims = [
        Claim(field="founded_year", value=2014, source="files", retrieved_at=BEGAN, as_of="2025-02-20"),
        Claim(field="founded_year", value=2016, source="wikidata", retrieved_at=BEGAN, url="https://www.wikidata.org/"),
    ]
    return CompanyReport(
        name=f"Company {n} Aktiengesellschaft" if n % 5 else f"Company {n}",
        domain=domain,
        folder_id=None,
        total=earned / weight if weight else None,
        coverage=weight / whole,
        standing=StandingReport(
            proven=earned / whole,
            low=earned / whole,
            high=(earned + sum(criterion.weight for criterion in criteria if criterion.open)) / whole,
            ranked=2 * weight >= whole,
            why_not=None if 2 * weight >= whole else "Not ranked: too little is scored.",
            gates_failed=[],
        ),
        rank=None,
        criteria=criteria,
        missing=[criterion.missing for criterion in criteria if criterion.missing],
        conflicts=[ClaimConflict(field="founded_year", claims=claims)] if n % 4 == 0 else [],
        documents=[_document(domain, place) for place in range(12)],
        changes=[Change(kind="score_moved", text="Litigation 1 went from 3 to 4.", why="Board minutes changed.")],
        status=CompanyStatus.FINISHED,
        problem=None,
        warnings=[],
        compared_with="before",
        stability=random.random(),
        facts=claims[:1],
    )


def _criterion(summary: CriterionSummary, domain: str, random: Random, *, judged: bool) -> CriterionReport:
    status = random.choices(list(ScoreStatus), (12, 1, 1, 2, 1, 0))[0]
    if summary.kind == "judged" and not judged:
        status = ScoreStatus.UNSCORED
    quotes = [_quote(domain, random) for _ in range(5 if status is ScoreStatus.UNSCORED else 3)]
    return CriterionReport.model_validate(
        {
            **summary.model_dump(exclude={"guide"}),
            "status": status,
            "score": random.choice((0, 1, 2, 3, 3.5, 4, 5)) if status.counts or status == "unsupported" else None,
            "contested": {"with": 5, "without": 1} if status is ScoreStatus.CONTESTED else None,
            "reason": "No model is configured, so no judgement was made."
            if status is ScoreStatus.UNSCORED
            else "The contracts say so in two places [1], [2].",
            "quotes": quotes if summary.kind == "judged" else quotes[:1],
            "confidence": 0.8,
            "open": not status.counts and status is not ScoreStatus.MISSING,
            "missing": summary.name if status is ScoreStatus.MISSING else None,
            "contradictions": [_contradiction(quotes)] if random.random() < 0.05 else [],
        }
    )


def pages_of(report: Report) -> Iterator[tuple[str, str]]:
    """The pages of a report in a folder, each with its path there."""
    html = HtmlReport(report.run, ReportInParts.of(report).listed)
    for company in report.companies:
        html.add(company)
        if html.are_apart:
            yield html.own_page(company)
    yield "report.html", "".join(html.first_page())


def write_places(folder: Path, report: Report) -> None:
    """The evidence that a made-up report links to: empty pages with the places."""
    (folder / "evidence").mkdir(exist_ok=True)
    for made in report.companies:
        for criterion in made.criteria:
            for url in filter(None, (quote.evidence_url for quote in criterion.quotes)):
                name, _, anchor = url.partition("#")
                with (folder / name).open("a", encoding="utf-8") as page:
                    page.write(f'<p id="{anchor}">')


def _quote(domain: str, random: Random) -> ReportedQuote:
    place, start = f"page {random.randint(1, 90)}", random.randrange(100_000)
    return ReportedQuote(
        text=random.choice(_TEXTS),
        verified=True,
        document_id="d1",
        document_name="Annual report 2024 - audited financial statements.pdf",
        document_url=f"http://127.0.0.1:8000/documents/{domain}",
        place=place,
        stance=random.choice(("for", "against", None)),
        evidence_url=evidence_url(domain, "d1", place, start, start + 80),
    )


def _contradiction(quotes: list[ReportedQuote]) -> ReportedContradiction:
    two = [quote.model_dump(exclude={"verified", "stance"}) for quote in quotes[:2]]
    return ReportedContradiction.model_validate({"about": "the share of recurring revenue", "quotes": two})


def _document(domain: str, place: int) -> DocumentReport:
    return DocumentReport(
        document_id=f"{domain}-{place}",
        document_name=f"Document {place}.pdf",
        status="failed" if place == 3 else "read",
        characters=12_000,
        warning="The file is not a whole PDF: it cannot be opened. Ask for it again." if place == 3 else None,
        path="01 Finance",
        document_url=f"http://127.0.0.1:8000/documents/{domain}-{place}",
    )
