"""The rooms of a run: search, questions, and tables of what the documents say, with decisions on their cells."""

from typing import Annotated, Any, Final
from urllib.parse import quote

from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from api.auth import check_role
from api.pages.review import SAID, read_act
from api.pages.shell import PageRequest, is_partial, read_form, show, to
from api.requests import Calls
from storage.decisions import DecisionKind
from storage.logins import Role
from tasks.reports import live_rooms, live_tables
from tasks.reports.html import css_name
from tasks.reports.live_rooms import Filters
from tasks.reports.wording import ABSENCES
from tasks.table.columns import ALLOWED

_LONGEST: Final = 1000
_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SAID: Final = SAID | {
    DecisionKind.OVERRIDE: "Your decision counts now; the program’s stays beside it.",
    DecisionKind.SIGN_OFF: "Approved, on the words shown here.",
}


@get("/{run:str}/search", include_in_schema=False)
async def search(
    request: PageRequest,
    run: FromPath[str],
    calls: NamedDependency[Calls],
    q: Annotated[str, QueryParameter(max_length=_LONGEST)] = "",
    company: Annotated[str, QueryParameter()] = "",
    kind: Annotated[str, QueryParameter()] = "",
    folder: Annotated[str, QueryParameter()] = "",
    status: Annotated[str, QueryParameter()] = "",
) -> Response[Any]:
    chosen = Filters(company, kind, folder, status)
    found = await calls.apart(live_rooms.search, run, q, chosen)
    return show(
        request, "search.html", found=found, q=q, chosen=chosen, statuses=live_rooms.STATUSES, run_id=found.run_id
    )


@get("/{run:str}/ask", include_in_schema=False)
async def ask(
    request: PageRequest,
    run: FromPath[str],
    calls: NamedDependency[Calls],
    q: Annotated[str, QueryParameter(max_length=_LONGEST)] = "",
    company: Annotated[list[str] | None, QueryParameter()] = None,
) -> Response[Any]:
    run_id, batch, answers, companies = await calls.apart(live_rooms.ask, run, q, company or [])
    shown = {"run_id": run_id, "batch": batch, "answers": answers, "companies": companies, "chosen": company or []}
    return show(request, "ask.html", q=q, **shown)


@get("/{run:str}/table", include_in_schema=False)
async def table(
    request: PageRequest,
    run: FromPath[str],
    calls: NamedDependency[Calls],
    company: Annotated[str, QueryParameter()] = "",
    columns: Annotated[str, QueryParameter()] = "",
    q: Annotated[str, QueryParameter(max_length=200)] = "",
    page: Annotated[int, QueryParameter(ge=1)] = 1,
    more: Annotated[bool, QueryParameter()] = False,
) -> Response[Any]:
    """The table. A first look waits for no text that is still to be read: with `more`, the page goes on reading."""
    shown = await calls.apart(live_tables.show_table, run, company, columns, q, page, goes_on=more)
    return show(request, "table.html", shown=shown, q=q, absences=ABSENCES)


@get(["/{run:str}/table.json", "/{run:str}/table.xlsx"], include_in_schema=False)
async def whole_table(
    request: PageRequest,
    run: FromPath[str],
    calls: NamedDependency[Calls],
    company: Annotated[str, QueryParameter()] = "",
    columns: Annotated[str, QueryParameter()] = "",
) -> Response[bytes]:
    """The table with all its quotations, as `diligence table` prints it."""
    is_workbook = request.url.path.endswith(".xlsx")
    content = await calls.apart(live_tables.whole_table, run, company, columns, as_workbook=is_workbook)
    headers = {"Content-Disposition": 'attachment; filename="table.xlsx"'} if is_workbook else None
    return Response(content, media_type=_SHEETS if is_workbook else MediaType.JSON, headers=headers)


@get("/{run:str}/table/{domain:str}/{document:str}", include_in_schema=False)
async def row(
    request: PageRequest,
    run: FromPath[str],
    domain: FromPath[str],
    document: FromPath[str],
    calls: NamedDependency[Calls],
    columns: Annotated[str, QueryParameter()] = "",
) -> Response[Any]:
    shown = await calls.apart(live_tables.show_row, run, domain, document, columns)
    return show(request, "table_row.html", shown=shown, said=None, absences=ABSENCES, allowed=ALLOWED)


@post("/{run:str}/table/{domain:str}/{document:str}", include_in_schema=False, status_code=200)
async def decide(
    request: PageRequest,
    run: FromPath[str],
    domain: FromPath[str],
    document: FromPath[str],
    calls: NamedDependency[Calls],
    columns: Annotated[str, QueryParameter()] = "",
) -> Response[Any]:
    """Record a decision on a cell; htmx gets the cell redrawn, a plain form gets the page."""
    by = check_role(request, Role.REVIEWER)
    act = read_act(await read_form(request), document)
    shown = await calls.here(live_tables.write_cell_decision, run, domain, columns, act, by.name)
    if not is_partial(request):
        place = "/".join(quote(part, safe="") for part in (domain, document))
        cell_on_page = f"?columns={quote(shown.chosen.columns)}#cell-{css_name(act.criterion_id)}"
        return to(f"/runs/{quote(run, safe='')}/table/{place}{cell_on_page}")
    cell = next(cell for cell in shown.cells if cell.column.id == act.criterion_id)
    return show(
        request, "table_cell.html", shown=shown, cell=cell, said=_SAID[act.kind], absences=ABSENCES, allowed=ALLOWED
    )


HANDLERS: Final = [search, ask, table, whole_table, row, decide]
