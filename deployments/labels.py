"""`diligence labels`: people's opinions of scores, exported and imported as CSV or JSON, and how far the program
agrees.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from deployments.terminal import PrintFormat, echo, print_csv, print_json
from storage import database, runs
from storage.decisions import DecisionKind
from storage.runs import Run
from tasks.errors import BadRequest, DiligenceError, NotFound
from tasks.reports.company import CompanyRows, review_of
from tasks.review.agreement import CriterionAgreement, JudgedLabel, agreement, read_labels
from tasks.review.decide import Act, decide
from tasks.review.state import named_run

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
