"""Tables in texts: rows one a line, cells split by tabs.

`table_cells` finds the cells of tables in a text, and the headers above and beside each. A table without information
about its headers is read as a person would: rows with a single cell are titles, followed by the headers, if the first
row of several cells has no figures other than years and dates; rows that begin with an empty cell and have no figures
still belong to them (years, then currencies). Sheets contain several tables: each run of rows between empty lines may
have its own headers, and otherwise those of the run before apply.
"""

import re
from collections.abc import Iterator, Sequence
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
    lines = text[start : _end_of_heads(text, start, end)].split("\n", _MOST_HEADERS + 1)[: _MOST_HEADERS + 1]
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


_LONGEST_QUOTED: Final = 1_500
_LONGEST_CELL: Final = 100
"""Characters of a cell that is quoted whole for a part of it."""
_MOST_PLACES: Final = 500
_MOST_LABELS: Final = 4
_NAME: Final = re.compile(r"\D*[^\W\d_]\D*")
_WORD: Final = re.compile(r"[^\W\d_]{3}")
_NO_FIGURES: Final = re.compile(r"^[^\d\n\t]*\t[^\d\n]*$", re.MULTILINE)
_LINE_END: Final = re.compile(r"[\n\f]|\Z")


def quote_cells(text: str, start: int, end: int) -> str | None:
    """Cells of one row as they are quoted: under the headers of their columns, and behind what names their row.

    Rows are lines and cells are parted by tabs, as in the text. None where the span lies in no row of several cells, or
    is a part of one with many words, or may stand under the header of another table.
    """
    begin, row = _row_at(text, start)
    cited = [at for at, (first, words) in enumerate(row) if words and first < end and start < first + len(words)]
    behind = row[-1][0] + len(row[-1][1])
    if not cited or behind < end or end - start < len(row[cited[0]][1]) > _LONGEST_CELL:
        return None
    return _quote(row, cited[0], cited[-1], _heads(text, begin, over_figure=is_figure(row[cited[0]][1])))


def find_cells(quotation: str, text: str, near: int = 0) -> tuple[int, int] | None:
    """Where cells stand that `quote_cells` quotes so; the first place from the line of `near` on, else the first."""
    wanted = "\n".join("\t".join(map(one_line, line.split("\t"))) for line in quotation.strip("\n").split("\n"))
    cells = wanted.rpartition("\n")[2].split("\t")
    sought = [cell for cell in dict.fromkeys((*cells[:_MOST_LABELS], max(cells, key=len))) if cell]
    if not cells[-1] or wanted == cells[-1] or len(wanted) > _LONGEST_QUOTED:
        return None
    rarest = min(sought, key=lambda cell: text.count(cell) or len(text))
    place = text.find(rarest, text.rfind("\n", 0, near) + 1)
    for _ in range(_MOST_PLACES):
        if place < 0:
            break
        begin, row = _row_at(text, place)
        spans = list(islice(_spans_of(row, cells), _MOST_PLACES // len(cells) + 20))
        heads = {kind: _heads(text, begin, over_figure=kind) for kind in {is_figure(row[at][1]) for at, _ in spans}}
        for first, last in spans:
            if _quote(row, first, last, heads[is_figure(row[first][1])]) == wanted:
                return row[first][0], row[last][0] + len(cells[-1])
        place = text.find(rarest, max(row[-1][0] + len(row[-1][1]), place + 1))
    return find_cells(quotation, text) if near else None


def _quote(row: _Row, first: int, last: int, over: tuple[Sequence[_Row], int]) -> str | None:
    """Cells under their headers; None where words stand between, as in the header of another table."""
    heads, last_words = over
    if last_words >= max(first, 1) - 1:
        return None
    columns = [*_labels(row, first, _filled(row)), *range(first, last + 1)]
    lines = [
        [_over([head, []] if at >= first and head is not heads[-1] else [head], at) for at in columns] for head in heads
    ]
    named = [words for words in lines if any(words[first - last - 1 :])]
    quoted = "\n".join("\t".join(words) for words in [*named, [row[at][1] for at in columns]])
    return quoted if len(row) > 1 and len(quoted) <= _LONGEST_QUOTED else None


def _spans_of(row: _Row, cells: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last columns of cells that, behind the labels of the row, are these."""
    words, filled = [words for _, words in row], _filled(row)
    for last in islice((at for at, ending in enumerate(words) if ending == cells[-1]), _MOST_PLACES):
        for first in range(min(last, last - len(cells) + _MOST_LABELS + 1), max(last - len(cells), -1), -1):
            labels = [words[at] for at in _labels(row, first, filled)]
            if words[first] and labels == cells[: len(labels)] and words[first : last + 1] == cells[len(labels) :]:
                yield first, last


def _row_at(text: str, at: int) -> tuple[int, _Row]:
    """Where the line around an offset begins, and its cells."""
    begin = text.rfind("\n", 0, at) + 1
    begin = text.rfind("\f", begin, at) + 1 or begin
    return begin, _row(text[begin : _line_end(text, at)], begin)


def _line_end(text: str, at: int) -> int:
    end = _LINE_END.search(text, at)
    return end.start() if end else len(text)


def _end_of_heads(text: str, start: int, end: int) -> int:
    """Up to where the headers of a table are looked for: never within one, nor right behind it."""
    return min(end, _line_end(text, _line_end(text, start + _LONGEST_HEADS) + 1))


def _filled(row: _Row) -> list[int]:
    return list(islice((at for at, (_, words) in enumerate(row) if words), _MOST_LABELS))


def _labels(row: _Row, before: int, filled: Sequence[int]) -> Sequence[int]:
    """Which of a row's first filled cells name it: up to the first in words without a digit, else the first."""
    filled = [at for at in filled if at < before]
    return filled[: next((count for count, at in enumerate(filled, 1) if _NAME.fullmatch(row[at][1])), 1)]


def _heads(text: str, begin: int, *, over_figure: bool) -> tuple[list[_Row], int]:
    """The header rows over the row that begins at an offset, none if it is one of them; and the last column with words
    in two columns of a row without figures that stands between, or -1.

    Over a figure the nearest row of times stands too, where a table has another one further down.
    """
    page, first, end = text.rfind("\f", 0, begin) + 1, begin, text.find("\f", begin)
    for _ in range(20):
        blank = text.rfind("\n\n", page, first - 1)
        first = page if blank < 0 else blank + 2
        run = next(_runs(text, [(first, _end_of_heads(text, first, len(text) if end < 0 else end))]), [])
        titles, count = _find_header(run)
        if count:
            heads = run[titles : titles + count]
            times, last_words = _between(text, heads, begin, over_figure=over_figure)
            return ([*heads, *times], last_words) if heads[-1][0][0] < begin else ([], -1)
    return [], -1


def _between(text: str, heads: Sequence[_Row], begin: int, *, over_figure: bool) -> tuple[list[_Row], int]:
    """What stands between a header and the row that begins at an offset: the nearest row of times, over a figure; and
    the last column with words in two columns of a row without figures, or -1.
    """
    under = _line_end(text, heads[-1][-1][0])
    behind = max(under, _line_end(text, begin - _LONGEST_HEADS))
    above = _runs(text, [(behind, begin)] if over_figure else [])
    told = [row for run in above for row in run if not any(is_figure(words) for _, words in row)]
    times = [row for row in told if _PERIOD.fullmatch(row[-1][1])]
    far = _NO_FIGURES.finditer(text, under, behind if over_figure else 0)
    told += [_row(line[0], line.start()) for line in islice(far, _MOST_PLACES)]
    worded = ([at for at, (_, words) in enumerate(row) if _WORD.search(words)][-2:] for row in told)
    return times[-1:], max((at[0] for at in worded if len(at) > 1), default=-1)
