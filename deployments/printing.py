"""How commands print tables: in columns, as JSON or as CSV."""

import csv
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import typer

from deployments.terminal import harmless_cell

PrintFormat = Literal["table", "json", "csv"]
"""How a table is printed."""


def print_json(content: Any) -> None:
    """Print content as JSON that people can read."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table as CSV; no spreadsheet will take its texts for formulas."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([harmless_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def align(
    rows: Sequence[Sequence[str]], right: Collection[int] = (), widths: Sequence[int] | None = None
) -> Iterator[str]:
    """The lines of a table with aligned columns, two spaces apart.

    Args:
        rows: the cells of each line, the head among them.
        right: the columns that end below each other.
        widths: of the columns, where longer cells are to be cut.
    """
    widths = widths or [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(row, widths, strict=True)
        ]
        yield "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
