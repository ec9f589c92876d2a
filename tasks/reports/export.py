"""A run's report as tables for analysis: typed, with keys that join them and units in the names of columns.

Every table has `run_id` and `company_domain`; `criterion_id` and `document_id` join the others. `number` counts the
rows of one company (quotes: of one criterion) from 1. Amounts of figures are in the unit of their row.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Row = Mapping[str, Any]
Rows = Iterator[Row]
TEXT, NUMBER, COUNT, TRUTH, TIME = "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"
"""Types of columns, as SQL calls them."""

_OF_ALL: Final = {"run_id": TEXT, "company_domain": TEXT}


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table: its columns with their types, and what makes its rows of a company of a report."""

    columns: Mapping[str, str]
    of_company: Callable[[Mapping[str, Any]], Rows]

    def rows(self, report: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Its rows of a report, as `report --format json` gives it, in the order of the columns."""
        for company in report["companies"]:
            of_all: Row = {"run_id": report["run"]["id"], "company_domain": company["domain"]}
            for row in self.of_company(company):
                yield tuple({**of_all, **row}.get(name) for name in self.columns)


def _companies(company: Mapping[str, Any]) -> Rows:
    standing = company["standing"]
    yield {
        "company_name": company["name"],
        "status": company["status"],
        "rank": company["rank"],
        "is_ranked": standing["ranked"],
        "proven_share": standing["proven"],
        "lowest_share": standing["low"],
        "highest_share": standing["high"],
        "scored_total_share": company["total"],
        "coverage_share": company["coverage"],
        "why_not_ranked": standing["why_not"],
        "gates_failed": ", ".join(standing["gates_failed"]) or None,
    }


def _criteria(company: Mapping[str, Any]) -> Rows:
    for one in company["criteria"]:
        yield {
            **{name: one[name] for name in ("title", "kind", "severity", "status", "reason", "absence")},
            "criterion_id": one["id"],
            "weight_points": one["weight"],
            "score_points": one["score"],
            "must": one["must"],
        }


def _quotes(company: Mapping[str, Any]) -> Rows:
    for criterion in company["criteria"]:
        for number, one in enumerate(criterion["quotes"], 1):
            yield {
                **{name: one[name] for name in ("text", "verified", "stance", "document_id", "document_name")},
                **{name: one[name] for name in ("document_url", "place", "evidence_url")},
                "criterion_id": criterion["id"],
                "number": number,
            }


def _figures(company: Mapping[str, Any]) -> Rows:
    for number, one in enumerate(company["figures"], 1):
        start, _, end = one["period"].rpartition("/")
        yield {
            **{name: one[name] for name in ("concept", "label", "unit", "entity", "basis")},
            **{name: one[name] for name in ("document_id", "document_name", "place")},
            "number": number,
            "value": float(one["value"]),
            "value_text": one["value"],
            "period_start": start or None,
            "period_end": end,
        }


def _claims(company: Mapping[str, Any]) -> Rows:
    for number, one in enumerate(company["facts"], 1):
        yield {
            **{name: one[name] for name in ("field", "source", "url", "retrieved_at", "as_of")},
            "number": number,
            "value_text": str(one["value"]),
        }


def _documents(company: Mapping[str, Any]) -> Rows:
    for one in company["documents"]:
        yield {
            **{name: one[name] for name in ("document_id", "document_name", "document_url", "path", "status")},
            **{name: one[name] for name in ("kind", "state", "date", "family", "warning")},
            "characters_count": one["characters"],
            "pages_count": one["pages"],
            "pages_read_count": one["pages_read"],
        }


def _requests(company: Mapping[str, Any]) -> Rows:
    for position, one in enumerate(company.get("requests") or (), 1):
        nothing: Row = {}
        for document in one["documents"] or (nothing,):
            yield {
                "position": position,
                "request_number": one["number"],
                **{name: one[name] for name in ("item", "status")},
                **{name: document.get(name) for name in ("document_id", "document_name")},
            }


def _decisions(company: Mapping[str, Any]) -> Rows:
    for number, one in enumerate(company.get("decisions") or (), 1):
        yield {
            **{name: one[name] for name in ("criterion_id", "kind", "by", "at", "reason", "is_open")},
            "number": number,
            "value_text": None if one["value"] is None else str(one["value"]),
        }


def _export_table(of_company: Callable[[Mapping[str, Any]], Rows], **columns: str) -> ExportTable:
    return ExportTable({**_OF_ALL, **columns}, of_company)


TABLES: Final[Mapping[str, ExportTable]] = {
    "companies": _export_table(
        _companies,
        company_name=TEXT,
        status=TEXT,
        rank=COUNT,
        is_ranked=TRUTH,
        proven_share=NUMBER,
        lowest_share=NUMBER,
        highest_share=NUMBER,
        scored_total_share=NUMBER,
        coverage_share=NUMBER,
        why_not_ranked=TEXT,
        gates_failed=TEXT,
    ),
    "criteria": _export_table(
        _criteria,
        criterion_id=TEXT,
        title=TEXT,
        kind=TEXT,
        severity=TEXT,
        weight_points=NUMBER,
        score_points=NUMBER,
        status=TEXT,
        absence=TEXT,
        reason=TEXT,
        must=TRUTH,
    ),
    "quotes": _export_table(
        _quotes,
        criterion_id=TEXT,
        number=COUNT,
        text=TEXT,
        verified=TRUTH,
        stance=TEXT,
        document_id=TEXT,
        document_name=TEXT,
        document_url=TEXT,
        place=TEXT,
        evidence_url=TEXT,
    ),
    "figures": _export_table(
        _figures,
        number=COUNT,
        concept=TEXT,
        label=TEXT,
        value=NUMBER,
        value_text=TEXT,
        unit=TEXT,
        period_start=TEXT,
        period_end=TEXT,
        entity=TEXT,
        basis=TEXT,
        document_id=TEXT,
        document_name=TEXT,
        place=TEXT,
    ),
    "claims": _export_table(
        _claims,
        number=COUNT,
        field=TEXT,
        value_text=TEXT,
        source=TEXT,
        url=TEXT,
        retrieved_at=TIME,
        as_of=TIME,
    ),
    "documents": _export_table(
        _documents,
        document_id=TEXT,
        document_name=TEXT,
        document_url=TEXT,
        path=TEXT,
        status=TEXT,
        characters_count=COUNT,
        pages_count=COUNT,
        pages_read_count=COUNT,
        kind=TEXT,
        state=TEXT,
        date=TEXT,
        family=TEXT,
        warning=TEXT,
    ),
    "requests": _export_table(
        _requests,
        position=COUNT,
        request_number=TEXT,
        item=TEXT,
        status=TEXT,
        document_id=TEXT,
        document_name=TEXT,
    ),
    "decisions": _export_table(
        _decisions,
        number=COUNT,
        criterion_id=TEXT,
        kind=TEXT,
        by=TEXT,
        at=TIME,
        value_text=TEXT,
        reason=TEXT,
        is_open=TRUTH,
    ),
}
"""The tables by name."""
