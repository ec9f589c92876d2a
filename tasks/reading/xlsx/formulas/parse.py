"""Formulas of cells as trees: numbers, texts, references, operators and calls (ECMA-376, part 1, 18.17).

What is seldom used is not understood: intersections and unions, whole rows, references over several sheets or into
other workbooks, columns of tables, constant arrays.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

LONGEST: Final = 8192
"""Characters of a formula, as Excel has it."""

_DEEPEST: Final = 64
"""Calls and brackets within each other, as Excel has it."""

_MOST_OPERATORS: Final = 300
"""Each may stand within the one before, and takes a call of a function when the tree is walked."""

_LAST_ROW: Final = 1 << 20
_LAST_COLUMN: Final = 1 << 14
_SHEET: Final = r"""(?:(?:'(?P<quoted>(?:[^']|'')++)'|(?P<sheet>[^\W\d][\w.]*+))!)?"""
_TOKEN: Final = re.compile(
    r"""\s*+(?:
      (?P<number>(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w:!])
    | "(?P<text>(?:[^"]|"")*+)"
    | (?P<error>\#(?:REF!|DIV/0!|VALUE!|NAME\?|NUM!|N/A|NULL!))
    | """ + _SHEET + r"""(?:
          (?P<reference>\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6})(?![\w.(!\[])
        | (?P<columns>\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3})(?![\w.(!\[])
        | (?P<call>[A-Za-z_][\w.]*+)\(
        | (?P<name>[A-Za-z_\\][\w.\\]*+)(?![(!\[])
      )
    | (?P<sign><=|>=|<>|[-+*/^&=<>%(),:])
    | (?P<end>$)
    )""",
    re.VERBOSE,
)  # fmt: skip
_CORNER: Final = re.compile(r"(\$?)([A-Za-z]{1,3})(?:(\$?)(\d+))?")
_TEXTS: Final = re.compile(r'("(?:[^"]|"")*+"|(?<!\')\'(?:[^\']|\'\')++\'!)')
_MOVABLE: Final = re.compile(r"(?<![\w.$\\])(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})(?![\w.(!\[])")
_FUTURE: Final = re.compile(r"_xl(?:fn|ws|pm)\.")
_BINDING: Final = {
    "=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5,
}  # fmt: skip


class NotUnderstoodError(Exception):
    """The formula holds something that is not computed."""


class Number(NamedTuple):
    """A number."""

    value: float


class TextLiteral(NamedTuple):
    """A text."""

    value: str


class ErrorNode(NamedTuple):
    """An error such as #N/A."""

    value: str


class Missing(NamedTuple):
    """An argument that is left out."""


class Corner(NamedTuple):
    """A column and a row, from 1, and whether each stays when the formula is copied."""

    column: int
    row: int
    fixed_column: bool
    fixed_row: bool

    def moved(self, rows: int, columns: int) -> "Corner":
        """Where it is when the formula is copied so many rows and columns further.

        Raises:
            NotUnderstoodError: that is not on the sheet.
        """
        column = self.column + (0 if self.fixed_column else columns)
        row = self.row + (0 if self.fixed_row else rows)
        if not (0 < column <= _LAST_COLUMN and 0 < row <= _LAST_ROW):
            raise NotUnderstoodError
        return Corner(column, row, self.fixed_column, self.fixed_row)


class Area(NamedTuple):
    """The cells from one corner to another; `sheet` is "" for the formula's own."""

    sheet: str
    first: Corner
    last: Corner
    single: bool

    @property
    def height(self) -> int:
        """How many rows it has."""
        return self.last.row - self.first.row + 1

    @property
    def width(self) -> int:
        """How many columns it has."""
        return self.last.column - self.first.column + 1

    def moved(self, rows: int, columns: int) -> "Area":
        """The area that the formula means when it is copied so many rows and columns further.

        Raises:
            NotUnderstoodError: that is not on the sheet.
        """
        first, last = self.first.moved(rows, columns), self.last.moved(rows, columns)
        if first.column > last.column or first.row > last.row:
            first, last = (
                Corner(min(first.column, last.column), min(first.row, last.row), False, False),
                Corner(max(first.column, last.column), max(first.row, last.row), False, False),
            )
        return Area(self.sheet, first, last, self.single)


class Named(NamedTuple):
    """A defined name."""

    name: str


class OperatorCall(NamedTuple):
    """An operator; those with one operand are "negative", "positive" and "percent", and it is the left one."""

    sign: str
    left: "Node"
    right: "Node"


class FunctionCall(NamedTuple):
    """A function, its name in upper case, with its arguments."""

    name: str
    arguments: tuple["Node", ...]


Node = Number | TextLiteral | ErrorNode | Missing | Area | Named | OperatorCall | FunctionCall


@lru_cache(maxsize=8192)
def parse(formula: str) -> Node | None:
    """The tree of a formula without its `=`; None where it is not understood."""
    try:
        return _Parser(formula).whole() if len(formula) <= LONGEST else None
    except NotUnderstoodError:
        return None


def moved(formula: str, rows: int, columns: int) -> str:
    """The formula as it reads so many rows and columns further, as Excel writes it into cells that share one."""
    if not rows and not columns:
        return formula
    pieces = _TEXTS.split(formula)
    pieces[::2] = [_MOVABLE.sub(lambda match: _moved(match, rows, columns), piece) for piece in pieces[::2]]
    return "".join(pieces)


def shown(formula: str) -> str:
    """The formula as Excel shows it: without the marks of functions that are newer than the file format."""
    return "=" + _FUTURE.sub("", formula)


@lru_cache(maxsize=1024)
def letters_of(column: int) -> str:
    """The name of a column: AB for 28."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_of(letters: str) -> int:
    """The number of a column: 28 for AB."""
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - 64
    return column


def _moved(match: re.Match[str], rows: int, columns: int) -> str:
    column = column_of(match[2]) + (0 if match[1] else columns)
    row = int(match[4]) + (0 if match[3] else rows)
    if not (0 < column <= _LAST_COLUMN and 0 < row <= _LAST_ROW):
        return "#REF!"
    return f"{match[1]}{letters_of(column)}{match[3]}{row}"


class _Parser:
    """Parses by the strength of operators."""

    def __init__(self, formula: str) -> None:
        self._formula = formula
        self._depth = self._operators = 0
        self._next()

    def whole(self) -> Node:
        tree = self._expression(0)
        self._take("end", "")
        return tree

    def _next(self, at: int = 0) -> None:
        token = _TOKEN.match(self._formula, at)
        if token is None:
            raise NotUnderstoodError
        self._token = token
        self._kind = token.lastgroup or ""

    def _advance(self) -> re.Match[str]:
        token = self._token
        self._next(token.end())
        return token

    def _is(self, sign: str) -> bool:
        return self._kind == "sign" and self._token["sign"] == sign

    def _take(self, kind: str, sign: str) -> None:
        if self._kind != kind or (sign and self._token["sign"] != sign):
            raise NotUnderstoodError
        if kind != "end":
            self._advance()

    def _expression(self, binding: int) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstoodError
        left = self._operand()
        while self._kind == "sign" and _BINDING.get(sign := self._token["sign"], 0) > binding:
            self._advance()
            self._count()
            left = OperatorCall(sign, left, self._expression(_BINDING[sign]))
        self._depth -= 1
        return left

    def _count(self) -> None:
        self._operators += 1
        if self._operators > _MOST_OPERATORS:
            raise NotUnderstoodError

    def _operand(self) -> Node:
        signs: list[str] = []
        while self._is("-") or self._is("+"):
            signs.append(self._advance()["sign"])
            self._count()
        node = self._plain_operand()
        for sign in reversed(signs):  # which bind closer than powers, in Excel
            node = OperatorCall("negative" if sign == "-" else "positive", node, Missing())
        while self._is("%"):
            self._advance()
            self._count()
            node = OperatorCall("percent", node, Missing())
        return node

    def _plain_operand(self) -> Node:
        if self._is("("):
            self._advance()
            node = self._expression(0)
            self._take("sign", ")")
            return node
        make = _OPERANDS.get(self._kind)
        if make is not None:
            return make(self._advance())
        if self._kind == "reference":
            return self._area()
        if self._kind == "call":
            return self._call()
        raise NotUnderstoodError

    def _area(self) -> Node:
        token = self._advance()
        first = last = _corner(token["reference"])
        if single := not self._is(":"):
            return Area(_sheet(token), first, last, single)
        self._advance()
        if self._kind != "reference" or _sheet(self._token):
            raise NotUnderstoodError
        last = _corner(self._advance()["reference"])
        return Area(_sheet(token), first, last, single=False)

    def _call(self) -> Node:
        token = self._advance()
        if _sheet(token):
            raise NotUnderstoodError
        name = _FUTURE.sub("", token["call"]).upper()
        arguments: list[Node] = []
        if not self._is(")"):
            arguments.append(self._argument())
            while self._is(","):
                self._advance()
                arguments.append(self._argument())
        self._take("sign", ")")
        return FunctionCall(name, tuple(arguments))

    def _argument(self) -> Node:
        return Missing() if self._is(",") or self._is(")") else self._expression(0)


def _sheet(token: re.Match[str]) -> str:
    return token["sheet"] or (token["quoted"] or "").replace("''", "'")


def _corner(reference: str, row: int = 1) -> Corner:
    match = _CORNER.fullmatch(reference)
    if match is None:
        raise NotUnderstoodError
    corner = Corner(column_of(match[2]), int(match[4] or row), bool(match[1]), bool(match[3]) or match[4] is None)
    if corner.column > _LAST_COLUMN or corner.row > _LAST_ROW:
        raise NotUnderstoodError
    return corner


def _columns(token: re.Match[str]) -> Node:
    first, _, last = token["columns"].partition(":")
    return Area(_sheet(token), _corner(first, 1), _corner(last, _LAST_ROW), single=False)


def _name(token: re.Match[str]) -> Node:
    if _sheet(token):
        raise NotUnderstoodError
    name = token["name"]
    return FunctionCall(name.upper(), ()) if name.upper() in ("TRUE", "FALSE") else Named(name.lower())


_OPERANDS: Final[dict[str, Callable[[re.Match[str]], Node]]] = {
    "number": lambda token: Number(float(token["number"])),
    "text": lambda token: TextLiteral(token["text"].replace('""', '"')),
    "error": lambda token: ErrorNode(token["error"]),
    "columns": _columns,
    "name": _name,
}
