"""A third answerer, as small as one can be: it answers with the first line of each source, and judges nothing.

It shows what the seam asks of a new answerer: this file, and one line in the registry.
"""

from collections.abc import Sequence

from tasks.ai.answerer import Answer, Source, T, Verdict
from tasks.ai.budget import Ledger
from tasks.ai.money import Pace, Usage
from tasks.ai.prompts import order_warnings
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured


class QuotingAnswerer:
    name = "quoting"
    model: str | None = None
    address: str | None = None
    judges = False
    window: int | None = None
    side_by_side = 1
    pace: Pace | None = None

    def prepare(self, ledger: Ledger | None = None) -> None:
        pass

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        lines = [f"{line} [{source.number}]" for source in sources for line in source.text.splitlines()[:1]]
        return Answer("\n".join(lines) or "No source was sent.", Usage(), order_warnings(sources))

    def judge(
        self,
        instructions: str,
        material: str,
        schema: type[T],
        *,
        ledger: Ledger | None = None,
        one_attempt: bool = False,
    ) -> Verdict[T]:
        raise NotConfigured("Nothing can be judged. Set DILIGENCE_AI_MODEL.")


def from_settings(settings: AiSettings) -> QuotingAnswerer:
    return QuotingAnswerer()
