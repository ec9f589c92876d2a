"""Searching the texts of a run's rooms, and asking them: quotations with their places, companies side by side."""

from typing import Annotated, Any, Final

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter

from api.pages.shell import PageRequest, show
from api.requests import Calls
from tasks.reports import live_rooms
from tasks.reports.live_rooms import Filters

_LONGEST: Final = 1000


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


HANDLERS: Final = [search, ask]
