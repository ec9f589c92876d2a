"""Python programs beside the test, with the test's settings."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def start(program: str) -> subprocess.Popen[str]:
    """Run Python code in a process of its own; what it prints can be read from `stdout`."""
    return subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
