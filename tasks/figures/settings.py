"""What users add to the taxonomy of figures."""

from pathlib import Path

from pydantic import Field

from storage.settings import Settings


class FigureSettings(Settings):
    """The settings of the ledger of figures."""

    figure_concepts: Path | None = Field(
        None, description="a TOML or YAML file of concepts and labels that are added to those of the ledger"
    )
