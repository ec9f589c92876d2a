"""The cells of tables in a text (a line for each row, cells separated by tabs), and the headers above and beside each.

A table without information about its headers is read as a person would: rows with a single cell are titles, followed by
the headers, if the first row of several cells has no figures other than years and dates; rows that begin with an empty
cell and have no figures still belong to them (years, then currencies). Sheets contain several tables: each run of rows
between empty lines may have its own headers, and otherwise those of the run before apply.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tasks.language.normalise import one_line

_MOST_HEADERS: Final = 5
"""Rows that a header of several lines has at most."""

_LONGEST_HEADER: Final = 10_000
"""Characters in which the end of a header is looked for."""

_MARK: Final = re.compile(r"\[(?:hidden|comment)[ ,:]")
_FIGURE: Final = re.compile(
    r"[-–−+(~<>≈]*+\s*+(?:[A-Z]{3}\s|[$€£¥])?+\s*+\(?+[-–−+]?+[.,]?+\d[\d\s.,'’]*(?:%|[a-zA-Z]{0,3}|[$€£¥])\)?"
    r"(?: \(-?\d[\d.E-]*\))?(?: \[computed\])?"  # the stored digits behind those that are shown; what was computed
)
_PERIOD: Final = re.compile(
    r"(?:(?:FY|CY|[HQ][1-4]|[1-4][HQ])\W*)?'?(?:19|20)\d\d(?:[/–-]\d\d(?:\d\d)?)?[A-Z]?"
    r"|\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
)


class Cell(NamedTuple):
    """The characters from `start` to `end` of a text, and the words of the headers of its row and column."""

    start: int
    end: int
    row: str
    column: str


_Row = list[tuple[int, str]]
"""Where each cell begins, and its words."""


def cells(text: str, spans: Sequence[tuple[int, int]], header_rows: int | None = None) -> Iterator[Cell]:
    """The cells with words in the table whose lines are in these spans of the text, in order.

    Args:
        text: the text.
        spans: where the table's lines stand; a sheet has several blocks of them.
        header_rows: how many rows at its beginning are headers; None where nothing says so.
    """
    headers: list[_Row] = []
    for run in _runs(text, spans):
        titles, header = (0, header_rows) if header_rows is not None else _find_header(run)
        if header or header_rows is not None:
            headers = run[titles : titles + header]
            header_rows = None
        for position, row in enumerate(run):
            yield from _place_cells(
                row, [] if position < titles + header else headers, within=position >= titles + header
            )


def header_rows(text: str, start: int, end: int) -> int:
    """How many of the first lines of the table between two offsets are titles and headers; 0 if that is not known."""
    lines = text[start : min(end, start + _LONGEST_HEADER)].split("\n", _MOST_HEADERS + 1)[: _MOST_HEADERS + 1]
    return sum(_find_header([_row(line, 0) for line in lines if line.strip()]))


def is_figure(words: str) -> bool:
    """Whether a cell contains a figure (an amount, a share, a count), and not a year or date, which head columns."""
    return _FIGURE.fullmatch(words) is not None and _PERIOD.fullmatch(words) is None


def _place_cells(row: _Row, headers: Sequence[_Row], *, within: bool) -> Iterator[Cell]:
    name = next((words for _, words in row if words), "") if within else ""
    if is_figure(name):
        name = ""
    named = not name
    for column, (start, words) in enumerate(row):
        if not words:
            continue
        if not named and words == name:  # the row's name itself
            named = True
            yield Cell(start, start + len(words), "", _over(headers, column))
        else:
            yield Cell(start, start + len(words), name, _over(headers, column))


def _over(headers: Sequence[_Row], column: int) -> str:
    """The words above a column; except in the last header row, a heading extends over the empty cells after it."""
    above: list[str] = []
    for position, row in enumerate(headers):
        words = row[column][1] if column < len(row) else ""
        if not words and position + 1 < len(headers):
            words = next((cell for _, cell in reversed(row[1 : column + 1]) if cell), "")
        if words and words not in above:
            above.append(words)
    return " ".join(above)


def _find_header(run: Sequence[_Row]) -> tuple[int, int]:
    """The number of titles above the headers of a run of rows, and the number of header rows."""
    for titles, row in enumerate(run):
        filled = [words for _, words in row if words]
        if len(filled) < 2 and not (titles + 1 < len(run) and filled and not row[0][1]):
            continue
        if any(is_figure(words) for words in filled) or titles + 1 == len(run):
            return 0, 0
        count = 1
        for following in run[titles + 1 : titles + _MOST_HEADERS]:
            if following[0][1] or any(is_figure(words) for _, words in following):
                break
            count += 1
        return titles, count
    return 0, 0


def _runs(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[list[_Row]]:
    """The rows of each run of lines without an empty line in between, not counting lines of marks."""
    run: list[_Row] = []
    for start, end in spans:
        at = start
        for line in text[start:end].split("\n"):
            if line.strip():
                if "\t" in line or not _MARK.match(line):
                    run.append(_row(line, at))
            elif run and at < end:
                yield run
                run = []
            at += len(line) + 1
    if run:
        yield run


def _row(line: str, at: int) -> _Row:
    row: _Row = []
    for piece in line.split("\t"):
        words = piece.strip()
        row.append((at + piece.find(words), one_line(words)))
        at += len(piece) + 1
    return row
