"""Webhooks that did not arrive go on from the service, for as long as it runs."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio import to_thread
from litestar import Litestar

from tasks.webhooks import WebhookSettings, send_due

logger = logging.getLogger(__name__)

_EVERY: Final = 30.0
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
        await anyio.sleep(_EVERY)
