"""What operators and functions of formulas make of numbers, by Excel's rules."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Final

from tasks.reading.xlsx.formulas.parse import NotUnderstoodError


class CellError(str):
    """An error as a value: #DIV/0!."""

    __slots__ = ()


Value = float | str | bool | CellError | None
"""What a cell holds; None where it is empty."""

DIVISION: Final = CellError("#DIV/0!")
NOT_A_NUMBER: Final = CellError("#NUM!")
_NOISE: Final = 2.0**-50
"""Excel shows a difference as 0 that is so small beside its operands."""

_EPOCH: Final = dt.date(1899, 12, 30)
_FIRST_SERIAL: Final = 61
"""1 March 1900: before it Excel counts a day that there was not."""

_LAST_SERIAL: Final = 2_958_465


class RaisedError(Exception):
    """An error in a cell, on its way through the formula."""

    def __init__(self, error: CellError) -> None:
        super().__init__(error)
        self.error = error


def _minus(one: float, other: float) -> float:
    difference = one - other
    return 0.0 if abs(difference) < max(abs(one), abs(other)) * _NOISE else difference


def _by(one: float, other: float) -> float:
    if not other:
        raise RaisedError(DIVISION)
    return one / other


def _power(one: float, other: float) -> float:
    if not one and other <= 0:
        raise RaisedError(DIVISION if other else NOT_A_NUMBER)
    power = one**other
    if isinstance(power, complex):
        raise RaisedError(NOT_A_NUMBER)
    return float(power)


def _rounded(mode: str) -> Callable[..., float]:
    def rounded(number: float, digits: float = 0) -> float:
        if not -300 < digits < 300:
            raise NotUnderstoodError
        exact = Decimal(f"{number:.15g}")
        unit = Decimal(1).scaleb(-int(digits))
        return float(exact.quantize(unit, rounding=mode)) if unit.adjusted() > exact.adjusted() - 27 else number

    return rounded


def _modulo(number: float, divisor: float) -> Value:
    return number - divisor * math.floor(number / divisor) if divisor else DIVISION


def _root(number: float) -> Value:
    return math.sqrt(number) if number >= 0 else NOT_A_NUMBER


def _day(serial: float) -> dt.date:
    if not _FIRST_SERIAL <= serial <= _LAST_SERIAL:
        raise NotUnderstoodError
    return _EPOCH + dt.timedelta(days=math.floor(serial))


def _serial(year: int, month: int, day: int) -> float:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if not 1901 <= year <= 9999:
        raise NotUnderstoodError
    return float((dt.date(year, month, 1) - _EPOCH).days + day - 1)


def _months_on(serial: float, months: float) -> float:
    start = _day(serial)
    first = _serial(start.year, start.month + int(months), 1)
    return min(first + start.day - 1, _serial(start.year, start.month + int(months) + 1, 1) - 1)


def _end_of_month(serial: float, months: float) -> float:
    start = _day(serial)
    return _serial(start.year, start.month + int(months) + 1, 1) - 1


def _average(numbers: list[float]) -> Value:
    return math.fsum(numbers) / len(numbers) if numbers else DIVISION


def _median(numbers: list[float]) -> Value:
    numbers.sort()
    middle = len(numbers) // 2
    if not numbers:
        return NOT_A_NUMBER
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": lambda one, other: one == other,
    "<>": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
    "<=": lambda one, other: one <= other,
    ">=": lambda one, other: one >= other,
}
ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": lambda one, other: _minus(one, -other),
    "-": _minus,
    "*": lambda one, other: one * other,
    "/": _by,
    "^": _power,
}
OF_MANY: Final[dict[str, Callable[[list[float]], Value]]] = {
    "SUM": math.fsum,
    "AVERAGE": _average,
    "MIN": lambda numbers: min(numbers, default=0.0),
    "MAX": lambda numbers: max(numbers, default=0.0),
    "MEDIAN": _median,
    "PRODUCT": lambda numbers: math.prod(numbers) if numbers else 0.0,
}
OF_NUMBERS: Final[dict[str, tuple[int, int, Callable[..., Value]]]] = {
    "PI": (0, 0, lambda: math.pi),
    "ABS": (1, 1, abs),
    "INT": (1, 1, lambda number: float(math.floor(number))),
    "SIGN": (1, 1, lambda number: float((number > 0) - (number < 0))),
    "SQRT": (1, 1, _root),
    "EXP": (1, 1, math.exp),
    "MOD": (2, 2, _modulo),
    "POWER": (2, 2, _power),
    "ROUND": (2, 2, _rounded(ROUND_HALF_UP)),
    "ROUNDUP": (2, 2, _rounded(ROUND_UP)),
    "ROUNDDOWN": (2, 2, _rounded(ROUND_DOWN)),
    "TRUNC": (1, 2, _rounded(ROUND_DOWN)),
    "DATE": (3, 3, lambda year, month, day: _serial(int(year), int(month), int(day))),
    "YEAR": (1, 1, lambda serial: float(_day(serial).year)),
    "MONTH": (1, 1, lambda serial: float(_day(serial).month)),
    "DAY": (1, 1, lambda serial: float(_day(serial).day)),
    "EDATE": (2, 2, _months_on),
    "EOMONTH": (2, 2, _end_of_month),
}
OF_DATES: Final = frozenset(("DATE", "YEAR", "MONTH", "DAY", "EDATE", "EOMONTH"))
