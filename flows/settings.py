"""Settings of batches."""

from pydantic import Field

from storage.settings import Settings

_WITH_MODEL = 6
_WITHOUT_MODEL = 2


class BatchSettings(Settings):
    """How a batch is worked through."""

    companies_at_once: int | None = Field(
        None,
        ge=1,
        le=32,
        description="companies of a batch examined at the same time; 6 where a model is asked, else 2",
    )

    def at_once(self, *, asks_a_model: bool) -> int:
        """How many companies of a batch are examined at the same time.

        While a model judges one, others are listed, read and drawn; without one the readers take all cores, and a
        second company keeps them busy while the first is scored.
        """
        return self.companies_at_once or (_WITH_MODEL if asks_a_model else _WITHOUT_MODEL)
