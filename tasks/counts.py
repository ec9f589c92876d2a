"""Counters of this process for `/metrics`: cache hits and misses, model calls, tokens and cost.

They are kept here without a library, because every command would wait for its import (75 ms). They contain no names of
companies or documents.
"""

from collections import Counter
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final, Literal

Cache = Literal["texts in memory", "texts", "answers", "sources"]


@dataclass(frozen=True)
class ModelUse:
    """Model calls, their tokens, and the cost in USD of the calls whose price is known."""

    calls: int = 0
    calls_without_price: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


_lock: Final = Lock()
_lookups: Final[Counter[tuple[Cache, bool]]] = Counter()
_model_use: Final = [ModelUse()]


def count_lookup(cache: Cache, *, hit: bool) -> None:
    """Count a lookup in a cache; `hit` says whether the entry was there."""
    with _lock:
        _lookups[cache, hit] += 1


def count_model_use(calls: int, input_tokens: int, output_tokens: int, usd: float | None) -> None:
    """Count model calls; `usd` is None if the price is not known."""
    with _lock:
        use = _model_use[0]
        _model_use[0] = replace(
            use,
            calls=use.calls + calls,
            calls_without_price=use.calls_without_price + (calls if usd is None else 0),
            input_tokens=use.input_tokens + input_tokens,
            output_tokens=use.output_tokens + output_tokens,
            usd=use.usd + (usd or 0.0),
        )


def lookups() -> dict[tuple[Cache, bool], int]:
    """The number of lookups by cache and success."""
    with _lock:
        return dict(_lookups)


def model_use() -> ModelUse:
    """What models have been used for so far."""
    with _lock:
        return _model_use[0]
