"""The tables of a run: documents and questions of a company, a document with its cells, and deciding on cells."""

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
from storage.users import Role
from tasks.reports import live_tables
from tasks.reports.html import css_name
from tasks.reports.wording import ABSENCES
from tasks.table.values import ALLOWED

_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SAID: Final = SAID | {
    DecisionKind.OVERRIDE: "Your word counts now; the program’s stays beside it.",
    DecisionKind.SIGN_OFF: "Approved, on the words shown here.",
}


@get("/{run:str}/table", include_in_schema=False)
async def table(
    request: PageRequest,
    run: FromPath[str],
    calls: NamedDependency[Calls],
    company: Annotated[str, QueryParameter()] = "",
    columns: Annotated[str, QueryParameter()] = "",
    q: Annotated[str, QueryParameter(max_length=200)] = "",
    page: Annotated[int, QueryParameter(ge=1)] = 1,
) -> Response[Any]:
    shown = await calls.apart(live_tables.show_table, run, company, columns, q, page)
    return show(request, "table.html", shown=shown, q=q, absences=ABSENCES)


@get("/{run:str}/table.json", include_in_schema=False)
async def table_as_json(
    run: FromPath[str],
    calls: NamedDependency[Calls],
    company: Annotated[str, QueryParameter()] = "",
    columns: Annotated[str, QueryParameter()] = "",
) -> Response[bytes]:
    content = await calls.apart(live_tables.whole_table, run, company, columns, live_tables.as_json)
    return Response(content, media_type=MediaType.JSON)


@get("/{run:str}/table.xlsx", include_in_schema=False)
async def table_as_workbook(
    run: FromPath[str],
    calls: NamedDependency[Calls],
    company: Annotated[str, QueryParameter()] = "",
    columns: Annotated[str, QueryParameter()] = "",
) -> Response[bytes]:
    content = await calls.apart(live_tables.whole_table, run, company, columns, live_tables.as_workbook)
    headers = {"Content-Disposition": 'attachment; filename="table.xlsx"'}
    return Response(content, media_type=_SHEETS, headers=headers)


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
    """Decide on a cell; htmx gets the cell anew, a plain form the page."""
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


HANDLERS: Final = [table, table_as_json, table_as_workbook, row, decide]
