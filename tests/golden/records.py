"""Recorded results: one file an area, one line a thing, so that a difference names what changed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "recorded"
_DIGITS: Final = 12
_WIDEST: Final = 60

Rows = Mapping[str, Sequence[str]]
"""What was measured, by its name; each has a value a column."""


@dataclass
class Measured:
    """What an area measured.

    `skipped` are the beginnings of the names that this machine has no documents for, each with the reason; `notes` are
    words that a difference is printed with and that are not recorded.
    """

    columns: Sequence[str]
    rows: dict[str, Sequence[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, *values: object) -> None:
        """Note a row; a second one of that name gets a number behind it."""
        name = " ".join(name.split())
        unique, number = name, 1
        while unique in self.rows:
            number += 1
            unique = f"{name} ({number})"
        self.rows[unique] = [" ".join(str(value).split())[:_WIDEST] for value in values]

    def is_skipped(self, name: str) -> bool:
        """Whether this machine has nothing to measure it with."""
        return name.startswith(tuple(self.skipped))


def digest(text: str) -> str:
    """A short hash of a text, the same on each machine."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def digest_json(content: Any) -> str:
    """The same of what a JSON file holds, whatever the order of its names."""
    return digest(json.dumps(content, ensure_ascii=False, sort_keys=True))


def path_of(area: str) -> Path:
    """Where an area's results are recorded."""
    return FOLDER / f"{area}.tsv"


def recorded(area: str) -> dict[str, list[str]]:
    """What was recorded of an area, by name; nothing where there is no record yet."""
    path = path_of(area)
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return {name: values for name, *values in (line.split("\t") for line in lines)}


def record(area: str, measured: Measured) -> None:
    """Write what was measured; what was skipped stays as it was recorded."""
    kept = {name: values for name, values in recorded(area).items() if measured.is_skipped(name)}
    rows = {**kept, **measured.rows}
    lines = ["\t".join(("name", *measured.columns)), *("\t".join((name, *rows[name])) for name in sorted(rows))]
    FOLDER.mkdir(exist_ok=True)
    path_of(area).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def differences(before: Rows, measured: Measured) -> Iterator[str]:
    """What is otherwise than recorded, in words, sorted by name."""
    for name in sorted({*before, *measured.rows}):
        if measured.is_skipped(name):
            continue
        note = f" ({measured.notes[name]})" if name in measured.notes else ""
        if name not in measured.rows:
            yield f"{name}: is gone"
        elif name not in before:
            yield f"{name}{note}: is new"
        else:
            pairs = zip_longest(measured.columns, before[name], measured.rows[name], fillvalue="")
            changes = [f"{column} {old or '–'} → {new or '–'}" for column, old, new in pairs if old != new]
            if changes:
                yield f"{name}{note}: {', '.join(changes)}"
