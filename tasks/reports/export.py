"""A run's report as tables for analysis: typed, with keys that join them and units in column names.

Every table has `run_id` and `company_domain`; `criterion_id` and `document_id` join the others. `number` counts the
rows of one company (for quotes, of one criterion) from 1. Amounts of figures are in the unit of their row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_args

from pydantic import BaseModel

from tasks.companies.claims import Claim
from tasks.reports.models import (
    CompanyReport,
    CriterionReport,
    DocumentReport,
    ReportedDecision,
    ReportedFigure,
    ReportedQuote,
    ReportedRequest,
)

Row = Mapping[str, Any]
Rows = Iterator[Row]
_TYPES: Final = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", datetime: "TIMESTAMP WITH TIME ZONE"}
"""Types of columns, as SQL calls them, by those of the report's fields; text for all others."""
_TEXT: Final = "VARCHAR"


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table: its columns with their types and source fields, and its rows for a company."""

    columns: Mapping[str, str]
    fields: Mapping[str, str]
    of_company: Callable[[Row], Rows]

    def rows(self, report: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Its rows for a report in the form of `report --format json`, in the order of the columns."""
        for company in report["companies"]:
            of_all: Row = {"run_id": report["run"]["id"], "company_domain": company["domain"]}
            for row in self.of_company(company):
                yield tuple({**row, **of_all}.get(field) for field in self.fields.values())


def _export_table(
    of_company: Callable[[Row], Rows], model: type[BaseModel], columns: str, **others: type
) -> ExportTable:
    """A table with these columns, `column=field` if a field has another name; `others` are those without a field."""
    fields = {column.partition("=")[0]: column.rpartition("=")[2] for column in columns.split()}
    types = {name: field.annotation for name, field in model.model_fields.items()} | others
    known = {column: _find_type(types.get(field)) for column, field in fields.items()}
    keys = ("run_id", "company_domain")
    return ExportTable(dict.fromkeys(keys, _TEXT) | known, {key: key for key in keys} | fields, of_company)


def _find_type(annotation: Any) -> str:
    candidates = get_args(annotation) or (annotation,)
    return next((_TYPES[one] for one in candidates if isinstance(one, type) and one in _TYPES), _TEXT)


def _companies(company: Row) -> Rows:
    standing = company["standing"]
    yield {**standing, **company, "gates_failed": ", ".join(standing["gates_failed"]) or None}


def _quotes(company: Row) -> Rows:
    for criterion in company["criteria"]:
        for number, one in enumerate(criterion["quotes"], 1):
            yield {**one, "criterion_id": criterion["id"], "number": number}


def _figures(company: Row) -> Rows:
    for number, one in enumerate(company["figures"], 1):
        start, _, end = one["period"].rpartition("/")
        yield {**one, "number": number, "amount": float(one["value"]), "period_start": start or None, "period_end": end}


def _requests(company: Row) -> Rows:
    for position, one in enumerate(company.get("requests") or (), 1):
        nothing: Row = {}
        for document in one["documents"] or (nothing,):
            yield {**one, **document, "position": position}


def _decisions(company: Row) -> Rows:
    """What people decided on the company, its criteria, and the cells of its tables."""
    on_cells = [
        {**one, "document_id": row["document_id"]}
        for table in company.get("tables") or ()
        for row in table["rows"]
        for cell in row["cells"].values()
        for one in cell.get("decisions") or ()
    ]
    return _number([*(company.get("decisions") or ()), *on_cells])


def _numbered(name: str) -> Callable[[Row], Rows]:
    """The rows of a company's list of that name."""
    return lambda company: _number(company.get(name) or ())


def _number(rows: Iterable[Row]) -> Rows:
    """Rows with their numbers, and their values as text."""
    for number, one in enumerate(rows, 1):
        value = one.get("value")
        yield {**one, "number": number, "value_text": None if value is None else str(value)}


TABLES: Final[Mapping[str, ExportTable]] = {
    "companies": _export_table(
        _companies,
        CompanyReport,
        "company_name=name status rank is_ranked=ranked proven_share=proven lowest_share=low highest_share=high "
        "scored_total_share=total coverage_share=coverage why_not_ranked=why_not gates_failed",
        ranked=bool,
        proven=float,
        low=float,
        high=float,
    ),
    "criteria": _export_table(
        _numbered("criteria"),
        CriterionReport,
        "criterion_id=id title kind severity weight_points=weight score_points=score status absence reason must",
    ),
    "quotes": _export_table(
        _quotes,
        ReportedQuote,
        "criterion_id number text verified stance document_id document_name document_url place evidence_url",
        number=int,
    ),
    "figures": _export_table(
        _figures,
        ReportedFigure,
        "number concept label value=amount value_text=value unit period_start period_end entity basis document_id "
        "document_name place",
        number=int,
        amount=float,
    ),
    "claims": _export_table(
        _numbered("facts"), Claim, "number field value_text source url retrieved_at as_of", number=int, as_of=datetime
    ),
    "documents": _export_table(
        _numbered("documents"),
        DocumentReport,
        "document_id document_name document_url path status characters_count=characters pages_count=pages "
        "pages_read_count=pages_read kind state date family warning",
    ),
    "requests": _export_table(
        _requests,
        ReportedRequest,
        "position request_number=number item status document_id document_name",
        position=int,
    ),
    "decisions": _export_table(
        _decisions,
        ReportedDecision,
        "number document_id criterion_id kind by at value_text reason is_open",
        number=int,
    ),
}
"""The tables by name."""
