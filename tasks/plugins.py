"""Formats, fact sources and drives from other installed packages.

A package declares them as entry points (`docs/architecture.md`), each a module. A module in `diligence.formats` has a
`FORMAT` (`tasks.reading.formats`), one in `diligence.fact_sources` an `open_source` (`tasks.companies.sources`), one in
`diligence.drives` a `DESCRIPTION` (`tasks.documents.drive.drive`). Built-in ones are never replaced: if names clash,
ours counts. Entry points: https://packaging.python.org/en/latest/specifications/entry-points/
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
    """The modules of other packages, by the names under which they are declared."""
    return {entry.name: entry.value for entry in entry_points(group=group)}


def load_plugin(name: str, module: str) -> ModuleType | None:
    """The module; None if it cannot be imported, which is logged: everything else works without it."""
    try:
        return import_module(module)
    except Exception as error:  # noqa: BLE001 - it may raise whatever it likes
        logger.warning("the plugin %s (%s) cannot be loaded: %s", name, module, type(error).__qualname__)
        return None
