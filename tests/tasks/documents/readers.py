"""The readers of the pools in these tests."""

import time
from pathlib import Path

from tasks.reading.embedded import read_with_embedded
from tasks.reading.text_writer import Reading
from tests.tasks.reading.pool.hostile_readers import obedient


def texts_obeyed(path: Path, extension: str) -> Reading:
    """Do what a text file says (hang, crash, …); read everything else."""
    return obedient(path, extension) if extension == ".txt" else read_with_embedded(path, extension)


def slowly(path: Path, extension: str) -> Reading:
    """Take a moment over each document."""
    time.sleep(0.02)
    return read_with_embedded(path, extension)


def while_it_is_written(path: Path, extension: str) -> Reading:
    """Read a document, into which somebody writes meanwhile, the first time."""
    reading = read_with_embedded(path, extension)
    if path.is_symlink() and "later" not in reading.text:  # an open file, not a copy
        with path.readlink().open("a") as file:
            file.write(" and later words")
    return reading
