"""Puts the tables of a PDF's page into its text: a line for each row, cells separated by tabs.

PDFium's text is kept except for the words of tables. Most pages have none, which the boxes of their runs of text show
in a twentieth of the time that the page takes.
"""

import gc
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf.columns import (
    Columns,
    columns_by_height,
    columns_by_rule,
    merge_columns,
    pages_side_by_side,
    split_prose,
)
from tasks.reading.pdf.defects import find_missing_breaks
from tasks.reading.pdf.document import Box, PageText
from tasks.reading.pdf.gaps import (
    are_printed_over,
    by_height,
    find_missing_spaces,
    find_touching_cells,
    find_turned_runs,
    has_gutters,
    is_drawn_by_words,
    is_in_letters,
)
from tasks.reading.pdf.grids import find_ruled_tables
from tasks.reading.pdf.lines import CELL_GAP, VALUE, Line, LineCell, build_lines, is_figure
from tasks.reading.pdf.rows import TableRow
from tasks.reading.pdf.rules import RuledLine, Rules, find_rules, join_rules
from tasks.reading.pdf.table_columns import is_of_sheet
from tasks.reading.pdf.tables import Table, find_tables
from tasks.reading.pdf.words import (
    MOST,
    NONE_KNOWN,
    KnownCells,
    PageWord,
    are_set_twice,
    find_turn,
    find_words,
    has_right_to_left,
    is_right_to_left,
    words_by_turn,
    write_words,
)

Edit = tuple[int, int, str]
"""What stands in place of the characters of a page's text from and up to."""

TABLE: Final = "\ufdd0"
"""Where a table begins. No character has this number."""
TABLE_END: Final = "\ufdd1"

_MOST_RUNS: Final = 5_000
_MOST_WORDS: Final = 6_000
_MOST_LINES: Final = 600
"""Lines of a page on which tables are looked for: people print 100."""
_KNOWN: Final = 0.9
"""The share of words that PDFium gives too where a page that is printed twice was put together well."""
_BREAK: Final = re.compile(r" *\r\n")
_FIGURES: Final = re.compile(r"\d\)?[ %]++[(−–-]?[$€£¥]?\(?\d")
"""Two figures side by side."""
_LABELLED: Final = re.compile(r"^\D{2,60}\d[\d.,]*+ ?%?\)? *$")
"""A label and one figure behind it, as in the lines of a table of two columns."""
_AMONG: Final = 5
"""Lines of which three have such a label."""


def _has_figure_columns(text: str) -> bool:
    """Whether two lines, with at most one between them, have two figures side by side, or three lines one behind a
    label each.
    """
    lines = text.split("\r\n")
    rows = [number for number, line in enumerate(lines) if _FIGURES.search(line)]
    if any(other - one <= 2 for one, other in pairwise(rows)):
        return True
    labelled = [number for number, line in enumerate(lines) if _LABELLED.search(line)]
    return any(other - one < _AMONG for one, other in zip(labelled, labelled[2:], strict=False))


def layout_edits(page: Any, textpage: Any, page_text: PageText, known: KnownCells = NONE_KNOWN) -> list[Edit]:
    """The changes to the text of an open page that make it read as it is printed, in order.

    Tables get rows and cells, words that PDFium joins are separated, and a page in single letters is reassembled from
    its glyphs.
    """
    collects = gc.isenabled()
    gc.disable()  # thousands of words and cells, and no circles among them: it takes a fifth of the time
    try:
        return _layout_edits(page, textpage, page_text, known)
    finally:
        if collects:
            gc.enable()


def _layout_edits(page: Any, textpage: Any, page_text: PageText, known: KnownCells) -> list[Edit]:
    text = page_text.text
    if is_in_letters(text) and page_text.characters <= MOST and not is_right_to_left(text):
        return [(0, len(text), _order_glyphs(textpage, page_text))]
    runs = pdfium.FPDFText_CountRects(textpage, 0, -1)
    spaces = find_missing_spaces(textpage, page_text) if is_drawn_by_words(text, runs) else []
    if known.is_sheet:
        spaces = sorted({*spaces, *find_touching_cells(textpage, page_text)})
    edits = [(spot, spot, " ") for spot in spaces]
    if has_right_to_left(text):
        edits += ((spot, spot, "\r\n") for spot in find_missing_breaks(textpage, page_text))
    turn = find_turn(textpage, page_text)
    if not (
        any(known)
        or _has_figure_columns(text)
        or _may_hold_table(find_turned_runs(textpage, min(runs, _MOST_RUNS), turn), text)
    ):
        return edits
    words = find_words(textpage, page_text, turn, spaces, known)
    if not 0 < len(words) <= _MOST_WORDS:
        return edits
    if are_set_twice(words) and not is_right_to_left(text):
        once = _order_glyphs(textpage, page_text, twice=True)
        given = set(text.split())
        found = [word in given for word in once.split()]
        if sum(found) >= _KNOWN * len(found):
            return [(0, len(text), once)]
    rules = find_rules(page, turn)
    tables, columns = _find_tables(rules, words, is_turned=is_right_to_left(text))
    if columns:
        return [(0, len(text), _write_columns(columns, join_rules(rules.horizontal), words, text))]
    edits += (edit for table in tables for edit in _edits(table, words, text))
    return sorted(edits)


def _may_hold_table(runs: list[Box], text: str) -> bool:
    """Whether the white space between runs of text, or what is printed over others, may be that of a table."""
    if is_right_to_left(text):
        runs = [(-right, top, -left, bottom) for left, top, right, bottom in runs]
    return has_gutters(runs, text) or are_printed_over(runs) or has_gutters(by_height(runs), text)


def _find_tables(rules: Rules, words: Sequence[PageWord], *, is_turned: bool) -> tuple[list[Table], list[Columns]]:
    """The tables of a page, or its columns where it stands in such; `is_turned`: it is written to the left."""
    tables = find_ruled_tables(rules, words)
    if not tables and (columns := columns_by_rule(words, rules.vertical, rules.horizontal)):
        return [], columns
    across = join_rules(rules.horizontal)
    ruled = {word.first for word in _words(tables)}
    free = build_lines(word for word in words if word.first not in ruled)
    if is_of_sheet(free):
        tops = sorted(table.base for table in tables)
        for _, group in groupby(free, lambda line: bisect(tops, line.base)):
            tables += find_tables(lines, across) if len(lines := list(group)) <= _MOST_LINES else []
        return tables, []
    if not tables and not is_turned and (columns := columns_by_height(words, free)):
        return [], columns
    if rules.vertical:
        for line in free:
            _part_at_rules(line, rules.vertical)
    for lines in split_prose(free):
        if len(lines) <= _MOST_LINES:
            tables += merge_columns(lines) or [
                table for side in pages_side_by_side(lines) for table in find_tables(side, across)
            ]
            tables += _find_values(lines, tables)
    return tables, []


def _find_values(lines: Sequence[Line], tables: Iterable[Table]) -> list[Table]:
    """The lines outside tables in which values of a form's fields stand.

    A value is a cell of its own unless it stands among the words of a sentence, or the line below goes on with one.
    """
    held = {word.first for word in _words(tables)}
    found: list[Table] = []
    for line, below in zip_longest(lines, lines[1:]):
        if any(word.piece > 0 for word in line.words) and held.isdisjoint([word.first for word in line.words]):
            goes_on = below is not None and below.words[0].text[:1].islower()
            cells = [line.cells[0].text]
            for before, cell in pairwise(line.cells):
                is_apart = not goes_on and cell.left - before.right > CELL_GAP * line.size
                is_apart = is_apart or before.text.endswith(":")
                cells[-1:] = [cells[-1], cell.text] if is_apart else [f"{cells[-1]} {cell.text}"]
            found.append(Table(line.base, [TableRow(cells, line.words)], is_prose=True))
    return found


def _part_at_rules(line: Line, vertical: Sequence[RuledLine]) -> None:
    """Split the cells of a line that are figures on both sides of a rule; boxes of single digits stay one cell."""
    if all(len(cell.words) == 1 for cell in line.cells):
        return
    middle = line.base - line.size / 3
    places = sorted([rule.at for rule in vertical if rule.begin < middle < rule.end])
    cells: list[LineCell] = []
    for cell in line.cells:
        held = groupby(cell.words, lambda word: bisect(places, (word.left + word.right) / 2))
        parts = [LineCell(list(words)) for _, words in held]
        are_figures = all(is_figure(part.text) for part in parts) and any(len(part.text) > 1 for part in parts)
        cells += parts if are_figures else [cell]
    line.cells = cells


def _order_glyphs(textpage: Any, page_text: PageText, *, twice: bool = False) -> str:
    """The text of a page in the order of its glyphs' positions, beginning with the most frequent rotation."""
    upright = find_turn(textpage, page_text)
    pieces: list[str] = []
    words = words_by_turn(textpage, twice=twice)
    for turn in (upright, *({0, 1, 2, 3} - {upright})):
        for lines in split_prose(build_lines(words.get(turn, []))):
            tables = find_tables(lines) if len(lines) <= _MOST_LINES else []
            pieces += _write_lines(lines, tables)
    return "\r\n".join(pieces)


def _write_columns(
    columns: Iterable[Columns], across: Sequence[RuledLine], words: Iterable[PageWord], text: str
) -> str:
    """The lines and tables of a page's stretches, the left column of each before the right one.

    Text of the page outside these words, such as rotated text, comes last.
    """
    pieces: list[str] = []
    for stretch in columns:
        for lines in stretch:
            tables = find_tables(lines, across) if 0 < len(lines) <= _MOST_LINES else []
            pieces += _write_lines(lines, tables + _find_values(lines, tables))
    end = 0
    for first, behind in (*sorted((word.first, word.end) for word in words), (len(text), len(text))):
        if first > end and (left_out := text[end:first].strip()):
            pieces.append(left_out)
        end = behind
    return "\r\n".join(pieces)


def _write_lines(lines: Iterable[Line], tables: Sequence[Table]) -> Iterator[str]:
    """Lines and the tables among them, from top to bottom."""
    held = {word.first for word in _words(tables)}
    placed = [(table.base, _mark_table(table)) for table in tables]
    placed += ((line.base, write_words(line.words)) for line in lines if line.words[0].first not in held)
    yield from (text for _, text in sorted(placed))


def _edits(table: Table, words: Sequence[PageWord], text: str) -> list[Edit]:
    """Edits that put a table's rows where its first word is and remove its words everywhere else."""
    members = {word.first for word in _words([table])}
    order = [word for word in words if word.first in members]
    runs: list[list[int]] = []
    for word, before in zip(order, [None, *order], strict=False):
        if before is not None and not text[before.end : word.first].strip():
            runs[-1][1] = word.end
        else:
            runs.append([word.first, word.end])
    start, end = runs[0]
    before_it = "" if start == 0 or text[start - 1] == "\n" else "\r\n"
    behind_it = "" if end >= len(text) or text[end : end + 2] == "\r\n" else "\r\n"
    edits = [(start, end, f"{before_it}{_mark_table(table)}{behind_it}")]
    for first, last in runs[1:]:
        begins_line = first == 0 or text[first - 1] == "\n"
        break_behind = _BREAK.match(text, last) if begins_line else None
        edits.append((first, break_behind.end() if break_behind else last, ""))
    return edits


def _mark_table(table: Table) -> str:
    text = "\r\n".join(map(_write_row, table.rows))
    return text if table.is_prose else f"{TABLE}{text}{TABLE_END}"


def _write_row(row: TableRow) -> str:
    """A row's cells. One is parted at the values of a form's fields where empty cells behind it make room for them."""
    text = "\t".join(row.cells)
    if VALUE not in text:
        return text
    cells = list(row.cells)
    last = max(index for index, cell in enumerate(cells) if cell)
    for index in range(last, -1, -1):
        parts = cells[index].split(VALUE)
        behind = cells[index + 1 : index + len(parts)]
        has_room = index == last or (len(behind) == len(parts) - 1 and not any(behind))
        cells[index : index + len(parts) if has_room else index + 1] = parts if has_room else [" ".join(parts)]
    return "\t".join(cells)


def _words(tables: Iterable[Table]) -> list[PageWord]:
    return [word for table in tables for row in table.rows for word in row.words]


def text_of_words(words: Sequence[PageWord]) -> str:
    """The lines and tables of a page of which only words and their places are known, such as a scan."""
    pieces: list[str] = []
    for column in split_prose(build_lines(words)):
        for lines in pages_side_by_side(column):
            pieces += _write_lines(lines, find_tables(lines) if 0 < len(lines) <= _MOST_LINES else [])
    return "\r\n".join(pieces)
