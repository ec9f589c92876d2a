"""The columns of a table: what its header, its corner and the titles above it say about each."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tasks.figures import column_periods as periods
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import PARENT, WORDS, Meaning, find_basis, find_named_basis
from tasks.figures.table_labels import Label, LabelReader, entity_named, is_date
from tasks.figures.table_rows import Row, has_days, is_label, is_note_heading, is_number
from tasks.language.numbers import Amount, Units, amounts, find_currency, only_units, read_units, without_units
from tasks.language.periods import (
    HINT,
    MONTH,
    When,
    find_periods,
    header_period,
    header_words,
    parts_by_span,
    spell_months,
    spoken_span,
    year_earlier,
)
from tasks.language.words import alternation

_UNITS_LAST: Final = re.compile(r"\((?:in|amounts in|dollars in) [^()\d]{3,60}\)(?=[:.]?$)", re.IGNORECASE)
_LONGEST_TITLE: Final = 220
_LONGEST_SCALE: Final = 90
_LEAST_SUM: Final = 2100
"""What is less, beside a currency, may be a year."""
_STARTS: Final = header_words("plan_start")
_BASIS_ROW: Final = re.compile(alternation(header_words("basis")), re.IGNORECASE)
_OF_ALL: Final = re.compile(alternation(header_words("of_all")), re.IGNORECASE)
"""What heads a row that says of columns what they rest on, and not of whom they are; what it may say of all alike."""


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column: its heading and what it means, its period, its part of the company, and whether its numbers are used.

    `contradicts`: the line above the table gives one scale and the header another. `unclear`: the header gives it more
    than one period; if there is a `when`, it is that of balances. `is_past`: it stands before those that the header
    calls planned.
    """

    words: str
    label: Label
    when: When | None
    entity: str | None
    skipped: bool
    units: Units
    contradicts: bool = False
    unclear: bool = False
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """The columns under a header, its corner, and the lines over it that are titles."""

    columns: list[FigureColumn]
    corner: str
    titles: list[str]


def read_header(
    header: Sequence[Row], width: int, lines: Sequence[str], reader: LabelReader, document: LedgerDocument
) -> Header:
    """The columns that a header of `width` columns names, under these lines of text.

    The `document` says how it writes numeric dates, what ends its newest year, which "Exercice N" and "Boekjaar" on
    forms refer to, and its own time, which "this month" refers to. In a sheet, and where columns left of it are called
    actual, a plan's heading begins above its first column.
    """
    lines = [periods.spell_heading(line, document.month_first) for line in lines if not WORDS.page_key.match(line)]
    header, boxes = _part_unit_boxes(header)
    header = [_mend_dates(row) for row in header[-5:]]
    words, beside = _read_words(header, width, lines, of_sheet=document.stores_numbers)
    words, may_be_years = _turn_months(words, lines)
    lines, words, lost = _find_group_spans(lines, words)
    corners = [row.cells[0] for row in header if row.cells and row.cells[0]]
    corner = " ".join([*corners, *beside, *(boxes if len(boxes) == 1 else ())])
    titles = [title for title in map(_heading, lines) if len(title) < _LONGEST_TITLE] + corners[:-1]
    units_of_table, of_corner = table_units(titles, corner, words), read_units(corner)
    scale = _scale_over(lines)
    of_title = periods.title_when(titles, corner)
    own = periods.read_periods([spell_months(text.replace("_", " "), document.month_first) for text in words])
    of_title = periods.add_statement_day(of_title, titles, own)
    may_be_years |= periods.may_end_years(words, of_title)
    steps = periods.find_steps(own)
    if not any(steps) and (of_title is None or not of_title.months):
        steps = periods.find_year_so_far(own)
    times = periods.refer_to(words, own, of_title, document.calendar.newest, document.own_period)
    unclear = lost or periods.contradicts_order(own, words)
    named = [_without_units(row) for row in header if not _says_basis(row)]
    has_unknown_units = _ends_alike(named, reader)
    of_parts = _column_words(named[:-1] if has_unknown_units else named, width)[0]
    columns: list[FigureColumn] = []
    of_horizons = any(map(WORDS.horizon.search, words))
    for text, told, step, of_part in zip(words, own, steps, of_parts, strict=True):
        label = reader.read(text)
        if told is None and sum(1 for found in find_periods(text) if found.dated) > 1:
            columns.append(FigureColumn(text, label, None, None, True, units_of_table))
            continue
        when = periods.find_when(text, told, step, times)
        contradicts = max(len(boxes), len({scale, label.units.multiplier or of_corner.multiplier} - {None})) > 1
        contradicts |= has_unknown_units
        entity = _find_entity(of_part, label, words)
        is_ahead = of_horizons and (WORDS.horizon.search(text) or spoken_span(text) or entity == "Current")
        units = label.units.over(units_of_table)
        torn = when is not None and (unclear or (may_be_years and when.end is not None))
        is_part = periods.opens_part_of_year(text, when, [*titles[-5:], corner])
        is_none = WORDS.skipped_column.search(WORDS.units_beside.sub(" ", text)) is not None
        skipped = bool(is_ahead) or is_none or is_part
        columns.append(FigureColumn(text, label, None if unclear else when, entity, skipped, units, contradicts, torn))
    columns = _of_quarters(columns, told=any(steps))
    return Header(_before_plans(_prior_years(_of_the_company(columns))), corner, titles)


def _find_entity(of_part: str, label: Label, words: Sequence[str]) -> str | None:
    """The entity that a column's words name; the "N" of French forms, beside "N-1", is a year."""
    entity = entity_named(periods.remove_time(of_part.replace("_", " ")), label)
    return None if entity == "N" and any("N-1" in each for each in words) else entity


_PLANNED: Final = frozenset({"budget", "forecast"})


def _before_plans(columns: list[FigureColumn]) -> list[FigureColumn]:
    """The columns; years of no basis before the first one that is planned, and earlier than it, are past."""
    planned = (
        (at, each.when)
        for at, each in enumerate(columns)
        if each.when and (each.when.forecast or find_basis(each.words) in _PLANNED)
    )
    first, plan = next(planned, (0, None))
    if plan is None or not (ends := _year(plan)):
        return columns
    return [
        replace(each, is_past=True)
        if at < first and each.when and (_year(each.when) or ends) < ends and not find_basis(each.words)
        else each
        for at, each in enumerate(columns)
    ]


def _year(when: When) -> int:
    """The year in which a time ends, 0 where it is not told."""
    return when.end.year if when.end else when.year or 0


def _read_words(
    header: Sequence[Row], width: int, lines: Sequence[str], *, of_sheet: bool
) -> tuple[list[str], list[str]]:
    """The words over each column, or the dates above them where they have none; and the words beside them."""
    words, beside = _column_words(header, width, of_sheet=of_sheet)
    words = [_GLUED.sub(" ", _END_OF_A_DATE.sub(r"\1", text)) for text in words]
    if not any(words) or not any(map(find_periods, words)):
        words = periods.stack_dates(lines, width) or words
    return words, beside


def _turn_months(words: list[str], lines: Sequence[str]) -> tuple[list[str], bool]:
    """The words with each month before its year, and whether it may be that of a year's end: not in a run of months.

    Years that end in December are left as they are, if the lines above speak of no part of a year.
    """
    turned = [WORDS.year_before_month.sub(r"\2 \1", text) for text in words]
    ends = {when.end for text in turned if text not in words for when in find_periods(text) if when.end}
    months = {end.month for end in ends}
    if not months or (months == {12} and not any(map(WORDS.part_of_a_year.search, lines[-5:]))):
        return words, False
    return turned, len({end.year for end in ends}) > 1 or not max(months) - min(months) == len(months) - 1 > 0


_END_OF_A_DATE: Final = re.compile(r"^([^()]*?)\b(?:19|20)\d\d\)")
"""A year with the closing bracket alone: the end of a date that began over another column, "(July 16, | 2025)"."""


def _mend_dates(row: Row) -> Row:
    """A header row with each year beside its day, where a cell has that of the day before it: "31, | 2024 May 1,"; and
    with a heading over two columns in the first of them, "Quarter ended | December 31,", or with its day over both.
    """
    line = "\t".join(row.cells)
    mended = _TORN_DATE.sub(r"\2\1 \3\t\2", line) if _YEAR_AND_DAY.search(line) else line
    mended = _TORN_SPAN.sub(r"\1 \3\2\t\1 \3\4", mended)
    return Row(row.start, mended.split("\t")[: row.width], row.starts, row.loose) if mended != line else row


_TORN_DATE: Final = re.compile(rf"(\b{MONTH} [0-3]?\d,)\t([^\t\d]*)((?:19|20)\d\d)(?: |(?=\t|$))", re.IGNORECASE)
_YEAR_AND_DAY: Final = re.compile(rf"\t[^\t\d]*(?:19|20)\d\d {MONTH} [0-3]?\d,\t", re.IGNORECASE)
_TORN_SPAN: Final = re.compile(
    rf"((?:^|(?<=\t))[^\t\d]*\bend(?:ed|ing))( (?:19|20)\d\d)?\t({MONTH} [0-3]?\d,?)((?(2) (?:19|20)\d\d))(?=\t|$)",
    re.IGNORECASE,
)
_GLUED: Final = re.compile(r"(?<=[12][09]\d\d)(?=(?:T?EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|[€£])(?:\s|$))")
"""Between a time and the currency that is written to it: "31.12.2024EUR"."""


def _part_unit_boxes(header: Sequence[Row]) -> tuple[Sequence[Row], list[str]]:
    """The header rows below a form's boxes for units, and the possible units: only one if one is marked.

    Spain's deposit forms have "Euros", "Miles" and "Millones" below each other, with an x after one of them (Orden
    JUS/794/2021, unidades).
    """
    boxes: list[tuple[int, str, bool]] = []
    for at, row in enumerate(header):
        marked = any(map(_MARK.fullmatch, row.cells))
        units = (cell for cell in row.cells[1:] if only_units(cell) or _BARE_THOUSANDS.fullmatch(cell))
        boxes += [(at, _BARE_THOUSANDS.sub(r"\g<0> de euros", cell), marked) for cell in units]
    if len({read_units(words).multiplier for _, words, _ in boxes}) < 2 or len({at for at, *_ in boxes}) < len(boxes):
        return header, []
    chosen = [words for _, words, marked in boxes if marked]
    return header[boxes[-1][0] + 1 :], chosen if len(chosen) == 1 else [words for _, words, _ in boxes]


_MARK: Final = re.compile(r"\[?[xX✓✔☒☑✗]\]?")
_BARE_THOUSANDS: Final = re.compile(r"miles|milers|milhares", re.IGNORECASE)


def _find_group_spans(lines: Sequence[str], words: list[str]) -> tuple[Sequence[str], list[str], bool]:
    """The lines above a table and the words of its columns, if the lines state a period for each group of columns.

    "Three months ended June 30, | Six months ended June 30," above 2024, 2023, 2024, 2023. The last value says whether
    the lines name several periods that do not match any groups.
    """
    groups = _groups(words)
    told = any(spoken_span(text) or ((when := header_period(text)) and when.part) for text in words)
    for count in range(1, max(len(groups), 1) + 1):
        parts = [part for line in lines[-count:] if len(line) < _LONGEST_SCALE for part in parts_by_span(line)]
        if told or len({spoken_span(part) for part in parts}) < periods.TWO_YEARS:
            continue
        if len(parts) == len(groups):
            ends = [*groups[1:], len(words)]
            over = {at: part for first, end, part in zip(groups, ends, parts, strict=True) for at in range(first, end)}
            return lines[:-count], [f"{over.get(at, '')} {text}".strip() for at, text in enumerate(words)], False
        if count == 1:
            return lines, words, True
    return lines, words, False


def _scale_over(lines: Sequence[str]) -> int | None:
    """The scale in the nearest line above a table, if that line applies it to the whole table without exceptions."""
    line = lines[-1] if lines else ""
    if len(line) > _LONGEST_SCALE or _holds_amount(line) or WORDS.column_except.search(line):
        return None
    return read_units(line).multiplier


def _holds_amount(line: str) -> bool:
    """Whether a line contains an amount; such a line says nothing about the units of the table below it."""
    if only_units(line):
        return False
    return WORDS.column_prose_amount.search(without_units(line)) is not None or any(map(_is_sum, amounts(line)))


def _is_sum(amount: Amount) -> bool:
    """Whether it is a sum of money, such as "5,000 pesos", and not a scale or a year beside a currency."""
    is_scale = str(amount.value).rstrip("0") == "1"
    return find_currency(amount.unit or "") is not None and amount.value >= _LEAST_SUM and not is_scale


def _heading(line: str) -> str:
    """A line above a table; of a long sentence, only the units at its end: "… of cash (in thousands):"."""
    units = _UNITS_LAST.search(line) if len(line) >= _LONGEST_TITLE else None
    return units.group() if units else line


def _of_quarters(columns: list[FigureColumn], *, told: bool) -> list[FigureColumn]:
    """The columns; dates three months apart under a title that alone states their length are quarters."""
    whens = [column.when for column in columns if column.when is not None]
    if told or len({when.months for when in whens}) != 1 or any(when.months not in {None, 12} for when in whens):
        return columns
    ends = [replace(when, months=None) for when in whens]
    if len({when.end for when in ends}) != len(ends) or {*periods.find_steps(ends)} - {None} != {periods.QUARTER}:
        return columns
    return [
        replace(column, when=replace(column.when, months=periods.QUARTER)) if column.when else column
        for column in columns
    ]


_COUNTED: Final = re.compile(r"(?:[A-Z]{3} \()?[A-Z]\d{0,2}")
"""One letter and a number: they count the columns, "2025 (Y0)", where no two are of one time."""


def _of_the_company(columns: list[FigureColumn]) -> list[FigureColumn]:
    """The columns; those with a name but no other column of their time are skipped, as they may be anybody's, unless
    the name is a company's over all columns, or counts them.
    """
    columns = _name_parent(columns)
    dated = [column.entity for column in columns if column.when is not None and column.when.dated]
    is_counted = len(set(dated)) == len(dated) > 1 and all(_COUNTED.fullmatch(entity or "") for entity in dated)
    names = Counter(time for time, _ in {(_time(c), c.entity) for c in columns if c.words and not c.label.meaning})
    is_whole = len(set(dated)) == 1 and WORDS.company_name.search(dated[0] or "")
    if is_whole or (is_counted and max(names.values()) == 1):
        return [replace(column, entity=None) for column in columns]
    return [
        replace(each, skipped=True)
        if each.entity not in {None, PARENT} and names[_time(each)] == 1 and read_units(each.words).currency is None
        else each
        for each in columns
    ]


def _time(column: FigureColumn) -> tuple[object, ...] | None:
    """What tells the time of a column from others."""
    when = column.when
    return (when.end, when.months, when.year, when.part) if when else None


def _name_parent(columns: list[FigureColumn]) -> list[FigureColumn]:
    """Name the parent: beside columns of a whole group, which name no part, a column of the company alone is its."""
    columns = [
        replace(c, entity=None) if c.entity and WORDS.column_whole_group.search(c.entity) else c for c in columns
    ]
    if not any(WORDS.column_of_group.search(column.words) for column in columns):
        return columns
    return [
        replace(c, entity=PARENT) if not c.entity and WORDS.column_of_parent.search(c.words) else c for c in columns
    ]


def _prior_years(columns: list[FigureColumn]) -> list[FigureColumn]:
    """The columns; a prior-year column that has its neighbour's date instead of its own becomes a year earlier."""
    current = {_time(c) for c in columns if c.when and not periods.PRIOR.search(c.words)}
    return [
        replace(column, when=year_earlier(column.when))
        if column.when and periods.PRIOR.search(column.words) and _time(column) in current
        else column
        for column in columns
    ]


def _column_words(header: Sequence[Row], width: int, *, of_sheet: bool = False) -> tuple[list[str], list[str]]:
    """The words above each column, and the units that apply to all columns."""
    words = [""] * width
    beside: list[str] = []
    groups = _groups(header[-1].cells) if len(header) > 1 else []
    of_days = next((at for at in range(len(header) - 1, -1, -1) if has_days(header[at])), 0)
    for position, row in enumerate(header):
        last = position + 1 == len(header)
        if of_all := _units_of_all(row, last=last) or (_day_of_all(row) if position < of_days else ""):
            beside.append(of_all)
        elif not _heads_nothing(row, last=last, over_days=position < of_days):
            alone = sum(map(bool, row.cells)) == 1
            begun = _begin_of_plan(row, header, of_sheet=of_sheet) if alone else 0
            for index, cell in _spread(row, width, groups, last=last).items():
                if index >= begun and (alone or cell not in words[index]):
                    words[index] = f"{words[index]} {cell}".strip()
    return words, beside


def _says_basis(row: Row) -> bool:
    is_alike = len({*row.cells[1:]} - {""}) == 1
    return _BASIS_ROW.fullmatch(row.name) is not None or (is_alike and _OF_ALL.fullmatch(row.name) is not None)


def _without_units(row: Row) -> Row:
    """A header row without the cells that are units, which name no part: "Rs. in crores"."""
    cells = ["" if only_units(cell) else cell for cell in row.cells]
    return Row(row.start, cells, row.starts, row.loose)


def _ends_alike(header: Sequence[Row], reader: LabelReader) -> bool:
    """Whether the row under the times says one word of all columns that names no company: units that are not known."""
    if len(header) < 2 or header[-1].cells[0]:
        return False
    times, words = ([cell for cell in row.cells[1:] if cell and not is_note_heading(cell)] for row in header[-2:])
    word = words[0] if words else ""
    is_of_all = len({*words}) == 1 and len(words) == len(times) > 1 and all(map(find_periods, times))
    units = read_units(word)
    is_known = units.currency and units.multiplier  # "单位：千美元"
    is_named = is_known or HINT.search(word) or WORDS.company_name.search(word)  # the month of all, or whose they are
    return is_of_all and not is_named and entity_named(word, reader.read(word)) is not None


def _begin_of_plan(row: Row, header: Sequence[Row], *, of_sheet: bool) -> int:
    """The first column that a plan's heading is over: its own in a sheet, and where one left of it is called actual."""
    at = next((index for index, cell in enumerate(row.cells) if find_basis(cell) in _PLANNED), 0)
    left = (find_named_basis(cell) for other in header for cell in other.cells[1:at])
    return at if of_sheet or "except" in left else 0


def _units_of_all(row: Row, *, last: bool) -> str:
    """The units in a header row that are alone beside a title or above all columns; "" if there are none."""
    named = [cell for cell in row.cells[1:] if cell]
    if row.cells[0]:
        beside_title = not last and named and all(map(only_units, named)) and len(set(named)) == 1
        return named[0] if beside_title else ""
    return named[0] if len(named) == 1 and read_units(named[0]) != Units() and not find_periods(named[0]) else ""


def _day_of_all(row: Row) -> str:
    """The period alone above columns with days of their own: "for the year ended …"; "" without one."""
    named = [cell for cell in row.cells[1:] if cell]
    alone = not row.cells[0] and len(named) == 1 and any(when.end for when in find_periods(named[0]))
    return named[0] if alone and not find_basis(named[0]) else ""


def _heads_nothing(row: Row, *, last: bool, over_days: bool) -> bool:
    """Whether a header row says nothing about its columns: a title, the start of a plan, or a page's running head.

    With `over_days`, each column below it has its own day and none is for a part of the company.
    """
    named = [cell for cell in row.cells[1:] if cell]
    is_of_all = not row.cells[0] and len(named) == 1
    if any(cell.endswith(">>") for cell in row.cells):  # "red >> | policy limits": a legend
        return True
    if len(named) == 1 and not last and row.cells[0].lower().startswith(_STARTS):
        return True
    says_more = any(find_basis(cell) or only_units(cell) or spoken_span(cell) for cell in named)
    says_more = says_more or all(map(is_date, named))
    if over_days and not is_of_all and not says_more:
        return True
    if is_of_all:
        return not (HINT.search(named[0]) or find_basis(named[0]) or read_units(named[0]) != Units())
    return not named and bool(row.cells[0])


def _spread(row: Row, width: int, groups: Sequence[int], *, last: bool) -> dict[int, str]:
    """What a header row says about each column: a heading extends over its group, or to the next."""
    if last:
        return {at: cell for at, cell in enumerate(row.cells) if at and cell}
    filled = [cell for cell in row.cells if cell]
    if len(filled) == 1:
        return dict.fromkeys(range(1, width), filled[0])
    if over := _over_groups(row.cells, groups):
        return {at: cell for at, cell in over.items() if at < width}
    spread: dict[int, str] = {}
    for at in range(1, width):
        cell = row.cells[at] if at < len(row.cells) else ""
        spread[at] = cell or spread.get(at - 1, "")
    return {at: cell for at, cell in spread.items() if cell}


def _groups(cells: Sequence[str]) -> list[int]:
    """The indexes at which a header's last row starts again: 1 and 4 for "", 2023, 2022, change, 2023, 2022, change."""
    filled = [(index, cell) for index, cell in enumerate(cells) if index and cell]
    dated = [(index, year) for index, cell in filled if (year := _only_year(cell))]
    years = [year for _, year in dated]
    if not years:
        return [index for index, cell in filled if cell == filled[0][1]]
    starts = [index for index, year in dated if year == years[0]]
    length = len(years) // len(starts)
    return starts if length > 1 and years == years[:length] * len(starts) else []


def _only_year(cell: str) -> int | None:
    """The year in a cell that names one year and no other time."""
    found = [when for when in find_periods(cell) if when.dated]
    return found[0].year if len(found) == 1 and found[0].is_bare_year else None


def _over_groups(cells: Sequence[str], groups: Sequence[int]) -> dict[int, str]:
    """For each column, the heading above its group; empty if headings and groups do not match."""
    named = [index for index, cell in enumerate(cells) if index and cell]
    if len(groups) < 2 or len(named) != len(groups):
        return {}
    ends = [*groups[1:], max(len(cells), groups[-1] + 1)]
    is_above = all(first <= index < end for index, first, end in zip(named, groups, ends, strict=True))
    if not is_above and named != [
        *range(named[0], named[0] + len(named))
    ]:  # one beside the other, as if all were narrow
        return {}
    width = 2 * len(cells) + groups[-1]
    return {
        column: cells[index]
        for index, first, end in zip(named, groups, [*groups[1:], width], strict=True)
        for column in range(first, end)
    }


def columns_under(
    row: Row, numbers: Sequence[int], columns: Sequence[FigureColumn], meaning: Meaning,
    make_single: Callable[[], FigureColumn | None],
) -> dict[int, FigureColumn]:  # fmt: skip
    """The column of each number in a row: the one it stands in or, where cells have shifted, the one in sequence.

    `meaning` is what the row means; `make_single` gives the column of what stands without a header.
    """
    known = {index: columns[index] for index in numbers if index < len(columns) and columns[index].words}
    dated = {index: column for index, column in enumerate(columns) if column.when is not None and column.words}
    once = list({column.words: column for column in dated.values()}.values())
    if len(once) == len(numbers) and len({column.words for column in known.values()}) < len(numbers):
        return dict(zip(numbers, once, strict=True))  # headings spread over columns that this row leaves out
    if all(index in dated or (index in known and known[index].skipped) for index in numbers):
        return known
    headed = [column for column in dated.values() if column.when is not None and column.when.dated]
    if placed := _in_sequence(row, numbers, headed):
        return placed
    if any(column.words for column in columns[1:]):
        return known
    if len(numbers) > 1 and not _is_gross_and_net([row.cells[index] for index in numbers], meaning):
        return {}
    single = make_single()
    return {index: single or columns[index] for index in numbers[-1:] if single or index < len(columns)}


def _in_sequence(row: Row, numbers: Sequence[int], headed: Sequence[FigureColumn]) -> dict[int, FigureColumn]:
    """The columns of a row's numbers in order, where its cells or its numbers are as many as the columns."""
    filled = [index for index, cell in enumerate(row.cells) if index and cell]
    places = next((places for places in (filled, numbers) if headed and len(places) == len(headed)), None)
    by_place = dict(zip(places, headed, strict=True)) if places else {}
    return {index: by_place[index] for index in numbers} if by_place else {}


def _is_gross_and_net(numbers: Sequence[str], meaning: Meaning) -> bool:
    """Whether the numbers of a row are the same one twice, gross and net: nothing was written off."""
    first, *others = numbers
    has_net = meaning.kind == "instant" and "money" in meaning.concept.units
    return others == [first] and bool(_NOT_NOUGHT.search(first)) and has_net


_NOT_NOUGHT: Final = re.compile(r"[1-9]")


def single_column(titles: Sequence[str], corner: str, reader: LabelReader, of_page: When | None) -> FigureColumn | None:
    """A column without a header: of the time that a title of the table or, else, the page (`of_page`) names."""
    alone = periods.title_when(titles, corner if is_date(corner) else "") or of_page
    if alone is None or not alone.dated:
        return None
    return FigureColumn("", reader.read(""), alone, None, False, table_units(titles, corner, []))


def table_units(titles: Sequence[str], corner: str, words: Sequence[str]) -> Units:
    """The units that the corner, the titles and the columns give to the whole table."""
    found = read_units(corner)
    for title in reversed(titles[-5:]):
        if _holds_amount(title) or WORDS.column_footnote.match(title) or (title.isalpha() and len(title) == 1):
            continue
        said = read_units(title)
        found = found.over(Units(said.currency if len(title) < 90 else None, said.multiplier))
    of_columns = [units for units in map(read_units, words) if units.currency or units.multiplier]
    if found.multiplier is None and of_columns and all(units.multiplier for units in of_columns):
        found = replace(found, multiplier=of_columns[-1].multiplier)  # "2023 EUR" beside "2022 TEUR" has none
    return found


def is_no_figure(column: FigureColumn, meaning: Meaning, name: str | None) -> bool:
    """Whether a column holds changes, shareholdings or parts of a whole, and not the concept's figures.

    A row of this name may be a part or a change of what its column names: "Cash" under "Cash and cash equivalents",
    "Net income" under "Total shareholders' equity". The name is None where the column gives the meaning.
    """
    if column.skipped or (meaning.concept.id != "shares" and WORDS.column_of_shares.fullmatch(column.words.strip())):
        return True
    over = column.label.meaning
    if over is None or name is None:
        return False
    if over.kind == "instant" and meaning.kind == "duration":
        return True
    is_same = over.concept is meaning.concept and "money" in meaning.concept.units
    return is_same and meaning.rank > 0 and not WORDS.total_row.match(name)


def without_labels(columns: Sequence[FigureColumn], rows: Sequence[Row]) -> list[FigureColumn]:
    """The columns of these rows, without the time of those that hold labels: names of accounts beside their numbers."""
    timed = (at for at, each in enumerate(columns) if at and each.when and each.words and not find_periods(each.words))
    held = {at: [row.cells[at] for row in rows if at < row.width] for at in timed}
    named = {at for at, cells in held.items() if sum(map(is_label, cells)) > max(2, sum(map(is_number, cells)))}
    return [replace(each, when=None) if at in named else each for at, each in enumerate(columns)]


def dated_columns(columns: Sequence[FigureColumn]) -> list[int]:
    """The first column of each time, of those that have words and a time."""
    dated = [(at, each.when) for at, each in enumerate(columns) if each.words and each.when and each.when.dated]
    return sorted({(when.end, when.year, when.part): at for at, when in reversed(dated)}.values())


def is_slipped(row: Row, columns: Sequence[FigureColumn], corner: str) -> bool:
    """Whether a row has one more cell than there are columns: the first column name stands above the labels."""
    named = sum(1 for column in columns[1:] if column.words)
    filled = sum(1 for cell in row.cells[1:] if cell)
    return bool(corner) and read_units(corner) == Units() and 0 < named == filled - 1


_CUT: Final = re.compile(r"[-–−(]?\d{1,3}(?: \d{3})*\t(?!100\b)\d{3}\)?")


def is_cut_in_two(row: Row, at: int, under: Mapping[int, FigureColumn]) -> bool:
    """Whether the cell right of a number, without a heading of its own, has its next three digits: "16 736 | 458".

    A number that is not in groups itself may be whole: "716 | 458" beside each other are two.
    """
    own, beside = (under[each].words if each in under else "" for each in (at, at + 1))
    is_headed = own != beside and bool(beside.strip(" =|.–-"))
    in_groups = row.loose or " " in row.cells[at].strip()
    return in_groups and not is_headed and _CUT.fullmatch("\t".join(row.cells[at : at + 2])) is not None
