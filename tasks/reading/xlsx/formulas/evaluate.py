"""What the trees of formulas come to, by Excel's rules, where these are simple and certain.

A formula that needs anything else (lookups, today's date, texts as numbers) is not computed rather than nearly so.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from tasks.reading.xlsx.formulas.functions import (
    ARITHMETIC,
    COMPARISONS,
    NOT_A_NUMBER,
    OF_DATES,
    OF_MANY,
    OF_NUMBERS,
    CellError,
    RaisedError,
    Value,
)
from tasks.reading.xlsx.formulas.parse import (
    Area,
    ErrorNode,
    FunctionCall,
    Missing,
    Named,
    Node,
    NotUnderstoodError,
    Number,
    OperatorCall,
    TextLiteral,
)


class Cells(Protocol):
    """Where the values of cells come from."""

    def area(self, area: Area) -> Iterable[Value]:
        """The values of its cells row by row; of a large area only those with anything in them, in any order.

        Raises:
            NotUnderstoodError: they cannot be had.
        """
        ...

    def named(self, name: str) -> Node:
        """What a defined name stands for.

        Raises:
            NotUnderstoodError: that is unknown.
        """
        ...

    @property
    def from_1904(self) -> bool:
        """Whether days are counted from 1904."""
        ...


def evaluate(node: Node, cells: Cells) -> Value:
    """What the formula comes to in its cell.

    Raises:
        NotUnderstoodError: it holds something that is not computed.
    """
    try:
        value = _Evaluation(cells).value_or_error(node)
    except (OverflowError, ValueError):
        return NOT_A_NUMBER
    if isinstance(value, float) and not math.isfinite(value):
        return NOT_A_NUMBER
    return 0.0 if value is None else value


_PLAIN_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_PATTERN: Final = re.compile(r"[*?~]|^[\d.,%/:-]+$|^(?:true|false)$", re.IGNORECASE)
"""What a condition may not be to be certain: a pattern, or what may be a date or a number in some language."""


class _Evaluation:
    """One formula's way to its value."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._names_followed = 0

    def value_or_error(self, node: Node) -> Value:
        """The value of a part of the formula; an error in it is the value."""
        try:
            return self._evaluate(node)
        except RaisedError as raised:
            return raised.error

    def _evaluate(self, node: Node) -> Value:
        match node:
            case Number(number):
                return number
            case TextLiteral(text):
                return text
            case ErrorNode(error):
                raise RaisedError(CellError(error))
            case Area():
                return self._single_cell(node)
            case Named(name):
                return self._evaluate(self._defined(name))
            case OperatorCall(sign, left, right):
                return self._operation(sign, left, right)
            case FunctionCall(name, arguments):
                return self._call(name, arguments)
        return None

    def _single_cell(self, area: Area) -> Value:
        if not area.single:
            raise NotUnderstoodError
        value = next(iter(self._cells.area(area)), None)
        if isinstance(value, CellError):
            raise RaisedError(value)
        return value

    def _defined(self, name: str) -> Node:
        self._names_followed += 1
        if self._names_followed > 100:
            raise NotUnderstoodError
        return self._cells.named(name)

    def number(self, node: Node) -> float:
        """A part of the formula as a number; blank is 0."""
        value = self._evaluate(node)
        if value is None:
            return 0.0
        if isinstance(value, str):
            raise NotUnderstoodError  # "5" + 1 is 6 in Excel, and what a number looks like depends on its language
        return float(value)

    def numbers(self, nodes: Iterable[Node]) -> Iterator[float]:
        """The numbers of arguments and of the cells that they refer to, whose texts, truths and blanks do not count."""
        for node in nodes:
            area = self._as_area(node)
            if area is None:
                if not isinstance(node, Missing):
                    yield self.number(node)
                continue
            for value in self._cells.area(area):
                if isinstance(value, CellError):
                    raise RaisedError(value)
                if isinstance(value, float):
                    yield value

    def cells(self, nodes: Iterable[Node]) -> Iterator[Value]:
        """The values of arguments and of the cells that they refer to."""
        for node in nodes:
            area = self._as_area(node)
            if area is None:
                yield self.value_or_error(node)
            else:
                yield from self._cells.area(area)

    def _as_area(self, node: Node) -> Area | None:
        while isinstance(node, Named):
            node = self._defined(node.name)
        return node if isinstance(node, Area) else None

    def truth(self, node: Node) -> bool:
        """A part of the formula as a condition."""
        return bool(self.number(node))

    def text(self, node: Node) -> str:
        """A part of the formula as text."""
        value = self._evaluate(node)
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, float):
            if not (value.is_integer() and abs(value) < 1e11):
                raise NotUnderstoodError
            return str(int(value))
        return value or ""

    def _operation(self, sign: str, left: Node, right: Node) -> Value:
        if sign in COMPARISONS:
            return self._comparison(sign, self._evaluate(left), self._evaluate(right))
        if sign == "&":
            return self.text(left) + self.text(right)
        if isinstance(right, Missing):
            number = self.number(left)
            return -number if sign == "negative" else number / 100 if sign == "percent" else number
        return ARITHMETIC[sign](self.number(left), self.number(right))

    @staticmethod
    def _comparison(sign: str, left: Value, right: Value) -> bool:
        if isinstance(left, str) or isinstance(right, str):
            if not all(value is None or isinstance(value, str) for value in (left, right)):
                if sign in ("=", "<>"):
                    return sign == "<>"  # a text equals no number
                raise NotUnderstoodError
            left_text, right_text = str(left or "").casefold(), str(right or "").casefold()
            if sign not in ("=", "<>"):
                raise NotUnderstoodError  # how texts are sorted depends on the language
            if left_text != right_text and left_text.split() == right_text.split():
                raise NotUnderstoodError  # white space of stored texts is not known
            return (left_text == right_text) is (sign == "=")
        if isinstance(left, bool) is not isinstance(right, bool) and left is not None and right is not None:
            raise NotUnderstoodError
        left_number, right_number = (float(f"{float(value or 0):.15g}") for value in (left, right))
        return COMPARISONS[sign](left_number, right_number)

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Value:
        match name, arguments:
            case "IF", (condition, *branches) if len(branches) in (1, 2):
                branch = branches[0] if self.truth(condition) else branches[1] if len(branches) > 1 else None
                return False if branch is None else self._evaluate(branch) if not isinstance(branch, Missing) else 0.0
            case (("IFERROR" | "IFNA"), (argument, fallback)):
                value = self.value_or_error(argument)
                is_replaced = isinstance(value, CellError) and (name == "IFERROR" or value == "#N/A")
                return self._evaluate(fallback) if is_replaced else self._raise_if_error(value)
            case "ISERROR", (argument,):
                return isinstance(self.value_or_error(argument), CellError)
            case "ISBLANK", (Area() as area,):
                return self._single_cell(area) is None
            case "ISNUMBER", (argument,):
                value = self.value_or_error(argument)
                return isinstance(value, float)
            case "COUNT", _ if all(self._as_area(node) is not None for node in arguments):
                return float(sum(isinstance(value, float) for value in self.cells(arguments)))
            case (("COUNTA" | "AVERAGE" | "MIN" | "MAX" | "MEDIAN" | "PRODUCT"), _) if any(
                isinstance(node, Missing) for node in arguments
            ):
                raise NotUnderstoodError  # an argument that is left out is a 0 for some of them, and counts
            case "COUNTA", _:
                return float(sum(value is not None for value in self.cells(arguments)))
            case "SUMPRODUCT", _:
                return self._sumproduct(arguments)
            case (("CONCATENATE" | "CONCAT"), _) if not any(self._is_range(node) for node in arguments):
                return "".join(map(self.text, arguments))
            case (("ROWS" | "COLUMNS"), (Area() as area,)):
                return float(area.height if name == "ROWS" else area.width)
            case (("SUMIF" | "AVERAGEIF" | "COUNTIF" | "SUMIFS" | "AVERAGEIFS" | "COUNTIFS"), _):
                return self._conditional_aggregate(name, arguments)
            case (("TRUE" | "FALSE"), ()):
                return name == "TRUE"
            case (("AND" | "OR"), (_, *_)) if not any(self._is_range(node) for node in arguments):
                conditions = [self.truth(node) for node in arguments]
                return all(conditions) if name == "AND" else any(conditions)
            case "NOT", (condition,):
                return not self.truth(condition)
        if name in OF_MANY and arguments:
            return OF_MANY[name](list(self.numbers(arguments)))
        least, most, function = OF_NUMBERS.get(name, (1, 0, None))
        if function is None or not least <= len(arguments) <= most:
            raise NotUnderstoodError
        if name in OF_DATES and self._cells.from_1904:
            raise NotUnderstoodError
        return self._raise_if_error(function(*map(self.number, arguments)))

    def _conditional_aggregate(self, name: str, arguments: tuple[Node, ...]) -> Value:
        """A sum, an average or a count of the cells beside those that meet conditions."""
        if name.endswith("S"):
            value_range = arguments[:1] if name != "COUNTIFS" else ()
            pairs = arguments[len(value_range) :]
        else:
            pairs, value_range = arguments[:2], arguments[2:] or arguments[:1]
        if len(pairs) < 2 or len(pairs) % 2:
            raise NotUnderstoodError
        ranges = [self._range_values(node) for node in (*pairs[::2], *value_range[:1])]
        if len({(area.height, area.width) for area, _ in ranges}) != 1:
            raise NotUnderstoodError
        criteria = [self._criterion(node) for node in pairs[1::2]]
        matching = [
            index
            for index, values in enumerate(zip(*(values for _, values in ranges[: len(criteria)]), strict=True))
            if all(test(value) for test, value in zip(criteria, values, strict=True))
        ]
        if name.startswith("COUNT"):
            return float(len(matching))
        aggregated = [self._raise_if_error(ranges[-1][1][index]) for index in matching]
        numbers = [value for value in aggregated if isinstance(value, float)]
        return OF_MANY["SUM" if name.startswith("SUM") else "AVERAGE"](numbers)

    def _range_values(self, node: Node) -> tuple[Area, list[Value]]:
        """The area that an argument is, and the values of all its cells."""
        area = self._as_area(node)
        if area is None:
            raise NotUnderstoodError
        values = list(self._cells.area(area))
        if len(values) != area.height * area.width:
            raise NotUnderstoodError
        return area, values

    def _criterion(self, node: Node) -> Callable[[Value], bool]:
        """What a condition such as ">=5" asks of a cell; a text is equal to itself, and no pattern."""
        operand = self._evaluate(node)
        sign = "="
        if isinstance(operand, str):
            sign = next((sign for sign in ("<=", ">=", "<>", "<", ">", "=") if operand.startswith(sign)), "")
            operand, sign = operand[len(sign) :], sign or "="
            if _PLAIN_NUMBER.fullmatch(operand):
                operand = float(operand)
            elif not operand or sign not in ("=", "<>") or _PATTERN.search(operand):
                raise NotUnderstoodError
        if isinstance(operand, float):
            number = operand
            return lambda value: COMPARISONS[sign](value, number) if isinstance(value, float) else sign == "<>"
        if not isinstance(operand, str):
            raise NotUnderstoodError
        text = operand.casefold()
        return lambda value: (isinstance(value, str) and value.casefold() == text) is (sign == "=")

    def _is_range(self, node: Node) -> bool:
        area = self._as_area(node)
        return area is not None and not area.single

    @staticmethod
    def _raise_if_error(value: Value) -> Value:
        if isinstance(value, CellError):
            raise RaisedError(value)
        return value

    def _sumproduct(self, arguments: tuple[Node, ...]) -> float:
        ranges = [self._range_values(node) for node in arguments]
        columns = [values for _, values in ranges]
        if len({(area.height, area.width) for area, _ in ranges}) != 1:
            raise NotUnderstoodError
        for value in (value for column in columns for value in column):
            if isinstance(value, str):
                raise NotUnderstoodError
        products = (math.prod(_number_or_zero(value) for value in row) for row in zip(*columns, strict=True))
        return math.fsum(products)


def _number_or_zero(value: Value) -> float:
    return value if isinstance(value, float) else 0.0
