"""Settings of the evidence beside a report."""

from typing import Literal

from pydantic import Field

from storage.settings import Settings


class EvidenceSettings(Settings):
    evidence: Literal["none", "cited", "all"] = Field("cited", description="for which passages pages are drawn")
