"""The service as a process: uvicorn on one address, stopped gracefully."""

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from logging.config import dictConfig
from typing import Any

import uvicorn

from api.app import create_app
from api.auth import check_binding, has_keys, list_trusted_names
from api.connections import LimitedConnection, most_connections
from api.front import Service
from api.settings import ApiSettings
from api.shutdown import GracefulServer
from api.workers import Workers, end_with_parent, serve_with
from storage.logs import log_config
from tasks.companies.settings import reads_pages
from tasks.companies.web.page import warm
from tasks.documents.settings import DocumentSettings
from tasks.errors import DiligenceError, Unavailable

logger = logging.getLogger(__name__)

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
    config["filters"]["seldom"] = {"()": "api.connections.Seldom"}
    config["loggers"] |= {
        "uvicorn": {"level": "INFO", "propagate": True},
        "uvicorn.error": {"filters": ["seldom"]},
        "asyncio": {"filters": ["seldom"]},
    }
    return config
