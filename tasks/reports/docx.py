"""The report as a memo to edit and send on: for each company what to do first, then why, with its sources as footnotes.

A company takes five pages at most, however much was found: where it is cut, it says how much more the web page has. The
memo counts the documents of a data room and names those that could not be read; the web page and the workbook list all.
"""

from typing import Final, NamedTuple

from tasks.companies.profile import field_name
from tasks.reports.findings import describe_place, find_red_flags, part_flags, recommend, score_share, strengths
from tasks.reports.key_figures import newest_in_words
from tasks.reports.models import (
    CompanyReport,
    ContradictingQuote,
    CriterionReport,
    OrderInDocument,
    Report,
    ReportedQuote,
)
from tasks.reports.wording import (
    count_unscored_reasons,
    day,
    decision_in_words,
    describe_contest,
    families_in_words,
    find_quote_page,
    fit_text,
    is_passage,
    is_unreached,
    judge,
    list_contested_criteria,
    moment,
    money,
    not_read,
    number,
    outcome_in_words,
    percent,
    plain,
    sentence,
    source_in_words,
    tally,
    tally_in_words,
    thousands,
    to_request,
    trial_in_words,
)
from tasks.reports.wordprocessing import (
    FLAG,
    PAGE,
    WIDTH,
    Inline,
    Note,
    WordCell,
    WordFile,
    WordLink,
    Words,
    row_height,
)

_ROOM: Final = 4 * 0.83 * PAGE
"""What a company may take, in points; the rest is lost where pages break, and the front page is a page too."""
_TAIL: Final = 0.6 * PAGE
"""Of that, what is left to what follows the table of criteria."""
_FLAGS: Final = 6
_LISTED: Final = 8
_KEY_FIGURES: Final = 6
_COLUMNS: Final = (4.2, 2.5, 1.7, 8.6)
"""Of the table of criteria, in centimetres: the criterion, its outcome, its weight, and why."""
_FILLS: Final = {"high": "D5EBE6", "middle": None, "low": "F8E3CC"}


class _Detail(NamedTuple):
    """How much to write about each criterion: lines of its reason, lines per footnote, and the number of footnotes."""

    reason: int
    note: int
    notes: int


_FULL: Final = _Detail(3, 2, 1)
_DETAILS: Final = (
    _Detail(4, 2, 3),
    _Detail(3, 2, 2),
    _FULL,
    _Detail(2, 2, 1),
    _Detail(2, 1, 1),
    _Detail(1, 1, 1),
    _Detail(1, 1, 0),
)


def render(report: Report) -> bytes:
    """The memo as the bytes of a file."""
    run = report.run
    memo = WordFile(run.name, f"{fit_text(run.name, WIDTH - 160, 8)}, {day(run.started_at)}")
    memo.paragraph(fit_text(run.name, WIDTH, 22, 3), style="Title")
    memo.paragraph(f"Due diligence memo, {day(run.started_at)}", style="Subtitle")
    _write_opening(memo, report)
    many = len(report.companies) > _LISTED
    if many:
        _contents(memo, report)
    memo.heading("Where they stand", 2)
    _write_ranking(memo, report)
    if not many:
        _contents(memo, report)
    ranked = sum(company.rank is not None for company in report.companies)
    for company in report.companies:
        _company(memo, company, run.scale, ranked)
    return memo.save()


def _contents(memo: WordFile, report: Report) -> None:
    memo.heading("Contents", 2)
    memo.contents([fit_text(company.name, WIDTH - 60, 10) for company in report.companies])


def _write_opening(memo: WordFile, report: Report) -> None:
    run, companies = report.run, report.companies
    memo.paragraph(
        f"{len(companies)} {'company' if len(companies) == 1 else 'companies'} assessed against "
        f"{len(run.criteria)} {'criterion' if len(run.criteria) == 1 else 'criteria'}, each on a scale from "
        f"{number(run.scale[0])} to {number(run.scale[1])}. What a company has proven is what its scores "
        "earned of the weight of all criteria. Sources stand in the footnotes; each leads to its evidence."
    )
    calls = thousands(run.cost.calls) if run.cost.calls else "none"
    if run.cost.unknown_calls:
        calls += f" and {thousands(run.cost.unknown_calls)} whose answer is unknown"
    if run.cost.usd is not None:
        calls += f", {money(run.cost.usd)} USD"
    ended = moment(run.finished_at) if run.finished_at else "not yet"
    facts = (
        f"Run {run.id}, {run.status}. Started {moment(run.started_at)}, finished {ended}. "
        f"Judged by {judge(run)}; calls to the model: {calls}."
    )
    if trial := trial_in_words(run.model_trial):
        facts += f" {trial}"
    if run.budget:
        facts += f" Budget: {run.budget}."
    memo.paragraph(facts, style="Remark")


def _write_ranking(memo: WordFile, report: Report) -> None:
    columns = ["Rank", "Company", "Proven", "Scored", "May reach", "Recommendation"]
    widths = [1.3, 3.6, 1.5, 1.7, 2.3, 6.6]
    if report.run.sensitivity:
        columns.append("Stability")
        widths[5:] = [4.7, 1.9]
    rows = []
    for company in report.companies:
        row = [
            str(company.rank or "–"),
            fit_text(company.name, widths[1] * 25, 9, 2),
            percent(company.standing.proven),
            percent(company.coverage or 0.0),
            percent(company.standing.high),
            fit_text(recommend(company, report.run.scale).lead, widths[5] * 24, 9, 4),
        ]
        if report.run.sensitivity:
            row.append("–" if company.stability is None else percent(company.stability))
        rows.append([WordCell((text,)) for text in row])
    memo.table(columns, rows, widths)
    memo.paragraph(
        "All are shares of the weight of all criteria. May reach: what is proven if all that is open turned out best. "
        "Companies share a rank where the range of one lies wholly within the other’s; with less than half of the "
        "weight scored, or a gate not met, there is none.",
        style="Remark",
    )
    if report.run.sensitivity:
        draws = f"{thousands(report.run.sensitivity.draws)} draws (each weight {report.run.sensitivity.varied})"
        memo.paragraph(f"Stability: the share of {draws} in which the company keeps its rank.", style="Remark")


def _company(memo: WordFile, company: CompanyReport, scale: tuple[float, float], ranked: int) -> None:
    memo.heading(fit_text(company.name, WIDTH, 17, 2), 1, new_page=True)
    counts = tally(company.documents)
    memo.paragraph(
        f"{company.domain}. {describe_place(company, ranked)} "
        f"{thousands(counts.read)} of {thousands(counts.total)} documents were read.",
        style="Remark",
    )
    if company.requests:
        memo.paragraph(f"Requests: {tally_in_words(company.requests)}.", style="Remark")
    if company.problem:
        _lines(memo, Words("This company’s run failed. ", bold=True, colour=FLAG), company.problem, lines=4)
    advice = recommend(company, scale)
    memo.heading("Recommendation", 2)
    memo.paragraph(fit_text(advice.lead, WIDTH, 12, 3), style="Lead")
    _write_list(memo, "", advice.steps, most=_FLAGS, lines=3)
    if company.criteria and is_unreached(company):
        _lines(memo, company.criteria[0].reason, lines=4)
    else:
        _reasons(memo, company, scale)
        _criteria(memo, company, scale)
    names = {criterion.id: f"{criterion.name}: " for criterion in company.criteria}
    decided = [names.get(one.criterion_id or "", "") + decision_in_words(one) for one in company.decisions]
    _write_list(memo, "Decisions", decided, lines=3)
    _figures(memo, company)
    _write_contested(memo, company)
    _contradictions(memo, company)
    _write_list(
        memo,
        "Where sources disagree",
        [
            f"{field_name(conflict.field)}: "
            + "; ".join(f"{plain(claim.value)} ({claim.source})" for claim in conflict.claims)
            for conflict in company.conflicts
        ],
    )
    unread = [
        f"{document.document_name}: {document.status}. {document.warning or ''}"
        for document in not_read(company.documents)
    ]
    _write_list(memo, "Notes", [*company.warnings, *unread])
    _write_list(memo, "Copies and versions", families_in_words(company.documents))
    _write_list(memo, "Since the last run", [f"{change.text} {change.why}" for change in company.changes])


def _figures(memo: WordFile, company: CompanyReport) -> None:
    """The newest key figures, and those that contradict each other."""
    figures, contradicted = newest_in_words(company, _KEY_FIGURES)
    _write_list(memo, "Key figures", [*figures, *contradicted], most=_KEY_FIGURES + _LISTED, lines=1)


def _reasons(memo: WordFile, company: CompanyReport, scale: tuple[float, float]) -> None:
    """What speaks for the company and against it, and what to ask it for."""
    best = strengths(company, scale)
    if best:
        memo.heading("Strengths", 2)
    for criterion in best:
        _reason(memo, criterion, scale, ())
    flags = find_red_flags(company, scale)
    for heading, shown in zip(("Red flags", "Missing"), part_flags(flags), strict=True):
        if shown:
            memo.heading(heading, 2)
        for flag in shown[:_FLAGS]:
            _reason(memo, flag.criterion, scale, (Words(f"{flag.severity}: ", bold=True, colour=FLAG),))
        _more(memo, len(shown) - _FLAGS, heading.lower())
    _write_list(memo, "To ask the company for", [_request(criterion) for criterion in to_request(company)])


def _reason(memo: WordFile, criterion: CriterionReport, scale: tuple[float, float], before: tuple[Inline, ...]) -> None:
    memo.paragraph(
        *before,
        Words(f"{fit_text(criterion.heading, WIDTH, 10)} – {outcome_in_words(criterion, scale)}. ", bold=True),
        fit_text(criterion.reason, WIDTH, 10, 3),
        *_notes(criterion, _FULL),
        style="ListBullet",
    )


def _criteria(memo: WordFile, company: CompanyReport, scale: tuple[float, float]) -> None:
    """The criteria in a table, in as much detail as there is room for; if there are very many, only the weightiest."""
    shown, rows = company.criteria, []
    room = max(_ROOM - _TAIL - memo.used, 0.4 * PAGE)
    for detail in _DETAILS:
        rows = [_row(criterion, scale, detail) for criterion in shown]
        if sum(row_height(row, _COLUMNS) for row in rows) <= room:
            break
    else:
        by_weight = sorted(range(len(shown)), key=lambda position: -shown[position].weight)
        most = max(int(room / row_height(rows[0], _COLUMNS)), 1)
        rows = [rows[position] for position in sorted(by_weight[:most])]
    memo.heading("Criteria", 2)
    for reason, count in list(count_unscored_reasons(company).items())[:2]:
        memo.paragraph(fit_text(f"{count} unscored: {reason}", WIDTH, 9, 2), style="Remark")
    memo.table(["Criterion", "Outcome", "Weight", "Why"], rows, _COLUMNS)
    _more(memo, len(shown) - len(rows), "criteria")


def _row(criterion: CriterionReport, scale: tuple[float, float], detail: _Detail) -> list[WordCell]:
    share = score_share(criterion, scale)
    band = "middle" if share is None else "high" if share >= 0.8 else "low" if share <= 0.4 else "middle"
    lines = min(detail.reason, 2)
    return [
        WordCell((fit_text(criterion.heading, _COLUMNS[0] * 24, 9, lines),)),
        WordCell((fit_text(outcome_in_words(criterion, scale), _COLUMNS[1] * 24, 9, 2),), _FILLS[band]),
        WordCell((number(criterion.weight),)),
        WordCell((_why(criterion, detail.reason), *_notes(criterion, detail))),
    ]


def _why(criterion: CriterionReport, lines: int) -> str:
    """The reason or, if nobody judged, the best passage found."""
    width = _COLUMNS[3] * 25
    if criterion.quotes and is_passage(criterion, criterion.quotes[0]):
        passage = " ".join(criterion.quotes[0].text.split())
        return f"{fit_text(f'Passage, not judged: “{passage}', width - 4, 9, lines)}”"
    return fit_text(criterion.reason, width, 9, lines)


def _notes(criterion: CriterionReport, detail: _Detail) -> list[Note]:
    """Footnotes with the sources of a criterion, verified ones first; for a passage, which is shown
    above, its place.
    """
    if criterion.quotes and is_passage(criterion, criterion.quotes[0]):
        return [Note(("Passage: ", _source(passage), ".")) for passage in criterion.quotes[: min(detail.notes, 1)]]
    quotes = sorted(criterion.quotes, key=lambda quote: not quote.verified)
    return [_note(quote, source_in_words(criterion, quote), detail.note) for quote in quotes[: detail.notes]]


def _note(quote: ReportedQuote | ContradictingQuote, what: str, lines: int) -> Note:
    stance = getattr(quote, "stance", None)
    remark = f" – evidence {stance}, {what}, " if stance else f" – {what}, "
    words = fit_text(quote.text, WIDTH - 340 if lines == 1 else WIDTH, 8, max(lines - 1, 1))
    return Note((f"“{words}”{remark}", _source(quote), "."))


def _source(quote: ReportedQuote | ContradictingQuote | OrderInDocument) -> WordLink:
    """The document and the place, leading to the evidence."""
    name, place = fit_text(quote.document_name or "no document", 200, 8), fit_text(quote.place or "", 180, 8)
    return WordLink(f"{name}, {place}" if place else name, find_quote_page(quote))


def _contradictions(memo: WordFile, company: CompanyReport) -> None:
    contradictions = [told for criterion in company.criteria for told in criterion.contradictions]
    if contradictions:
        memo.heading("Contradictions in the data room", 2)
    shown = contradictions[: 4 if memo.used < _ROOM - _TAIL / 2 else 1]
    for contradiction in shown:
        inlines: list[Inline] = [Words(f"{fit_text(contradiction.about, WIDTH, 10)}: ", bold=True)]
        for quote, after in zip(contradiction.quotes, (" but ", ""), strict=True):
            inlines += [f"“{fit_text(quote.text, WIDTH, 10, 1)}”", _note(quote, "verified", 1), after]
        memo.paragraph(*inlines, style="ListBullet")
    _more(memo, len(contradictions) - len(shown), "contradictions")


def _write_contested(memo: WordFile, company: CompanyReport) -> None:
    contested = list_contested_criteria(company)
    if contested:
        memo.heading("Contested scores", 2)
    shown = contested[: 4 if memo.used < _ROOM - _TAIL / 2 else 1]
    for criterion in shown:
        inlines: list[Inline] = [Words(f"{fit_text(criterion.name, WIDTH / 2, 10)}: ", bold=True, colour=FLAG)]
        inlines.append(fit_text(sentence(describe_contest(criterion)), WIDTH, 10, 2))
        for order in criterion.orders[:2]:
            inlines += [f" “{fit_text(order.text, WIDTH / 2, 10, 1)}” (", _source(order), ")"]
        memo.paragraph(*inlines, style="ListBullet")
    _more(memo, len(contested) - len(shown), "contested scores")


def _request(criterion: CriterionReport) -> str:
    nearest = ", ".join(f"{document.document_name} ({document.why})" for document in criterion.nearest)
    return sentence(criterion.missing or "") + (f" Nearest in the data room: {nearest}." if nearest else "")


def _write_list(memo: WordFile, title: str, items: list[str], most: int = _LISTED, lines: int = 2) -> None:
    """A list under a heading, as long as there is room; nothing if it is empty."""
    if items and title:
        memo.heading(title, 2)
    listed = 0
    for item in items[:most]:
        if listed and memo.used > _ROOM:
            break
        memo.paragraph(fit_text(item, WIDTH - 20, 10, lines), style="ListBullet")
        listed += 1
    _more(memo, len(items) - listed, "")


def _more(memo: WordFile, count: int, what: str) -> None:
    if count > 0:
        memo.paragraph(f"{thousands(count)} more {what}".strip() + " in the web page.", style="Remark")


def _lines(memo: WordFile, *inlines: Inline, lines: int) -> None:
    memo.paragraph(*(fit_text(part, WIDTH, 10, lines) if isinstance(part, str) else part for part in inlines))
