"""The pages that people work in: home, login, review, rooms, and the reports of runs.

The handlers are thin. The templates in `templates/` extend `base.html`, work without JavaScript, and escape all values.
htmx (`api/static/htmx`) replaces parts of a page where it can. Reports have the paths of the files that `diligence run`
writes, so their links work here too.

Every page knows who is looking at it, and has a token that its forms send back. The token proves that a form came from
one of our pages, opened in the viewer's own browser. It is derived from a cookie that no other site can read or set
and, where there is one, from the session. (`login.check_site` also checks where a request comes from.)
"""

import csv
import hmac
import io
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from anyio import to_thread
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import CacheControlHeader, FormMultiDict, State
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import File, Redirect

from api import login
from api.auth import VIEWER, check_role
from api.operations import stream
from api.problems import render, with_own_policy
from api.requests import Calls
from api.settings import CallRate
from storage import database, logins, runs
from storage.logins import Role, User
from storage.runs import RequestKind, RunRequest
from storage.scores import DecisionKind
from tasks.documents.drive.drive import base_path
from tasks.errors import BadRequest, NotAllowed
from tasks.reports import html, live, live_rooms
from tasks.reports.html import css_name
from tasks.reports.live import exported_log, overview, reviewed_company, write_decision
from tasks.reports.live_rooms import Filters
from tasks.reports.models import ReviewedCompany
from tasks.reports.wording import ABSENCES
from tasks.review import Act
from tasks.table.columns import ALLOWED

PageRequest = Request[Any, Any, Any]
_FIELD = "token"


def show(request: PageRequest, template: str, **shown: Any) -> Response[str]:
    """A page for this viewer, made from a template. Its forms include the field `token`."""
    secret = login.read_cookie(request, "form") or secrets.token_urlsafe(24)
    viewer = request.scope["state"].get(VIEWER)
    answer = render(template, **{"viewer": viewer, "token": _token(request, secret), "path": request.url.path} | shown)
    if login.read_cookie(request, "form") is None:
        answer.cookies = [login.cookie("form", secret)]
    return answer


async def read_form(request: PageRequest) -> FormMultiDict:
    """The fields of a form from one of our pages.

    Raises:
        NotAllowed: it comes from elsewhere, or from a page that is too old.
    """
    login.check_site(request)
    fields = await request.form()
    secret, sent = login.read_cookie(request, "form"), str(fields.get(_FIELD, ""))
    if secret is None or not hmac.compare_digest(sent.encode(), _token(request, secret).encode()):
        raise NotAllowed("This form is too old, or was not sent by a page of this service. Load the page again.")
    return fields


def to(path: str) -> Redirect:
    """A redirect to a path of the service, after a form was handled."""
    return Redirect(base_path() + path, status_code=303)


def is_partial(request: PageRequest) -> bool:
    """Whether htmx is asking for a part of a page."""
    return request.headers.get("hx-request") == "true"


def _token(request: PageRequest, secret: str) -> str:
    return sha256(f"{secret}.{login.read_cookie(request, 'session') or ''}".encode()).hexdigest()


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


_TRIES = CallRate(10, 60)
"""Wrong passwords for one name and address; a right one is then refused as well, until the window has passed."""


@get("/login/password", include_in_schema=False)
async def ask_to_log_in(
    request: PageRequest, then: Annotated[str | None, QueryParameter(name="next")] = None
) -> Response[Any]:
    people = await to_thread.run_sync(_people)
    return show(request, "login.html", then=then or "/", has_people=bool(people), wrong=False)


@post("/login/password", include_in_schema=False, status_code=200)
async def check_login(request: PageRequest) -> Response[Any]:
    fields = await read_form(request)
    name, then = str(fields.get("name", ""))[:200], str(fields.get("next", "/"))
    _TRIES.check(f"{name} from {request.client.host if request.client else ''}")
    user = await to_thread.run_sync(_user, name, str(fields.get("password", ""))[:1000])
    if user is None:
        answer = show(request, "login.html", then=then, has_people=True, wrong=True)
        answer.status_code = 401
        return answer
    await login.end_session(request)
    redirect = to(then if login.HERE.fullmatch(then) else "/")
    redirect.cookies = [login.cookie("session", await login.begin_session(user))]
    return redirect


def _people() -> int:
    with database.reading() as session:
        return sum(user.password is not None for user in logins.all_users(session))


def _user(name: str, password: str) -> User | None:
    with database.reading() as session:
        return logins.check_password(session, name, password)


LOGIN_PAGES = [ask_to_log_in, check_login]


_COLUMNS: Final = (
    *("id", "at", "by", "kind", "batch", "domain", "document_id", "criterion_id", "value", "reason", "undoes"),
    *("run_id", "evidence"),
)


@get("/{run:str}/review", include_in_schema=False)
async def review(request: PageRequest, run: FromPath[str], calls: NamedDependency[Calls]) -> Response[Any]:
    run_id, batch, lines = await calls.here(overview, run)
    return show(request, "review.html", run_id=run_id, batch=batch, lines=lines)


@get("/{run:str}/review/{domain:str}", include_in_schema=False)
async def company(
    request: PageRequest, run: FromPath[str], domain: FromPath[str], calls: NamedDependency[Calls]
) -> Response[Any]:
    reviewed = await calls.apart(reviewed_company, run, domain)
    return show(request, "review_company.html", reviewed=reviewed, said=None, **_words(reviewed))


@post("/{run:str}/review/{domain:str}", include_in_schema=False, status_code=200)
async def decide(
    request: PageRequest, run: FromPath[str], domain: FromPath[str], calls: NamedDependency[Calls]
) -> Response[Any]:
    """Record a decision on a cell; htmx gets the cell redrawn, a plain form gets the page."""
    by = check_role(request, Role.REVIEWER)
    act = read_act(await read_form(request))
    await calls.here(write_decision, run, domain, act, by.name)
    reviewed = await calls.apart(reviewed_company, run, domain)
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
    log = await calls.here(exported_log, run)
    return Response(json.dumps(log, ensure_ascii=False, indent=1), media_type=MediaType.JSON)


@get("/{run:str}/decisions.csv", include_in_schema=False)
async def log_as_csv(run: FromPath[str], calls: NamedDependency[Calls]) -> Response[str]:
    """The log as a table. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(_COLUMNS)
    for row in await calls.here(exported_log, run):
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


def _words(reviewed: ReviewedCompany) -> dict[str, Any]:
    """What the macros of the reports need: their links start from the run's folder."""
    return {"run": reviewed.run, "company": reviewed.company, "base": "../"}


REVIEW_PAGES: Final = [review, company, decide, log_as_json, log_as_csv]


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
async def ask_room(
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
    shown = await calls.apart(live_rooms.show_table, run, company, columns, q, page, goes_on=more)
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
    content = await calls.apart(live_rooms.whole_table, run, company, columns, as_workbook=is_workbook)
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
    shown = await calls.apart(live_rooms.show_row, run, domain, document, columns)
    return show(request, "table_row.html", shown=shown, said=None, absences=ABSENCES, allowed=ALLOWED)


@post("/{run:str}/table/{domain:str}/{document:str}", include_in_schema=False, status_code=200)
async def decide_in_table(
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
    shown = await calls.here(live_rooms.write_cell_decision, run, domain, columns, act, by.name)
    if not is_partial(request):
        place = "/".join(quote(part, safe="") for part in (domain, document))
        cell_on_page = f"?columns={quote(shown.chosen.columns)}#cell-{css_name(act.criterion_id)}"
        return to(f"/runs/{quote(run, safe='')}/table/{place}{cell_on_page}")
    cell = next(cell for cell in shown.cells if cell.column.id == act.criterion_id)
    return show(
        request, "table_cell.html", shown=shown, cell=cell, said=_SAID[act.kind], absences=ABSENCES, allowed=ALLOWED
    )


ROOM_PAGES: Final = [search, ask_room, table, whole_table, row, decide_in_table]


_MEDIA_TYPES: Final = {".png": "image/png", ".webp": "image/webp"}


@get("/{run:str}", include_in_schema=False)
async def newest(run: FromPath[str], calls: NamedDependency[Calls]) -> Redirect:
    run_id = await calls.here(live.find_run_id, run)
    return Redirect(f"{base_path()}/runs/{quote(run_id, safe='')}/report.html", status_code=303)


@get("/{run:str}/report.html", include_in_schema=False)
async def report(
    run: FromPath[str], calls: NamedDependency[Calls], page: Annotated[int, QueryParameter(ge=0)] = 1
) -> Response[str]:
    return with_own_policy(await calls.apart(live.report_page, run, page))


@get("/{run:str}/companies/{name:str}", include_in_schema=False)
async def report_company(run: FromPath[str], name: FromPath[str], calls: NamedDependency[Calls]) -> Response[str]:
    return with_own_policy(await calls.apart(live.company_page, run, name))


@get("/{run:str}/evidence/{name:str}", include_in_schema=False)
async def evidence(run: FromPath[str], name: FromPath[str], calls: NamedDependency[Calls]) -> Response[Any]:
    if name.endswith(".html"):
        return with_own_policy(await calls.apart(live.evidence_page, run, name.removesuffix(".html")))
    return _picture(await calls.here(live.picture, run, name))


@get("/{run:str}/documents/{document_id:str}", include_in_schema=False)
async def document(
    run: FromPath[str],
    document_id: FromPath[str],
    calls: NamedDependency[Calls],
    part: Annotated[int | None, QueryParameter(ge=1)] = None,
    start: Annotated[int | None, QueryParameter(ge=0)] = None,
    end: Annotated[int | None, QueryParameter(ge=0)] = None,
) -> Response[str]:
    return with_own_policy(await calls.apart(live.document_page, run, document_id, part, start, end))


@get("/{run:str}/documents/{document_id:str}/pages/{page:int}", include_in_schema=False)
async def page_picture(
    run: FromPath[str], document_id: FromPath[str], page: FromPath[int], calls: NamedDependency[Calls]
) -> File:
    return _picture(await calls.here(live.page_picture, run, document_id, page))


def _picture(path: Path) -> File:
    return File(path, media_type=_MEDIA_TYPES[path.suffix], content_disposition_type="inline")


@get("/{run:str}/documents/{document_id:str}/original", include_in_schema=False, media_type="application/octet-stream")
async def original(
    request: Request[None, None, State], run: FromPath[str], document_id: FromPath[str], calls: NamedDependency[Calls]
) -> Response[Any]:
    opened = await calls.here(live.open_original, run, document_id)
    if isinstance(opened, str):
        return Redirect(opened, status_code=303, media_type=MediaType.TEXT)
    return await stream(request, *opened)


REPORT_PAGES: Final[Sequence[Any]] = [newest, report, report_company, evidence, document, page_picture, original]
