"""Measures in processor time how calls grow with their text, in a child that ends where the time does not.

A pattern of `re` answers no signal while it searches: the limit of processor time ends the process, and the case that
it was at has failed. The next child goes on behind it.
"""

import gc
import json
import os
import resource
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final, NoReturn

RATIO: Final = 6
"""At most so many times as long may four times the text take."""
_STEP: Final = 4
_START: Final = 256
"""Characters of the first text."""
_MEMORY: Final = 8_000_000_000

Shape = Callable[[int], str]


@dataclass(frozen=True)
class Subject:
    """What is measured: a call of a text, and the shapes that it is given, by their names."""

    name: str
    call: Callable[[str], object]
    shapes: Mapping[str, Shape]


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

    def __str__(self) -> str:
        seconds = "not in time" if self.seconds is None else f"{self.seconds:.3f} s"
        return f"{self.name}  {self.shape!r}  {self.size:,}  {seconds}  {self.ratio:.1f} x  {self.error or ''}".rstrip()


@dataclass(frozen=True)
class Limits:
    """How far a case is measured: until the smaller text takes `least` seconds, or the larger has `most` characters.

    One that takes more than `seconds` of processor time, all its sizes together, is ended.
    """

    least: float = 0.004
    most: int = 1_000_000
    seconds: int = 6


def measure(subjects: Sequence[Subject], limits: Limits) -> Iterator[Case]:
    """The cases of these subjects: each with its shapes, up to the first that fails."""
    pairs = [(subject, shape) for subject in subjects for shape in subject.shapes]
    done = 0
    while done < len(pairs):
        size = 0
        for line in _lines_of_child(pairs, done, limits):
            row = json.loads(line)
            if isinstance(row, int):
                size = row
            else:
                yield (case := Case(**row))
                done = _behind(pairs, done) if case.fails else done + 1
        if done < len(pairs):
            subject, shape = pairs[done]
            yield Case(subject.name, shape, size, None, 0)
            done = _behind(pairs, done)


def _behind(pairs: Sequence[tuple[Subject, str]], at: int) -> int:
    """Where the next subject begins."""
    return next((place for place in range(at, len(pairs)) if pairs[place][0] is not pairs[at][0]), len(pairs))


def _lines_of_child(pairs: Sequence[tuple[Subject, str]], first: int, limits: Limits) -> Iterator[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(islice(pairs, first, None), limits, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        yield from lines
    os.waitpid(child, 0)


def _work(pairs: Iterator[tuple[Subject, str]], limits: Limits, writing: int) -> NoReturn:
    try:
        gc.disable()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def tell(row: object) -> None:
            os.write(writing, json.dumps(row).encode() + b"\n")

        failed = None
        for subject, shape in pairs:
            if subject is failed:
                continue
            most = int(time.process_time()) + limits.seconds
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
            tell(asdict(case := _grown(subject, shape, limits, tell)))
            failed = subject if case.fails else None
            gc.collect(0)
    finally:
        os._exit(0)


def _grown(subject: Subject, shape: str, limits: Limits, tell: Callable[[object], None]) -> Case:
    size, before, make = _START, 0.0, subject.shapes[shape]
    while True:
        tell(size)
        seconds, error = _seconds(subject.call, make(size))
        if error or before >= limits.least or size >= limits.most:
            break
        before, size = seconds, min(size * _STEP, limits.most)
    ratio = seconds / max(before, 2 * limits.least)
    for again in (1, 2):  # a machine that is busy with something else
        if error or ratio <= RATIO or seconds > limits.seconds / 4:
            break
        once, _ = _seconds(subject.call, make(size // _STEP + again))
        twice, error = _seconds(subject.call, make(size + again))
        ratio = min(ratio, twice / max(once, 2 * limits.least))
    return Case(subject.name, shape, size, round(seconds, 4), round(ratio, 2), error)


def _seconds(call: Callable[[str], Any], text: str) -> tuple[float, str | None]:
    error, start = None, time.process_time()
    try:
        result = call(text)
        if hasattr(result, "__next__"):
            deque(result, maxlen=0)
    except Exception as raised:  # noqa: BLE001 - what a call may raise is judged by its kind
        error = None if _is_refusal(raised) else f"{type(raised).__name__}: {raised}"[:200]
    return time.process_time() - start, error


def _is_refusal(error: Exception) -> bool:
    """Whether it is one of the ways in which a function says that a text is not what it takes."""
    return isinstance(error, ValueError | LookupError) or type(error).__module__ == "tasks.errors"
