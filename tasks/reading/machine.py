"""Failures of the machine while a document is read: a disk, or a table of the system that is full.

They say nothing of the document. Readers that take every exception for damage ask here first.
"""

import errno
from typing import Final

_CODES: Final = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENODEV, errno.ENXIO, errno.ESTALE}
)


def machine_failure(error: BaseException | None) -> OSError | None:
    """The failure of the machine that an error is or was caused by; None where there is none."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _CODES:
            return error
        error = error.__cause__ or error.__context__
    return None
