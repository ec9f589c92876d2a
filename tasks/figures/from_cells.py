"""Figures from tables: of workbooks, PDFs, documents, slides and web pages, and from the series of charts.

A cell is a figure where its row, its column or the table's title names a concept and one of the same three names a
period. What is not sure is left out and counted: a column whose header names two periods, a scale that contradicts
another, two rows of one concept that differ.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import chain
from typing import Final

from tasks.figures.concepts import Meaning, Taxonomy
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import Findings
from tasks.figures.statement_checks import OF_STATEMENTS, find_untied, of_statement
from tasks.figures.table_columns import (
    Column,
    are_two_years,
    belongs_to_column,
    columns_under,
    is_slipped,
    read_header,
)
from tasks.figures.table_figures import FigureCell, TableCandidate, blocks, cell_figure, settle_candidates
from tasks.figures.table_labels import (
    LONGEST_LABEL,
    MOST_PARTS,
    TOTAL,
    WHOLE,
    LabelReader,
    is_date,
    is_enumerator,
    is_subtotal,
    label_in,
    label_reader,
    lists_parts,
    of_parts,
    over_table,
    part_told_behind,
    parts_title,
    without_dates,
)
from tasks.figures.table_rows import (
    Grid,
    Row,
    code_columns,
    find_unit_lines,
    has_no_number,
    holds_four_digits,
    is_between_years,
    is_code,
    is_number,
    is_year,
    not_one_number,
    of_percents,
    whole_grids,
    whole_rows,
    with_note_column,
)
from tasks.figures.vocabulary import pattern
from tasks.language.numbers import (
    Units,
    cell_amount,
    find_currency,
    may_be_scale,
    only_units,
    read_units,
    thousands_mark,
)
from tasks.language.periods import find_periods, header_period, may_name_time

MOST_NUMBERS: Final = 100_000
"""Numbers of a document's tables that are looked at, beside a label that means something; the rest is counted."""

MOST_ROWS: Final = 50_000
"""Rows with numbers that are looked at, of those tables of a document in which something is named."""

MOST_TIES: Final = 1_000
"""Sums of a document that do not tie; the rest is counted."""

_NUMERIC: Final = re.compile(r"[-(]?[$€£]?\d[\d.,]*\)?")
_LONGEST_STATEMENT: Final = 2000
_LONGEST_FORM: Final = 200
"""Rows of a table by which it is told whether it is one of the accounts' statements."""

_HEADS: Final = 4
_MILLION: Final = 10**6
_MOST_LINES: Final = 40
"""Lines of a header that are kept for the tables behind it."""

_SERIAL: Final = re.compile(r"(?!(?:19|20)\d\d(?!\d))(?<!\d)\d{2,}")  # in the names of rows that are alike
_SURE_OF_COLUMNS: Final = 100
"""Rows of a table from which on those that name nothing are passed by."""

_ALL_OF_IT: Final = re.compile(r"100(?:[.,]0+)? ?%")
"""Beside revenue: below it are its percentages, whether each says so or not."""

_OF_SHARES: Final = pattern("column_of_shares")

_BALANCE: Final = re.compile(r"balances?\b(?=,? (?:at|as of|on|as at|[A-Z]))", re.IGNORECASE)
"""A row of a statement of changes: "Balance at June 30, 2024" under "Total equity"."""

_OTHER_FLOWS: Final = re.compile(r"\b(?:investing|financing|investment)\b", re.IGNORECASE)
"""Sections of a cash flow statement that have rows "from continuing operations" too."""

_SUPPORT: Final = pattern("statement_rows")


def cell_figures(document: LedgerDocument, taxonomy: Taxonomy, findings: Findings) -> Iterator[list[TableCandidate]]:
    """The figures of each table of a document, a list a table; numbers left out are counted in `findings`."""
    reader = label_reader(taxonomy, document.language)
    whole = whole_grids(document.text, of_pages=document.of_pages)
    for grid in chain.from_iterable(blocks(each, reader) for each in whole):
        labels = {row.label for row in grid.rows}
        if (reader.any_may_speak(labels) and any(map(reader.meaning, labels))) or _may_speak(grid, reader):
            found = list(_Table(document, reader, grid, findings).candidates())
            if found:
                ties = list(find_untied(document, grid))
                kept = max(MOST_TIES - len(findings.ties), 0)
                findings.ties.extend(ties[:kept])
                if len(ties) > kept:
                    findings.leave_out("more sums that do not tie than are kept", len(ties) - kept)
                settling = [each for each in found if each.figure.concept not in OF_STATEMENTS]
                sure = [*settle_candidates(settling, findings), *of_statement(grid, found)]
                if sure:
                    yield sure


def _may_speak(grid: Grid, reader: LabelReader) -> bool:
    """Whether a label that is no plain concept may name one beside its date, its units or its basis."""
    for title in grid.titles[-2:]:
        if len(title) < LONGEST_LABEL and (reader.speaks(of_parts(title)) or reader.speaks(label_in(title))):
            return True
    if any(cell and len(cell) < 80 and reader.speaks(cell) for row in grid.rows[:6] for cell in row.cells):
        return True
    return any(len(row.label) < 90 and reader.speaks(row.label) for row in grid.rows[6:200])


def _decimal_comma(document: LedgerDocument, grid: Grid) -> bool:
    """Whether a table writes decimals with a comma: whole numbers have no one of three decimals among them.

    Millions may have: "1.234" beside 12 people. There the language counts.
    """
    usual = document.comma_decimal
    if document.stores_numbers:
        return usual
    rows = grid.rows[:_LONGEST_STATEMENT]
    mark = thousands_mark(cell for row in rows for cell in row.cells[1:])
    heads = [*grid.titles[-_HEADS:], *(cell for row in rows[:_HEADS] for cell in row.cells)]
    in_millions = any((read_units(words).multiplier or 1) >= _MILLION for words in heads)
    if not mark or (in_millions and (mark == "," or document.language == "en")):
        return usual
    return mark == "."


class _Table:
    """One table, read row by row under the headers that hold there."""

    def __init__(self, document: LedgerDocument, reader: LabelReader, grid: Grid, findings: Findings) -> None:
        self._document = document
        self._reader = reader
        self._grid = grid
        self._findings = findings
        self._comma = _decimal_comma(document, grid)
        self._series = self._entities = ""
        self._ends: date | None = None  # the newest day of a column
        self._two_years = False  # whether the columns are of two years at most
        self._of_title: Meaning | None = None
        self._titled_parts = False
        self._silent: dict[str, bool] = {}  # names of rows, and whether they say nothing
        self._percents: set[int] = set()  # columns of percentages beside amounts
        self._above: dict[
            int, tuple[int, Decimal]
        ] = {}  # by column, how many numbers since the last sum, and their sum
        self._told_of = part_told_behind(document.text, grid)
        self._under(grid.titles)

    def _under(self, titles: Sequence[str]) -> None:
        """Read on under these lines: they say what kind of table it is."""
        self._over = over_table(titles)
        self._titles = list(self._over.titles)
        self._table_basis = self._over.find_last_basis()
        self._of_units: list[str] = []  # lines of a header that hold for the next one too: "(Millions of yen)"

    def candidates(self) -> Iterator[TableCandidate]:  # noqa: PLR0915 - the states of a table, one after the other
        """All figures that the table may hold."""
        section = ""
        columns: list[Column] = []
        header: list[Row] = []
        rows = self._grid.rows
        width = max(row.width for row in rows)
        codes = code_columns(rows[:_LONGEST_FORM]) if self._reader.codes else []
        weight = sum(1 for row in rows[:_LONGEST_STATEMENT] if _SUPPORT.search(row.label)) + (
            6 if self._over.is_statement else 0
        )
        by_part = named_columns = False
        looked = 0
        body = False
        with_numbers: set[int] = set()
        named: list[Row] = []  # the rows of the header that name the columns
        since: list[str] = []  # lines of one cell since the last numbers: sections, or the titles of another table
        for row in whole_rows(rows):
            if (self._findings.rows > MOST_ROWS or self._findings.looked_at > MOST_NUMBERS) and self._is_unread(row):
                continue
            if body and looked > _SURE_OF_COLUMNS and columns and not named_columns and self._says_nothing(row):
                self._findings.rows += 1
                since = []
                continue
            numbers = self._numbers(row, with_numbers if body and columns else set())
            with_numbers |= set(numbers)
            if not numbers and row.cells and not row.cells[0] and not any(row.cells[1:]):
                continue
            if body and columns and not numbers and not since and is_between_years(row):
                continue
            numbers = [at for at in numbers if at not in codes]
            if not numbers and any(is_code(row.cells[at]) for at in codes if at < row.width):
                continue  # a line of a form that nobody filled in
            first_is_number = is_number(row.cells[0], comma_decimal=self._comma)
            if not numbers and not first_is_number:
                filled = [cell for cell in row.cells if cell]
                if has_no_number(filled):
                    self._leave_out_cells(row, [])
                    continue
                if body and len(filled) > 1 and row.cells[0] and self._reader.meaning(" ".join(filled)) is not None:
                    filled = [" ".join(filled)]  # a heading torn in two: "Disponibilità | liquide"
                speaks = len(filled) > 1 or (len(filled) == 1 and not row.cells[0]) or (header and not body)
                if len(filled) == 1 and body and not is_date(filled[0]):
                    section = filled[0]
                    since.append(section)
                    continue
                if len(filled) == 1 and not speaks and not header:
                    header = [row]
                    columns = []
                    section = filled[0]
                    continue
                if body:
                    header, body = [], False
                    self._percents = set()
                    if (
                        len(filled) == 1
                        and named
                        and not any(find_periods(cell) for at in named for cell in at.cells[1:])
                    ):
                        header = [row, *named]  # another year under the same columns
                        columns = []
                        continue
                    if since:
                        self._under(since[-6:])
                        since, section = [], ""
                header.append(row)
                columns = []
                continue
            if not columns:
                lines = [*self._over.lines, *self._of_units]
                read = read_header(
                    with_note_column(header, rows[:_SURE_OF_COLUMNS]),
                    width,
                    lines,
                    self._reader,
                    month_first=self._document.month_first,
                    newest=self._document.calendar.newest,
                )
                self._of_units = [*self._of_units, *find_unit_lines(header[-_MOST_LINES:])][-_MOST_LINES:]
                columns, self._corner, self._titles = read.columns, read.corner, read.titles
                self._percents |= {at for at, each in enumerate(columns) if each.label.units == Units(percent=True)}
                self._two_years = are_two_years(columns)
                self._above = {}
                self._ends = max(
                    (column.when.end for column in columns if column.when and column.when.end), default=None
                )
                self._table_basis = self._table_basis or self._over.find_basis(header[0].cells[:1] if header else [])
                self._of_title, titled = parts_title(self._titles, self._corner, self._reader)
                self._titled_parts = self._titled_parts or titled
                by_part = sum(1 for column in columns if column.entity and not column.skipped) > 1
                named_columns = self._of_title is not None or any(column.label.meaning for column in columns)
                named = [at for at in header if len([cell for cell in at.cells if cell]) > 1][-_MOST_LINES:]
            body, since, looked = True, [], looked + 1
            yield from self._row(row, numbers, columns, section, 0 if by_part else weight)

    def _is_unread(self, row: Row) -> bool:
        """Whether more was looked at already than a document may have; what is left is counted."""
        if self._findings.rows <= MOST_ROWS and self._findings.looked_at <= MOST_NUMBERS:
            return False
        unread = sum(1 for cell in row.cells[1:] if _NUMERIC.fullmatch(cell))
        self._findings.leave_out("more numbers than are looked at", unread)
        return True

    def _numbers(self, row: Row, with_numbers: set[int]) -> list[int]:
        """The cells behind the first with numbers; below and beside numbers of a concept, 2050 is one and no year."""
        numbers = {
            index for index, cell in enumerate(row.cells) if index and is_number(cell, comma_decimal=self._comma)
        }
        marked = any(find_currency(row.cells[index][:1]) for index in numbers)
        if not numbers and all(may_be_scale(cell) for cell in row.cells[1:] if cell):
            marked = self._reader.speaks(row.cells[0])  # "Revenue | $1,000" heads nothing
        amounts = {*range(1, len(row.cells))} if marked else with_numbers
        if row.cells[0]:
            numbers |= {index for index in amounts if index < len(row.cells) and may_be_scale(row.cells[index])}
        if row.cells[0] and (numbers or with_numbers) and self._reader.speaks(row.cells[0]):
            others = (
                {*range(1, len(row.cells))}
                if numbers
                else {at for at in with_numbers if read_units("".join(row.cells[at : at + 1])).currency}
            )
            numbers |= {index for index in others if is_year(row.cells[index])}
        elif numbers and row.cells[0]:
            numbers |= {index for index in with_numbers if index < len(row.cells) and is_year(row.cells[index])}
        return sorted(numbers)

    def _says_nothing(self, row: Row) -> bool:
        """Whether nothing can come of a row of numbers by its name, where columns and title name no concept."""
        name = row.name
        alike = _SERIAL.sub("#", name)
        silent = self._silent.get(alike)
        if silent is None:
            speaks = not name or name[0].isdigit() or TOTAL.match(name) or self._reader.speaks(name)
            silent = self._silent[alike] = not speaks and not (may_name_time(name) and not without_dates(name))
        return silent and (row.has_number(comma_decimal=self._comma) or holds_four_digits(row))

    def _row(  # noqa: PLR0915 - what a row may say, the surest first
        self, row: Row, numbers: list[int], columns: list[Column], section: str, weight: int
    ) -> Iterator[TableCandidate]:
        self._findings.rows += 1
        self._percents.update(of_percents(row, numbers))
        named_by, name = self._name(row)
        of_name = columns[named_by].words if named_by and named_by < len(columns) else ""
        self._entities = of_name or self._corner
        numbers = [index for index in numbers if index > named_by]
        label = self._reader.read(name) if name else None
        meaning = label.meaning if label else None
        by_row = meaning is not None
        if not by_row and TOTAL.match(name):
            of_section = self._reader.read(section.rstrip(":")) if section else None
            if of_section and of_section.meaning and re.fullmatch(r"total|summe|gesamt|totale", name, re.IGNORECASE):
                meaning, by_row = of_section.meaning, True
        coded = next((at for at, cell in enumerate(row.cells) if at and cell in self._reader.codes), None)
        if coded is not None:
            numbers = [index for index in numbers if index > coded]
            meaning, by_row = meaning or self._reader.codes[row.cells[coded]], True
        if self._sums_rows_above(row, numbers) and not by_row and (not name or TOTAL.fullmatch(name)):
            of_title = self._reader.read(label_in(self._titles[-1])) if self._titles else None
            if of_title is not None and of_title.meaning is not None:
                label, meaning, by_row = of_title, of_title.meaning, True
        if self._over.is_skipped:
            if by_row:
                self._findings.leave_out("tables of parts, shares or other companies", len(numbers))
            return
        if by_row:
            under = columns_under(row, numbers, columns, self._titles, self._corner, self._reader)
            self._leave_out_cells(row, numbers)
        elif is_slipped(row, columns, self._corner):
            under = {}
        else:
            under = {index: columns[index] for index in numbers if index < len(columns)}
        if meaning is not None and meaning.concept.id == "revenue":
            self._percents.update(index for index in numbers if _ALL_OF_IT.fullmatch(row.cells[index]))
        named_when = label.when if label else None
        if row.cells[0] and is_number(row.cells[0]) is False and named_when is None and not by_row:
            named_when = header_period(row.cells[0])
        units = row.units_beside({*numbers})
        for index in numbers:
            column = under.get(index)
            cell_meaning, of_column = meaning, False
            entity = None
            if not by_row:
                if column is not None and column.label.meaning is not None and not column.skipped:
                    cell_meaning, of_column = column.label.meaning, True
                elif named_when is not None and named_when.dated and not without_dates(name):
                    cell_meaning = self._title_meaning(section, column, len(numbers))
                else:
                    cell_meaning = self._by_entity(column)
                    of_column = cell_meaning is not None
                if cell_meaning is None:
                    continue
            self._findings.looked_at += 1
            amount = cell_amount(row.cells[index], comma_decimal=self._comma)
            if amount is None or cell_meaning is None:
                continue
            if index in self._percents and amount.unit is None and "percent" not in cell_meaning.concept.units:
                continue
            when = named_when if named_when and named_when.dated else column.when if column else None
            if when is None and by_row and column is None:
                self._findings.leave_out("no header over the column")
                continue
            if column is not None and column.skipped:
                continue
            if (
                cell_meaning.concept.id != "shares"
                and column is not None
                and _OF_SHARES.fullmatch(column.words.strip())
            ):
                continue  # "Employees" who hold shares
            if by_row and column is not None and meaning is not None and belongs_to_column(column, meaning, name):
                continue
            if not of_column and column is not None:
                entity = column.entity
            if by_row and label and label.part:
                entity = label.part if entity is None else f"{entity}, {label.part}"
            is_balance = cell_meaning.kind == "instant" and _BALANCE.match(name) is not None
            if of_column and not (
                named_when and named_when.dated and not without_dates(_BALANCE.sub("", name) if is_balance else name)
            ):
                if not self._lists(name):
                    continue
                entity = None if TOTAL.match(name) else name[:80]
            if self._over.is_parents:
                entity = entity or "parent company"
            entity = entity or self._told_of or None
            if cell_meaning.concept.id == "operating_cash_flow" and _OTHER_FLOWS.search(section):
                self._findings.leave_out("cash flows of another section")
                continue
            cell = FigureCell(row, units, index, amount, cell_meaning, label, column, when, entity, self._two_years)
            figure = cell_figure(self._document, self._findings, cell, self._table_basis, self._series, self._ends)
            if figure is not None:
                yield TableCandidate(figure, cell_meaning.rank, section, weight, self._over.is_consolidated)

    def _sums_rows_above(self, row: Row, numbers: Sequence[int]) -> bool:
        """Whether each number of a row is the sum of those above it; if not, it is one of what a sum may be of."""
        amounts = {index: cell_amount(row.cells[index], comma_decimal=self._comma) for index in numbers}
        values = {index: amount.value for index, amount in amounts.items() if amount is not None}
        above = {index: self._above.get(index, (0, Decimal(0))) for index in values}
        is_sum = bool(values) and all(above[at][0] > 1 and above[at][1] == value for at, value in values.items())
        added = {index: (above[index][0] + 1, above[index][1] + value) for index, value in values.items()}
        self._above = {} if is_sum else {**self._above, **added}
        return is_sum

    def _leave_out_cells(self, row: Row, numbers: Sequence[int]) -> None:
        """Count what stands beside a concept and is no number that could be taken: "#REF!", "5-6"."""
        others = not_one_number(row, numbers)
        if others and (numbers or self._reader.speaks(row.name)):
            self._findings.leave_out("no single number", others)

    def _name(self, row: Row) -> tuple[int, str]:
        """What a row is called, and where that stands: behind a rank or an account's number where there is one."""
        first = row.cells[0]
        is_listed = is_number(first, comma_decimal=self._comma) or is_enumerator(first)
        if first and is_listed and len(row.cells) > 1:
            second = row.cells[1]
            if (
                any(map(str.isalpha, second))
                and not is_number(second, comma_decimal=self._comma)
                and not only_units(second)
            ):
                return 1, second
        if first:
            return 0, first
        at = next((index for index, cell in enumerate(row.cells) if cell), 0)
        return (at, row.cells[at]) if row.cells[at] and not is_number(row.cells[at]) else (0, "")

    def _lists(self, name: str) -> bool:
        """Whether the table lists parts of the company, and this row is one of them or their total."""
        if len(self._grid.rows) > MOST_PARTS:
            self._findings.leave_out(f"lists of more than {MOST_PARTS} rows")
            return False
        return bool(name) and self._holds_parts() and not is_subtotal(name)

    def _holds_parts(self) -> bool:
        return lists_parts(self._entities, self._titles, titled=self._titled_parts)

    def _by_entity(self, column: Column | None) -> Meaning | None:
        """What the numbers of a table of parts are, by its title: "Revenue by segment" over years."""
        if self._of_title is None or column is None or column.when is None or column.entity or column.skipped:
            return None
        return self._of_title if self._holds_parts() else None

    def _title_meaning(self, section: str, column: Column | None, count: int) -> Meaning | None:
        """What the rows of a series are, by the line that begins it, else by the corner or the line over the table."""
        if count > 1 or (column is not None and column.entity):
            return None
        begun = section if section and not WHOLE.match(section) else ""
        for title in (begun,) if begun else (self._corner, *self._titles[-1:]):
            if title:
                found = self._reader.read(title)
                if found.meaning is not None:
                    self._series = title
                    return found.meaning
        return None
