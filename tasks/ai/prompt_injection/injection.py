"""What a prompt injection is, and the version of the patterns that find it."""

from dataclasses import dataclass
from typing import Final

VERSION: Final = "orders-4"


@dataclass(frozen=True)
class Injection:
    """The span of a prompt injection, in characters: the clauses that give orders to a model.

    What is told beside them, in the same sentence or the next, is no part of it: a seller may have put it there.
    """

    start: int
    end: int
