"""Settings for documents: where users reach the service, how long an index is used, and the evidence beside a report.

Which drive to use is set in `drive.registry`; each drive has its own settings.
"""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field

from storage.settings import Settings


class DocumentSettings(Settings):
    """Where users reach documents, and how long an index is used."""

    base_url: str = Field(
        "http://127.0.0.1:8000",
        description="where users reach the service; else the host and port of serve",
        pattern="^https?://",
    )
    index_max_age: float = Field(
        1, ge=0, description="hours that a stored index is used where the drive may not report every change"
    )


def base_path() -> str:
    """The path that a proxy puts in front of the service's own paths, without a final slash; "" if there is none."""
    return urlsplit(DocumentSettings.current().base_url).path.rstrip("/")


class EvidenceSettings(Settings):
    evidence: Literal["none", "cited", "all"] = Field("cited", description="for which passages pages are drawn")
