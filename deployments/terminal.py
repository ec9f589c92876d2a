"""What commands print: every stream escapes control characters, and `echo` keeps each sentence on one line."""

import codecs
from typing import Any, TextIO

import typer

from tasks.language.escaped import escape_line, escape_text, spell_characters

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
