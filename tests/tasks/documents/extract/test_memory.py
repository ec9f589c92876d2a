"""What is kept of freed memory, seen in a process of its own."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

_FAULTS = """
import ctypes, resource
from tasks.documents.extract.limits import keep_memory
if {keep}:
    keep_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
began = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    blocks = [library.malloc(2 << 20) for _ in range(8)]
    for block in blocks:
        ctypes.memset(block, 1, 2 << 20)
    for block in blocks:
        library.free(block)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - began)
"""


def _faults(*, keep: bool) -> int:
    code = _FAULTS.format(keep=keep)
    root = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="the C library is not glibc")
def test_memory_that_is_freed_is_taken_again_without_faults() -> None:
    assert _faults(keep=True) < _faults(keep=False) / 4
