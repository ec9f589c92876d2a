"""How much a judgement may read and write, so that a slow server of one's own ends it in time.

A judgement, with all its calls, has a quarter of `DILIGENCE_AI_TIMEOUT` at the speed at which the server wrote of late:
calls beside it may slow it down further, and a second attempt takes as much as the first. What does not fit is left
out, the best first, and said. Only a server whose usual answer alone would take half of that is slow, and only one in
the house: at a public address a model is slow by its thoughts or by the way to it, and answers as many calls as come.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

from tasks.ai.answerer import Answerer
from tasks.ai.estimate import BRIEF_ANSWER, USUAL_ANSWER
from tasks.ai.money import Pace, Usage
from tasks.ai.privileged import is_local
from tasks.ai.settings import AiSettings

_SHARE: Final = 0.25  # of the time limit, for a judgement
_READS_FASTER: Final = 4.0
"""Times as fast as it writes a server reads at least: a longer wait is that for its model to load."""

SLOW: Final = (
    "The AI server is slow, so each judgement was kept short: few passages and documents, brief quotations, "
    "no search plan and no second check. Raise DILIGENCE_AI_TIMEOUT to give judgements more time."
)


@dataclass(frozen=True, slots=True)
class Width:
    """The time of a judgement in seconds, and how fast the server is; no `pace` where it is not known to be slow."""

    pace: Pace | None
    seconds: float

    @classmethod
    def of(cls, answerer: Answerer) -> "Width":
        """The width of judgements by that model, as far as its speed is known. Nothing is asked."""
        pace = answerer.pace if is_local(answerer.address or "") else None
        seconds = _SHARE * AiSettings.current().ai_timeout
        if pace is None or USUAL_ANSWER / pace.writing <= seconds / 2:
            return cls(None, inf)
        return cls(Pace(max(pace.reading, _READS_FASTER * pace.writing), pace.writing, 1), seconds)

    @property
    def is_narrow(self) -> bool:
        """Whether judgements are kept short."""
        return self.pace is not None

    @property
    def prompt_tokens(self) -> float:
        """Tokens of a prompt that leave time for a brief answer."""
        return inf if self.pace is None else (self.seconds - self.spend(0)) * self.pace.reading

    def spend(self, prompt_tokens: float) -> float:
        """Seconds that a call with such a prompt and a brief answer takes; none where the server is not slow."""
        return 0.0 if self.pace is None else self.pace.seconds(Usage(1, round(prompt_tokens), BRIEF_ANSWER))[1]
