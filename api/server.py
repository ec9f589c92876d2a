"""The service as a process: uvicorn on one address, stopped gracefully."""

import contextlib
import logging
import socket
from typing import Any

import uvicorn

from api.app import create_app
from api.auth import check_binding, trusted_names
from api.settings import ApiSettings
from tasks.companies.settings import reads_pages
from tasks.companies.web.page import warm
from tasks.documents.settings import DocumentSettings
from tasks.errors import Unavailable

logger = logging.getLogger(__name__)

_PATIENCE = 15  # seconds that running requests get to finish when the service is stopped

# What the log holds: the service's own words, at stderr. No request lines, since queries and paths tell
# whom somebody looks at; and none of the HTTP clients', whose addresses may hold keys.
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "uvicorn": {"level": "INFO", "propagate": True},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "alembic": {"level": "WARNING"},
    },
}


def serve(host: str, port: int) -> None:
    """Serve the API until the process is told to stop.

    Raises:
        NotConfigured: `host` is reached from other machines and no API key is configured.
        pydantic.ValidationError: a setting has a wrong value.
        Unavailable: the address is in use, or does not belong to this machine.
    """
    server = build(host, port)
    if not ApiSettings.current().keys:
        logger.warning("DILIGENCE_API_KEYS is not set: every program on this machine can call, no other machine can.")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            server.run()
    except SystemExit as error:  # uvicorn's way to say so
        raise Unavailable(f"Port {port} of {host} is in use or not available. Choose another one.") from error


class _Server(uvicorn.Server):
    """Makes ready what the first caller would wait for, once it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if reads_pages():
            warm()


def build(host: str, port: int) -> uvicorn.Server:
    """The server that `serve` runs, not yet running.

    Raises:
        NotConfigured, pydantic.ValidationError: as `serve`.
    """
    check_binding(host)
    open_to_all = not ApiSettings.current().keys
    trusted = trusted_names(host, DocumentSettings.current().base_url) if open_to_all else None
    config = uvicorn.Config(
        create_app(trusted_hosts=trusted),
        host=host,
        port=port,
        log_config=LOGGING,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here depends on the caller's address or scheme
        ws="none",
        timeout_graceful_shutdown=_PATIENCE,
    )
    return _Server(config)
