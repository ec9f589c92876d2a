"""Builds the report of a run, the object described in `models`, from the database.

Scores, totals and ranks are read as the run stored them. Three things are computed here: the conflicts
between sources, the changes since the last run, and how stable the ranking is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlmodel import Session

from storage.calls import count_unanswered
from storage.companies import get_profile, profile_claims
from storage.database import reading
from storage.evidence import find_span_pages
from storage.run_documents import DocumentStatus, RunDocument, company_documents
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus, find_company, find_run, previous_run, run_companies
from storage.scores import CriterionOutcome, Quote, ScoreStatus, company_outcomes, outcome_quotes
from storage.texts import find_stretch
from tasks.companies.claims import Claim, find_conflicts
from tasks.companies.field_names import field_name
from tasks.errors import NotFound
from tasks.evidence.settings import EvidenceSettings
from tasks.figures.conflicts import Step
from tasks.figures.ledger import LedgerText, room_ledger
from tasks.figures.rows import conflict_row, derived_row, room_row
from tasks.reports.changes import (
    Causes,
    Change,
    criteria_changes,
    document_changes,
    redefined_criteria,
    score_moves,
)
from tasks.reports.evidence_links import evidence_url
from tasks.reports.figure_comparisons import compare
from tasks.reports.models import (
    CompanyReport,
    ContestedScores,
    Cost,
    CriterionReport,
    CriterionSummary,
    DocumentReport,
    NearestDocument,
    OrderInDocument,
    PreviousRun,
    QuoteBox,
    Report,
    ReportedContradiction,
    ReportedQuote,
    RunSummary,
    Sensitivity,
)
from tasks.scoring.criteria import figure_in_words, rule_in_words, rule_of_run
from tasks.scoring.score import DRAWS, stability
from tasks.text.quotations import in_sentence

__all__ = ["Report", "build", "build_scores"]

_AROUND = 800
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


def company_criteria(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
    shown: "EvidenceOf",
) -> list[CriterionReport]:
    """Every criterion of the run, in its order; one that the run did not reach is `unscored`."""
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    return [
        _criterion(criterion, outcome, quotes.get(outcome.id or 0, ()), shown)
        if (outcome := by_criterion.get(criterion.id))
        else _unreached(criterion, _why_not_reached(run, company))
        for criterion in criteria_of_run(run)
    ]


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
                            **said,
                            **shown.of(
                                said["document_id"],
                                said["place"],
                                said.get("text_id"),
                                said.get("start"),
                                said.get("end"),
                            ),
                        }
                        for said in contradiction["quotes"]
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


def build(run_id: str, domain: str | None = None) -> Report:
    """The report of a run, finished or not. `run_id` is its id, its batch's name (the latest run) or `latest`.

    With `domain`, of that company alone.

    Raises:
        tasks.errors.NotFound: there is no such run.
        storage.DatabaseUnavailable: the database cannot be opened.
    """
    with reading() as session:
        run = find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        before = previous_run(session, run)
        unknown_calls = count_unanswered(session, run.id)
        earlier = {company.domain: company for company in _chosen(session, before, domain)} if before else {}
        companies = [
            _company(session, run, company, before, earlier.get(company.domain))
            for company in _chosen(session, run, domain)
        ]
    companies.sort(key=in_reports_order)
    summary = _summary(run, before, unknown_calls)
    if domain is None:
        summary.sensitivity = _add_stability(companies, run)
    return Report(run=summary, companies=companies)


def _chosen(session: Session, run: Run, domain: str | None) -> Sequence[RunCompany]:
    if domain is None:
        return run_companies(session, run.id)
    company = find_company(session, run.id, domain)
    return [] if company is None else [company]


def build_scores(run_id: str, domain: str) -> Report:
    """The scores of one company of a run: its report without documents, figures and changes, which take most of it.

    Raises:
        As `build`.
    """
    with reading() as session:
        run = find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        companies = [
            _scores(session, run, company, _Rows.of(session, company)) for company in _chosen(session, run, domain)
        ]
        return Report(run=_summary(run, None, count_unanswered(session, run.id)), companies=companies)


def in_reports_order(company: CompanyReport | RunCompany) -> tuple[bool, int]:
    """The key by which a report sorts the companies of a batch: the ranked ones first."""
    return company.rank is None, company.rank or 0


def _summary(run: Run, before: Run | None, unknown_calls: int) -> RunSummary:
    low, high = run.criteria["scale"]
    return RunSummary(
        id=run.id,
        name=run.batch,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        cost=cost_of(run, unknown_calls),
        budget=run.budget,
        answerer=run.answerer,
        scale=(low, high),
        criteria=criteria_of_run(run),
        previous=PreviousRun(id=before.id, started_at=before.started_at) if before else None,
        sensitivity=None,
    )


def cost_of(run: Run, unknown_calls: int) -> Cost:
    """What a run asked of a model; `unknown_calls` have no answer."""
    return Cost(
        calls=run.calls,
        unknown_calls=unknown_calls,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        usd=run.usd,
    )


def _add_stability(companies: Sequence[CompanyReport], run: Run) -> Sensitivity | None:
    """Set how often each ranked company keeps its rank when the weights vary; gives how that was tried."""
    low, high = run.criteria["scale"]
    ranked = [company for company in companies if company.rank is not None]
    standings = [
        {
            criterion.id: (criterion.score - low) / (high - low)
            for criterion in company.criteria
            if criterion.status.counts and criterion.score is not None
        }
        for company in ranked
    ]
    shares = (
        stability(standings, {criterion.id: criterion.weight for criterion in criteria_of_run(run)})
        if all(standings)
        else None
    )
    if shares is None:
        return None
    for company, share in zip(ranked, shares, strict=True):
        company.stability = share
    return Sensitivity(draws=DRAWS, varied="multiplied by a factor between a half and twice")


def _company(
    session: Session, run: Run, company: RunCompany, before: Run | None, earlier: RunCompany | None
) -> CompanyReport:
    rows = _Rows.of(session, company)
    documents = company_documents(session, rows.company_id)
    changes: list[Change] = []
    if before and earlier:
        now = _Side(run, company, documents, rows.outcomes)
        changes = _changes(now, _side(session, before, earlier), rows.quotes)
    return _scores(
        session,
        run,
        company,
        rows,
        documents=[_document(run, document) for document in documents],
        changes=changes,
        compared_with=before.id if before and earlier else None,
        **_figures(documents, rows.claims, rule_of_run(run.criteria)),
    )


class _Rows(NamedTuple):
    """What is stored of a company's scores and of its facts."""

    company_id: int
    outcomes: Sequence[CriterionOutcome]
    quotes: Mapping[int, Sequence[Quote]]
    claims: Sequence[Claim]

    @classmethod
    def of(cls, session: Session, company: RunCompany) -> "_Rows":
        assert company.id is not None
        return cls(
            company.id,
            company_outcomes(session, company.id),
            outcome_quotes(session, company.id),
            _claims(session, company),
        )


def _scores(session: Session, run: Run, company: RunCompany, rows: _Rows, **others: Any) -> CompanyReport:
    """A company's report: its scores and facts, and the fields in `others`."""
    shown = _evidence_of(session, company, rows.outcomes, rows.quotes)
    criteria = company_criteria(run, company, rows.outcomes, rows.quotes, shown)
    nothing: dict[str, Any] = {"documents": [], "changes": [], "compared_with": None}
    return CompanyReport(
        name=company.name,
        domain=company.domain,
        folder_id=company.folder_id,
        total=company.total,
        coverage=company.coverage,
        rank=company.rank,
        criteria=criteria,
        missing=missing_items(criteria),
        conflicts=find_conflicts(rows.claims),
        status=company.status,
        problem=company.problem,
        warnings=_warnings(session, company, criteria, rows.outcomes),
        facts=list({claim.field: claim for claim in reversed(rows.claims)}.values())[::-1],
        **nothing | others,
    )


def _figures(documents: Sequence[RunDocument], claims: Sequence[Claim], rule: Sequence[Step]) -> dict[str, Any]:
    """The fields of a company's report that tell of the figures in its documents."""
    texts = [
        LedgerText(document.text_id, document.document_id, document.name, document.path)
        for document in documents
        if document.text_id is not None
    ]
    ledger = room_ledger(texts, rule=rule)
    return {
        "figures": [room_row(row) for row in ledger.figures],
        "figure_conflicts": [conflict_row(conflict) for conflict in ledger.conflicts],
        "derived_figures": [derived_row(derived) for derived in ledger.derived],
        "figure_comparisons": compare(claims, [*ledger.figures, *ledger.founded], rule),
        "untied_sums": list(ledger.ties),
        "figures_left_out": ledger.left_out,
    }


def _evidence_of(
    session: Session,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
) -> EvidenceOf:
    cited = {quote.text_id for of_outcome in quotes.values() for quote in of_outcome}
    cited |= {
        said.get("text_id")
        for outcome in outcomes
        for contradiction in outcome.contradictions
        for said in contradiction["quotes"]
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


def _claims(session: Session, company: RunCompany) -> list[Claim]:
    """What the sources of the company's profile say, in the order of their precedence."""
    if company.profile_id is None:
        return []
    return [Claim.model_validate(claim) for claim in profile_claims(session, company.profile_id)]


def _warnings(
    session: Session,
    company: RunCompany,
    criteria: Sequence[CriterionReport],
    outcomes: Sequence[CriterionOutcome],
) -> list[str]:
    """The company's own warnings, those of its profile's sources and those of its criteria, each once."""
    profile = get_profile(session, company.profile_id).warnings if company.profile_id is not None else []
    names = {criterion.id: criterion.name for criterion in criteria}
    judged = [
        f"{names.get(outcome.criterion_id, outcome.criterion_id)}: {outcome.warning}"
        for outcome in outcomes
        if outcome.warning
    ]
    return list(dict.fromkeys([*company.warnings, *profile, *judged]))


def _document(run: Run, document: RunDocument) -> DocumentReport:
    """A document that the run did not reach counts as failed: the scores do not include its text."""
    status, warning = document.status, document.warning
    if status is DocumentStatus.PENDING:
        status = DocumentStatus.FAILED
        warning = why_pending(run)
    return DocumentReport(
        document_id=document.document_id,
        document_name=document.name,
        status=status.value,
        characters=document.characters,
        warning=warning,
        path=document.path,
        document_url=document.url,
    )


def why_pending(run: Run) -> str:
    """Why a run has no outcome for a document."""
    return "Not reached yet." if run.status is RunStatus.RUNNING else "Not reached: the run ended before it."


class _Side(NamedTuple):
    """One of two runs that are compared, for one company."""

    run: Run
    company: RunCompany
    documents: Sequence[RunDocument]
    outcomes: Sequence[CriterionOutcome]


def _side(session: Session, run: Run, company: RunCompany) -> _Side:
    assert company.id is not None
    return _Side(run, company, company_documents(session, company.id), company_outcomes(session, company.id))


def _changes(now: _Side, earlier: _Side, quotes: Mapping[int, Sequence[Quote]]) -> list[Change]:
    """Since the earlier run. Scores on another scale are not compared."""
    documents = (
        document_changes(earlier.documents, now.documents) if _has_seen_room(now) and _has_seen_room(earlier) else []
    )
    criteria = criteria_changes(earlier.run.criteria, now.run.criteria)
    if now.run.criteria["scale"] != earlier.run.criteria["scale"]:
        return criteria + documents
    causes = Causes(
        redefined=redefined_criteria(earlier.run.criteria, now.run.criteria),
        answerers=(earlier.run.answerer, now.run.answerer),
        documents=documents,
        quoted={
            outcome.criterion_id: {quote.document_id for quote in quotes.get(outcome.id or 0, ())}
            for outcome in now.outcomes
        },
    )
    return score_moves(earlier.outcomes, now.outcomes, causes) + criteria + documents


def _has_seen_room(side: _Side) -> bool:
    """Whether the run saw the data room. One that could not be reached did not lose its documents."""
    return bool(side.documents) or side.company.status is CompanyStatus.FINISHED
