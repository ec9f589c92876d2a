"""The companies room's settings: which sources are asked for facts, and where the source `files` looks."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from storage.settings import RoomSettings

KNOWN_SOURCES = ("profile_api", "files", "wikidata", "sec", "gleif", "website")
"""Every name that `DILIGENCE_FACT_SOURCES` may hold."""


def _split(given: Any) -> Any:
    """`files, sec` as a list in the environment or a batch file; a name given twice counts once."""
    names = given if isinstance(given, list | tuple) else str(given).split(",")
    return tuple(dict.fromkeys(name for name in (str(each).strip().lower() for each in names) if name))


class CompanySettings(RoomSettings):
    """What the companies room is told."""

    fact_sources: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        ("files", "wikidata", "sec", "gleif", "website"),
        description=f"the sources asked for facts, in order of precedence, comma-separated: {', '.join(KNOWN_SOURCES)}",
    )
    facts: Path | None = Field(
        None, description="the folder of the source `files`, one <domain>.json a company; `facts` in the current folder"
    )
