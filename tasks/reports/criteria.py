"""How each criterion of a run came out for a company, as its report says it, from what is stored."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlmodel import Session

from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from storage.texts import find_span_pages, find_stretch
from tasks.companies.profile import field_name
from tasks.evidence.settings import EvidenceSettings
from tasks.language.quotations import in_sentence
from tasks.reports.evidence_links import evidence_url
from tasks.reports.models import (
    ContestedScores,
    CriterionReport,
    CriterionSummary,
    NearestDocument,
    OrderInDocument,
    QuoteBox,
    ReportedContradiction,
    ReportedQuote,
)
from tasks.scoring.criteria import figure_in_words, rule_in_words

_AROUND: Final = 800
"""Characters before and behind a quotation that are read for its sentence."""


def criteria_of_run(run: Run) -> list[CriterionSummary]:
    """The run's criteria in the words of its batch."""
    return [
        CriterionSummary(
            id=criterion["id"],
            kind=criterion["kind"],
            weight=criterion.get("weight", 1),
            label=_label(criterion),
            guide=criterion.get("guide"),
            title=criterion.get("title"),
            severity=criterion.get("severity"),
            recommend=criterion.get("recommend"),
        )
        for criterion in run.criteria["criteria"]
    ]


def _label(criterion: Mapping[str, Any]) -> str:
    """What the criterion asks, in the words of the batch."""
    if criterion["kind"] in {"fact", "figure"}:
        written = criterion.get("bands")
        rule, bands = criterion.get("rule"), {float(score): written[score] for score in written} if written else None
        if criterion["kind"] == "figure":
            return figure_in_words(criterion["figure"], rule, bands, criterion["period"])
        return f"{field_name(criterion['fact'])} {rule_in_words(rule, bands)}"
    return str(criterion["ask"] if criterion["kind"] == "judged" else criterion["document"])


class EvidenceOf(NamedTuple):
    """What is needed to say where a company's quotations can be looked at.

    `pages` are those of spans of texts, `around` the words of their sentences in front of them and behind.
    """

    domain: str
    pages: Mapping[tuple[int, int, int], Sequence[Mapping[str, Any]]]
    around: Mapping[tuple[int, int, int], tuple[str, str]] = {}

    def of(self, document_id: str | None, place: str | None, *span: int | None) -> dict[str, Any]:
        """The fields `evidence_url` and `boxes` of a quotation; `span` is its text's id, its start and its end."""
        text_id, start, end = span
        if document_id is None or text_id is None or start is None or end is None:
            return {}
        before, behind = self.around.get((text_id, start, end), ("", ""))
        if EvidenceSettings.current().evidence == "none":
            return {"before": before, "behind": behind}
        return {
            "before": before,
            "behind": behind,
            "evidence_url": evidence_url(self.domain, document_id, place or "", start, end),
            "boxes": [
                QuoteBox(page=page["page"], left=left, top=top, right=right, bottom=bottom)
                for page in self.pages.get((text_id, start, end), ())
                for left, top, right, bottom in page["boxes"]
            ],
        }


def company_criteria(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
    shown: EvidenceOf,
) -> list[CriterionReport]:
    """Every criterion of the run, in its order; one that the run did not reach is `unscored`."""
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    return [
        _criterion(criterion, outcome, quotes.get(outcome.id or 0, ()), shown)
        if (outcome := by_criterion.get(criterion.id))
        else _unreached(criterion, _why_not_reached(run, company))
        for criterion in criteria_of_run(run)
    ]


def _criterion(
    summary: CriterionSummary, outcome: CriterionOutcome, quotes: Sequence[Quote], shown: EvidenceOf
) -> CriterionReport:
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=outcome.score,
        status=outcome.status,
        reason=outcome.reason,
        quotes=[
            ReportedQuote.model_validate(
                {
                    **quote.model_dump(),
                    **shown.of(quote.document_id, quote.place, quote.text_id, quote.start, quote.end),
                }
            )
            for quote in quotes
        ],
        confidence=outcome.confidence,
        agreement=outcome.agreement,
        contradictions=[
            ReportedContradiction.model_validate(
                {
                    **contradiction,
                    "quotes": [
                        {
                            **quote,
                            **shown.of(
                                quote["document_id"],
                                quote["place"],
                                quote.get("text_id"),
                                quote.get("start"),
                                quote.get("end"),
                            ),
                        }
                        for quote in contradiction["quotes"]
                    ],
                }
            )
            for contradiction in outcome.contradictions
        ],
        missing=(outcome.missing or summary.label) if outcome.status is ScoreStatus.MISSING else None,
        nearest=[NearestDocument.model_validate(document) for document in outcome.nearest],
        orders=[
            OrderInDocument.model_validate(
                {
                    **order,
                    **shown.of(order["document_id"], order["place"], order["text_id"], order["start"], order["end"]),
                }
            )
            for order in outcome.orders
        ],
        contested=ContestedScores.model_validate(outcome.contested) if outcome.contested else None,
    )


def _unreached(summary: CriterionSummary, why: str) -> CriterionReport:
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=None,
        status=ScoreStatus.UNSCORED,
        reason=why,
        quotes=[],
    )


def _why_not_reached(run: Run, company: RunCompany) -> str:
    if company.status is CompanyStatus.FAILED:
        return "Not judged: the company's run failed before it reached this criterion."
    if run.status is RunStatus.RUNNING:
        return "Not judged yet: the run has not reached this criterion."
    return "Not judged: the run ended before it reached this criterion."


def missing_items(criteria: Sequence[CriterionReport]) -> list[str]:
    """What to ask the company for, each thing once."""
    return list(dict.fromkeys(criterion.missing for criterion in criteria if criterion.missing is not None))


def evidence_of(
    session: Session,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
) -> EvidenceOf:
    """Where the quotations of a company's outcomes can be looked at; the quotes are by outcome id."""
    cited = {quote.text_id for of_outcome in quotes.values() for quote in of_outcome}
    cited |= {
        quote.get("text_id")
        for outcome in outcomes
        for contradiction in outcome.contradictions
        for quote in contradiction["quotes"]
    }
    cited |= {order["text_id"] for outcome in outcomes for order in outcome.orders}
    pages = find_span_pages(session, sorted(text_id for text_id in cited if text_id is not None))
    judged = {outcome.id for outcome in outcomes if outcome.status is not ScoreStatus.UNSCORED}
    spans = {
        (quote.text_id, quote.start, quote.end)
        for outcome_id, of_outcome in quotes.items()
        for quote in of_outcome
        if outcome_id in judged and quote.text_id is not None and quote.start is not None and quote.end is not None
    }
    return EvidenceOf(company.domain, pages, {span: _around(session, *span) for span in spans})


def _around(session: Session, text_id: int, start: int, end: int) -> tuple[str, str]:
    """The words of a quotation's sentence, or row, in front of it and behind it."""
    first = max(start - _AROUND, 0)
    stretch = find_stretch(session, text_id, first, end + _AROUND)
    begin, stop = in_sentence(stretch, start - first, end - first)
    return stretch[begin : start - first], stretch[end - first : stop]
