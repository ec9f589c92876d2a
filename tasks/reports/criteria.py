"""The outcome of each criterion of a run for a company, in the words of its report, from what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from sqlmodel import Session

from storage.columns import row_values
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from storage.scores import Absence, CriterionOutcome, Quote, ScoreStatus
from storage.texts import find_span_pages, find_stretch
from tasks.companies.profile import field_name
from tasks.documents.settings import EvidenceSettings
from tasks.language.quotations import in_sentence
from tasks.language.sentences import sentences
from tasks.language.words import tokens
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
from tasks.reports.wording import evidence_url
from tasks.scoring.criteria import figure_in_words, rule_in_words
from tasks.scoring.results import is_open

TRIMMED: Final = 320
"""Characters of a trimmed passage, about four lines."""
_MOST_ROWS: Final = 6
"""Rows of a table in a trimmed passage, its first one among them."""
_MOST_CELLS: Final = 9
"""Cells of a row of it."""


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """A paragraph of one cell, or the rows of a table."""

    kind: Literal["paragraph", "table"]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage in blocks. `before` and `behind`: whether text was trimmed there."""

    blocks: list[PassageBlock]
    before: bool = False
    behind: bool = False


def whole(text: str) -> ShownPassage:
    """The passage without trimming."""
    return ShownPassage(_blocks(text.splitlines()))


def trim_passage(text: str, question: str) -> ShownPassage:
    """The part of a passage, about `TRIMMED` characters, that has most words of the question.

    It begins and ends with a line or sentence. A table row is kept with the table's first row, its header.
    """
    units, words_of_units = _read_units(text)
    if len(text) <= TRIMMED and len(units) <= _MOST_ROWS + 2:
        return whole(text)
    words = _list_words(question)
    shared = [len(words & unit_words) for unit_words in words_of_units]
    best = max(range(len(units)), key=lambda place: (shared[place], -place))
    first, last = _window(units, best)
    head = _head(units, best)
    shown = [units[head], *units[first:last]] if head < first else units[first:last]
    lines = ["\t".join(_narrow(line.split("\t"))) for line in _lines(shown)]
    return ShownPassage(_blocks(lines), before=first > 0, behind=last < len(units))


@lru_cache(maxsize=512)  # a criterion's question is that of a passage of every company
def _list_words(question: str) -> frozenset[str]:
    return frozenset(tokens(question))


class _Unit(NamedTuple):
    """A line, or a sentence of a long one; `continues`: it is on the same line as the unit before it."""

    text: str
    continues: bool = False

    @property
    def is_row(self) -> bool:
        return "\t" in self.text


@lru_cache(maxsize=128)  # several criteria of a company show the same passage
def _read_units(text: str) -> tuple[list[_Unit], list[frozenset[str]]]:
    """The units of a passage, and the words of each."""
    units = [unit for line in text.splitlines() if line.strip() for unit in _units(line)]
    return units, [frozenset(tokens(unit.text)) for unit in units]


def _units(line: str) -> list[_Unit]:
    if len(line) <= TRIMMED // 2 or "\t" in line:
        return [_Unit(line)]
    cut = [part if len(part) <= TRIMMED else f"{part[:TRIMMED].rsplit(' ', 1)[0]} …" for part in sentences(line)]
    return [_Unit(part, continues=place > 0) for place, part in enumerate(cut)] or [_Unit(line[:TRIMMED])]


def _narrow(cells: list[str]) -> list[str]:
    """The cells of a row, of a wide one its name and the first ones."""
    return cells if len(cells) <= _MOST_CELLS else [*cells[: _MOST_CELLS - 1], "…"]


def _window(units: Sequence[_Unit], best: int) -> tuple[int, int]:
    """As many units around the best one as fit, following ones first; for a table row, within its table."""
    first, last, length = best, best + 1, len(units[best].text)
    while sum(unit.is_row for unit in units[first:last]) < _MOST_ROWS:
        behind = last < len(units) and (units[last].is_row or not units[best].is_row)
        if behind and length + len(units[last].text) <= TRIMMED:
            length += len(units[last].text)
            last += 1
        elif first > 0 and length + len(units[first - 1].text) <= TRIMMED:
            first -= 1
            length += len(units[first].text)
        elif behind and last - best == 1 and length < TRIMMED // 4:  # a heading is not shown without what follows
            length += len(units[last].text)
            last += 1
        else:
            break
    return first, last


def _head(units: Sequence[_Unit], place: int) -> int:
    """The first row of the table around a unit; the unit itself if it is in none."""
    while place > 0 and units[place].is_row and units[place - 1].is_row:
        place -= 1
    return place


def _lines(units: Sequence[_Unit]) -> list[str]:
    lines: list[str] = []
    for unit in units:
        if unit.continues and lines:
            lines[-1] += f" {unit.text}"
        else:
            lines.append(unit.text)
    return lines


def _blocks(lines: Sequence[str]) -> list[PassageBlock]:
    """The lines as blocks: consecutive lines with tabs are rows of a table, other lines are paragraphs."""
    blocks: list[PassageBlock] = []
    for line in lines:
        kind: Literal["paragraph", "table"] = "table" if "\t" in line else "paragraph"
        if not line.strip():
            continue
        if not blocks or blocks[-1].kind != kind:
            blocks.append(PassageBlock(kind, []))
        blocks[-1].rows.append(line.split("\t") if kind == "table" else [line])
    return blocks


_AROUND: Final = 800
"""Characters before and behind a quotation that are read for its sentence."""


def summarise_criteria(run: Run) -> list[CriterionSummary]:
    """The run's criteria as its batch words them."""
    return [
        CriterionSummary(
            label=_label(criterion),
            weight=criterion.get("weight", 1),
            must=criterion.get("must") or False,
            **{name: criterion.get(name) for name in ("id", "kind", "guide", "title", "severity", "recommend")},
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

    `pages` are the pages of spans of texts, None where evidence is not shown, `around` the words of their sentences
    before and after them.
    """

    domain: str
    pages: Mapping[tuple[int, int, int], Sequence[Mapping[str, Any]]] | None
    around: Mapping[tuple[int, int, int], tuple[str, str]] = {}

    def add_to(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """What is stored of words of a document, with the fields that say where they can be looked at."""
        document_id, text_id, start, end = (words.get(name) for name in ("document_id", "text_id", "start", "end"))
        if document_id is None or text_id is None or start is None or end is None:
            return dict(words)
        before, behind = self.around.get((text_id, start, end), ("", ""))
        shown = {**words, "before": before, "behind": behind}
        if self.pages is not None:
            shown["evidence_url"] = evidence_url(self.domain, document_id, words["place"] or "", start, end)
            shown["boxes"] = [
                QuoteBox(page=page["page"], left=left, top=top, right=right, bottom=bottom)
                for page in self.pages.get((text_id, start, end), ())
                for left, top, right, bottom in page["boxes"]
            ]
        return shown


def company_criteria(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[Quote]],
    shown: EvidenceOf,
) -> list[CriterionReport]:
    """Every criterion of the run, in order; those that the run did not reach are `unscored`."""
    by_criterion = {outcome.criterion_id: outcome for outcome in outcomes}
    criteria = [
        _criterion(criterion, outcome, quotes.get(outcome.id or 0, ()), shown)
        if (outcome := by_criterion.get(criterion.id))
        else _make_unreached(criterion, _why_not_reached(run, company))
        for criterion in summarise_criteria(run)
    ]
    for criterion, asked in zip(criteria, run.criteria["criteria"], strict=True):
        criterion.open = is_open(asked, by_criterion.get(criterion.id))
    return criteria


def _criterion(
    summary: CriterionSummary, outcome: CriterionOutcome, quotes: Sequence[Quote], shown: EvidenceOf
) -> CriterionReport:
    return CriterionReport(
        **summary.model_dump(exclude={"guide"}),
        score=outcome.score,
        status=outcome.status,
        reason=outcome.reason,
        quotes=[ReportedQuote.model_validate(shown.add_to(row_values(quote, Quote))) for quote in quotes],
        confidence=outcome.confidence,
        agreement=outcome.agreement,
        contradictions=[
            ReportedContradiction.model_validate(
                {**contradiction, "quotes": list(map(shown.add_to, contradiction["quotes"]))}
            )
            for contradiction in outcome.contradictions
        ],
        missing=(outcome.missing or summary.label)
        if outcome.status is ScoreStatus.MISSING and outcome.absence is not Absence.NOT_APPLICABLE
        else None,
        absence=(outcome.absence or Absence.SILENT) if outcome.status is ScoreStatus.MISSING else None,
        nearest=[NearestDocument.model_validate(document) for document in outcome.nearest],
        orders=[OrderInDocument.model_validate(shown.add_to(order)) for order in outcome.orders],
        contested=ContestedScores.model_validate(outcome.contested) if outcome.contested else None,
    )


def _make_unreached(summary: CriterionSummary, why: str) -> CriterionReport:
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


def list_missing_items(criteria: Sequence[CriterionReport]) -> list[str]:
    """What to ask the company for, each item once."""
    return list(dict.fromkeys(criterion.missing for criterion in criteria if criterion.missing is not None))


def find_evidence(
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
    pages = None
    if EvidenceSettings.current().evidence != "none":
        pages = find_span_pages(session, sorted(text_id for text_id in cited if text_id is not None))
    judged = {outcome.id for outcome in outcomes if outcome.status is not ScoreStatus.UNSCORED}
    spans = {
        (quote.text_id, quote.start, quote.end): quote.text
        for outcome_id, of_outcome in quotes.items()
        for quote in of_outcome
        if outcome_id in judged and quote.text_id is not None and quote.start is not None and quote.end is not None
    }
    return EvidenceOf(company.domain, pages, {span: _around(session, *span, said) for span, said in spans.items()})


def _around(session: Session, text_id: int, start: int, end: int, quoted: str) -> tuple[str, str]:
    """The words before and after a quotation in its sentence or row; none where it has its own headers and label."""
    first = max(start - _AROUND, 0)
    stretch = find_stretch(session, text_id, first, end + _AROUND)
    if "\t" in quoted and quoted != stretch[start - first : end - first]:
        return "", ""
    begin, stop = in_sentence(stretch, start - first, end - first)
    return stretch[begin : start - first], stretch[end - first : stop]
