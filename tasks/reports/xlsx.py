"""The report as a workbook: the ranking to calculate with, and a sheet for each kind of finding to filter.

Shares and ranks are formulas over the scores and weights: change a weight, and the ranking changes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from openpyxl.utils import get_column_letter

from storage.scores import ScoreStatus
from tasks.companies.profile import field_name
from tasks.figures.figure import name_in_words
from tasks.reports.company import in_words
from tasks.reports.findings import falls_short, find_red_flags, heat
from tasks.reports.key_figures import in_full
from tasks.reports.models import (
    ComparedFigure,
    ContradictingQuote,
    CriterionReport,
    OrderInDocument,
    Report,
    ReportedFigure,
    ReportedQuote,
    ReportedTable,
    Severity,
)
from tasks.reports.wording import (
    ABSENCES,
    by_urgency,
    decision_in_words,
    describe_contest,
    find_quote_page,
    is_passage,
    judge,
    link_address,
    list_contested_criteria,
    number,
    outcome_in_words,
    page_address,
    to_request,
    trial_in_words,
)
from tasks.reports.workbook import (
    COUNT,
    FIGURE,
    QUIET,
    REQUEST_COLUMNS,
    SHARE,
    WEIGHT,
    ColumnFields,
    Formula,
    Row,
    SheetColumn,
    SheetLink,
    Styled,
    Value,
    WorkbookFile,
    heat_style,
    request_rows,
    severity_style,
    status_style,
)
from tasks.scoring.results import ENOUGH
from tasks.table.columns import value_in_words

_FIRST_COMPANY: Final = 3  # row of the ranking, below its head and the weights
_FIRST_SCORE: Final = 8  # column of the ranking
_STANDING: Final = (
    SheetColumn("Rank", 8, COUNT),
    SheetColumn("Company", 28),
    SheetColumn("Domain", 18, QUIET),
    SheetColumn("Proven", 9, SHARE),
    SheetColumn("May reach", 9, SHARE),
    SheetColumn("Scored", 9, SHARE),
    SheetColumn("Fails the gates", 14),
)
_OPEN: Final = "missing, open"  # what may lie in what could not be read, or was left open
_COMPANY, _CRITERION, _ID = ("Company", 22), ("Criterion", 24), ("Id", 20, QUIET)
_SOURCE: Final = (("Document", 30), ("Place", 16), ("Link", 7))


def render(report: Report) -> bytes:
    """The workbook as the bytes of a file."""
    book = WorkbookFile()
    scores = [SheetColumn(criterion.name, 11, WEIGHT) for criterion in report.run.criteria]
    problems = any(company.problem for company in report.companies)
    ends = (
        SheetColumn("Ahead of it", 10, COUNT),
        SheetColumn("Rank stability", 10, SHARE),
        SheetColumn("Status", 9),
        SheetColumn("Problem", 36 if problems else 9),
    )
    book.sheet("Ranking", (*_STANDING, *scores, *ends), _write_ranking(report), still=(2, 2))
    for title, beside, columns, rows in _SHEETS:
        book.sheet(title, [SheetColumn(*column) for column in columns], rows(report), still=(1, beside))
    if any(company.requests for company in report.companies):
        listed = ([company.name, *row] for company in report.companies for row in request_rows(company))
        book.sheet("Requests", (SheetColumn(*_COMPANY), *REQUEST_COLUMNS), listed, still=(1, 2))
    add_tables(book, [(company.name, table) for company in report.companies for table in company.tables])
    book.sheet("Run", (SheetColumn("What", 26), SheetColumn("Value", 100)), _run(report), still=(1, 1))
    return book.save()


def _write_ranking(report: Report) -> Iterator[Row]:
    """A row of weights, taken from their sheet, followed by a row per company with formulas over its scores."""
    count, scale = len(report.run.criteria), report.run.scale
    weights = [Styled(Formula(f"=Weights!$B${row}"), WEIGHT) for row in range(2, count + 2)]
    yield [None, Styled("Weight", QUIET), *[None] * 5, *weights, *[None] * 4]
    last = _FIRST_COMPANY + len(report.companies) - 1
    for row, company in enumerate(report.companies, _FIRST_COMPANY):
        scores = [_score(criterion, scale) for criterion in company.criteria]
        rank, *shares, ahead = _figures(row, last, count, scale) if count else [None] * 5
        names = {criterion.id: criterion.name for criterion in company.criteria}
        gates = ", ".join(names.get(gate, gate) for gate in company.standing.gates_failed) or None
        yield [
            *(rank, company.name, company.domain, *shares, gates, *scores),
            *(ahead, company.stability, company.status.value, company.problem),
        ]


def _figures(row: int, last: int, criteria: int, scale: tuple[float, float]) -> list[Formula]:
    """Rank, proven share, best possible share, scored share, and the number of companies ahead, for the company in a
    row.

    A criterion without a score has a word in its cell. What is certainly missing earns nothing; every other word leaves
    its weight open. The rank is that of `tasks.scoring.results`: companies are ahead if they are so at both ends of
    the range, and none is ahead of one that has proven more.
    """
    begin, end = get_column_letter(_FIRST_SCORE), get_column_letter(_FIRST_SCORE + criteria - 1)
    ahead = get_column_letter(_FIRST_SCORE + criteria)
    weights, scores = f"${begin}$2:${end}$2", f"{begin}{row}:{end}{row}"
    counted = f"SUMPRODUCT({weights}*ISNUMBER({scores}))"
    missing = f'SUMPRODUCT({weights}*({scores}="{ScoreStatus.MISSING}"))'
    low, high = scale
    proven, reach, scored, gates, others = (f"${one}${_FIRST_COMPANY}:${one}${last}" for one in (*"DEFG", ahead))
    ranked = f'(ROUND({scored},9)>={ENOUGH:g})*({gates}="")'
    higher = f"(ROUND({proven},9)>ROUND(D{row},9))*(ROUND({reach},9)>ROUND(E{row},9))"
    not_lower = f"(ROUND({proven},9)>=ROUND(D{row},9))"
    best = f"1+SUMPRODUCT(MAX({ranked}*{not_lower}*{others}))"
    return [
        Formula(f'=IF(AND(ROUND(F{row},9)>={ENOUGH:g},G{row}=""),{best},"")'),
        Formula(f"=(SUMPRODUCT({weights},{scores})-{low:g}*{counted})/({high - low:g}*SUM({weights}))"),
        Formula(f"=D{row}+1-F{row}-{missing}/SUM({weights})"),
        Formula(f"={counted}/SUM({weights})"),
        Formula(f"=SUMPRODUCT({ranked}*{higher})"),
    ]


def _score(criterion: CriterionReport, scale: tuple[float, float]) -> Styled:
    """The score with its colour on the heat scale, or the word for a criterion without a score that counts."""
    score = criterion.counted
    if score is None:
        what = _OPEN if criterion.status is ScoreStatus.MISSING and criterion.open else criterion.status.value
        return Styled(what, status_style(criterion.status.value))
    style = heat_style(heat(score, scale), flagged=falls_short(criterion, scale))
    return Styled(score, style, decimals=len(number(score).partition(".")[2]))


def _weights(report: Report) -> Iterator[Row]:
    for criterion in report.run.criteria:
        severity = criterion.severity
        shown = _severity(severity) if isinstance(severity, str) else criterion.severity_in_words
        yield [criterion.name, criterion.weight, criterion.id, shown, criterion.label, criterion.guide]


def _severity(severity: Severity | None) -> Styled | None:
    return Styled(severity, severity_style(severity)) if severity else None


def _write_red_flags(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for severity, criterion in find_red_flags(company, report.run.scale):
            outcome = (criterion.name, outcome_in_words(criterion, report.run.scale), criterion.reason)
            source = _source(criterion.quotes[0]) if criterion.quotes else (None, None, None)
            yield [_severity(severity), company.name, *outcome, criterion.recommend, criterion.missing, *source]


def _criteria(report: Report) -> Iterator[Row]:
    for company in report.companies:
        flags = {flag.criterion.id: flag.severity for flag in find_red_flags(company, report.run.scale)}
        for criterion in company.criteria:
            score = criterion.score
            shown = score if criterion.counted is None else _score(criterion, report.run.scale)
            what = outcome_in_words(criterion, report.run.scale) if criterion.absence else criterion.status.value
            judged = (what, criterion.confidence, criterion.agreement, criterion.reason)
            asked = (criterion.name, criterion.label, criterion.kind, criterion.weight)
            yield [company.name, *asked, shown, *judged, _severity(flags.get(criterion.id)), criterion.id]


def _decisions(report: Report) -> Iterator[Row]:
    for company in report.companies:
        criteria = {criterion.id: criterion for criterion in company.criteria}
        for decision in company.decisions:
            criterion = criteria.get(decision.criterion_id or "")
            named = criterion.name if criterion else decision.criterion_id
            own = None if criterion is None else criterion.score if criterion.status.counts else criterion.status.value
            words = (decision_in_words(decision), "yes" if decision.is_open else "no", own)
            yield [company.name, named, *words, decision.by, f"{decision.at:%Y-%m-%d %H:%M}"]


def _source(
    quote: ReportedQuote | ContradictingQuote | OrderInDocument,
) -> tuple[str | None, str | None, SheetLink | None]:
    """The document, the place in it, and the link that opens it."""
    return quote.document_name, quote.place, _link(find_quote_page(quote))


def _link(url: str | None) -> SheetLink | None:
    return SheetLink("open", url) if link_address(url) else None


def _quotes(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in company.criteria:
            for at, quote in enumerate(criterion.quotes, 1):
                if not is_passage(criterion, quote):
                    judged = (quote.stance, quote.text, "yes" if quote.verified else "no")
                    yield [company.name, criterion.name, at, *judged, *_source(quote)]


def _passages(report: Report) -> Iterator[Row]:
    """The passages that nobody judged, with the cells of table rows separated."""
    for company in report.companies:
        for criterion in company.criteria:
            for at, passage in enumerate(criterion.quotes, 1):
                if is_passage(criterion, passage):
                    text = passage.text.replace("\t", " | ")
                    yield [company.name, criterion.name, at, text, *_source(passage)]


def _contradictions(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in company.criteria:
            for contradiction in criterion.contradictions:
                row: list[Value] = [company.name, contradiction.about]
                for quote in contradiction.quotes:
                    row += [quote.text, *_source(quote)]
                yield row


def _write_contested(report: Report) -> Iterator[Row]:
    """The scores with and without words that may have influenced a model, one row for each order to it."""
    for company in report.companies:
        for criterion in list_contested_criteria(company):
            contested = criterion.contested
            both = (contested.with_orders, contested.without) if contested else (None, None)
            row: list[Value] = [company.name, criterion.name, criterion.score, *both]
            for order in criterion.orders:
                yield [*row, order.text, *_source(order)]
            if not criterion.orders:
                yield [*row, describe_contest(criterion)]


def _write_figures(report: Report) -> Iterator[Row]:
    """Every figure of the rooms in base units, computed figures, and public sources' values for the same.

    Percentages are numbers of percent.
    """
    for company in report.companies:
        verdicts = {_figure_key(conflict.counted): "counts" for conflict in company.figure_conflicts}
        for conflict in company.figure_conflicts:
            verdicts |= {_figure_key(other): "does not count" for other in conflict.others}
        urls = {document.document_id: document.document_url for document in company.documents}
        for figure in company.figures:
            begin, _, end = figure.period.rpartition("/")
            meant = (name_in_words(figure.concept), float(figure.value), figure.unit, begin, end, figure.entity)
            address = page_address(urls.get(figure.document_id or ""), figure.place, figure.document_name)
            source = (figure.document_name, figure.place, _link(address))
            yield [company.name, *meant, figure.basis, verdicts.get(_figure_key(figure)), figure.label, *source]
        for derived in company.derived_figures:
            begin, _, end = derived.period.rpartition("/")
            computed = (name_in_words(derived.name), float(derived.value), derived.unit, begin, end, None)
            yield [company.name, *computed, "computed", None, derived.formula, None, None, None]
        for compared in company.figure_comparisons:
            yield [company.name, *_write_comparison(compared), _link(compared.claim.url)]


def _write_comparison(compared: ComparedFigure) -> list[Value]:
    """A row for what a public source says: its value, or the range in words, and the verdict with the room's figure."""
    claim, figure = compared.claim, compared.figure
    year = claim.value[0] if isinstance(claim.value, list) and isinstance(claim.value[0], dict) else {}
    value = year.get("amount") if isinstance(claim.value, list) else float(claim.value)
    claimed = in_words(claim.field, claim.value)
    about = f"{field_name(claim.field)} {claimed}; the room: {in_full(figure)} ({figure.document_name}, {figure.place})"
    meant = (name_in_words(compared.concept), value, figure.unit, "", (claim.as_of or "")[:10], None)
    return [*meant, "public source", compared.verdict.replace("_", " "), about, claim.source, compared.why]


def _figure_key(figure: ReportedFigure) -> tuple[str, str, str | None, str]:
    return figure.concept, figure.period, figure.document_id, figure.place


def _write_missing(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in to_request(company):
            nearest = "; ".join(f"{document.document_name} ({document.why})" for document in criterion.nearest)
            yield [company.name, criterion.missing, nearest]


def _conflicts(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for conflict in company.conflicts:
            for claim in conflict.claims:
                claimed = (in_words(conflict.field, claim.value), claim.source, claim.as_of, claim.retrieved_at)
                yield [company.name, field_name(conflict.field), *claimed, conflict.field, _link(claim.url)]


def _changes(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for change in company.changes:
            yield [company.name, change.kind.replace("_", " "), change.text, change.why]


def _warnings(report: Report) -> Iterator[Row]:
    for company in report.companies:
        yield from ([company.name, warning] for warning in company.warnings)


def _documents(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for document in by_urgency(company.documents):
            figures = (document.what, document.family, document.status, document.characters, document.warning)
            yield [company.name, document.document_name, document.path, *figures, _link(document.document_url)]


def _run(report: Report) -> Iterator[Row]:
    run = report.run
    facts: dict[str, Value] = {
        "Name": run.name,
        "Run": run.id,
        "Status": run.status.value,
        "Judged by": ". ".join(filter(None, (judge(run), trial_in_words(run.model_trial)))),
        "Started (UTC)": run.started_at,
        "Finished (UTC)": run.finished_at,
        "Scale": f"{run.scale[0]:g} to {run.scale[1]:g}",
        "Calls": run.cost.calls,
        "Calls, answer unknown": run.cost.unknown_calls,
        "Tokens in": run.cost.input_tokens,
        "Tokens out": run.cost.output_tokens,
        "USD": run.cost.usd,
        "Budget": run.budget,
    }
    facts |= {
        "Proven": "what the scores earned of the weight of all criteria; what is missing earned nothing",
        "May reach": "what is proven, and all that is open as the best",
        "Scored": "the share of the weight that is scored; with less than half a company has no rank",
        "Rank": "by what is proven; companies share one where the range of one lies wholly within the other's",
        "▼ and a line below a score": "a red flag: in the lower two fifths of the scale, or in a band of "
        "severity; what is missing is one too, in words",
    }
    if run.sensitivity:
        facts["Rank stability"] = f"share of {run.sensitivity.draws} draws, each weight {run.sensitivity.varied}"
    return ([what, value] for what, value in facts.items())


_QUOTED: Final = (_COMPANY, _CRITERION, ("Number", 9, COUNT))
_JUDGED: Final = (("Status", 12), ("Confidence", 12, SHARE), ("Agreement", 12, SHARE), ("Reason", 60), ("Red flag", 10))
_COUNTS: Final = (("Counts", 9, FIGURE), ("With", 9, FIGURE), ("Without", 9, FIGURE))
_MEANT: Final = (("Figure", 24), ("Value", 16, FIGURE), ("Unit", 9), ("From", 11), ("To or at", 11), ("Whose", 22))
_CLAIMED: Final = (("Value", 40), ("Source", 18), ("As of", 14), ("Retrieved", 17), ("Id", 28, QUIET), ("Link", 7))
_LISTED: Final = (("Document", 48), ("Folder", 36), ("Kind", 36), ("Copy or version of", 36), ("Outcome", 13))
_SHEETS: Final[Sequence[tuple[str, int, Sequence[ColumnFields], Callable[[Report], Iterable[Row]]]]] = (
    ("Weights", 1, (_CRITERION, ("Weight", 9, WEIGHT), _ID, ("Severity", 10), ("Asks", 50), ("Guide", 50)), _weights),
    (
        "Red flags",
        3,
        (
            *(("Severity", 10), _COMPANY, _CRITERION, ("Outcome", 14), ("Reason", 50)),
            *(("What to do", 32), ("To ask for", 28), *_SOURCE),
        ),
        _write_red_flags,
    ),
    (
        "Criteria",
        2,
        (
            *(_COMPANY, _CRITERION, ("Asks", 36), ("Kind", 10), ("Weight", 8, FIGURE), ("Score", 9, FIGURE)),
            *(*_JUDGED, _ID),
        ),
        _criteria,
    ),
    ("Quotes", 2, (*_QUOTED, ("Stance", 9), ("Quote", 80), ("Verified", 10), *_SOURCE), _quotes),
    ("Passages", 2, (*_QUOTED, ("Passage", 100), *_SOURCE), _passages),
    (
        "Contradictions",
        1,
        (_COMPANY, ("About", 30), ("One says", 50), *_SOURCE, ("The other says", 50), *_SOURCE),
        _contradictions,
    ),
    (
        "Contested",
        2,
        (_COMPANY, _CRITERION, *_COUNTS, ("Words that give orders", 80), *_SOURCE),
        _write_contested,
    ),
    (
        "Figures",
        2,
        (_COMPANY, *_MEANT, ("Basis", 12), ("Contradicted", 13), ("Label or formula", 36), *_SOURCE),
        _write_figures,
    ),
    ("To ask for", 1, (_COMPANY, ("Missing", 50), ("Nearest in the data room", 90)), _write_missing),
    ("Disagreeing sources", 1, (_COMPANY, ("Field", 28), *_CLAIMED), _conflicts),
    (
        "Decisions",
        2,
        (_COMPANY, _CRITERION, ("Decision", 60), ("Open", 9), ("Program", 12), ("By", 18), ("On", 17)),
        _decisions,
    ),
    ("Changes", 1, (_COMPANY, ("Kind", 20), ("Change", 60), ("Why", 80)), _changes),
    ("Warnings", 1, (_COMPANY, ("Warning", 120)), _warnings),
    ("Documents", 2, (_COMPANY, *_LISTED, ("Characters", 12, COUNT), ("Remark", 70), ("Link", 7)), _documents),
)
"""The sheets about companies: title, columns that stay in view, columns, and what gives the rows."""


def table_rows(table: ReportedTable) -> Iterator[Row]:
    """A row for each cell with a value or decision: document, column, value, certainty, quotation, place, decisions."""
    for row in table.rows:
        for column in table.columns:
            cell = row.cells[column.id]
            if cell.value is not None or cell.decisions:
                quote = cell.quotes[0] if cell.quotes else None
                yield [
                    row.document_name,
                    column.title,
                    value_in_words(cell.value) or (ABSENCES[cell.absence] if cell.absence else ""),
                    cell.sure,
                    quote.text if quote else "",
                    quote.place or "" if quote else "",
                    "; ".join(map(decision_in_words, cell.decisions)),
                ]


def _stake_rows(table: ReportedTable) -> Iterator[Row]:
    for one in table.at_stake:
        figure = one.figure
        clause = one.clause.replace("_", " ")
        yield [one.party, clause, float(figure.value), figure.unit, figure.period, one.document_name]


_CELLS: Final = (("Document", 30), ("Column", 20), ("Value", 24), ("Sure", 8, SHARE), ("Quote", 90), ("Place", 24))
_DAYS: Final = (("Day", 12), ("Event", 10), ("Document", 50))
_STAKES: Final = (("Party", 30), ("Clause", 20), ("Revenue", 16, FIGURE), ("Currency", 10), ("Period", 24))


def add_tables(book: WorkbookFile, tables: Sequence[tuple[str, ReportedTable]]) -> None:
    """Add the sheets of tables, each with its company's name ("" if there is only one)."""
    for name, table in tables:
        rows = (
            [row.document_name, *(value_in_words(row.cells[column.id].value) for column in table.columns)]
            for row in table.rows
        )
        events = ([entry.day, entry.event, entry.document_name] for entry in table.calendar)
        sheets: list[tuple[str, Sequence[ColumnFields], Iterable[Row]]] = [
            ("Table", (("Document", 40), *((column.title, 18) for column in table.columns)), rows),
            ("Cells", (*_CELLS, ("Decisions", 60)), table_rows(table)),
            ("Calendar", _DAYS, events),
            *([("At stake", (*_STAKES, ("Document", 50)), _stake_rows(table))] if table.at_stake else []),
        ]
        for title, columns, content in sheets:
            heads = [SheetColumn(*column) for column in columns]
            book.sheet(f"{title}{f' {name}'[:20] if name else ''}", heads, content, still=(1, 1))


def table_workbook(tables: Sequence[tuple[str, ReportedTable]]) -> bytes:
    """A workbook that contains only tables."""
    book = WorkbookFile()
    add_tables(book, tables)
    return book.save()
