"""The spans of texts that the outcomes of a company point at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from storage.run_documents import RunDocument, some_documents
from storage.scores import CriterionOutcome, QuotedSpan, ScoreStatus, company_outcomes, quoted_spans


@dataclass(frozen=True, slots=True)
class Citation:
    """Words of a document that an outcome points at: `start` up to `end` of its stored text, in characters.

    `is_shown`: its page is drawn. It is a quotation, the best passage of a criterion that nobody judged, or words that
    contradict others or give orders to a model.
    """

    document: RunDocument
    text_id: int
    start: int
    end: int
    place: str
    criterion_id: str
    is_shown: bool


def citations_of(session: Session, company_id: int) -> list[Citation]:
    """All that the outcomes of a run's company point at, in the order of its criteria."""
    outcomes = company_outcomes(session, company_id)
    quotes: dict[int, list[QuotedSpan]] = {}
    for quote in quoted_spans(session, company_id):
        quotes.setdefault(quote.outcome_id, []).append(quote)
    cited = {quote.document_id for of_outcome in quotes.values() for quote in of_outcome}
    cited |= {words["document_id"] for outcome in outcomes for words in _words_of(outcome)}
    documents = {document.document_id: document for document in some_documents(session, company_id, sorted(cited))}
    return [
        citation
        for outcome in outcomes
        for citation in _of_outcome(outcome, quotes.get(outcome.id or 0, ()), documents)
    ]


def _words_of(outcome: CriterionOutcome) -> list[dict[str, Any]]:
    """What documents say against each other, and words that give orders to a model."""
    contradicting = [quote for contradiction in outcome.contradictions for quote in contradiction["quotes"]]
    return [*contradicting, *outcome.orders]


def _of_outcome(
    outcome: CriterionOutcome, quotes: Sequence[QuotedSpan], documents: Mapping[str, RunDocument]
) -> Iterator[Citation]:
    is_judged = outcome.status is not ScoreStatus.UNSCORED
    for quote in quotes:
        document = documents.get(quote.document_id)
        if document is not None:
            quoted = quote.text_id, quote.start, quote.end
            yield from _citation(document, quoted, quote.place, outcome, is_shown=is_judged or quote.ordinal == 0)
    for words in _words_of(outcome):
        document = documents.get(words["document_id"])
        if document is not None:
            span = words.get("text_id"), words.get("start"), words.get("end")
            yield from _citation(document, span, words["place"], outcome, is_shown=True)


def _citation(
    document: RunDocument,
    span: tuple[int | None, int | None, int | None],
    place: str | None,
    outcome: CriterionOutcome,
    *,
    is_shown: bool,
) -> Iterator[Citation]:
    """The citation of a span, unless its text was pruned."""
    text_id, start, end = span
    if text_id is not None and start is not None and end is not None:
        yield Citation(document, text_id, start, end, place or "", outcome.criterion_id, is_shown)
