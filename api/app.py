"""The service: its start page, the routes of all areas put together, and the process that serves them.

Handlers hold no logic: the operations are in tasks/, their limits and guards are set here. uvicorn serves them on one
address and is stopped gracefully.
"""

import contextlib
import logging
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from logging.config import dictConfig
from typing import Any, Final

import anyio
import uvicorn
from anyio import to_thread
from litestar import Litestar, MediaType, Router, get
from litestar.datastructures import CacheControlHeader
from litestar.di import Provide
from litestar.openapi.spec import SecurityRequirement
from litestar.plugins.pydantic import PydanticPlugin
from litestar.static_files import create_static_files_router
from litestar.types import Scope

from api import login, monitoring, operations, pages
from api.auth import (
    CALLER,
    Guard,
    Keyring,
    check_binding,
    has_keys,
    list_trusted_names,
    needs_account,
    needs_key,
    needs_key_or_account,
    needs_local,
    needs_viewer,
)
from api.front import LimitedConnection, Service, most_connections
from api.mcp import AssistantEndpoint
from api.problems import respond_outside_of_operations, respond_with_page
from api.requests import (
    ACCOUNT_SCHEMES,
    KEY_SCHEME,
    MEMORY,
    STATIC,
    Admission,
    Calls,
    JsonRequest,
    openapi,
    prepare_tracking,
)
from api.settings import ApiSettings
from api.workers import GracefulServer, Workers, end_with_parent, serve_with
from storage.logs import log_config
from storage.model_calls import CallCounts
from tasks.companies.profile import reads_pages
from tasks.companies.web.parse import warm
from tasks.documents.drive.drive import DocumentSettings
from tasks.documents.drive.registry import choose_drive
from tasks.documents.texts import share_readers
from tasks.errors import DiligenceError, Unavailable
from tasks.offload import Processes
from tasks.reading.pool.pool import processors
from tasks.telemetry import start_tracing
from tasks.webhooks import WebhookSettings, send_due

logger = logging.getLogger(__name__)


@get("/llms.txt", include_in_schema=False, media_type=MediaType.TEXT)
async def llms() -> bytes:
    return (STATIC / "llms.txt").read_bytes()


# Reading documents is the work of as many processes as there are cores; models and sources are waited for.
_AT_ONCE = {"documents": 8, "ai": 32, "companies": 32}

_OFFLOADED = (
    "tasks.answers",
    "tasks.companies.pages",
    "tasks.reports.live",
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
                [operations.text, operations.index],
                on_drive("documents"),
                on_documents,
            ),
            area("/v1/ai", "ai", [operations.ask_question], key("ai"), by_key),
            area("/v1/companies", "companies", [operations.facts, operations.ask_company], key("companies"), by_key),
            area("/file/d", "documents", [operations.view], needs_local(key("documents")), by_key),
            area("/runs", "documents", pages.REPORT_PAGES, on_drive("runs"), on_documents, as_pages),
            area("/", "documents", pages.HANDLERS, needs_viewer(on_drive("runs")), on_documents, as_pages),
            area("/runs", "documents", pages.REVIEW_PAGES, needs_viewer(on_drive("runs")), on_documents, as_pages),
            area("/runs", "documents", pages.ROOM_PAGES, needs_viewer(on_drive("runs")), on_documents, as_pages),
            pages.look,
            Router("/", route_handlers=pages.LOGIN_PAGES, exception_handlers={**as_pages}),
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
        openapi_config=openapi(),
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


_READY_AFTER = 3.0  # seconds; loading what these processes need takes as much processor time as all of the start


def serve(host: str, port: int, workers: int = 1) -> None:
    """Serve the API in that many processes until the process is told to stop.

    Raises:
        NotConfigured: `host` is reached from other machines and no API key is configured.
        pydantic.ValidationError: a setting has a wrong value.
        Unavailable: the address is in use, or does not belong to this machine; or the processes do not start.
    """
    reached = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - named
    os.environ.setdefault("DILIGENCE_BASE_URL", f"http://{reached}:{port}")  # for the processes that serve, too
    dictConfig(service_log_config())
    check_binding(host)  # which brings the database to the newest schema, before several processes open it
    if not has_keys():
        logger.warning(
            "There is no API key (DILIGENCE_API_KEYS is not set): "
            "every program on this machine can call, no other machine can."
        )
    try:
        with contextlib.suppress(KeyboardInterrupt):
            if workers == 1:
                build(host, port).run()
            else:
                create_app()  # what is wrong with the settings is said once, and here
                app = partial(_worker, _list_trusted(host))
                serve_with(workers, lambda shared: _config(host, port, partial(app, shared), workers))
    except SystemExit as error:  # uvicorn's way to say so
        raise Unavailable(f"Port {port} of {host} is in use or not available. Choose another one.") from error


class _Server(GracefulServer):
    """Prepares, once it listens, what the first caller would otherwise wait for."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        make_ready(self.config.loaded_app)


def build(host: str, port: int) -> uvicorn.Server:
    """The server that `serve` runs, not yet running.

    Raises:
        NotConfigured, pydantic.ValidationError: as `serve`.
    """
    check_binding(host)
    return _Server(_config(host, port, create_app(_list_trusted(host))))


def _list_trusted(host: str) -> tuple[str, ...] | None:
    return None if has_keys() else list_trusted_names(host, DocumentSettings.current().base_url)


def _worker(trusted: tuple[str, ...] | None, shared: Workers) -> Service:
    """The application of one of several processes; called in that process."""
    end_with_parent(shared.folder)
    app = create_app(trusted, shared)
    make_ready(app)
    return app


def make_ready(app: Service) -> None:
    """Start, in the background, the processes that the first caller would otherwise wait for."""
    timer = threading.Timer(_READY_AFTER, _warm, [app])
    timer.daemon = True
    timer.start()
    if reads_pages():
        threading.Thread(target=warm, daemon=True).start()


def _warm(app: Service) -> None:
    with contextlib.suppress(DiligenceError, RuntimeError):  # the service ends meanwhile; else the first caller is told
        app.processes.warm()


def _config(host: str, port: int, app: Service | Callable[[], Service], workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=workers > 1,
        workers=workers,
        host=host,
        port=port,
        http=LimitedConnection,
        # What waits to be accepted needs a descriptor each, at once: never more than are free.
        backlog=max(8, min(2048, most_connections() // 8)),
        log_config=service_log_config(),
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here depends on the caller's address or scheme
        ws="none",
        timeout_graceful_shutdown=ApiSettings.current().shutdown_timeout,
    )


def service_log_config() -> dict[str, Any]:
    """The program's logging, with uvicorn's messages in it; messages that strangers can trigger at will are limited."""
    config = log_config()
    config["filters"]["seldom"] = {"()": "api.front.Seldom"}
    config["loggers"] |= {
        "uvicorn": {"level": "INFO", "propagate": True},
        "uvicorn.error": {"filters": ["seldom"]},
        "asyncio": {"filters": ["seldom"]},
    }
    return config
