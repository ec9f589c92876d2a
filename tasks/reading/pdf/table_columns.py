"""Tables without rules: where their columns are, and what looks like a table but is not.

Lists, glossaries of prose, columns of prose and notes are not tables.
"""

import itertools
import math
import re
from bisect import bisect, bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter
from typing import Final

from tasks.reading.pdf.lines import (
    CLOSING_SIGN,
    GUTTER,
    LEADING_SIGN,
    TOUCH,
    Interval,
    Line,
    LineCell,
    is_amount,
    is_figure,
    is_header,
    is_sign,
    over,
)
from tasks.reading.pdf.words import PageWord

FEWEST: Final = 3
"""Lines of several cells that make a table."""
_RUNS_ON: Final = 4
"""A table has more than so many rows for each cell that goes on below it."""
_ENDS: Final = ".:;!?"
_LEVEL: Final = 0.4
"""The share of the lines of a table's columns that stand on one level with one in another column, at least."""
_AT_SIDE: Final = 0.75
"""The share of a table's lines that a caption at its side stands beside, at most."""
_CAPTION: Final = 4
"""Lines of a caption at a table's side, at least: a cell may have fewer."""
_PIECE: Final = 3
"""Lines that are drawn one after the other, at least, where they are no cells of rows."""
_MARK: Final = re.compile(
    r"[o*]|\(?[^\w\s]{1,2}\)?|\(?([0-9]{1,3}|[a-zA-Z]|[ivx]{1,5}|[IVX]{1,5})[.)]|\[\d+\]|\d+(\.\d+)+\.?|§+ ?\d+"
)
_ITEM: Final = re.compile(r"\(?([0-9]{1,2}|[a-z]|[ivx]{1,5})[.)]")
_DIGIT: Final = re.compile(r"\d")
_DATE: Final = re.compile(r"\d\d?\. ?\d\d?\. ?(19|20)\d\d")
_DASHES: Final = re.compile("[$€£¥]? ?[-–—−]+")
_PROSE: Final = 5
"""A cell of more words may be a line of prose."""
_FULL_LINE: Final = 8
"""Words of a line of prose, at least, that fills its column."""
_STRETCHED: Final = 2.0
"""The white between words of such a line at most, as a share of their size."""
_NEXT_LINE: Final = 2.2
"""The distance of a line and the one below it at most, in sizes."""


def is_of_sheet(lines: Sequence[Line]) -> bool:
    """Whether lines are of a printed sheet, each of whose cells is drawn by itself."""
    return any(line.words[0].piece < 0 for line in lines)


def is_table(rows: Sequence[Line]) -> bool:
    """Whether lines of several cells contain figures or short entries, and no prose in columns."""
    cells = [cell for line in rows for cell in line.cells]
    texts = [cell.text for cell in cells]
    figures = sum(map(is_figure, texts))
    digits = len([text for text in texts if _DIGIT.search(text)])
    long = len([cell for cell in cells if len(cell.words) > _PROSE])
    overlaps = 0
    for line in rows:
        for before, after in itertools.pairwise(line.words):
            overlaps += after.left < before.right - 0.3 * after.size
    if overlaps > 0.05 * len(cells):  # letters set twice, or on top of each other
        return False
    if _is_stretched(rows):
        return False
    if figures >= 0.25 * len(cells) and digits > 0.5 * figures:
        return True
    dashes = len([text for text in texts if _DASHES.fullmatch(text)])
    if len(cells) >= FEWEST * len(rows) and figures - dashes >= 0.25 * (len(cells) - dashes) > 0:
        return True  # changes in equity: most cells hold a dash for nothing
    words = len([text for text in texts if len(text) > 2])
    if long <= 0.2 * len(cells):
        return words > 0.5 * len(cells)
    return _is_glossary(rows)


def _is_stretched(rows: Sequence[Line]) -> bool:
    """Whether lines are justified prose, in which some words are as far apart as cells."""
    if sum(len(line.words) for line in rows) <= _FULL_LINE * len(rows):
        return False
    pairs = [(line.size, *pair) for line in rows for pair in itertools.pairwise(line.cells)]
    near = [behind.text for size, cell, behind in pairs if behind.left - cell.right < _STRETCHED * size]
    return sum(text[:1].islower() for text in near) > len(pairs) / 2


def _is_glossary(rows: Sequence[Line]) -> bool:
    """Whether lines are names with explanations beside them, each with a left edge of its own."""
    for index in (0, 1):
        lefts = sorted(line.cells[index].left for line in rows)
        if lefts[-1] - lefts[0] > rows[0].size / 2 or any(len(line.cells) != 2 for line in rows):
            return False
    return all(len(line.cells[0].words) < _PROSE for line in rows)


def is_list(rows: Sequence[Line]) -> bool:
    """Whether each line is a mark and what it marks; notes may have a word and a colon instead of one."""
    if any(len(line.cells) > 2 for line in rows):
        return False
    marked = sum(_MARK.fullmatch(line.cells[0].text) is not None for line in rows)
    items = [line for line in rows if _ITEM.fullmatch(line.cells[0].text) and len(line.cells[1].words) > _PROSE]
    if len(items) > max(1, len(rows) - FEWEST):
        return True  # with what is printed beside it by chance: the name of a chart, the page's header
    named = sum(line.cells[0].text.endswith(":") for line in rows)
    return marked > 0.8 * len(rows) or (marked > 0 and marked + named == len(rows))


def link_words(lines: Iterable[Line]) -> dict[int, PageWord]:
    """The word that is drawn after each word, by where that one begins."""
    drawn = sorted((word for line in lines for word in line.words), key=lambda word: word.first)
    return {word.first: behind for word, behind in itertools.pairwise(drawn)}


def runs_on(block: Sequence[Line], rows: int, following: Mapping[int, PageWord]) -> bool:
    """Whether cells of that many rows continue in lines below the table, as columns of prose do."""
    held = {word.first for line in block for word in line.words}
    count = 0
    for line in block:
        for index, cell in enumerate(line.cells):
            last = cell.words[-1]
            behind = following.get(last.first)
            if behind is None or behind.first in held or last.text[-1:] in _ENDS or is_figure(cell.text):
                continue
            below = 0 < behind.base - last.base < _NEXT_LINE * last.size and behind.left < last.left
            inside = index > 0 and behind.left > cell.left - last.size
            count += below and (inside or behind.text[:1].islower())
    return _RUNS_ON * count >= rows


def without_notes(block: list[Line], columns: Sequence[Interval]) -> list[Line]:
    """The lines of a table without the notes below it, if some of those extend over several of its columns."""
    table = without_tail(block)
    notes = any(over(cell, columns) > 1 for line in block[len(table) :] for cell in line.cells[1:])
    return table if notes else block


def without_tail(block: list[Line]) -> list[Line]:
    """The lines of a table with at least three columns, up to the last one that has more than two cells."""
    end = max((index for index, line in enumerate(block, 1) if len(line.cells) >= FEWEST), default=0)
    return block[:end] if end >= FEWEST else block


def beside_caption(block: Sequence[Line], columns: Sequence[Interval]) -> list[PageWord]:
    """The words of a table without a caption at its side; empty if there is none.

    Such a caption is drawn in one piece beside some of the rows, the columns row by row.
    """
    drawn = sorted((word for line in block for word in line.words), key=lambda word: word.first)
    begin, end = columns[0][0], columns[-1][1]
    sides: list[tuple[Callable[[LineCell], bool], Sequence[Interval]]] = [
        (lambda cell: cell.left < columns[0][1] and begin < cell.right, columns[1:]),
        (lambda cell: cell.left < end and columns[-1][0] < cell.right, columns[:-1]),
        (lambda cell: cell.right <= begin, columns),
        (lambda cell: cell.left >= end, columns),
    ]
    for stands_there, others in sides:
        aside = _find_caption([list(filter(stands_there, line.cells)) for line in block], drawn)
        if aside and all(_is_drawn_by_rows(column, block, drawn) for column in others):
            return [word for word in drawn if word.first not in aside]
    return []


def _find_caption(side: Sequence[Sequence[LineCell]], drawn: Sequence[PageWord]) -> set[int]:
    """Where the words beside a table begin, given each line's cells there; none if they are not a caption."""
    lines = [[word for cell in cells for word in cell.words] for cells in side if cells]
    if not _CAPTION <= len(lines) <= _AT_SIDE * len(side):
        return set()
    words = [word for held in lines for word in held]
    aside = {word.first for word in words}
    named = sum(any(map(str.isalpha, word.text)) for word in words)
    return aside if named > len(lines) and _pieces(aside, drawn) <= max(1, len(lines) // _PIECE) else set()


def _is_drawn_by_rows(column: Interval, block: Sequence[Line], drawn: Sequence[PageWord]) -> bool:
    """Whether most of a column is drawn line by line, with words of other columns in between."""
    held = [[word.first for word in line.words if column[0] - 1 <= word.left < column[1]] for line in block]
    lines = sum(map(bool, held))
    return _pieces({first for firsts in held for first in firsts}, drawn) > max(1, lines // _PIECE)


def _pieces(firsts: AbstractSet[int], words: Iterable[PageWord]) -> int:
    """The number of pieces in which the words beginning at `firsts` are drawn; `words` are in drawing order."""
    drawn = [word.first in firsts for word in words]
    return sum(one and not other for one, other in itertools.pairwise([*drawn, False]))


_TYPED: Final = 0.25
"""Pieces of several words for each line, at least, where it tells anything that no space was typed."""
_ACROSS: Final = 0.1
"""The share of a table's lines that may run over a gutter: headings over several columns."""
_MOST_TITLES: Final = 6
"""Lines at the top of a table that may run over gutters."""
_FULL: Final = 0.45
"""The share of the cells of its fullest line that a line has below the titles: signs may be cells of their own."""
_TITLED: Final = 2
"""Rows below them that tell the columns, at least."""
_FULL_ROWS: Final = 0.3
"""The share of a table's lines that have a cell in each column where labels of totals run over gutters."""
_FIGURES: Final = 0.4
"""The share of their cells that are figures, at least."""
_EDGED: Final = 0.25
"""The share of a column's lines that have two cells where it is two columns."""
_ALIGNED: Final = 0.8
"""The share of those whose right cells begin at one place."""
_EVEN: Final = 1
"""Points by which the edges of figures of one width differ at most."""
_BESIDE: Final = 0.6
"""The white at most between two cells of a sheet whose words meet, as a share of the size."""
_AT_ONE_PLACE: Final = 0.6
"""The share of a column's lines that have an edge or their middle at one place."""


def several_cells(lines: Iterable[Line]) -> list[Line]:
    """Those of the lines that have several cells."""
    return [line for line in lines if len(line.cells) > 1]


def columns_below_titles(lines: Sequence[Line], columns: list[Interval], size: float) -> list[Interval]:
    """The columns of a table, split further where figures have columns and the titles above extend
    over their gutters.
    """
    counts = [len(line.cells) for line in lines]
    usual = sorted(counts)[len(counts) // 2]
    titles = _titles(counts, usual) or _titles(counts, _FULL * max(counts))
    if not 0 < titles <= _MOST_TITLES or len(lines) - titles < _TITLED:
        return columns
    cells = [cell for line in lines[titles:] for cell in line.cells if not is_sign(cell.text)]
    if sum(is_figure(cell.text) for cell in cells) < _FIGURES * len(cells):
        return columns
    below = find_columns(lines[titles:], size)
    return below if len(below) > len(columns) else columns


def find_full_row_columns(lines: Sequence[Line], columns: list[Interval], size: float) -> list[Interval]:
    """The columns of a table, split further where labels of totals, in lines of few cells, extend
    over their gutters.
    """
    held = {id(line): sum(not is_sign(cell.text) for cell in line.cells) for line in lines}
    counts = sorted(held.values(), reverse=True)
    most = counts[max(_TITLED, math.ceil(_FULL_ROWS * len(counts))) - 1]
    if most <= max(_TITLED, len(columns)) or counts[-1] > most / 2:
        return columns
    full = find_columns([line for line in lines if held[id(line)] >= most], size)
    return full if len(full) > len(columns) else columns


def find_columns(lines: Sequence[Line], size: float) -> list[Interval]:
    """Where most lines have something, from left to right; between two columns, some line has cells on both sides."""
    votes = [(cell.left, 1) for line in lines for cell in line.cells]
    votes += [(cell.right, -1) for line in lines for cell in line.cells]
    votes.sort()
    columns: list[list[float]] = []
    allowed = _ACROSS * len(lines)
    count = 0
    for (at, vote), (until, _) in itertools.pairwise(votes):
        count += vote
        if count > allowed and until > at:
            if columns and at - columns[-1][1] < GUTTER * size:
                columns[-1][1] = until
            else:
                columns.append([at, until])
    parted = columns[:1]
    for index, (left, right) in enumerate(columns[1:], 1):
        gap = left - parted[-1][1]
        middle = (parted[-1][1] + left) / 2
        if any(_on_both_sides(line, middle, (parted[-1][0], right)) for line in lines):
            parted.append([left, right])
        elif (
            index == 1 and len(columns) > 2 and columns[2][0] - right < gap
        ):  # a header nearer to figures than to labels
            parted.append([left, right])
        else:
            parted[-1][1] = right
    return [(left, right) for left, right in parted]


def find_sheet_columns(lines: Sequence[Line]) -> list[Interval]:
    """The columns of a printed sheet, whose cells are known: words that run on over empty cells make none.

    The narrowest cells come first. Two columns of which no line has both are one unless both have amounts, such as
    debit and credit, or the first has the figures of the cell before: a header at the left of its cell is that of the
    figures behind it.
    """
    columns = _join_cells(lines)
    held = [{find_column(cell, columns) for cell in line.cells} for line in lines]
    figures, words = _find_figures(lines, columns)
    amounts = {index for index, column in figures.items() if any(len(cell.text) > 1 for cell in column)}
    parted: list[Interval] = []
    first = 0
    nearest: int | None = None
    has_amounts = False
    for index, (left, right) in enumerate(columns):
        both = any(index in line and any(first <= other < index for other in line) for line in held)
        behind = columns[index + 1][0] - right if index + 1 < len(columns) else math.inf
        aside = nearest is not None and index in words and _end_before(figures[nearest], left, behind, lines[0].size)
        if not parted or both or aside or (index in amounts and has_amounts):
            parted.append((left, right))
            first, nearest, has_amounts = index, None, False
        else:
            parted[-1] = parted[-1][0], right
        nearest = index if index in figures else nearest
        has_amounts = has_amounts or index in amounts
    return parted


def _join_cells(lines: Sequence[Line]) -> list[Interval]:
    """The columns of cells that lie over each other, without those that lie over several."""
    cells = sorted((cell.right - cell.left, cell.left, cell.right) for line in lines for cell in line.cells)
    columns: list[Interval] = []
    for _, left, right in cells:
        first = bisect(columns, left + TOUCH, key=itemgetter(1))
        end = bisect_left(columns, right - TOUCH, key=itemgetter(0))
        if end <= first:
            columns.insert(first, (left, right))
        elif end - first == 1:
            columns[first] = min(left, columns[first][0]), max(right, columns[first][1])
    return columns


def _find_figures(lines: Sequence[Line], columns: Sequence[Interval]) -> tuple[dict[int, list[LineCell]], set[int]]:
    """The figures of each column that has some, and the columns that have words only."""
    figures: dict[int, list[LineCell]] = {}
    words: set[int] = set()
    for cell in (cell for line in lines for cell in line.cells):
        if not is_amount(cell.text) or _DATE.fullmatch(cell.text):
            words.add(find_column(cell, columns))
        elif len(cell.text) > 1 or cell.text.isdecimal():
            figures.setdefault(find_column(cell, columns), []).append(cell)
    return figures, words - figures.keys()


def _end_before(figures: Sequence[LineCell], left: float, behind: float, size: float) -> bool:
    """Whether figures are of the cell before words that begin at `left`, with so much white behind them.

    Figures that are flush right are. Those of one width say nothing: they are if the words begin where they end, or
    stand nearer to what is behind.
    """
    lefts, rights = [cell.left for cell in figures], [cell.right for cell in figures]
    begins, ends = max(lefts) - min(lefts), max(rights) - min(rights)
    if max(begins, ends) > _EVEN:
        return 2 * ends < begins
    before = left - max(rights)
    return before < _BESIDE * size or behind < before


def with_signs(columns: Sequence[Interval], lines: Sequence[Line]) -> list[Interval]:
    """The columns; those with signs only are merged into the next one (`$`) or the one before (`%`)."""
    texts: dict[int, list[str]] = {}
    for line in itertools.dropwhile(is_header, lines):  # headers stand over signs and figures
        for cell in line.cells:
            if over(cell, columns) <= 1:
                texts.setdefault(find_column(cell, columns), []).append(cell.text)
    joined: list[Interval] = []
    begin: float | None = None
    for index, (left, right) in enumerate(columns):
        held = texts.get(index, [])
        if held and index + 1 < len(columns) and all(map(LEADING_SIGN.fullmatch, held)):
            begin = left if begin is None else begin
        elif held and joined and all(map(CLOSING_SIGN.fullmatch, held)):
            joined[-1] = joined[-1][0], right
        else:
            joined.append((left if begin is None else begin, right))
            begin = None
    return joined


def find_column(cell: LineCell | PageWord, columns: Sequence[Interval]) -> int:
    """The column of a cell: the first one if it spans several, and the nearest if it is in none."""
    behind = bisect_left(columns, (cell.right - TOUCH,))
    if count := over(cell, columns):
        return behind - count
    return min(range(len(columns)), key=lambda at: max(columns[at][0] - cell.right, cell.left - columns[at][1]))


def _titles(counts: Sequence[int], usual: float) -> int:
    """The number of lines at the top of a table that have fewer cells than usual."""
    return sum(1 for _ in itertools.takewhile(lambda count: count < usual, counts[: _MOST_TITLES + 1]))


def _on_both_sides(line: Line, middle: float, within: Interval) -> bool:
    """Whether a line has a cell on each side of a position, and none across it."""
    left = right = False
    for cell in line.cells:
        if cell.left < middle < cell.right:
            return False
        left |= within[0] <= cell.right < middle
        right |= middle < cell.left <= within[1]
    return left and right


def part_at_rivers(block: Sequence[Line], columns: Sequence[Interval], size: float) -> bool:
    """Split cells at gaps narrower than between cells that are open in every line; returns whether any was split."""
    rows = several_cells(block)
    if len(rows) < FEWEST:
        return False
    lefts = [[word.left for word in line.words] for line in rows]
    rivers = [river for column in columns for river in _find_rivers(rows, lefts, column, size)]
    for begin, end in rivers:
        for line in block:
            line.cells = [part for cell in line.cells for part in _part(cell, begin, end)]
    return bool(rivers)


def _find_rivers(
    rows: Sequence[Line], lefts: Sequence[Sequence[float]], column: Interval, size: float
) -> Iterator[Interval]:
    """The white space that runs down a column, given where the words of each row begin."""
    lines = [held for line, begins in zip(rows, lefts, strict=True) if (held := _words_within(line, begins, column))]
    yield from _find_white(lines, GUTTER * size, 0.6 * size)
    drawn = [pieces for words in lines if len(pieces := _as_drawn(words)) > 1]
    if sum(len(piece.words) > 1 for pieces in drawn for piece in pieces) > _TYPED * len(drawn):
        yield from _find_white(drawn, TOUCH, 0.0)


def _as_drawn(words: Sequence[PageWord]) -> list[LineCell]:
    """Words in pieces between which no space was typed."""
    begins = [index for index, word in enumerate(words) if word.apart and index]
    return [LineCell(list(words[begin:end])) for begin, end in itertools.pairwise((0, *begins, len(words)))]


def _find_white(lines: Sequence[Sequence[PageWord | LineCell]], gutter: float, widest: float) -> Iterator[Interval]:
    """The white space of at least `gutter` that runs down lines, and is as wide as `widest` in one of them."""
    several = [words for words in lines if len(words) > 1]  # headers of two columns are no part of them
    spans = _merge(((word.left, word.right) for words in several for word in words), gutter)
    for (_, begin), (end, _) in itertools.pairwise(spans):
        gaps = [gap for words in lines if (gap := _gap(words, begin, end)) is not None]
        if len(gaps) < max(3, 0.7 * len(lines)) or max(right - left for left, right in gaps) < widest:
            continue
        behind = [held for words in several if (held := [word for word in words if word.left >= end - 0.1])]
        if _are_aligned([left for left, _ in gaps], behind):
            yield begin, end


def _words_within(line: Line, lefts: Sequence[float], column: Interval) -> list[PageWord]:
    """The words of a line in a column, given where each word begins."""
    near = line.words[bisect_left(lefts, column[0] - 1) : bisect(lefts, column[1] + 1)]
    return [word for word in near if word.right <= column[1] + 1]


def part_at_edges(block: Sequence[Line], columns: Sequence[Interval]) -> list[Interval]:
    """The columns; one in which many lines have two cells is split, if the right cells begin at one place.

    Other cells reach up to that place, so no gutter runs down the table.
    """
    parted: list[Interval] = []
    for left, right in columns:
        edge = _find_edge(block, (left, right))
        if edge is None:
            parted.append((left, right))
            continue
        for line in block:
            line.cells = [part for cell in line.cells for part in _part_at(cell, edge)]
        parted += (left, edge - 1), (edge, right)
    return parted


def _find_edge(block: Sequence[Line], column: Interval) -> float | None:
    """Where the right cells begin in a column in which many lines have two cells; None if they are not aligned."""
    inside = ([cell for cell in line.cells if column[0] <= cell.left and cell.right <= column[1]] for line in block)
    held = list(filter(None, inside))
    edges = sorted(cells[1].left for cells in held if len(cells) == 2)
    edge = edges[len(edges) // 2] if edges else 0.0
    aligned = sum(abs(other - edge) < 1 for other in edges)
    return edge if aligned >= max(FEWEST, _EDGED * len(held)) and aligned > _ALIGNED * len(edges) else None


def _part_at(cell: LineCell, edge: float) -> list[LineCell]:
    """A cell whose words cross an edge, split in two if a word begins at the edge."""
    for index, word in enumerate(cell.words[1:], 1):
        if abs(word.left - edge) < 1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]


def _merge(intervals: Iterable[Interval], gap: float) -> list[Interval]:
    merged: list[list[float]] = []
    for left, right in sorted(intervals):
        if merged and left - merged[-1][1] < gap:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return [(left, right) for left, right in merged]


def _gap(words: Sequence[PageWord | LineCell], begin: float, end: float) -> Interval | None:
    """The white space of a line between two positions, if it has words on both sides."""
    before = [word.right for word in words if word.right <= begin + 0.1]
    behind = [word.left for word in words if word.left >= end - 0.1]
    return (max(before), min(behind)) if before and behind else None


def _are_aligned(ends: Sequence[float], behind: Sequence[Sequence[PageWord | LineCell]]) -> bool:
    """Whether what precedes the lines' white space ends at one place, or what follows it has one edge or middle.

    White space that runs down lines of prose by chance has neither.
    """
    lefts, rights = [words[0].left for words in behind], [words[-1].right for words in behind]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    for places in (ends, lefts, rights, middles):
        middle = sorted(places)[len(places) // 2]
        if sum(abs(place - middle) < 1 for place in places) >= _AT_ONE_PLACE * len(places):
            return True
    return False


def _part(cell: LineCell, begin: float, end: float) -> list[LineCell]:
    for index in range(1, len(cell.words)):
        if cell.words[index - 1].right <= begin + 0.1 and cell.words[index].left >= end - 0.1:
            return [LineCell(cell.words[:index]), LineCell(cell.words[index:])]
    return [cell]
