"""The columns of a table: what its header, its corner and the titles above it say about each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Final, NamedTuple

from tasks.figures.figure import PARENT, WORDS, Meaning, find_basis
from tasks.figures.fiscal_calendar import is_out_of_step
from tasks.figures.table_labels import Label, LabelReader, entity_named, is_date
from tasks.figures.table_rows import Row, has_days
from tasks.language.locales import alternation, look_up
from tasks.language.numbers import Units, only_units, read_units, without_units
from tasks.language.periods import (
    HINT,
    When,
    find_periods,
    header_period,
    header_words,
    make_day,
    parts_by_span,
    says_to_date,
    spell_months,
    spoken_span,
    year_earlier,
)

_UNITS_LAST: Final = re.compile(r"\((?:in|amounts in|dollars in) [^()\d]{3,60}\)(?=[:.]?$)", re.IGNORECASE)
_LONGEST_TITLE: Final = 220
_LONGEST_SCALE: Final = 90
_PRIOR: Final = re.compile(
    rf"\b(?:{alternation(header_words('prior_year'))})\b".replace("\\ ", "[- ]") + r"|\(전\)", re.IGNORECASE
)
_THIS: Final = re.compile(
    rf"\b(?:{alternation(header_words('this_year'))})\b".replace("\\ ", "[- ]") + r"|\(당\)", re.IGNORECASE
)
_GROUP: Final = re.compile(r"\b(?:group|consolidated|konzern|groupe|gruppo|grupo|groep|koncern\w*)\b", re.IGNORECASE)
_ALONE: Final = re.compile(r"^(?!.*\bgroup\b).*\b(?:company|parent)\b", re.IGNORECASE)
_LONGEST_SPAN: Final = 40
_STARTS: Final = header_words("plan_start")
_BASIS_ROW: Final = re.compile(alternation(header_words("basis")), re.IGNORECASE)
"""What heads a row that says of columns what they rest on, and not of whom they are."""

_QUARTER: Final = 3
_LENGTHS: Final = {"month": 1, "quarter": _QUARTER, "monat": 1, "quartal": _QUARTER, "mois": 1, "mes": 1}


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column: its words and what they say, its period, its part of the company, and whether its numbers are used.

    `contradicts`: the line above the table gives one scale and the header another. `unclear`: the header gives it more
    than one period.
    """

    words: str
    label: Label
    when: When | None
    entity: str | None
    skipped: bool
    units: Units
    contradicts: bool = False
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """The columns under a header, its corner, and the lines over it that are titles."""

    columns: list[FigureColumn]
    corner: str
    titles: list[str]


def read_header(
    header: Sequence[Row],
    width: int,
    lines: Sequence[str],
    reader: LabelReader,
    *,
    month_first: bool | None = None,
    newest: date | None = None,
    of_document: When | None = None,
) -> Header:
    """The columns that a header of `width` columns names, under these lines of text.

    `month_first` is how the document writes numeric dates, None if that is not certain; `newest` is the last day of its
    newest year, which "Exercice N" and "Boekjaar" on forms refer to; `of_document` is its own time, which "this
    month" refers to.
    """
    lines = [_spell_heading(line, month_first) for line in lines if not _PUBLISHED.match(line)]
    header, boxes = _part_unit_boxes(header)
    header = header[-5:]
    words, beside = _read_words(header, width, lines)
    lines, words, lost = _find_group_spans(lines, words)
    corners = [row.cells[0] for row in header if row.cells and row.cells[0]]
    corner = " ".join([*corners, *beside, *(boxes if len(boxes) == 1 else ())])
    titles = [title for title in map(_heading, lines) if len(title) < _LONGEST_TITLE] + corners[:-1]
    units_of_table = table_units(titles, corner, words)
    scale = _scale_over(lines)
    of_title = title_when(titles, corner)
    own = _own_periods([spell_months(text, month_first) for text in words])
    of_title = _with_day_of_statement(of_title, titles, own)
    steps = _steps(own)
    if not any(steps) and (of_title is None or not of_title.months):
        steps = _year_so_far(own)
    times = _refer_to(words, own, of_title, newest, of_document)
    unclear = lost or _contradicts_order(own, words)
    of_parts = _column_words([row for row in header if not _BASIS_ROW.fullmatch(row.name)], width)[0]
    columns: list[FigureColumn] = []
    of_horizons = any(map(WORDS.horizon.search, words))
    for text, told, step, of_part in zip(words, own, steps, of_parts, strict=True):
        label = reader.read(text)
        if told is None and sum(1 for found in find_periods(text) if found.dated) > 1:
            columns.append(FigureColumn(text, label, None, None, True, units_of_table))
            continue
        when = _find_when(text, told, step, times)
        own_scale = label.units.multiplier or read_units(corner).multiplier
        contradicts = len(boxes) > 1 or bool(scale and own_scale and own_scale != scale)
        entity = entity_named(_without_time(of_part), label)
        entity = None if entity == "N" and any("N-1" in each for each in words) else entity
        is_ahead = of_horizons and (WORDS.horizon.search(text) or spoken_span(text) or entity == "Current")
        units = label.units.over(units_of_table)
        torn = unclear and when is not None
        is_part = _opens_part_of_year(text, when, [*titles[-5:], corner])
        skipped = bool(is_ahead) or _is_skipped(text, entity) or is_part
        columns.append(FigureColumn(text, label, None if unclear else when, entity, skipped, units, contradicts, torn))
    columns = _of_quarters(columns, told=any(steps))
    return Header(_prior_years(_of_the_company(columns)), corner, titles)


def _read_words(header: Sequence[Row], width: int, lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words over each column, or the dates above them where they have none; and the words beside them."""
    words, beside = _column_words(header, width)
    words = [_END_OF_A_DATE.sub(r"\1", text) for text in words]
    if not any(words) or not any(map(find_periods, words)):
        words = _stack_dates(lines, width) or words
    return words, beside


def _is_skipped(text: str, entity: str | None) -> bool:
    """Whether a column holds no figures: by its words, or because its name is part of an eastern period's."""
    if WORDS.skipped_column.search(WORDS.units_beside.sub(" ", text)) is not None:
        return True
    return bool(entity and _EASTERN.search(entity) and WORDS.eastern_time.search(text))


_EASTERN: Final = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
"""A letter of a name that no blank parts from the time before it: what "2023年上半年" says is not known by its year."""


def _opens_part_of_year(words: str, when: When | None, titles: Sequence[str]) -> bool:
    """Whether a column of a Chinese or Korean statement is of a part of a year that its time does not tell, or of the
    last year's end beside such a part.
    """
    if when is None or when.end is None:
        return any(map(WORDS.eastern_part_of_year.search, [words, *titles]))
    return (when.end.month, when.end.day) != (12, 31) and WORDS.eastern_prior.search(words) is not None


_ASIDE: Final = re.compile(r"\([^()]*\)")
_END_OF_A_DATE: Final = re.compile(r"^([^()]*?)\b(?:19|20)\d\d\)")
"""A year with the closing bracket alone: the end of a date that began over another column, "(July 16, | 2025)"."""


def _without_time(words: str) -> str:
    """The words over a column without those that say this year's, last year's or this month's."""
    for pattern in (_PRIOR, _THIS, WORDS.this_year_alone, WORDS.this_time):
        words = pattern.sub(" ", words)
    return words


def _spell_heading(line: str, month_first: bool | None) -> str:
    """A line over a table with its dates as `spell_months` writes them; not where one beside other words may be that of
    a print or an approval.
    """
    spelled = spell_months(line, month_first)
    if spelled == line:
        return line
    words = _ISO_DAY.sub("#", spelled)
    heads = words.count("#") > 1 or words.strip() == "#" or WORDS.dated_statement.fullmatch(words)
    return spelled if heads else line


_PUBLISHED: Final = re.compile(r"(?:date|pub_?[dD]ate|published|updated|lastmod|created): ")
"""Keys of the day on which a page was published, over its text: it heads no table."""

_ISO_DAY: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")


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
    if len({read_units(words).multiplier for _, words, _ in boxes}) < _COMPARED_YEARS or len(
        {at for at, *_ in boxes}
    ) < len(boxes):
        return header, []
    chosen = [words for _, words, marked in boxes if marked]
    return header[boxes[-1][0] + 1 :], chosen if len(chosen) == 1 else [words for _, words, _ in boxes]


_MARK: Final = re.compile(r"\[?[xX✓✔☒☑✗]\]?")
_BARE_THOUSANDS: Final = re.compile(r"miles|milers|milhares", re.IGNORECASE)


class _Times(NamedTuple):
    """What the columns of a header refer to: its days, its only year, its title, the newest year, and this month."""

    dated: When | None
    year: When | None
    of_title: When | None
    newest: date | None
    of_document: When | None


def _refer_to(
    words: Sequence[str], own: Sequence[When | None], of_title: When | None, newest: date | None, document: When | None
) -> _Times:
    """What columns without a time of their own refer to."""
    known = [when for when in own if when is not None and when.dated]
    dated = next((when for when in known if when.end is not None), None)
    year = known[0] if len(known) == 1 and known[0].is_bare_year else None
    return _Times(dated, year, of_title, newest if any(map(_THIS.search, words)) else None, document)


def _find_when(text: str, when: When | None, step: int | None, times: _Times) -> When | None:
    """The period of a column: from its words (`when`), the columns beside it, the title, or the newest year."""
    this = WORDS.this_time.search(text)
    if this and when is None:
        return _find_this(look_up(_LENGTHS, this[1]), times)
    is_prior = _PRIOR.search(text) is not None
    if when is None and is_prior and (not (rest := _ASIDE.sub(" ", _PRIOR.sub(" ", text)).strip()) or only_units(rest)):
        when = times.year
    if step and when is not None and when.end is not None:
        first_day = step == 1 and when.end.day == 1  # a column of January is headed by its first day
        when = replace(when, months=step, end=make_day(when.end.year, when.end.month, 31) if first_day else when.end)
    elif when is None and times.dated is not None:
        when = times.dated if is_prior else None  # the header has its own days
    elif when is None or not (when.is_bare_year and when.months):
        when = _join_period(when, times.of_title)
    if times.newest and (when is None or not when.dated) and (is_prior or _THIS.search(text)):
        when = When(end=times.newest, months=12)
    return replace(when, to_date=True) if when is not None and when.dated and says_to_date(text) else when


def _find_this(months: int, times: _Times) -> When | None:
    """The month or quarter that a document or a title is of, or that ends on the title's day."""
    if times.of_document and times.of_document.months == months:
        return times.of_document
    title = times.of_title
    if title is None or (title.part[:1] == "Q" and months == _QUARTER):
        return title
    is_end = title.end is not None and title.end == make_day(title.end.year, title.end.month, 31)
    return replace(title, months=months) if is_end and title.months in {None, months} else None


def _find_group_spans(lines: Sequence[str], words: list[str]) -> tuple[Sequence[str], list[str], bool]:
    """The lines above a table and the words of its columns, if the lines state a period for each group of columns.

    "Three months ended June 30, | Six months ended June 30," above 2024, 2023, 2024, 2023. The last value says whether
    the lines name several periods that do not match any groups.
    """
    groups = _groups(words)
    told = any(spoken_span(text) or ((when := header_period(text)) and when.part) for text in words)
    for count in range(1, max(len(groups), 1) + 1):
        parts = [part for line in lines[-count:] if len(line) < _LONGEST_SCALE for part in parts_by_span(line)]
        if told or len({spoken_span(part) for part in parts}) < _COMPARED_YEARS:
            continue
        if len(parts) == len(groups):
            ends = [*groups[1:], len(words)]
            over = {at: part for first, end, part in zip(groups, ends, parts, strict=True) for at in range(first, end)}
            return lines[:-count], [f"{over.get(at, '')} {text}".strip() for at, text in enumerate(words)], False
        if count == 1:
            return lines, words, True
    return lines, words, False


def _own_periods(words: Sequence[str]) -> list[When | None]:
    """The period in the words above each column; beside quarters and halves, a year means the full year."""
    own = [_plan_year(text) or header_period(text) for text in words]
    if not any(when is not None and when.part and when.dated for when in own):
        return own
    return [
        replace(when, months=12) if when is not None and when.is_bare_year and not when.months else when for when in own
    ]


def _plan_year(text: str) -> When | None:
    """A numbered year of a plan, "Year 3", or a part of one; None if the text also states its date."""
    match = _PLAN_YEAR.search(text)
    if match is None or any(when.dated for when in find_periods(text)):
        return None
    part = next((when.part for when in find_periods(text) if when.part), "")
    return When(year=int(match[1]), months=None if part else 12, part=part, forecast="f")


_PLAN_YEAR: Final = re.compile(
    rf"\b(?:{alternation(header_words('plan_year'))})[ -]?([1-9]|[12]\d|30)\b(?![.,]?\d)", re.IGNORECASE
)


def _contradicts_order(own: Sequence[When | None], words: Sequence[str]) -> bool:
    """Whether a header contradicts itself: its quarters or years are consecutive, but the days on which they end are
    not.
    """
    named = [
        (parts.pop(), when.end)
        for when, text in zip(own, words, strict=True)
        if when is not None
        and when.end is not None
        and len(parts := {found.part for found in find_periods(text) if found.part}) == 1
    ]
    years = [
        (years.pop(), when.end)
        for when, text in zip(own, words, strict=True)
        if when is not None
        and when.end is not None
        and len(years := {found.year for found in find_periods(text) if found.year and not found.part}) == 1
    ]
    return is_out_of_step(years) or any(
        (one[0], other[0]) in {("Q1", "Q2"), ("Q2", "Q3"), ("Q3", "Q4")} and not 80 < (other[1] - one[1]).days < 100
        for one, other in pairwise(named)
    )


def _scale_over(lines: Sequence[str]) -> int | None:
    """The scale in the nearest line above a table, if that line applies it to the whole table without exceptions."""
    line = lines[-1] if lines else ""
    if len(line) > _LONGEST_SCALE or _holds_amount(line) or WORDS.column_except.search(line):
        return None
    return read_units(line).multiplier


def _holds_amount(line: str) -> bool:
    """Whether a line contains an amount; such a line says nothing about the units of the table below it."""
    return not only_units(line) and WORDS.column_prose_amount.search(without_units(line)) is not None


def _heading(line: str) -> str:
    """A line above a table; for a long sentence that introduces it, only the units at its end: "… of cash (in
    thousands):".
    """
    units = _UNITS_LAST.search(line) if len(line) >= _LONGEST_TITLE else None
    return units.group() if units else line


def _of_quarters(columns: list[FigureColumn], *, told: bool) -> list[FigureColumn]:
    """The columns; if only the title states their length and their dates are three months apart, each becomes a
    quarter.
    """
    whens = [column.when for column in columns if column.when is not None]
    if told or len({when.months for when in whens}) != 1 or any(when.months not in {None, 12} for when in whens):
        return columns
    ends = [replace(when, months=None) for when in whens]
    if len({when.end for when in ends}) != len(ends) or {*_steps(ends)} - {None} != {_QUARTER}:
        return columns
    return [
        replace(column, when=replace(column.when, months=_QUARTER)) if column.when else column for column in columns
    ]


_UNTIL: Final = re.compile(rf"\b(?:{alternation(header_words('until'))})\b", re.IGNORECASE)


def _stack_dates(lines: Sequence[str], width: int) -> list[str]:
    """The words above the columns of a table without a header, if each date is on lines of its own above it."""
    stacked = " ".join(line for line in lines if len(line) <= _LONGEST_SPAN)
    dates = [when for when in find_periods(stacked) if when.dated]
    if len(dates) != width - 1 or len({(when.end, when.year) for when in dates}) != len(dates) or len(dates) < 2:
        return []
    if any(
        header_period(stacked[first.start : last.stop]) or _UNTIL.search(stacked, first.stop, last.start)
        for first, last in pairwise(dates)
    ):
        return []  # both ends of one time
    return ["", *(stacked[when.start : when.stop] for when in dates)]


_COUNTED: Final = re.compile(r"([A-Z])\d{0,2}")
"""One letter and a number: above three dated columns and more they count the years, "2025 (Y0)", and name no parts."""


def _of_the_company(columns: list[FigureColumn]) -> list[FigureColumn]:
    """The columns; if a company's name is above all of them, it is not taken for the name of a part."""
    columns = [
        replace(c, entity=None) if c.entity and WORDS.column_whole_group.search(c.entity) else c for c in columns
    ]
    if any(_GROUP.search(column.words) for column in columns):  # "Group | Company": the parent alone is beside it
        columns = [replace(c, entity=PARENT) if not c.entity and _ALONE.search(c.words) else c for c in columns]
    entities = {column.entity for column in columns if column.when is not None and column.when.dated}
    counted = {match[1] for entity in entities if entity and (match := _COUNTED.fullmatch(entity))}
    if len(entities) > 2 and len(counted) == 1 and all(entity and _COUNTED.fullmatch(entity) for entity in entities):
        return [replace(column, entity=None) for column in columns]
    only = entities.pop() if len(entities) == 1 else None
    if not only or not WORDS.company_name.search(only):
        return columns
    return [replace(column, entity=None) for column in columns]


def _prior_years(columns: list[FigureColumn]) -> list[FigureColumn]:
    """The columns; a prior-year column that has its neighbour's date instead of its own becomes a year earlier."""
    current = {(c.when.end, c.when.year, c.when.part) for c in columns if c.when and not _PRIOR.search(c.words)}
    return [
        replace(column, when=year_earlier(column.when))
        if column.when
        and _PRIOR.search(column.words)
        and (column.when.end, column.when.year, column.when.part) in current
        else column
        for column in columns
    ]


def _column_words(header: Sequence[Row], width: int) -> tuple[list[str], list[str]]:
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
            for index, cell in _spread(row, width, groups, last=last).items():
                if alone or cell not in words[index]:
                    words[index] = f"{words[index]} {cell}".strip()
    return words, beside


def _units_of_all(row: Row, *, last: bool) -> str:
    """The units in a header row that are alone beside a title or above all columns; "" if there are none."""
    named = [cell for cell in row.cells[1:] if cell]
    if row.cells[0]:
        beside_title = not last and named and all(map(only_units, named)) and len(set(named)) == 1
        return named[0] if beside_title else ""
    return named[0] if len(named) == 1 and read_units(named[0]) != Units() and not find_periods(named[0]) else ""


def _day_of_all(row: Row) -> str:
    """The period alone above columns with days of their own: "for the year ended 31 December 2020"; "" if there is
    none.
    """
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
    """What a header row says about each column: a heading extends to the next one, over its group,
    or over all columns.
    """
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
    """For each column, the heading above its group, wherever it is placed; empty if headings and
    groups do not match.
    """
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
    alone = title_when(titles, corner if is_date(corner) else "") or of_page
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


def title_when(titles: Sequence[str], corner: str) -> When | None:
    """The period that the titles give to all columns, or the day and length that columns leave open."""
    for title in (corner, *reversed(titles[-5:])):
        if (len(title) > 90 or title.endswith(".")) and not WORDS.column_dated_title.search(title):
            continue
        is_other = WORDS.founded.search(title) or WORDS.column_other_year.search(title)
        when = header_period(title) if title and not is_other else None
        if when is not None:
            return when
        span = spoken_span(title) if title else None
        if span:
            return When(months=span)
    return None


def _with_day_of_statement(of_title: When | None, titles: Sequence[str], own: Sequence[When | None]) -> When | None:
    """A title's period with the month and day in the heading of a statement whose columns are bare years, the newest of
    them that of the day: "Balance sheet as at 30 June 2024" above 2024 and 2023.
    """
    years = [when.year for when in own if when is not None and when.is_bare_year and when.year is not None]
    for title in reversed(titles[-5:]):
        when = header_period(title) if years and _heads_statement(title) else None
        if when and when.end and when.end.year == max(years) and when.months in {None, _YEAR}:
            return replace(of_title or When(), month_day=(when.end.month, when.end.day))
    return of_title


def _heads_statement(title: str) -> bool:
    """Whether a title says nothing but which statement it is and its time: no approval, and no plan beside it."""
    for when in reversed(find_periods(title)):
        title = f"{title[: when.start]}#{title[when.stop :]}"
    return WORDS.statement_heading.search(title) is not None and WORDS.dated_statement.fullmatch(title) is not None


def _join_period(when: When | None, title: When | None) -> When | None:
    """A column's period completed from the title: the day and month, the length, or the whole period."""
    if title is None or (title.months == 1 and when is not None and when.dated):  # "February 2025" at a slide's foot
        return when
    if when is None or not when.dated:
        return _date_by_title(when, title)
    if when.is_bare_year and when.months is None and title.part and not title.dated:
        return replace(when, part=title.part)
    months = when.months or title.months
    of_part = title.end if title.months and title.months < _YEAR else None
    day = title.month_day or ((of_part.month, of_part.day) if of_part else None)
    if when.is_bare_year and when.year is not None and day:
        return When(end=make_day(when.year, *day), months=months, forecast=when.forecast)
    return replace(when, months=None if when.part else months)


def _date_by_title(when: When | None, title: When) -> When | None:
    """A column's period without a year, with the title's year, or the title's whole period."""
    if when is not None and when.part and title.end and title.months != _YEAR:
        return None  # quarters under the day of a print
    if title.dated and (when is None or not when.month_day):
        months, part = (when.months, when.part) if when else (None, "")
        return replace(title, months=months or title.months, part=part or title.part)
    if when is not None and when.part and title.dated:
        return replace(when, year=title.year if title.end is None else title.end.year)
    if when is not None and when.month_day and title.year is not None:
        return When(end=make_day(title.year, *when.month_day), months=when.months or title.months)
    return when


def _steps(headers: Sequence[When | None]) -> list[int | None]:
    """For each column, the months between its bare date and the dates beside it: 3 for quarters, 12 for years.

    Columns for quarters and for years may be side by side: a new run begins if the dates go back or their spacing
    changes.
    """
    steps: list[int | None] = [None] * len(headers)
    dated = [(at, when.end) for at, when in enumerate(headers) if when and when.end and when.months in {None, 1}]
    gaps = [(round((day - before).days / 30.4), at - left) for (left, before), (at, day) in pairwise(dated)]
    usual = min((places for _, places in gaps), default=0)
    runs: list[range] = []  # positions in `dated`
    at = 0
    while at < len(dated):
        end = at + 1
        while end < len(dated) and gaps[end - 1] == (gaps[at][0], usual):
            end += 1
        runs.append(range(at, end))
        at = end
    paces = [abs(gaps[run[0]][0]) if len(run) > 1 else 0 for run in runs]
    shortest = min((pace for run, pace in zip(runs, paces, strict=True) if len(run) > _COMPARED_YEARS), default=12)
    for run, pace in zip(runs, paces, strict=True):
        if pace in _STEPS and (len(run) > _COMPARED_YEARS or shortest < pace):
            for position in run:
                steps[dated[position][0]] = pace
    return steps


_STEPS: Final = frozenset({1, 3, 6, 12})
_MOST_DATES: Final = 400


def find_pace(names: Sequence[str]) -> int | None:
    """The months between the days that rows of a series are named by: 1 for a row each month; None if it varies, 0 if
    some are less than a year apart, so that no row tells how long it is.
    """
    dated = [header_period(name) for name in names[:_MOST_DATES] if is_date(name)]
    paces = {*_steps(dated)}
    if len(paces) == 1 and (pace := paces.pop()):
        return pace
    days = sorted({when.end for when in dated if when and when.end and not when.months})
    return 0 if any((day - before).days < _SHORTEST_YEAR for before, day in pairwise(days)) else None


_SHORTEST_YEAR: Final = 357
"""Days between the ends of two fiscal years of whole weeks."""


def _year_so_far(headers: Sequence[When | None]) -> list[int | None]:
    """For the later of two days less than a year apart, the months between them: the year so far
    since the earlier one.
    """
    dated = sorted((when.end, at) for at, when in enumerate(headers) if when and when.end and when.months is None)
    months: list[int | None] = [None] * len(headers)
    if len(dated) == _COMPARED_YEARS:
        apart = round((dated[1][0] - dated[0][0]).days / 30.4)
        months[dated[1][1]] = apart if 0 < apart < _YEAR else None
    return months


_YEAR: Final = 12


_COMPARED_YEARS: Final = 2


def belongs_to_column(column: FigureColumn, meaning: Meaning, name: str) -> bool:
    """Whether a row is a part or a change of what its column names, and not a figure of the whole.

    "Cash" under "Cash and cash equivalents", "Net income" under "Total shareholders' equity".
    """
    over = column.label.meaning
    if over is not None and over.kind == "instant" and meaning.kind == "duration":
        return True
    if over is None or over.concept is not meaning.concept or "money" not in meaning.concept.units:
        return False
    return meaning.rank > 0 and not WORDS.total_row.match(name)


def is_slipped(row: Row, columns: Sequence[FigureColumn], corner: str) -> bool:
    """Whether a row has one more cell than there are columns: the first column name stands above the labels."""
    named = sum(1 for column in columns[1:] if column.words)
    filled = sum(1 for cell in row.cells[1:] if cell)
    return bool(corner) and read_units(corner) == Units() and 0 < named == filled - 1


def are_two_years(columns: Sequence[FigureColumn]) -> bool:
    """Whether the columns cover two years at most."""
    return len({column.when.year for column in columns if column.when and column.when.year}) <= _COMPARED_YEARS
