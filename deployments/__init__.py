"""How it is started: the command line, the Prefect deployments, the sample batch."""

import os
import sys


def _leave_out_current_folder() -> None:
    """Have no module of the current folder imported: it may be a data room, with a `json.py`.

    Python puts it first for `python -m`, and where PYTHONPATH has an entry that is empty or relative, as
    `PYTHONPATH=$PYTHONPATH:/lib` has where it was not set before. One that holds this package is ours.
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
