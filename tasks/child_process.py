"""How our processes start: in a folder of their own, with named environment variables, and with installed code only.

The user may start us in an unpacked data room, where a file `lxml.py` would be imported instead of the library: with
`-c` and `-m`, Python puts the current folder first unless PYTHONSAFEPATH is set (docs.python.org/3/using/cmdline.html).
multiprocessing starts its fork server, its resource tracker and its spawned processes that way, with the whole
environment, and has no parameter for either; so the two functions that it uses for that are replaced here.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing import process, spawn, util
from pathlib import Path
from typing import Any, Final

from tasks.files import process_folder

PARENTS_FOLDER: Final = "DILIGENCE_PARENTS_FOLDER"
"""Tells a fork server which folder to remove when its parent has ended."""
_PR_SET_PDEATHSIG: Final = 1
_NAMES: Final = {"HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TZDIR", "TESSDATA_PREFIX"}
_GROUPS: Final = ("LC_", "OMP_", "OPENBLAS_", "MKL_", "MALLOC_", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITE")
"""How names begin: of languages, of what bounds threads and memory in numpy and the C library, of what Python does."""
_SERVICE: Final = (
    *("DILIGENCE_", "OPENAI_", "GOOGLE_", "OTEL_", "PREFECT_", "PG", "HF_", "SSL_CERT_", "HTTPLIB2_CA_", "REQUESTS_"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
_LISTS: Final = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
_PATHS: Final = ("_PATH", "_FILE", "_DIR", "_PREFIX", "_HOME")
"""How names of paths end, which the user may have given relative to the current folder."""


def environment(*groups: str) -> dict[str, str]:
    """The environment for a new process: the variables that all processes need, and those whose names begin with one of
    `groups`.

    Raises:
        OSError: there is no room for temporary files.
    """
    named = {name: os.environ[name] for name in os.environ if name in _NAMES or name.startswith((*_GROUPS, *groups))}
    named |= {name: str(Path(path).absolute()) for name, path in named.items() if path and name.endswith(_PATHS)}
    lists = {name: only_absolute(os.environ[name]) for name in _LISTS if name in os.environ}
    return named | lists | {"PYTHONSAFEPATH": "1", "TMPDIR": str(process_folder())}


def end_with_parent() -> Callable[[], None]:
    """What a process that this one is about to start calls first, to end with this one even if it is killed (Linux)."""
    libc, parent = ctypes.CDLL(None) if sys.platform == "linux" else None, os.getpid()

    def tie() -> None:
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it went before
                os._exit(1)

    return tie


def only_absolute(folders: str) -> str:
    """A list of folders such as PATH without empty and relative entries, which mean the current folder."""
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if folder.startswith(os.sep))


def _start(path: bytes, arguments: Sequence[Any], descriptors: Sequence[int]) -> int:
    """As `multiprocessing.util.spawnv_passfds`: gives the process's id."""
    given = environment() | {PARENTS_FOLDER: str(process_folder())}
    if "--multiprocessing-fork" in arguments:  # a process of the service, which has a folder beside ours
        given = environment(*_SERVICE) | {"TMPDIR": tempfile.gettempdir()}
    started = subprocess.Popen(  # noqa: S603 - multiprocessing's own command
        arguments, executable=path, pass_fds=descriptors, env=given, cwd=process_folder(), restore_signals=False
    )
    started.returncode = 0  # else it would wait for the process, which multiprocessing does
    return started.pid


def _prepare(name: str) -> dict[str, Any]:
    """As `multiprocessing.spawn.get_preparation_data`, without the current folder."""
    folder = str(process_folder())
    process.current_process()._config["tempdir"] = folder  # type: ignore[attr-defined]  # noqa: SLF001 - for sockets
    safe_path = [entry for entry in sys.path if entry.startswith(os.sep)]
    return _preparation_data(name) | {"dir": folder, "orig_dir": folder, "sys_path": safe_path}


_preparation_data: Final = spawn.get_preparation_data
spawn.get_preparation_data = _prepare
util.spawnv_passfds = _start  # type: ignore[assignment]  # typeshed lets arguments be numbers
