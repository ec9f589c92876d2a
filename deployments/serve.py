"""`diligence serve`: the API and its pages, until the process is stopped."""

from typing import Annotated

import typer

from api import server


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes serve, on one address.")] = 1,
) -> None:
    """Serve the API and its pages."""
    server.serve(host, port, workers)
