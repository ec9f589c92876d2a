"""Counters of this process for `/metrics`: model calls, tokens and cost.

They are kept here without a library, because every command would wait for its import (75 ms). They contain no names of
companies or documents.
"""

from dataclasses import dataclass, replace
from threading import Lock
from typing import Final


@dataclass(frozen=True)
class ModelUse:
    """Model calls, their tokens, and the cost in USD of the calls whose price is known."""

    calls: int = 0
    calls_without_price: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0


_lock: Final = Lock()
_model_use: Final = [ModelUse()]


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


def model_use() -> ModelUse:
    """What models have been used for so far."""
    with _lock:
        return _model_use[0]
