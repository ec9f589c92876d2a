"""Values in base units: from a number's unit, scale and sign."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from tasks.figures.concepts import Concept
from tasks.figures.document import LedgerDocument
from tasks.figures.figure import UNKNOWN, WORDS, Findings
from tasks.language.locales import DOLLARS
from tasks.language.numbers import PERCENT, RATIO, Amount, Units, scale_name

NEVER_NEGATIVE: Final = frozenset({"revenue", "recurring_revenue", "total_assets", "cash"})
"""Concepts whose figure is a change or an adjustment where it is below zero."""
_WITH_DOLLAR_SIGN: Final = frozenset({"USD", *DOLLARS})
"""Currencies that a bare "$" may be of, under a header that says which."""

_THOUSAND: Final = 1000
_MOST_PERCENT: Final = 200
"""Up to here a number under "%" is a percentage, and above it money."""

_WRITTEN_OUT: Final = 100_000
_MOST_MONEY: Final = Decimal(10) ** 14
_THREE_DECIMALS: Final = Decimal("0.001")


def measure(
    document: LedgerDocument,
    findings: Findings,
    amount: Amount,
    allowed: frozenset[str],
    units: Units,
    row_units: Units,
) -> tuple[Decimal, Decimal, str, str] | None:
    """The value in base units with its step, unit and scale; None if the units do not suit the concept."""
    if amount.unit == PERCENT or (amount.unit is None and units.percent and "percent" in allowed):
        return (amount.value, amount.step, PERCENT, "") if "percent" in allowed else None
    if amount.unit == RATIO:
        return (amount.value, amount.step, RATIO, "") if "ratio" in allowed else None
    if "money" not in allowed:
        return _measure_count(amount, allowed, units, row_units)
    if units == Units(percent=True) and amount.unit is None and abs(amount.value) <= _MOST_PERCENT:
        return None
    currency = _find_currency(document, findings, amount, units)
    if currency is None:
        return None
    multiplier = _find_multiplier(document, amount, units)
    if multiplier is None:
        findings.leave_out("no scale")
        return None
    if multiplier == _THOUSAND and amount.step == _THREE_DECIMALS and not document.stores_numbers:
        amount = replace(amount, value=amount.value * _THOUSAND, step=Decimal(1))  # "1.234" in thousands
    value = amount.value * multiplier
    if abs(value) > _MOST_MONEY:
        findings.leave_out("units that contradict")
        return None
    if value == value.to_integral_value():
        value = Decimal(int(value))
    return value, amount.step * multiplier, document.dollar(currency), amount.scale or scale_name(multiplier)


def _measure_count(
    amount: Amount, allowed: frozenset[str], units: Units, row_units: Units
) -> tuple[Decimal, Decimal, str, str] | None:
    """The value of a count, or of a share stored as a fraction of one without a percent format."""
    if "percent" in allowed and "count" not in allowed:
        is_part = not units.percent and amount.unit is None and 0 < abs(amount.value) < 1
        return (amount.value * 100, amount.step * 100, PERCENT, "") if is_part else None
    multiplier = row_units.multiplier or 1
    value = amount.value * multiplier
    is_whole = value == value.to_integral_value() or "count" not in allowed
    if units.percent or amount.unit is not None or amount.value < 0 or not is_whole:
        return None
    unit = "count" if "count" in allowed else next(iter(allowed))
    return value, amount.step * multiplier, unit, amount.scale or scale_name(multiplier)


def _find_currency(document: LedgerDocument, findings: Findings, amount: Amount, units: Units) -> str | None:
    """The currency of an amount as written, in the header or stated; None if two contradict, or if it may be one of
    several.
    """
    written, header = (document.dollar("kr") if of == "kr" else of for of in (amount.unit, units.currency))
    of_dollars = written == "USD" and header in _WITH_DOLLAR_SIGN
    currency = (None if of_dollars else written) or header or document.currency
    if currency is None and document.currencies:
        findings.leave_out("no currency")
        return None
    currencies = {written, header} - {None}
    if len(currencies) > 1 and not currencies <= _WITH_DOLLAR_SIGN:
        findings.leave_out("units that contradict")
        return None
    return currency or UNKNOWN


def _find_multiplier(document: LedgerDocument, amount: Amount, units: Units) -> int | None:
    """The scale of an amount that has none itself; None if it is too small to be written out in full."""
    if amount.scale:
        return 1
    multiplier = units.multiplier or document.general_multiplier or amount.shown_in
    exact = amount.step < 1 and amount.value == amount.value.to_integral_value() and amount.unit
    if multiplier > 1 and exact and abs(amount.value) >= _WRITTEN_OUT:
        multiplier = 1  # "18,600,000.00 €" under "EUR thousand" is written out
    if multiplier > 1 or units.multiplier is not None or not amount.value:
        return multiplier
    usual = document.usual_multiplier
    in_scale = usual > 1 and abs(amount.value) < _THOUSAND * usual
    return None if in_scale or (abs(amount.value) < _THOUSAND and (amount.step < 1 or not amount.unit)) else 1


def sign_value(concept: Concept, value: Decimal, words: str, *, is_loss: bool) -> Decimal:
    """A value with the sign of its concept: outflows are positive; what words call a loss or a use is negative."""
    if concept.sign == "positive":
        return abs(value)
    is_below = concept.sign == "loss" and is_loss
    is_used = (  # of cash that was used, and none that came in
        concept.id == "operating_cash_flow" and WORDS.sign_used.search(words) and not WORDS.sign_provided.search(words)
    )
    return -value if value > 0 and (is_below or is_used) else value


def is_loss(words: str) -> bool:
    """Whether a label mentions a loss and no gain."""
    return WORDS.sign_loss.search(words) is not None and WORDS.gain.search(words) is None
