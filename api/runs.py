"""Reports of runs as live pages under the viewer's rights: the report, its evidence, and the documents it cites.

The paths are those of the files that `diligence run` writes, so their links work here too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import File, Redirect

from api.documents import stream
from api.html import with_own_policy
from api.requests import Calls
from tasks.documents.settings import base_path
from tasks.reports import live

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
async def company(run: FromPath[str], name: FromPath[str], calls: NamedDependency[Calls]) -> Response[str]:
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


HANDLERS: Final[Sequence[Any]] = [newest, report, company, evidence, document, page_picture, original]
