"""Settings of a batch: how many companies are examined in parallel, and in how many processes."""

import os
from math import ceil
from typing import Final

from pydantic import Field

from storage.settings import Settings

_WITH_MODEL = 6
_MOST_WITH_MODEL = 10
_WITHOUT_MODEL = 2
_WORTH_A_PROCESS: Final = 8
"""Companies that take longer than a process takes to start, which is 4 s of work."""
_WORTH_A_HELPER: Final = 4
_MOST_HELPERS: Final = 8
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

    processes: int | None = Field(
        None,
        ge=1,
        le=64,
        description="processes of this machine that examine the companies of a batch; 1 with a model, else one for "
        "every two cores, if each has 8 companies, and 1 where little has changed",
    )
    helpers: int | None = Field(
        None,
        ge=0,
        le=64,
        description="runs on the work pool that help with a deployed batch after 20 s; one for every 4 companies that "
        "are left, 8 at most",
    )

    def processes_for(self, companies: int, *, judged: int, is_quick: bool) -> int:
        """How many processes of this machine to use for that many companies.

        Args:
            companies: those that are left.
            judged: the criteria that a model is asked about. A run waits for the model then, which one process keeps
                busy: more of them would ask it for more at once than the limit for one server allows.
            is_quick: whether a process takes longer to start than one takes for all that is left.
        """
        if self.processes is not None:
            return self.processes
        most = len(os.sched_getaffinity(0)) // 2  # one keeps two cores busy, with its readers
        return 1 if judged or is_quick else max(1, min(most, companies // _WORTH_A_PROCESS))

    def helpers_for(self, companies: int) -> int:
        """How many runs on the work pool are to help with that many companies."""
        return min(_MOST_HELPERS, companies // _WORTH_A_HELPER) if self.helpers is None else self.helpers

    def at_once(self, *, judged: int) -> int:
        """How many companies of a batch to examine at the same time.

        While a model judges one company, others are listed, read and drawn; the fewer judgements each needs, the more
        of them. Without a model the readers use all cores, and a second company keeps them busy while the first is
        scored.

        Args:
            judged: the criteria that a model is asked about; 0 without a model.
        """
        with_model = min(max(_WITH_MODEL, ceil(_CALLS / max(judged, 1))), _MOST_WITH_MODEL)
        return self.companies_at_once or (with_model if judged else _WITHOUT_MODEL)
