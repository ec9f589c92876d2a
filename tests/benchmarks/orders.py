"""Telling orders to a model from what contracts, tenders, minutes and manuals tell people to do.

`orders.toml` holds both, in our own words, and none of it was at hand when the patterns were written. On its open half
the patterns were changed and cut down; the shut half was counted, not read, while that was done. The part `later` was
written after that by another hand, and no pattern was changed for it; `fresh` before the patterns were cut down to what
the detector's own tests need.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tasks.ai.prompt_injection import find_orders
from tasks.ai.prompt_injection.detect import PATTERNS

SENTENCES: Final = Path(__file__).with_name("orders.toml")
TARGET: Final = 5 / 118
"""False alarms, of ordinary sentences."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    sentences: dict[str, dict[str, list[str]]] = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))
    for part in ("open", "shut", "later"):
        if part == "later":
            ordinary, orders = sentences[part]["ordinary"], sentences[part]["orders"]
        else:
            ordinary, orders = sentences["ordinary"][part], sentences["orders"][part]
        alarms, found = (sum(bool(find_orders(text)) for text in texts) for texts in (ordinary, orders))
        yield f"orders, {part}: false alarms", f"{alarms} of {len(ordinary)}", f"at most {TARGET * len(ordinary):.1f}"
        yield f"orders, {part}: found", f"{found} of {len(orders)}", "not fewer than before"
    fresh = sentences["fresh"]
    for part, texts in fresh.items():
        alarms = sum(bool(find_orders(text)) for text in texts)
        yield f"orders, fresh, {part}: false alarms", f"{alarms} of {len(texts)}", f"at most {TARGET * len(texts):.1f}"
    yield "orders: patterns", str(len(PATTERNS)), ""
