"""Rooms in a folder of the local drive, and two processes that look at them, each with a home of its own."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final, TypeVar

from tests.golden.documents import SAMPLE, write_rooms
from tests.homes import make_home

PROCESSES: Final = 2

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


@contextmanager
def drive() -> Iterator[tuple[Path, list[str]]]:
    """A folder with the rooms of the sample and those by hand, and their paths in it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(SAMPLE, root / "sample")
        sample = [f"sample/{room.name}" for room in sorted(SAMPLE.iterdir())]
        yield root, sample + write_rooms(root)


def in_processes(root: Path, work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[tuple[_Job, _Result]]:
    """Each job with its result, in order; `root` is the local drive."""
    with (
        tempfile.TemporaryDirectory() as homes,
        ProcessPoolExecutor(PROCESSES, get_context("spawn"), _begin, (root, homes)) as pool,
    ):
        yield from zip(jobs, pool.map(work, jobs), strict=True)


def _begin(root: Path, homes: str) -> None:
    home = make_home(Path(tempfile.mkdtemp(dir=homes)) / "home")
    Finalize(None, atexit._run_exitfuncs, exitpriority=100)  # which no child process runs; the reader pool waits for it
    os.environ.update(DILIGENCE_HOME=str(home), DILIGENCE_DRIVE_ROOT=str(root))
