"""Commands about runs: list them, write the report or the tables of one, list webhooks, compare people's scores.

`labels` exports and imports people's opinions of scores as CSV or JSON, and says how far the program agrees.
"""

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import duckdb
import typer

from deployments.terminal import PrintFormat, echo, harmless_cell, print_csv, print_json
from storage import database, runs
from storage.runs import Run
from storage.scores import DecisionKind
from tasks.errors import BadRequest, DiligenceError, NotFound
from tasks.files import check_writable
from tasks.language.normalise import one_line
from tasks.reports.company import CompanyRows, review_of
from tasks.reports.files import TABLES, ExportTable, ReportFormat, as_json, make_standalone, render, write_report
from tasks.reports.report import build, load_results, result_lines
from tasks.review import Act, CriterionAgreement, JudgedLabel, agreement, decide, named_run, read_labels
from tasks.webhooks import check_webhooks, send_due


def list_runs(
    most: Annotated[int, typer.Option("--most", min=1, help="How many runs to list.")] = 20,
) -> None:
    """List the runs, newest first, with status, ranking and cost."""
    database.check_exists()
    with database.reading() as session:
        rows = runs.newest_runs(session, most)
        under_way = [row for row in rows if runs.is_under_way(session, row)]
    if not rows:
        echo("There is no run yet: `diligence run` makes one.", err=True)
    for row in rows:
        ended = "killed before its report was written" if row.reported_at is None else row.status.value
        status = row.status.value if row in under_way else ended
        echo(f"{row.id}  {row.started_at:%Y-%m-%d %H:%M} UTC  {status}  {one_line(row.batch)}")
        for line in result_lines(load_results(row.id)):
            echo(f"  {line}")


def report(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    format: Annotated[ReportFormat, typer.Option(help="The format.")] = ReportFormat.HTML,  # noqa: A002 - what users type
    out: Annotated[Path | None, typer.Option(help="Write it to a file in this folder; by default, to stdout.")] = None,
) -> None:
    """Write the report of a run, or print it."""
    database.check_exists()
    if out is not None:
        check_writable(out, f"report.{format}")
        echo(write_report(build(run), format, out))
    elif not format.is_text and sys.stdout.isatty():
        raise BadRequest(f"A .{format} file cannot be shown in a terminal. Give --out FOLDER, or redirect it.")
    else:
        built = build(run)
        sys.stdout.buffer.write(render(built if format is ReportFormat.JSON else make_standalone(built), format))


def list_webhooks(
    most: Annotated[int, typer.Option("--most", min=1, help="How many deliveries to list.")] = 20,
    retry: Annotated[bool, typer.Option("--retry", help="Retry failed deliveries now.")] = False,
) -> None:
    """List webhook deliveries, newest first, or retry failed ones."""
    check_webhooks()
    database.check_exists()
    if retry:
        with database.writing() as session:
            runs.make_due(session)
        send_due()
    with database.reading() as session:
        rows = runs.newest_deliveries(session, most)
    if not rows:
        echo("Nothing was sent yet. DILIGENCE_WEBHOOKS names the receivers.", err=True)
    for row in rows:
        state = "delivered" if row.delivered_at else "waiting" if row.next_at else "given up"
        echo(f"{row.created_at:%Y-%m-%d %H:%M} UTC  {row.event}  {state}  attempts: {row.attempts}  {row.url}")
        if row.problem:
            echo(f"  {row.problem}")


def export(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    out: Annotated[Path, typer.Option(help="The folder for the files, one per table.")],
    format: Annotated[Literal["parquet", "csv"], typer.Option(help="The format.")] = "parquet",  # noqa: A002 - what users type
) -> None:
    """Write the tables of a run to files, for analysis."""
    database.check_exists()
    names = [f"{name}.{format}" for name in TABLES]
    check_writable(out, *names)
    report: Mapping[str, Any] = json.loads(as_json(build(run)))
    if report["run"]["finished_at"] is None:
        echo("The run has not ended: the tables hold what it has done so far.", err=True)
    try:
        for (name, table), file_name in zip(TABLES.items(), names, strict=True):
            part = out / f".{file_name}.part"
            count = _WRITERS[format](table, table.rows(report), part)
            part.replace(out / file_name)
            echo(f"{out / file_name}: {count:,} {'row' if count == 1 else 'rows'} of {name}")
    except OSError as error:
        raise BadRequest(f"The tables cannot be written ({error.strerror}). Choose another --out.") from error


def _write_csv(table: ExportTable, rows: Iterator[tuple[Any, ...]], target: Path) -> int:
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - counted
            writer.writerow(harmless_cell(cell) if isinstance(cell, str) else cell for cell in row)
    return count


def _write_parquet(table: ExportTable, rows: Iterator[tuple[Any, ...]], target: Path) -> int:
    """DuckDB reads JSON lines by the table's own types: https://duckdb.org/docs/stable/data/json/loading_json."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as lines:
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - counted
            lines.write(json.dumps(dict(zip(table.columns, row, strict=True))) + "\n")
        lines.flush()
        with duckdb.connect(":memory:") as connection:
            source = connection.read_json(lines.name, format="newline_delimited", columns=dict(table.columns))
            source.write_parquet(str(target))
    return count


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv}


_COLUMNS: Final = [field.name for field in fields(JudgedLabel)]
_NEEDED: Final = ("domain", "criterion", "person")


def labels(
    action: Annotated[
        Literal["export", "import"], typer.Argument(help="export prints them; import reads FILE and prints agreement.")
    ],
    file: Annotated[Path | None, typer.Argument(help="For import: CSV or JSON with domain, criterion, person.")] = None,
    run: Annotated[str, typer.Option(help="A run's id, a batch's name (its latest run) or latest.")] = "latest",
    below: Annotated[
        float, typer.Option(min=0, max=1, help="Mark criteria whose agreement is below this value.")
    ] = 0.8,
    by: Annotated[str, typer.Option(help="For import: who gave the labels, where FILE has no column by.")] = "import",
    format: Annotated[PrintFormat, typer.Option(help="The format.")] = "table",  # noqa: A002 - what users type
) -> None:
    """Export or import people's scores, and measure agreement."""
    database.check_exists()
    problems = []
    if action == "import":
        if file is None:
            raise BadRequest("Name the file with the labels: `diligence labels import FILE`.", {"file": "needed"})
        problems = _import(file, run, by)
    _, given = read_labels(run)
    rows = agreement(given, below)
    _print(given, rows, format)
    if not given:
        echo("Nobody has set or confirmed a score of this run yet.", err=True)
    for problem in problems:
        echo(problem, err=True)
    if problems:
        raise SystemExit(1)


def _print(given: list[JudgedLabel], rows: list[CriterionAgreement], format: PrintFormat) -> None:  # noqa: A002 - as above
    if format == "json":
        print_json({"criteria": [asdict(row) for row in rows], "labels": [asdict(label) for label in given]})
    elif format == "csv":
        of = {row.criterion: (row.agreement, row.is_below) for row in rows}
        cells = ([*asdict(label).values(), *of[label.criterion]] for label in given)
        print_csv([*_COLUMNS, "agreement", "is_below"], cells)
    else:
        for row in rows:
            mark = "  below what was chosen" if row.is_below else ""
            echo(f"{row.agreement:>5.0%}  {row.criterion}: {row.same} of {row.labels} the same{mark}")
        for label in given:
            if label.distance:
                echo(f"  {label.company}, {label.criterion}: program {label.program}, {label.by} {label.person}")


def _import(file: Path, reference: str, by: str) -> list[str]:
    """Write the labels in a file to the log; returns a sentence for each that was wrong.

    Raises:
        BadRequest: it is not such a file.
        NotFound: there is no such run.
    """
    rows = _read(file)
    with database.reading() as session:
        run = named_run(session, reference)
    problems = []
    for line, row in rows:
        try:
            _write(run, row, by)
        except DiligenceError as error:
            problems.append(f"{file.name}, {line}: {error.message}")
    return problems


def _write(run: Run, row: Mapping[str, Any], by: str) -> None:
    """Record a label: one that differs from the score in force sets a score; the program's own is signed off."""
    domain, criterion = str(row["domain"]), str(row["criterion"])
    with database.reading() as session:
        company = runs.find_company(session, run.id, domain)
        if company is None:
            raise NotFound(f"The run has no company {domain!r}.")
        review = review_of(session, run, company, CompanyRows.of(session, company))
    cell, person = review.cells.get(criterion), str(row["person"])
    own = None if cell is None or cell["score"] is None else f"{cell['score']:g}"
    kind = DecisionKind.SIGN_OFF if person in {own, str(cell and cell["score"])} else DecisionKind.OVERRIDE
    reason = str(row.get("reason") or "imported label")
    act = Act(criterion, kind, review.newest(criterion), value=person, reason=reason)
    decide(run, domain, review, act, str(row.get("by") or by))


def _read(file: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows of a file that have a label, each with its place in words."""
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"{file.name} cannot be opened ({error.strerror}). Is the path right?") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{file.name} is not UTF-8 text. Save it as UTF-8.") from error
    try:
        content = json.loads(text) if file.suffix.lower() == ".json" else list(csv.DictReader(text.splitlines()))
    except ValueError as error:
        raise BadRequest(f"{file.name} is not JSON: {error}.") from error
    listed = content.get("labels") if isinstance(content, dict) else content
    if not isinstance(listed, list) or not all(isinstance(row, dict) and set(_NEEDED) <= set(row) for row in listed):
        raise BadRequest(f"{file.name} needs the columns {', '.join(_NEEDED)}; by and reason may stand beside them.")
    first, what = (1, "entry") if file.suffix.lower() == ".json" else (2, "line")
    return [(f"{what} {at}", row) for at, row in enumerate(listed, first) if row["person"] not in {None, ""}]
