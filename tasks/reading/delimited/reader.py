"""Values split by commas, semicolons, tabs or bars (.csv, .tsv): rows one a line, cells split by tabs.

Cells stand as the file writes them: `1.234,50` stays `1.234,50`.
"""

import re
from itertools import islice
from typing import Final

from tasks.reading import limits
from tasks.reading.delimited import dialect
from tasks.reading.delimited.rows import DelimitedRows
from tasks.reading.places import TABLE
from tasks.reading.text_writer import Reading, Source, Writer
from tasks.reading.txt.reader import text_and_warnings

_SPACE: Final = re.compile("[ \t\n]+")
_AROUND_TABS: Final = re.compile(" ?\t ?")
_TRAILING: Final = re.compile("(?<![ \t])[ \t]++$", re.MULTILINE)
_AT_ONCE: Final = 1_000
_MOST_TRAILING: Final = 1_000_000
_HEAD: Final = 1 << 16


def read(source: Source) -> Reading:
    """The rows of the file in `source`, a table; an empty line stays one. An empty file is an empty text.

    Of a file of more than 64 MB the first ones are read, with a warning.
    """
    text, warnings = text_and_warnings(source)
    writer = Writer()
    for warning in warnings:
        writer.warn(warning)
    sign, begins = dialect.directive(text)
    text = text[begins:].strip("\n")
    if sign is None:
        sign = dialect.delimiter(text)
    if sign is None and '"' not in text:
        writer.text(text)
        return writer.reading()
    sign = sign or ","
    header = dialect.has_header([_cells(row) for row in islice(DelimitedRows(text[:_HEAD], sign), 200)])
    with writer.place(TABLE, "1" if header else ""):
        if '"' in text:
            _write_rows(DelimitedRows(text, sign), writer)
        else:
            writer.text(_split(text, sign))
    return writer.reading()


def _write_rows(rows: DelimitedRows, writer: Writer) -> None:
    remaining = iter(rows)
    while lines := ["\t".join(_cells(row)).rstrip("\t") for row in islice(remaining, _AT_ONCE)]:
        writer.line("\n".join(lines))
        if limits.is_near():
            writer.warn("The file has too many rows: those that could be read in time are here.")
            break
    if rows.unclosed:
        count = f"{rows.unclosed:,}"
        writer.warn(f"Quotation marks are never closed ({count}): they were read as characters of their cells.")


def _cells(row: list[str]) -> list[str]:
    return [_SPACE.sub(" ", cell).strip(" ") for cell in row]


def _split(text: str, sign: str) -> str:
    """The same for a text without quotes, all of it at once."""
    if sign != "\t":
        text = text.replace("\t", " ").replace(sign, "\t")
    if "  " in text:
        text = re.sub(" {2,}", " ", text)
    if " \t" in text or "\t " in text:
        text = _AROUND_TABS.sub("\t", text)
    text = text.replace("\n ", "\n")
    if text.endswith(("\t", " ")) or 0 < text.count("\t\n") + text.count(" \n") < _MOST_TRAILING:
        text = _TRAILING.sub("", text)
    return text
