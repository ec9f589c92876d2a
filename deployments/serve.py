"""`diligence serve` and `diligence mcp`: the operations for programs, until the process is stopped.

`serve` offers the API and its pages over HTTP; `mcp` offers the operations, passages and checks for an AI assistant,
on stdio.
"""

import sys
from typing import Annotated

import typer

from api import app
from api.mcp import create_server, local_runner
from deployments.terminal import echo


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="The number of server processes.")] = 1,
) -> None:
    """Serve the API and its pages."""
    app.serve(host, port, workers)


def mcp() -> None:
    """Serve an AI assistant on stdin and stdout.

    It speaks the Model Context Protocol.
    """
    if sys.stdin.isatty():
        echo("An AI assistant starts this command and speaks to it on stdin: see docs/assistants.md.", err=True)
    create_server(local_runner()).run("stdio")
