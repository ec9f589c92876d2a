"""The reader of the pool in these tests."""

import time
from pathlib import Path

from tasks.errors import Damaged
from tasks.reading.text_writer import Reading


def together(path: Path, extension: str) -> Reading:
    """Wait until as many documents of the folder are being read at the same time as the document says."""
    path.with_suffix(".begun").touch()
    deadline = time.monotonic() + 20
    while len(list(path.parent.glob("*.begun"))) < int(path.read_text()):
        if time.monotonic() > deadline:
            raise Damaged("It was read alone.")
        time.sleep(0.01)
    return Reading("read\n")
