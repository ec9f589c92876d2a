"""Settings of the evidence beside a report."""

from typing import Literal

from storage.settings import Settings


class EvidenceSettings(Settings):
    """`evidence`: for which passages pages are written beside a report, and pictures drawn."""

    evidence: Literal["none", "cited", "all"] = "cited"
