"""What commands print: every stream escapes what could steer a terminal, and `echo` keeps a sentence on its line."""

import codecs
from typing import Any, TextIO

import typer

from tasks.language.escaped import escape_line, escape_text, spell_characters

codecs.register_error("escaped", lambda error: (spell_characters(error.object[error.start : error.end]), error.end))  # type: ignore[attr-defined]


class Escaping:
    r"""A stream of text that shows what is unsafe in a terminal or a log as `\u001b`; its `buffer` takes bytes as is.

    Rich writes its own colours past it, to the stream that is named `rich_proxied_file`; see `deployments/run.py`.
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
    """Print a line, whatever names it has, on stdout or stderr; tabs part its cells, and nothing else does."""
    typer.echo("\t".join(escape_line(str(cell)) for cell in cells), err=err)


def harmless_cell(value: str | None) -> str | None:
    """A cell that no spreadsheet takes for a formula; negative numbers stay numbers."""
    value = escape_line(value) if value else value
    if (value and value[0] in "=+@\t\r") or (value and value[0] == "-" and not value[1:2].isdigit()):
        return f"'{value}"
    return value
