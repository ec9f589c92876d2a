"""The tables of a PDF's page, put into its text: a row a line, its cells split by tabs.

PDFium's text stays as it is but for the words of tables. Most pages hold none, which the boxes of their runs of text
tell at a twentieth of the time that the page takes.
"""

import ctypes
import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf.document import PageText
from tasks.documents.extract.pdf.rules import find_ruled_tables, rules_of
from tasks.documents.extract.pdf.tables import Table, find_tables, prose_gutters
from tasks.documents.extract.pdf.words import Word, lines_of, words_of_text

Edit = tuple[int, int, str]
"""What stands in place of the characters of a page's text from and up to."""

_MOST_RUNS: Final = 5_000
_GAP: Final = 0.75
"""The white between two runs of a line that may part cells, as a share of their height."""
_ROWS: Final = 2
"""Lines with such a white from which a page is looked at."""
_FIGURES: Final = re.compile(
    r"\d\)?[ %]+[(−–-]?[$€£¥]?\(?\d[^\r\n]*\r\n(?:[^\r\n]*\r\n)?[^\r\n]*\d\)?[ %]+[(−–-]?[$€£¥]?\(?\d"
)
"""Two lines, next to each other but one, with two figures side by side."""


def table_edits(page: Any, textpage: Any, page_text: PageText) -> list[Edit]:
    """What to change in the text of an open page so that its tables stand in rows and cells, in order."""
    if not (_has_gaps(textpage) or _FIGURES.search(page_text.text)):
        return []
    words = words_of_text(textpage, page_text)
    tables = find_ruled_tables(rules_of(page), words)
    ruled = {word.first for word in _words(tables)}
    free = [word for word in words if word.first not in ruled]
    for column in _columns_of_prose(free):
        tables += find_tables(lines_of(column))
    return sorted(edit for table in tables for edit in _edits(table, words, page_text.text))


def _columns_of_prose(words: list[Word]) -> list[list[Word]]:
    """The words of each column of prose; all of them where the page has one."""
    gutters = prose_gutters(lines_of(words))
    if not gutters:
        return [words]
    columns: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for word in words:
        columns[bisect(gutters, (word.left + word.right) / 2)].append(word)
    return columns


def _has_gaps(textpage: Any) -> bool:
    """Whether several lines of the page are parted by wide gaps, by the boxes of its runs of text."""
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    last: tuple[float, float, float] | None = None
    rows: set[int] = set()
    for index in range(min(pdfium.FPDFText_CountRects(textpage, 0, -1), _MOST_RUNS)):
        pdfium.FPDFText_GetRect(textpage, index, left, top, right, bottom)
        height = top.value - bottom.value
        if last is not None:
            last_right, last_top, last_bottom = last
            overlap = min(top.value, last_top) - max(bottom.value, last_bottom)
            if overlap > 0 and left.value - last_right > _GAP * max(height, last_top - last_bottom):
                rows.add(round(bottom.value / 4))
                if len(rows) >= _ROWS:
                    return True
        last = right.value, top.value, bottom.value
    return False


def _words(tables: Iterable[Table]) -> list[Word]:
    return [word for table in tables for row in table.rows for word in row.words]


def _edits(table: Table, words: Sequence[Word], text: str) -> list[Edit]:
    """Put a table's rows where its first word stands, and take its words out wherever else they stand."""
    members = {word.first for word in _words([table])}
    order = [word for word in words if word.first in members]
    runs: list[list[int]] = []
    for word, before in zip(order, [None, *order], strict=False):
        if before is not None and not text[before.end : word.first].strip():
            runs[-1][1] = word.end
        else:
            runs.append([word.first, word.end])
    rows = "\r\n".join("\t".join(row.cells) for row in table.rows)
    start, end = runs[0]
    before_it = "" if start == 0 or text[start - 1] == "\n" else "\r\n"
    behind_it = "" if end >= len(text) or text[end : end + 2] == "\r\n" else "\r\n"
    return [(start, end, f"{before_it}{rows}{behind_it}"), *((first, last, "") for first, last in runs[1:])]
