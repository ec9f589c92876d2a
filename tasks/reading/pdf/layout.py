"""Puts the tables of a PDF's page into its text: a line for each row, cells separated by tabs.

PDFium's text is kept except for the words of tables. Most pages have none, which the boxes of their runs of text show
in a twentieth of the time that the page takes.

White space shows spaces that PDFium misses, and gutters that may separate columns. On a page that is drawn word by
word, or glyph by glyph, only the gaps between the characters' boxes show where words end. PDFium expects wider gaps
than some programs leave: it joins words, or ends a line after each letter.
"""

import re
from bisect import bisect, bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, filterfalse, groupby, pairwise, starmap, zip_longest
from math import inf
from operator import attrgetter, itemgetter, sub
from statistics import median_high
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.columns import (
    TABLE,
    TABLE_END,
    Columns,
    Edit,
    columns_by_height,
    columns_by_rule,
    in_printed_order,
    merge_columns,
    pages_side_by_side,
    split_prose,
)
from tasks.reading.pdf.defects import find_missing_breaks
from tasks.reading.pdf.document import Box, PageText, TagBudget
from tasks.reading.pdf.fields import find_tagged_tables, place_values
from tasks.reading.pdf.grids import find_ruled_tables
from tasks.reading.pdf.lines import CELL_GAP, VALUE, Line, LineCell, build_lines, is_figure
from tasks.reading.pdf.rows import TableRow
from tasks.reading.pdf.rules import RuledLine, Rules, find_rules, join_rules
from tasks.reading.pdf.table_columns import is_of_sheet
from tasks.reading.pdf.tables import Table, find_tables
from tasks.reading.pdf.words import (
    MARK,
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

_ALONE: Final = re.compile(r"(?m)^[^\W\d_]\r?$")
"""A letter that is a line."""
_FEWEST_ALONE: Final = 8
_SHARE_ALONE: Final = 0.15
"""The share of a page's lines that are a letter each where the text came apart."""
_RUNS_A_WORD: Final = 0.5
"""Runs of text for each word from which a page is drawn word by word."""
_RUNS_A_LINE: Final = 2
_WORD: Final = re.compile(r"\S{4,}")
_GAP: Final = 0.11
"""The white between two words, as a share of the height of their letters' boxes."""
_OVER_OTHERS: Final = 2.5
"""How much wider it is than most gaps between the letters: letters may all be set apart."""
_CELLS: Final = 0.75
"""The white between two runs of a line that may part cells, as a share of their height."""
_STRETCHED: Final = 1.5
"""The same at most, on pages whose words are drawn one by one."""
_SAMPLE: Final = 300
"""Runs whose gaps tell how wide words stand apart."""
_MARK: Final = 2.2
"""The width of a list's mark at most, as a share of its height."""
_NEAREST: Final = 17
_NEAR: Final = 16
"""How far gaps stand from each other, in heights of a line, that are of one gutter."""
_SHARED: Final = 0.3
"""The white that they share at least."""
_OPEN: Final = 3
"""The white from which two lines are enough, as they are where they share two gaps."""
_ROWS: Final = 2
_ROWS_OF_WORDS: Final = 3
"""The same where words are drawn one by one, and sentences stand apart as far as cells."""
_COLUMNS: Final = 3
"""Columns from which a table may be drawn one after the other: pages of prose have two."""
_ALIGNED: Final = 0.5
"""Points by which cells of a column begin apart."""
_JOINED: Final = 0.04
"""How far a part of a cell in another font begins from the end of the one before at most, as a share of the height."""
_MOST: Final = 20_000
"""Characters whose boxes are asked for."""


def is_in_letters(text: str) -> bool:
    """Whether PDFium's text of a page consists of single letters: one letter a line in places."""
    lines = text.count("\r\n") + 1
    if lines < _FEWEST_ALONE or len(text) > 10 * lines:
        return False
    return len(_ALONE.findall(text.replace("\r\n", "\n"))) >= max(_FEWEST_ALONE, _SHARE_ALONE * lines)


def find_missing_spaces(textpage: Any, page_text: PageText) -> list[int]:
    """Where spaces must be inserted into the text of a page: between letters with a wider gap than others."""
    text = page_text.text
    if not page_text.is_in_step or len(text) > _MOST:
        return []
    words = _find_split_words(textpage, [match.span() for match in _WORD.finditer(text)])
    within = list(chain.from_iterable(starmap(range, words)))  # a box costs a call
    boxes = list(document.character_boxes(textpage, within))
    narrowest = _GAP * min((top - bottom for _, top, _, bottom in boxes if top > bottom), default=0.0)
    lefts, rights = [box[0] for box in boxes], [box[2] for box in boxes]
    spots: list[int] = []
    behind = 0
    for begin, stop in words:
        first, end = behind, behind + stop - begin
        behind = end
        if max(map(sub, lefts[first + 1 : end], rights[first : end - 1])) <= narrowest:
            continue
        gaps: list[float] = []
        _, top, last_right, last_bottom = boxes[first]
        for left, top, right, bottom in boxes[first + 1 : end]:
            height = top - bottom
            if height <= 0:
                break
            gaps.append((left - last_right) / height if abs(bottom - last_bottom) < height / 4 else 0.0)
            last_right, last_bottom = right, bottom
        wide = [index for index, gap in enumerate(gaps) if _GAP < gap < 1]
        if (
            wide
            and 3 * len(wide) <= len(gaps)
            and min(gaps[index] for index in wide) > _OVER_OTHERS * median_high(gaps)
        ):
            spots += (begin + index + 1 for index in wide)
    return spots


def find_touching_cells(textpage: Any, page_text: PageText) -> list[int]:
    """Where spaces must be inserted into the text of a printed sheet, as a cell begins within what looks like a word.

    Cells are drawn one by one, and begin where those of other rows do: what is cut off at its cell's end runs into the
    next. Parts of a cell in other letters do too, but most begin where the letter before them ends. Where letters are
    drawn one by one too, for want of a font, nothing tells the cells.
    """
    text = page_text.text
    if not page_text.is_in_step or len(text) > _MOST:
        return []
    drawn = [index for index, character in enumerate(text) if not character.isspace()]
    objects = document.text_objects(textpage, drawn)
    begins = [index for index, last, item in zip(drawn[1:], objects, objects[1:], strict=False) if last != item]
    places = [box[0] for box in document.character_boxes(textpage, begins)]
    lefts = sorted(places)
    touching = [(index, left) for index, left in zip(begins, places, strict=True) if text[index - 1].isalnum()]
    joined = sorted(left for index, left in touching if _goes_on_in_other_letters(textpage, index))
    within = [index for index, left in touching if _count(lefts, left) > max(_ROWS_OF_WORDS, 2 * _count(joined, left))]
    return within if len(within) < len(text.split()) else []


def _count(ordered: Sequence[float], left: float) -> int:
    return bisect(ordered, left + _ALIGNED) - bisect_left(ordered, left - _ALIGNED)


def _goes_on_in_other_letters(textpage: Any, index: int) -> bool:
    """Whether a character begins where the one before it ends, in another font, size or colour."""
    last, here = document.character_boxes(textpage, [index - 1, index])
    height = here[1] - here[3]
    if abs(here[0] - last[2]) > _JOINED * height:
        return False
    fonts = {document.font(item) for item in document.text_objects(textpage, [index - 1, index])}
    colours = set(document.character_colours(textpage, [index - 1, index]))
    return max(len(fonts), len(colours)) > 1 or abs(last[1] - last[3] - height) > _JOINED * height


def _find_split_words(textpage: Any, words: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The words (each from one character up to another) whose first and last characters are drawn separately."""
    firsts = document.text_objects(textpage, [begin for begin, _ in words])
    lasts = document.text_objects(textpage, [end - 1 for _, end in words])
    return [word for word, first, last in zip(words, firsts, lasts, strict=True) if first != last]


def has_gutters(runs: Sequence[Box], text: str) -> bool:
    """Whether a page with these runs of text, in drawing order, may contain a table.

    That is so if wide gaps are below each other and what follows them is aligned. A run above and to the right of the
    one before counts too: a cell after one of several lines. Space after a list mark does not count.
    """
    wide = _least_gap(runs, text)
    enough = _ROWS if wide == _CELLS else _ROWS_OF_WORDS
    gaps: list[tuple[float, float, float, float]] = []
    rows: set[int] = set()
    last_begin = last_right = last_low = last_high = inf
    within = False
    for begin, high, end, low in runs:
        beside = begin > last_right and high > last_low
        if beside:
            height = max(high - low, last_high - last_low)
            if begin - last_right > wide * height and (within or last_right - last_begin > _MARK * height):
                gap = (low, last_right, begin, end)
                rows |= _find_rows(gap, gaps, rows, height)
                if len(rows) >= enough:
                    return True
                gaps.append(gap)
        within = beside and low < last_high
        last_begin, last_right, last_low, last_high = begin, end, low, high
    return False


def _find_rows(gap: Box, gaps: Sequence[Box], rows: Collection[int], height: float) -> set[int]:
    """The rows, by level, that a gap forms with the nearest gap of the same gutter; none if there is none.

    A gap is its level, its beginning and end, and the end of the run after it. `rows` are those known already.
    """
    low, last_right, begin, end = gap
    for other, left, right, its_end in gaps[:-_NEAREST:-1]:
        shared = min(right, begin) - max(left, last_right)
        if not (shared > _SHARED * height and height / 2 < abs(other - low) < _NEAR * height):
            continue
        row = round(low / 4)
        if shared > _OPEN * height:
            return {row, round(other / 4)}
        if _is_below(begin, end, right, its_end):
            return {row, round(other / 4)} if row in rows else {row}
    return set()


def by_height(runs: Sequence[Box]) -> list[Box]:
    """The runs of a page whose table is drawn column by column, sorted by line from the top; empty for other pages."""
    begins_anew = [low > high and left > right for (_, high, right, _), (left, _, _, low) in pairwise(runs)]
    if sum(begins_anew) < _COLUMNS - 1:  # the usual
        return []
    passes: dict[int, set[int]] = {}
    for (_, _, _, low), number in zip(runs[1:], accumulate(begins_anew), strict=True):
        passes.setdefault(round(low / 4), set()).add(number)
    rows = sum(len(held) >= _COLUMNS for held in passes.values())
    return sorted(runs, key=lambda run: (-round(run[3] / 4), run[0])) if rows >= _ROWS_OF_WORDS else []


def are_printed_over(runs: Sequence[Box]) -> bool:
    """Whether a run of text begins where the one before it began: some programs print bold text twice."""
    for (last_begin, last_high, _, last_low), (begin, high, _, low) in pairwise(runs):
        if abs(begin - last_begin) < 1 and 2 * (min(high, last_high) - max(low, last_low)) > high - low > 0:
            return True
    return False


def _is_below(begin: float, end: float, other_begin: float, other_end: float) -> bool:
    """Whether a run begins or ends where another one does, or has the same middle."""
    before, behind = begin - other_begin, end - other_end
    return min(abs(before), abs(behind), abs(before + behind) / 2) < 1


def _least_gap(runs: Sequence[Box], text: str) -> float:
    """The smallest gap that may separate cells, as a share of the height: more than between words
    of stretched lines.
    """
    if len(runs) <= _RUNS_A_WORD * (text.count(" ") + text.count("\n")):
        return _CELLS
    gaps = [
        (begin - end) / max(0.1, min(high - low, top - bottom))
        for (_, top, end, bottom), (begin, high, _, low) in pairwise(runs[:_SAMPLE])
        if begin > end and bottom < high and low < top
    ]
    return min(_STRETCHED, max(_CELLS, 2.2 * median_high(gaps))) if gaps else _CELLS


_VALUE_OF_SIGN: Final = re.compile(rf"(?:(?<={VALUE})|^)(US\$|[$£¥]){VALUE}")

_MOST_RUNS: Final = 5_000
_MOST_WORDS: Final = 6_000
_MOST_LINES: Final = 600
"""Lines of a page on which tables are looked for: people print 100."""
_KNOWN: Final = 0.9
"""The share of words that PDFium gives too where a page that is printed twice was put together well."""
_BREAK: Final = re.compile(r" *\r\n")
_FREE: Final = 5
"""Columns of a form in which a value may take the empty cell behind its label: where there are more they have heads."""
_FIGURES: Final = re.compile(r"\d\)?[ %]++[(−–-]?[$€£¥]?\(?\d")
"""Two figures side by side."""
_LABELLED: Final = re.compile(r"^\D{2,60}\d[\d.,]*+ ?%?\)? *$")
"""A label and one figure behind it, as in the lines of a table of two columns."""
_WRITTEN_ON: Final = re.compile(r"[.…]{4,}|…{2,}|_{4,}")
"""Dots and lines to write on, which may stand beside a word without a blank."""
_APART: Final = frozenset(("", " ", "\r", "\n"))
_ABOVE: Final = 4
"""Lines above a value on which its label is looked for."""
_ASIDE: Final = 4
"""How far to the right of its label's end a value may begin below it, in sizes."""
_AMONG: Final = 5
"""Lines of which three have such a label."""


def _has_figure_columns(text: str) -> bool:
    """Whether two lines, with at most one between them, have two figures side by side, or three lines one behind a
    label each.
    """
    lines = text.split("\r\n")
    rows = (number for number, line in enumerate(lines) if _FIGURES.search(line))
    if any(other - one <= 2 for one, other in pairwise(rows)):
        return True
    labelled = [number for number, line in enumerate(lines) if _LABELLED.search(line)]
    return any(other - one < _AMONG for one, other in zip(labelled, labelled[2:], strict=False))


def layout_edits(page: Any, textpage: Any, page_text: PageText, known: KnownCells = NONE_KNOWN) -> list[Edit]:
    """The changes to the text of an open page that make it read as it is printed, in order.

    Tables get rows and cells, words that PDFium joins are separated, and a page in single letters is reassembled from
    its glyphs.
    """
    text = page_text.text
    if is_in_letters(text) and page_text.characters <= MOST and not is_right_to_left(text):
        return [(0, len(text), _order_glyphs(textpage, page_text))]
    runs = pdfium.FPDFText_CountRects(textpage, 0, -1)
    spaces = _find_spaces(textpage, page_text, runs, known)
    edits = [(spot, spot, " ") for spot in spaces]
    if has_right_to_left(text):
        edits += ((spot, spot, "\r\n") for spot in find_missing_breaks(textpage, page_text))
    turn = find_turn(textpage, page_text)
    if not (
        known.fields
        or known.is_sheet
        or _has_figure_columns(text)
        or _may_hold_table(document.run_boxes(textpage, min(runs, _MOST_RUNS), turn), text)
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
    if known.fields:
        place_values(words, known.fields, rules)
    tables, columns = _find_tables(rules, words, is_turned=is_right_to_left(text))
    if columns:
        return [(0, len(text), _write_columns(columns, join_rules(rules.horizontal), words, text))]
    if known.tags and len(text) == page_text.characters:
        tables = _by_tags(page, textpage, rules, words, tables, known.tags)
    edits += (edit for table in filter(attrgetter("behind"), tables) for edit in _edits(table, words, text))
    drawn = list(filterfalse(attrgetter("behind"), tables))
    edits += in_printed_order(
        [_words([each]) for each in drawn], [_edits(each, words, text) for each in drawn], words, text, spaces
    )
    return sorted(edits, key=itemgetter(0, 1))  # what goes to one place, from the top


def _find_spaces(textpage: Any, page_text: PageText, runs: int, known: KnownCells) -> list[int]:
    """Where spaces are missing in the text of a page of so many runs."""
    text = page_text.text
    is_by_words = runs > _RUNS_A_LINE * (text.count("\r\n") + 1) and runs > _RUNS_A_WORD * (text.count(" ") + 1)
    spaces = find_missing_spaces(textpage, page_text) if is_by_words else []
    if known.is_sheet:
        spaces += find_touching_cells(textpage, page_text)
    if known.fields:  # so that what is written on dots stands between the words before and behind them
        spots = (spot for match in _WRITTEN_ON.finditer(text) for spot in match.span())
        spaces += [spot for spot in spots if not {text[spot - 1 : spot], text[spot : spot + 1]} & _APART]
    return sorted({*spaces, *known.spaces})


def _may_hold_table(runs: list[Box], text: str) -> bool:
    """Whether the white space between runs of text, or what is printed over others, may be that of a table."""
    if is_right_to_left(text):
        runs = [(-right, top, -left, bottom) for left, top, right, bottom in runs]
    return has_gutters(runs, text) or are_printed_over(runs) or has_gutters(by_height(runs), text)


def _find_tables(rules: Rules, words: Sequence[PageWord], *, is_turned: bool) -> tuple[list[Table], list[Columns]]:
    """The tables of a page, or its columns where its text has some; `is_turned`: the text runs from right to left."""
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


def _by_tags(
    page: Any, textpage: Any, rules: Rules, words: Sequence[PageWord], tables: list[Table], budget: TagBudget
) -> list[Table]:
    """The tables of a page, with those that its tags show otherwise as the tags have them."""
    held = {_cells(row) for table in tables for row in table.rows}
    tagged = [
        table
        for table in find_tagged_tables(page, textpage, words, budget)
        if not held.issuperset(cells for row in table.rows if len(cells := _cells(row)) > 1)
    ]
    if not tagged:
        return tables
    members = {word.first for word in _words(tagged)}
    others, _ = _find_tables(rules, [word for word in words if word.first not in members], is_turned=True)
    return tagged + others


def _cells(row: TableRow) -> tuple[str, ...]:
    """What stands in the cells of a row that are not empty, without spaces."""
    return tuple("".join(cell.split()) for cell in row.cells if cell)


def _find_values(lines: Sequence[Line], tables: Iterable[Table]) -> list[Table]:
    """The lines outside tables in which values of a form's fields stand.

    A value is a cell of its own unless it stands among the words of a sentence, or the line below goes on with one. A
    line of values alone stands below the line above it, wherever it is drawn.
    """
    held = {word.first for word in _words(tables)}
    found: list[Table] = []
    above: list[Line] = []
    for line, below in zip_longest(lines, lines[1:]):
        is_free = held.isdisjoint([word.first for word in line.words])
        are_values = [word.piece > 0 for word in line.words]
        if is_free and any(are_values):
            found += _part_values(line, below, above if all(are_values) else [])
        if not all(are_values):
            above = [*above[1 - _ABOVE :], line] if is_free else []
    return found


def _part_values(line: Line, below: Line | None, above: Sequence[Line]) -> Iterator[Table]:
    """A line with values in cells; none if its values stay where they are drawn."""
    goes_on = below is not None and below.words[0].text[:1].islower()
    cells = [[line.cells[0]]]
    for before, cell in pairwise(line.cells):
        is_apart = not goes_on and cell.left - before.right > CELL_GAP * line.size
        is_apart = is_apart or before.text.endswith(":")
        cells[-1:] = [cells[-1], [cell]] if is_apart else [[*cells[-1], cell]]
    behind = _find_ends_above([cell[0] for cell in cells], above)
    if behind is not None:
        row = TableRow([" ".join([part.text for part in cell]) for cell in cells], line.words)
        yield Table(line.base, [row], is_prose=True, behind=behind)


def _find_ends_above(values: Sequence[LineCell], above: Sequence[Line]) -> list[int] | None:
    """Where the cells end that values stand under; None where one stands under none of the lines above."""
    ends = [_find_end_above(value, above) for value in values] if above else []
    known = [end for end in ends if end is not None]
    return known if len(known) == len(ends) else None


def _find_end_above(value: LineCell, above: Sequence[Line]) -> int | None:
    for line in reversed(above):
        over = [cell for cell in line.cells if cell.left < value.right and cell.right > value.left - _ASIDE * line.size]
        if over:
            begun = [cell for cell in over if cell.left < value.left + line.size]
            return max(word.end for word in (begun or over)[-1 if begun else 0].words)
    return None


def _part_at_rules(line: Line, vertical: Sequence[RuledLine]) -> None:
    """Split the cells of a line that are figures on both sides of a rule; boxes of single digits stay one cell."""
    if all(len(cell.words) == 1 for cell in line.cells):
        return
    middle = line.base - line.size / 3
    places = sorted([at for at, begin, end in vertical if begin < middle < end])
    if not places:
        return
    cells: list[LineCell] = []
    for cell in line.cells:
        if bisect(places, cell.left) == bisect(places, cell.right):  # the usual
            cells.append(cell)
            continue
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
    if table.behind:
        return [*_place_values(table, text), *((first, last, "") for first, last in runs)]
    start, end = runs[0]
    before_it = "" if start == 0 or text[start - 1] == "\n" else "\r\n"
    behind_it = "" if end >= len(text) or text[end : end + 2] == "\r\n" else "\r\n"
    edits = [(start, end, f"{before_it}{_mark_table(table)}{behind_it}")]
    for first, last in runs[1:]:
        begins_line = first == 0 or text[first - 1] == "\n"
        break_behind = _BREAK.match(text, last) if begins_line else None
        edits.append((first, break_behind.end() if break_behind else last, ""))
    return edits


def _place_values(table: Table, text: str) -> Iterator[Edit]:
    """Edits that put the cells of a row each behind its line of the text, those of one line together."""
    ends = [end if end >= 0 else len(text) for end in (text.find("\r\n", word) for word in table.behind)]
    for end, cells in groupby(zip(ends, table.rows[0].cells, strict=True), itemgetter(0)):
        yield end, end, "\r\n" + "\t".join(cell for _, cell in cells)


def _mark_table(table: Table) -> str:
    text = "\r\n".join(map(_write_row, table.rows))
    return text if table.is_prose else f"{TABLE}{text}{TABLE_END}"


def _write_row(row: TableRow) -> str:
    """A row's cells. One is parted at the values of a form's fields where empty cells behind it make room for them."""
    text = "\t".join(row.cells).replace(f"{VALUE}{MARK}", f" {MARK}").replace(f"{MARK}{VALUE}", f"{MARK} ")
    if VALUE not in text:
        return text
    cells = text.split("\t")
    last = max(index for index, cell in enumerate(cells) if cell)
    for index in range(last, -1, -1):
        parts = _VALUE_OF_SIGN.sub(r"\1 ", cells[index]).split(VALUE)
        behind = cells[index + 1 : index + len(parts)]
        has_room = index == last or (len(behind) == len(parts) - 1 and not any(behind))
        has_room = has_room and len(row.cells) <= _FREE
        cells[index : index + len(parts) if has_room else index + 1] = parts if has_room else [" ".join(parts)]
    return "\t".join(cells)


def _words(tables: Iterable[Table]) -> list[PageWord]:
    return [word for table in tables for row in table.rows for word in row.words]


def text_of_words(words: Sequence[PageWord]) -> str:
    """The lines and tables of a page of which only words and their places are known, such as a scan."""
    lines = build_lines(words)
    return "\r\n".join(_write_lines(lines, find_tables(lines) if 0 < len(lines) <= _MOST_LINES else []))
