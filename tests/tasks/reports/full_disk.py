"""A disk without room for a large file, as the kernel itself refuses it: no file grows beyond a size."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EFBIG
from os import strerror

TOLD = strerror(EFBIG)
"""How the system says so."""


@contextmanager
def room_in_files(size: int) -> Iterator[None]:
    """Meanwhile, no file takes more bytes than this; Python ignores the signal, and the write fails."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
