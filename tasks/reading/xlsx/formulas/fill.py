"""Puts what formulas without a stored value come to into the sheets that hold them.

Programs that do not calculate write such formulas: a cell then reads `5 [computed]`. Where a formula cannot be computed
it stands in its cell itself, `=VLOOKUP(A5,Rates,2)`. Only workbooks with such formulas pay for it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from tasks.errors import TooLarge
from tasks.reading import limits
from tasks.reading.ooxml.number_formats import show_number
from tasks.reading.ooxml.xml import escaped
from tasks.reading.xlsx.formulas.evaluate import evaluate
from tasks.reading.xlsx.formulas.functions import Value
from tasks.reading.xlsx.formulas.grid import CellFormula, Grid, GridCell, cells, key_of, value_of
from tasks.reading.xlsx.formulas.parse import (
    Area,
    FunctionCall,
    Named,
    Node,
    NotUnderstoodError,
    OperatorCall,
    parse,
    shown,
)
from tasks.reading.xlsx.values import CellKinds

MARK: Final = "[computed]"
"""Stands behind a value that the workbook does not hold."""

MOST_CELLS: Final = 300_000
"""Cells of a workbook that formulas can refer to; a sheet beyond it is not looked into (100 bytes a cell)."""

MOST_VISITS: Final = 3_000_000
"""Cells that are looked at for all formulas of a workbook together, about 2 s."""

_TYPE: Final = re.compile(rb"""\s(?:t|s)\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')""")
_MOST_WAITING: Final = 500_000
_LONGEST_SHOWN: Final = 1000
_MOST_NAMED: Final = 20
_MOST_SHEETS: Final = 200

Pieces = Callable[[], Iterable[bytes]]
_CellKey = tuple[str, int]
"""A sheet, its name caseless, and the key of a cell."""


class _NotComputed:
    """The value of a formula that is not computed."""


_NOT_COMPUTED: Final = _NotComputed()


class MissingValues:
    """The formulas of a workbook that have no stored value.

    `sheets` gives the pieces of each sheet by its name, `names` the formulas of defined names; both are called when
    the first formula needs them. `kinds` says how cells are shown.
    """

    def __init__(
        self, sheets: Callable[[], Mapping[str, Pieces]], names: Callable[[], Mapping[str, str]], kinds: CellKinds
    ) -> None:
        self._sheets = sheets
        self._names = names
        self._kinds = kinds
        self._pieces: dict[str, Pieces] | None = None
        self._defined_names: Mapping[str, str] | None = None
        self._grids: dict[str, Grid] = {}
        self._values: dict[_CellKey, Value | _NotComputed] = {}
        self._cells_left = MOST_CELLS
        self.visits_left = MOST_VISITS
        self._computed_sheets: dict[str, None] = {}
        self._uncomputed_sheets: dict[str, None] = {}

    def fill(self, sheet: str, piece: bytes, row: int) -> bytes:
        """The piece of the sheet of that name with texts for its formulas, `row` being the one before it."""
        filled: list[bytes] = []
        at = 0
        for cell in cells(piece, row):
            if cell.content.find(b"<f") < 0 or not cell.is_uncounted:
                continue
            tag = piece[cell.start : cell.inner - 1]
            filled += (
                piece[at : cell.start],
                _TYPE.sub(b"", tag),
                b' t="str"><v>',
                _stored_form(self._text_for(sheet, cell)),
                b"</v></c>",
            )
            at = cell.end
        filled.append(piece[at:])
        return b"".join(filled)

    def warnings(self) -> Iterator[str]:
        """What a user should know of them."""
        if self._computed_sheets:
            yield (
                "Formulas without a stored value were computed by this reader on "
                f"{_sheet_names(self._computed_sheets)}: they are marked {MARK}."
            )
        if self._uncomputed_sheets:
            yield (
                f"Formulas without a stored value stand as formulas on {_sheet_names(self._uncomputed_sheets)}: open "
                "the workbook in a spreadsheet program and save it, so that it holds their values."
            )

    def grid(self, sheet: str) -> Grid:
        """The cells of a sheet.

        Raises:
            NotUnderstoodError: there is no such sheet.
        """
        key = sheet.casefold()
        if key not in self._grids:
            if self._pieces is None:
                self._pieces = {name.casefold(): pieces for name, pieces in self._sheets().items()}
            if key not in self._pieces or len(self._grids) >= _MOST_SHEETS or limits.is_near():
                raise NotUnderstoodError
            try:
                self._grids[key] = grid = Grid(self._pieces[key](), self._stored, self._cells_left)
            except TooLarge:
                raise NotUnderstoodError from None
            self._cells_left -= len(grid)
        return self._grids[key]

    def named(self, name: str) -> Node:
        """What a defined name stands for.

        Raises:
            NotUnderstoodError: that is unknown, or not understood.
        """
        if self._defined_names is None:
            self._defined_names = self._names()
        tree = parse(self._defined_names.get(name, ""))
        if tree is None:
            raise NotUnderstoodError
        return tree

    def value(self, sheet: str, key: int) -> Value:
        """The value of a cell, computed before where it has a formula.

        Raises:
            NotUnderstoodError: it is not computed.
        """
        grid = self.grid(sheet)
        if key not in grid.formulas:
            return grid.stored(key)
        value = self._values.get((sheet.casefold(), key), _NOT_COMPUTED)
        if isinstance(value, _NotComputed):
            raise NotUnderstoodError
        return value

    @property
    def from_1904(self) -> bool:
        """Whether days are counted from 1904."""
        return self._kinds.from_1904

    def _stored(self, kind: bytes, stored: bytes) -> Value:
        return value_of(kind, stored, self._kinds.string)

    def _text_for(self, sheet: str, cell: GridCell) -> str:
        """What stands in the place of a formula."""
        formula: CellFormula | None = None
        try:
            grid = self.grid(sheet)
            key = key_of(cell.row, cell.column)
            formula = grid.formulas.get(key) or grid.masters.of(cell)
            value = self._compute((sheet, key)) if key in grid.formulas else _NOT_COMPUTED
        except NotUnderstoodError:
            value = _NOT_COMPUTED
        if not isinstance(value, _NotComputed):
            self._computed_sheets[sheet] = None
            text = self._as_shown(value, cell)
            return f"{text} {MARK}" if text.strip() else ""
        self._uncomputed_sheets[sheet] = None
        text = shown((formula.written() if formula is not None else "") or "…")
        text = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
        return f"{{{text}}}" if formula is not None and formula.array else text

    def _as_shown(self, value: Value, cell: GridCell) -> str:
        if isinstance(value, bool):
            return str(value).upper()
        if not isinstance(value, float):
            return value or ""
        raw = f"{value:.15g}".upper()
        code = self._kinds.code(cell.attributes.get(b"s", b"0"))
        return show_number(raw, code, from_1904=self.from_1904)

    def _compute(self, wanted: _CellKey) -> Value | _NotComputed:
        """The value of a formula: those that it refers to are computed first, one after the other."""
        wanted = (wanted[0].casefold(), wanted[1])
        in_progress: set[_CellKey] = set()
        pending = [wanted]
        while pending:
            place = pending[-1]
            if place in self._values:
                pending.pop()
                continue
            formula = self.grid(place[0]).formulas[place[1]]
            if place not in in_progress:
                in_progress.add(place)
                precedents = self._precedents(place, formula)
                if precedents is None or any(other in in_progress for other in precedents):  # or it refers to itself
                    self._values[place] = _NOT_COMPUTED
                    pending.pop()
                else:
                    pending += precedents
                    self.visits_left = -1 if len(pending) > _MOST_WAITING else self.visits_left
                continue
            self._values[place] = self._evaluated(place[0], formula)
            in_progress.discard(place)
            pending.pop()
        return self._values[wanted]

    def _precedents(self, place: _CellKey, formula: CellFormula) -> list[_CellKey] | None:
        """The places of formulas that a formula refers to and that are not computed yet; None if it is not computed."""
        tree = parse(formula.text) if formula.text is not None else None
        if tree is None or limits.is_near():
            return None
        context = FormulaContext(self, place[0], formula)
        precedents: dict[_CellKey, None] = {}
        try:
            for area in context.areas(tree):
                sheet = (area.sheet or place[0]).casefold()
                formulas = self.grid(sheet).formulas
                if not formulas:
                    continue
                for key in self.grid(sheet).keys(area):
                    self.visit()
                    if key in formulas and (sheet, key) not in self._values:
                        precedents[sheet, key] = None
        except NotUnderstoodError:
            return None
        return list(precedents)

    def visit(self) -> None:
        """Count a cell that is looked at.

        Raises:
            NotUnderstoodError: there were too many.
        """
        self.visits_left -= 1
        if self.visits_left < 0:
            raise NotUnderstoodError

    def _evaluated(self, sheet: str, formula: CellFormula) -> Value | _NotComputed:
        tree = parse(formula.text or "")
        try:
            return evaluate(tree, FormulaContext(self, sheet, formula)) if tree is not None else _NOT_COMPUTED
        except (NotUnderstoodError, RecursionError):
            return _NOT_COMPUTED


class FormulaContext:
    """The cells of a workbook as a formula on `sheet` refers to them."""

    def __init__(self, workbook: MissingValues, sheet: str, formula: CellFormula) -> None:
        self._workbook = workbook
        self._sheet = sheet
        self._formula = formula
        self.from_1904 = workbook.from_1904

    def area(self, area: Area) -> Iterator[Value]:
        """The values of its cells row by row; of a large area only those with anything in them, in any order.

        Raises:
            NotUnderstoodError: they cannot be had.
        """
        area = area.moved(self._formula.rows, self._formula.columns)
        sheet = area.sheet or self._sheet
        for key in self._workbook.grid(sheet).keys(area):
            self._workbook.visit()
            yield self._workbook.value(sheet, key)

    def named(self, name: str) -> Node:
        """What a defined name stands for.

        Raises:
            NotUnderstoodError: that is unknown, or not understood.
        """
        return self._workbook.named(name)

    def areas(self, tree: Node) -> Iterator[Area]:
        """The areas that a formula refers to, where they are now.

        Raises:
            NotUnderstoodError: a name is not understood.
        """
        pending = [tree]
        names: set[str] = set()
        while pending:
            node = pending.pop()
            match node:
                case Area():
                    yield node.moved(self._formula.rows, self._formula.columns)
                case Named(name) if name not in names:
                    names.add(name)
                    pending.append(self.named(name))
                case OperatorCall(_, left, right):
                    pending += left, right
                case FunctionCall(_, arguments):
                    pending += arguments
                case _:
                    pass


def _stored_form(text: str) -> bytes:
    """A text as it would stand in a cell."""
    return escaped(text).replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _sheet_names(sheets: Iterable[str]) -> str:
    """The names of sheets in a sentence."""
    names = [f"“{name[:100]}”" for name in sheets]
    more = len(names) - _MOST_NAMED
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"the sheet {named}" if len(names) == 1 else f"the sheets {named}"
