"""`diligence index`: the document index of a folder."""

import json
from typing import Annotated

import typer

from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.documents.index import document_index


def index(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    recursive: Annotated[bool, typer.Option(help="Whether subfolders are indexed too.")] = True,
) -> None:
    """Print the document index of a folder as JSON."""
    with acting_as_run_account():
        answer = document_index(open_drive().find_folder(folder), recursive).answer()
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
