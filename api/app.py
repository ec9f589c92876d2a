"""The service: its start page, and the routes of all areas put together.

Handlers hold no logic: the operations are in tasks/, their limits and guards are set here.
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from anyio import to_thread
from litestar import Litestar, MediaType, Router, get
from litestar.datastructures import CacheControlHeader
from litestar.di import Provide
from litestar.openapi.spec import SecurityRequirement
from litestar.plugins.pydantic import PydanticPlugin
from litestar.static_files import create_static_files_router
from litestar.types import Scope

from api import ai, companies, documents, login, monitoring, runs
from api.auth import CALLER, Guard, Keyring, needs_account, needs_key, needs_key_or_account, needs_local, needs_viewer
from api.front import Service
from api.html import respond_outside_of_operations, respond_with_page
from api.mcp import AssistantEndpoint
from api.openapi import ACCOUNT_SCHEMES, KEY_SCHEME, STATIC, openapi
from api.pages import accounts, home, review, rooms
from api.requests import MEMORY, Admission, Calls, JsonRequest, prepare_tracking
from api.settings import ApiSettings
from api.workers import Workers
from storage.rate_limits import CallCounts
from tasks.documents.drive.registry import choose_drive
from tasks.documents.texts import share_readers
from tasks.offload import Processes
from tasks.reading.pool.pool import processors
from tasks.tracing import start_tracing
from tasks.webhooks import WebhookSettings, send_due

logger = logging.getLogger(__name__)


@get("/llms.txt", include_in_schema=False, media_type=MediaType.TEXT)
async def llms() -> bytes:
    return (STATIC / "llms.txt").read_bytes()


# Reading documents is the work of as many processes as there are cores; models and sources are waited for.
_AT_ONCE = {"documents": 8, "ai": 32, "companies": 32}

_OFFLOADED = (
    "tasks.ai.question",
    "tasks.companies.pages",
    "tasks.reports.live_review",
    "tasks.reports.live_rooms",
    "tasks.assistants.lookup",
)
"""Modules whose work is offloaded."""
_STATIC_AGE = CacheControlHeader(max_age=3600, public=True)


_DELIVERED_EVERY: Final = 30.0
"""Seconds between two looks at what is due."""


@asynccontextmanager
async def delivering(_service: Litestar) -> AsyncIterator[None]:
    """Send what is due, every half a minute, where there are receivers."""
    if not WebhookSettings.current().webhooks:
        yield
        return
    async with anyio.create_task_group() as group:
        group.start_soon(_deliver)
        yield
        group.cancel_scope.cancel()


async def _deliver() -> None:
    while True:
        try:
            await to_thread.run_sync(send_due, abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - the next look may find the database again
            logger.warning("webhooks could not be sent: %s", type(error).__qualname__)
        await anyio.sleep(_DELIVERED_EVERY)


def create_app(trusted_hosts: Sequence[str] | None = None, workers: Workers | None = None) -> Service:
    """The service with the settings in force now.

    Args:
        trusted_hosts: host names and addresses, without ports, that requests must be for and come
            from; None trusts all. For a service without API keys.
        workers: what this process shares with others of the same service; None where it serves alone.

    Raises:
        pydantic.ValidationError: a setting has a wrong value.
        NotConfigured: tracked calls are asked for, and no Prefect server is named; or traces, and their extra is not
            installed.
    """
    settings = ApiSettings.current()
    tracked = settings.track_calls == "inline"
    if tracked:
        prepare_tracking()
    calls = {area: Calls(at_once, tracked=tracked) for area, at_once in _AT_ONCE.items()}
    tracing = start_tracing()
    keyring, rate = Keyring(settings.keys), settings.call_rate
    if workers is not None and rate is not None:
        rate.counts = CallCounts(workers.folder / "calls.db")
    by_key: list[SecurityRequirement] = [{KEY_SCHEME: []}] if settings.keys else []
    by_account: list[SecurityRequirement] = [{scheme: []} for scheme in ACCOUNT_SCHEMES]
    drive_description = choose_drive()
    drive_description.settings.current()  # a wrong value is noticed now, not at the first request
    on_documents = by_key if drive_description.accounts is None else by_account

    def area(
        path: str,
        name: str,
        handlers: Sequence[Any],
        guard: Guard,
        security: list[SecurityRequirement],
        failures: Mapping[int | type[Exception], Any] | None = None,
    ) -> Router:
        def callers_own(scope: Scope) -> Calls:
            return calls[name].act_for(scope["state"].get(CALLER), scope["state"])

        dependencies: Mapping[str, Any] = {"calls": Provide(callers_own, sync_to_thread=False)}
        return Router(
            path,
            route_handlers=handlers,
            dependencies=dependencies,
            guards=[guard],
            security=security,
            exception_handlers={**(failures or {})},
        )

    as_pages: Mapping[int | type[Exception], Any] = {Exception: respond_with_page}

    def key(scope: str | None) -> Guard:
        return needs_key(keyring, scope, rate)

    def on_drive(scope: str) -> Guard:
        return needs_account(key(scope), rate)

    assistants = AssistantEndpoint(calls, settings.max_body_bytes)
    service = Service(
        [
            assistants.handler(needs_key_or_account(key(None))),
            assistants.card,
            llms,
            area(
                "/v1/drive",
                "documents",
                [documents.text, documents.index],
                on_drive("documents"),
                on_documents,
            ),
            area("/v1/ai", "ai", [ai.ask], key("ai"), by_key),
            area("/v1/companies", "companies", [companies.facts, companies.ask], key("companies"), by_key),
            area("/file/d", "documents", [documents.view], needs_local(key("documents")), by_key),
            area("/runs", "documents", runs.HANDLERS, on_drive("runs"), on_documents, as_pages),
            area("/", "documents", home.HANDLERS, needs_viewer(on_drive("runs")), on_documents, as_pages),
            area("/runs", "documents", review.HANDLERS, needs_viewer(on_drive("runs")), on_documents, as_pages),
            area("/runs", "documents", rooms.HANDLERS, needs_viewer(on_drive("runs")), on_documents, as_pages),
            home.look,
            Router("/", route_handlers=accounts.HANDLERS, exception_handlers={**as_pages}),
            Router("/", route_handlers=[monitoring.show], guards=[key(None)], security=by_key),
            monitoring.live,
            monitoring.ready,
            login.login,
            login.callback,
            login.you,
            login.logout,
            create_static_files_router("/static", [STATIC], include_in_schema=False, cache_control=_STATIC_AGE),
        ],
        debug=False,
        exception_handlers={Exception: respond_outside_of_operations},
        logging_config=None,  # the process that serves decides where its log goes
        openapi_config=openapi({"QuestionAboutCompany": companies.SECOND_NAMES}),
        plugins=[PydanticPlugin(validate_strict=True)],
        request_class=JsonRequest,
        lifespan=[assistants.lifespan, delivering],
        on_shutdown=[tracing.close] if tracing is not None else [],
        request_max_body_size=settings.max_body_bytes,
    )
    service.trusted_hosts = trusted_hosts
    if workers is not None:
        service.admission = Admission(MEMORY // workers.number)
        share_readers(workers.number)
    shares = workers.number if workers is not None else 1
    service.processes = Processes(max(2, 2 * processors() // shares), _OFFLOADED)
    service.count(calls, workers.folder if workers is not None else None)
    service.tracing = tracing
    return service
