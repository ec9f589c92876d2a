"""Health checks: is the process up, and can it reach the database and the drive?"""

import logging
from collections.abc import Callable
from typing import Any, Literal

from anyio import fail_after, to_thread
from litestar import Response, get
from pydantic import BaseModel

from api.openapi import failures
from api.problems import MEDIA_TYPE, ours, problem
from storage import database
from tasks.documents.drive.registry import configured_drive, provider_of
from tasks.errors import Unavailable

logger = logging.getLogger(__name__)

_PATIENCE = 5  # seconds; those who ask usually give up after 10


class Health(BaseModel):
    """The service works."""

    status: Literal["ok"] = "ok"


@get(
    "/health/live",
    operation_id="health_live",
    tags=["Service"],
    summary="Is the process up?",
    response_description="It is.",
)
async def live() -> Health:
    return Health()


@get(
    "/health/ready",
    operation_id="health_ready",
    tags=["Service"],
    summary="Can the database be read and written, and is the drive within reach?",
    response_description="Both is so.",
    responses=failures(503),
)
async def ready() -> Response[Health]:
    missing = [
        {"field": name, "message": trouble}
        for name, check in {"database": database.check, "drive": _reach_drive}.items()
        if (trouble := await _trouble(check))
    ]
    if not missing:
        return Response(Health())
    sentences = " ".join(f"{part['field']}: {part['message']}" for part in missing)
    body: Any = problem(Unavailable(f"The service is not ready. {sentences}"))
    body["errors"] = missing
    return Response(body, status_code=503, media_type=MEDIA_TYPE)


async def _trouble(check: Callable[[], object]) -> str | None:
    """What keeps the check from passing, or None. A check that hangs is left behind."""
    try:
        with fail_after(_PATIENCE):
            await to_thread.run_sync(check, abandon_on_cancel=True)
    except TimeoutError:
        return f"no answer within {_PATIENCE} s."
    except Exception as raised:  # noqa: BLE001 - whatever it is, the service is not ready
        error = ours(raised)
        logger.warning("not ready: %s", type(raised).__qualname__)
        return error.message
    return None


def _reach_drive() -> None:
    provider_of(configured_drive()).check_reachable(_PATIENCE)
