"""Reads the libraries of criteria: which ones exist, and their entries on the scale of the user's file.

An entry has the form of a criteria file with a scale from 0 to 5, with two additions: `guide` explains some scores, and
`stages` names the deals that the criterion is meant for (all of them without it).
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from tasks.user_file import UserFile

STAGES: Final = ("venture", "growth", "buyout", "vendor", "listed")
_FOLDER: Final = Path(__file__).parent
_HIGHEST: Final = 5.0


@cache
def library_names() -> tuple[str, ...]:
    """The names of the libraries in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


@cache
def _read(name: str) -> UserFile:
    return UserFile(_FOLDER / f"{name}.yaml", "library")


def library_purpose(name: str) -> str:
    """What a library is about: the comment at its top."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ").rstrip(".")


def read_library(name: str, scale: tuple[float, float], stage: str | None = None) -> list[dict[str, Any]]:
    """The entries of a library in the form of a criteria file with this scale; with a stage, only those for it."""
    entries = _read(name).content
    return [_on_scale(entry, scale) for entry in entries if stage is None or stage in entry.get("stages", STAGES)]


def _on_scale(entry: Mapping[str, Any], scale: tuple[float, float]) -> dict[str, Any]:
    """An entry with its scores on another scale, and its guide in words."""
    low, high = scale

    def score(written: str | float) -> float:
        return low + float(written) / _HIGHEST * (high - low)

    moved = {name: value for name, value in entry.items() if name != "stages"}
    if "bands" in moved:
        moved["bands"] = {score(key): rule for key, rule in moved["bands"].items()}
    if "guide" in moved:
        moved["guide"] = "; ".join(f"{score(key):g}: {what}" for key, what in moved["guide"].items())
    return moved
