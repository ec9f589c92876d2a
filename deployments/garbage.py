"""Keeps the garbage collector away from objects that live as long as the command: imported modules."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Turn garbage collection off in the block, then exempt what was created in it (`gc.freeze`).

    Scanning imported modules took a tenth of the processor time of an unchanged batch of 100 companies.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
