"""The format of the log: text or JSON, each line with the id of the request that it belongs to."""

import json
import logging
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOBase
from typing import Any, Final, Literal

from pydantic import Field

from storage.context import current_request_id
from storage.settings import Settings


class LogSettings(Settings):
    """How the log is written."""

    log_format: Literal["text", "json"] = Field(
        "text", description="json: one object per line, each with request_id, for `serve` and `run`"
    )

    @property
    def is_json(self) -> bool:
        return self.log_format == "json"


class JsonLines(logging.Formatter):
    """Formats a line of the log as a JSON object: `time`, `level`, `logger`, `message`, `request_id`, perhaps
    `exception`.

    An exception is given as its class and the places it passed, without its message, which may contain what was sent.
    """

    def __init__(self, request_id: str | None = None) -> None:
        """`request_id` is the process's own, if it works for one request only."""
        super().__init__()
        self._request_id = request_id

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": current_request_id() or self._request_id,
        }
        if record.exc_info and record.exc_info[1] is not None:
            raised = record.exc_info[1]
            line["exception"] = " < ".join([type(raised).__qualname__, *trace_places(raised)])
        return json.dumps(line)


class LogStream(TextIOBase):
    """A stream whose lines go to a logger: for what a terminal would show, when the log is read by machines."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._begun = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if line.strip():
                self._logger.info("%s", line.strip())
        return len(text)


ROOMS: Final = ("api", "deployments", "flows", "storage", "tasks")


def log_config(request_id: str | None = None) -> dict[str, Any]:
    """The logging configuration for `logging.config.dictConfig`: the program's own messages, on stderr.

    Paths and queries of requests are left out, since they show whom somebody is looking at, and so are the HTTP
    clients' lines, whose addresses may contain keys. The handler is set on our own top-level packages, because Prefect
    replaces the root logger's. `request_id` is as in `JsonLines`.

    Raises:
        pydantic.ValidationError: DILIGENCE_LOG_FORMAT has a wrong value.
    """
    quiet = ("httpx", "httpx2", "httpcore", "openai", "alembic", "opentelemetry")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "json": {"()": JsonLines, "request_id": request_id},
        },
        "filters": {"own": {"()": _without_prefect}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": LogSettings.current().log_format,
                "filters": ["own"],
            }
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            **{name: {"level": "WARNING"} for name in quiet},
            **{name: {"handlers": ["stderr"], "level": "INFO", "propagate": False} for name in ROOMS},
        },
    }


def _without_prefect() -> Callable[[logging.LogRecord], bool]:
    """A filter: Prefect's messages contain names and the texts of exceptions. `tasks.tracking` reports its failures."""
    return lambda record: not record.name.startswith("prefect") or record.levelno >= logging.CRITICAL


def trace_places(raised: BaseException) -> list[str]:
    """The places that an exception and its causes passed, innermost first: modules and lines, no values."""
    places: list[str] = []
    cause: BaseException | None = raised
    while cause is not None and len(places) < 40:
        if cause is not raised:
            places.append(f"[{type(cause).__qualname__}]")
        frames = list(traceback.walk_tb(cause.__traceback__))
        places += [f"{frame.f_globals.get('__name__', '?')}:{line}" for frame, line in reversed(frames)]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return places
