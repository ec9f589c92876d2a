"""How long `diligence demo` takes: on a fresh home, and again."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    help_times = sorted(_seconds(["--help"], "/tmp") for _ in range(5))
    yield "`diligence --help`, median of 5", f"{help_times[2]:.2f} s", "0.4 s"
    with tempfile.TemporaryDirectory() as home:
        first = _seconds(["demo", "--out", f"{home}/report"], home)
        again = sorted(_seconds(["demo", "--out", f"{home}/report"], home) for _ in range(3))
    yield "`diligence demo`, fresh home", f"{first:.1f} s", "12 s"
    yield "`diligence demo`, again, median of 3", f"{again[1]:.1f} s ({again[1] / first:.2f} × the first)", "8 s"


def _seconds(words: list[str], home: str) -> float:
    environment = os.environ | {"DILIGENCE_HOME": home, "PREFECT_HOME": f"{home}/prefect"}
    environment.pop("PREFECT_API_URL", None)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "deployments.cli", *words], env=environment, check=True, capture_output=True)
    return time.perf_counter() - start
