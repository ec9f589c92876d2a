"""`diligence index`, `ask`, `facts` and `ask-company`: one operation each, its answer printed."""

import gc
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from deployments.rooms import named_place, read_place, report_unread
from deployments.terminal import echo, print_json
from deployments.texts import read_all
from tasks.ai.registry import current_answerer
from tasks.answers import ai_question
from tasks.companies.facts import company_facts
from tasks.companies.profile import field_name, fields
from tasks.companies.question import company_question
from tasks.documents.drive.registry import acting_as_run_account, open_drive
from tasks.documents.index import document_index
from tasks.errors import BadRequest, NotAllowed, check_question
from tasks.language.normalise import one_line
from tasks.privacy import find_privileged_files, may_read_all, say_kept
from tasks.rooms import RoomAnswer, RoomPassages, ask_room


def index(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    recursive: Annotated[bool, typer.Option(help="Whether subfolders are included.")] = True,
) -> None:
    """Print the document index of a folder as JSON."""
    gc.disable()  # tens of thousands of small objects that all live to the end: a tenth of the time
    try:
        with acting_as_run_account(), named_place():
            index_of_folder = document_index(open_drive().find_folder(folder), recursive)
        typer.echo(index_of_folder.as_json())
    finally:
        gc.enable()


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[str | None, typer.Option(help="Background: a document, a folder or a document's id.")] = None,
    room: Annotated[
        list[str] | None,
        typer.Option(
            help="A data room to ask: the answer quotes it, with places. Repeat the option for several rooms."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - what users type
        Literal["text", "json"], typer.Option(help="How an answer from a room is printed.")
    ] = "text",
) -> None:
    """Ask a question, optionally about a document or a data room."""
    if room and context:
        raise BadRequest("Give --context or --room, not both.", {"room": "not with --context"})
    if not room:
        typer.echo(ai_question(question, _read_context(context) if context else None).answer)
        return
    answers = [(folder, _ask_room(question, folder)) for folder in room]
    if format == "json":
        content = [{"room": folder} | answer.model_dump(mode="json", exclude=_INTERNAL) for folder, answer in answers]
        print_json(content if len(content) > 1 else content[0])
        return
    for place, (folder, answer) in enumerate(answers):
        if len(answers) > 1:
            echo(f"{'' if place == 0 else chr(10)}{folder}:")
        echo("\n\n".join([answer.answer, *answer.notes]))
        for number, quote in enumerate(answer.quotes, 1):
            echo(f"[{number}] {quote.document_name}, {quote.place} — “{one_line(quote.text)}”")


def _read_context(name: str) -> str:
    """The texts of a document or folder, one after the other, without what may not go to the model.

    Raises:
        NotAllowed: nothing of it may.
    """
    with named_place():
        read = read_all(name)
    answerer = current_answerer()
    is_open = may_read_all(answerer.model, answerer.address)
    kept = set[str]() if is_open else find_privileged_files(name, read)
    if kept:
        echo(say_kept(sorted(kept)), err=True)
    if kept == read.keys():
        raise NotAllowed(f"{name} may not be sent to the model: it is privileged (DILIGENCE_AI_PRIVILEGED).")
    return "\n\n".join(reading.text for document, reading in read.items() if document not in kept)


_INTERNAL: Final = {"quotes": {"__all__": {"text_id", "start", "end"}}}


def _ask_room(question: str, folder: str) -> RoomAnswer:
    check_question(question)
    read = report_unread(read_place(folder))
    if not read.texts:
        raise BadRequest(f"There is no document in {folder} that can be read. Give another --room.")
    names = Path(folder).name.replace("-", " ").replace("_", " ")
    return ask_room(question, RoomPassages(read.texts, [folder], by_meaning=True), names, read.unread)


def facts(
    domain: Annotated[str | None, typer.Argument(help="The company's domain, such as example.com.")] = None,
    claims: Annotated[bool, typer.Option("--claims", help="Also print what each source says of each field.")] = False,
    list_fields: Annotated[bool, typer.Option("--fields", help="List the fields that `fact:` may name.")] = False,
) -> None:
    """Print a company's profile as JSON, or list its fields."""
    if list_fields:
        for path, kind in fields().items():
            echo(path, kind.value, field_name(path))
        return
    if domain is None:
        raise BadRequest("Name the company's domain, such as example.com, or ask for --fields.")
    answer = company_facts(domain)
    for warning in answer.warnings:
        echo(warning, err=True)
    print_json(answer.model_dump(mode="json", include=None if claims else {"profile"}))


def ask_company(
    question: Annotated[str, typer.Argument(help="The question.")],
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
    domain: Annotated[str | None, typer.Option(help="The company's domain.")] = None,
) -> None:
    """Ask a question about a company."""
    if name is None and domain is None:
        raise BadRequest("Name the company with --domain, such as example.com, or with --name.")
    typer.echo(company_question(question, name, domain).answer)
