"""The home page: the runs, updated while one is under way, and forms to start and stop them. The pages' style is served
here too.
"""

import re
from pathlib import Path
from typing import Any, Final

from litestar import MediaType, Response, get, post
from litestar.datastructures import CacheControlHeader
from litestar.di import NamedDependency
from litestar.response import Redirect

from api.auth import VIEWER, check_role
from api.pages.shell import PageRequest, read_form, show, to
from api.requests import Calls
from storage import database, runs
from storage.logins import Role
from storage.runs import RequestKind, RunRequest
from tasks.errors import BadRequest
from tasks.reports import html, live

_NAME: Final = re.compile(r"[\w -]{1,80}\.(?:ya?ml|csv)")
_BATCH: Final = re.compile(rb"""^[^#\n]*\bcompanies["']?[ \t]*:""", re.MULTILINE)
"""What tells a batch from the files that it names."""
_ASKED: Final = 5
"""Requests that the page lists."""


@get("/look.css", include_in_schema=False, cache_control=CacheControlHeader(max_age=3600, public=True))
async def look() -> Response[str]:
    """The style sheet of the reports, which the pages share."""
    return Response(html.part("report.css"), media_type=MediaType.CSS)


@get(["/", "/runs"], include_in_schema=False)
async def start(request: PageRequest, calls: NamedDependency[Calls]) -> Response[Any]:
    is_admin = request.scope["state"][VIEWER].role.includes(Role.ADMIN)
    shown = await calls.here(_stored) if is_admin else {}
    return show(request, "home.html", runs=await calls.here(live.list_runs), is_admin=is_admin, **shown)


@get("/home/runs", include_in_schema=False)
async def listed(request: PageRequest, calls: NamedDependency[Calls]) -> Response[Any]:
    """Only the list of runs, for a home page that refreshes itself."""
    return show(request, "runs.html", runs=await calls.here(live.list_runs))


@post("/home/start", include_in_schema=False, status_code=200)
async def start_run(request: PageRequest, calls: NamedDependency[Calls]) -> Redirect:
    """Request a run of a stored batch, or of uploaded files, which are stored first."""
    by = check_role(request, Role.ADMIN).name
    fields = await read_form(request)
    files = [file for file in fields.getall("files", []) if getattr(file, "filename", "")]
    contents = [(str(file.filename), await file.read()) for file in files]
    await calls.here(_ask_to_start, str(fields.get("batch", "")), contents, by)
    return to("/")


@post("/home/stop", include_in_schema=False, status_code=200)
async def stop_run(request: PageRequest, calls: NamedDependency[Calls]) -> Redirect:
    """Request that a run stops; what it has done is kept, and the same batch continues from there."""
    by = check_role(request, Role.ADMIN).name
    run_id = str((await read_form(request)).get("run", ""))
    await calls.here(_add, RunRequest(kind=RequestKind.STOP, by=by, run_id=run_id))
    return to("/")


def _batches() -> Path:
    return database.home() / "batches"


def _stored() -> dict[str, Any]:
    files = [path for path in _batches().glob("*") if _NAME.fullmatch(path.name)]
    stored = sorted(path.name for path in files if _BATCH.search(path.read_bytes()))
    with database.reading() as session:
        asked = runs.newest_requests(session, _ASKED)
    return {"batches": stored, "asked": [(one, Path(one.batch_file or "").name) for one in asked]}


def _ask_to_start(batch: str, files: list[tuple[str, bytes]], by: str) -> None:
    """Store the files and request a run of the batch among them, or of the stored batch with that name.

    Raises:
        BadRequest: a name is no name of a batch or a criteria file, or no such batch is stored.
    """
    names = [name for name, _ in files] or [batch]
    if any(_NAME.fullmatch(name) is None for name in names):
        raise BadRequest("Choose files that end in .yaml, .yml or .csv, with letters, digits, spaces, _ and -.")
    for name, content in files:
        _batches().mkdir(mode=0o700, exist_ok=True)
        (_batches() / name).write_bytes(content)
    path = _batches() / next((name for name, content in files if _BATCH.search(content)), names[0])
    if not path.is_file():
        raise BadRequest("There is no such batch. Choose one from the list, or upload its files.")
    _add(RunRequest(kind=RequestKind.START, by=by, batch_file=str(path)))


def _add(request: RunRequest) -> None:
    with database.writing() as session:
        runs.add_request(session, request)


HANDLERS: Final = [start, listed, start_run, stop_run]
