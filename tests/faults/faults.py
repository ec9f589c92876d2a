"""The faults, the kinds of points that they strike at, and what a seed chooses of them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from random import Random
from typing import Final, Self


class Fault(StrEnum):
    """What happens at a point."""

    KILL = "SIGKILL"
    NO_SPACE = "ENOSPC"
    IO_ERROR = "EIO"
    LOCK = "lock"
    DROP = "dropped"
    HANG = "hang"
    CLOCK = "clock step"


class Kind(StrEnum):
    """Where a fault can strike."""

    SQLITE = "SQLite"
    POSTGRES = "PostgreSQL"
    FILE = "file"
    MODEL = "model"
    SOURCE = "source"
    DRIVE = "Drive"
    PREFECT = "Prefect"
    READER = "reader"

    @property
    def is_server(self) -> bool:
        """Whether a loopback server of the harness is where it happens."""
        return self in _SERVERS


_EVERYWHERE: Final = (Fault.KILL, Fault.CLOCK)
_STORAGE: Final = (*_EVERYWHERE, Fault.NO_SPACE, Fault.IO_ERROR, Fault.LOCK)
_SERVERS: Final = (Kind.MODEL, Kind.SOURCE, Kind.DRIVE, Kind.PREFECT)
PAIRS: Final = [
    *((Kind.SQLITE, fault) for fault in _STORAGE),
    *((Kind.POSTGRES, fault) for fault in (*_STORAGE, Fault.DROP)),
    *((Kind.FILE, fault) for fault in _STORAGE),
    *((kind, fault) for kind in _SERVERS for fault in (*_EVERYWHERE, Fault.DROP)),
    (Kind.PREFECT, Fault.HANG),
    *((Kind.READER, fault) for fault in (*_EVERYWHERE, Fault.NO_SPACE, Fault.IO_ERROR)),
]
"""Every pair that makes sense: a file has no connection that drops, a model no disk that is full."""

TIMES: Final = ("before", "within", "after")
"""Where in a call of a server: before it is answered, in the middle of the answer, after it."""
STEPS: Final = (-7200.0, 7200.0, 90_000.0)
"""Seconds by which a clock is set: back, on, and beyond a day."""


@dataclass(frozen=True)
class Plan:
    """One fault at the nth point (from 1) of a kind that has this label."""

    kind: Kind
    label: str
    nth: int
    fault: Fault
    time: str = "before"
    step: float = 0.0

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        return cls(**{**values, "kind": Kind(values["kind"]), "fault": Fault(values["fault"])})

    def __str__(self) -> str:
        when = f" ({self.time})" if self.kind.is_server else ""
        return f"{self.fault} at {self.kind} {self.label} {self.nth}{when}"


def pair_of(seed: int) -> tuple[Kind, Fault]:
    """The kind and the fault of a seed: as many seeds in a row as there are pairs have each of them once."""
    return PAIRS[seed % len(PAIRS)]


def others(seed: int) -> Iterator[int]:
    """Seeds for a second fault in the case of a seed, without end."""
    chance = Random(seed)
    while True:
        yield chance.randrange(1_000_000)


def plan_of(seed: int, labels: Iterable[str]) -> Plan:
    """What a seed chooses among the points of its kind, given by their labels in an undisturbed run.

    Raises:
        ValueError: the run came by no point at which the fault makes sense.
    """
    kind, fault = pair_of(seed)
    counts = Counter(label for label in labels if makes_sense(kind, label, fault))
    if not counts:
        raise ValueError(f"no point for {fault} at {kind}")
    chance = Random(seed)
    label = chance.choice(sorted(counts))  # what is rare, such as the report's file, as often as what is frequent
    nth = chance.randint(1, counts[label])
    time = chance.choice(TIMES)
    return Plan(kind, label, nth, fault, time, chance.choice(STEPS) if fault is Fault.CLOCK else 0.0)


def makes_sense(kind: Kind, label: str, fault: Fault) -> bool:
    """Whether a fault can happen at a point with this label."""
    if kind is Kind.SQLITE and fault is Fault.LOCK:
        return label == "BEGIN IMMEDIATE"  # in WAL nothing else waits
    if kind is Kind.FILE:
        if label.startswith("flock"):
            return fault in {Fault.LOCK, Fault.KILL, Fault.CLOCK}
        if fault is Fault.NO_SPACE:
            return not label.startswith(("remove", "rmdir"))
        return fault is not Fault.LOCK
    return True


_NUMBERS = re.compile(r"(?<![^-/])\d+-[a-z0-9_]{8}(?![^/])|[0-9a-f]{8,}|\d+")


def without_numbers(name: str) -> str:
    """A name without what differs from run to run."""
    return _NUMBERS.sub("#", name)
