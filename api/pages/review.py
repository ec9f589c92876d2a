"""Reviewing a run: its progress, the cells of a company with the decisions on them, and the log of decisions."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from api.auth import check_role
from api.pages.shell import PageRequest, is_partial, read_form, show, to
from api.requests import Calls
from storage.decisions import DecisionKind
from storage.logins import Role
from tasks.errors import BadRequest
from tasks.reports import live_review
from tasks.reports.html import css_name
from tasks.review.decide import Act

_COLUMNS: Final = (
    *("id", "at", "by", "kind", "batch", "domain", "document_id", "criterion_id", "value", "reason", "undoes"),
    *("run_id", "evidence"),
)


@get("/{run:str}/review", include_in_schema=False)
async def review(request: PageRequest, run: FromPath[str], calls: NamedDependency[Calls]) -> Response[Any]:
    run_id, batch, lines = await calls.here(live_review.overview, run)
    return show(request, "review.html", run_id=run_id, batch=batch, lines=lines)


@get("/{run:str}/review/{domain:str}", include_in_schema=False)
async def company(
    request: PageRequest, run: FromPath[str], domain: FromPath[str], calls: NamedDependency[Calls]
) -> Response[Any]:
    reviewed = await calls.apart(live_review.reviewed_company, run, domain)
    return show(request, "review_company.html", reviewed=reviewed, said=None, **_words(reviewed))


@post("/{run:str}/review/{domain:str}", include_in_schema=False, status_code=200)
async def decide(
    request: PageRequest, run: FromPath[str], domain: FromPath[str], calls: NamedDependency[Calls]
) -> Response[Any]:
    """Record a decision on a cell; htmx gets the cell redrawn, a plain form gets the page."""
    by = check_role(request, Role.REVIEWER)
    act = read_act(await read_form(request))
    await calls.here(live_review.write_decision, run, domain, act, by.name)
    reviewed = await calls.apart(live_review.reviewed_company, run, domain)
    if not is_partial(request):
        anchor = f"#cell-{css_name(act.criterion_id)}" if act.criterion_id else ""
        return to(f"/runs/{request.path_params['run']}/review/{domain}{anchor}")
    cells = [cell for cell in reviewed.cells if cell.criterion.id == act.criterion_id]
    shown = {"reviewed": reviewed, "said": SAID[act.kind], **_words(reviewed)}
    if not cells:
        return show(request, "company_decisions.html", **shown)
    return show(request, "cell.html", cell=cells[0], **shown)


@get("/{run:str}/decisions.json", include_in_schema=False)
async def log_as_json(run: FromPath[str], calls: NamedDependency[Calls]) -> Response[Any]:
    log = await calls.here(live_review.exported_log, run)
    return Response(json.dumps(log, ensure_ascii=False, indent=1), media_type=MediaType.JSON)


@get("/{run:str}/decisions.csv", include_in_schema=False)
async def log_as_csv(run: FromPath[str], calls: NamedDependency[Calls]) -> Response[str]:
    """The log as a table. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(_COLUMNS)
    for row in await calls.here(live_review.exported_log, run):
        writer.writerow([_cell(row[name]) for name in _COLUMNS])
    headers = {"Content-Disposition": 'attachment; filename="decisions.csv"'}
    return Response(written.getvalue(), media_type="text/csv", headers=headers)


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def read_act(fields: Mapping[str, Any], document_id: str = "") -> Act:
    """The act that a form asks for; for a cell of a table, `document_id` names the document.

    The name of the button that was pressed says the kind and, where needed, its object: `undo/ID`,
    `quote/accepted/KEY`.
    """

    def field(name: str) -> str:
        return str(fields.get(name) or "")

    word, _, about = field("kind").partition("/")
    try:
        kind, follows = DecisionKind(word), int(field("follows"))
    except ValueError as error:
        raise BadRequest("The form is incomplete. Load the page again.", {"kind": "unknown"}) from error
    value, _, quote = about.partition("/")
    said = field("value" if document_id else "score")
    given = {DecisionKind.OVERRIDE: said, DecisionKind.ASSIGNMENT: field("who")}.get(kind, value)
    absence = value if document_id and kind is DecisionKind.OVERRIDE and value else field("absence")
    named = field("criterion_id"), kind, follows, field("saw") or None
    return Act(*named, given, field("reason"), quote, document_id, absence)


SAID: Final = {
    DecisionKind.OVERRIDE: "Your score counts now; the program’s stays beside it.",
    DecisionKind.COMMENT: "Your comment is saved.",
    DecisionKind.SIGN_OFF: "Signed off, on the evidence shown here.",
    DecisionKind.FLAG: "Flagged.",
    DecisionKind.ASSIGNMENT: "Assigned.",
    DecisionKind.QUOTE: "Your decision on the quotation is saved.",
    DecisionKind.UNDO: "Undone. The log keeps both.",
}


def _words(reviewed: live_review.ReviewedCompany) -> dict[str, Any]:
    """What the macros of the reports need: their links start from the run's folder."""
    return {"run": reviewed.run, "company": reviewed.company, "base": "../"}


HANDLERS: Final = [review, company, decide, log_as_json, log_as_csv]
