"""`diligence index`: the document index of a folder."""

import gc
from typing import Annotated

import typer

from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.documents.index import document_index


def index(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    recursive: Annotated[bool, typer.Option(help="Whether subfolders are indexed too.")] = True,
) -> None:
    """Print the document index of a folder as JSON."""
    gc.disable()  # tens of thousands of small objects that all live to the end: a tenth of the time
    try:
        with acting_as_run_account():
            index_of_folder = document_index(open_drive().find_folder(folder), recursive)
        typer.echo(index_of_folder.as_json())
    finally:
        gc.enable()
