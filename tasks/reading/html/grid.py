"""The rows of a page's table with every cell in its column, and whether the table is data or page layout."""

import re
from typing import Final, NamedTuple

from tasks.language.normalise import one_line
from tasks.reading.text_writer import ALTERNATIVE_TEXT

_SPACE: Final = re.compile("[ \t\n\r\f]+")
_WIDE_SPACE: Final = re.compile("[ \xa0]{2,}")


class HtmlMark(NamedTuple):
    """The characters from `start` to `end` of a line belong to a place of another kind."""

    start: int
    end: int
    kind: str
    label: str


class HtmlLine(NamedTuple):
    r"""A line of a page, with `\n` at line breaks; its kind is a place's, or ""."""

    text: str
    kind: str = ""
    marks: tuple[HtmlMark, ...] = ()


class HtmlTable(NamedTuple):
    """The rows of a table, cells separated by tabs; `header_rows` is 0 if the page marks none."""

    rows: list[HtmlLine]
    header_rows: int


Block = HtmlLine | HtmlTable


class Flow:
    """The blocks of a page, or of a cell, while they are being assembled.

    Attributes:
        blocks: those that have ended.
        kind: of the open line.
        prefix: a list item's bullet or number, until words follow it.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.kind = ""
        self.prefix = ""
        self._pieces: list[str] = []
        self._length = 0
        self._marks: list[HtmlMark] = []
        self._at_space = True
        self._asides: list[HtmlLine] = []

    def words(self, text: str, *, kept: bool = False, mark: tuple[str, str] | None = None) -> None:
        """Add words to the open line.

        Args:
            text: the words, with white space that counts as one space.
            kept: white space counts as it is.
            mark: the kind and label of a place of their own.
        """
        if not kept:
            text = _SPACE.sub(" ", text)
            if self._at_space:
                text = text.lstrip(" ")
        if not text:
            return
        if self.prefix and not text.isspace():
            self._add(self.prefix)
            self.prefix = ""
        if mark is not None and not text.isspace():
            self._mark(len(text), *mark)
        self._add(text)
        self._at_space = text[-1] in " \n"

    def line_break(self) -> None:
        """Break the line."""
        if self._length and self._pieces[-1] != "\n":
            self._add("\n")
        self._at_space = True

    def aside(self, line: HtmlLine) -> None:
        """Add a line below the open one."""
        self._asides.append(line)

    def end_line(self) -> None:
        """End the open line, unless it is empty."""
        if self._pieces:
            text = "".join(self._pieces)
            if self._marks:
                text = text.rstrip()
            else:
                if "\xa0" in text:
                    text = _WIDE_SPACE.sub(" ", text)
                text = text.strip("\n").rstrip()
            if text.strip():
                self.blocks.append(HtmlLine(text, self.kind, tuple(self._marks)))
            self._pieces = []
            self._marks = []
            self._length = 0
        self._at_space = True
        if self._asides:
            self.blocks += self._asides
            self._asides = []

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _mark(self, length: int, kind: str, label: str) -> None:
        last = self._marks[-1] if self._marks else None
        if last is not None and last[1:] == (self._length, kind, label) and kind != ALTERNATIVE_TEXT:
            self._marks[-1] = last._replace(end=last.end + length)
        else:
            self._marks.append(HtmlMark(self._length, self._length + length, kind, label))


_MOST_SPANNED: Final = 1000
"""Columns that one cell may span (the HTML standard's limit)."""

_MOST_ROWS_SPANNED: Final = 65_534
_MOST_FILLED: Final = 2_000_000
"""Empty cells that spans may add to one table."""

_CURRENCIES: Final = frozenset(("$", "€", "£", "¥", "US$", "C$", "A$", "HK$", "CHF", "USD", "EUR", "GBP", "(", "$("))
_CLOSINGS: Final = frozenset({")", "%", ")%", "%)", ") %", "]"})
_LONGEST_FOLDED: Final = 1 << 20


class HtmlCell(NamedTuple):
    """A cell: a plain line of words, or blocks; the number of columns and rows it spans; whether it is a header."""

    content: str | list[Block]
    columns: int = 1
    rows: int = 1
    is_header: bool = False


class HtmlRow(NamedTuple):
    """The cells that begin in a row; `in_head`: it is in the table's `thead`."""

    cells: list[HtmlCell]
    in_head: bool = False


class _GridCell(NamedTuple):
    """The text in one column of a row; `span` is the number of columns that it spans, 0 for a spanned one."""

    text: str
    marks: tuple[HtmlMark, ...] = ()
    span: int = 1


_EMPTY: Final = _GridCell("")
_SPANNED: Final = _GridCell("", (), 0)


def split_blocks(rows: list[HtmlRow], *, is_data: bool) -> list[Block]:
    """A table in the form in which it is read.

    Args:
        rows: its rows; those without words fall away.
        is_data: the page says that it is a table (header cells, a caption, rules). Any other one that holds tables or
            headings, or has one column, only arranges the page: its cells are read one after the other.
    """
    rows = [row for row in rows if any(cell.content for cell in row.cells)]
    arranges = not is_data and any(_arranges(cell) for row in rows for cell in row.cells)
    if arranges or all(len(row.cells) < 2 for row in rows):
        return [block for row in rows for block in _read_in_order(row)]
    grid = _with_signs_joined(_without_spanned(_build_grid(rows)))
    lines: list[HtmlLine] = []
    for row, texts in zip(rows, grid, strict=True):
        filled = [cell for cell in row.cells if cell.content]
        if len(filled) == 1 and not isinstance(filled[0].content, str) and len(filled[0].content) > 1:
            # paragraphs in a frame rather than a row
            lines += _write_lines(filled[0].content)
        else:
            lines.append(_row_line(texts))
    return [HtmlTable(lines, _header_rows(rows))]


def _arranges(cell: HtmlCell) -> bool:
    return not isinstance(cell.content, str) and any(
        isinstance(block, HtmlTable) or block.kind == "heading" for block in cell.content
    )


def _read_in_order(row: HtmlRow) -> list[Block]:
    """The cells of a row in a table used for layout; if all are single lines, they still form a row."""
    filled = [cell for cell in row.cells if cell.content]
    if len(filled) > 1 and all(isinstance(cell.content, str) for cell in filled):
        return [_row_line([_grid_cell(cell) for cell in row.cells])]
    blocks: list[Block] = []
    for cell in filled:
        blocks += [HtmlLine(cell.content)] if isinstance(cell.content, str) else cell.content
    return blocks


def _write_lines(content: str | list[Block]) -> list[HtmlLine]:
    if isinstance(content, str):
        return [HtmlLine(content)]
    return [line for block in content for line in (block.rows if isinstance(block, HtmlTable) else [block])]


def _grid_cell(cell: HtmlCell) -> _GridCell:
    """The words of a cell on one line."""
    if isinstance(cell.content, str):
        return _GridCell(cell.content, (), cell.columns)
    pieces: list[str] = []
    marks: list[HtmlMark] = []
    length = 0
    for line in _write_lines(cell.content):
        if pieces:
            pieces.append(" ")
            length += 1
        marks += [mark._replace(start=mark.start + length, end=mark.end + length) for mark in line.marks]
        if line.kind and line.kind != "heading":
            marks.append(HtmlMark(length, length + len(line.text), line.kind, ""))
        pieces.append(line.text)
        length += len(line.text)
    text = "".join(pieces)
    flat = bool(marks) or len(text) >= _LONGEST_FOLDED  # marks know their offsets
    text = text.replace("\t", " ").replace("\n", " ") if flat else one_line(text)
    return _GridCell(text, tuple(marks), cell.columns)


def _build_grid(rows: list[HtmlRow]) -> list[list[_GridCell]]:
    """Each row with a text for each of its columns."""
    fill_left = _MOST_FILLED
    open_rows: dict[int, int] = {}  # by column, how many more rows are spanned
    grid: list[list[_GridCell]] = []
    for row in rows:
        texts: list[_GridCell] = []
        if fill_left <= 0:
            open_rows = {}
        for cell in row.cells:
            while open_rows.get(len(texts)):
                texts.append(_EMPTY)
            columns = min(max(cell.columns, 1), _MOST_SPANNED) if fill_left > 0 else 1
            below = min(cell.rows, _MOST_ROWS_SPANNED) - 1
            start = len(texts)
            texts.append(_grid_cell(cell._replace(columns=columns)))
            texts += [_SPANNED] * (columns - 1)
            if below > 0:
                open_rows |= dict.fromkeys(range(start, start + columns), below + 1)
        fill_left -= len(texts) - len(row.cells) + len(open_rows)
        open_rows = {column: count - 1 for column, count in open_rows.items() if count > 1}
        grid.append(texts)
    return grid


def _without_spanned(grid: list[list[_GridCell]]) -> list[list[_GridCell]]:
    """The grid without columns in which no cell begins, which exist only because of spans."""
    width = max(map(len, grid))
    begun = {column for texts in grid for column, text in enumerate(texts) if text.span}
    if len(begun) == width:
        return grid
    return [[text for column, text in enumerate(texts) if column in begun] for texts in grid]


def _with_signs_joined(grid: list[list[_GridCell]]) -> list[list[_GridCell]]:
    """Figures with their signs: filings put `$` and `)` in separate columns, with empty columns in between.

    If there are such columns, they are joined with those of the figures, and columns without words are dropped.
    """
    width = max(map(len, grid))
    if width < 3 or width * len(grid) > 4 * sum(map(len, grid)):
        return grid
    padded = [texts + [_EMPTY] * (width - len(texts)) for texts in grid]
    columns = [list(column) for column in zip(*padded, strict=True)]
    joined: list[list[_GridCell]] = []
    at = 0
    found = False
    while at < width:
        column = columns[at]
        if at + 1 < width and _is_sign_column(column, columns[at + 1], _CURRENCIES):
            column = [_join_grid_cells(sign, text, " ") for sign, text in zip(column, columns[at + 1], strict=True)]
            at += 1
            found = True
        elif joined and _is_sign_column(column, joined[-1], _CLOSINGS):
            joined[-1] = [_join_grid_cells(text, sign, "") for text, sign in zip(joined[-1], column, strict=True)]
            at += 1
            found = True
            continue
        joined.append(column)
        at += 1
    if not found:
        return grid
    return [
        list(texts) for texts in zip(*(column for column in joined if any(text.text for text in column)), strict=True)
    ]


def _is_sign_column(column: list[_GridCell], figures: list[_GridCell], signs: frozenset[str]) -> bool:
    """Whether a column holds the signs for a column of figures, and above them at most headings of both."""
    found = False
    for text, figure in zip(column, figures, strict=True):
        if not text.text:
            continue
        if text.text in signs and figure.text:
            found = True
        elif text.span < 2 or figure.text:
            return False
    return found


def _join_grid_cells(first: _GridCell, second: _GridCell, between: str) -> _GridCell:
    if not first.text or not second.text:
        return first if first.text else second
    if first.text.endswith("("):
        between = ""
    offset = len(first.text) + len(between)
    marks = tuple(mark._replace(start=mark.start + offset, end=mark.end + offset) for mark in second.marks)
    return _GridCell(first.text + between + second.text, first.marks + marks)


def _row_line(texts: list[_GridCell]) -> HtmlLine:
    text = "\t".join(cell.text for cell in texts).rstrip("\t")
    marks: list[HtmlMark] = []
    if any(cell.marks for cell in texts):
        at = 0
        for cell in texts:
            marks += [mark._replace(start=mark.start + at, end=mark.end + at) for mark in cell.marks]
            at += len(cell.text) + 1
    return HtmlLine(text, "", tuple(marks))


def _header_rows(rows: list[HtmlRow]) -> int:
    """The number of leading rows that the page declares as headers: those in `thead`, or with only `th`."""
    count = 0
    for row in rows:
        filled = [cell for cell in row.cells if cell.content]
        if not (row.in_head or all(cell.is_header for cell in filled)):
            break
        count += 1
    return count if count < len(rows) else 0
