"""Prompt injection: words in a document or page that address a model, such as orders to ignore, score or reveal
something.
"""

from dataclasses import dataclass
from typing import Final

VERSION: Final = "orders-5"
"""Of the patterns."""


@dataclass(frozen=True)
class Injection:
    """The span of a prompt injection, in characters: the clauses that give orders to a model.

    Facts in the same sentence or the next are not part of it: a seller may have put the order there to hide them.
    """

    start: int
    end: int


def find_orders(text: str) -> list[Injection]:
    """The prompt injections in a text, in order; no two of them touch."""
    # 0.2 s of processor time for the patterns, which most commands never need.
    from tasks.ai.prompt_injection import detect  # noqa: PLC0415

    return detect.find_orders(text)


def without_injections(text: str) -> tuple[str, list[Injection]]:
    """The text with each injection replaced by `[…]`, and the injections."""
    from tasks.ai.prompt_injection import detect  # noqa: PLC0415 - see `find_orders`

    return detect.without_injections(text)
