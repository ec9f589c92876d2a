"""A figure in the form in which reports, commands and other programs get it."""

from decimal import Decimal
from typing import Any

from tasks.figures.conflicts import FigureConflict, RoomFigure
from tasks.figures.derived import FigureValue
from tasks.figures.figure import Figure


def decimal_text(value: Decimal) -> str:
    """A value as plain decimal text: "9400000", "22", "0.5"; never with an exponent."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def figure_row(figure: Figure, document_id: str | None, document_name: str, basis: str) -> dict[str, str | None]:
    """A figure as a mapping: concept, value, unit, period, entity, settled basis, place and document."""
    return {
        "concept": figure.concept,
        "label": figure.label,
        "value": decimal_text(figure.value),
        "unit": figure.unit,
        "period": figure.period,
        "entity": figure.entity,
        "basis": basis,
        "document_id": document_id,
        "document_name": document_name,
        "place": figure.place,
    }


def room_row(row: RoomFigure) -> dict[str, str | None]:
    """The mapping of a figure of a room."""
    return figure_row(row.figure, row.document_id, row.document_name, row.basis)


def conflict_row(conflict: FigureConflict) -> dict[str, Any]:
    """The mapping of a conflict: the figure that counts, the others, and the rule that decided."""
    return {
        "concept": conflict.concept,
        "period": conflict.period,
        "counted": room_row(conflict.counted),
        "others": [room_row(other) for other in conflict.others],
        "rule": conflict.rule,
    }


def make_derived_row(derived: FigureValue) -> dict[str, Any]:
    """The mapping of a derived figure: what it is, how it is computed, and from which figures."""
    return {
        "name": derived.name,
        "value": decimal_text(derived.value),
        "unit": derived.unit,
        "period": derived.period,
        "formula": derived.formula,
        "inputs": [room_row(row) for row in derived.inputs],
    }
