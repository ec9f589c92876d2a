"""`diligence export`: the tables of a run as Parquet or CSV files."""

import csv
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
import typer

from deployments.terminal import echo, harmless_cell
from storage import database
from tasks.errors import BadRequest
from tasks.reports.export import TABLES, ExportTable
from tasks.reports.files import as_json
from tasks.reports.replacing import check_writable
from tasks.reports.report import build


def export(
    run: Annotated[str, typer.Argument(help="A run's id, a batch's name (its latest run) or latest.")],
    out: Annotated[Path, typer.Option(help="The folder for the files, one a table.")],
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
