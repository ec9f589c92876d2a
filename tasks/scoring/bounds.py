"""The schema of an answer, bounded by what it is given: no more sources, quotations and scores than there can be.

A small model fills every list that its schema leaves open: asked for six quotations of one sentence, it gives six. A
server that holds to a schema by grammar keeps it from that, and the answer comes to its reason and its score. Of a slow
server a brief answer is asked for, whose texts and lists are short.
"""

from collections.abc import Sequence
from functools import cache
from math import floor
from typing import Any, ClassVar, Final, NamedTuple, TypeVar, cast

from pydantic import BaseModel, create_model

from tasks.ai.answerer import Source

_FEW: Final = 3
"""Sources up to which each number has its own schema: some servers take seconds for each new one."""
_QUOTES: Final = ((300, 2), (800, 4))
"""Characters of all sources, and how many quotations of so few there can be; of more as many as the schema says."""
_MOST_SCORES: Final = 42
"""Scores of a scale that are listed: those of a scale of 0 to 20 in half points."""
_SHORT: Final = 4.0
"""Points of a scale up to which its tenths are listed: in half points a scale from 0 to 1 would have three scores."""

_BRIEF: Final = {
    "quotes": ("maxItems", 2),
    "contradictions": ("maxItems", 0),
    "text": ("maxLength", 150),
    "reason": ("maxLength", 240),
}
"""The bounds of a brief answer: each list and text with the keyword for its most, in items or characters."""
_SHARES: Final = [tenths / 10 for tenths in range(11)]


class Bounds(NamedTuple):
    """What an answer can have: sources and quotations (None: as the schema says), and scores on a scale.

    `is_brief`: a slow server is asked.
    """

    sources: int | None
    quotes: int | None
    scale: tuple[float, float] | None
    is_brief: bool = False


class Bounded(BaseModel):
    """An answer about numbered sources, whose schema can be bounded by its input."""

    bounds: ClassVar[Bounds | None] = None

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """The schema within the bounds."""
        schema = super().model_json_schema(*args, **options)
        return cast("dict[str, Any]", _narrow(schema, cls.bounds)) if cls.bounds else schema


B = TypeVar("B", bound=Bounded)


def bound(
    schema: type[B], sources: Sequence[Source], scale: tuple[float, float] | None = None, *, is_brief: bool = False
) -> type[B]:
    """The schema for an answer about these sources, with a score on that scale, if any; short where `is_brief`.

    What a server answers that does not hold to it is taken as it is without the bounds.
    """
    size = sum(len(source.text) for source in sources)
    quotes = next((most for characters, most in _QUOTES if size <= characters), None)
    return _bound(schema, Bounds(len(sources) if len(sources) <= _FEW else None, quotes, scale, is_brief))


@cache
def _bound(schema: type[B], bounds: Bounds) -> type[B]:
    bounded = create_model(schema.__name__, __base__=schema, __doc__=schema.__doc__)
    bounded.bounds = bounds
    return bounded


def _narrow(part: Any, bounds: Bounds, name: str = "") -> Any:
    if isinstance(part, list):
        return [_narrow(each, bounds, name) for each in part]
    if not isinstance(part, dict):
        return part
    narrowed = {key: _narrow(each, bounds, key) for key, each in part.items()}
    if bounds.is_brief and name in _BRIEF:
        most, value = _BRIEF[name]
        narrowed[most] = min(narrowed[most], value)
    match name:
        case "source" if bounds.sources:
            narrowed["maximum"] = bounds.sources
        case "contradictions" if bounds.sources:
            narrowed["maxItems"] = min(narrowed["maxItems"], bounds.sources - 1)
        case "quotes" if bounds.quotes:
            narrowed["maxItems"] = min(narrowed["maxItems"], bounds.quotes)
        case "score" if bounds.scale and (steps := _list_scores(*bounds.scale)):
            narrowed["anyOf"] = [{"type": "number", "enum": steps}, {"type": "null"}]
        case "confidence":
            narrowed["anyOf"] = [{"type": "number", "enum": _SHARES}, {"type": "null"}]
    return narrowed


def _list_scores(low: float, high: float) -> list[float | int]:
    """The scores of a scale in half points, for a short scale in tenths, both ends included; empty if
    there are too many.
    """
    parts = 10 if high - low <= _SHORT else 2
    count = floor(round((high - low) * parts, 6)) + 1
    if count >= _MOST_SCORES:
        return []
    scores = dict.fromkeys([*(round(low + step / parts, 6) for step in range(count)), high])
    return [int(score) if score.is_integer() else score for score in scores]
