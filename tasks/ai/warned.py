"""Leaves out of the sources what addresses the model, and says where it stood.

What is never shown to a model cannot be obeyed by it. The question is the user's own and stays as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from tasks.ai.answerer import Source
from tasks.ai.orders import without_orders

_NAMED = 5  # places that a warning names


def without_addressing(sources: Sequence[Source]) -> tuple[list[Source], tuple[str, ...]]:
    """The sources without the passages that give a model orders, and a warning that names their places, if any."""
    kept, places = [], list[str]()
    for source in sources:
        text, orders = without_orders(source.text)
        kept.append(replace(source, text=text) if orders else source)
        line = end = 0
        for order in orders:
            line += source.text.count("\n", end, order.start)
            end = order.start
            places.append(", ".join(filter(None, (source.name, source.place, f"line {line + 1}"))))
    return kept, (_warning(list(dict.fromkeys(places))),) if places else ()


def _warning(places: Sequence[str]) -> str:
    named = "; ".join(places[:_NAMED])
    more = f"; and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"Warning: words that address an AI instead of telling something were left out ({named}{more})."
