"""Figures from tables: of workbooks, PDFs, documents, slides and web pages, and from the data of charts.

A cell is a figure if its row, its column or the table's title names a concept, and one of these names a period.
Anything uncertain is left out and counted: a column whose header names two periods, a scale that contradicts another,
two rows of one concept that differ.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import chain, takewhile
from typing import Final

from tasks.figures import statement_checks as checks
from tasks.figures import table_columns as heads
from tasks.figures import table_figures, table_grids
from tasks.figures import table_labels as labels
from tasks.figures import table_rows as tables
from tasks.figures.column_periods import TWO_YEARS, YEAR, Series
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import PARENT, WORDS, Findings, Meaning, Taxonomy
from tasks.figures.table_columns import FigureColumn
from tasks.figures.table_figures import SCENARIO, FigureCell, TableCandidate
from tasks.figures.table_grids import LONGEST_STATEMENT, Grid, is_statement_name
from tasks.figures.table_labels import LONGEST_LABEL, MOST_PARTS, Label, LabelReader, RowWords
from tasks.figures.table_rows import Row
from tasks.language.numbers import Units, cell_amount, find_currency, may_be_scale, only_units, read_units
from tasks.language.periods import HINT, When, find_periods, header_period

MOST_NUMBERS: Final = 100_000
"""Numbers of a document's tables that are looked at, beside a label that means something; the rest is counted."""
MOST_ROWS: Final = 50_000
"""Rows with numbers that are looked at, of those tables of a document in which something is named."""
_NUMERIC: Final = re.compile(r"[-(]?[$€£]?\d[\d.,]*\)?")
_LONGEST_FORM: Final = 200
"""Rows of a table by which it is told whether it is one of the accounts' statements."""
_MOST_LINES: Final = 40
"""Lines of a header that are kept for the tables behind it."""
_SERIAL: Final = re.compile(r"(?!(?:19|20)\d\d(?!\d))(?<!\d)\d{2,}")  # in the names of rows that are alike
_SURE_OF_COLUMNS: Final = 100
"""Rows of a table from which on those that name nothing are passed by."""
_AFTER_CHANGES: Final = frozenset({"total_assets", "equity", "total_liabilities", "operating_cash_flow"})
"""Sums that no changes of working capital have among them: the next section has begun."""
_MOST_OVER: Final = 8
"""Rows of a table in which its units may stand alone in the place of a label."""
_MOST_PERCENT: Final = 1_000
"""From here on a number under a heading of growth is an amount again: of the rows below, which have no heading."""
_SIGNS: Final = frozenset("$€£¥₹")
_RESULTS: Final = frozenset({"ebitda", "operating_income", "net_income", "total_assets", "equity"})
"""What is not nought of a company that is there, with all that stands in the column."""


def cell_figures(document: LedgerDocument, taxonomy: Taxonomy, findings: Findings) -> Iterator[list[TableCandidate]]:
    """The figures of each table of a document, one list per table; numbers left out are counted in `findings`."""
    reader = labels.label_reader(taxonomy, document.language)
    whole = table_grids.whole_grids(document.text, reader.meaning, of_pages=document.of_pages, sheets=document.sheets)
    for grid in chain.from_iterable(table_figures.blocks(each, reader) for each in whole):
        if _may_speak(grid, reader):
            read = table_figures.keep_in_scale([*_Table(document, reader, grid, findings).candidates()], findings)
            found = checks.without_items(grid, [each for each in read if checks.may_be_concept(grid, each)])
            if document.stores_numbers and not checks.is_recognised(grid, found):
                findings.leave_out("long tables that give one figure alone", len(found))
            elif found:
                checks.keep_ties(document, grid, findings)
                settling = [each for each in found if each.figure.concept not in checks.OF_STATEMENTS]
                if sure := [*table_figures.settle_candidates(settling, findings), *checks.of_statement(grid, found)]:
                    yield sure


def _is_percent(over: str, name: str, value: Decimal) -> bool:
    """Whether a row stands under a heading of growth, or is what others are a percentage of: "Total assets as 100%"."""
    of_all = value == 100 and re.search(r"\b100 ?%", name)
    return bool(of_all) or (abs(value) < _MOST_PERCENT and WORDS.section_of_growth.fullmatch(over) is not None)


def _may_speak(grid: Grid, reader: LabelReader) -> bool:
    """Whether a label is a concept, or may still name one next to a date, units or basis."""
    names = {row.label for row in grid.rows}
    if reader.any_may_speak(names) and any(map(reader.meaning, names)):
        return True
    for title in grid.titles[-2:]:
        if len(title) < LONGEST_LABEL and (
            reader.speaks(labels.of_parts(title)) or reader.speaks(labels.label_in(title))
        ):
            return True
    if any(cell and len(cell) < 80 and reader.speaks(cell) for row in grid.rows[:6] for cell in row.cells):
        return True
    if any(len(row.label) < 90 and reader.speaks(row.label) for row in grid.rows[6:_LONGEST_FORM]):
        return True
    return bool(reader.codes) and 0 in tables.code_columns(grid.rows[:_LONGEST_FORM])


class _Table:
    """One table, read row by row, each row under the headers that apply there."""

    def __init__(self, document: LedgerDocument, reader: LabelReader, grid: Grid, findings: Findings) -> None:
        self._document = document
        self._reader = reader
        self._grid = grid
        self._findings = findings
        self._comma = table_figures.has_decimal_comma(document, grid)
        self._series = self._entities = self._section = self._corner = ""
        self._columns: list[FigureColumn] = []
        self._header: list[Row] = []
        self._named: list[Row] = []  # the rows of the header that name the columns
        self._since: list[str] = []  # lines of one cell since the last numbers: sections, or titles of another table
        self._body = self._by_part = self._named_columns = self._noted = False
        self._dated: list[int] = []  # the first column of each time
        self._looked = self._owner = 0
        self._with_numbers: set[int] = set()
        self._ends: date | None = None  # the newest day of a column
        self._two_years = False  # whether the columns are of two years at most
        self._of_title: Meaning | None = None
        self._titled_parts = False
        self._silent: dict[str, bool] = {}  # names of rows, and whether they say nothing
        self._percents: set[int] = set()  # columns of percentages beside amounts
        self._sums = checks.RunningSums()
        self._told_of = labels.part_told_behind(document.text, grid)
        self._width = max(row.width for row in grid.rows)
        self._codes = tables.code_columns(grid.rows[:_LONGEST_FORM])
        head, said = tables.part_head(grid.rows[:_LONGEST_FORM], reader.speaks)
        self._rows = grid.rows[head:]
        self._times = tables.time_column(self._rows[:_LONGEST_FORM], reader.speaks)
        names = [row.name for row in self._rows[:_LONGEST_FORM] if row.name.isdecimal()]
        self._counts_rows = names[:2] in (["0", "1"], ["1", "2"])
        self._in_sections = self._times == 0 or tables.begins_with_sections(self._rows[:_LONGEST_FORM])
        self._days = Series(self._rows, comma_decimal=self._comma)
        self._valued = tables.find_valuation(self._rows[:_LONGEST_FORM])
        self._under([*grid.titles, *said])
        before = takewhile(lambda row: reader.meaning(row.label) is None, self._rows[:_MOST_OVER])
        self._units_of_rows = [row.name for row in before if only_units(row.name) and read_units(row.name).multiplier]
        supporting = sum(1 for row in grid.rows[:LONGEST_STATEMENT] if WORDS.statement_rows.search(row.label))
        known = {meaning.concept.id for row in grid.rows[:_LONGEST_FORM] if (meaning := reader.meaning(row.label))}
        self._is_balance = not known.isdisjoint({"total_assets", "total_liabilities"}) and "revenue" not in known
        self._has_inventories = {"total_assets", "inventories"} <= known
        self._has_result = not known.isdisjoint(_RESULTS)
        self._weight = supporting + (checks.STATEMENT_WEIGHT if self._over.is_statement else 0)

    def _under(self, titles: Sequence[str]) -> None:
        """Continue under these title lines, which say what kind of table it is."""
        self._over = labels.over_table(titles)
        self._titles = list(self._over.titles)
        self._is_trial_balance = any(map(WORDS.trial_balance.search, (self._document.name, *self._titles)))
        self._table_basis = self._over.find_basis(self._over.lines[-3:])
        self._of_units: list[str] = []  # lines of a header that hold for the next one too: "(Millions of yen)"

    def candidates(self) -> Iterator[TableCandidate]:
        """All numbers in the table that may be figures."""
        for row in table_grids.whole_rows(self._rows, self._document.text):
            if self._is_unread(row) or self._is_passed_by(row):
                continue
            row = self._with_label_cell(row)  # noqa: PLW2901 - the same row
            numbers = self._numbers(row)
            if tables.counts_columns(row, numbers) and not self._reader.speaks(row.name):
                if only_units(row.name):
                    self._read_words(Row(row.start, row.cells[:1], row.starts[:1]))
                continue
            self._with_numbers.update(numbers)
            numbers = [at for at in numbers if at not in self._codes]
            if not numbers and any(tables.is_code(row.cells[at]) for at in self._codes if at < row.width):
                continue  # a line of a form that nobody filled in
            if not numbers and not tables.is_number(row.cells[0], comma_decimal=self._comma):
                self._read_words(row)
                continue
            if not self._columns:
                self._read_header(numbers)
            self._body, self._since = True, []
            self._looked += 1
            yield from self._row(row, numbers)

    def _is_unread(self, row: Row) -> bool:
        """Whether the document's limit is exceeded; the row's numbers are then counted as left out."""
        if self._findings.rows <= MOST_ROWS and self._findings.looked_at <= MOST_NUMBERS:
            return False
        unread = sum(1 for cell in row.cells[1:] if _NUMERIC.fullmatch(cell))
        self._findings.leave_out("more numbers than are looked at", unread)
        return True

    def _with_label_cell(self, row: Row) -> Row:
        """The row, with an empty label before a total that begins with its number: "5,128,188 | | 5,349,760"."""
        if not self._dated or not tables.is_number(row.name, comma_decimal=self._comma):
            return row
        if sum(map(bool, row.cells)) != len(self._dated) or any(map(str.isalpha, "".join(row.cells))):
            return row
        return Row(row.start, ["", *row.cells], [row.start, *row.starts], row.loose)

    def _is_passed_by(self, row: Row) -> bool:
        """Whether to skip a row that names nothing, deep in a table whose columns name nothing."""
        sure = self._body and self._looked > _SURE_OF_COLUMNS and self._columns and not self._named_columns
        if not sure or not self._says_nothing(row):
            return False
        self._findings.rows += 1
        self._since = []
        return True

    def _read_words(self, row: Row) -> None:
        """Read a row without numbers: it has no value for its name, begins a section, or is a line of a header."""
        filled = [cell for cell in row.cells if cell]
        marked = (
            len(filled) == 2 and filled[0].lower() == "x" and is_statement_name(filled[1])
        )  # a mark beside its name
        filled = filled[1:] if marked else filled
        if tables.has_no_number(filled):
            self._leave_out_cells(row, [])
            return
        if len(filled) == 2 and row.width < self._width and WORDS.date_beside.fullmatch(row.name):
            return  # the day of a valuation or a print, over columns that it does not head
        if self._body and len(filled) > 1 and row.cells[0] and self._reader.meaning(" ".join(filled)) is not None:
            filled = [" ".join(filled)]  # a heading torn in two: "Disponibilità | liquide"
        alone = len(filled) == 1
        if alone and table_grids.HIDDEN.fullmatch(filled[0]):
            return  # it heads nothing
        if alone and self._body and not labels.is_date(filled[0]):
            self._section = filled[0]
            self._sums.begin_section()
            self._since += [] if marked else filled
            return
        self._columns = []
        if alone and row.cells[0] and not self._header:
            self._header, self._section = [row], filled[0]
            return
        if self._body:
            self._header, self._body, self._percents = [], False, set()
            if alone and self._named and not any(find_periods(cell) for at in self._named for cell in at.cells[1:]):
                self._header = [row, *self._named]  # another year under the same columns
                return
            if self._since:
                self._under(self._since[-6:])
                self._since, self._section = [], "".join(SCENARIO.findall(self._section))
        self._header.append(row)

    def _read_header(self, numbers: Sequence[int]) -> None:
        """Read the columns from the header lines collected since the last numbers; a row with `numbers` follows."""
        header = [tables.part_times(row, numbers) for row in self._header]
        lines = [*self._over.lines, *self._of_units]
        own = chain(lines, *(row.cells for row in self._header))
        signs = (cell[:1] for row in self._rows[:_LONGEST_FORM] for cell in row.cells)
        of_all = self._units_of_rows or (self._grid.units if _SIGNS.isdisjoint(signs) else [])
        if of_all and all(read_units(each) == Units() for each in own):
            lines = [*of_all, *lines]
        self._units_of_rows = []  # the next table has others
        noted = tables.with_note_column(header, self._grid.rows[:_SURE_OF_COLUMNS])
        read = heads.read_header(noted, self._width, lines, self._reader, self._document)
        self._of_units = [*self._of_units, *tables.find_unit_lines(self._header[-_MOST_LINES:])][-_MOST_LINES:]
        self._columns = heads.without_labels(read.columns, self._rows[:_LONGEST_FORM])
        self._corner, self._titles = read.corner, read.titles
        self._percents |= {at for at, each in enumerate(read.columns) if each.label.units == Units(percent=True)}
        self._two_years = len({each.when.year for each in read.columns if each.when and each.when.year}) <= TWO_YEARS
        self._sums = checks.RunningSums()
        self._ends = max((each.when.end for each in read.columns if each.when and each.when.end), default=None)
        self._table_basis = self._table_basis or self._over.find_basis([row.cells[0] for row in self._header[:1]])
        self._of_title, titled = labels.parts_title(self._titles, self._corner, self._reader)
        self._titled_parts = self._titled_parts or titled
        owners = (at for at, each in enumerate(read.columns) if WORDS.column_of_companies.fullmatch(each.words.strip()))
        self._owner = next((at for at in owners if tables.repeats_rows(self._rows[:_LONGEST_FORM], at)), 0)
        self._by_part = sum(1 for each in read.columns if each.entity and not each.skipped) > 1
        self._named_columns = self._of_title is not None or any(each.label.meaning for each in read.columns)
        self._named = [row for row in self._header if sum(map(bool, row.cells)) > 1][-_MOST_LINES:]
        self._noted = any(map(tables.is_note_heading, chain.from_iterable(row.cells for row in self._header)))
        self._dated = heads.dated_columns(self._columns)

    @cached_property
    def _unfilled(self) -> frozenset[int]:
        rows = self._rows[:LONGEST_STATEMENT] if self._has_result else ()
        return tables.find_unfilled(rows, comma_decimal=self._comma)

    def _numbers(self, row: Row) -> list[int]:
        """The cells after the first with numbers; below or beside a concept's numbers, 2050 is one and no year."""
        cells = row.cells
        numbers = {at for at, cell in enumerate(cells) if at and tables.is_number(cell, comma_decimal=self._comma)}
        above = {at for at in self._with_numbers if at < len(cells)} if self._body and self._columns else set[int]()
        if not numbers and not self._since and tables.is_amount_like_year(row, above):
            return sorted(at for at in above if cells[at])
        if not cells[0]:
            return sorted(numbers)
        everywhere = {*range(1, len(cells))}
        numbers |= {at for at in (everywhere if self._is_marked(row, numbers) else above) if may_be_scale(cells[at])}
        return sorted(numbers | {at for at in self._beside_numbers(row, numbers, above) if tables.is_year(cells[at])})

    def _beside_numbers(self, row: Row, numbers: Collection[int], above: Collection[int]) -> Iterable[int]:
        """The cells of a row that hold a number even where it looks like a year."""
        if not (numbers or above) or not self._reader.speaks(row.cells[0]):
            return above if numbers else ()
        return range(1, len(row.cells)) if numbers else (at for at in above if read_units(row.cells[at]).currency)

    def _is_marked(self, row: Row, numbers: Collection[int]) -> bool:
        """Whether a sign of a currency is at one of a row's numbers; "Revenue | $1,000" heads nothing and is marked."""
        if not numbers and all(may_be_scale(cell) for cell in row.cells[1:] if cell):
            return self._reader.speaks(row.cells[0])
        return any(find_currency(row.cells[at][:1]) for at in numbers)

    def _says_nothing(self, row: Row) -> bool:
        """Whether a row's name cannot give a figure, since neither columns nor title name a concept."""
        name = row.name
        alike = _SERIAL.sub("#", name)
        silent = self._silent.get(alike)
        if silent is None:
            speaks = not name or name[0].isdigit() or WORDS.total_row.match(name) or self._reader.speaks(name)
            silent = self._silent[alike] = not speaks and not (HINT.search(name) and not labels.without_dates(name))
        return silent and (row.has_number(comma_decimal=self._comma) or tables.holds_four_digits(row))

    def _row(self, row: Row, numbers: list[int]) -> Iterator[TableCandidate]:
        """The figures that may be in a row of numbers."""
        self._findings.rows += 1
        self._percents.update(tables.of_percents(row, numbers))
        self._section = row.name if WORDS.balance_of_cash.match(row.name) else self._section
        said = self._read_name(row, numbers)
        if self._over.is_skipped:
            if said.meaning is not None:
                self._findings.leave_out("tables of parts, shares or other companies", len(said.numbers))
            return
        under = self._columns_under(row, said)
        if said.meaning is not None and said.meaning.concept.id == "revenue":
            self._percents.update(at for at in said.numbers if WORDS.row_all_of_it.fullmatch(row.cells[at]))
        units = row.units_beside({*said.numbers})
        may_be = [at for at in said.numbers if said.meaning and at + 1 not in self._percents]
        cut = {at + each for at in may_be if heads.is_cut_in_two(row, at, under) for each in (0, 1)}
        cut = {*said.numbers} if cut and row.loose else cut  # no cell of a row split at spaces is in its place
        self._findings.leave_out("numbers cut in two", len(cut))
        for at in sorted({*said.numbers} - cut):
            candidate = self._candidate(row, said, at, under.get(at), units)
            if candidate is not None:
                yield candidate

    def _without_note(self, row: Row, numbers: list[int]) -> list[int]:
        """The numbers of a row without that of its note, in a table that has notes."""
        has_note = self._noted and len(numbers) == len(self._dated) + 1
        return numbers[1:] if has_note and tables.NOTE_NUMBER.fullmatch(row.cells[numbers[0]]) else numbers

    def _read_name(self, row: Row, numbers: Sequence[int]) -> RowWords:
        """The name and meaning of a row: by its label, section or code, or the title over what it sums."""
        named_by, name = self._name(row)
        over_names = self._columns[named_by : named_by + 1] if named_by else []
        self._entities = "".join(column.words for column in over_names) or self._corner
        label = self._reader.read(name) if name else None
        meaning = label.meaning if label else None
        section = row.cells[0] if self._in_sections else self._section
        of_section = self._reader.read(section).meaning if meaning and WORDS.total_row.match(name) else None
        if meaning and (self._ends_changes(meaning) or (of_section and of_section.concept == meaning.concept)):
            self._section = section = ""  # ends with its own total: the next one is of more
        meaning = meaning or self._section_meaning(name, section)
        coded = self._find_code(row)
        if coded is not None:
            meaning = meaning or self._reader.codes[row.cells[coded]]
        if meaning and meaning.concept.id == "customers" and self._has_inventories and " " not in row.name:
            meaning = None  # what they owe: "Clientes" among the assets
        numbers = [at for at in numbers if at > max(named_by, coded or 0) and at != self._times]
        numbers = self._without_note(row, numbers)
        over, is_whole_side = self._read_sum(row, numbers, section)
        if over and meaning is None and (not name or WORDS.total_row.fullmatch(name)):
            self._section = "" if is_whole_side else self._section
            label, meaning = over, over.meaning
        return RowWords(name, label, meaning, self._row_time(row, label, meaning), numbers)

    def _row_time(self, row: Row, label: Label | None, meaning: Meaning | None) -> When | None:
        """The time that a row names."""
        if self._counts_rows and row.name.isdecimal() and not meaning:
            return None  # row 1980 of a list is of no year
        when = header_period(row.cells[self._times]) if self._times is not None else label.when if label else None
        is_named = when or meaning or not row.cells[0] or tables.is_number(row.cells[0])
        return when if is_named else header_period(row.cells[0])

    def _read_sum(self, row: Row, numbers: Sequence[int], section: str) -> tuple[Label | None, bool]:
        """The name of a sum of the rows above, their section or the title, and whether it is that of a whole side."""
        is_sum, is_sum_of_all = self._sums_rows_above(row, numbers)
        if not (is_sum or is_sum_of_all):
            return None, False
        over = section if is_sum and section else labels.label_in(self._titles[-1]) if self._titles else ""
        read = self._reader.read(over)
        is_named = read.meaning and (is_sum or read.meaning.concept.id == "total_assets")
        return read if is_named else None, not is_sum

    def _find_code(self, row: Row) -> int | None:
        """The cell with the code of a form's line; one that may be a number is a code in a column of codes alone."""
        known = (at for at, cell in enumerate(row.cells) if cell in self._reader.codes)
        return next((at for at in known if at in self._codes or (at and not row.cells[at].isdecimal())), None)

    def _section_meaning(self, name: str, section: str) -> Meaning | None:
        """The meaning that a row gets from its section: as its total, or as the second line of a label.

        "Creditors" is the line above "Amounts falling due within one year".
        """
        section = section.rstrip(":")
        if not name or not section:
            return None
        is_total = WORDS.total_alone.fullmatch(name) is not None
        return self._reader.read(section).meaning if is_total else self._reader.law(f"{section} {name}")

    def _columns_under(self, row: Row, said: RowWords) -> Mapping[int, FigureColumn]:
        """The column of each number in a row."""
        if len(self._dated) > 1 and row.start in self._valued:
            return {}
        if (meaning := said.meaning) is not None:
            self._leave_out_cells(row, said.numbers)
            return heads.columns_under(
                row, said.numbers, self._columns, meaning, lambda: self._single_column(row, meaning)
            )
        if heads.is_slipped(row, self._columns, self._corner):
            return {}
        return {at: self._columns[at] for at in said.numbers if at < len(self._columns)}

    def _single_column(self, row: Row, meaning: Meaning) -> FigureColumn | None:
        of_page = self._document.heading_period(row.start)
        if of_page and of_page.end and meaning.kind == "duration" and (of_page.months or 1) == 1:
            of_page = None  # the day of a balance, or of the page itself, ends no year
        return heads.single_column(self._titles, self._corner, self._reader, of_page)

    def _candidate(
        self, row: Row, said: RowWords, at: int, column: FigureColumn | None, units: Units
    ) -> TableCandidate | None:
        """The figure for one number in a row; None if it is not a figure, or not certain."""
        meaning, of_column = self._cell_meaning(said, column)
        if meaning is None:
            return None
        self._findings.looked_at += 1
        amount = cell_amount(row.cells[at], comma_decimal=self._comma)
        if amount is None:
            return None
        over = self._section or (self._header[-1].name if self._header else "")  # "5 Year Growth", "Growth rates"
        is_percent = at in self._percents or _is_percent(over, said.name, amount.value)
        if is_percent and amount.unit is None and "percent" not in meaning.concept.units:
            return None
        when, why_not = self._find_time(said, meaning, column)
        if when and when.is_bare_year and self._days.is_beside_months(when, at, amount):
            why_not = "no period"
        is_of_part = meaning.kind == "duration" and when is not None and (when.months or YEAR) < YEAR
        if self._is_trial_balance and (is_of_part or any(map(WORDS.sided_amount.search, row.cells))):
            why_not = "balances of a trial balance"  # of what came in since the year began, and of unread sides
        if why_not:
            self._findings.leave_out(why_not)
            return None
        if column is not None and heads.is_no_figure(column, meaning, said.name if said.meaning else None):
            return None
        is_part = of_column and not said.is_time(is_stock=meaning.kind == "instant")
        if is_part and not self._lists(said.name):
            return None
        entity = self._entity(said, None if of_column else column, is_part=is_part)
        if 0 < self._owner < row.width:
            entity = entity or row.cells[self._owner][:80] or None
        if self._is_flow(meaning):
            self._findings.leave_out("cash flows of another section")
            return None
        cell = FigureCell(
            row, units, at, amount, meaning, said.label, column, when, entity, self._two_years, self._is_balance
        )
        return self._as_candidate(cell, column.label if column and of_column else said.label)

    def _is_flow(self, meaning: Meaning) -> bool:
        """Whether section or statement make a row of this meaning another flow: a change of a balance, or of cash."""
        if meaning.concept.id == "operating_cash_flow":
            return WORDS.row_other_flows.search(self._section) is not None
        if (balance := WORDS.balance_of_cash.match(self._section)) and balance["opening"]:
            return True  # of the year before, under the name of this one
        if meaning.kind != "instant" or meaning.concept.id == "cash":  # that of the end stands below
            return False
        is_of_flows = any(map(WORDS.heading_of_cash_flows.search, (self._section, *self._titles[-2:])))
        is_of_flows = is_of_flows and meaning.concept.id != "total_assets"
        return is_of_flows or WORDS.row_changes.match(self._section) is not None

    def _ends_changes(self, meaning: Meaning) -> bool:
        """Whether a row of this meaning stands below a section of changes, not in it."""
        is_changes = WORDS.row_changes.match(self._section) and WORDS.row_working_capital.search(self._section)
        return meaning.concept.id in _AFTER_CHANGES and is_changes is not None

    @cached_property
    def _spans_years(self) -> bool:
        """Whether rows state balances at three days or more: what stands between them is of one year or another."""
        return sum(1 for row in self._rows[:LONGEST_STATEMENT] if WORDS.row_balance.match(row.name)) > TWO_YEARS

    def _find_time(self, said: RowWords, meaning: Meaning, column: FigureColumn | None) -> tuple[When | None, str]:
        """The time of a number, and why it is left out without one, if it is."""
        when = said.when if said.when and said.when.dated else column.when if column else None
        if self._days.pace is not None and when is not None and when is said.when:
            over = " | ".join([*self._titles[-3:], self._corner, self._section, column.words if column else ""])
            when = self._days.find_period(when, meaning.kind, over)
            return when, "" if when else "running totals" if self._days.pace else "no period"
        of_title = when is not said.when and (column is None or not find_periods(column.words))
        if of_title and meaning.kind == "duration" and self._spans_years:
            return when, "no period"
        is_without = when is None and said.meaning is not None and column is None
        return when, "no header over the column" if is_without else ""

    def _as_candidate(self, cell: FigureCell, named: Label | None) -> TableCandidate | None:
        """The figure in a cell of this name, with what decides between it and others; None if it is not certain."""
        if not cell.amount.value and cell.index in self._unfilled:
            self._findings.leave_out("columns of noughts")
            return None
        figure = table_figures.cell_figure(
            self._document, self._findings, cell, self._table_basis, self._series, self._ends
        )
        if figure is None:
            return None
        weight = 0 if self._by_part else self._weight
        consolidated = self._over.is_consolidated
        in_currency = named is not None and named.units.currency is not None
        has_units = in_currency or any(each.units.currency for each in (cell, cell.column) if each)
        decides = self._section, weight, consolidated, cell.row.start, in_currency, has_units
        return TableCandidate(figure, cell.meaning.rank, *decides)

    def _entity(self, said: RowWords, column: FigureColumn | None, *, is_part: bool) -> str | None:
        """Which part of the company a number is about: the one that its row lists, or that row and column name."""
        if is_part:
            own = None if WORDS.total_row.match(said.name) else said.name[:80]
        else:
            part = said.label.part if said.label and said.meaning is not None else None
            own = ", ".join(filter(None, (part, column.entity if column else None)))
        return own or (PARENT if self._over.is_parents else self._told_of) or None

    def _cell_meaning(self, said: RowWords, column: FigureColumn | None) -> tuple[Meaning | None, bool]:
        """What a number means by its row, its column or the title, and whether its row may be a listed part."""
        if said.meaning is not None:
            return said.meaning, False
        if column is not None and column.label.meaning is not None and not column.skipped:
            return column.label.meaning, True
        if said.is_time():
            return self._title_meaning(column, len(said.numbers)), False
        return self._by_entity(column), True

    def _sums_rows_above(self, row: Row, numbers: Sequence[int]) -> tuple[bool, bool]:
        """Whether each number of a row sums those above it, in its section and below the header."""
        inner = {at for at, column in enumerate(self._columns) if only_units(column.words)}  # EUR | 2024 EUR | 2023 EUR
        slipped = len(self._dated) == len(numbers) and inner.isdisjoint(numbers)  # cells slip where blanks are left out
        cells = zip(self._dated if slipped else numbers, numbers, strict=True)
        amounts = {at: cell_amount(row.cells[index], comma_decimal=self._comma) for at, index in cells}
        values = {index: amount.value for index, amount in amounts.items() if amount is not None}
        return self._sums.add(values)

    def _leave_out_cells(self, row: Row, numbers: Sequence[int]) -> None:
        """Count the cells beside a concept that hold no usable number, such as "#REF!" and "5-6"."""
        others = tables.not_one_number(row, numbers)
        if others and (numbers or self._reader.speaks(row.name)):
            self._findings.leave_out("no single number", others)

    def _name(self, row: Row) -> tuple[int, str]:
        """The column of a row's name, and the name: behind a rank, an account number or a section if there is one."""
        first = row.cells[0]
        is_listed = self._in_sections or tables.is_number(first, comma_decimal=self._comma)
        is_listed = is_listed or WORDS.enumerator.fullmatch(first) is not None
        if first and is_listed and len(row.cells) > 1:
            second = row.cells[1]
            if (
                any(map(str.isalpha, second))
                and not tables.is_number(second, comma_decimal=self._comma)
                and not only_units(second)
            ):
                return 1, second
        if first:
            return 0, first
        at = next((index for index, cell in enumerate(row.cells) if cell), 0)
        return (at, row.cells[at]) if row.cells[at] and not tables.is_number(row.cells[at]) else (0, "")

    def _lists(self, name: str) -> bool:
        """Whether the table lists parts of the company and this row is one of them or their total."""
        if len(self._grid.rows) > MOST_PARTS:
            self._findings.leave_out(f"lists of more than {MOST_PARTS} rows")
            return False
        is_part = bool(name) and WORDS.subtotal.match(name) is None
        return is_part and labels.lists_parts(self._entities, self._titles, titled=self._titled_parts)

    def _by_entity(self, column: FigureColumn | None) -> Meaning | None:
        """What the numbers mean in a table of parts, by its title: "Revenue by segment" with years as columns."""
        if self._of_title is None or column is None or column.when is None or column.entity or column.skipped:
            return None
        holds_parts = labels.lists_parts(self._entities, self._titles, titled=self._titled_parts)
        return self._of_title if holds_parts else None

    def _title_meaning(self, column: FigureColumn | None, count: int) -> Meaning | None:
        """What the rows of a series mean: by the line that begins it, the corner or the line above."""
        if count > 1 or (column is not None and column.entity):
            return None
        begun = "" if WORDS.whole_company.match(self._section) else self._section
        for title in (begun,) if begun else (self._corner, *self._titles[-1:]):
            if title:
                found = self._reader.read(title)
                if found.meaning is not None:
                    self._series = title
                    return found.meaning
        return None
