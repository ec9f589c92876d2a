"""`diligence index`, `ask`, `facts` and `ask-company`: one operation each, its answer printed."""

import gc
import json
from typing import Annotated

import typer

from deployments.terminal import echo
from deployments.texts import read_text
from tasks.ai.question import ai_question
from tasks.companies.facts import company_facts
from tasks.companies.profile import field_name, fields
from tasks.companies.question import company_question
from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.documents.index import document_index
from tasks.errors import BadRequest


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


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[str | None, typer.Option(help="Background: a document, a folder or a document's id.")] = None,
) -> None:
    """Ask a question, with a document or a folder as context if you like."""
    typer.echo(ai_question(question, read_text(context) if context else None).answer)


def facts(
    domain: Annotated[str | None, typer.Argument(help="The company's domain, such as example.com.")] = None,
    claims: Annotated[bool, typer.Option("--claims", help="Also print what each source says of each field.")] = False,
    list_fields: Annotated[bool, typer.Option("--fields", help="List the fields that `fact:` may name.")] = False,
) -> None:
    """Print the company's profile as JSON, or the fields that `fact:` may name."""
    if list_fields:
        for path, kind in fields().items():
            echo(path, kind.value, field_name(path))
        return
    if domain is None:
        raise BadRequest("Name the company's domain, such as example.com, or ask for --fields.")
    answer = company_facts(domain)
    for warning in answer.warnings:
        echo(warning, err=True)
    content = answer.model_dump(mode="json", include=None if claims else {"profile"})
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def ask_company(
    question: Annotated[str, typer.Argument(help="The question.")],
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
    domain: Annotated[str | None, typer.Option(help="The company's domain.")] = None,
) -> None:
    """Ask a question about a company."""
    typer.echo(company_question(question, name, domain).answer)
