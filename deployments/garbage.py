"""What a command makes once and keeps to its end is not looked through for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def none_of_it() -> Iterator[None]:
    """What is imported in the block stays: it is not looked through for garbage, neither meanwhile nor later.

    Of an unchanged batch of 100 companies that took a tenth of the processor's time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
