"""`diligence mcp`: the operations, passages and checks for an AI assistant, on stdio."""

import sys

from api.mcp import create_server, local_runner
from deployments.terminal import echo


def mcp() -> None:
    """Serve an AI assistant on stdin and stdout (Model Context Protocol)."""
    if sys.stdin.isatty():
        echo("An AI assistant starts this command and speaks to it on stdin: see docs/assistants.md.", err=True)
    create_server(local_runner()).run("stdio")
