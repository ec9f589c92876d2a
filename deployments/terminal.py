"""What commands print: sentences and tables.

Every stream escapes control characters, and `echo` keeps each sentence on one line. Tables are printed in columns, as
JSON or as CSV.
"""

import codecs
import csv
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, TextIO

import typer

from tasks.language.normalise import escape_line, escape_text, spell_characters

codecs.register_error("escaped", lambda error: (spell_characters(error.object[error.start : error.end]), error.end))  # type: ignore[attr-defined]


class Escaping:
    r"""A text stream that shows characters unsafe in a terminal or log as `\u001b`; its `buffer` takes bytes unchanged.

    Rich writes its own colours around it, to the stream named `rich_proxied_file`; see `deployments/run.py`.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream
        if hasattr(stream, "reconfigure"):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"  # Click takes such for a mistake and writes UTF-8
            stream.reconfigure(encoding="utf-8" if is_ascii else None, errors="escaped")

    def write(self, text: str) -> int:
        return self.rich_proxied_file.write(escape_text(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def echo(*cells: object, err: bool = False) -> None:
    """Print the cells as one line on stdout or stderr, separated by tabs; tabs and line breaks in their text are
    escaped.
    """
    typer.echo("\t".join(escape_line(str(cell)) for cell in cells), err=err)


def harmless_cell(value: str | None) -> str | None:
    """The cell, changed if a spreadsheet would take it for a formula; negative numbers stay numbers."""
    value = escape_line(value) if value else value
    if (value and value[0] in "=+@\t\r") or (value and value[0] == "-" and not value[1:2].isdigit()):
        return f"'{value}"
    return value


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
