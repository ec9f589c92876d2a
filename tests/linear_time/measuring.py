"""Measures in processor time how a call grows with its text, in a child that ends where the time does not.

A pattern of `re` answers no signal while it searches: the limit of processor time ends the process, and the case that
it was at has failed. The next child goes on behind it.
"""

import gc
import json
import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, NoReturn

from tests.linear_time.shapes import SHAPES

RATIO: Final = 6
"""At most so many times as long may four times the text take."""
SECONDS: Final = 6
"""Of processor time for one case, all its sizes together."""
_START: Final = 256
"""Characters of the first text."""
_STEP: Final = 4
_MEMORY: Final = 6_000_000_000

Call = Callable[[str], object]


@dataclass(frozen=True)
class Case:
    """A call on a shape. `seconds` is what the larger text took, None where it was not done in time."""

    name: str
    shape: str
    size: int
    seconds: float | None
    ratio: float
    error: str | None = None

    @property
    def fails(self) -> bool:
        return self.seconds is None or self.ratio > RATIO or self.error is not None


@dataclass(frozen=True)
class Measure:
    """How far a case is measured: until the smaller text takes `least` seconds, or the larger has `most` characters."""

    least: float = 0.02
    most: int = 1_000_000


def measure(calls: Mapping[str, Call], limits: Measure, shapes: Sequence[str] = ()) -> Iterator[Case]:
    """The cases of these calls, each of them in a child."""
    for name, call in calls.items():
        left = list(shapes or SHAPES)
        while left:
            shape, size = left[0], 0
            for line in _lines_of_child(name, call, left, limits):
                row = json.loads(line)
                if "began" in row:
                    shape, size = row["began"]
                else:
                    yield Case(**row)
                    left.remove(shape)
            if left:
                yield Case(name, shape, size, None, 0)
                left.remove(shape)


def _lines_of_child(name: str, call: Call, shapes: Sequence[str], limits: Measure) -> Iterator[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(name, call, shapes, limits, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        yield from lines
    os.waitpid(child, 0)


def _work(name: str, call: Call, shapes: Sequence[str], limits: Measure, writing: int) -> NoReturn:
    try:
        gc.disable()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

        def tell(row: object) -> None:
            os.write(writing, json.dumps(row).encode() + b"\n")

        for shape in shapes:
            most = int(time.process_time()) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            tell(asdict(_grown(name, call, shape, limits, tell)))
            gc.collect()
    finally:
        os._exit(0)


def _grown(name: str, call: Call, shape: str, limits: Measure, tell: Callable[[object], None]) -> Case:
    size, before, error = _START, 0.0, None
    while True:
        tell({"began": [shape, size]})
        seconds, error = _seconds(call, SHAPES[shape](size))
        if error or before >= limits.least or size >= limits.most:
            break
        before, size = seconds, min(size * _STEP, limits.most)
    ratio = seconds / max(before, limits.least)
    for again in (1, 2):  # of a busy machine
        if error or ratio <= RATIO or seconds > SECONDS / 4:
            break
        once, error = _seconds(call, SHAPES[shape](size // _STEP + again))
        twice, error = _seconds(call, SHAPES[shape](size + again))
        ratio = min(ratio, twice / max(once, limits.least))
    return Case(name, shape, size, round(seconds, 4), round(ratio, 2), error)


def _seconds(call: Call, text: str) -> tuple[float, str | None]:
    error, start = None, time.process_time()
    try:
        call(text)
    except (Exception, SystemExit) as raised:  # noqa: BLE001 - what a call may raise is judged by its kind below
        error = None if is_refusal(raised) else type(raised).__name__
    return time.process_time() - start, error


def is_refusal(error: BaseException) -> bool:
    """Whether it is one of the ways in which a function says that a text is not what it takes."""
    return isinstance(error, ValueError | LookupError) or type(error).__module__ == "tasks.errors"
