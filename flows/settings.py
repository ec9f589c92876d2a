"""Setting of a batch: how many companies are examined in parallel."""

from math import ceil
from typing import Final

from pydantic import Field

from storage.settings import Settings

_WITH_MODEL = 6
_MOST_WITH_MODEL = 10
_WITHOUT_MODEL = 2
_CALLS: Final = 96
"""Judgements that are ready or under way: a model that takes 16 at a time has enough for a few rounds."""


class BatchSettings(Settings):
    """The concurrency of a batch."""

    companies_at_once: int | None = Field(
        None,
        ge=1,
        le=32,
        description="companies of a batch examined at the same time; 2, with a model 6 to 10",
    )

    def at_once(self, *, judged: int) -> int:
        """How many companies of a batch are examined at the same time.

        While a model judges one, others are listed, read and drawn, the more the fewer judgements each of them needs;
        without one the readers take all cores, and a second company keeps them busy while the first is scored.

        Args:
            judged: the criteria that a model is asked about; 0 without a model.
        """
        with_model = min(max(_WITH_MODEL, ceil(_CALLS / max(judged, 1))), _MOST_WITH_MODEL)
        return self.companies_at_once or (with_model if judged else _WITHOUT_MODEL)
