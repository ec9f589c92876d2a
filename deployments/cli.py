"""The command `diligence`. stdout is the result, stderr the progress.

Each command imports what it needs when it runs, so that `--help` and small commands stay quick.
Exit status: 0; 1 when something asked for failed, after all the rest was done; 2 for wrong use.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(
    name="diligence",
    help="Batch due diligence: data rooms in, a scored report out, every quote checked.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
SAMPLE = Path(__file__).parent / "sample" / "batch.yaml"


class ReportFormat(StrEnum):
    HTML = "html"
    XLSX = "xlsx"
    DOCX = "docx"
    JSON = "json"


def main() -> None:
    """Run the command line."""
    with errors_told():
        try:
            app()
        except SystemExit as ended:
            if ended.code == INTERRUPTED:
                raise KeyboardInterrupt from None  # Typer makes this of one, and says nothing
            raise


@contextmanager
def errors_told() -> Iterator[None]:
    """Every failure as a sentence on stderr and an exit status; a mistake of ours with its class only."""
    try:
        yield
    except KeyboardInterrupt:
        _end("Stopped. What was done is kept; the same command goes on from there.", INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(FAILED) from None
    except Exception as error:
        from pydantic import ValidationError

        from storage.database import DatabaseUnavailable
        from tasks.errors import BadRequest, DiligenceError

        if isinstance(error, ValidationError) and error.title.endswith("Settings"):
            for each in error.errors(include_url=False, include_input=False):
                name = str(each["loc"][0]).upper() if each["loc"] else error.title
                what = each["msg"].removeprefix("Value error, ")
                typer.echo(f"{name if name.startswith('OPENAI') else f'DILIGENCE_{name}'}: {what}.", err=True)
            raise SystemExit(WRONG_USE) from None
        if isinstance(error, BadRequest):
            _end(error.message, WRONG_USE)
        if isinstance(error, DiligenceError):
            _end(error.message, FAILED)
        if isinstance(error, DatabaseUnavailable):
            _end(str(error), FAILED)
        raise


def _end(sentence: str, status: int) -> NoReturn:
    typer.echo(sentence, err=True)
    raise SystemExit(status)


def _json(content: Any) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


@app.command()
def demo(out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("reports/demo")) -> None:
    """Run the sample batch, start to report, without any network."""
    from deployments.run import run_batch

    raise SystemExit(run_batch(SAMPLE, None, out))


@app.command()
def run(
    batch: Annotated[Path, typer.Argument(help="A batch file: YAML, or CSV with name, domain, folder.")],
    criteria: Annotated[Path | None, typer.Option(help="The criteria file; needed with a CSV.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the report; by default reports/<batch name>.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Tell calls, tokens and cost; ask no model, write no report.")
    ] = False,
) -> None:
    """Run a batch, going on where an earlier run of it stopped."""
    if estimate:
        from deployments.run import print_estimate

        raise SystemExit(print_estimate(batch, criteria))
    from deployments.run import run_batch

    raise SystemExit(run_batch(batch, criteria, out))


@app.command()
def index(
    folder: Annotated[str, typer.Argument(help="A path under the drive's root, a folder's id or its URL.")],
    recursive: Annotated[bool, typer.Option(help="Whether subfolders are indexed too.")] = True,
) -> None:
    """Print the document index of a folder as JSON."""
    from tasks.documents.drive.registry import acting_as_run_account, open_drive
    from tasks.documents.index import document_index

    with acting_as_run_account():
        _json(document_index(open_drive().find_folder(folder), recursive).answer())


@app.command()
def text(
    documents: Annotated[list[str], typer.Argument(help="Files, folders or document ids.")],
    out: Annotated[Path | None, typer.Option(help="Write each text to a file in this folder.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that read at the same time.")] = None,
) -> None:
    """Print the text of documents, or write it to files."""
    from deployments.texts import print_texts

    raise SystemExit(print_texts(documents, out, jobs))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    context: Annotated[Path | None, typer.Option(help="A text file with background.")] = None,
) -> None:
    """Ask a question, with a text as context if you like."""
    from tasks.ai.question import ai_question
    from tasks.errors import BadRequest

    try:
        background = context.read_text(encoding="utf-8") if context else None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{context} cannot be read as UTF-8 text. Is the path right?") from error
    typer.echo(ai_question(question, background).answer)


@app.command()
def facts(
    domain: Annotated[str, typer.Argument(help="The company's domain, such as example.com.")],
    claims: Annotated[bool, typer.Option("--claims", help="Also every source's word on every field.")] = False,
) -> None:
    """Print the company's profile as JSON."""
    from tasks.companies.facts import company_facts

    found = company_facts(domain)
    for warning in found.warnings:
        typer.echo(warning, err=True)
    _json(found.model_dump(mode="json", include=None if claims else {"profile"}))


@app.command("ask-company")
def ask_company(
    question: Annotated[str, typer.Argument(help="The question.")],
    name: Annotated[str | None, typer.Option(help="The company's name.")] = None,
    domain: Annotated[str | None, typer.Option(help="The company's domain.")] = None,
) -> None:
    """Ask a question about a company."""
    from tasks.companies.question import company_question

    typer.echo(company_question(question, name, domain).answer)


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    format: Annotated[ReportFormat, typer.Option(help="The format.")] = ReportFormat.HTML,  # noqa: A002 - what users type
    out: Annotated[Path | None, typer.Option(help="Write it to a file in this folder; else to stdout.")] = None,
) -> None:
    """Give the report of a run."""
    from flows.reports.files import write_report
    from flows.reports.formats import render
    from flows.reports.report import build
    from tasks.errors import BadRequest

    if out is not None:
        typer.echo(write_report(build(run), format.value, out))
    elif format in {ReportFormat.XLSX, ReportFormat.DOCX} and sys.stdout.isatty():
        raise BadRequest(f"A .{format.value} file is not for a terminal. Give --out FOLDER, or send it to a file.")
    else:
        sys.stdout.buffer.write(render(build(run), format.value))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000,
) -> None:
    """Serve the API and its pages."""
    from api.server import serve as serve_api

    serve_api(host, port)


@app.command()
def login(
    browser: Annotated[
        bool, typer.Option(help="Whether to open a browser; the address is printed in any case.")
    ] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port that the browser comes back to; 0: any.")] = 0,
) -> None:
    """Log this machine in with an account of the drive, for runs and the command line."""
    from deployments.login import log_in

    typer.echo(log_in(port, browser=browser))


@app.command()
def deploy(
    batch: Annotated[Path, typer.Option(help="The batch that the schedule runs.")] = SAMPLE,
    reports: Annotated[Path, typer.Option(help="The folder for the reports of scheduled runs.")] = Path("reports"),
    cron: Annotated[str, typer.Option(help="When, as cron's five fields.")] = "0 20 * * 1-5",
    timezone: Annotated[str, typer.Option(help="Whose hours they are, such as Europe/Berlin.")] = "UTC",
    pool: Annotated[str, typer.Option(help="The process work pool.")] = "diligence",
) -> None:
    """Register the scheduled deployments with the Prefect server that PREFECT_API_URL names."""
    from deployments.prefect import register

    for name in register(batch, reports, cron, timezone, pool):
        typer.echo(name)


@app.command()
def doctor() -> None:
    """Say what is configured, what answers and what is missing."""
    from deployments.doctor import examine

    raise SystemExit(examine())


if __name__ == "__main__":
    main()
