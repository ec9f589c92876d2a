"""Words in passages that give orders to a model, and which of two judgements counts that were made with and without.

Nothing that a document says is kept from the model: to leave out what an order stands in would reward the seller who
plants one beside bad news. So such a criterion is judged twice, with the passages as they are and without the words of
the orders. Where both judgements agree, the orders did nothing. Where they do not, the score is contested:

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
from tasks.scoring.evidence import Excerpt
from tasks.scoring.results import Contested, CriterionResult, FoundOrder

NAME_OF_DOCUMENT = "the document's name"
LEDGER = "figures of the documents"  # the source that holds rows of the ledger
_LEFT_OUT = "[…]"


@dataclass(frozen=True, slots=True)
class Passages:
    """Passages as the sources of a judgement: as they are, and without the words that give orders.

    `without` is None where they hold none; `orders` are all of them.
    """

    sources: list[Source]
    without: list[Source] | None
    orders: list[FoundOrder]

    @classmethod
    def of(cls, excerpts: Sequence[Excerpt], orders: Sequence[Excerpt], figures: str = "") -> "Passages":
        """The sources of these excerpts, numbered from 1; `orders` are those of the data room.

        `figures` are rows of the ledger, and the last source; in names and headers of tables, words may give orders.
        """
        sources, without = [], []
        found: dict[FoundOrder, None] = {}
        for number, excerpt in enumerate(excerpts, 1):
            document, place = excerpt.document, excerpt.place
            source = Source(number, document.name, place, excerpt.with_header)
            name, of_name = without_injections(document.name)
            header, of_header = without_injections(excerpt.header or "")
            text = _without(excerpt)
            stripped = Source(number, name, without_injections(place)[0], f"{header}\n{text}" if header else text)
            sources.append(source)
            without.append(stripped)
            if of_name:
                found[FoundOrder(document, document.name, NAME_OF_DOCUMENT)] = None
            for order in orders:
                if order.document.document_id == document.document_id and (
                    (order.start < excerpt.end and excerpt.start < order.end)
                    or (of_header and order.text in (excerpt.header or ""))
                ):
                    found[FoundOrder.at(order)] = None
        if figures:
            sources.append(Source(len(sources) + 1, LEDGER, None, figures))
            without.append(Source(len(sources), LEDGER, None, without_injections(figures)[0]))
        return cls(sources, without if without != sources else None, list(found))


def _without(excerpt: Excerpt) -> str:
    """The words of an excerpt without those that give orders."""
    pieces, at = [], excerpt.start
    for start, end in excerpt.orders:
        pieces += [excerpt.text[at - excerpt.start : start - excerpt.start], _LEFT_OUT]
        at = end
    return "".join([*pieces, excerpt.text[at - excerpt.start :]])


def counted(as_it_is: CriterionResult, without: CriterionResult, scale: tuple[float, float]) -> CriterionResult:
    """Which of two judgements counts: of the passages as they are, and of these without the words that give orders.

    Where one of them failed, or the budget did not reach it, the result's warning says so, and the other one counts as
    if that one had given no score.
    """
    if without.status is as_it_is.status is ScoreStatus.UNSCORED:
        return without
    result = _lower(as_it_is, without, scale)
    missed = next((one for one in (without, as_it_is) if one.status is ScoreStatus.UNSCORED), None)
    if missed is not None:
        made, other = ("with", "without") if missed is without else ("without", "with")
        warning = (
            f"It was judged {made} the words that give orders to a model, not {other} them. {missed.reason} "
            "A score in the upper half of the scale that only these words support does not count."
        )
        return replace(result, warning=warning, unfinished=missed.unfinished)
    if as_it_is.score == without.score:
        return as_it_is
    scores = Contested(as_it_is.score, without.score)
    if result.score is None:
        reason = (
            f"{result.reason} (Judged {scores.in_words}: a score in the upper half of the scale that only these words "
            "support does not count.)"
        )
        return replace(result, contested=scores, reason=reason)
    reason = f"{result.reason} (Contested: judged {scores.in_words}; {result.score:g} counts.)"
    return replace(result, status=ScoreStatus.CONTESTED, contested=scores, reason=reason)


def _lower(as_it_is: CriterionResult, without: CriterionResult, scale: tuple[float, float]) -> CriterionResult:
    """Of two results with different scores, the one that is safe to count."""
    if as_it_is.score is None:
        return without
    if without.score is not None:
        return min(as_it_is, without, key=lambda result: result.score or 0.0)
    return as_it_is if as_it_is.score <= sum(scale) / 2 else without
