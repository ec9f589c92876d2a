"""How the program is started: the command line, the Prefect deployments, and the sample batch."""

import gc
import os
import sys


def _leave_out_current_folder() -> None:
    """Keep modules in the current folder from being imported: it may be a data room with a `json.py`.

    Python puts it first for `python -m`, and if PYTHONPATH has an empty or relative entry, as
    `PYTHONPATH=$PYTHONPATH:/lib` has if it was not set before. A folder that contains this package is ours.
    """
    try:
        here = os.getcwd()  # noqa: PTH109 - `pathlib` could be that folder's
    except FileNotFoundError:  # it was removed
        return
    given = os.environ.get("PYTHONPATH", "")
    foreign = {os.path.abspath(entry) for entry in given.split(os.pathsep) if given and not entry.startswith(os.sep)}  # noqa: PTH100
    if not sys.flags.safe_path and sys.path[:1] in ([""], [here]):
        foreign.add(here)
    foreign.discard(os.path.dirname(__path__[0]))  # noqa: PTH120
    sys.path[:] = [entry for entry in sys.path if (entry or here) not in foreign]


_leave_out_current_folder()

from collections.abc import Iterator  # noqa: E402 - only now: each could be that folder's
from contextlib import contextmanager  # noqa: E402


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Turn garbage collection off in the block, then exempt what was created in it (`gc.freeze`).

    What lives as long as the command, as imported modules do, need not be scanned: that took a tenth of the processor
    time of an unchanged batch of 100 companies.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
