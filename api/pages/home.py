"""The first page: the runs, live while one is under way, and the look that all pages share."""

from typing import Any

from litestar import MediaType, Response, get
from litestar.datastructures import CacheControlHeader
from litestar.di import NamedDependency

from api.pages.shell import PageRequest, show
from api.requests import Calls
from tasks.reports import home, html


@get("/look.css", include_in_schema=False, cache_control=CacheControlHeader(max_age=3600, public=True))
async def look() -> Response[str]:
    """The style of the reports, which the pages share."""
    return Response(html.part("report.css"), media_type=MediaType.CSS)


@get("/", include_in_schema=False)
async def start(request: PageRequest, calls: NamedDependency[Calls]) -> Response[Any]:
    return show(request, "home.html", runs=await calls.here(home.list_runs))


@get("/home/runs", include_in_schema=False)
async def listed(request: PageRequest, calls: NamedDependency[Calls]) -> Response[Any]:
    """The list alone, for a page that keeps it new."""
    return show(request, "runs.html", runs=await calls.here(home.list_runs))


HANDLERS = [start, listed]
