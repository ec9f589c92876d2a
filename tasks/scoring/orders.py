"""Words in passages that give orders to a model, and which of two judgements, made with and without them, counts.

Nothing that a document says is hidden from the model: to leave out the surroundings of an order would reward a seller
who plants one beside bad news. So such a criterion is judged twice: from the passages as they are, and from what each
document says when it is read by itself, without the words of the orders (`isolation`). If both judgements agree, the
orders had no effect. Otherwise the score is contested:

- Of two scores the lower counts.
- A score without the words counts also where there is none with them: an order may have silenced the model.
- A score with the words alone counts only in the lower half of the scale: nobody orders that, and it may rest on
  words beside the order. One in the upper half may be what the order asked for, so it does not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.scores import ScoreStatus
from tasks.ai.answerer import Source
from tasks.ai.prompt_injection import without_injections
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import ORDERS, Contested, CriterionResult, FoundOrder

NAME_OF_DOCUMENT = "the document's name"
LEDGER = "figures of the documents"  # the source that holds rows of the ledger


@dataclass(frozen=True, slots=True)
class Passages:
    """Passages as sources for a judgement: as they are, and without `orders`, the words that give orders.

    Rows of the ledger are the last source of both.
    """

    sources: list[Source]
    without: list[Source]
    orders: list[FoundOrder]

    @classmethod
    def of(cls, excerpts: Sequence[Excerpt], evidence: Evidence, figures: str = "") -> "Passages":
        """The sources of these excerpts, numbered from 1; `figures` are rows of the ledger."""
        sources, without = [], []
        found: dict[FoundOrder, None] = {}
        for number, excerpt in enumerate(excerpts, 1):
            document, place = excerpt.document, excerpt.place
            sources.append(Source(number, document.name, place, excerpt.with_header))
            name, of_name = without_injections(document.name)
            header, of_header = without_injections(excerpt.header or "")
            text = without_injections(excerpt.text)[0]
            text = f"{header}\n{text}" if header else text
            without.append(Source(number, name, without_injections(place)[0], text))
            if of_name:
                found[FoundOrder(document, document.name, NAME_OF_DOCUMENT)] = None
            for order in of_header:
                found[FoundOrder(document, (excerpt.header or "")[order.start : order.end], place)] = None
            found.update(dict.fromkeys(FoundOrder.at(order) for order in evidence.orders_in(excerpt)))
        if figures:
            sources.append(Source(len(sources) + 1, LEDGER, None, figures))
            without.append(Source(len(sources), LEDGER, None, without_injections(figures)[0]))
        return cls(sources, without, list(found))

    @property
    def have_orders(self) -> bool:
        """Whether they, including names and headers, contain words that give orders to a model."""
        return self.sources != self.without


def pick_counted(
    with_words: CriterionResult, without: CriterionResult, scale: tuple[float, float], words: str = ORDERS
) -> CriterionResult:
    """Which of two judgements counts: the one with words that may influence a model, or the one without these `words`.

    If one of them failed, or the budget did not reach it, the result's warning says so, and the other one counts as if
    that one had given no score.
    """
    if without.status is with_words.status is ScoreStatus.UNSCORED:
        return without
    result = _lower(with_words, without, scale)
    missed = next((one for one in (without, with_words) if one.status is ScoreStatus.UNSCORED), None)
    if missed is not None:
        made, other = ("with", "without") if missed is without else ("without", "with")
        warning = (
            f"It was judged {made} the {words}, not {other} them. {missed.reason} "
            "A score in the upper half of the scale that only these words support does not count."
        )
        return replace(result.add_warning(warning), unfinished=missed.unfinished)
    if with_words.score == without.score:
        return with_words
    scores = Contested(with_words.score, without.score, words)
    if result.score is None:
        reason = (
            f"{result.reason} (Judged {scores.in_words}: a score in the upper half of the scale that only these words "
            "support does not count.)"
        )
        return replace(result, contested=scores, reason=reason)
    reason = f"{result.reason} (Contested: judged {scores.in_words}; {result.score:g} counts.)"
    return replace(result, status=ScoreStatus.CONTESTED, contested=scores, reason=reason)


def _lower(with_words: CriterionResult, without: CriterionResult, scale: tuple[float, float]) -> CriterionResult:
    """Of two results with different scores, the one that is safe to count."""
    if with_words.score is None:
        return without
    if without.score is not None:
        return min(with_words, without, key=lambda result: result.score or 0.0)
    return with_words if with_words.score <= sum(scale) / 2 else without
