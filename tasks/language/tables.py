"""Tables in texts: rows one a line, cells split by tabs.

`table_cells` finds the cells of tables in a text, and the headers above and beside each. A table without information
about its headers is read as a person would: rows with a single cell are titles, followed by the headers, if the first
row of several cells has no figures other than years and dates; rows that begin with an empty cell and have no figures
still belong to them (years, then currencies). Sheets contain several tables: each run of rows between empty lines may
have its own headers, and otherwise those of the run before apply.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from tasks.language.normalise import one_line

_MOST_HEADERS: Final = 5
"""Rows that a header of several lines has at most."""

_LONGEST_HEADS: Final = 10_000
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


def table_cells(text: str, spans: Sequence[tuple[int, int]], header_rows: int | None = None) -> Iterator[Cell]:
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
    lines = text[start : min(end, start + _LONGEST_HEADS)].split("\n", _MOST_HEADERS + 1)[: _MOST_HEADERS + 1]
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
            words = _reaching(row, column)
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


_LONGEST_QUOTED: Final = 1_500
"""Characters of a quotation of cells; of longer ones the sentence is quoted."""
_LONGEST_CELL: Final = 100
"""Characters of a cell that is quoted whole for a part of it."""
_MOST_LABELS: Final = 4
"""Cells before those quoted that may name their row: "4000 | Revenue"."""
_MOST_RUNS: Final = 20
"""Runs of a sheet before the one quoted, whose header may hold for it."""
_MOST_ABOVE: Final = 200
"""Rows above one that may give the time of what stands below them."""
_LINE_END: Final = re.compile(r"[\n\f]")
_RUN: Final = re.compile(r"\A|[\n\f](?:[ \t]*[\n\f])+|\f")


def quote_cells(text: str, start: int, end: int) -> str | None:
    """Cells of one row as they are quoted: under the headers of their columns, and behind what names their row.

    Rows are lines and cells are parted by tabs, as in the text. None where the span lies in no row of several cells, or
    is a part of one with many words.
    """
    begin, stop = _line(text, start)
    if stop < end or "\t" not in text[begin:stop]:
        return None
    row = _row(text[begin:stop], begin)
    cited = [at for at, (first, words) in enumerate(row) if words and first < end and start < first + len(words)]
    if not cited or (len(cited) == 1 and end - start < len(row[cited[0]][1]) > _LONGEST_CELL):
        return None
    quoted = range(cited[0], cited[-1] + 1)
    columns = [*_labels(row, cited[0]), *quoted]
    lines: list[list[str]] = []
    for head, extends in _heads(text, begin, row[cited[0]][1], cited[0]):
        words = [head[at][1] if at < len(head) else "" for at in columns]
        if extends:
            words[-len(quoted) :] = [_reaching(head, at) for at in quoted]
        if any(words[-len(quoted) :]):
            lines.append(words)
    written = "\n".join("\t".join(words) for words in [*lines, [row[at][1] for at in columns]])
    return written if len(written) <= _LONGEST_QUOTED else None


def telling_cell(text: str, start: int, end: int, question: str) -> tuple[int, int] | None:
    """The cell of a wide sheet's passage whose row and headers have most words of a question; None of a narrow one."""
    words = {*_WORD.findall(question.lower())}
    rows = [row for run in _runs(text, [(_line(text, start)[0], end)]) for row in run]
    if max(map(len, rows), default=0) <= WIDEST:
        return None
    rows = [row for row in rows if any(is_figure(cell) for _, cell in row)] or rows
    row = max(rows, key=lambda row: len(words.intersection(_WORD.findall(" ".join(cell for _, cell in row).lower()))))
    labels = _labels(row, len(row))
    filled = [at for at, (_, cell) in enumerate(row) if cell and at not in labels] or labels[-1:]
    heads = [head for head, _ in _heads(text, _line(text, row[0][0])[0], row[filled[0]][1], filled[0])]
    over = {at: _WORD.findall(" ".join(head[at][1] for head in heads if at < len(head)).lower()) for at in filled}
    start, cell = row[max(filled, key=lambda at: len(words.intersection(over[at])))]
    return start, start + len(cell)


WIDEST: Final = 12
"""Columns of a table that is shown whole."""
_WORD: Final = re.compile(r"\d+|[^\W\d_]+")


def find_cells(quotation: str, text: str, near: int = 0) -> tuple[int, int] | None:
    """Where cells stand that `quote_cells` quotes so; the first place from the offset `near` on, else the first."""
    wanted = "\n".join("\t".join(map(one_line, line.split("\t"))) for line in quotation.strip("\n").split("\n"))
    last = wanted.rpartition("\n")[2].split("\t")
    if wanted == last[0]:
        return None  # a cell and nothing that names it
    places = (islice(_spans_of(last, text, first), _MOST_PLACES) for first in (near, 0))
    return next((span for of in places for span in of if quote_cells(text, *span) == wanted), None)


_MOST_PLACES: Final = 2_000
"""Cells that are compared with a quotation."""


def _spans_of(cells: Sequence[str], text: str, first: int) -> Iterator[tuple[int, int]]:
    """The spans of the last of these cells, of the last two, and so on, in the rows that have them."""
    longest = max(cells, key=len)
    place = text.find(longest, first) if longest else -1
    while place >= 0:
        begin, stop = _line(text, place)
        row = _row(text[begin:stop], begin)
        for at, (start, words) in enumerate(row, 1):
            if words == cells[-1]:
                behind = [cell for _, cell in row[max(at - len(cells), 0) : at]]
                counts = range(1, len(behind) + 1)
                yield from ((row[at - n][0], start + len(words)) for n in counts if behind[-n:] == list(cells[-n:]))
        place = text.find(longest, stop)


def _line(text: str, at: int) -> tuple[int, int]:
    """Where the line at an offset begins and ends."""
    begin = text.rfind("\n", 0, at) + 1
    return text.rfind("\f", begin, at) + 1 or begin, _line_end(text, at)


def _line_end(text: str, at: int) -> int:
    end = _LINE_END.search(text, at)
    return end.start() if end else len(text)


def _labels(row: _Row, before: int) -> list[int]:
    """Which of a row's first cells name it: up to the first in words, else the first that is no figure."""
    filled = list(islice((at for at in range(min(before, len(row))) if row[at][1]), _MOST_LABELS))
    for count, at in enumerate(filled, 1):
        words = row[at][1]
        if any(map(str.isalpha, words)) and not any(map(str.isdecimal, words)):
            return filled[:count]
    return [at for at in filled[:1] if not is_figure(row[at][1])]


def _heads(text: str, begin: int, words: str, column: int) -> Iterator[tuple[_Row, bool]]:
    """The header rows over the row that begins at an offset, and whether headings in each extend over empty cells.

    Behind them comes the nearest row of times over a figure (`words` in this column), where a table has another one.
    """
    starts = _run_starts(text)
    last = bisect_right(starts, begin)
    page = bisect_left(starts, text.rfind("\f", 0, begin) + 1)
    behind, heads = starts[last - 1], list[_Row]()
    for first in reversed(starts[max(last - _MOST_RUNS, page) : last]):
        limit = text.find("\f", first, first + _LONGEST_HEADS)
        run = next(_runs(text, [(first, limit if limit >= 0 else first + _LONGEST_HEADS)]), [])
        titles, count = _find_header(run)
        if count:
            heads = run[titles : titles + count]
            behind = heads[-1][0][0]
            break
    times = _times_over(text, behind, begin, column) if is_figure(words) else None
    for position, row in enumerate(heads, 1):
        if row[0][0] < begin:
            yield row, position < len(heads) or (times is not None and not row[0][1])
    if times is not None:
        yield times, False


def _times_over(text: str, behind: int, begin: int, column: int) -> _Row | None:
    """The nearest row without figures over an offset that has a time in this column."""
    for _ in range(_MOST_ABOVE):
        end = begin - 1
        begin = text.rfind("\n", behind, end) + 1
        if not begin:
            return None
        row = _row(text[begin:end], begin)
        if column < len(row) and _PERIOD.fullmatch(row[column][1]) and not any(is_figure(cell) for _, cell in row):
            return row
    return None


@lru_cache(maxsize=8)
def _run_starts(text: str) -> list[int]:
    """Where the runs of lines of a text begin, which empty lines and page breaks part."""
    return [match.end() for match in _RUN.finditer(text)]


def _reaching(head: _Row, column: int) -> str:
    """The heading of a column in a row of headings that extend over the empty cells after them."""
    return next((words for _, words in reversed(head[1 : column + 1]) if words), "")
