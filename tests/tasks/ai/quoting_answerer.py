"""A third answerer, as small as one can be: it answers with the first line of each source, and judges nothing.

It shows what the seam asks of a new answerer: this file, and one line in the registry.
"""

from collections.abc import Sequence

from tasks.ai.answerer import AiSettings, Answer, Answerer, Source
from tasks.ai.calls import order_warnings
from tasks.spending.budget import Ledger
from tasks.spending.money import Usage


class QuotingAnswerer(Answerer):
    name = "quoting"

    def answer(self, question: str, sources: Sequence[Source], *, ledger: Ledger | None = None) -> Answer:
        lines = [f"{line} [{source.number}]" for source in sources for line in source.text.splitlines()[:1]]
        return Answer("\n".join(lines) or "No source was sent.", Usage(), order_warnings(sources))


def from_settings(settings: AiSettings) -> QuotingAnswerer:
    return QuotingAnswerer()
