"""Formats, sources of facts and drives that other installed packages add.

A package declares them as entry points (`docs/architecture.md`), each a module. One of `diligence.formats` has a
`FORMAT` (`tasks.reading.formats`), one of `diligence.fact_sources` an `open_source` (`tasks.companies.sources`), one of
`diligence.drives` a `DESCRIPTION` (`tasks.documents.drive.drive`).
What the program has itself is never replaced: of two of one name its own counts.
Entry points: https://packaging.python.org/en/latest/specifications/entry-points/
"""

import logging
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Literal

logger = logging.getLogger(__name__)

Group = Literal["diligence.formats", "diligence.fact_sources", "diligence.drives"]


@cache
def plugins(group: Group) -> dict[str, str]:
    """The modules of other packages by the names that they are declared under."""
    return {entry.name: entry.value for entry in entry_points(group=group)}


def load_plugin(name: str, module: str) -> ModuleType | None:
    """The module; None where it cannot be imported, which the log says: all else goes on without it."""
    try:
        return import_module(module)
    except Exception as error:  # noqa: BLE001 - it may raise whatever it likes
        logger.warning("the plugin %s (%s) cannot be loaded: %s", name, module, type(error).__qualname__)
        return None
