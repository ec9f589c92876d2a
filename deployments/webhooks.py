"""`diligence webhooks`: the messages that were sent to other programs, and those that did not arrive."""

from typing import Annotated

import typer

from deployments.terminal import echo
from storage import database, webhooks
from tasks.webhooks import check_webhooks, send_due


def list_webhooks(
    most: Annotated[int, typer.Option("--most", min=1, help="How many deliveries to list.")] = 20,
    retry: Annotated[bool, typer.Option("--retry", help="Try again now what did not arrive.")] = False,
) -> None:
    """List the deliveries of webhooks, newest first, or try again what did not arrive."""
    check_webhooks()
    database.check_exists()
    if retry:
        with database.writing() as session:
            webhooks.make_due(session)
        send_due()
    with database.reading() as session:
        rows = webhooks.newest_deliveries(session, most)
    for row in rows:
        state = "delivered" if row.delivered_at else "waiting" if row.next_at else "given up"
        echo(f"{row.created_at:%Y-%m-%d %H:%M} UTC  {row.event}  {state}  attempts: {row.attempts}  {row.url}")
        if row.problem:
            echo(f"  {row.problem}")
