"""A report that has something of everything, with any text wherever a document's or a user's words can stand."""

from storage.documents import DocumentStatus
from storage.runs import CompanyStatus, RunStatus
from storage.scores import ScoreStatus
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.tasks.reports.rows import claim, company, document, outcome, quote, write_company, write_run

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'{{ 7*7 }}"


def report_with_everything(text: str = "Words of a document.") -> Report:
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", outcomes=[(outcome("recurring", 3, ScoreStatus.SCORED), [])])
    write_run(
        "r2",
        [
            company("Alpha", total=0.75, coverage=0.5, rank=1, warnings=[f"warned: {text}"]),
            company(f"Beta {text}", 1, domain="beta.example", status=CompanyStatus.FAILED, problem=f"failed: {text}"),
        ],
        days=7,
        status=RunStatus.FAILED,
        batch="Autumn screen",
        answerer=f"a model {text}",
        budget="0.50 USD",
    )
    place = {"document_id": "d", "document_url": "javascript:alert(5)", "place": "page 2"}
    two = [place | {"document_name": f"{side} {text}", "text": f"{side} says: {text}"} for side in ("one", "other")]
    contradictions = [{"about": f"about: {text}", "quotes": two}]
    nearest = [{key: value for key, value in two[0].items() if key not in {"text", "place"}} | {"why": f"near: {text}"}]
    quotes = [
        quote(f"proven: {text}", document_name=f"{text}.pdf", stance="for"),
        quote(f"unproven: {text}", verified=False, document_url="javascript:alert(3)"),
        quote("third"),
    ]
    write_company(
        "r2",
        "alpha.example",
        documents=[
            document("fine"),
            document("scan", status=DocumentStatus.EMPTY, characters=0, warning=f"no text: {text}"),
            document("bad", None, status=DocumentStatus.FAILED, url="javascript:alert(4)", name=f"bad {text}"),
        ],
        outcomes=[
            (
                outcome("recurring", 4, ScoreStatus.SCORED, reason=f"because: {text}", contradictions=contradictions),
                quotes,
            ),
            (outcome("established", 2, ScoreStatus.UNSUPPORTED), []),
            (outcome("audited", None, ScoreStatus.MISSING, missing=f"please send: {text}", nearest=nearest), []),
        ],
        claims=[claim("founded_year", 2014, "files"), claim("founded_year", 2016, f"other {text}")],
    )
    return build("r2")
